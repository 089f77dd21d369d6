/** The whole program against the fake provider: the real registry, wire and adapters, and every vendor's rules of the cache. */
import { describe, expect, test } from "vitest";
import type { CacheRules } from "../cache/vendor-cache.ts";
import { createFakeClock } from "../fake-clock.ts";
import { createFakeProvider, type FakeProvider } from "../provider/fake-provider.ts";
import type { FakeRequest } from "../provider/request-view.ts";
import type { Reply } from "../provider/script.ts";
import { checksFor, liveProviders, offers } from "./catalogue.ts";
import type { LiveProvider, Verdict } from "./check.ts";
import { exits, runLive } from "./run-live.ts";

const key = "key-of-the-test-1234";
const urlNames: Readonly<Record<LiveProvider, string>> = {
  anthropic: "ANTHROPIC_BASE_URL",
  openai: "OPENAI_BASE_URL",
  google: "GOOGLE_BASE_URL",
  deepseek: "DEEPSEEK_BASE_URL",
  openrouter: "OPENROUTER_BASE_URL",
};

/** Does as it is told: a word where a word is asked for, else one call with some thinking before it. */
function obedient({ lastUserText }: FakeRequest): Reply {
  if (lastUserText.includes("the one word")) return { blocks: [{ type: "text", text: "ready" }] };
  return {
    blocks: [
      { type: "thinking", text: "The next line." },
      { type: "tool_use", name: "look", input: { n: 1 } },
    ],
  };
}

interface Rig {
  readonly provider: FakeProvider;
  readonly lines: string[];
  readonly waits: number[];
  run(...argv: readonly string[]): Promise<number>;
  last(): Report;
}
interface Report {
  readonly live: "plan" | "run";
  readonly ok?: boolean;
  readonly providers: readonly {
    readonly provider: string;
    readonly requests: number;
    readonly most?: number | null;
    readonly likely?: number | null;
    readonly stopped?: string | null;
    readonly checks?: readonly {
      readonly check: string;
      readonly verdict: Verdict;
      readonly measured: string;
      readonly ratio: number | null;
      readonly tokens: number;
      readonly money: number | null;
    }[];
  }[];
}

async function rigFor(
  name: LiveProvider,
  options: {
    readonly reply?: (request: FakeRequest) => Reply;
    readonly withKey?: boolean;
    readonly rules?: CacheRules;
  } = {},
): Promise<Rig> {
  const clock = createFakeClock();
  const provider = await createFakeProvider({
    reply: options.reply ?? obedient,
    apiKey: key,
    now: clock.now,
    cache: { minimumPrefix: true, ...options.rules },
  });
  const path = name === "openrouter" ? "/api/v1" : "";
  const lines: string[] = [];
  const waits: number[] = [];
  const env = {
    [urlNames[name]]: `${provider.url}${path}`,
    ...(options.withKey === false ? {} : { [offers[name].keyName]: key }),
  };
  const wait = async (ms: number): Promise<void> => {
    waits.push(ms);
    await clock.advance(ms);
  };
  return {
    provider,
    lines,
    waits,
    run: (...argv) =>
      runLive(argv, { env, clock, fetch, nonce: "nonce", wait, say: (text) => lines.push(...text.split("\n")) }),
    // The program's own last line.
    last: () => JSON.parse(lines.at(-1) ?? "{}") as Report,
  };
}

