/** One folder for the life of a log against a fold of all rows: the same request, whatever was asked before. */
import { isFault, type StoredRow } from "@varve/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { foldAt } from "./fold-at.ts";
import { buildRequest, createFolder, type Folder } from "./folder.ts";
import { type WireTarget, wireTarget } from "./profile.ts";
import { anthropic } from "./profiles/anthropic.ts";
import { google } from "./profiles/google.ts";
import { openaiResponses } from "./profiles/openai-responses.ts";
import { openrouter } from "./profiles/openrouter.ts";
import type { RequestInput, WireRequest } from "./request.ts";
import { isRequest } from "./segment.ts";
import { pixelBlob, toAnthropic, toCompatible, toDeepseek, toMistral } from "./testing/folded.ts";
import { disturbed as disturbedLogs } from "./testing/intruders.ts";
import { loggedLogs, randomLogs } from "./testing/random-log.ts";

const noteInPlace: WireTarget = { ...toAnthropic, profile: { ...anthropic, noteForm: "system" } };
const targets: readonly WireTarget[] = [
  toAnthropic,
  toCompatible,
  toDeepseek,
  toMistral,
  wireTarget(google, "gemini-3-pro"),
  wireTarget(openaiResponses, "gpt-5.6"),
  wireTarget(openrouter, "anthropic/claude-opus-5-5"),
  noteInPlace,
];
const named = targets.map((target, index) => [`${target.profile.name} ${index}`, target] as const);
const settings = { seed: 20_261_130, numRuns: 200 };
/** Each answer is compared with a fold from nothing, which a busy machine makes slow. */
const patience = { timeout: 120_000 };

const inputOf = (rows: readonly StoredRow[], target: WireTarget, rest: Partial<RequestInput> = {}): RequestInput => ({
  rows,
  target,
  modelName: "m",
  effort: "default",
  blobs: pixelBlob,
  ...rest,
});

const bytes = (answer: ReturnType<typeof buildRequest>): string => JSON.stringify(answer);

/** A fold of all rows knows no earlier request, so it can't tell where two part; all else must be the same. */
function expectSame(folder: Folder, input: RequestInput): void {
  const [long, fresh] = [folder.request(input), buildRequest(input)];
  if (isFault(long) || isFault(fresh) || fresh.guard.kind !== "changed") expect(bytes(long)).toBe(bytes(fresh));
  else {
    expect(long.guard.kind).toBe("changed");
    expect(bytes({ ...long, guard: fresh.guard })).toBe(bytes(fresh));
  }
}

const disturbed = disturbedLogs(randomLogs);

describe("a folder", () => {
  test("[WIRE-80] while the log grows it answers what a fold of all rows does, for every profile", patience, () => {
    const asked = new Map<WireTarget, number>();
    const points = fc.array(fc.nat(), { minLength: 6, maxLength: 10 });
    const property = fc.property(disturbed, fc.constantFrom(...targets), points, (rows, target, at) => {
      const folder = createFolder();
      const ends = [...at.map((point) => 2 + (point % (rows.length - 1))), rows.length].sort((a, b) => a - b);
      for (const end of ends) {
        asked.set(target, (asked.get(target) ?? 0) + 1);
        expectSame(folder, inputOf(rows.slice(0, end), target));
      }
    });
    fc.assert(property, settings);
    expect([...asked.values()].filter((count) => count > 100)).toHaveLength(targets.length);
  });

  test("[WIRE-80] whatever target, effort, fork or length was asked for before", patience, () => {
    const ask = fc.record({
      target: fc.constantFrom(...targets.slice(0, 4)),
      effort: fc.constantFrom("default", "default", "high"),
      log: fc.nat(3),
      end: fc.nat(),
    });
    const asks = fc.array(ask, { minLength: 4, maxLength: 14 });
    const property = fc.property(disturbed, disturbed, fc.nat(), asks, (one, other, cut, asked) => {
      const shared = 1 + (cut % one.length);
      const fork = [...one.slice(0, shared), ...other.slice(shared)];
      const folder = createFolder();
      for (const { target, effort, log, end } of asked) {
        const rows = log === 0 ? fork : one;
        expectSame(folder, inputOf(rows.slice(0, Math.max(2, end % (rows.length + 1))), target, { effort }));
      }
    });
    fc.assert(property, { ...settings, numRuns: 100 });
  });

  test("[WIRE-80] also when bytes come that were gone", patience, () => {
    const property = fc.property(randomLogs, fc.nat(), ({ rows }, when) => {
      const folder = createFolder();
      const from = when % rows.length;
      for (let end = 2; end <= rows.length; end++) {
        expectSame(
          folder,
          inputOf(rows.slice(0, end), toAnthropic, { blobs: end < from ? () => undefined : pixelBlob }),
        );
      }
    });
    fc.assert(property, { ...settings, numRuns: 20 });
  });

  test("[WIRE-80] what it asks to be read is all that it then looks up", () => {
    const property = fc.property(disturbed, (rows) => {
      const folder = createFolder();
      const read = new Set<string>();
      for (let end = 2; end <= rows.length; end++) {
        const input = rows.slice(0, end);
        for (const hash of folder.neededBlobs(input)) read.add(hash);
        const request = folder.request(
          inputOf(input, toCompatible, { blobs: (hash) => (read.has(hash) ? pixelBlob() : undefined) }),
        );
        if (!isFault(request)) expect(request.alarms.filter(({ code }) => code === "missing-blob")).toEqual([]);
      }
    });
    fc.assert(property, { ...settings, numRuns: 20 });
  });
});

describe("requests of the past", () => {
  /** The log as a loop would have sealed it: each request row says what was sent. */
  function sealed(rows: readonly StoredRow[], target: WireTarget): readonly StoredRow[] {
    const folder = createFolder();
    const done: StoredRow[] = [];
    for (const row of rows) {
      const sent = isRequest(row) ? folder.request(inputOf([...done], target)) : null;
      if (sent === null || isFault(sent) || !isRequest(row)) done.push(row);
      else done.push({ ...row, data: { ...row.data, tailHash: sent.tailHash, scopeHash: sent.scopeHash } });
    }
    return done;
  }
  const requestOf = (built: ReturnType<typeof foldAt>): WireRequest => {
    if (isFault(built)) throw new Error(built.message);
    return built;
  };

  test.each(named)("[WIRE-83] the rows in front of a request row fold to what it says was sent: %s", (_, target) => {
    let compared = 0;
    const property = fc.property(loggedLogs, (log) => {
      const rows = sealed(log.rows, target);
      for (const row of rows) {
        if (!isRequest(row)) continue;
        compared += 1;
        const again = requestOf(foldAt({ rows, target, effort: "default", blobs: pixelBlob }, row.seq));
        expect([again.tailHash, again.scopeHash]).toEqual([row.data.tailHash, row.data.scopeHash]);
        expect(again.guard.kind).not.toBe("changed");
      }
    });
    fc.assert(property, { ...settings, numRuns: 20 });
    expect(compared).toBeGreaterThan(60);
  });
});
