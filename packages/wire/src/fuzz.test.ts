/** The wire's promise over random logs, for every profile, through the real provider packages. */
import {
  anthropicProblem,
  deepseekProblem,
  geminiProblem,
  mistralProblem,
  openaiProblem,
  openrouterProblem,
  responsesProblem,
} from "@varve/sim";
import { describe, expect, test } from "vitest";
import type { ProfileName } from "./profile.ts";
import { adapters, olderAdapters } from "./testing/adapters.ts";
import { fuzz, type Problem } from "./testing/fuzz.ts";

const problems: Readonly<Record<ProfileName, Problem>> = {
  anthropic: (body) => anthropicProblem(body),
  "openai-responses": responsesProblem,
  "openai-chat": openaiProblem,
  google: geminiProblem,
  deepseek: deepseekProblem,
  openrouter: openrouterProblem,
  mistral: mistralProblem,
  "openai-compatible": openaiProblem,
};
const none = { prefixViolations: [], invalid: [], warnings: [] };

describe("fuzzed logs through the real adapters", () => {
  test.each([
    ...adapters.map((adapter) => [adapter.name, adapter, 200] as const),
    ...olderAdapters.map((adapter) => [adapter.name, adapter, 60] as const),
  ])("[WIRE-1] [WIRE-25] B8: no prefix violation, no refused body, no warning: %s", async (_, adapter, requests) => {
    // Behind a compatible server V4 is what that server makes of it: only DeepSeek itself demands reasoning everywhere.
    const isElsewhere = adapter.target.profile.constantsOf === "openai-compatible";
    const problem =
      isElsewhere && adapter.target.profile.name === "deepseek" ? openaiProblem : problems[adapter.target.profile.name];
    const { requests: made, compared, ...found } = await fuzz({ adapter, problem, seed: 20_261_130, requests });
    expect(found).toEqual(none);
    expect(made).toBeGreaterThanOrEqual(requests);
    expect(compared).toBeGreaterThan(made / 2);
  });
});
