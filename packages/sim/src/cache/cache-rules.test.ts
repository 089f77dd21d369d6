import { describe, expect, test } from "vitest";
import { createBreakpointCache } from "./breakpoint-cache.ts";
import type { BlockKind, CacheBlock, CacheModel } from "./cache-model.ts";
import { createCacheModel } from "./marked-cache.ts";
import { createPrefixCache, deepseekCache, localSlotCache, olderOpenaiCache } from "./prefix-cache.ts";
import { cacheBlocks } from "./request-blocks.ts";

const KINDS: Readonly<Record<string, BlockKind>> = {
  S: "system",
  U: "user",
  C: "tool-use",
  R: "tool-result",
  A: "other",
};

/** `"S1* U2 C3"`: a kind, a name, and a mark; each block has a thousand tokens. */
function blocks(text: string, tokens = 1_000): readonly CacheBlock[] {
  return text.split(" ").map((word) => ({
    text: word.replace("*", "").padEnd(tokens * 4, "."),
    kind: KINDS[word[0] ?? ""] ?? "other",
    ttl: word.endsWith("*") ? "5m" : null,
  }));
}

function reads(cache: CacheModel, requests: readonly (readonly [string, number])[]): readonly number[] {
  return requests.map(([text, minute]) => {
    return cache.account({ scope: "m", blocks: blocks(text), nowMs: minute * 60_000 }).read / 1_000;
  });
}

describe("Anthropic", () => {
  test("[SIM-15] what a request writes cannot be read before its first event", () => {
    const cache = createCacheModel();
    const ask = () => cache.begin({ scope: "m", blocks: blocks("S* U*"), nowMs: 0 });
    const [first, second] = [ask(), ask()];
    expect([first.figures.read, second.figures.read, second.figures.write5m]).toEqual([0, 0, 2_000]);
    expect(second.figures.attainable).toBe(0);
    first.firstEvent();
    expect([ask().figures.read, ask().figures.attainable]).toEqual([2_000, 2_000]);
  });

  test("[SIM-15] a life is counted from the start of the request, not from its end", () => {
    const cache = createCacheModel();
    const begun = cache.begin({ scope: "m", blocks: blocks("S* U*"), nowMs: 0 });
    begun.firstEvent();
    begun.ended([]);
    expect(reads(cache, [["S* U*", 4.99]])).toEqual([2]);
    expect(reads(cache, [["S* U*", 9.98]])).toEqual([2]);
    expect(reads(cache, [["S* U*", 14.98]])).toEqual([0]);
  });

  test("a marked entry lives on though a longer one is read", () => {
    const cache = createCacheModel();
    reads(cache, [
      ["S* U*", 0],
      ["S* U* A V*", 4],
      ["S* U* A V* B W*", 8],
    ]);
    expect(reads(cache, [["S* X*", 12]])).toEqual([1]);
  });

  test("a prefix below the minimum is not kept", () => {
    const cache = createCacheModel({ minPrefixTokens: 2_048 });
    expect(
      reads(cache, [
        ["S* U*", 0],
        ["S* U* A*", 1],
        ["S* U* A*", 2],
      ]),
    ).toEqual([0, 0, 3]);
  });

  test("[SIM-16] runs of calls and of results are one position each where the vendor says so", () => {
    const many = (kind: string) => Array.from({ length: 30 }, (_, at) => `${kind}${at}`).join(" ");
    const later = `S U ${many("C")} ${many("R")}*`;
    expect(
      reads(createCacheModel(), [
        ["S U*", 0],
        [later, 1],
      ]),
    ).toEqual([0, 0]);
    expect(
      reads(createCacheModel({ positions: "collapsed" }), [
        ["S U*", 0],
        [later, 1],
      ]),
    ).toEqual([0, 2]);
  });
});

