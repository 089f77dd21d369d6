/** Made-up tabs in the middle of something. */
import type { QueuedMessage, TabId } from "@varve/protocol";
import { chunkId, RowWriter, turnId } from "./fake-rows.ts";
import type { FakeScene } from "./fake-tab.ts";

export function asking(id: TabId, at: number): FakeScene {
  const w = new RowWriter(id, at);
  const turn = "ask-turn";
  w.user("Write a release script and run it once as a dry run", { turn });
  w.say("I have written `scripts/release.sh`. Now I would like to try it without publishing anything.", { turn });
  w.call("p1", "bash", { command: "bash scripts/release.sh --dry-run 2>&1 | tee release.log" }, { turn, step: 1 });
  const command = "bash scripts/release.sh --dry-run 2>&1 | tee release.log";
  const subject = { tool: "bash", key: command, command };
  w.system({ kind: "permission", state: "asked", askId: chunkId("q1"), callId: "p1", subject }, { turn, step: 1 });
  const waits = [{ askId: chunkId("q1"), kind: "permission", callId: "p1" }] as const;
  return { rows: w.rows, status: { state: "waiting", turnId: turnId(turn), step: 1, waits: [...waits] } };
}

const TASKS = [
  { text: "Measure", state: "done" },
  { text: "Read the plan", state: "doing" },
  { text: "Propose an index", state: "open" },
];

export function running(id: TabId, at: number): FakeScene {
  const w = new RowWriter(id, at);
  const turn = "run-turn";
  w.user("Find out why the report query is slow. A screenshot of the plan is attached.", { turn });
  w.think("Start the benchmark, then look at the plan.", { turn });
  w.call("t1", "todo", { items: TASKS }, { turn });
  const details = { summary: "1 of 3 done", items: TASKS };
  w.result({ callId: "t1", name: "todo", result: "kept", isError: false, details }, { turn });
  w.call("b1", "bash", { command: "npm run bench -- report" }, { turn, step: 1 });
  const text = Array.from({ length: 14 }, (_, i) => `sample ${i + 1}: ${(840 + i * 3.7).toFixed(1)} ms`).join("\n");
  const place = { id: chunkId("live"), turnId: turnId(turn), step: 1, index: 0, at } as const;
  const typed = "And use the production snapshot.";
  return {
    rows: w.rows,
    open: [{ ...place, role: "tool", type: "tool_result", callId: "b1", text }],
    queue: waitingMessages(at),
    pending: [{ id: chunkId("pend"), text: typed, attachments: [], delivery: "steer", at, state: "waiting" }],
    status: { state: "running", turnId: turnId(turn), step: 1 },
  };
}

function waitingMessages(at: number): readonly QueuedMessage[] {
  const base = { version: 1, state: "queued", delivery: "steer", by: "me", at } as const;
  const later = "Then write down what you found in docs/performance.md, with the numbers before and after.";
  return [
    { ...base, id: chunkId("w1"), position: 1, data: { text: "Leave the schema alone, only add indexes." } },
    { ...base, id: chunkId("w2"), position: 2, delivery: "queue", state: "held", data: { text: later } },
  ];
}
