/** What a person gets wrong at the command line and in the settings of a provider: one clear sentence and a code. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";
import type { LogChunk } from "@varve/protocol";
import { describe, expect, test } from "vitest";
import { makeProject } from "../project.ts";
import { createFakeProvider } from "../provider/fake-provider.ts";
import { runVarve } from "./child.ts";
import { Follower } from "./follower.ts";
import { logProblems } from "./log-checks.ts";
import { Product, testKey } from "./product.ts";
import { say } from "./scripted-agent.ts";

/** One sentence or two, a code in brackets, one line. */
const oneClearLine = (code: string): RegExp => new RegExp(`^varve: [^\\n]{10,300} \\(${code}\\)\\n$`);

describe("a start that cannot be", () => {
  test("a port that is none is named, with the usage", async () => {
    await using place = await makeProject("empty");
    const { code, out, err } = await runVarve({ args: ["--port", "eighty"], env: { VARVE_HOME: place.dir } });
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain("'eighty' is not a port");
  });

  test("a busy port", async () => {
    await using place = await makeProject("empty");
    const busy = createServer();
    await new Promise<void>((resolve) => busy.listen(0, "127.0.0.1", resolve));
    const address = busy.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const { code, out, err } = await runVarve({
      args: ["--port", `${port}`, "--no-open"],
      env: { VARVE_HOME: place.dir },
    });
    busy.close();
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(oneClearLine("address-unavailable"));
    expect(err).toContain(`${port}`);
  });

  test("a home that is a file", async () => {
    await using place = await makeProject("empty");
    await place.write("home", "not a directory");
    const home = place.path("home");
    const { code, out, err } = await runVarve({ args: ["--port", "0", "--no-open"], env: { VARVE_HOME: home } });
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(oneClearLine("log-unavailable"));
    expect(await readFile(home, "utf8")).toBe("not a directory");
  });

  test("a damaged database, of which not a byte is changed", async () => {
    await using place = await makeProject("empty");
    const home = place.path("home");
    await mkdir(home);
    const damaged = "This is no database. ".repeat(400);
    await writeFile(join(home, "varve.db"), damaged);
    const { code, out, err } = await runVarve({ args: ["--port", "0", "--no-open"], env: { VARVE_HOME: home } });
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(oneClearLine("log-damaged"));
    expect(await readFile(join(home, "varve.db"), "utf8")).toBe(damaged);
  });
});

const lastError = (rows: readonly LogChunk[]) => rows.findLast((row) => row.type === "error")?.data;

test("a bad key ends the turn with a sentence and a code, without a retry, and the next key is used at once", async () => {
  await using project = await makeProject("empty");
  await using provider = await createFakeProvider({
    apiKey: testKey,
    models: ["m"],
    reply: () => ({ blocks: [say("Hello.")] }),
  });
  await using product = await Product.start({
    env: { ANTHROPIC_API_KEY: "wrong-key-0000000000", ANTHROPIC_BASE_URL: provider.url },
  });
  const tab = await product.api.newTab({ cwd: project.dir, model: "anthropic/m" });
  using follower = await Follower.on(product.api, tab.id);

  const first = await product.api.send(tab.id, "hello");
  await follower.untilAnswered(first.id);
  expect(provider.calls).toHaveLength(1);
  expect(lastError(await product.api.rows(tab.id))).toMatchObject({
    code: "credential-refused",
    message: expect.stringMatching(/^.{10,300}$/),
  });
  expect(JSON.stringify(await product.api.rows(tab.id))).not.toContain("wrong-key-0000000000");

  const key = { provider: "anthropic", key: testKey, baseUrl: provider.url };
  expect(await product.api.ask("POST", "/credentials", { ...key, key: "also-wrong-0000000" })).toMatchObject({
    status: 400,
    code: "credential-refused",
  });
  expect(await product.api.ask("POST", "/credentials", key)).toMatchObject({ status: 201 });
  const second = await product.api.send(tab.id, "and now?");
  await follower.untilAnswered(second.id);
  const rows = await product.api.rows(tab.id);
  expect(rows.findLast((row) => row.role === "assistant")?.data).toMatchObject({ text: "Hello." });
  expect(logProblems(rows, [first.id, second.id])).toEqual([]);
});

test("an unreachable provider is tried again in sight, a stop ends the wait at once, and the message is kept", async () => {
  await using project = await makeProject("empty");
  // Nobody listens on the port of a server that is closed.
  const gone = await createFakeProvider();
  await gone.close();
  await using product = await Product.start({ env: { OPENAI_COMPATIBLE_BASE_URL: `${gone.url}/v1` } });
  const tab = await product.api.newTab({ cwd: project.dir, model: "openai-compatible/m" });
  using follower = await Follower.on(product.api, tab.id);

  const { id } = await product.api.send(tab.id, "hello");
  await follower.until("the retry is announced", ({ status }) => status.retry !== undefined);
  expect(follower.state.status.retry?.reason).toMatch(/.{10,}/);
  await product.api.stop(tab.id);
  await follower.untilAnswered(id);

  expect(logProblems(await product.api.rows(tab.id), [id])).toEqual([]);
});

test("what cannot be taken is refused with a code, and the same server goes on", async () => {
  await using project = await makeProject("empty");
  await using product = await Product.start();
  const { api } = product;
  const tab = await api.newTab({ cwd: project.dir });
  const tall = "x".repeat(10 * 1024 * 1024);
  const answers = [
    await api.ask("POST", "/tabs", { cwd: "/does/not/exist" }),
    await api.ask("POST", "/tabs", { cwd: project.dir, model: "nobody/none" }),
    await api.ask("POST", `/tabs/${tab.id}/messages`, '{"id": "m1", "text": '),
    await api.ask("POST", `/tabs/${tab.id}/messages`, { id: "m2", text: tall }),
    await api.ask("POST", "/tabs/no-such-tab/messages", { id: "m3", text: "hello" }),
  ];
  expect(answers.map(({ status, code }) => [status, code])).toEqual([
    [400, "bad-directory"],
    [400, "unknown-model"],
    [400, "bad-json"],
    [413, "body-too-large"],
    [404, "unknown-tab"],
  ]);
  for (const { message } of answers) expect(message).toMatch(/^.{8,200}\.$/);

  using follower = await Follower.on(api, tab.id);
  const { id } = await api.send(tab.id, "hello");
  await follower.untilAnswered(id);
  expect(logProblems(await api.rows(tab.id), [id])).toEqual([]);
});
