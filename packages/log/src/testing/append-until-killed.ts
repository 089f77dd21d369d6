/**
 * A process to be killed: appends rows to a tab for ever, keeps the text of an open block in the journal, and prints
 * `tail journalled` each time a row was acknowledged. Arguments: home, tab id or "-" to make one, time in ms.
 */
import { writeSync } from "node:fs";
import process from "node:process";
import { type IdMaker, idMaker, parseTabId, uuidV7Maker } from "@varve/protocol";
import { newTab, said, sealed, sound } from "../contract/fixtures.ts";
import type { Claim, Log } from "../log.ts";
import { openSqliteLog } from "../sqlite-log.ts";
import { stillClock } from "./temporary.ts";

const [home = "", tab = "-", now = "0"] = process.argv.slice(2);
const nowMs = Number(now);
const fresh: IdMaker = idMaker(
  uuidV7Maker(
    () => nowMs,
    (into) => crypto.getRandomValues(into),
  ),
);

async function claimTab(log: Log): Promise<Claim> {
  const id =
    tab === "-" ? sound(await log.createTab(newTab({ id: fresh.tab(), logId: fresh.log() }))).id : parseTabId(tab);
  return sound(await log.claim(sound(id), nowMs));
}

async function appendForEver(log: Log, claim: Claim): Promise<never> {
  const { tabId, logId } = claim;
  for (;;) {
    const id = fresh.chunk();
    log.journal.write([{ entry: "open", tabId, logId, id, meta: { tail: claim.tail } }]);
    for (let at = 0; at < 3; at++) log.journal.write([{ entry: "text", tabId, id, offset: at * 5, text: "piece" }]);
    const row = said(["t1", 0], "piece".repeat(3), id);
    const { tail } = await sealed(log, claim, {
      rows: [row, said(["t1", 0], "second row of the batch", fresh.chunk())],
    });
    writeSync(1, `${tail}\n`);
    log.journal.write([{ entry: "closed", tabId, id }]);
  }
}

const log = sound(await openSqliteLog({ home, clock: stillClock }));
const claim = await claimTab(log);
writeSync(1, `tab ${claim.tabId}\n`);
await appendForEver(log, claim);
