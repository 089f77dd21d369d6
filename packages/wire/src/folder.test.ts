import { isFault, type StoredRow } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { chooseProfile } from "./choose-profile.ts";
import { createFolder } from "./folder.ts";
import type { ModelMessage } from "./model-message.ts";
import { wireTarget } from "./profile.ts";
import type { RequestInput, WireRequest } from "./request.ts";
import { requestFor } from "./testing/capture.ts";
import { pixelBlob, toAnthropic, toCompatible } from "./testing/folded.ts";
import { blobHash, C, type Draft, logOf, P, Q, R, RI, T, U, UA, V, X, XU } from "./testing/rows.ts";
import { thinkingRow } from "./testing/scoped-rows.ts";
import { show } from "./testing/show.ts";

const png = { blob: blobHash("a"), mediaType: "image/png" };
const at = (step: number) => ({ step });

/** Steps of one turn, each with its request, a text, a call and a result with a picture. */
const steps = (count: number): readonly Draft[] =>
  Array.from({ length: count }, (_, step) => [
    Q("s", at(step)),
    T(`t${step}`, at(step)),
    C(`c${step}`, "{}", at(step)),
    RI(`c${step}`, "ok", [png], at(step)),
  ]).flat();

/** A folder with what it looked up. */
function watched() {
  const folder = createFolder();
  const lookups: string[] = [];
  const request = (rows: readonly StoredRow[], rest: Partial<RequestInput> = {}): WireRequest => {
    const blobs: RequestInput["blobs"] = (hash) => {
      lookups.push(hash);
      return pixelBlob();
    };
    const built = folder.request({ rows, target: toAnthropic, modelName: "m", effort: "default", blobs, ...rest });
    if (isFault(built)) throw new Error(built.message);
    return built;
  };
  return { folder, lookups, request };
}

/** How many messages of the second request are the very objects of the first. */
const shared = (one: readonly ModelMessage[], two: readonly ModelMessage[]): number =>
  two.filter((message) => one.includes(message)).length;

describe("work that is done once", () => {
  const log = logOf(P(), U("go"), ...steps(20));

  test("[WIRE-80] messages of ended steps are not made again, nor are their bytes looked up", () => {
    const { lookups, request } = watched();
    const one = request(log.slice(0, 2 + 4 * 18));
    expect(lookups).toEqual([png.blob]);
    const two = request(log.slice(0, 2 + 4 * 19));
    // All but the system prompt and the newest steps, and but for copies that carry a breakpoint.
    expect(shared(one.messages, two.messages)).toBeGreaterThanOrEqual(one.messages.length - 6);
    expect(lookups).toEqual([png.blob]);
    expect(two.chain.slice(0, one.chain.length)).toEqual(one.chain);
  });

  test("[WIRE-80] a void of the newest step makes nothing else anew", () => {
    const { request } = watched();
    const one = request(log.slice(0, 2 + 4 * 18));
    const cut = [
      ...log.slice(0, 2 + 4 * 18),
      ...logOf(P(), U("x"), ...steps(18), Q("s", at(18)), T("cut", at(18)), V("t1", 18)).slice(-3),
    ];
    const two = request(cut);
    expect(two.messages.length).toBe(one.messages.length);
    expect(shared(one.messages, two.messages)).toBeGreaterThanOrEqual(one.messages.length - 6);
    expect(two.tailHash).toBe(one.tailHash);
  });

  test.each([
    ["a void of an older step", [V("t1", 3)]],
    ["a compaction", [X("SUM", 20)]],
    ["a new prefix", [P({ system: ["NEW"] })]],
  ])("[WIRE-80] after %s all is made anew, and right", (_, drafts) => {
    const { request } = watched();
    const one = request(log);
    const longer = [...log, ...logOf(...Array.from({ length: log.length }, () => P()), ...drafts).slice(log.length)];
    const two = request(longer);
    expect(shared(one.messages, two.messages)).toBe(0);
    expect(two).toEqual(requestFor(longer, { modelName: "m" }));
  });

  test("[WIRE-80] another model begins anew, another effort does not", () => {
    const { request } = watched();
    const one = request(log);
    const high = request(log, { effort: "high" });
    expect(shared(one.messages, high.messages)).toBeGreaterThan(30);
    expect(shared(one.messages, request(log, { target: toCompatible }).messages)).toBe(0);
  });

  test("[WIRE-80] the same model under another account begins anew, for what is handed back to it is another's", () => {
    const ask = (account: string | null) => wireTarget(chooseProfile("openai", "gpt-5.6"), "gpt-5.6", account);
    const thought = thinkingRow("signed", {
      scope: ask("work").modelScope,
      token: "k",
      text: "hm",
      place: { turn: "t1", step: 0 },
    });
    const rows = logOf(P(), U("a"), thought, T("t"), U("b", { turn: "t2" }));
    const folder = createFolder();
    const encrypted = [null, "work", "home", "work"].map((account) => {
      const built = folder.request({ rows, target: ask(account), modelName: "m", effort: "default" });
      return JSON.stringify(isFault(built) ? built : built.messages).includes("enc-k");
    });
    expect(encrypted).toEqual([false, true, false, true]);
  });

  test("[WIRE-80] blobs to read are named once, and again only when an undo shows what was hidden", () => {
    const folder = createFolder();
    const other = { blob: blobHash("b"), mediaType: "image/png" };
    const rows = logOf(
      P(),
      UA("see", [{ ...png, name: "a" }]),
      T("t"),
      U("b", { turn: "t2" }),
      X("SUM", 4),
      XU(5),
      UA("new", [{ ...other, name: "b" }]),
    );
    const ask = (end: number) => folder.neededBlobs(rows.slice(0, end));
    const request = (end: number) =>
      folder.request({
        rows: rows.slice(0, end),
        target: toAnthropic,
        modelName: "m",
        effort: "default",
        blobs: pixelBlob,
      });
    expect(ask(2)).toEqual([png.blob]);
    request(2);
    expect([ask(2), ask(4)]).toEqual([[], []]);
    request(5);
    expect(ask(5)).toEqual([]);
    expect(ask(6)).toEqual([png.blob]);
    request(6);
    expect(ask(7)).toEqual([other.blob]);
  });

  test("[WIRE-80] bytes that were gone stay gone for it, until somebody has them", () => {
    const { folder, request } = watched();
    const rows = logOf(P(), UA("see", [{ ...png, name: "a" }]), T("t"), U("b", { turn: "t2" }));
    const gone = request(rows.slice(0, 2), { blobs: () => undefined });
    expect(show(gone.messages)).toContain("no longer available");
    expect(folder.neededBlobs(rows)).toEqual([]);
    expect(show(request(rows, { blobs: () => undefined }).messages)).toContain("no longer available");
    expect(show(request(rows).messages)).toContain("file(image/png");
  });

  test("[WIRE-85] it knows where its last request and this one part, and the row", () => {
    const { request } = watched();
    const begin = logOf(P(), U("a"));
    const { tailHash } = request(begin);
    const edited = logOf(P(), U("EDITED"), Q("s", { tailHash, model: "m" }), T("t"), U("b", { turn: "t2" }));
    expect(request(edited).guard).toEqual({ kind: "changed", firstDifferingBlock: 2, seq: 2 });
  });
});

