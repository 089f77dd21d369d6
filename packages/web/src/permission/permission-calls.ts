/** What is allowed in a tab, by which rule, and what was asked: the routes of the part "Permissions". */
import type { ChunkId, PermissionMode, PermissionSubject, TabId, Verdict } from "@varve/protocol";
import type { Api } from "../api/api.ts";
import type { Result } from "../api/http.ts";

export interface RuleInForce {
  readonly action: "allow" | "ask" | "deny";
  /** In the words of a rule file. */
  readonly rule: string;
  /** The person's own file, the answers kept for this directory, or a file in the workspace. */
  readonly source: "person" | "project" | "workspace";
}
/** An answer "for this tab" that holds. */
export interface TabGrant {
  readonly askId: ChunkId;
  readonly at: number;
  readonly by: string;
  readonly rules: readonly string[];
  /** Without rules: exactly this. */
  readonly exact?: { readonly tool: string; readonly key: string };
}
export interface AskedEntry {
  readonly askId: ChunkId;
  readonly seq: number;
  readonly at: number;
  readonly subject: PermissionSubject;
  /** Null while it waits, and when its turn ended before. */
  readonly answer: {
    readonly at: number;
    readonly verdict: Verdict;
    readonly by: string;
    readonly reason?: string;
    readonly rules?: readonly string[];
  } | null;
}
export interface TabPermissions {
  readonly mode: PermissionMode;
  /** What happens where nobody answers, as a sentence. */
  readonly unattended: { readonly text: string; readonly asks: boolean };
  /** The directory that answers "always in this project" hold for, and the file that keeps them. */
  readonly root: string;
  readonly projectPath: string;
  readonly rules: readonly RuleInForce[];
  readonly problems: readonly string[];
  readonly granted: readonly TabGrant[];
  /** Newest first. */
  readonly questions: readonly AskedEntry[];
  readonly more: boolean;
}

const LOG_PAGE = 30;

/** `before`: the seq of the oldest question that is held. */
export const readPermissions = (api: Api, tab: TabId, before?: number): Promise<Result<TabPermissions>> =>
  api.ask("GET", `/tabs/${tab}/permissions?limit=${LOG_PAGE}${before === undefined ? "" : `&before=${before}`}`);
export const removeRule = (api: Api, root: string, rule: string): Promise<Result<unknown>> =>
  api.ask("DELETE", "/permissions/rules", { root, rule });
export const takeBackGrant = (api: Api, tab: TabId, askId: ChunkId): Promise<Result<unknown>> =>
  api.ask("DELETE", `/tabs/${tab}/permissions/${askId}`);
