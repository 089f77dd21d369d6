import { isFault } from "@varve/protocol";
import { createFakeClock, createFakeProvider } from "@varve/sim";
import { describe, expect, test } from "vitest";
import type { KnownCredential } from "./model.ts";
import { createModelRegistry } from "./registry.ts";

type Routes = Readonly<Record<string, { readonly status?: number; readonly body: unknown } | "hang" | "down">>;

/** A network that answers what the table says; whatever is not there is down. */
function network(routes: Routes) {
  const asked: { readonly url: string; readonly headers: Record<string, string> }[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const url = String(input);
    asked.push({ url, headers: Object.fromEntries(new Headers(init?.headers).entries()) });
    const route = routes[url] ?? "down";
    if (route === "down") throw new TypeError("fetch failed", { cause: new Error(`connect ECONNREFUSED ${url}`) });
    if (route === "hang") {
      return new Promise((_resolve, reject) => {
        init?.signal?.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError")));
      });
    }
    return new Response(JSON.stringify(route.body), { status: route.status ?? 200 });
  };
  return { fetch, asked };
}

function registry(env: Record<string, string>, routes: Routes = {}) {
  const clock = createFakeClock();
  const net = network(routes);
  return { clock, ...net, models: createModelRegistry({ env, clock, fetch: net.fetch, demoDelayMs: 0 }) };
}
const lists = (...ids: readonly string[]) => ({ body: { data: ids.map((id) => ({ id })) } });
const stored = (given: Partial<KnownCredential> & Pick<KnownCredential, "id" | "provider">): KnownCredential => ({
  key: null,
  baseUrl: null,
  source: "stored",
  ...given,
});

