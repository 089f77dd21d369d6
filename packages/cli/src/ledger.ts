/** `varve ledger`: what a recording of another tool cost. Asks no server and needs no home. */
import { isFault } from "@varve/protocol";
import { readBill } from "@varve/server";
import type { LedgerCommand } from "./arguments.ts";
import { type ExitCode, exitCodes } from "./exit-codes.ts";
import { ledgerText } from "./ledger-text.ts";
import { sentenceOf } from "./say.ts";
import { printableJson } from "./table.ts";
import type { World } from "./world.ts";

export async function ledger(command: LedgerCommand, world: World): Promise<ExitCode> {
  const bill = await readBill(command.file, AbortSignal.any([world.ending, world.unread]));
  if (isFault(bill)) {
    world.err(sentenceOf(bill));
    return exitCodes.failed;
  }
  world.out(command.json ? `${printableJson(bill)}\n` : ledgerText(bill));
  return exitCodes.done;
}
