import { renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createModelRegistry } from "@varve/agent";
import { memoryLog } from "@varve/log";
import { isFault } from "@varve/protocol";
import { createFakeProvider, createPrng } from "@varve/sim";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Credentials } from "./credentials.ts";
import { KeyHolder } from "./key-holder.ts";
import { realClock, temporaryFolder } from "./testing/house.ts";

const apiKey = "sk-test-0123456789abcdef";
let home: string;
beforeEach(() => {
  home = temporaryFolder();
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const refusing: typeof globalThis.fetch = async () => new Response("{}", { status: 401 });

async function make(log = memoryLog(), fetch = globalThis.fetch) {
  const prng = createPrng(11);
  const models = createModelRegistry({ env: {}, clock: realClock, fetch });
  const told: string[] = [];
  const credentials = await Credentials.load({
    log,
    models,
    clock: realClock,
    random: (into) => prng.fill(into),
    holder: new KeyHolder({
      path: join(home, "key"),
      random: (into) => prng.fill(into),
      clock: realClock,
      wish: "auto",
      ring: async () => null,
      told: () => undefined,
      known: () => undefined,
    }),
    unreadable: (keyId, why) => told.push(`${keyId}: ${why}`),
  });
  return { log, models, credentials, told };
}

describe("stored keys", () => {
  test("[AUTH-20] a key is trimmed, tried once before it is kept, and never comes out again", async () => {
    await using provider = await createFakeProvider({ apiKey });
    const { credentials, models } = await make();
    const added = await credentials.add({ provider: "anthropic", key: `  ${apiKey}\n`, baseUrl: provider.url });
    expect(added).toMatchObject({ id: "anthropic", source: "stored", keyHint: "cdef" });
    expect(JSON.stringify([added, models.credentials()])).not.toContain(apiKey);
    expect(isFault(await models.resolve("anthropic/claude-x"))).toBe(false);
  });

  test.each([
    ["a key that the provider refuses", { key: "sk-wrong" }, "credential-refused"],
    ["a key with a space in it", { key: "sk wrong" }, "credential-refused"],
    ["nothing at all", {}, "bad-request"],
    ["an address with a password in it", { baseUrl: "https://me:secret@example.test/v1" }, "bad-request"],
    ["an address with a key in its query", { baseUrl: "https://example.test/v1?key=secret" }, "bad-request"],
    ["a key that is far too long", { key: "x".repeat(5_000) }, "bad-request"],
  ])("[AUTH-20] %s is not kept", async (_what, given, code) => {
    const { credentials, models, log } = await make(memoryLog(), refusing);
    expect(await credentials.add({ provider: "anthropic", ...given })).toMatchObject({ code });
    expect(models.credentials()).toEqual([]);
    expect(await log.keys()).toEqual([]);
  });

  test("[AUTH-20] a provider that does not answer is told, and its key is not kept", async () => {
    const { credentials, log } = await make();
    const outcome = await credentials.add({ provider: "openai-compatible", baseUrl: "http://127.0.0.1:9" });
    expect(outcome).toMatchObject({ code: "provider-unreachable" });
    expect(await log.keys()).toEqual([]);
  });

  test("[AUTH-19] what is stored is encrypted with a key file of the owner's alone, and is read again after a restart", async () => {
    await using provider = await createFakeProvider({ apiKey });
    const first = await make();
    await first.credentials.add({ provider: "anthropic", key: apiKey, baseUrl: provider.url });
    const [entry] = await first.log.keys();
    expect(entry?.secret).toMatch(/^v1:/);
    expect(Buffer.from(entry?.secret?.slice(3) ?? "", "base64").toString("latin1")).not.toContain(apiKey);
    expect(statSync(join(home, "key")).mode & 0o777).toBe(0o600);
    const again = await make(first.log);
    expect(again.models.credentials()).toMatchObject([{ id: "anthropic", keyHint: "cdef" }]);
  });

  test("[AUTH-19] one key twice gives two texts, and a text moved to another entry opens nothing", async () => {
    await using provider = await createFakeProvider({ apiKey });
    const { credentials, log } = await make();
    await credentials.add({ provider: "anthropic", key: apiKey, baseUrl: provider.url });
    expect(await credentials.add({ provider: "anthropic", key: apiKey, baseUrl: provider.url })).toMatchObject({
      id: "anthropic-2",
    });
    const [a, b] = await log.keys();
    if (a === undefined || b === undefined) throw new Error("two keys were stored");
    expect(a.secret).not.toBe(b.secret);
    await log.putKey({ ...a, secret: b.secret });
    const moved = await make(log);
    expect(moved.models.credentials().map(({ id }) => id)).toEqual(["anthropic-2"]);
    expect(moved.told).toEqual(["anthropic: it was encrypted with another key file"]);
  });

  test("[AUTH-19] without its key file nothing is lost and nothing is overwritten; old plain keys are taken as they are", async () => {
    await using provider = await createFakeProvider({ apiKey });
    const first = await make();
    await first.credentials.add({ provider: "anthropic", key: apiKey, baseUrl: provider.url });
    writeFileSync(join(home, "key"), "not a key\n");
    const old = {
      keyId: "old",
      provider: "openai",
      secret: "sk-old-key-9876",
      baseUrl: null,
      importedAt: 1,
      updatedAt: 1,
    };
    await first.log.putKey(old);
    await first.log.putKey({ ...old, keyId: "strange", provider: "nobody" });
    const again = await make(first.log);
    expect(again.models.credentials()).toMatchObject([{ id: "old", keyHint: "9876" }]);
    expect(again.told.toSorted()).toEqual([
      `anthropic: what ${join(home, "key")} holds is no key`,
      'strange: its provider "nobody" is not known',
    ]);
    const refused = await again.credentials.add({
      provider: "anthropic",
      key: apiKey,
      baseUrl: provider.url,
      id: "new",
    });
    expect(refused).toMatchObject({ code: "log-unavailable" });
    expect(await first.log.keys()).toHaveLength(3);
  });

  test("[AUTH-19] a key that is added while another cannot be opened does not take its place", async () => {
    await using provider = await createFakeProvider({ apiKey });
    const first = await make();
    await first.credentials.add({ provider: "anthropic", key: apiKey, baseUrl: provider.url });
    // As when the key ring is locked at the start and open a little later.
    renameSync(join(home, "key"), join(home, "away"));
    const again = await make(first.log);
    renameSync(join(home, "away"), join(home, "key"));
    const added = await again.credentials.add({ provider: "anthropic", key: apiKey, baseUrl: provider.url });
    expect(added).toMatchObject({ id: "anthropic-2" });
    const third = await make(first.log);
    expect(third.models.credentials().map(({ id }) => id)).toEqual(["anthropic", "anthropic-2"]);
  });

  test("[AUTH-20] a stored one can be removed, one of the environment cannot", async () => {
    await using provider = await createFakeProvider({});
    const { credentials, models, log } = await make();
    await credentials.add({ provider: "openai-compatible", baseUrl: `${provider.url}/v1`, id: "mine" });
    expect(await credentials.remove("mine")).toBeNull();
    expect(models.credentials()).toEqual([]);
    expect(await log.keys()).toEqual([]);
    expect(await credentials.remove("mine")).toMatchObject({ code: "unknown-credential" });
  });
});