describe("what is there", () => {
  test("[MODEL-7] with nothing in the environment only the demo model is on, and nobody is asked", async () => {
    const { models, asked } = registry({});
    expect(await models.list()).toEqual({
      models: [expect.objectContaining({ id: "demo/demo", available: true })],
      default: "demo/demo",
      demoOnly: true,
      recognised: [],
    });
    expect(asked).toEqual([]);
    expect(models.secretEnv).toEqual([]);
  });

  test("[MODEL-7] a key from the environment lists what the provider lists, known ones first", async () => {
    const { models, asked } = registry(
      { ANTHROPIC_API_KEY: "sk-ant-1234567890", ANTHROPIC_BASE_URL: "http://127.0.0.1:9/" },
      { "http://127.0.0.1:9/v1/models": lists("zzz", "claude-opus-5-5", "claude-sonnet-5-5") },
    );
    const body = await models.list();
    expect(body.models.map((model) => model.id)).toEqual([
      "anthropic/claude-sonnet-5-5",
      "anthropic/claude-opus-5-5",
      "anthropic/zzz",
      "demo/demo",
    ]);
    expect(body).toMatchObject({ default: "anthropic/claude-sonnet-5-5", demoOnly: false });
    expect(asked[0]?.headers).toMatchObject({ "x-api-key": "sk-ant-1234567890" });
    await models.list();
    expect(asked).toHaveLength(1);
    expect(models.secretEnv).toEqual(["ANTHROPIC_API_KEY"]);
  });

  test("[MODEL-7] a model that a provider lists twice is one model", async () => {
    const { models } = registry(
      { OPENAI_COMPATIBLE_BASE_URL: "http://127.0.0.1:9/v1" },
      { "http://127.0.0.1:9/v1/models": lists("a", "b", "a") },
    );
    const ids = (await models.list()).models.map((model) => model.id);
    expect(ids.toSorted()).toEqual(["demo/demo", "openai-compatible/a", "openai-compatible/b"]);
  });

  test("[MODEL-7] a provider that does not answer in time does not hold up the list", async () => {
    const { models, clock } = registry(
      { ANTHROPIC_API_KEY: "sk-ant-1234567890" },
      { "https://api.anthropic.com/v1/models": "hang" },
    );
    const listing = models.list();
    await clock.advance(3_000);
    const body = await listing;
    expect(body.models.length).toBeGreaterThan(1);
    expect(body.recognised).toMatchObject([{ provider: "anthropic", note: expect.stringContaining("no answer") }]);
  });

  test("[MODEL-7] a compatible server needs no key; when it is down, that is said", async () => {
    const { models } = registry({ OPENAI_COMPATIBLE_BASE_URL: "http://127.0.0.1:9" });
    const body = await models.list();
    // It is set up, and takes any model's id once it is back.
    expect(body.demoOnly).toBe(false);
    expect(body.recognised).toMatchObject([
      { provider: "openai-compatible", note: expect.stringContaining("ECONNREFUSED") },
    ]);
  });

  test("[MODEL-7] every provider's key from the environment lists that provider's models", async () => {
    const { models, asked } = registry(
      {
        OPENAI_API_KEY: "sk-openai-123",
        GEMINI_API_KEY: "AIza-12345678",
        DEEPSEEK_API_KEY: "sk-deep-12345",
        OPENROUTER_API_KEY: "sk-or-1234567",
        OPENAI_COMPATIBLE_API_KEY: "k-12345678",
      },
      {
        "https://api.openai.com/v1/models": lists("text-embedding-3", "gpt-4.1", "gpt-5.6-sol", "gpt-image-2"),
        "https://generativelanguage.googleapis.com/v1beta/models?pageSize=1000": {
          body: { models: [{ name: "models/gemini-embedding-2" }, { name: "models/gemini-3.5-flash" }] },
        },
        "https://api.deepseek.com/v1/models": lists("deepseek-chat", "deepseek-v4-pro"),
        "https://openrouter.ai/api/v1/models": lists("x/y", "anthropic/claude-sonnet-5.5"),
      },
    );
    const body = await models.list();
    expect(body.models.map((model) => model.id)).toEqual([
      "deepseek/deepseek-v4-pro",
      "deepseek/deepseek-chat",
      "google/gemini-3.5-flash",
      "openai/gpt-5.6-sol",
      "openai/gpt-4.1",
      "openrouter/anthropic/claude-sonnet-5.5",
      "openrouter/x/y",
      "demo/demo",
    ]);
    expect(body.recognised.map(({ provider }) => provider)).toEqual(["openai-compatible"]);
    expect(body.models.find(({ id }) => id === "deepseek/deepseek-chat")?.note).toContain("not supported");
    expect(asked.map(({ headers }) => headers.authorization ?? headers["x-goog-api-key"])).toEqual([
      "Bearer sk-deep-12345",
      "AIza-12345678",
      "Bearer sk-openai-123",
      "Bearer sk-or-1234567",
    ]);
    expect(models.secretEnv.toSorted()).toEqual([
      "DEEPSEEK_API_KEY",
      "GEMINI_API_KEY",
      "OPENAI_API_KEY",
      "OPENAI_COMPATIBLE_API_KEY",
      "OPENROUTER_API_KEY",
    ]);
  });

  test("[MODEL-7] a provider that does not answer is listed by the names that are known of it", async () => {
    const { models } = registry({ OPENAI_API_KEY: "sk-openai-123", GOOGLE_API_KEY: "AIza-12345678" });
    const body = await models.list();
    expect(body.models.some(({ id }) => id === "openai/gpt-5.6-sol")).toBe(true);
    expect(body.models.some(({ id }) => id.startsWith("google/gemini-"))).toBe(true);
    expect(body.recognised).toHaveLength(2);
  });

  test("[MODEL-7] empty variables count as unset", async () => {
    const { models } = registry({ ANTHROPIC_API_KEY: "", OPENAI_COMPATIBLE_BASE_URL: "  " });
    expect(models.credentials()).toEqual([]);
  });
});

