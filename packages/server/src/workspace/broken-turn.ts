/**
 * A turn whose loop returned and left it open, because its end could not be written by a mistake of ours. The tab must not
 * look as if it ran: the turn is closed with what has happened, and where even that is refused the tab stands still and says
 * so, until a restart recovers it. No other tab is touched.
 */
import { type Fault, fault, type TurnId } from "@varve/protocol";
import { closingRows } from "./fork-rows.ts";
import { holding, type TabCore } from "./tab-core.ts";
import { noTurnOpen } from "./turn-run.ts";

const result = "the turn was ended by a mistake of the server; the command may have run";

/** Inside the mailbox, with the turn closed. Null: the tab goes on; a fault: why nothing can be done in it any more. */
export async function endBroken(core: TabCore, turnId: TurnId, told: string): Promise<Fault | null> {
  const { ids, clock } = core.ports;
  const message = `The turn could not be ended as it should: ${told}`;
  const error = { code: "internal", message, hint: "Everything so far is kept. Send a message to go on." } as const;
  const rows = closingRows(core.rows.held(), { ids, at: clock.now() }, { reason: "error", result, error });
  const written = await core
    .commit({ rows, inbox: holding(core.feed.queue()) })
    .then(({ kind }) => kind === "committed")
    // The mistake that has brought us here may meet us again; then the tab stands still.
    .catch(() => false);
  if (written) {
    core.status({ ...noTurnOpen, state: "error", lastSealed: turnId });
    return null;
  }
  const stuck = fault("internal", message, "Everything sealed is kept. Start the server anew to go on in this tab.");
  core.status({ ...noTurnOpen, state: "error", fault: { code: stuck.code, message: stuck.message } });
  return stuck;
}