describe("what a request says of itself", () => {
  test("[WIRE-83] chars are the length of all its blocks", () => {
    const rows = logOf(P(), U("a"), T("t"), U("b", { turn: "t2" }));
    const bare = requestFor(rows).chars;
    expect(requestFor(logOf(P(), U("a"), T("t"), U(`b${"x".repeat(100)}`, { turn: "t2" }))).chars - bare).toBe(100);
    const { request } = watched();
    expect([request(rows.slice(0, 2)).chars < bare, request(rows).chars]).toEqual([true, bare]);
  });

  test.each([
    ["absent", [], "5m"],
    ["an hour", ["1h"], "1h"],
    ["the newest row counts", ["1h", "5m"], "5m"],
    ["one that says nothing leaves it to the prefix", ["1h", undefined], "5m"],
  ] as const)("[WIRE-86] lifetime: %s", (_, chosen, ttl) => {
    const changes = chosen.map((cacheTtl): Draft => {
      const data = { kind: "model-changed", model: "m", effort: "default", ...(cacheTtl && { cacheTtl }) };
      return { role: "system", type: "system", data, place: { turn: "" } };
    });
    const request = requestFor(logOf(P(), ...changes, U("a")));
    expect(request.lifetimes.ttl).toBe(ttl);
    const mark = request.messages.at(-1)?.providerOptions?.anthropic?.cacheControl;
    expect(mark).toEqual(ttl === "5m" ? { type: "ephemeral" } : { type: "ephemeral", ttl: "1h" });
  });
});

describe("requests that are no steps", () => {
  const asked = (purpose: string, place = {}): Draft => {
    const draft = Q("s", { model: "m", tailHash: "other", ...place });
    return { ...draft, data: { ...draft.data, purpose } };
  };
  const limit: Draft = {
    role: "system",
    type: "system",
    data: { kind: "limit", state: "asked", askId: "q", limit: "turn-steps", used: 200, max: 200 },
    place: at(1),
  };

  test.each([
    ["warm", asked("warm", { turn: "" })],
    ["warm, in a turn", asked("warm", at(1))],
    ["compaction", asked("compaction", at(1))],
    ["a question about a limit", limit],
  ])("[WIRE-82] %s closes nothing and is extended by nobody", (_, row) => {
    const begin = [P(), U("a")];
    const { tailHash, scopeHash } = requestFor(logOf(...begin), { modelName: "m" });
    const sent = Q(scopeHash, { model: "m", tailHash });
    const rows = (...between: readonly Draft[]) => logOf(...begin, sent, T("t"), C("c"), ...between, R("c"), U("q"));
    const [plain, disturbed] = [requestFor(rows(), { modelName: "m" }), requestFor(rows(row), { modelName: "m" })];
    expect(disturbed.guard).toEqual({ kind: "extends" });
    expect([disturbed.messages, disturbed.alarms]).toEqual([plain.messages, []]);
  });
});