describe("credentials", () => {
  test("[MODEL-8] a stored one wins over the environment's, and what is shown holds no key", () => {
    const { models } = registry({ ANTHROPIC_API_KEY: "sk-ant-environment" });
    models.setStored([stored({ id: "anthropic", provider: "anthropic", key: "sk-ant-stored9876" })]);
    expect(models.credentials()).toEqual([
      { id: "anthropic", provider: "anthropic", baseUrl: null, keyHint: "9876", source: "stored" },
    ]);
    expect(models.redact("sk-ant-stored9876 sk-ant-environment")).toBe("[secret] [secret]");
  });

  test("[MODEL-7] a second account at OpenAI has a scope of its own: it can't read what the first was given", async () => {
    const { models } = registry({ OPENAI_API_KEY: "sk-1234567890" });
    models.setStored([stored({ id: "work", provider: "openai", key: "sk-abcdefghij" })]);
    const scopes = ["openai/gpt-5.6-sol", "work/gpt-5.6-sol"].map(async (id) => {
      const resolved = await models.resolve(id);
      return isFault(resolved) ? resolved.code : resolved.target.modelScope;
    });
    expect(await Promise.all(scopes)).toEqual(["openai-responses:gpt-5.6-sol", "openai-responses:gpt-5.6-sol@work"]);
  });

  test("[MODEL-8] models carry the credential's name, and any model id is passed through", async () => {
    const { models } = registry({});
    models.setStored([stored({ id: "ollama", provider: "openai-compatible", baseUrl: "http://127.0.0.1:11434" })]);
    const resolved = await models.resolve("ollama/org/model:7b");
    if (isFault(resolved)) expect.fail(resolved.message);
    expect(resolved.info.id).toBe("ollama/org/model:7b");
    expect(resolved.target).toMatchObject({ model: "org/model:7b", modelScope: "local:org/model:7b" });
  });

  test.each(["nope/x", "anthropic", "", "demo/other"])(
    "[MODEL-8] %j is no model, and the answer names those there are",
    async (id) => {
      const { models } = registry({ ANTHROPIC_API_KEY: "sk-ant-1234567890" });
      const fault = await models.resolve(id);
      expect(fault).toMatchObject({ kind: "fault", code: "unknown-model", hint: expect.stringContaining("demo/demo") });
    },
  );

  test.each<[string, KnownCredential, Routes, string | null]>([
    [
      "a good key",
      stored({ id: "a", provider: "anthropic", key: "k" }),
      { "https://api.anthropic.com/v1/models": lists("m") },
      null,
    ],
    [
      "a bad key",
      stored({ id: "a", provider: "anthropic", key: "k" }),
      { "https://api.anthropic.com/v1/models": { status: 401, body: {} } },
      "credential-refused",
    ],
    ["no key", stored({ id: "a", provider: "anthropic" }), {}, "credential-refused"],
    [
      "a server that is down",
      stored({ id: "b", provider: "openai-compatible", baseUrl: "http://127.0.0.1:9" }),
      {},
      "provider-unreachable",
    ],
    [
      "a server without a list",
      stored({ id: "b", provider: "openai-compatible", baseUrl: "http://127.0.0.1:9" }),
      { "http://127.0.0.1:9/v1/models": { status: 404, body: {} } },
      null,
    ],
    ["no address", stored({ id: "b", provider: "openai-compatible" }), {}, "bad-request"],
    ["no key for OpenAI", stored({ id: "o", provider: "openai" }), {}, "credential-refused"],
    [
      "a bad key of Google",
      stored({ id: "g", provider: "google", key: "k" }),
      {
        "https://generativelanguage.googleapis.com/v1beta/models?pageSize=1000": {
          status: 400,
          body: { error: { details: [{ reason: "API_KEY_INVALID" }] } },
        },
      },
      "credential-refused",
    ],
    [
      "a bad key of OpenRouter, whose models anybody may list",
      stored({ id: "r", provider: "openrouter", key: "k" }),
      {
        "https://openrouter.ai/api/v1/models": lists("a/b"),
        "https://openrouter.ai/api/v1/key": { status: 401, body: {} },
      },
      "credential-refused",
    ],
    [
      "a good key of OpenRouter",
      stored({ id: "r", provider: "openrouter", key: "k" }),
      { "https://openrouter.ai/api/v1/models": lists("a/b"), "https://openrouter.ai/api/v1/key": { body: {} } },
      null,
    ],
    [
      "an address that is none",
      stored({ id: "b", provider: "openai-compatible", baseUrl: "ftp://x" }),
      {},
      "bad-request",
    ],
  ])("[MODEL-8] checked before it is kept: %s", async (_name, { id, provider, key, baseUrl }, routes, expected) => {
    const { models } = registry({}, routes);
    const given = { id, provider, ...(key === null ? {} : { key }), ...(baseUrl === null ? {} : { baseUrl }) };
    expect((await models.check(given))?.code ?? null).toBe(expected);
  });
});

