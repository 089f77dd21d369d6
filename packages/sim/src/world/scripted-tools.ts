/**
 * Tools whose work takes time and does nothing but tell that it began: `work` runs long and writes live output, `look` is short,
 * `write` wants permission, `fail` fails, `ask` asks a person. Each run is told, so that none is ever seen twice.
 */
import type { PreparedCall, Tool, ToolBox, ToolOutcome, ToolRun } from "@varve/agent";
import type { TabId } from "@varve/protocol";
import type { Prng } from "../prng.ts";
import type { EventQueue, Lifetime } from "./event-queue.ts";
import type { Latency } from "./latency.ts";
import { waited } from "./scripted-model.ts";

export interface ToolWorld {
  readonly queue: EventQueue;
  readonly prng: Prng;
  readonly latency: Latency;
  readonly mood: { calm: boolean };
  /** A tool begins: what it does from here on cannot be undone. */
  readonly ran: (tab: TabId, callId: string) => void;
}

const names = ["ask", "fail", "look", "work", "write"] as const;
type Name = (typeof names)[number];

const effects: Readonly<Record<Name, PreparedCall["effect"]>> = {
  ask: "ask",
  fail: "read",
  look: "read",
  work: "run",
  write: "write",
};

/** The tools of one process. */
export function scriptedTools(world: ToolWorld, life: Lifetime): ToolBox {
  const made = new Map<string, Tool>(names.map((name) => [name, scripted(name, { world, life })]));
  return {
    definitions: [...made.values()].map((tool) => tool.definition),
    get: (name) => made.get(name),
    closePlace: async () => undefined,
    close: async () => undefined,
  };
}

function scripted(name: Name, on: { readonly world: ToolWorld; readonly life: Lifetime }): Tool {
  const { world, life } = on;
  return {
    definition: { name, description: name, inputSchema: { type: "object", properties: {} } },
    prepare: async (args, place) => {
      await world.queue.pause(world.latency.draw(2), { kind: "tool-prepare", life });
      return {
        effect: effects[name],
        subject: { tool: name, key: JSON.stringify(args), ...(name === "work" && { command: "work" }) },
        lock: name === "write" ? JSON.stringify(args) : null,
        run: (run) => {
          // A question changes nothing: behind a restart it is put again, until it has its answer.
          if (name !== "ask") world.ran(place.tabId, run.callId);
          return work(name, { ...on, run });
        },
      };
    },
  };
}

async function work(
  name: Name,
  on: { readonly world: ToolWorld; readonly life: Lifetime; readonly run: ToolRun },
): Promise<ToolOutcome> {
  const { world, life, run } = on;
  const { prng, queue, latency, mood } = world;
  if (name === "ask") {
    const answer = await run.ask("Which one?", ["a", "b"]);
    return { text: answer ?? "nobody answered", isError: answer === null };
  }
  const parts = name === "work" && !mood.calm ? prng.int(0, 6) : 0;
  const moved = name === "work" ? movable(run) : null;
  const signal = moved === null ? run.signal : AbortSignal.any([run.signal, moved]);
  for (let at = 0; at <= parts; at += 1) {
    const waitMs = name === "work" ? prng.int(0, 900) : latency.draw(20);
    if ((await waited(queue, { waitMs, life, signal, kind: "tool" })) === "aborted") {
      if (moved?.aborted === true && !run.signal.aborted) return { text: "It goes on as job 1.", isError: false };
      // A tool that was stopped takes its time to end, at times longer than anybody waits for it.
      await queue.pause(prng.chance(0.1) ? prng.int(4_000, 9_000) : prng.int(0, 300), { kind: "tool", life });
      return { text: "half of it", isError: true };
    }
    if (at < parts) run.output(prng.chance(0.1) ? "long ".repeat(8_000) : `line ${at} 😀\n`);
  }
  if (name === "fail") throw new Error("it did not work");
  return { text: `${name} is done`, isError: false };
}

/** Aborts when a person lets the work go on without its call. */
function movable(run: ToolRun): AbortSignal {
  const control = new AbortController();
  run.canMove?.(() => {
    if (control.signal.aborted || run.signal.aborted) return false;
    control.abort();
    return true;
  });
  return control.signal;
}
