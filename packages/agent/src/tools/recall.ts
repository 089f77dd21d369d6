/** `recall`: looks sealed rows of the tab up, by number or by word. After a compaction it is how the model reads what it lost. */
import type { StoredRow } from "@varve/protocol";
import { z } from "zod";
import { defineTool } from "./define-tool.ts";
import { toolLimits } from "./limits.ts";
import { count, cutEnd, fail, succeed } from "./outcome.ts";
import type { Tool, ToolOutcome, ToolRun } from "./tool.ts";

const rowNumber = z.int().min(1).max(Number.MAX_SAFE_INTEGER);
const schema = z.strictObject({
  seq: rowNumber.optional().describe("The number of one row"),
  from: rowNumber.optional().describe("First row of a range"),
  to: rowNumber.optional().describe("Last row of a range"),
  query: z
    .string()
    .min(1)
    .max(toolLimits.patternCharsMax)
    .optional()
    .describe("Text to find, letter case ignored; newest rows first. With from and to only there"),
});
type Args = z.infer<typeof schema>;

export function recallTool(): Tool {
  return defineTool({
    name: "recall",
    schema,
    prepare: async (args) => ({
      effect: "read",
      subject: { tool: "recall", key: "recall" },
      lock: null,
      run: async (run) => recall(args, run),
    }),
  });
}

function recall(args: Args, run: ToolRun): ToolOutcome {
  const rows = run.rows(1, Number.MAX_SAFE_INTEGER);
  const first = rows[0]?.seq ?? 1;
  const last = rows.at(-1)?.seq ?? 0;
  const there = `This log has rows ${first} to ${last}.`;
  if (args.query !== undefined) return find(args.query, { rows: between(rows, args, last), there });
  const from = args.seq ?? args.from ?? args.to;
  if (from === undefined)
    return fail(`Say which row ("seq"), which rows ("from", "to") or which text ("query"). ${there}`);
  const to = args.seq ?? args.to ?? from;
  const asked = run.rows(from, to);
  if (asked.length === 0) return fail(`There is no row ${from === to ? from : `from ${from} to ${to}`}. ${there}`);
  return show(asked, { one: from === to, there });
}

const between = (rows: readonly StoredRow[], { from, to }: Args, last: number): readonly StoredRow[] =>
  from === undefined && to === undefined
    ? rows
    : rows.filter((row) => row.seq >= (from ?? 1) && row.seq <= (to ?? last));

function show(rows: readonly StoredRow[], how: { readonly one: boolean; readonly there: string }): ToolOutcome {
  const lines: string[] = [];
  let chars = 0;
  let shown = 0;
  for (const row of rows) {
    const text = told(row);
    if (text === null && !how.one) continue;
    const line = `[${row.seq}] ${clip(text ?? "nothing that you wrote or read", how.one)}`;
    if (shown === toolLimits.recallRowsMax || chars + line.length > toolLimits.recallCharsMax) {
      lines.push(`⟨more follows: go on with {"from": ${row.seq}, "to": ${rows.at(-1)?.seq ?? row.seq}}⟩`);
      break;
    }
    lines.push(line);
    chars += line.length;
    shown += 1;
  }
  const summary = count(shown, "row");
  if (shown === 0) return succeed(`These rows hold nothing that you wrote or read. ${how.there}`, { summary });
  return succeed(lines.join("\n"), { summary });
}

function find(query: string, where: { readonly rows: readonly StoredRow[]; readonly there: string }): ToolOutcome {
  const wanted = query.toLowerCase();
  const found: string[] = [];
  let more = false;
  for (const row of where.rows.toReversed()) {
    // A search's own calls and answers hold the searched word always: they would hide what was meant.
    if (isRecall(row)) continue;
    const text = told(row);
    const at = text?.toLowerCase().indexOf(wanted) ?? -1;
    if (text === null || at < 0) continue;
    if (found.length === toolLimits.recallFoundMax) {
      more = true;
      break;
    }
    found.push(`[${row.seq}] ${around(text, at)}`);
  }
  const summary = count(found.length, "row");
  if (found.length === 0) return succeed(`No row holds that text. ${where.there}`, { summary });
  const rest = more ? "\n⟨older rows hold it too: narrow it with from and to⟩" : "";
  return succeed(`${found.join("\n")}${rest}`, { summary });
}

const isRecall = (row: StoredRow): boolean =>
  (row.type === "tool_call" || row.type === "tool_result") && row.data.name === "recall";

/** What the model wrote or read there; null for rows of bookkeeping. */
function told(row: StoredRow): string | null {
  switch (row.type) {
    case "text":
      return `${row.role === "user" ? "user" : "you"}: ${row.data.text}${names(row.data.attachments)}`;
    case "tool_call":
      return `you called ${row.data.name}: ${row.data.argsText}`;
    case "tool_result":
      return `${row.data.isError ? "error" : "result"} of ${row.data.name}: ${row.data.result}`;
    case "error":
      return `error: ${row.data.message}`;
    case "system":
      if (row.data.kind === "note") return `note: ${row.data.text}`;
      return row.data.kind === "compaction" ? `summary: ${row.data.summary}` : null;
    default:
      return null;
  }
}

const names = (attachments: readonly { readonly name: string }[] | undefined): string =>
  (attachments ?? []).map(({ name }) => ` ⟨attached: ${name}⟩`).join("");

function clip(text: string, alone: boolean): string {
  const max = alone ? toolLimits.recallOneCharsMax : toolLimits.recallRowCharsMax;
  if (text.length <= max) return text;
  const more = alone ? `look further on with {"query": "a word of it"}` : "ask for this row alone";
  return `${cutEnd(text, max)} ⟨cut: ${text.length} characters; ${more}⟩`;
}

function around(text: string, at: number): string {
  const from = Math.max(0, at - toolLimits.recallAroundChars);
  const to = at + toolLimits.recallAroundChars;
  const kind = from === 0 ? "" : `${cutEnd(text, text.indexOf(":") + 1)} … `;
  return `${kind}${text.slice(from, to)}${to < text.length ? " …" : ""}`.replaceAll("\n", "⏎");
}