describe("what is known of a model", () => {
  test("[MODEL-20] prices and limits stand beside the model, and a person's own word wins", async () => {
    const { models } = registry({ ANTHROPIC_API_KEY: "sk-ant-1234567890" });
    const before = await models.resolve("anthropic/claude-opus-5-5");
    if (isFault(before)) expect.fail(before.message);
    expect(before.info.prices).toMatchObject({ input: 4, read: 0.2, write5m: 5, output: 20 });
    expect(before.info.contextTokens).toBe(before.facts.contextTokens);
    models.setOverrides({ "anthropic/claude-opus-5-5": { contextTokens: 50_000, prices: { input: 1 } } });
    const after = await models.resolve("anthropic/claude-opus-5-5");
    expect(after).toMatchObject({ info: { contextTokens: 50_000, prices: { input: 1, output: 20 } } });
  });

  test("[MODEL-20] nothing is known of a model on a person's own machine, and nothing is made up", async () => {
    const { models } = registry({ OPENAI_COMPATIBLE_BASE_URL: "http://127.0.0.1:9" });
    const resolved = await models.resolve("openai-compatible/qwen3:8b");
    expect(resolved).toMatchObject({ info: { contextTokens: null, prices: null }, facts: { cache: null } });
    expect(await models.resolve("demo/demo")).toMatchObject({
      facts: { prices: { input: 0, output: 0 }, contextTokens: null },
    });
  });
});

describe("local servers", () => {
  test("[MODEL-9] those that answer on their usual ports are offered, within half a second", async () => {
    const { models, clock } = registry(
      {},
      {
        "http://127.0.0.1:11434/api/tags": { body: { models: [{ name: "qwen3:8b" }] } },
        "http://127.0.0.1:1234/v1/models": "hang",
        "http://127.0.0.1:8080/v1/models": { body: "some other program" },
      },
    );
    const finding = models.localServers();
    await clock.advance(500);
    expect(await finding).toEqual([{ kind: "Ollama", baseUrl: "http://127.0.0.1:11434/v1", models: ["qwen3:8b"] }]);
  });

  test.each([
    ["0.0.0.0:9999", "http://127.0.0.1:9999"],
    ["http://localhost", "http://localhost:11434"],
    ["http://other.example:1", "http://127.0.0.1:11434"],
  ])("[MODEL-9] OLLAMA_HOST=%s is asked at %s", async (host, origin) => {
    const { models, asked } = registry({ OLLAMA_HOST: host });
    await models.localServers();
    expect(asked.map(({ url }) => url)).toContain(`${origin}/api/tags`);
  });
});

test("[MODEL-7] over real HTTP: listed and checked like any server", async () => {
  await using provider = await createFakeProvider({ models: ["m-1"] });
  const clock = createFakeClock();
  const env = { OPENAI_COMPATIBLE_BASE_URL: provider.url };
  const models = createModelRegistry({ env, clock, fetch: globalThis.fetch });
  expect((await models.list()).models.map((model) => model.id)).toEqual(["openai-compatible/m-1", "demo/demo"]);
  expect(await models.check({ id: "x", provider: "openai-compatible", baseUrl: provider.url })).toBeNull();
});
