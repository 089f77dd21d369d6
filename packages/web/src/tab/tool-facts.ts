/** One tool call as the page sees it, whichever of its rows are in the window. */
import type { GroupItem } from "@varve/client";
import type { JsonObject, LogChunk, PermissionSubject, ToolResultData, Verdict } from "@varve/protocol";
import { type CallFacts, callState, isObject } from "../tools/summary.ts";
import { terminalText } from "../tools/terminal-text.ts";

export type ToolItem = Extract<GroupItem, { readonly item: "tool" }>;

export interface PermissionQuestion {
  readonly kind: "permission";
  readonly askId: LogChunk["id"];
  readonly subject: PermissionSubject;
  readonly answer: {
    readonly verdict: Verdict;
    readonly reason: string | null;
    /** What holds from now on, in the words of a rule file. */
    readonly rules: readonly string[];
  } | null;
}
export interface AskQuestion {
  readonly kind: "ask";
  readonly askId: LogChunk["id"];
  readonly question: string;
  readonly options: readonly string[];
  readonly answer: string | null;
}
export type CallQuestion = PermissionQuestion | AskQuestion;

/** Asked questions in order, each with its answer when there is one. */
export function questionsOf(rows: readonly LogChunk[]): readonly CallQuestion[] {
  const questions: CallQuestion[] = [];
  for (const { type, data } of rows) {
    if (type !== "system") continue;
    if (data.kind === "permission" && data.state === "asked") {
      questions.push({
        kind: "permission",
        askId: data.askId,
        subject: data.subject,
        answer: permissionAnswer(rows, data.askId),
      });
    } else if (data.kind === "ask" && data.state === "asked") {
      const { askId, question, options } = data;
      questions.push({ kind: "ask", askId, question, options, answer: askAnswer(rows, askId) });
    }
  }
  return questions;
}

export function callFacts(item: ToolItem, cwd: string, turnOpen: boolean): CallFacts {
  const result = resultOf(item);
  const questions = questionsOf(item.questions);
  const asked = questions.some((question) => question.answer === null);
  const denied = questions.some((question) => question.kind === "permission" && question.answer?.verdict === "deny");
  return {
    name: item.call?.type === "tool_call" ? item.call.data.name : (result?.name ?? "tool"),
    args: item.call?.type === "tool_call" ? item.call.data.arguments : {},
    details: result?.details ?? {},
    state: callState({ result: item.result, asked: asked && turnOpen, denied, turnOpen }),
    cwd,
    tookMs: tookMs(item),
  };
}

/** A call starts when it is sealed, or when its last question was answered. */
function tookMs(item: ToolItem): number | null {
  const start = item.questions.at(-1) ?? item.call;
  return item.result === null || start === null ? null : Math.max(0, item.result.createdAt - start.createdAt);
}

export const resultOf = (item: ToolItem): ToolResultData | null =>
  item.result?.type === "tool_result" ? item.result.data : null;

/** A unified diff, from the result's details; "" when the tool made none. */
export function diffOf(details: JsonObject): string {
  const { diff } = details;
  return typeof diff === "string" ? diff : "";
}

/** What a running tool has printed so far. The register holds the end only, once there is much. */
export function liveText(item: ToolItem): string {
  if (item.output) return terminalText(item.output.tail);
  return item.live && item.live.type !== "tool_call" ? terminalText(item.live.text) : "";
}

export interface TaskItem {
  readonly text: string;
  readonly state: "open" | "active" | "done";
}
/** The task list of a `todo` call. */
export function tasksOf(details: JsonObject, args: JsonObject): readonly TaskItem[] {
  const items = Array.isArray(details.items) ? details.items : Array.isArray(args.items) ? args.items : [];
  return items.flatMap((item): TaskItem[] => {
    if (!isObject(item)) return [];
    const text = item.text ?? item.content ?? item.title;
    return typeof text === "string" ? [{ text, state: taskState(item.state ?? item.status) }] : [];
  });
}

function taskState(status: unknown): TaskItem["state"] {
  if (status === "done" || status === "completed") return "done";
  return status === "doing" || status === "active" || status === "in_progress" ? "active" : "open";
}

function permissionAnswer(rows: readonly LogChunk[], askId: string): PermissionQuestion["answer"] {
  for (const { type, data } of rows) {
    if (type === "system" && data.kind === "permission" && data.state === "answered" && data.askId === askId) {
      return { verdict: data.verdict, reason: data.reason ?? null, rules: data.rules ?? [] };
    }
  }
  return null;
}

function askAnswer(rows: readonly LogChunk[], askId: string): string | null {
  for (const { type, data } of rows) {
    if (type === "system" && data.kind === "ask" && data.state === "answered" && data.askId === askId)
      return data.answer;
  }
  return null;
}
