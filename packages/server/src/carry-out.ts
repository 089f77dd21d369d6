/** A command that changes a tab, carried out on the workspace: what its `ack` says, or the fault for its `err`. */
import {
  type AckFrame,
  type Command,
  type Fault,
  isFault,
  type MessageBody,
  type QueuedMessage,
  type QueuePatch,
  unreachable,
} from "@varve/protocol";
import type { QueueFault, Workspace } from "./workspace/workspace-contract.ts";

type Asking = "hello" | "sub" | "sub-workspace" | "unsub" | "focus" | "seen" | "pong";
export type Change = Exclude<Command, { type: Asking }>;
export type Outcome = Omit<AckFrame, "type" | "re"> | QueueFault;

export async function carryOut(workspace: Workspace, command: Change, by: string): Promise<Outcome> {
  const { tab } = command;
  switch (command.type) {
    case "send":
      return workspace.send(tab, messageOf(command), by);
    case "edit":
    case "hold":
    case "release":
    case "move":
      return patched(await workspace.patchQueued(tab, command.id, patchOf(command)));
    case "cancel":
      return workspace.cancelQueued(tab, command.id);
    case "stop": {
      const { turnId, callId } = command;
      const meant = { ...(turnId !== undefined && { turnId }), ...(callId !== undefined && { callId }) };
      return done(await workspace.stop(tab, meant));
    }
    case "background": {
      const { turnId, callId } = command;
      return done(await workspace.background(tab, { callId, ...(turnId !== undefined && { turnId }) }));
    }
    case "answer": {
      const { askId, verdict, rules, text, choice, raiseTo } = command;
      const body = {
        askId,
        ...(verdict && { verdict }),
        ...(rules !== undefined && { rules }),
        ...(text !== undefined && { text }),
        ...(choice && { choice }),
        ...(raiseTo !== undefined && { raiseTo }),
      };
      return done(await workspace.answer(tab, body, by));
    }
    default:
      return unreachable(command);
  }
}

function messageOf({ id, text, delivery, turnId, attachments }: Extract<Change, { type: "send" }>): MessageBody {
  return { id, text, ...(delivery && { delivery }), ...(turnId && { turnId }), ...(attachments && { attachments }) };
}

function patchOf(command: Extract<Change, { type: "edit" | "hold" | "release" | "move" }>): QueuePatch {
  const { version } = command;
  switch (command.type) {
    case "edit":
      return {
        version,
        text: command.text,
        ...(command.delivery && { delivery: command.delivery }),
        ...(command.turnId && { turnId: command.turnId }),
      };
    case "hold":
      return { version, state: "held" };
    case "release":
      return { version, state: "queued" };
    case "move":
      return { version, before: command.before };
    default:
      return unreachable(command);
  }
}

function patched(outcome: QueuedMessage | QueueFault): Outcome {
  if (isFault(outcome)) return outcome;
  const { id, state, version } = outcome;
  return { id, state, version };
}

const done = (outcome: unknown | Fault): Outcome => (isFault(outcome) ? outcome : { state: "done" });
