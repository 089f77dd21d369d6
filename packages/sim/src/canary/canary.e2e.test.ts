/** The whole product with keys that everybody tells on: nothing of them is found where it must not be. */
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LogChunk, TabId } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { Follower } from "../e2e/follower.ts";
import { Product } from "../e2e/product.ts";
import { call, say } from "../e2e/scripted-agent.ts";
import { createFakeProvider, type FakeProvider } from "../provider/fake-provider.ts";
import type { ReplyBlock } from "../provider/script.ts";
import { type Canary, type Sighting, sightings, sightingsBelow } from "./canaries.ts";
import { openRawSocket } from "./raw-socket.ts";

const fresh = (start: string): string => `${start}-${randomBytes(18).toString("hex")}`;
const environment: Canary = { name: "environment", secret: fresh("sk-ant-canary") };
const stored: Canary = { name: "stored", secret: fresh("canary-stored") };
const token: Canary = { name: "token", secret: fresh("canary-token") };
const hidden: Canary = { name: "hidden", secret: fresh("canary-hidden") };
const refused: Canary = { name: "refused", secret: fresh("canary-refused") };
const given = [environment, stored, token, hidden, refused];

const dotEnv = given.map(({ name, secret }) => `${name}=${secret}`).join("\n");
/** The key in two writes, so that it comes in two pieces. */
// biome-ignore lint/suspicious/noTemplateCurlyInString: these are the shell's.
const inTwo = 'k=$(sed -n "s/^stored=//p" .env); h=${k%????????????}; printf %s "$h"; sleep 0.2; echo "${k#"$h"}"';
const long = 'k=$(tail -1 .env); for i in $(seq 3000); do echo "line $i of many $k"; done';

/** In deltas of three characters. */
const inDeltas = (text: string): readonly string[] => text.match(/[\s\S]{1,3}/g) ?? [];
const spoken = given.map(({ secret }) => secret).join(" and ");

/** What a model does that was told every key by somebody, and tells them all. */
const firstStep = (home: string): readonly ReplyBlock[] => [
  { type: "thinking", text: `I know ${spoken}.`, deltas: inDeltas(`I know ${spoken}.`) },
  { type: "text", text: `They are ${spoken}.`, deltas: inDeltas(`They are ${spoken}.`) },
  call("bash", { command: "env > env.txt; env; tr '\\0' '\\n' < /proc/self/environ" }),
  // The server's own, which holds them all.
  call("bash", { command: "tr '\\0' '\\n' < /proc/$PPID/environ" }),
  call("read", { path: ".env" }),
  call("grep", { pattern: "canary" }),
  call("bash", { command: "cat .env; base64 -w0 .env" }),
  call("bash", { command: inTwo }),
  call("bash", { command: long }),
  call("bash", { command: "cat .env; sleep 0.1", background: true }),
  call("bash", { command: `echo ${environment.secret} > stolen.txt` }),
  call("write", { path: "stolen.txt", content: spoken }),
  call("edit", { path: ".env", oldText: "PORT=1", newText: "PORT=2" }),
  call("bash", { command: `cat ${home}/key; cat ${home}/server.json` }),
];

async function answerAll(provider: FakeProvider, home: string): Promise<void> {
  provider.add(
    { match: { lastUserText: "first" }, reply: { blocks: firstStep(home) } },
    { match: { afterTools: true }, reply: { blocks: [call("job", { action: "list" }), say("And so on.")] } },
    { match: { afterTools: true }, reply: { blocks: [say(`Done with ${spoken}.`)] } },
    { match: { lastUserText: "refuse" }, reply: { fail: { kind: "status", status: 400, echoKey: true } } },
    {
      match: { lastUserText: "again" },
      reply: { fail: { kind: "status", status: 429, headers: { "retry-after": "0" }, message: spoken, echoKey: true } },
    },
    {
      match: { lastUserText: "again" },
      reply: {
        blocks: [{ type: "text", text: spoken, deltas: inDeltas(spoken) }],
        fail: { kind: "error-event", at: 9, errorType: "invalid_request_error", message: spoken },
      },
    },
  );
}

const paths = [
  "/tabs",
  "/models",
  "/credentials",
  "/settings",
  "/usage",
  "/openapi.json",
  "/health",
  "/metrics",
  "/me",
];
const ofTab = ["", "/head", "/chunks?after=0&limit=500", "/ledger", "/context", "/logs"];

/** What a person can be shown of the server and its tabs, as it is sent. */
async function answers({ api }: Product, tabs: readonly TabId[]): Promise<readonly Sighting[]> {
  const rows = (await Promise.all(tabs.map((tab) => api.rows(tab)))).flat();
  const requests = rows.flatMap((row) => (isRequest(row) ? [`/tabs/${row.tabId}/requests/${row.seq}?from=0`] : []));
  const blobs = rows.flatMap((row) =>
    row.type === "tool_result" && row.data.spill ? [`/blobs/${row.data.spill}`] : [],
  );
  expect(blobs.length).toBeGreaterThan(0);
  const all = [...paths, ...tabs.flatMap((tab) => ofTab.map((path) => `/tabs/${tab}${path}`)), ...requests, ...blobs];
  const found: Sighting[] = [];
  for (const path of all) {
    const response = await fetch(`${api.url}/api${path}`, { headers: { authorization: `Bearer ${api.token}` } });
    expect([path, response.status]).toEqual([path, 200]);
    found.push(...sightings(path, await response.text(), given));
  }
  return found;
}
const isRequest = (row: LogChunk): boolean => row.type === "system" && row.data.kind === "request";

