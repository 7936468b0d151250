-- For a new application: the tables of the adapter `standalone`. Keep transcripts in them and they can be searched. Best in WAL mode
-- (PRAGMA journal_mode = wal), so that reading and writing do not wait for each other.
--
-- An event is a JSON text (or one zstd frame of it) in the shape that OpenClaw writes; `created_at` is in milliseconds since 1970. A message:
--   {"type":"message","id":"m2","parentId":"m1","message":{"role":"user","content":"where is the red kite"}}
-- docs/events.md tells all of it. PRAGMA foreign_keys = on has to be set on every connection that deletes sessions. `id` is needed; `parentId` names the event that it follows, null for the first. A session key is any text; OpenClaw's have the form
-- agent:<agent>:<the rest>, and what such a caller sees by `policy` depends on it.
CREATE TABLE sessions(
  session_id TEXT PRIMARY KEY NOT NULL,
  session_key TEXT NOT NULL,
  agent_id TEXT,
  parent_session_key TEXT,
  spawned_by TEXT,
  owner_session_key TEXT,
  archived_at INTEGER,
  created_at INTEGER NOT NULL
);
CREATE INDEX sessions_session_key ON sessions(session_key);
CREATE TABLE transcript_events(
  session_id TEXT NOT NULL REFERENCES sessions(session_id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  event_json NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY(session_id, seq)
);
