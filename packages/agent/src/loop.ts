import type { TurnId } from "@varve/protocol";
import type { TurnOwner } from "./owner.ts";
import type { TurnPorts } from "./ports.ts";

/**
 * Runs an open turn (its user rows are sealed) to its end, or goes on with one that waits for an answer.
 * Never rejects: it ends after `owner.endTurn` answered, or at once when the owner is gone.
 */
export async function runTurn(_ports: TurnPorts, _owner: TurnOwner, _turnId: TurnId): Promise<void> {
  throw new Error("runTurn is being written");
}
