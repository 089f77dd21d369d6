/** H03: what a tab's model is told once stays as it was told, whatever day it becomes and whatever changes on disk. */
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Clock, LogChunk, ToolDefinition } from "@varve/protocol";
import { isFault } from "@varve/protocol";
import { type RunningServer, type StartOptions, startServer } from "@varve/server";
import { expect, test, vi } from "vitest";
import { anthropicPrefix, firstDivergence } from "../blocks.ts";
import { isObject, objectsIn } from "../json.ts";
import { makeProject } from "../project.ts";
import { createFakeProvider, type FakeProvider } from "../provider/fake-provider.ts";
import { viewRequest } from "../provider/request-view.ts";
import { Api } from "./api.ts";
import { Follower } from "./follower.ts";
import { providerEnv } from "./product.ts";
import { say } from "./scripted-agent.ts";

const run = promisify(execFile);

/** The machine's timers under a time of day that the test sets. */
const clockAt = (day: { now: number }): Clock => ({
  now: () => day.now,
  setTimer: (ms, fire) => {
    const timer = setTimeout(fire, ms);
    return { cancel: () => clearTimeout(timer) };
  },
});

interface World {
  readonly home: string;
  readonly provider: FakeProvider;
  readonly clock: Clock;
  readonly toolSource: NonNullable<StartOptions["toolSource"]>;
}

async function startAt({ home, provider, clock, toolSource }: World): Promise<RunningServer> {
  const started = await startServer({
    host: "127.0.0.1",
    port: 0,
    home,
    userHome: home,
    allowHosts: [],
    env: providerEnv(provider),
    clock,
    randomBytes: (into) => void crypto.getRandomValues(into),
    random: () => 0.5,
    fetch: globalThis.fetch,
    pid: process.pid,
    webRoot: null,
    version: "0",
    build: "0",
    writeLog: () => undefined,
    toolSource,
  });
  if (isFault(started) || started.kind !== "running") throw new Error("the server did not start");
  return started;
}

/** A tool that nobody calls, from a source that may list it differently the next time. */
const listed = (name: string, description: string): ToolDefinition => ({
  name,
  description,
  inputSchema: { type: "object", properties: {}, additionalProperties: false },
});
const kindsOf = (rows: readonly LogChunk[]): readonly string[] =>
  rows.map((row) => (row.type === "system" ? row.data.kind : row.type));

/** Texts of a request's user messages, in order, one entry a text. */
const userTexts = (body: unknown): readonly string[] =>
  (isObject(body) ? objectsIn(body.messages) : [])
    .filter(({ role }) => role === "user")
    .flatMap(({ content }) => objectsIn(content))
    .flatMap(({ text }) => (typeof text === "string" ? [text] : []));