async function folder(): Promise<string> {
  return realpath(await mkdtemp(join(tmpdir(), "varve-canary-")));
}

describe("keys that everybody tells", () => {
  test("[SECRET-14] are in no file, frame, answer, line, request body or child where they must not be", async () => {
    const cwd = await folder();
    await writeFile(join(cwd, ".env"), `PORT=1\n${dotEnv}\n`);
    await writeFile(join(cwd, "AGENTS.md"), `The password is ${hidden.secret}; the key is ${stored.secret}.\n`);
    await using provider = await createFakeProvider();
    await using product = await Product.start({
      provider,
      env: {
        ANTHROPIC_API_KEY: environment.secret,
        VARVE_TOKEN: token.secret,
        TEAM_PASSWORD: hidden.secret,
        PLAIN: "seen",
      },
    });
    const { api, home } = product;
    await answerAll(provider, home);
    const listed: Sighting[] = [];
    const told = async (what: string, asked: ReturnType<typeof api.ask>): Promise<number> => {
      const { status, body } = await asked;
      listed.push(...sightings(what, JSON.stringify(body), given));
      return status;
    };
    const key = { provider: "openai-compatible", key: `"${stored.secret}"`, baseUrl: `${provider.url}/v1` };
    expect(await told("POST /credentials", api.ask("POST", "/credentials", { ...key, id: "mine" }))).toBe(201);
    const dead = { provider: "openai-compatible", key: refused.secret, baseUrl: "http://127.0.0.1:9/v1" };
    expect(await told("POST /credentials", api.ask("POST", "/credentials", dead))).toBeGreaterThanOrEqual(400);
    await api.set({ hiddenEnv: ["*_PASSWORD"] });

    const model = "anthropic/claude-test";
    const tab = await api.newTab({ cwd, model, permissions: "allow", title: `on ${stored.secret}` });
    using socket = await openRawSocket(api.url, token.secret);
    socket.send({ type: "hello", v: [1], client: "canary" });
    socket.send({ type: "sub-workspace", re: 1 });
    socket.send({ type: "sub", re: 2, tab: tab.id, have: null, focus: true });
    using follower = await Follower.on(api, tab.id);
    const first = await api.send(tab.id, `first, with ${spoken}`);
    // A command that names the home is asked about in every mode; the person lets it run.
    await follower.until("the command that names the home is asked about", ({ status }) => status.waits.length === 1);
    const askId = follower.state.status.waits[0]?.askId;
    if (askId === undefined) throw new Error("nothing is asked");
    await api.answer(tab.id, { askId, verdict: "once" });
    await follower.untilAnswered(first.id);
    await follower.untilAnswered((await api.send(tab.id, "refuse this")).id);
    const other = await api.newTab({ cwd, model: "mine/test-model", permissions: "allow" });
    using otherFollower = await Follower.on(api, other.id);
    await otherFollower.untilAnswered((await api.send(other.id, "again")).id);

    const aesKey: Canary = { name: "key", secret: (await readFile(join(home, "key"), "utf8")).trim() };
    const running = JSON.parse(await readFile(join(home, "server.json"), "utf8"));
    const proof: Canary = { name: "proof", secret: String(running.proofKey) };
    const all = [...given, aesKey, proof];
    const rows = await api.rows(tab.id);
    const frames = JSON.stringify([...follower.frames, ...otherFollower.frames]);
    const shown = [
      ...listed,
      ...(await answers(product, [tab.id, other.id])),
      ...sightings("frames of the event stream", frames, all),
      ...sightings("bytes of the socket", socket.bytes(), all),
      ...provider.calls.flatMap(({ rawBody, path }) => sightings(`a request to ${path}`, rawBody, all)),
    ];
    expect(shown).toEqual([]);
    // All of it was there to be found: the marks stand where the keys would.
    expect(socket.bytes().toString("latin1").split("[secret]").length).toBeGreaterThan(20);
    expect(provider.calls.map(({ outcome }) => outcome())).toEqual([
      "answered",
      "answered",
      "answered",
      "failed",
      "failed",
      "failed",
    ]);
    const results = rows.flatMap((row) => (row.type === "tool_result" ? [row.data] : []));
    expect(results.filter(({ result }) => result.includes("arguments held a secret"))).toHaveLength(2);
    expect(results.find(({ name }) => name === "edit")?.isError).toBe(false);
    // What children are given.
    const children = await readFile(join(cwd, "env.txt"), "utf8");
    expect(children).toContain("PLAIN=seen");
    expect(children).not.toMatch(/^(VARVE_|ANTHROPIC_API_KEY|TEAM_PASSWORD)/m);
    expect(sightings("env.txt", children, all)).toEqual([]);
    expect(await sightingsBelow(home, all, { key: "key", "server.json": "proof" })).toEqual([]);

    const lines = product.lines;
    expect((await product.stop()).code).toBe(0);
    expect(sightings("lines of the server", lines, all)).toEqual([]);
    expect(await sightingsBelow(home, all, { key: "key" })).toEqual([]);
    // The files of the workspace hold what they held: nothing was stolen, and nothing was lost.
    const kept = await readFile(join(cwd, ".env"), "utf8");
    expect(kept).toBe(`PORT=2\n${dotEnv}\n`);
    expect(sightings(".env", kept, all).map(({ canary }) => canary)).toEqual(given.map(({ name }) => name));
    await expect(readFile(join(cwd, "stolen.txt"))).rejects.toThrow("ENOENT");
    await rm(cwd, { recursive: true, force: true });
  });
});