describe("OpenAI from 5.6 on", () => {
  test("the newest message end is written by itself, and looked up in the next request", () => {
    expect(
      reads(createBreakpointCache(), [
        ["S U", 0],
        ["S U A U2", 1],
        ["S U A U2 C R", 2],
      ]),
    ).toEqual([0, 2, 4]);
  });

  test("without a breakpoint on the system message each new tab pays for it again", () => {
    expect(
      reads(createBreakpointCache(), [
        ["S U", 0],
        ["S V", 1],
      ]),
    ).toEqual([0, 0]);
    expect(
      reads(createBreakpointCache(), [
        ["S* U", 0],
        ["S* V", 1],
      ]),
    ).toEqual([0, 1]);
  });

  test("a group of results is one message, so a burst costs no look-back; a message that grew is another", () => {
    const burst = Array.from({ length: 40 }, (_, at) => `C${at}`).join(" ");
    const results = Array.from({ length: 40 }, (_, at) => `R${at}`).join(" ");
    expect(
      reads(createBreakpointCache(), [
        ["S* U", 0],
        [`S* U ${burst} ${results}`, 1],
      ]),
    ).toEqual([0, 2]);
    expect(
      reads(createBreakpointCache(), [
        ["S* U", 0],
        ["S* U+more", 1],
      ]),
    ).toEqual([0, 1]);
  });

  test("half an hour from the last use; 21 messages back is too far; never more than four writes", () => {
    expect(
      reads(createBreakpointCache(), [
        ["S U", 0],
        ["S U", 29],
        ["S U", 58],
        ["S U", 89],
      ]),
    ).toEqual([0, 2, 2, 0]);
    const far = Array.from({ length: 21 }, (_, at) => `A${at} U${at}`).join(" ");
    expect(
      reads(createBreakpointCache(), [
        ["S U", 0],
        [`S U ${far}`, 1],
      ]),
    ).toEqual([0, 0]);
    const cache = createBreakpointCache();
    reads(cache, [["S* a* b* c* d* U", 0]]);
    expect(reads(cache, [["S* X", 1]])).toEqual([0]);
  });

  test("figures add up, and what could be read is read", () => {
    const cache = createBreakpointCache({ minPrefixTokens: 1_024 });
    for (const text of ["S* U", "S* U A U2", "S* V", "S* U A U2 C R"]) {
      const { read, write5m, write1h, fresh, attainable } = cache.account({
        scope: "m",
        blocks: blocks(text),
        nowMs: 0,
      });
      expect(read + write5m + write1h + fresh).toBe(blocks(text).length * 1_000);
      expect(read).toBe(attainable);
    }
  });
});

describe("caches that work by themselves", () => {
  test("older OpenAI: steps of 128 tokens from 1024 on, nothing billed for writing", () => {
    const cache = createPrefixCache(olderOpenaiCache);
    const figures = (text: string, nowMs = 0) => cache.account({ scope: "m", blocks: blocks(text, 600), nowMs });
    expect(figures("S U")).toMatchObject({ read: 0, write5m: 0, fresh: 1_200 });
    expect(figures("S U A V")).toMatchObject({ read: 1_152, fresh: 1_248 });
    expect(figures("S X").read).toBe(0);
    expect(figures("S U A V", 6 * 60_000).read).toBe(0);
  });

  test("DeepSeek: units end with an input and with an answer, and are matched whole", () => {
    const cache = createPrefixCache({ ...deepseekCache, minPrefixTokens: 0 });
    const [, , answer = { text: "" }] = blocks("S U A", 700);
    const begun = cache.begin({ scope: "m", blocks: blocks("S U", 700), nowMs: 0 });
    begun.firstEvent();
    begun.ended([answer.text]);
    const read = (text: string) => cache.account({ scope: "m", blocks: blocks(text, 700), nowMs: 1 }).read;
    expect(read("S U A V")).toBe(2_100);
    expect(read("S U B")).toBe(1_400);
    expect(read("S W")).toBe(0);
  });

  test("a local slot goes on from its own answer, until another prompt takes it", () => {
    const cache = createPrefixCache(localSlotCache);
    const [, , answer = { text: "" }] = blocks("S U A");
    const ask = (text: string) => cache.begin({ scope: "m", blocks: blocks(text), nowMs: 0 });
    const first = ask("S U");
    first.firstEvent();
    first.ended([answer.text]);
    expect(ask("S U A V").figures.read).toBe(3_000);
    const other = ask("S X");
    expect(other.figures.read).toBe(1_000);
    other.firstEvent();
    expect(ask("S U A V").figures).toMatchObject({ read: 1_000, attainable: 3_000 });
  });

  test.each([
    ["qwen3.5:35b", {}, false],
    ["Qwen/QwQ-32B", {}, false],
    ["qwen3.5:35b", { chat_template_kwargs: { preserve_thinking: false } }, false],
    ["qwen3.5:35b", { chat_template_kwargs: { preserve_thinking: true } }, true],
    ["llama3.3:70b", {}, true],
  ])("the template of %s with %j keeps thinking in front of the newest message: %s", (model, more, kept) => {
    const said = (thought: string) => ({ role: "assistant", content: "x", reasoning_content: thought });
    const messages = [{ role: "user", content: "a" }, said("old"), { role: "user", content: "b" }, said("new")];
    const [, , before, , newest] = cacheBlocks("openai", { model, messages, ...more }).map(({ text }) => text);
    expect(before).toBe(kept ? "<assistant><think>old</think>x</assistant>" : "<assistant>x</assistant>");
    expect(newest).toBe("<assistant><think>new</think>x</assistant>");
  });
});
