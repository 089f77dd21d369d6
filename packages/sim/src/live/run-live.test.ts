/** The whole program against the fake provider: the real registry, wire and adapters, and every vendor's rules of the cache. */
import { describe, expect, test } from "vitest";
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
  options: { readonly reply?: (request: FakeRequest) => Reply; readonly withKey?: boolean } = {},
): Promise<Rig> {
  const clock = createFakeClock();
  const provider = await createFakeProvider({
    reply: options.reply ?? obedient,
    apiKey: key,
    now: clock.now,
    cache: { minimumPrefix: true },
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
  test("every check is green under the rules that the fake has, and each is reported with tokens and money", async () => {
    const rig = await rigFor(name);
    await using _provider = rig.provider;
    const code = await rig.run(name, "--yes");
    expect(
      rig.last().providers[0]?.checks?.filter(({ verdict }) => verdict === "differs" || verdict === "failed"),
    ).toEqual([]);
    expect(code).toBe(exits.fine);
    const [report] = rig.last().providers;
    expect(report?.checks?.map(({ check }) => check)).toEqual(checksFor(name, null).map((check) => check.name));
    expect(report?.checks?.every(({ tokens, money }) => tokens > 0 && money !== null && money > 0)).toBe(true);
    expect(rig.provider.calls.length).toBe(report?.requests);
  });

  test("no check makes more requests than the plan says, and none costs more", async () => {
    const rig = await rigFor(name);
    await using _provider = rig.provider;
    await rig.run(name);
    const [planned] = rig.last().providers;
    expect(rig.last().live).toBe("plan");
    await rig.run(name, "--yes", "--patient");
    const [report] = rig.last().providers;
    expect(report?.requests).toBeLessThanOrEqual(planned?.requests ?? 0);
    const money = report?.checks?.reduce((sum, check) => sum + (check.money ?? Number.NaN), 0);
    expect(money).toBeLessThan(planned?.most ?? Number.NaN);
  });

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
});