test("H03: over midnight, a git init, edited instructions, other tools and a restart in another zone, the prefix stays byte for byte", async () => {
  await using home = await makeProject("empty");
  await using project = await makeProject("empty");
  await project.write("AGENTS.md", "Always answer in one word.");
  await home.write("AGENTS.md", "The person is called Kim.");
  await using provider = await createFakeProvider({ models: ["claude-test"], reply: () => ({ blocks: [say("ok")] }) });
  const day = { now: Date.parse("2026-01-31T23:59:59.900Z") };
  let source = [listed("x_a", "The first."), listed("x_b", "The second.")];
  let isReversed = false;
  const world: World = {
    home: home.dir,
    provider,
    clock: clockAt(day),
    toolSource: (builtIn) => ({
      get definitions() {
        const all = [...builtIn.definitions, ...source];
        return isReversed ? all.reverse() : all;
      },
      get: (name) => builtIn.get(name),
      closePlace: (tab) => builtIn.closePlace(tab),
      close: () => builtIn.close(),
    }),
  };
  let server = await startAt(world);
  let api = new Api(server.url, server.token);
  const tab = await api.newTab({ cwd: project.dir, model: "anthropic/claude-test", permissions: "allow" });
  const ask = async (text: string): Promise<void> => {
    using follower = await Follower.on(api, tab.id);
    const { id } = await api.send(tab.id, text);
    await follower.untilAnswered(id);
  };
  try {
    await ask("before midnight");
    day.now += 200;
    await ask("after midnight");
    await run("git", ["init", "--quiet", "--initial-branch=trunk"], { cwd: project.dir });
    await writeFile(join(project.dir, "AGENTS.md"), "Answer at length.");
    await ask("after git init");
    source = [listed("x_c", "A third."), listed("x_b", "The second, in other words."), listed("x_a", "The first.")];
    await ask("after the tools changed");
    await server.stop();
    vi.stubEnv("TZ", "Asia/Tokyo");
    vi.stubEnv("LANG", "ja_JP.UTF-8");
    isReversed = true;
    server = await startAt(world);
    api = new Api(server.url, server.token);
    await ask("after a restart");
    theFiveBodies(provider);

    // What changed is in sight and moves nothing; told, it is one row, and applied, it is one other.
    const { changes } = await api.context(tab.id);
    const file = project.path("AGENTS.md");
    expect(changes.map(({ topic, name, change }) => [topic, name, change])).toEqual([
      ["instructions", file, "edited"],
      ["tools", "x_b", "edited"],
      ["tools", "x_c", "added"],
    ]);
    const before = await api.rows(tab.id);
    const told = await api.apply(tab.id, "tell");
    expect(told.changes.map(({ topic }) => topic)).toEqual(["tools", "tools"]);
    expect(kindsOf((await api.rows(tab.id)).slice(before.length))).toEqual(["note"]);
    await ask("after it was told");
    const [restarted, knowing] = provider.calls.slice(-2).map(({ body }) => anthropicPrefix(body));
    expect(firstDivergence(restarted ?? [], knowing ?? [])).toBeNull();
    expect(JSON.stringify(knowing?.at(-2))).toContain("Answer at length.");

    const beforeRebuild = await api.rows(tab.id);
    const rebuilt = await api.apply(tab.id, "rebuild");
    expect(rebuilt.changes).toEqual([]);
    expect(kindsOf((await api.rows(tab.id)).slice(beforeRebuild.length)).filter((kind) => kind === "prefix")).toEqual([
      "prefix",
    ]);
    await ask("after it was applied");
    const { toolNames, system } = viewRequest("anthropic", 0, provider.calls.at(-1)?.body ?? {});
    expect(toolNames).toContain("x_c");
    expect(toolNames).toEqual([...toolNames].sort());
    expect(system).toContain("Answer at length.");
    expect(provider.calls.map(({ refusal }) => refusal)).toEqual(provider.calls.map(() => null));
  } finally {
    await server.stop();
  }
});

/** The constant part is the same in all of them, and each goes on from the one before. */
function theFiveBodies(provider: FakeProvider): void {
  const bodies = provider.calls.map(({ body }) => body);
  expect(bodies).toHaveLength(5);
  const frozen = bodies.map((body) =>
    JSON.stringify([body.system, body.tools, body.model, body.max_tokens, body.thinking, body.tool_choice]),
  );
  expect(new Set(frozen).size).toBe(1);
  const { toolNames, system } = viewRequest("anthropic", 0, bodies[0] ?? {});
  expect(toolNames.filter((name) => name.startsWith("x_"))).toEqual(["x_a", "x_b"]);
  expect(toolNames.length).toBeGreaterThan(10);
  expect(toolNames).toEqual([...toolNames].sort());
  // The instructions are in the first body, in reading order, and stay what they were.
  expect(system).toMatch(/The person is called Kim\.[\s\S]*Always answer in one word\./);
  for (const [index, body] of bodies.entries()) {
    if (index > 0) expect(firstDivergence(anthropicPrefix(bodies[index - 1]), anthropicPrefix(body))).toBeNull();
  }

  // What differs by day and place came as a note right before the message that it was new for.
  const texts = userTexts(bodies[4]);
  const asked = texts.map(
    (text) => (/Date: (\S+)/.exec(text)?.[1] ?? text) + (/branch trunk/.test(text) ? " on trunk" : ""),
  );
  expect(asked).toEqual([
    "2026-01-31",
    "before midnight",
    "2026-02-01",
    "after midnight",
    "2026-02-01 on trunk",
    "after git init",
    "after the tools changed",
    "after a restart",
  ]);
}
