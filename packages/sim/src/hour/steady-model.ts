/**
 * A model that speaks at one pace for ever, by the clock it is given: so many words a second, a tool call after each step but
 * the last of a turn. Nothing is drawn, so that whatever grows is not its doing.
 */
import type { LanguageModelV3CallOptions, LanguageModelV3Usage } from "@ai-sdk/provider";
import type { ModelPart, ModelRegistry, Tool, ToolBox } from "@varve/agent";
import type { Clock } from "@varve/protocol";
import { simulatedModel, simulatedModels } from "../simulated-server.ts";

export interface Pace {
  readonly deltasASecond: number;
  readonly deltasAStep: number;
  readonly stepsATurn: number;
  /** One delta. */
  readonly words: string;
}

export interface Told {
  deltas: number;
  steps: number;
}

const id = "sim/steady";

/** `told` counts what was said. */
export function steadyModels(clock: Clock, pace: Pace, told: Told): ModelRegistry {
  const model = simulatedModel(id, (options) => step(clock, { pace, told, options }));
  return simulatedModels(id, async () => model);
}

async function* step(
  clock: Clock,
  of: { readonly pace: Pace; readonly told: Told; readonly options: LanguageModelV3CallOptions },
): AsyncGenerator<ModelPart, void, undefined> {
  const { pace, told, options } = of;
  const number = told.steps++;
  yield { type: "text-start", id: "t" };
  for (let said = 0; said < pace.deltasAStep; said++) {
    await new Promise<void>((resolve) => clock.setTimer(1000 / pace.deltasASecond, resolve));
    if (options.abortSignal?.aborted === true) {
      yield { type: "cancelled" };
      return;
    }
    told.deltas += 1;
    yield { type: "text-delta", id: "t", delta: pace.words };
  }
  yield { type: "text-end", id: "t" };
  const goesOn = (number + 1) % pace.stepsATurn !== 0;
  if (goesOn) yield { type: "tool-call", toolCallId: `call-${number}`, toolName: "look", input: "{}" };
  yield { type: "finish", finishReason: { unified: goesOn ? "tool-calls" : "stop", raw: "end" }, usage };
}

const usage: LanguageModelV3Usage = {
  inputTokens: { total: 100, noCache: 10, cacheRead: 80, cacheWrite: 10 },
  outputTokens: { total: 50, text: 50, reasoning: 0 },
};

/** Answers a call at once with a text of about a kilobyte. */
export function lookTools(): ToolBox {
  const look: Tool = {
    definition: { name: "look", description: "Looks.", inputSchema: { type: "object", properties: {} } },
    prepare: async () => ({
      effect: "read",
      subject: { tool: "look", key: "" },
      lock: null,
      run: async () => ({ text: "A line of what a file has in it.\n".repeat(30), isError: false }),
    }),
  };
  return {
    definitions: [look.definition],
    get: (name) => (name === "look" ? look : undefined),
    closePlace: async () => undefined,
    close: async () => undefined,
  };
}
