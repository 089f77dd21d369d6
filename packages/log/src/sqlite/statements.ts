/** Every statement of the log by name, prepared once. Columns are listed, so that a later migration may add some. */
import type { Database, Statement } from "./driver.ts";

const keptTabColumns =
  "id, title, cwd, model, effort, permissions, parent_id, log_id, term, seen, created_at, updated_at, trashed_at, options_json";
/** The tail of a tab is that of its log: its last row, or where it was forked when it has none of its own. */
const tabColumns = `${keptTabColumns}, coalesce((SELECT max(seq) FROM chunks WHERE chunks.log_id = tabs.log_id),
  (SELECT parent_seq FROM logs WHERE logs.id = tabs.log_id)) AS tail`;
const frameColumns = "id, seq, term, turn_id, step, role, type, created_at, by, data_json";
const messageColumns = "id, tab_id, position, version, state, delivery, data_json, by, at, sealed_log_id, sealed_seq";
const billColumns = `tab_id, log_id, seq, turn_id, step, at, model, purpose, fresh, read, write_5m, write_1h, output, reasoning,
  price, attainable, started_at, other_json`;
const billRange = "at >= ? AND at < ? AND seq < ?";
const billSumColumns = `tab_id, model, coalesce(purpose, 'step') AS purpose, count(*) AS requests,
  sum(coalesce(fresh, read, write_5m, write_1h, output, reasoning) IS NULL) AS untold,
  total(fresh) AS fresh, total(read) AS read, total(write_5m) AS write_5m, total(write_1h) AS write_1h,
  total(output) AS output, total(reasoning) AS reasoning,
  total(iif(read IS NULL, NULL, attainable)) AS attainable, total(min(read, attainable)) AS attained,
  total(price) AS price, sum(price IS NULL) AS unpriced, min(coalesce(started_at, at)) AS started_at`;
const billGroups = "GROUP BY 1, 2, 3 ORDER BY 1, 2, 3";
const billTotalColumns = `tab_id, model, purpose, requests, untold, fresh, read, write_5m, write_1h, output, reasoning,
  attainable, attained, price, unpriced, started_at`;

