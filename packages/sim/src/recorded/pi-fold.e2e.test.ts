import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModelV3 } from "@ai-sdk/provider";
import { isFault, type StoredRow } from "@varve/protocol";
import { anthropic, buildRequest, openaiCompatible, type WireRequest, type WireTarget, wireTarget } from "@varve/wire";
import { describe, expect, test } from "vitest";
import { anthropicBlocks, firstDivergence, openaiMessages, type WireBlock } from "../blocks.ts";
import { parseJson } from "../json.ts";
import { anthropicProblem } from "../provider/anthropic-rules.ts";
import { openaiProblem } from "../provider/openai-rules.ts";
import { recordedDataDir, WITHOUT_RECORDINGS } from "./data-dir.ts";
import { readPiRecording } from "./pi.ts";

/** 453 bodies of up to a megabyte each, on machines that do other things besides. */
const TIMEOUT_MS = 300_000;
const MODEL = "claude-sonnet-4-5";

interface Vendor {
  readonly target: WireTarget;
  readonly model: (fetch: typeof globalThis.fetch) => LanguageModelV3;
  readonly problem: (body: unknown) => string | null;
  readonly blocks: (body: unknown) => readonly WireBlock[];
}

const vendors: Readonly<Record<string, Vendor>> = {
  anthropic: {
    target: wireTarget(anthropic, MODEL),
    model: (fetch) => createAnthropic({ apiKey: "k", baseURL: "http://127.0.0.1:9/v1", fetch })(MODEL),
    problem: (body) => anthropicProblem(body),
    blocks: anthropicBlocks,
  },
  "openai-compatible": {
    target: wireTarget(openaiCompatible, MODEL),
    model: (fetch) =>
      createOpenAICompatible({ name: "openai-compatible", baseURL: "http://127.0.0.1:9/v1", fetch })(MODEL),
    problem: openaiProblem,
    blocks: openaiMessages,
  },
};

/** The body that the real adapter would send. */
async function bodyOf(vendor: Vendor, request: WireRequest): Promise<unknown> {
  let body: unknown;
  const model = vendor.model(async (_url, init) => {
    body = typeof init?.body === "string" ? parseJson(init.body) : undefined;
    return new Response("", { status: 200, headers: { "content-type": "text/event-stream" } });
  });
  await model.doStream({ ...request.options, prompt: request.messages });
  return body;
}

function built(vendor: Vendor, rows: readonly StoredRow[]): { readonly request: WireRequest; readonly ms: number } {
  const startedAt = performance.now();
  const request = buildRequest({ rows, target: vendor.target, modelName: `anthropic/${MODEL}`, effort: "default" });
  if (isFault(request)) throw new Error(request.message);
  return { request, ms: performance.now() - startedAt };
}

const dataDir = recordedDataDir();
describe.skipIf(dataDir === null)(`the long recording on the wire${WITHOUT_RECORDINGS}`, () => {
  test.each(Object.keys(vendors))(
    "every request of %s is valid and begins with the one before",
    async (name) => {
      const vendor = vendors[name];
      if (vendor === undefined) throw new Error(`no vendor ${name}`);
      const { rows, requestPoints } = readPiRecording(dataDir ?? "");
      const times: number[] = [];
      let before: readonly WireBlock[] = [];
      for (const point of requestPoints) {
        const { request, ms } = built(vendor, rows.slice(0, point));
        times.push(ms);
        expect({ point, violations: request.violations, endsDerived: request.endsDerived }).toEqual({
          point,
          violations: [],
          endsDerived: false,
        });
        const body = await bodyOf(vendor, request);
        const blocks = vendor.blocks(body);
        expect([point, vendor.problem(body), firstDivergence(before, blocks)]).toEqual([point, null, null]);
        expect(blocks.length).toBeGreaterThan(0);
        before = blocks;
      }
      expect(requestPoints).toHaveLength(453);
      expect(before.length).toBeGreaterThan(900);
      const sorted = [...times].sort((a, b) => a - b);
      const at = (share: number): string => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(1);
      console.log(
        `${name}: ${times.length} folds from the first row, p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, most ${at(1)} ms`,
      );
    },
    TIMEOUT_MS,
  );
});
