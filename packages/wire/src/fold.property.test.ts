/** The wire's first law over random logs: each request extends the one before, block by block, and each is valid. */
import { anthropicProblem, openaiProblem } from "@varve/sim";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isMarked, placeBreakpoints } from "./breakpoints.ts";
import { canonicalBlocks, chainOf } from "./canonical.ts";
import type { Fold } from "./fold.ts";
import type { WireTarget } from "./profile.ts";
import {
  anthropicModel,
  bodyBlocks,
  type Captured,
  capture,
  compatibleModel,
  isPrefix,
  requestFor,
} from "./testing/capture.ts";
import { folded, toAnthropic, toCompatible, toDeepseek, toMistral } from "./testing/folded.ts";
import { type RandomLog, type RequestPoint, randomLogs } from "./testing/random-log.ts";
import { validateMessages } from "./validate.ts";

const targets: readonly WireTarget[] = [toAnthropic, toCompatible, toDeepseek, toMistral];
const named = targets.map((target) => [target.profile.name, target] as const);
/** Seconds, and many times that where other work takes the processor. */
const timeout = 180_000;
const settings = { seed: 20_261_130, numRuns: 200 };

interface Sent {
  readonly point: RequestPoint;
  readonly fold: Fold;
}
const allSent = ({ rows, points }: RandomLog, target: WireTarget): readonly Sent[] =>
  points.map((point) => ({ point, fold: folded(rows.slice(0, point.end), target) }));

/** Each request with the next one that has to extend it. */
function pairs<S extends { readonly point: RequestPoint }>(sent: readonly S[]): readonly (readonly [S, S])[] {
  return sent.flatMap((one, index) => {
    const next = sent[index + 1];
    return next !== undefined && next.point.segment === one.point.segment ? [[one, next] as const] : [];
  });
}
const texts = (fold: Fold) => canonicalBlocks(fold.messages).map(({ role, json }) => `${role} ${json}`);

describe("laws", () => {
  test.each(named)(
    "[WIRE-1] [WIRE-26] every request is valid and extends the one before it: %s",
    { timeout },
    (_, target) => {
      let compared = 0;
      fc.assert(
        fc.property(randomLogs, (log) => {
          const sent = allSent(log, target);
          for (const { fold } of sent) {
            expect(validateMessages(fold.messages, target.profile)).toEqual([]);
            expect(fold.endsDerived).toBe(false);
          }
          for (const [one, next] of pairs(sent)) {
            compared += 1;
            expect(isPrefix(texts(one.fold), texts(next.fold))).toBe(true);
          }
        }),
        settings,
      );
      expect(compared).toBeGreaterThan(400);
    },
  );

  test("[WIRE-1] a fold of any beginning of a log never throws, sent or not", () => {
    fc.assert(
      fc.property(randomLogs, fc.nat(), ({ rows }, cut) => {
        const fold = folded([...rows.slice(0, 2 + (cut % rows.length)), ...rows.slice(-1)]);
        expect(fold.messages.length).toBeGreaterThan(1);
      }),
      settings,
    );
  });

  test("[WIRE-22] the end of the last answered request is marked, and never more than four blocks are", () => {
    let checked = 0;
    fc.assert(
      fc.property(randomLogs, (log) => {
        const options = { scopeHash: "scope", ttl: "5m", systemTtl: "5m" } as const;
        for (const [one, next] of pairs(allSent(log, toAnthropic))) {
          const marked = placeBreakpoints(next.fold.messages, { ...options, anchors: next.fold.anchors });
          expect(marked.filter(isMarked).length).toBeLessThanOrEqual(4);
          const isKnown = next.fold.anchors.some(({ messageIndex }) => messageIndex === one.fold.messages.length - 1);
          if (!one.point.answered || !isKnown) continue;
          checked += 1;
          const end = marked[one.fold.messages.length - 1];
          expect(end !== undefined && isMarked(end)).toBe(true);
        }
      }),
      settings,
    );
    expect(checked).toBeGreaterThan(400);
  });

  test("[WIRE-27] the chain of every request holds the last link of the one before", () => {
    fc.assert(
      fc.property(randomLogs, (log) => {
        for (const [one, next] of pairs(allSent(log, toAnthropic))) {
          const tail = chainOf(canonicalBlocks(one.fold.messages)).at(-1) ?? "";
          expect(chainOf(canonicalBlocks(next.fold.messages))).toContain(tail);
        }
      }),
      { ...settings, numRuns: 60 },
    );
  });
});

describe("laws at the real adapters", () => {
  const models = [
    ["anthropic", toAnthropic, anthropicModel("model-a"), (body: unknown) => anthropicProblem(body)],
    ["openai-compatible", toCompatible, compatibleModel("model-a"), openaiProblem],
    ["deepseek", toDeepseek, compatibleModel("model-a"), openaiProblem],
    ["mistral", toMistral, compatibleModel("model-a"), openaiProblem],
  ] as const;

  test.each(models)(
    "[WIRE-1] B8: bodies extend each other, hold nothing empty and pass the vendor's rules: %s",
    { timeout },
    async (_, target, model, problem) => {
      const bodyAt = async ({ rows }: RandomLog, point: RequestPoint): Promise<Captured & { point: RequestPoint }> => {
        const request = requestFor(rows.slice(0, point.end), { target });
        return { ...(await capture(request, model)), point };
      };
      const property = fc.asyncProperty(randomLogs, async (log) => {
        const bodies: (Captured & { point: RequestPoint })[] = [];
        for (const point of log.points) bodies.push(await bodyAt(log, point));
        for (const [one, next] of pairs(bodies)) expect(isPrefix(bodyBlocks(one), bodyBlocks(next))).toBe(true);
        for (const { text, body } of bodies) {
          expect(emptiness.filter((what) => text.includes(what))).toEqual([]);
          expect(problem(body)).toBeNull();
        }
      });
      await fc.assert(property, { ...settings, numRuns: 30 });
    },
  );
});

/** B8: none of these may stand in a body. */
const emptiness = ['"text":""', '"content":[]', '"content":""', '"parts":[]', "\\ud83d"];