const texts = {
  // Tabs and their logs.
  tabs: `SELECT ${tabColumns} FROM tabs ORDER BY n`,
  tab: `SELECT ${tabColumns} FROM tabs WHERE id = ?`,
  insertTab: `INSERT INTO tabs (${keptTabColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  changeTab: `UPDATE tabs SET title = ?, cwd = ?, model = ?, effort = ?, permissions = ?, seen = ?, updated_at = ?,
    trashed_at = ?, options_json = ? WHERE id = ?`,
  claim: "UPDATE tabs SET term = max(term + 1, ?) WHERE id = ?",
  /** The fence, and where the batch goes on. No row: somebody else owns the tab. In the transaction that inserts. */
  fencedTail: `SELECT (SELECT max(seq) FROM chunks WHERE chunks.log_id = tabs.log_id) AS tail FROM tabs
    WHERE id = ? AND term = ? AND log_id = ?`,
  pointTab: "UPDATE tabs SET log_id = ?, term = ?, seen = ? WHERE id = ?",
  deleteTab: "DELETE FROM tabs WHERE id = ?",
  log: "SELECT id, parent_id, parent_seq, created_at FROM logs WHERE id = ?",
  insertLog: "INSERT INTO logs (id, parent_id, parent_seq, created_at) VALUES (?, ?, ?, ?)",
  deleteLog: "DELETE FROM logs WHERE id = ?",
  segments: "SELECT lo, hi, source_id FROM segments WHERE log_id = ? ORDER BY lo",
  insertSegment: "INSERT INTO segments (log_id, lo, hi, source_id) VALUES (?, ?, ?, ?)",
  deleteSegments: "DELETE FROM segments WHERE log_id = ?",
  tabLog: "SELECT tab_id FROM tab_logs WHERE log_id = ?",
  insertTabLog: "INSERT INTO tab_logs (tab_id, log_id) VALUES (?, ?)",
  logsOfTab: `SELECT logs.id, logs.parent_id, logs.parent_seq, logs.created_at FROM tab_logs
    JOIN logs ON logs.id = tab_logs.log_id WHERE tab_logs.tab_id = ? ORDER BY tab_logs.n`,
  deleteTabLogs: "DELETE FROM tab_logs WHERE tab_id = ?",

  // Rows. A segment of a log is one source and a range of seqs.
  ownTail: "SELECT max(seq) AS tail FROM chunks WHERE log_id = ?",
  insertChunk: `INSERT INTO chunks (log_id, seq, id, term, turn_id, step, role, type, data_json, created_at, by, call_id)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (log_id, id) DO NOTHING`,
  /** A row behind the tail that is given last, as long as the fence holds. The same tail as in `tabColumns`. */
  insertNext: `INSERT INTO chunks (log_id, seq, id, term, turn_id, step, role, type, data_json, created_at, by, call_id)
    SELECT log_id, ?, ?, term, ?, ?, ?, ?, ?, ?, ?, ? FROM tabs WHERE id = ? AND term = ? AND log_id = ?
    AND ? = coalesce((SELECT max(seq) FROM chunks WHERE chunks.log_id = tabs.log_id),
      (SELECT parent_seq FROM logs WHERE logs.id = tabs.log_id)) ON CONFLICT (log_id, id) DO NOTHING`,
  rowsUp: `SELECT ${frameColumns} FROM chunks WHERE log_id = ? AND seq BETWEEN ? AND ? ORDER BY seq LIMIT ?`,
  rowsDown: `SELECT ${frameColumns} FROM chunks WHERE log_id = ? AND seq BETWEEN ? AND ? ORDER BY seq DESC LIMIT ?`,
  rowAt: `SELECT ${frameColumns} FROM chunks WHERE log_id = ? AND seq = ?`,
  rowById: `SELECT ${frameColumns} FROM chunks WHERE log_id = ? AND id = ?`,
  seqOfId: "SELECT seq FROM chunks WHERE log_id = ? AND id = ?",
  termAt: "SELECT term FROM chunks WHERE log_id = ? AND seq = ?",
  newestOfCall: `SELECT seq, type, turn_id, step FROM chunks WHERE log_id = ? AND call_id = ? AND seq BETWEEN ? AND ?
    ORDER BY seq DESC LIMIT 1`,
  /** The same test as \`closesCall\`. */
  closesCall: `SELECT 1 AS found FROM chunks WHERE log_id = ? AND seq BETWEEN ? AND ? AND role <> 'system'
    AND (turn_id <> ? OR step > ?) LIMIT 1`,
  turnsDown: `SELECT seq, turn_id, type = 'system' AND json_extract(data_json, '$.kind') = 'turn-end' AS ends FROM chunks
    WHERE log_id = ? AND seq BETWEEN ? AND ? AND turn_id <> '' ORDER BY seq DESC LIMIT ?`,

  // The bill.
  insertBill: `INSERT INTO bills (${billColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  /** By the index of times: in the order of `n` it would walk the whole table when little of it is recent. */
  bills: `SELECT ${billColumns} FROM bills WHERE ${billRange} ORDER BY +n DESC LIMIT ?`,
  billsOfTab: `SELECT ${billColumns} FROM bills WHERE tab_id = ? AND ${billRange} ORDER BY n DESC LIMIT ?`,
  billsOfTurn: `SELECT ${billColumns} FROM bills WHERE tab_id = ? AND turn_id = ? AND ${billRange} ORDER BY n DESC LIMIT ?`,
  billsOfLog: `SELECT ${billColumns} FROM bills WHERE log_id = ? AND ${billRange} ORDER BY seq DESC LIMIT ?`,
  billSums: `SELECT ${billSumColumns} FROM bills WHERE at >= ? AND at < ? ${billGroups}`,
  /** What all of a tab's bill adds up to, without reading the bill. */
  billTotals: `SELECT ${billTotalColumns} FROM bill_totals ORDER BY tab_id, model, purpose`,
  billTotalsOfTab: `SELECT ${billTotalColumns} FROM bill_totals WHERE tab_id = ? ORDER BY model, purpose`,
  billTotal: `SELECT ${billTotalColumns} FROM bill_totals WHERE tab_id = ? AND model = ? AND purpose = ?`,
  putBillTotal: `INSERT OR REPLACE INTO bill_totals (${billTotalColumns})
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  billSumsOfTab: `SELECT ${billSumColumns} FROM bills WHERE tab_id = ? AND at >= ? AND at < ? ${billGroups}`,

  billSumsOfTurn: `SELECT ${billSumColumns} FROM bills WHERE tab_id = ? AND turn_id = ? AND at >= ? AND at < ?
    ${billGroups}`,
  requestBefore: `SELECT seq FROM chunks WHERE log_id = ? AND seq < ? AND type = 'system'
    AND json_extract(data_json, '$.kind') = 'request' ORDER BY seq DESC LIMIT 1`,

  // Messages.
  message: `SELECT ${messageColumns} FROM inbox WHERE id = ?`,
  waiting: `SELECT ${messageColumns} FROM inbox WHERE tab_id = ? AND state IN ('queued', 'held') ORDER BY position, rowid`,
  tabsWithWaiting: `SELECT id FROM tabs WHERE EXISTS
    (SELECT 1 FROM inbox WHERE tab_id = tabs.id AND state IN ('queued', 'held')) ORDER BY n`,
  countWaiting: "SELECT count(*) AS waiting FROM inbox WHERE tab_id = ? AND state IN ('queued', 'held')",
  lastPosition: "SELECT max(position) AS position FROM inbox WHERE tab_id = ?",
  putMessage: `INSERT INTO inbox (${messageColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET position = excluded.position, version = excluded.version, state = excluded.state,
    delivery = excluded.delivery, data_json = excluded.data_json, sealed_log_id = excluded.sealed_log_id,
    sealed_seq = excluded.sealed_seq`,
  deleteMessages: "DELETE FROM inbox WHERE tab_id = ?",

  // Purge.
  startPurge: "INSERT INTO purging (now) VALUES (1)",
  keepParents: `INSERT INTO former_parents (tab_id, parent_id)
    SELECT id, parent_id FROM tabs WHERE parent_id IS NOT NULL AND ?1 IN (id, parent_id)`,
  formerParents: "SELECT tab_id, parent_id FROM former_parents ORDER BY rowid",
  endPurge: "DELETE FROM purging",
  deadLogs: "SELECT id FROM logs WHERE id NOT IN (SELECT log_id FROM tab_logs)",
  /** The highest seq of a log's own rows that a living log shares. */
  sharedUpTo: `SELECT max(segments.hi) AS hi FROM segments
    JOIN tab_logs ON tab_logs.log_id = segments.log_id WHERE segments.source_id = ?`,
  deleteRowsAfter: "DELETE FROM chunks WHERE log_id = ? AND seq > ?",

  // Blobs, settings, keys.
  blob: "SELECT blob, media_type, size FROM blobs WHERE blob = ?",
  insertBlob:
    "INSERT INTO blobs (blob, media_type, size, created_at) VALUES (?, ?, ?, ?) ON CONFLICT (blob) DO NOTHING",
  setting: "SELECT value FROM settings WHERE key = ?",
  settings: "SELECT key, value FROM settings ORDER BY key",
  putSetting: "INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)",
  removeSetting: "DELETE FROM settings WHERE key = ?",
  keys: `SELECT api_keys.key_id, provider, api_key, base_url, imported_at, updated_at FROM api_keys
    LEFT JOIN key_addresses ON key_addresses.key_id = api_keys.key_id ORDER BY api_keys.key_id`,
  putKey: `INSERT OR REPLACE INTO api_keys (key_id, provider, api_key, imported_at, updated_at)
    VALUES (?, ?, ?, ?, ?)`,
  removeKey: "DELETE FROM api_keys WHERE key_id = ?",
  putKeyAddress: "INSERT OR REPLACE INTO key_addresses (key_id, base_url) VALUES (?, ?)",
  removeKeyAddress: "DELETE FROM key_addresses WHERE key_id = ?",
} as const;

export type Statements = Readonly<Record<keyof typeof texts, Statement>>;

export function prepareStatements(database: Database): Statements {
  const entries = Object.entries(texts).map(([name, sql]) => [name, database.prepare(sql)] as const);
  // `fromEntries` forgets which names went in; they are those of `texts`, one for one.
  return Object.fromEntries(entries) as Statements;
}