describe.each(liveProviders)("%s", (name) => {
  test("without --yes nothing is sent, and the plan says what it would cost", async () => {
    const rig = await rigFor(name);
    await using _provider = rig.provider;
    expect(await rig.run(name)).toBe(exits.fine);
    expect(rig.provider.calls).toHaveLength(0);
    expect(rig.lines[0]).toMatch(/\d+ requests, at most \$\d+\.\d{4}, more likely \$\d/);
    expect(rig.lines.at(-2)).toContain("Add --yes");
  });

  test("without its key nothing is sent, and the variable is named", async () => {
    const rig = await rigFor(name, { withKey: false });
    await using _provider = rig.provider;
    expect(await rig.run(name, "--yes")).toBe(exits.fine);
    expect(rig.provider.calls).toHaveLength(0);
    expect(rig.lines.at(-2)).toContain(offers[name].keyName);
  });

  test("every check is green under the fake's rules, and none sends or costs more than the plan said first", async () => {
    const rig = await rigFor(name);
    await using _provider = rig.provider;
    await rig.run(name);
    const [planned] = rig.last().providers;
    const code = await rig.run(name, "--yes", "--patient");
    const [report] = rig.last().providers;
    const checks = report?.checks ?? [];
    expect(checks.filter(({ verdict }) => verdict !== "ok" && verdict !== "settled")).toEqual([]);
    expect(code).toBe(exits.fine);
    expect(rig.last().ok).toBe(true);
    expect(checks.map(({ check }) => check)).toEqual(checksFor(name, null).map((check) => check.name));
    expect(checks.find(({ check }) => check === "read-ratio")?.ratio).toBe(1);
    expect(checks.every(({ tokens, money }) => tokens > 0 && money !== null && money > 0)).toBe(true);
    expect(rig.provider.calls).toHaveLength(report?.requests ?? Number.NaN);
    expect(report?.requests).toBeLessThanOrEqual(planned?.requests ?? 0);
    const money = checks.reduce((sum, check) => sum + (check.money ?? Number.NaN), 0);
    expect(money).toBeLessThan(planned?.most ?? Number.NaN);
    expect(money).toBeGreaterThan((planned?.likely ?? Number.NaN) / 3);
    expect(money).toBeLessThan((planned?.likely ?? Number.NaN) * 1.5);
  });
});

describe("what the answers to the open questions look like", () => {
  async function measured(name: LiveProvider, check: string, rules: CacheRules, ...more: readonly string[]) {
    const rig = await rigFor(name, { rules });
    await using _provider = rig.provider;
    expect(await rig.run(name, "--only", check, "--yes", ...more)).toBe(exits.fine);
    return { told: rig.last().providers[0]?.checks?.[0]?.measured ?? "", waits: rig.waits };
  }

  test.each<[LiveProvider, string, CacheRules, string]>([
    ["anthropic", "collapse", { positions: "strict" }, "each block is a position"],
    ["anthropic", "collapse", { positions: "collapsed" }, "a run is one position"],
    ["anthropic", "betas", {}, "it is not part of the key"],
    ["anthropic", "eager-flag", {}, "it is part of the key"],
    ["anthropic", "blank-separator", {}, "behind thinking: refused (400"],
    ["openai", "text-or-list", {}, "they differ"],
    ["openrouter", "text-or-list", {}, "both are the same"],
    ["openrouter", "burst", { positions: "strict" }, "(78."],
    ["openrouter", "burst", { positions: "collapsed" }, "(100.0 %)"],
    ["openai", "second-tab", {}, "1 explicit breakpoint, key varve-"],
  ])("%s %s %o: %s", async (name, check, rules, words) => {
    expect((await measured(name, check, rules)).told).toContain(words);
  });

  test("an entry of five minutes that is marked for an hour is dead after six minutes, and only patience shows it", async () => {
    const hasty = await measured("anthropic", "hour-upgrade", {});
    expect(hasty.told).toContain("written for an hour 0; whether it lives on needs --patient");
    expect(hasty.waits).toEqual([]);
    const patient = await measured("anthropic", "hour-upgrade", {}, "--patient");
    expect(patient.told).toContain("after six minutes read 0 of");
  });

  test("warming at four and a half minutes carries an entry over its five", async () => {
    const { told, waits } = await measured("anthropic", "keep-warm", {}, "--patient");
    expect(waits).toEqual([270_000, 60_000]);
    expect(told).toMatch(/warming: .*\(100\.0 %\), output 0; step: .*\(100\.0 %\)/);
  });

  test("with entries of an hour there is nothing to upgrade", async () => {
    expect((await measured("anthropic", "hour-upgrade", {}, "--ttl", "1h")).told).toContain(
      "needs entries of five minutes",
    );
  });
});

