/** Rows and open blocks of a made-up tab, for looking at the page. Shapes are those of the protocol. */
import type { LogChunk, TabId } from "@varve/protocol";
import { parseBlobHash, parseChunkId, parseTurnId } from "@varve/protocol";

export const known = <T>(value: T | null): T => {
  if (value === null) throw new Error("a legal id was expected");
  return value;
};
export const chunkId = (text: string) => known(parseChunkId(text));
export const turnId = (text: string) => known(parseTurnId(text));
export const blob = () => known(parseBlobHash("a".repeat(64)));

type RowOf<T extends LogChunk["type"]> = Extract<LogChunk, { readonly type: T }>;
type Place = { readonly turn?: string; readonly step?: number; readonly at?: number };

/** Writes rows of one tab with dense seqs, ten seconds apart. */
export class RowWriter {
  readonly rows: LogChunk[] = [];
  readonly #tabId: TabId;
  #at: number;

  constructor(tabId: TabId, at: number) {
    this.#tabId = tabId;
    this.#at = at;
  }

  #base(place: Place) {
    const seq = this.rows.length + 1;
    this.#at += place.at ?? 3000;
    return {
      id: chunkId(`${this.#tabId}-${seq}`),
      seq,
      term: 1,
      tabId: this.#tabId,
      turnId: turnId(place.turn ?? ""),
      step: place.step ?? 0,
      createdAt: this.#at,
    };
  }
  user(text: string, place: Place): void {
    this.rows.push({ ...this.#base(place), role: "user", type: "text", data: { text } });
  }
  say(text: string, place: Place): void {
    this.rows.push({ ...this.#base(place), role: "assistant", type: "text", data: { text } });
  }
  think(text: string, place: Place): void {
    this.rows.push({ ...this.#base(place), role: "assistant", type: "thinking", data: { text, modelScope: "demo" } });
  }
  call(callId: string, name: string, args: RowOf<"tool_call">["data"]["arguments"], place: Place): void {
    const data = { callId, name, arguments: args, argsText: JSON.stringify(args) };
    this.rows.push({ ...this.#base(place), role: "assistant", type: "tool_call", data });
  }
  result(data: RowOf<"tool_result">["data"], place: Place): void {
    this.rows.push({ ...this.#base(place), role: "tool", type: "tool_result", data });
  }
  error(data: RowOf<"error">["data"], place: Place): void {
    this.rows.push({ ...this.#base(place), role: "system", type: "error", data });
  }
  system(data: RowOf<"system">["data"], place: Place = {}): void {
    this.rows.push({ ...this.#base(place), role: "system", type: "system", data });
  }
  usage(place: Place, read: number): void {
    const data = { kind: "usage", model: "demo/demo", fresh: 420, read, write5m: 300, write1h: null } as const;
    this.system({ ...data, output: 380, reasoning: null, price: 0.0041, attainable: read }, place);
  }
}

export const DIFF = `--- a/src/parse.ts
+++ b/src/parse.ts
@@ -12,7 +12,9 @@
 export function parseLine(line: string): Entry | null {
   const [name, value] = line.split("=");
-  // TODO: values may contain an equals sign
-  return { name, value };
+  const at = line.indexOf("=");
+  if (at === -1) return null;
+  return { name: line.slice(0, at), value: line.slice(at + 1) };
 }
`;

export const ANSWER = `There are **three** TODO comments:

| file | line | text |
|---|---:|---|
| \`src/parse.ts\` | 14 | values may contain an equals sign |
| \`src/main.ts\` | 3 | read the path from the arguments |
| \`test/parse.test.ts\` | 22 | cover empty lines |

I fixed the first one. \`parseLine\` now cuts at the *first* equals sign:

\`\`\`ts
const at = line.indexOf("=");
if (at === -1) return null;
return { name: line.slice(0, at), value: line.slice(at + 1) };
\`\`\`

- [x] \`src/parse.ts\` changed
- [x] tests run
- [ ] the two others, if you like

See the [notes on parsing](https://example.org/parsing) for why the *last* one would be wrong.
`;

export function mainRows(tabId: TabId, at: number): LogChunk[] {
  const w = new RowWriter(tabId, at);
  const instructions = [
    { path: "/home/mika/.varve/AGENTS.md", bytes: 812, clipped: false },
    { path: "/home/mika/code/envfile/AGENTS.md", bytes: 3120, clipped: false },
  ];
  w.system({ kind: "prefix", hash: "0".repeat(64), bytes: 18_240, instructions });
  w.system({ kind: "model-changed", model: "demo/demo", effort: "default" });
  w.system({ kind: "note", topic: "place", text: "…" });
  const t = "turn-1";
  w.user("List the TODO comments in this project and fix the first one", { turn: t });
  w.think("I should search for TODO first, then read the file with the first match before I change it.", {
    turn: t,
    step: 0,
  });
  searchStep(w, t);
  w.usage({ turn: t, step: 0 }, 4100);
  readStep(w, t);
  w.usage({ turn: t, step: 1 }, 4900);
  editStep(w, t);
  w.usage({ turn: t, step: 2 }, 5600);
  w.call("c4", "bash", { command: "npm test -- --run" }, { turn: t, step: 3 });
  w.result(
    {
      callId: "c4",
      name: "bash",
      result: "\u001b[32m✓\u001b[0m parse.test.ts (14)\n\nTests  14 passed\n",
      isError: false,
      details: { summary: "exit 0", exitCode: 0 },
    },
    { turn: t, step: 3 },
  );
  w.usage({ turn: t, step: 3 }, 6200);
  w.say(ANSWER, { turn: t, step: 4 });
  w.usage({ turn: t, step: 4 }, 6800);
  w.system({ kind: "turn-end", reason: "done" }, { turn: t, step: 4 });
  return w.rows;
}

function searchStep(w: RowWriter, t: string): void {
  w.call("c1", "grep", { pattern: "TODO", path: "." }, { turn: t, step: 0 });
  w.result(
    {
      callId: "c1",
      name: "grep",
      result:
        "src/parse.ts:14: // TODO: values may contain an equals sign\nsrc/main.ts:3: // TODO read the path\ntest/parse.test.ts:22: // TODO empty lines",
      isError: false,
      details: { summary: "3 matches in 3 files", matches: 3 },
    },
    { turn: t, step: 0 },
  );
}

function readStep(w: RowWriter, t: string): void {
  w.call("c2", "read", { path: "/home/mika/code/envfile/src/parse.ts" }, { turn: t, step: 1 });
  w.call("c2b", "read", { path: "/home/mika/code/envfile/test/parse.test.ts" }, { turn: t, step: 1 });
  w.result(
    {
      callId: "c2",
      name: "read",
      result: "12\texport function parseLine",
      isError: false,
      details: { path: "/home/mika/code/envfile/src/parse.ts", summary: "48 lines" },
    },
    { turn: t, step: 1 },
  );
  w.result(
    {
      callId: "c2b",
      name: "read",
      result: Array.from({ length: 260 }, (_, i) => `${i + 1}\ttest line`).join("\n"),
      isError: false,
      details: { summary: "260 lines" },
    },
    { turn: t, step: 1 },
  );
}

function editStep(w: RowWriter, t: string): void {
  w.call("c3", "edit", { path: "/home/mika/code/envfile/src/parse.ts", old: "…", new: "…" }, { turn: t, step: 2 });
  const subject = {
    tool: "edit",
    key: "/home/mika/code/envfile/src/parse.ts",
    path: "/home/mika/code/envfile/src/parse.ts",
    diff: DIFF,
  };
  w.system({ kind: "permission", state: "asked", askId: chunkId("ask1"), callId: "c3", subject }, { turn: t, step: 2 });
  w.system(
    { kind: "permission", state: "answered", askId: chunkId("ask1"), callId: "c3", verdict: "once", by: "me" },
    { turn: t, step: 2 },
  );
  w.result(
    {
      callId: "c3",
      name: "edit",
      result: "changed",
      isError: false,
      details: { path: "/home/mika/code/envfile/src/parse.ts", summary: "+3 −2", added: 3, removed: 2, diff: DIFF },
    },
    { turn: t, step: 2 },
  );
}

export function failedRows(tabId: TabId, at: number): LogChunk[] {
  const w = new RowWriter(tabId, at);
  const [a, b] = ["turn-a", "turn-b"];
  w.user("Run the tests", { turn: a });
  w.call("f1", "bash", { command: "npm test" }, { turn: a });
  w.result(
    {
      callId: "f1",
      name: "bash",
      result: "1 failed: expected 3 to be 4",
      isError: true,
      details: { summary: "exit 1", exitCode: 1 },
    },
    { turn: a },
  );
  w.call("f2", "bash", { command: "rm -rf build && make all" }, { turn: a, step: 1 });
  const subject = { tool: "bash", key: "rm -rf build && make all", command: "rm -rf build && make all" };
  w.system({ kind: "permission", state: "asked", askId: chunkId("ask2"), callId: "f2", subject }, { turn: a, step: 1 });
  w.system(
    {
      kind: "permission",
      state: "answered",
      askId: chunkId("ask2"),
      callId: "f2",
      verdict: "deny",
      reason: "keep the build folder, use make clean",
      by: "me",
    },
    { turn: a, step: 1 },
  );
  w.result(
    { callId: "f2", name: "bash", result: "Denied: keep the build folder, use make clean", isError: true },
    { turn: a, step: 1 },
  );
  const restarted = "The server was restarted while this turn ran, so the turn was ended here.";
  w.system({ kind: "notice", level: "warning", code: "restart", text: restarted }, { turn: a, step: 1 });
  w.system({ kind: "turn-end", reason: "restart" }, { turn: a, step: 1 });
  w.user("go on", { turn: b });
  w.error(
    {
      message: "The provider refused the key of “anthropic”.",
      code: "provider-refused",
      statusCode: 401,
      hint: "Nothing was lost. Check the key in the settings, then try again.",
    },
    { turn: b },
  );
  w.system({ kind: "turn-end", reason: "error" }, { turn: b });
  return w.rows;
}

export function longRows(tabId: TabId, at: number): LogChunk[] {
  const w = new RowWriter(tabId, at);
  for (let i = 1; i <= 60; i++) {
    const turn = `long-${i}`;
    w.user(`Question ${i}`, { turn });
    w.say(`Answer ${i}. ${"A few words more, so that it takes some lines. ".repeat((i * 7) % 13)}`, { turn });
    w.system({ kind: "turn-end", reason: "done" }, { turn });
  }
  return w.rows;
}
