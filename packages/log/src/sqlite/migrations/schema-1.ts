/**
 * Schema 1. Chunks are append-only by trigger: an UPDATE always fails, a DELETE fails outside a purge. Tables that came
 * from the ancestor keep its shapes, so that a database of it can be taken over as it stands; what they lack (base
 * addresses of keys) has a table of its own. A tab's tail is not stored: the rows say it, and so a commit writes one page
 * less.
 */
export const schema1 = `
CREATE TABLE logs (
  id TEXT PRIMARY KEY, parent_id TEXT, parent_seq INTEGER NOT NULL DEFAULT 0, created_at ANY NOT NULL
) STRICT;
CREATE TABLE segments (
  log_id TEXT NOT NULL, lo INTEGER NOT NULL, hi INTEGER, source_id TEXT NOT NULL, PRIMARY KEY (log_id, lo)
) STRICT, WITHOUT ROWID;
CREATE INDEX segments_source ON segments (source_id);

CREATE TABLE chunks (
  log_id TEXT NOT NULL, seq INTEGER NOT NULL, id TEXT NOT NULL, term INTEGER NOT NULL,
  turn_id TEXT NOT NULL, step INTEGER NOT NULL, role TEXT NOT NULL, type TEXT NOT NULL,
  data_json TEXT NOT NULL, created_at ANY NOT NULL, by TEXT, call_id TEXT,
  PRIMARY KEY (log_id, seq), UNIQUE (log_id, id)
) STRICT;
CREATE INDEX chunks_calls ON chunks (log_id, call_id, seq) WHERE call_id IS NOT NULL;
CREATE TABLE purging (now INTEGER NOT NULL) STRICT;
CREATE TRIGGER chunks_never_change BEFORE UPDATE ON chunks
BEGIN SELECT RAISE(ABORT, 'a sealed row never changes'); END;
CREATE TRIGGER chunks_only_purged BEFORE DELETE ON chunks WHEN NOT EXISTS (SELECT 1 FROM purging)
BEGIN SELECT RAISE(ABORT, 'a sealed row is only removed by a purge'); END;

CREATE TABLE tabs (
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, title TEXT NOT NULL, cwd TEXT NOT NULL, model TEXT NOT NULL,
  effort TEXT NOT NULL, permissions TEXT NOT NULL,
  parent_id TEXT REFERENCES tabs (id) ON DELETE SET NULL,
  log_id TEXT NOT NULL REFERENCES logs (id),
  term INTEGER NOT NULL, seen INTEGER NOT NULL,
  created_at ANY NOT NULL, updated_at ANY NOT NULL, trashed_at ANY
) STRICT;
CREATE INDEX tabs_parent ON tabs (parent_id) WHERE parent_id IS NOT NULL;
CREATE TABLE tab_logs (
  n INTEGER PRIMARY KEY, tab_id TEXT NOT NULL REFERENCES tabs (id), log_id TEXT NOT NULL UNIQUE REFERENCES logs (id)
) STRICT;
CREATE INDEX tab_logs_tab ON tab_logs (tab_id);

CREATE TABLE inbox (
  id TEXT PRIMARY KEY, tab_id TEXT NOT NULL REFERENCES tabs (id), position REAL NOT NULL, version INTEGER NOT NULL,
  state TEXT NOT NULL, delivery TEXT NOT NULL, data_json TEXT NOT NULL, by TEXT NOT NULL, at ANY NOT NULL,
  sealed_log_id TEXT, sealed_seq INTEGER
) STRICT;
CREATE INDEX inbox_position ON inbox (tab_id, position);
CREATE INDEX inbox_waiting ON inbox (tab_id, position) WHERE state IN ('queued', 'held');

CREATE TABLE blobs (
  blob TEXT PRIMARY KEY, media_type TEXT NOT NULL, size INTEGER NOT NULL, created_at ANY NOT NULL
) STRICT;
CREATE TABLE key_addresses (key_id TEXT PRIMARY KEY, base_url TEXT NOT NULL) STRICT;
CREATE TABLE origin (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

CREATE TABLE IF NOT EXISTS settings (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS credentials (
  key_id TEXT PRIMARY KEY, provider TEXT NOT NULL, access_token TEXT, refresh_token TEXT, expires_at INTEGER,
  subscription_type TEXT, source_file TEXT, imported_at INTEGER, updated_at INTEGER
);
CREATE TABLE IF NOT EXISTS api_keys (
  key_id TEXT PRIMARY KEY, provider TEXT NOT NULL, api_key TEXT NOT NULL, imported_at INTEGER, updated_at INTEGER
);
CREATE TABLE IF NOT EXISTS usage_cache (
  key_id TEXT PRIMARY KEY, provider TEXT NOT NULL, cached_at INTEGER NOT NULL, report_json TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS wake_schedule (hour INTEGER PRIMARY KEY, next_wake_at INTEGER);
`;