describe("when the world is not as expected", () => {
  test("a provider that reads nothing back is reported as different, with the code for it", async () => {
    const reply = (request: FakeRequest): Reply => ({ ...obedient(request), usage: { input: 6_000, cacheRead: 0 } });
    const rig = await rigFor("anthropic", { reply });
    await using _provider = rig.provider;
    expect(await rig.run("anthropic", "--only", "read-ratio", "--yes")).toBe(exits.differs);
    expect(rig.last().providers[0]?.checks?.[0]).toMatchObject({ verdict: "differs", ratio: 0 });
  });

  test("one step of six that reads less than all of what was there is noticed", async () => {
    const reply = (request: FakeRequest): Reply =>
      request.index === 3 ? { ...obedient(request), usage: { input: 300, cacheRead: 6_600 } } : obedient(request);
    const rig = await rigFor("anthropic", { reply });
    await using _provider = rig.provider;
    expect(await rig.run("anthropic", "--only", "read-ratio", "--yes")).toBe(exits.differs);
    const [check] = rig.last().providers[0]?.checks ?? [];
    expect(check?.verdict).toBe("differs");
    expect(check?.ratio).toBeGreaterThan(0.9);
  });

  test("it stops before its money is passed, says so, and has not tried the rest", async () => {
    const rig = await rigFor("anthropic");
    await using _provider = rig.provider;
    expect(await rig.run("anthropic", "--yes", "--max-money", "0.1")).toBe(exits.stopped);
    const [report] = rig.last().providers;
    expect(report?.stopped).toContain("might pass $0.1");
    const spent = report?.checks?.reduce((sum, { money }) => sum + (money ?? Number.NaN), 0);
    expect(spent).toBeLessThanOrEqual(0.1);
    expect(report?.checks?.at(-1)).toMatchObject({ verdict: "not-run", tokens: 0 });
    expect(rig.last().ok).toBe(false);
  });

  test.each([0, 3])("a model that answers each order with %i calls is measured all the same", async (count) => {
    const call = { type: "tool_use", name: "look", input: { n: 1 } } as const;
    const blocks = count === 0 ? [{ type: "text", text: "no" } as const] : Array.from({ length: count }, () => call);
    const rig = await rigFor("anthropic", { reply: () => ({ blocks }) });
    await using _provider = rig.provider;
    expect(await rig.run("anthropic", "--yes", "--only", "read-ratio")).toBe(exits.fine);
    expect(rig.last().providers[0]?.checks?.[0]).toMatchObject({ verdict: "ok", ratio: 1 });
    expect(rig.last().providers[0]?.checks?.[0]?.measured).toContain(`${count * 6} calls`);
  });

  test("an unknown price is told as unknown, before and after", async () => {
    const rig = await rigFor("anthropic");
    await using _provider = rig.provider;
    await rig.run("anthropic", "--model", "claude-of-tomorrow", "--only", "burst", "--yes");
    expect(rig.lines[0]).toContain("at most unknown");
    expect(rig.lines[0]).toContain("The price of this model is unknown");
    expect(rig.last().providers[0]?.checks?.[0]).toMatchObject({ verdict: "ok", money: null });
  });

  test("a refused key fails the check, and is in no line", async () => {
    const refusal: Reply = { fail: { kind: "status", status: 401, echoKey: true, message: "no such account" } };
    const rig = await rigFor("openai", { reply: () => refusal });
    await using _provider = rig.provider;
    expect(await rig.run("openai", "--only", "burst", "--yes")).toBe(exits.differs);
    expect(rig.last().providers[0]?.checks?.[0]?.verdict).toBe("failed");
    expect(rig.lines.join("\n")).not.toContain(key);
    expect(rig.provider.calls).toHaveLength(1);
  });

  test("what may pass is tried again, a few times, each of them counted", async () => {
    const busy: Reply = { fail: { kind: "status", status: 429, headers: { "retry-after": "3" } } };
    const rig = await rigFor("anthropic", { reply: () => busy });
    await using _provider = rig.provider;
    expect(await rig.run("anthropic", "--only", "burst", "--yes")).toBe(exits.differs);
    expect(rig.waits).toEqual([3_000, 3_000]);
    expect(rig.last().providers[0]).toMatchObject({ requests: 3, checks: [{ verdict: "failed" }] });
  });

  test("a line that makes no sense sends nothing and shows how it is written", async () => {
    const rig = await rigFor("anthropic");
    await using _provider = rig.provider;
    expect(await rig.run("antropic", "--yes")).toBe(exits.badLine);
    expect(rig.lines.join("\n")).toContain("npm run live -- [PROVIDER]");
    expect(rig.provider.calls).toHaveLength(0);
  });
});
