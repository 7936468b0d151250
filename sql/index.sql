-- The index: everything of ours, but the FTS5 table. All names begin with `session_search_`.

-- `format` the versions of what made this index, `identity` whose transcripts it holds, `state` a random token that every
-- transaction of ours replaces, `made` one that changes when it is made anew: the stamp of what no trigger has met since. In place also `events`, the
-- CREATE of the host's table.
CREATE TABLE main.session_search_meta(key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID;

-- One row for each transcript. It is in step while `indexed_stamp` equals the stamp of its rows: beside, the one that the host gives for it; in
-- place `source_stamp`, which every write of its rows replaces. `messages` and `tokens` sum up its message rows, `unreadable` counts events
-- that cannot be read. `applied_seq` and `applied_stamp` are set only inside a write: see in_place/triggers.sql.
CREATE TABLE main.session_search_transcript(
  id INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL UNIQUE,
  source_stamp TEXT NOT NULL,
  indexed_stamp TEXT,
  applied_seq INTEGER,
  applied_stamp TEXT,
  messages INTEGER NOT NULL DEFAULT 0,
  tokens INTEGER NOT NULL DEFAULT 0,
  unreadable INTEGER NOT NULL DEFAULT 0
);

-- One row for each searchable message on the active branch: `id` = transcript id << 24 | seq, the rowid of its FTS5 row too.
-- `source_hash` is XXH64 of the event's stored bytes, `timestamp` milliseconds since 1970, `tokens` the length of the text.
CREATE TABLE main.session_search_message(
  id INTEGER PRIMARY KEY,
  message_id TEXT NOT NULL,
  role TEXT NOT NULL,
  timestamp INTEGER NOT NULL,
  source_hash INTEGER NOT NULL,
  tokens INTEGER NOT NULL
);
