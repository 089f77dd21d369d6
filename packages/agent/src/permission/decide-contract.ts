/** CONTRACT. What the permission engine answers. Pure; applied when a call is about to run, never in the tool block. */
import type { PermissionMode } from "@varve/protocol";
import type { PreparedCall } from "../tools/tool.ts";

export interface PermissionRule {
  readonly action: "allow" | "ask" | "deny";
  readonly tool: string;
  /** Exact key of a subject, or a glob over its path or command. */
  readonly pattern?: string;
}

export interface PermissionContext {
  readonly mode: PermissionMode;
  /** From files; deny beats ask beats allow. */
  readonly rules: readonly PermissionRule[];
  /** "For this tab" answers so far: exactly this tool and key. */
  readonly granted: readonly { readonly tool: string; readonly key: string }[];
}

export type Decision =
  | { readonly decision: "allow" }
  | { readonly decision: "ask" }
  /** `reason` becomes the call's error result. */
  | { readonly decision: "deny"; readonly reason: string };

export type Decide = (
  call: Pick<PreparedCall, "effect" | "subject" | "namesHome">,
  context: PermissionContext,
) => Decision;
