import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { describe, expect, test } from "vitest";
import { parseJson } from "../json.ts";
import {
  type AdapterModel,
  deepseekModel,
  geminiModel,
  partOf,
  readStep,
  responsesModel,
  textOfParts,
} from "../provider/testing.ts";
import { recordedDataDir, WITHOUT_RECORDINGS } from "./data-dir.ts";
import { type RecordedStream, recordedStreams, replayStreams, type StreamVendor } from "./streams.ts";

const made: RecordedStream = {
  vendor: "openai-chat",
  name: "made",
  events: ["Hel", "lo"].map((content) =>
    JSON.stringify({
      id: "x",
      created: 0,
      model: "m",
      choices: [{ index: 0, delta: { content }, finish_reason: null }],
    }),
  ),
};

function openai(streams: readonly RecordedStream[], options = {}) {
  const replay = replayStreams(streams, options);
  return { replay, model: createOpenAICompatible({ name: "x", baseURL: "http://x/v1", fetch: replay.fetch })("m") };
}

test("a replay answers one request a stream, records bodies, and can break off", async () => {
  const { replay, model } = openai([made, made]);
  expect(textOfParts(await readStep(model))).toBe("Hello");
  expect(textOfParts(await readStep(model))).toBe("Hello");
  expect(replay.requests.map((request) => request.url)).toEqual(Array(2).fill("http://x/v1/chat/completions"));
  expect(replay.requests[0]?.body).toMatchObject({ model: "m", stream: true });
  expect(String((await readStep(model)).thrown)).toContain("only 2 recorded streams");
});

test("a broken replay delivers what came before the break", async () => {
  const broken = await readStep(openai([made], { cutAfter: 1, broken: true }).model);
  expect(textOfParts(broken)).toBe("Hel");
  expect(broken.thrown).not.toBeNull();
});

const dataDir = recordedDataDir();
describe.skipIf(dataDir === null)(`recorded streams${WITHOUT_RECORDINGS}`, () => {
  test("the Anthropic adapter reads each of them", async () => {
    const streams = recordedStreams(dataDir ?? "", "anthropic");
    expect(streams.length).toBeGreaterThan(5);
    for (const stream of streams) {
      const replay = replayStreams([stream]);
      const model = createAnthropic({ apiKey: "k", baseURL: "http://x/v1", fetch: replay.fetch })("claude-opus-4-8");
      const step = await readStep(model);
      expect(step.parts.map((part) => part.type)).toContain("response-metadata");
      expect(step.thrown).toBeNull();
    }
  });

  test.each(["openai-chat", "deepseek"] as const)("the OpenAI-compatible adapter reads those of %s", async (vendor) => {
    for (const stream of recordedStreams(dataDir ?? "", vendor)) {
      const step = await readStep(openai([stream]).model);
      expect(partOf(step, "finish")?.finishReason.unified).toMatch(/^(stop|tool-calls)$/);
    }
  });

  test.each<[StreamVendor, (fetch: typeof globalThis.fetch) => AdapterModel]>([
    ["openai-responses", (fetch) => responsesModel("http://x", "gpt-5.6", fetch)],
    ["google", (fetch) => geminiModel("http://x", "gemini-3-pro-preview", fetch)],
    ["deepseek", (fetch) => deepseekModel("http://x", "deepseek-v4-pro", fetch)],
  ])("the adapter of %s reads each of its own", async (vendor, modelWith) => {
    const streams = recordedStreams(dataDir ?? "", vendor);
    expect(streams.length).toBeGreaterThan(1);
    for (const stream of streams) {
      const step = await readStep(modelWith(replayStreams([stream]).fetch));
      const isFailure = stream.name.includes("error") || stream.events.some((event) => parseJson(event) === undefined);
      // Some adapters throw an error that comes before any output, others pass it on as a part.
      const failure = step.thrown ?? partOf(step, "error");
      expect([stream.name, failure !== undefined]).toEqual([stream.name, isFailure]);
      if (!isFailure) expect(partOf(step, "finish")?.finishReason.unified).toMatch(/^(stop|tool-calls)$/);
    }
  });
});
