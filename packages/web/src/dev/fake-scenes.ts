/** Made-up tabs in the middle of something. */
import type { LogChunk, QueuedMessage, TabId } from "@varve/protocol";
import { chunkId, RowWriter, turnId } from "./fake-rows.ts";
import type { FakeScene } from "./fake-tab.ts";

export function asking(id: TabId, at: number): FakeScene {
  const w = new RowWriter(id, at);
  const turn = "ask-turn";
  w.user("Write a release script and run it once as a dry run", { turn });
  w.say("I have written `scripts/release.sh`. Now I would like to try it without publishing anything.", { turn });
  const command = "git status --short && bash scripts/release.sh --dry-run 2>&1 | tee release.log";
  w.call("p1", "bash", { command }, { turn, step: 1 });
  const subject = {
    tool: "bash",
    key: command,
    command,
    parts: [
      { text: "git status --short", asks: false, why: "a rule of this project" },
      { text: "bash scripts/release.sh --dry-run", asks: true, why: "no rule allows it" },
      { text: "tee release.log", asks: true, why: "it writes release.log" },
    ],
    offers: ["bash: bash scripts/release.sh --dry-run", "bash: tee release.log"],
    sandboxed: false,
  };
  w.system({ kind: "permission", state: "asked", askId: chunkId("q1"), callId: "p1", subject }, { turn, step: 1 });
  const waits = [{ askId: chunkId("q1"), kind: "permission", callId: "p1" }] as const;
  return { rows: w.rows, status: { state: "waiting", turnId: turnId(turn), step: 1, waits: [...waits] } };
}

/** A command that is not what it looks like, and that no rule can say. */
export function disguised(id: TabId, at: number): FakeScene {
  const w = new RowWriter(id, at);
  const turn = "odd-turn";
  const command = "c\u0430t notes\u202e && rm\u00a0-r x";
  w.user("Show me the notes", { turn });
  w.call("d1", "bash", { command }, { turn });
  const subject = { tool: "bash", key: command, command };
  w.system({ kind: "permission", state: "asked", askId: chunkId("q2"), callId: "d1", subject }, { turn });
  const waits = [{ askId: chunkId("q2"), kind: "permission", callId: "d1" }] as const;
  return { rows: w.rows, status: { state: "waiting", turnId: turnId(turn), waits: [...waits] } };
}

const TASKS = [
  { text: "Measure", state: "done" },
  { text: "Read the plan", state: "doing" },
  { text: "Propose an index", state: "open" },
];

export function running(id: TabId, at: number, now: number): FakeScene {
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
    status: {
      state: "running",
      turnId: turnId(turn),
      step: 1,
      calls: [{ callId: "b1", name: "bash", since: now - 12_000, movable: true }],
    },
  };
}

function waitingMessages(at: number): readonly QueuedMessage[] {
  const base = { version: 1, state: "queued", delivery: "steer", by: "me", at } as const;
  const later = "Then write down what you found in docs/performance.md, with the numbers before and after.";
  return [
    { ...base, id: chunkId("w1"), position: 1, data: { text: "Leave the schema alone, only add indexes." } },
    { ...base, id: chunkId("w2"), position: 2, delivery: "queue", state: "held", by: "phone", data: { text: later } },
  ];
}

export function limited(id: TabId, at: number): FakeScene {
  const w = new RowWriter(id, at);
  const turn = "limit-turn";
  w.user("Port the parser to the new grammar and keep all tests green", { turn });
  w.say("The first forty of the tests pass. I go on with the rest.", { turn });
  const asked = { kind: "limit", state: "asked", limit: "tab-money" } as const;
  w.system({ ...asked, askId: chunkId("l1"), used: 1.0021, max: 1 }, { turn, step: 1 });
  w.system(
    {
      kind: "limit",
      state: "answered",
      askId: chunkId("l1"),
      limit: "tab-money",
      choice: "raise",
      raiseTo: 2,
      by: "me",
    },
    { turn, step: 1 },
  );
  w.say("Sixty pass now.", { turn, step: 1 });
  w.system({ ...asked, askId: chunkId("l2"), used: 2.0312, max: 2 }, { turn, step: 2 });
  const waits = [{ askId: chunkId("l2"), kind: "limit", callId: "" }] as const;
  return { rows: w.rows, status: { state: "waiting", turnId: turnId(turn), step: 2, waits: [...waits] } };
}

/** An older database was put back under an open page, and its disk is full. */
export function restored(id: TabId, at: number): FakeScene {
  const w = new RowWriter(id, at);
  const turn = "kept-turn";
  w.user("Read the whole report and sum it up", { turn });
  w.call("r1", "read", { path: "report.txt" }, { turn });
  const text = `${"A line of the report.\n".repeat(30)}${"x".repeat(9000)}`;
  w.result({ callId: "r1", name: "read", result: text.slice(0, 300), isError: false }, { turn });
  w.say(text.slice(0, 200), { turn, step: 1 });
  const rows = w.rows.map((row) => (row.role === "user" ? row : { ...row, clipped: true }));
  const message = { attachments: [], delivery: "steer", at, state: "waiting" } as const;
  const refused = {
    code: "message-too-large",
    message: "This message is too long.",
    hint: "Put it into a file.",
  } as const;
  return {
    rows,
    lost: [
      { ...message, id: chunkId("lost-1"), text: "Compare it with last year" },
      { ...message, id: chunkId("lost-2"), text: "And draw a chart" },
    ],
    pending: [{ ...message, id: chunkId("too-long"), text: "A very long one", state: "refused", error: refused }],
    status: { state: "running", turnId: turnId(turn), fault: { code: "disk-full", message: "The disk is full." } },
    sync: "healed",
  };
}

/** Rows at which a cache restarts, each with its line. */
export function summedRows(id: TabId, at: number): LogChunk[] {
  const w = new RowWriter(id, at);
  const instructions = [{ path: "/home/mika/code/envfile/AGENTS.md", bytes: 3120, clipped: false }];
  w.system({ kind: "prefix", hash: "0".repeat(64), bytes: 18_240, instructions });
  w.system({ kind: "model-changed", model: "anthropic/claude-opus-4-8", effort: "default" });
  w.system({ kind: "note", topic: "environment", text: "…" });
  for (const turn of ["past-1", "past-2"]) {
    w.user(`Do the part called ${turn}`, { turn });
    w.say("Done.", { turn });
    w.system({ kind: "turn-end", reason: "done" }, { turn });
  }
  const tokens = { tokensBefore: 160_400, tokensAfter: 21_800 };
  const summary = "What was done so far:\n- the parser was ported\n- 60 tests pass";
  w.system({ kind: "compaction", summary, keepFrom: 7, keptUserSeqs: [4], trigger: "auto", ...tokens });
  w.user("Go on with the rest", { turn: "past-3" });
  w.say("All pass.", { turn: "past-3" });
  w.system({ kind: "turn-end", reason: "done" }, { turn: "past-3" });
  w.system({ kind: "note", topic: "instructions", text: "AGENTS.md now says:\n\nUse tabs." });
  w.system({ kind: "prefix", hash: "1".repeat(64), bytes: 18_900, instructions });
  w.system({ kind: "model-changed", model: "openai/gpt-5.6", effort: "high", cacheTtl: "1h" });
  w.user("And now with the other model", { turn: "past-4" });
  w.say("As you like.", { turn: "past-4" });
  w.system({ kind: "turn-end", reason: "done" }, { turn: "past-4" });
  return w.rows;
}
