/** Each price shown before a click, against what the fake provider then bills: through the real owner, loop, wire and adapter. */
import { type ContextBody, isFault, type Preview, type SystemData } from "@varve/protocol";
import type { ScriptItem } from "@varve/sim";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { idle, says, send } from "../workspace/testing/acts.ts";
import { makeRig, type Rig } from "../workspace/testing/rig.ts";

const opus = "anthropic/claude-opus-5-5";
const sonnet = "anthropic/claude-sonnet-5";
const minute = 60_000;

type Usage = Extract<SystemData, { kind: "usage" }>;

/** Words enough that a sentence more or less is no twentieth of it. */
const words = (seed: number, count: number): string =>
  Array.from({ length: count }, (_, index) => ["fold", "row", "cache", "price", "wire", "tab"][(index * 7 + seed) % 6]).join(" ");
const answers: readonly ScriptItem[] = Array.from({ length: 12 }, (_, index) => says(words(index, 700)));

export async function billed(rig: Rig, purpose: "step" | "warm" | "compaction" = "step"): Promise<Usage> {
  const row = (await rig.rows()).findLast(
    ({ type, data }) => type === "system" && data.kind === "usage" && (data.purpose ?? "step") === purpose,
  );
  if (row?.type !== "system" || row.data.kind !== "usage") throw new Error("nothing was billed");
  return row.data;
}

/** US dollars of the input alone. */
const inputPrice = (usage: Usage, outputRate: number): number => (usage.price ?? Number.NaN) - ((usage.output ?? 0) * outputRate) / 1e6;
const outputRates: Readonly<Record<string, number>> = { [opus]: 20, [sonnet]: 15 };

function isNear(shown: number | null, paid: number): void {
  expect(shown).not.toBeNull();
  expect(Math.abs((shown ?? 0) - paid) / paid).toBeLessThan(0.05);
}

const look = async (rig: Rig): Promise<ContextBody> => {
  const body = await rig.workspace.contexts.look(rig.tab);
  if (isFault(body)) throw new Error(body.message);
  return body;
};
const preview = async (rig: Rig, asked: { model?: string; effort?: "high"; cacheTtl?: "1h" } = {}): Promise<Preview> => {
  const body = await rig.workspace.contexts.preview(rig.tab, asked);
  if (isFault(body)) throw new Error(body.message);
  return body.preview;
};

let turns = 0;
async function turn(rig: Rig, text = "go on"): Promise<Usage> {
  turns += 1;
  const sent = await send(rig, `m${turns}`, text);
  if (isFault(sent)) throw new Error(sent.message);
  await rig.until("it is idle", idle(rig));
  return billed(rig);
}

describe("prices before a click", () => {
  const files: Record<string, string> = {};
  let rig: Rig;
  beforeAll(async () => {
    files["/project/AGENTS.md"] = words(1, 300);
    rig = await makeRig({ script: answers, model: opus, files });
    for (const text of ["begin", "go on", "and on"]) await turn(rig, text);
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  test("[CONTEXT-1] the next request as it is", async () => {
    const now = await preview(rig);
    const body = await look(rig);
    expect(body.cache.until).toBeGreaterThan(rig.clock.now());
    expect(body.meter.estimated).toBe(false);
    const usage = await turn(rig);
    isNear(now.price, inputPrice(usage, 20));
    isNear(now.tokens, (usage.fresh ?? 0) + (usage.read ?? 0) + (usage.write5m ?? 0));
    expect(now.read).toBe(usage.read);
    expect(now.priceNow).toBe(now.price);
  });
});
