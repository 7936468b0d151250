-- The transcripts of an OpenClaw agent database, 2026.7 (schema 8): one row for each physical session. Lineage may stand in the
-- columns or in the session entry.
SELECT
  s.session_id,
  s.session_key,
  CASE WHEN s.session_key NOT LIKE 'agent:%' THEN m.agent_id END AS agent_id, -- a scoped key names its agent itself
  coalesce(s.parent_session_key, json_extract(j.entry, '$.parentSessionKey')) AS parent_session_key,
  coalesce(s.spawned_by, json_extract(j.entry, '$.spawnedBy')) AS spawned_by,
  json_extract(j.entry, '$.ownerSessionKey') AS owner_session_key,
  0 AS superseded,
  NULL AS previous_session_id,
  0 AS current,
  NULL AS generation,
  s.transcript_updated_at AS updated_at
FROM main.sessions s
LEFT JOIN (SELECT session_key, CASE WHEN json_valid(entry_json) THEN entry_json END AS entry FROM main.session_entries) j
  ON j.session_key = s.session_key
LEFT JOIN main.schema_meta m ON m.meta_key = 'primary'
