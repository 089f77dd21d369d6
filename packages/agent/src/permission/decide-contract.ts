/** CONTRACT. What the permission engine answers. Pure; applied when a call is about to run, never in the tool block. */
import type { PermissionMode, PermissionPart } from "@varve/protocol";
import type { PreparedCall } from "../tools/tool.ts";

export interface PermissionRule {
  readonly action: "allow" | "ask" | "deny";
  readonly tool: string;
  /** Exact key of a subject, or a glob over its path or command. */
  readonly pattern?: string;
}

export interface PermissionContext {
  readonly mode: PermissionMode;
  /** From files and from answers; deny beats ask beats allow. */
  readonly rules: readonly PermissionRule[];
  /** "For this tab" answers so far: exactly this tool and key. */
  readonly granted: readonly { readonly tool: string; readonly key: string }[];
  /** Where commands start: the files of their redirections are looked up from here. */
  readonly cwd?: string;
  /** What runs commands: a plain `sh` reads some texts in another way. Default: bash. */
  readonly shell?: "bash" | "posix";
}

/** What a question says beside its subject: what of the call is not allowed yet, and the rules that would allow just that. */
export interface Asking {
  readonly decision: "ask";
  readonly parts?: readonly PermissionPart[];
  readonly offers?: readonly string[];
}

export type Decision =
  | { readonly decision: "allow" }
  | Asking
  /** `reason` becomes the call's error result. */
  | { readonly decision: "deny"; readonly reason: string };

export type Decide = (
  call: Pick<PreparedCall, "effect" | "subject" | "namesHome">,
  context: PermissionContext,
) => Decision;
