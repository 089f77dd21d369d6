/** What the breakpoints buy, under the vendor's published cache rules: every readable token is read. */
import { type CacheBlock, createCacheModel, estimateTokens } from "@varve/sim";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anthropicModel, type Block, type Captured, capture, requestFor, unmarked } from "./testing/capture.ts";
import { loggedLogs } from "./testing/random-log.ts";
import { C, type Draft, K, logOf, M, P, Q, R, T, testTools, U, X, XU } from "./testing/rows.ts";

/** The body as the cache sees it: tools, system, then every block of every message. */
function cacheBlocks({ body }: Captured): readonly CacheBlock[] {
  const inMessages = body.messages.flatMap(({ content }) => (Array.isArray(content) ? content : []));
  const blocks: readonly Block[] = [...(body.tools ?? []), ...(body.system ?? []), ...inMessages];
  return blocks.map((block) => ({ text: JSON.stringify(unmarked(block)), ttl: ttlOf(block) }));
}
function ttlOf({ cache_control: mark }: Block): "5m" | null {
  return mark === undefined ? null : "5m";
}
const tokensOf = (blocks: readonly CacheBlock[]): number =>
  blocks.reduce((sum, { text }) => sum + estimateTokens(text), 0);
const extendsBlocks = (longer: readonly CacheBlock[], shorter: readonly CacheBlock[]): boolean =>
  shorter.every(({ text }, index) => longer[index]?.text === text);

/** Sends one request after the other, and gives for each what was read and what could have been. */
class Account {
  readonly #cache = createCacheModel();
  #ends: (readonly CacheBlock[])[] = [];
  #now = 0;

  send(blocks: readonly CacheBlock[], scope = "one"): { readonly read: number; readonly readable: number } {
    this.#now += 1000;
    const alive = this.#ends.filter((end) => extendsBlocks(blocks, end));
    const readable = Math.max(0, ...alive.map(tokensOf));
    const { read } = this.#cache.account({ scope, blocks, nowMs: this.#now });
    this.#ends.push(blocks);
    return { read, readable };
  }
}

const bodyOf = async (drafts: readonly Draft[]) =>
  cacheBlocks(await capture(requestFor(logOf(...drafts)), anthropicModel("model-a")));

/** A `request` row for what these rows would send. */
const sealed = (drafts: readonly Draft[], place = {}): Draft => {
  const { scopeHash, tailHash } = requestFor(logOf(...drafts));
  return Q(scopeHash, { model: "anthropic/model-a", tailHash, ...place });
};

describe("economy", () => {
  test("[WIRE-22] over random logs every request reads all that an earlier one wrote", async () => {
    let compared = 0;
    const property = fc.asyncProperty(loggedLogs, async ({ rows, points }) => {
      const account = new Account();
      const scopeHash = requestFor(rows.slice(0, points[0]?.end)).scopeHash;
      const scoped = rows.map((row) =>
        row.type === "system" && row.data.kind === "request" ? { ...row, data: { ...row.data, scopeHash } } : row,
      );
      for (const { end, answered } of points) {
        const captured = await capture(requestFor(scoped.slice(0, end)), anthropicModel("model-a"));
        if (!answered) continue;
        const { read, readable } = account.send(cacheBlocks(captured));
        if (readable > 0) compared += 1;
        expect(read).toBeGreaterThanOrEqual(readable);
      }
    });
    await fc.assert(property, { seed: 11, numRuns: 40 });
    expect(compared).toBeGreaterThan(100);
  });

  test("[WIRE-22] a burst of sixty calls costs no look-back", async () => {
    const ids = Array.from({ length: 60 }, (_, index) => `c${index}`);
    const first = [P({ tools: testTools }), U("a")];
    const second = [...first, sealed(first), ...ids.map((id) => C(id)), ...ids.map((id) => R(id))];
    const account = new Account();
    account.send(await bodyOf(first));
    const { read, readable } = account.send(await bodyOf(second));
    expect([read, readable > 0]).toEqual([readable, true]);
  });

  test("[WIRE-22] after a compaction the system prompt is still read, after its undo everything from before", async () => {
    const t2 = { turn: "t2" };
    const many = Array.from({ length: 30 }, (_, index) => T(`block ${index}`, t2));
    const one = [P({ tools: testTools }), U("a"), K("s"), T("t")];
    const two = [...one, U("b", t2)];
    const summed = [...two, sealed(two, t2), ...many, X("SUM", 5), U("c", { turn: "t3" })];
    const undone = [
      ...summed,
      sealed(summed, { turn: "t3" }),
      T("short", { turn: "t3" }),
      XU(37),
      U("d", { turn: "t4" }),
    ];
    const account = new Account();
    account.send(await bodyOf(two));
    expect(account.send(await bodyOf(summed)).read).toBeGreaterThan(0);
    const { read, readable } = account.send(await bodyOf(undone));
    expect([read, readable > 100]).toEqual([readable, true]);
  });

  test("[WIRE-22] back on the first model, its newest entry is read over any distance", async () => {
    const own = [P({ tools: testTools }), U("a")];
    const away = Array.from({ length: 12 }, (_, index) => {
      const place = { turn: `t${index + 2}` };
      return [U("more", place), Q("else", { ...place, model: "other" }), T("x", place), T("y", place)];
    }).flat();
    const back = [...own, sealed(own), T("t"), M("other"), ...away, M("anthropic/model-a"), U("b", { turn: "t99" })];
    const account = new Account();
    account.send(await bodyOf(own));
    const { read, readable } = account.send(await bodyOf(back));
    expect([read, readable > 0]).toEqual([readable, true]);
  });
});
