/** What a commit writes, without secrets: rows, messages that wait, and a title that was made of one. */
import { cleanRow, cleanText, type Secrets } from "@varve/agent";
import type { Batch, InboxWrite } from "@varve/log";

export function cleanBatch(batch: Batch, secrets: Secrets): Batch {
  const { rows, inbox, tab } = batch;
  return {
    ...batch,
    rows: rows.map((row) => cleanRow(row, secrets)),
    ...(inbox !== undefined && { inbox: inbox.map((write) => cleanWrite(write, secrets)) }),
    ...(tab?.title !== undefined && { tab: { ...tab, title: secrets.cutText(tab.title) } }),
  };
}

function cleanWrite(write: InboxWrite, secrets: Secrets): InboxWrite {
  if (!("data" in write) || write.data === undefined) return write;
  return { ...write, data: cleanText(write.data, secrets) };
}
