/** Tools for tests whose work is decided by the test. */
import type { JsonObject } from "@varve/protocol";
import type { PreparedCall, Tool, ToolBox, ToolOutcome, ToolRun } from "../tools/tool.ts";

export interface FakeTool {
  readonly name: string;
  readonly effect?: PreparedCall["effect"];
  readonly lock?: (args: JsonObject) => string | null;
  /** Why the call cannot be prepared; asked each time. */
  readonly error?: () => string | undefined;
  /** Whether it would run in a sandbox; asked each time. */
  readonly sandboxed?: () => boolean;
  readonly run: (run: ToolRun, args: JsonObject) => Promise<ToolOutcome> | ToolOutcome;
}

export function fakeToolBox(tools: readonly FakeTool[]): ToolBox & { readonly prepared: string[] } {
  const prepared: string[] = [];
  const made = new Map(tools.map((tool) => [tool.name, makeTool(tool, prepared)]));
  return {
    definitions: [...made.values()].map((tool) => tool.definition),
    get: (name) => made.get(name),
    closePlace: async () => undefined,
    close: async () => undefined,
    prepared,
  };
}

function makeTool(fake: FakeTool, prepared: string[]): Tool {
  return {
    definition: { name: fake.name, description: fake.name, inputSchema: { type: "object", properties: {} } },
    prepare: async (args) => {
      prepared.push(`${fake.name} ${JSON.stringify(args)}`);
      const error = fake.error?.();
      if (error !== undefined) return { error };
      return {
        effect: fake.effect ?? "read",
        subject: {
          tool: fake.name,
          key: JSON.stringify(args),
          ...(fake.sandboxed?.() === true && { sandboxed: true }),
        },
        lock: fake.lock?.(args) ?? null,
        run: async (run) => fake.run(run, args),
      };
    },
  };
}

export const ok = (text: string): ToolOutcome => ({ text, isError: false });

/** A tool's work that lasts until it is stopped. */
export const untilStopped = (run: ToolRun, text = "half"): Promise<ToolOutcome> =>
  new Promise((resolve) => {
    const end = (): void => resolve({ text, isError: true });
    if (run.signal.aborted) end();
    run.signal.addEventListener("abort", end, { once: true });
  });
