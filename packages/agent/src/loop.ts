/**
 * The loop: what runs a turn. It keeps no state of its own that matters: after each act it asks the rows what comes next.
 *
 *   request step k -> stream -> rows of its blocks -> usage row -> run its calls -> drain steers -> request step k+1
 *     ^                  |                                                                      (no calls: the end)
 *     limits, room       |
 *                        +-- cut, overloaded, silent: step-void, wait, request step k+1
 *
 * Whatever happens, the turn ends with every call answered and a `turn-end` row, unless the owner itself is gone.
 */
import { AssertionFault, type TurnId, unreachable } from "@varve/protocol";
import { nextOf } from "./next.ts";
import type { TurnOwner } from "./owner.ts";
import { OwnerGone } from "./owner.ts";
import type { TurnPorts } from "./ports.ts";
import { beforeRequest } from "./ready.ts";
import { runCalls } from "./run-calls.ts";
import { runStep } from "./run-step.ts";
import { resultTexts } from "./texts.ts";
import type { Turn } from "./turn.ts";
import { endFailed, endStopped, newTurn } from "./turn.ts";

/**
 * Runs an open turn (its user rows are sealed) to its end, or goes on with one that waits for an answer.
 * Never rejects: it ends after `owner.endTurn` answered, or at once when the owner is gone.
 */
export async function runTurn(ports: TurnPorts, owner: TurnOwner, turnId: TurnId): Promise<void> {
  const turn = newTurn(ports, owner, turnId);
  try {
    await drive(turn);
  } catch (error) {
    turn.gone.abort("stopped");
    if (!(error instanceof OwnerGone)) await endByFault(turn, error);
  }
}

async function drive(turn: Turn): Promise<void> {
  const { owner, turnId } = turn;
  for (;;) {
    if (owner.cancel.aborted) return endStopped(turn);
    const next = nextOf(owner.rows(), turnId);
    switch (next.kind) {
      case "end":
        return owner.endTurn("done", []);
      case "run":
        owner.progress(next.step);
        await runCalls(turn, next.step, next.calls);
        if (!owner.cancel.aborted) await owner.drainSteers(turnId, next.step);
        break;
      case "request": {
        const ready = await beforeRequest(turn, next.step);
        if (ready.kind === "over") return;
        if (ready.kind === "ready" && (await runStep(turn, next.step, ready)) === "over") return;
        break;
      }
      default:
        return unreachable(next);
    }
  }
}

/** A mistake of ours stops this turn, with its evidence, and nothing else. */
async function endByFault(turn: Turn, error: unknown): Promise<void> {
  const name = error instanceof Error ? error.name : "Error";
  const told = turn.ports.models.redact(error instanceof Error ? error.message : String(error));
  const what = error instanceof AssertionFault ? `A check failed: ${told}` : `${name}: ${told}`;
  try {
    await endFailed(turn, {
      step: 0,
      result: resultTexts.neverRun,
      error: { code: "internal", message: what, hint: "Everything so far is kept. Send a message to go on." },
    });
  } catch {
    // The owner refused even this: it is gone or as broken as we are, and it has the evidence in its own fault.
  }
}
