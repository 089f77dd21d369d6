import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { join } from "node:path";
import { createFakeProvider, type FakeProvider } from "@varve/sim";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { exitCodes } from "./exit-codes.ts";
import { run } from "./run.ts";
import { type FakeWorld, fakeWorld, temporaryFolder } from "./testing/fake-world.ts";
import type { World } from "./world.ts";

interface Started {
  readonly world: FakeWorld;
  readonly url: string;
  readonly code: Promise<number>;
}

async function start(
  home: string,
  given: Partial<World> = {},
  args: readonly string[] = ["--no-open"],
): Promise<Started> {
  const world = fakeWorld(home, given);
  const code = run(args, world);
  const ended = code.then(() => {
    throw new Error(`it did not start: ${world.complained()}`);
  });
  const line = world.prints(/^Varve listening on (http:\S+)$/m);
  const [, url = ""] = await Promise.race([line, ended]);
  ended.catch(() => undefined);
  return { world, url, code };
}
const jsonLines = (world: FakeWorld): readonly Record<string, unknown>[] =>
  world
    .printed()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

describe("without a server", () => {
  let home: string;
  beforeEach(() => {
    home = temporaryFolder();
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  test("[CLI-4] help and version say what they are asked for", async () => {
    const world = fakeWorld(home);
    expect(await run(["--help"], world)).toBe(exitCodes.done);
    expect(world.printed()).toContain("varve send TAB|--new TEXT");
    const other = fakeWorld(home);
    expect(await run(["--version"], other)).toBe(exitCodes.done);
    expect(other.printed()).toBe("varve 1.2.3 (test)\n");
  });

  test("[CLI-3] what is not understood prints the sentence and the usage, and exits with 2", async () => {
    const world = fakeWorld(home);
    expect(await run(["serve"], world)).toBe(exitCodes.usage);
    expect(world.complained()).toMatch(/^varve: Unknown command 'serve'\.\n\nUsage:/);
    expect(world.printed()).toBe("");
  });

  test.each([
    ["link"],
    ["token list"],
    ["token add ci"],
    ["token remove x"],
    ["tail t"],
    ["send t hello"],
    ["send --new hello"],
  ])("[CLI-5] %s says that no server runs, and exits with 3", async (line) => {
    const world = fakeWorld(home);
    expect(await run(line.split(" "), world)).toBe(exitCodes.noServer);
    expect(world.complained()).toMatch(/^varve: No Varve server runs on .+ \(log-unavailable\)\n$/);
    expect(world.printed()).toBe("");
  });

  test("[CLI-5] a file left by a server that was killed is answered in the same way", async () => {
    writeFileSync(
      join(home, "server.json"),
      JSON.stringify({ url: "http://127.0.0.1:9", host: "h", port: 9, pid: process.pid, boot: "b", proofKey: "k" }),
    );
    writeFileSync(join(home, "token"), "a-long-enough-secret\n");
    for (const line of ["link", "tail t", "send t hello"]) {
      const world = fakeWorld(home);
      expect(await run(line.split(" "), world), line).toBe(exitCodes.noServer);
      expect(world.complained()).toContain("does not answer");
    }
  });

  test("[CLI-6] a start that fails says why in one sentence with a code, and exits with 1", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const address = other.address();
    const port = typeof address === "object" && address !== null ? String(address.port) : "";
    const busy = fakeWorld(home);
    expect(await run(["--port", port, "--no-open"], busy)).toBe(exitCodes.failed);
    expect(busy.complained()).toBe(
      `varve: Port ${port} on 127.0.0.1 is in use by another program. Stop it, or choose another port with --port (0 takes any free one). (address-unavailable)\n`,
    );
    await new Promise((resolve) => other.close(resolve));
    const open = fakeWorld(home);
    expect(await run(["--host", "0.0.0.0"], open)).toBe(exitCodes.failed);
    expect(open.complained()).toMatch(/^varve: Varve does not listen on 0\.0\.0\.0 without a token .+VARVE_TOKEN/);
    expect(open.printed()).toBe("");
    writeFileSync(join(home, "varve.db"), "no database at all".repeat(100));
    const damaged = fakeWorld(home);
    expect(await run(["--no-open"], damaged)).toBe(exitCodes.failed);
    expect(damaged.complained()).toMatch(/is damaged .+\(log-damaged\)\n$/);
  });
});

describe("with a server", () => {
  let home: string;
  let project: string;
  let provider: FakeProvider;
  let server: Started;
  beforeAll(async () => {
    home = temporaryFolder();
    project = temporaryFolder();
    provider = await createFakeProvider({ models: ["m"] });
    server = await start(home, {
      env: { VARVE_HOME: home, VARVE_PORT: "0", OPENAI_COMPATIBLE_BASE_URL: `${provider.url}/v1` },
    });
  });
  afterAll(async () => {
    server.world.end();
    expect(await server.code).toBe(exitCodes.done);
    await provider.close();
    for (const folder of [home, project]) rmSync(folder, { recursive: true, force: true });
  });
  const command = async (...args: readonly string[]) => {
    const world = fakeWorld(home, { cwd: project });
    return { world, code: await run(args, world) };
  };
  const reply = (text: string) => provider.add({ blocks: [{ type: "text", text }] });

  test("[CLI-7] the address and a sign-in link are printed, and a second start prints the same address with a new link", async () => {
    expect(server.world.printed()).toMatch(/^Varve listening on (\S+)\nSign in: \1\/#code=[\w-]{43}\n$/);
    const second = await command("--no-open");
    expect(second.code).toBe(exitCodes.done);
    expect(second.world.printed()).toMatch(
      new RegExp(`^Varve is running already on ${server.url}\nSign in: ${server.url}/#code=[\\w-]{43}\n$`),
    );
  });

  test("[CLI-8] link prints a link that signs in", async () => {
    const { code, world } = await command("link");
    expect(code).toBe(exitCodes.done);
    const [url = "", secret] = world.printed().trim().split("/#code=");
    expect(url).toBe(server.url);
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${url}/api/sign-in`, {
      method: "POST",
      headers,
      body: JSON.stringify({ code: secret }),
    });
    expect(answer.status).toBe(200);
  });

  test("[CLI-22] token makes a named token, lists it without its secret, and takes it back", async () => {
    const made = await command("token", "add", "ci", "--days", "30");
    expect(made.code).toBe(exitCodes.done);
    const secret = made.world.printed().trim();
    expect(secret).toMatch(/^varve_[\w-]{43}$/);
    const headers = { authorization: `Bearer ${secret}` };
    const me = () => fetch(`${server.url}/api/me`, { headers });
    expect(await (await me()).json()).toMatchObject({ signedIn: true, token: "ci" });
    const listed = await command("token", "list");
    expect(jsonLines(listed.world)).toMatchObject([
      { name: "ci", lastFour: secret.slice(-4), usedAt: expect.any(Number) },
    ]);
    expect(listed.world.printed()).not.toContain(secret);
    const id = String(jsonLines(listed.world)[0]?.id);
    const again = await command("token", "add", "CI");
    expect(again).toMatchObject({ code: exitCodes.refused });
    expect(again.world.complained()).toMatch(/^varve: There is a token named CI already\..+\(id-taken\)\n$/);
    const gone = await command("token", "remove", id);
    expect(gone.code).toBe(exitCodes.done);
    expect(gone.world.printed()).toBe(`${id}\n`);
    expect((await me()).status).toBe(401);
    expect((await command("token", "remove", id)).code).toBe(exitCodes.refused);
    expect((await command("token", "list")).world.printed()).toBe("");
  });

  test("[CLI-22] with a named token in VARVE_TOKEN nobody is let in", async () => {
    const made = await command("token", "add", "robot");
    const world = fakeWorld(home, { env: { VARVE_HOME: home, VARVE_TOKEN: made.world.printed().trim() } });
    expect(await run(["link"], world)).toBe(exitCodes.refused);
    expect(world.complained()).toContain("(owner-only)");
  });

  test("[CLI-9] send --new makes a tab in this directory and says which; send goes on in it", async () => {
    reply("first answer");
    const first = await command("send", "--new", "hello", "--wait");
    expect(first.world.complained()).toBe("");
    expect(first.code).toBe(exitCodes.done);
    const [accepted, ...rows] = jsonLines(first.world);
    expect(accepted).toMatchObject({ state: "sealed", tab: expect.any(String), id: expect.any(String) });
    expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_row, at) => at + 1));
    expect(rows.some(({ id }) => id === accepted?.id)).toBe(true);
    expect(rows.at(-1)).toMatchObject({ data: { kind: "turn-end", reason: "done" } });
    expect(JSON.stringify(rows)).toContain("first answer");
    reply("second answer");
    const second = await command("send", String(accepted?.tab), "-", "--wait");
    expect(second.code).toBe(exitCodes.done);
    const [, ...later] = jsonLines(second.world);
    expect(later[0]?.seq).toBe(Number(rows.at(-1)?.seq) + 1);
    expect(JSON.stringify(later)).toContain("from standard input");
    expect(JSON.stringify(later)).toContain("second answer");
  });

  test("[CLI-9] without --wait it says that the message was accepted and ends", async () => {
    provider.add({ blocks: [{ type: "text", text: "slow" }], holdAfter: 0 });
    const { code, world } = await command("send", "--new", "hello");
    expect(code).toBe(exitCodes.done);
    expect(jsonLines(world)).toHaveLength(1);
    provider.gate().release();
  });

  test("[CLI-10] a turn that fails, and one that waits for a person, are told by their exit codes", async () => {
    provider.add({ fail: { kind: "status", status: 400, message: "no such thing" } });
    const failed = await command("send", "--new", "hello", "--wait");
    expect(failed.code).toBe(exitCodes.turnFailed);
    expect(failed.world.complained()).toBe("varve: The turn ended with an error.\n");
    provider.add({ blocks: [{ type: "tool_use", name: "bash", input: { command: "true" } }] });
    const waits = await command("send", "--new", "run it", "--wait", "--permissions", "ask");
    expect(waits.code).toBe(exitCodes.turnWaits);
    expect(waits.world.complained()).toContain("waits for a person");
  });

  test.each([
    [["send", "none", "hello"], "unknown-tab"],
    [["send", "no such id", "hello"], "bad-id"],
    [["send", "--new", "hello", "--cwd", "/does/not/exist"], "bad-directory"],
    [["send", "--new", "hello", "--model", "nobody/none"], "unknown-model"],
    [["send", "--new", ""], "bad-request"],
    [["tail", "none"], "unknown-tab"],
    [["tail", "no such id"], "bad-id"],
  ])("[CLI-11] %j is refused by the server with %s, and exits with 4", async (args, code) => {
    const outcome = await command(...args);
    expect(outcome.code).toBe(exitCodes.refused);
    expect(outcome.world.complained()).toMatch(new RegExp(`^varve: .+\\(${code}\\)\n$`));
    expect(outcome.world.printed()).toBe("");
  });

  test("[CLI-14] tail goes on after a restart of the server, behind the last row that it printed", async () => {
    const own = temporaryFolder();
    const env = { VARVE_HOME: own, VARVE_PORT: "0" };
    const first = await start(own, { env });
    const port = first.url.split(":")[2] ?? "";
    const sent = fakeWorld(own, { cwd: project });
    expect(await run(["send", "--new", "what can you do?", "--wait", "--model", "demo/demo"], sent)).toBe(
      exitCodes.done,
    );
    const tab = String(jsonLines(sent)[0]?.tab);
    const world = fakeWorld(own);
    const code = run(["tail", tab], world);
    await world.prints(/"turn-end"/);
    first.world.end();
    await first.code;
    const second = await start(own, { env: { ...env, VARVE_PORT: port } });
    const again = fakeWorld(own, { cwd: project });
    expect(await run(["send", tab, "and what else?", "--wait"], again)).toBe(exitCodes.done);
    await world.prints(/"turn-end"[\s\S]+"turn-end"/);
    const seqs = jsonLines(world).map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_seq, at) => at + 1));
    world.end();
    expect(await code).toBe(exitCodes.done);
    second.world.end();
    await second.code;
    rmSync(own, { recursive: true, force: true });
  });

  test("[CLI-12] tail prints rows from a seq on, each once and in order, follows, and ends when it is told to", async () => {
    reply("one");
    const sent = await command("send", "--new", "hello", "--wait");
    const [accepted, ...rows] = jsonLines(sent.world);
    const tab = String(accepted?.tab);
    const world = fakeWorld(home);
    const code = run(["tail", tab, "--from", "3"], world);
    await world.prints(/"turn-end"/);
    expect(jsonLines(world)).toEqual(rows.slice(2));
    reply("two");
    await command("send", tab, "again", "--wait");
    await world.prints(/"turn-end"[\s\S]+"turn-end"/);
    const seqs = jsonLines(world).map(({ seq }) => Number(seq));
    expect(seqs).toEqual(seqs.map((_seq, at) => at + 3));
    world.end();
    expect(await code).toBe(exitCodes.done);
  });
});

/** A socket of a page, by its first bytes alone. */
function upgraded(url: string, token: string): Promise<{ end(): void }> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${token}`,
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": Buffer.alloc(16, 1).toString("base64"),
    };
    const asked = request(`${url}/api/ws`, { headers });
    asked.on("upgrade", (_response, socket) => resolve({ end: () => socket.destroy() }));
    asked.on("error", reject);
    asked.end();
  });
}

describe("the browser", () => {
  test("[CLI-13] when a page has come back no second one is opened", async () => {
    const home = temporaryFolder();
    const fires: (() => void)[] = [];
    const real = fakeWorld(home).clock;
    const clock: World["clock"] = {
      now: real.now,
      setTimer(ms, fire) {
        if (ms === 2_000) fires.push(fire);
        return ms === 2_000 ? { cancel: () => undefined } : real.setTimer(ms, fire);
      },
    };
    const env = { VARVE_HOME: home, VARVE_PORT: "0", DISPLAY: ":0" };
    const { world, code, url } = await start(home, { env, clock }, []);
    const page = await upgraded(url, readFileSync(join(home, "token"), "utf8").trim());
    for (const fire of fires) fire();
    expect(fires).toHaveLength(1);
    expect(world.opened).toEqual([]);
    const second = fakeWorld(home, { env });
    expect(await run([], second)).toBe(exitCodes.done);
    expect(second.opened).toEqual([]);
    page.end();
    world.end();
    expect(await code).toBe(exitCodes.done);
    rmSync(home, { recursive: true, force: true });
  });

  test.each([
    [{ DISPLAY: ":0" }, true],
    [{ WAYLAND_DISPLAY: "wayland-0" }, true],
    [{}, false],
    [{ DISPLAY: ":0", SSH_CONNECTION: "1 2 3 4" }, false],
  ])("[CLI-13] with %j in the environment it is opened: %s, and never at once", async (desktop, opens) => {
    const home = temporaryFolder();
    const timers: { readonly ms: number; readonly fire: () => void }[] = [];
    const real = fakeWorld(home).clock;
    const clock: World["clock"] = {
      now: real.now,
      setTimer(ms, fire) {
        if (ms !== 2_000) return real.setTimer(ms, fire);
        timers.push({ ms, fire });
        return { cancel: () => undefined };
      },
    };
    const { world, code, url } = await start(
      home,
      { env: { VARVE_HOME: home, VARVE_PORT: "0", ...desktop }, clock },
      [],
    );
    expect(world.opened).toEqual([]);
    for (const { fire } of timers) fire();
    const second = fakeWorld(home, { env: { VARVE_HOME: home, ...desktop } });
    expect(await run([], second)).toBe(exitCodes.done);
    expect(second.opened.length).toBe(opens ? 1 : 0);
    if (opens) expect(world.opened).toEqual([expect.stringMatching(new RegExp(`^${url}/#code=[\\w-]{43}$`))]);
    else expect(world.opened).toEqual([]);
    world.end();
    expect(await code).toBe(exitCodes.done);
    rmSync(home, { recursive: true, force: true });
  });
});
