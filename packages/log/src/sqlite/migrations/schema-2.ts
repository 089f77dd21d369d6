/**
 * Schema 2. A tab's own options, and the bill: one line for each `usage` row, with the tab that paid for it. The bill
 * outlives the rows, so a line holds everything but the provider's raw figures. `n` is the order of sealing. Rows that only
 * forks of a purged tab still share are billed to their log's id, for nothing else is left to name that tab. What a tab cost in
 * all is kept added up, so that nobody ever has to read the whole bill.
 */
export const schema2 = `
ALTER TABLE tabs ADD COLUMN options_json TEXT NOT NULL DEFAULT '{}';

CREATE TABLE bills (
  n INTEGER PRIMARY KEY, tab_id TEXT NOT NULL, log_id TEXT NOT NULL, seq INTEGER NOT NULL, turn_id TEXT NOT NULL,
  step INTEGER NOT NULL, at ANY NOT NULL, model TEXT NOT NULL, purpose TEXT,
  fresh ANY, read ANY, write_5m ANY, write_1h ANY, output ANY, reasoning ANY, price ANY, attainable ANY,
  started_at ANY, other_json TEXT NOT NULL,
  UNIQUE (log_id, seq)
) STRICT;
CREATE TABLE bill_totals (
  tab_id TEXT NOT NULL, model TEXT NOT NULL, purpose TEXT NOT NULL, requests ANY NOT NULL, untold ANY NOT NULL,
  fresh ANY NOT NULL, read ANY NOT NULL, write_5m ANY NOT NULL, write_1h ANY NOT NULL, output ANY NOT NULL,
  reasoning ANY NOT NULL, attainable ANY NOT NULL, attained ANY NOT NULL, price ANY NOT NULL, unpriced ANY NOT NULL,
  started_at ANY NOT NULL,
  PRIMARY KEY (tab_id, model, purpose)
) STRICT, WITHOUT ROWID;
CREATE TABLE former_parents (tab_id TEXT PRIMARY KEY, parent_id TEXT NOT NULL) STRICT;
CREATE INDEX bills_turn ON bills (tab_id, turn_id);
CREATE INDEX bills_at ON bills (at);
CREATE TRIGGER bills_never_change BEFORE UPDATE ON bills
BEGIN SELECT RAISE(ABORT, 'a line of the bill never changes'); END;
CREATE TRIGGER bills_never_go BEFORE DELETE ON bills
BEGIN SELECT RAISE(ABORT, 'a line of the bill is never removed'); END;

INSERT INTO bills (tab_id, log_id, seq, turn_id, step, at, model, purpose,
  fresh, read, write_5m, write_1h, output, reasoning, price, attainable, started_at, other_json)
SELECT coalesce((SELECT tab_id FROM tab_logs WHERE tab_logs.log_id = chunks.log_id), chunks.log_id),
  log_id, seq, turn_id, step, created_at, json_extract(data_json, '$.model'), json_extract(data_json, '$.purpose'),
  json_extract(data_json, '$.fresh'), json_extract(data_json, '$.read'),
  json_extract(data_json, '$.write5m'), json_extract(data_json, '$.write1h'),
  json_extract(data_json, '$.output'), json_extract(data_json, '$.reasoning'),
  json_extract(data_json, '$.price'), json_extract(data_json, '$.attainable'),
  json_extract(data_json, '$.startedAt'),
  json_remove(data_json, '$.kind', '$.model', '$.purpose', '$.fresh', '$.read', '$.write5m', '$.write1h', '$.output',
    '$.reasoning', '$.price', '$.attainable', '$.startedAt', '$.raw')
FROM chunks
WHERE type = 'system' AND json_extract(data_json, '$.kind') = 'usage'
ORDER BY rowid;

INSERT INTO bill_totals (tab_id, model, purpose, requests, untold, fresh, read, write_5m, write_1h, output, reasoning,
  attainable, attained, price, unpriced, started_at)
SELECT tab_id, model, coalesce(purpose, 'step'), count(*),
  sum(coalesce(fresh, read, write_5m, write_1h, output, reasoning) IS NULL),
  total(fresh), total(read), total(write_5m), total(write_1h), total(output), total(reasoning),
  total(iif(read IS NULL, NULL, attainable)), total(min(read, attainable)), total(price), sum(price IS NULL),
  min(coalesce(started_at, at))
FROM bills GROUP BY 1, 2, 3;
`;
