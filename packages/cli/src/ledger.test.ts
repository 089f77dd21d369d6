import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { recordedDataDir, WITHOUT_RECORDINGS } from "@varve/sim";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { exitCodes } from "./exit-codes.ts";
import { run } from "./run.ts";
import { printable, printableJson, table } from "./table.ts";
import { type FakeWorld, fakeWorld, temporaryFolder } from "./testing/fake-world.ts";

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Nothing of a server or a home is there. */
async function ledger(...args: readonly string[]): Promise<{ readonly code: number; readonly world: FakeWorld }> {
  const world = fakeWorld(folder, { env: {} });
  return { code: await run(["ledger", ...args], world), world };
}
function recording(lines: readonly object[]): string {
  writeFileSync(join(folder, "run.jsonl"), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return "run.jsonl";
}
/** The word by which pi begins a file. */
const piHead = "session";
const header = { type: piHead, id: "s", cwd: "/w", thinkingLevel: "off" };
function request(at: number, usage: object, given: { readonly model?: string; readonly provider?: string } = {}) {
  const { model = "claude-opus-5-5", provider = "anthropic" } = given;
  const whole = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, ...usage };
  const timestamp = Date.parse("2026-11-20T10:00:00Z") + at * 60_000;
  return { type: "message", message: { role: "assistant", provider, model, usage: whole, timestamp } };
}

describe("the bill of a recording", () => {
  test("[CLI-20] says what it cost, what was paid again and why, in columns", async () => {
    const file = recording([
      header,
      request(0, { cacheWrite: 1_000_000, cost: { total: 5 } }),
      request(12, { cacheWrite: 1_000_000, cost: { total: 5 } }),
      request(13, { output: 0 }),
    ]);
    const { code, world } = await ledger(file);
    expect(code).toBe(exitCodes.done);
    expect(world.complained()).toBe("");
    expect(world.printed()).toBe(
      [
        "run.jsonl: 3 requests, recorded by pi",
        "1 request broke off before a token was told; that cost is not in here.",
        "",
        "model                      requests  fresh  read    written  output      cost",
        "anthropic/claude-opus-5-5         3      0     0  2,000,000       0  $10.0000",
        "",
        "The recording itself says $10.0000; the cost above is at today's list prices.",
        "Read 0.0 % of what could have been read from the cache.",
        "The cache cost $2.0000 against sending everything fresh.",
        "",
        "Paid for again: 1,000,000 tokens that had been sent before, for $4.8000 more than reading them, 48.0 % of the bill.",
        "why                requests     tokens     more",
        "the cache expired         1  1,000,000  $4.8000",
        "",
        "The dearest:",
        "request  time (UTC)           model                                read     more  why",
        "#2       2026-11-20 10:12:00  anthropic/claude-opus-5-5  0 of 1,000,000  $4.8000  the cache expired: 12 min of silence",
        "",
      ].join("\n"),
    );
  });

  test("[CLI-20] what is not known is said to be unknown, and a sum without it to be a lower bound", async () => {
    const unknown = { provider: "nobody", model: "x" };
    const file = recording([header, request(0, { input: 9 }, unknown), request(1, { input: 1_000_000 })]);
    const { world } = await ledger(file);
    expect(world.printed()).toMatch(/^nobody\/x .* unknown$/m);
    expect(world.printed()).toMatch(/^anthropic\/claude-opus-5-5 .* \$4\.0000$/m);
    expect(world.printed()).toMatch(/^all .* at least \$4\.0000$/m);
    expect(world.printed()).toContain("The cost is at today's list prices.");
  });

  test("[CLI-20] a bill without a loss says so", async () => {
    const { world } = await ledger(
      recording([header, request(0, { cacheWrite: 2000 }), request(1, { cacheRead: 2000 })]),
    );
    expect(world.printed()).toContain("Read 100.0 % of what could have been read from the cache.");
    expect(world.printed()).toContain("Nothing was paid for twice");
    expect(world.printed()).not.toContain("The dearest");
  });

  test("[CLI-20] with --json it is one text of everything", async () => {
    const { code, world } = await ledger(recording([header, request(0, { input: 5 })]), "--json");
    expect(code).toBe(exitCodes.done);
    const bill: unknown = JSON.parse(world.printed());
    expect(bill).toMatchObject({ format: "pi", path: join(folder, "run.jsonl"), sum: { requests: 1 }, unreadable: 0 });
    expect(world.printed().split("\n")).toHaveLength(2);
  });

  test("[CLI-20] a file that is none is told in one sentence, and exits with 1", async () => {
    const absent = await ledger("absent.jsonl");
    expect(absent.code).toBe(exitCodes.failed);
    expect(absent.world.complained()).toBe(
      `varve: There is no file ${join(folder, "absent.jsonl")}. (unknown-recording)\n`,
    );
    mkdirSync(join(folder, "d"));
    for (const file of ["d", recording([{ any: "thing" }])]) {
      const { code, world } = await ledger(file);
      expect(code).toBe(exitCodes.failed);
      expect(world.complained()).toMatch(/^varve: .+ \(bad-recording\)\n$/);
      expect(world.printed()).toBe("");
    }
  });

  test("[CLI-21] words of the file are shown and never carried out", async () => {
    const evil = "\u001b]0;owned\u0007\u001b[2J\r\u202e\u009bx";
    const { world } = await ledger(recording([header, request(0, { input: 5 }, { model: evil, provider: evil })]));
    expect(world.printed()).toMatch(/\]0;owned/);
    expect(world.printed().replaceAll("\n", "")).not.toMatch(/\p{Cc}|\p{Cf}/u);
    expect(printable("a\u0000b\ud800c")).toBe("a\ufffdb\ufffdc");
    const json = printableJson({ model: `${evil}\u{e0041}` });
    expect(json).not.toMatch(/\p{Cc}|\p{Cf}/u);
    expect(JSON.parse(json)).toEqual({ model: `${evil}\u{e0041}` });
  });

  test("[CLI-20] columns are as wide as what stands in them, and no line ends in spaces", () => {
    const rows = [
      ["a", "1", "x"],
      ["long", "22", ""],
    ];
    expect(table(rows, ["left", "right", "left"])).toBe("a      1  x\nlong  22\n");
  });
});

const data = recordedDataDir();
describe.skipIf(data === null)(`recordings made by others${WITHOUT_RECORDINGS}`, () => {
  test("[CLI-20] the long run of pi costs what it says", async () => {
    const { code, world } = await ledger(join(data ?? "", "sessions/pi/large-session.jsonl"));
    expect(code).toBe(exitCodes.done);
    expect(world.printed()).toContain("453 requests, recorded by pi");
    expect(world.printed()).toContain("The recording itself says $30.3302;");
    expect(world.printed()).toMatch(/^all .* \$30\.3302$/m);
  });
});
