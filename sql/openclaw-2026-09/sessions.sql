-- The transcripts of an OpenClaw agent database, 2026.9 (schema 23): one row for each session window.
-- A window that a rewind replaced is superseded: its successor starts with a copy of it and then leaves the part that was rewound
-- away. `reason` says so where OpenClaw fills it; where it is empty, sharing events tells a rewind from a reset or rollover. A reset takes
-- `previous_session_id` away from the window that it ends: then every later window of the session that shares events counts.
SELECT
  w.session_id,
  w.session_key,
  CASE WHEN w.session_key NOT LIKE 'agent:%' THEN m.agent_id END AS agent_id, -- a scoped key names its agent itself
  coalesce(n.parent_session_key, w.parent_session_key) AS parent_session_key,
  coalesce(n.spawned_by, w.spawned_by) AS spawned_by,
  CASE WHEN instr(n.entry_json, '"ownerSessionKey"') AND json_valid(n.entry_json)
    THEN json_extract(n.entry_json, '$.ownerSessionKey') END AS owner_session_key,
  CASE WHEN w.session_id IS n.current_session_id THEN 0 ELSE w.session_id IN (
    SELECT p.session_id FROM main.session_windows s JOIN main.session_windows p ON p.session_id = s.previous_session_id AND p.session_key = s.session_key
    WHERE s.reason = 'rewind' OR s.reason IS NULL AND EXISTS (
      SELECT 1 FROM main.transcript_event_identities a JOIN main.transcript_event_identities b ON b.session_id = s.session_id AND b.event_id = a.event_id
      WHERE a.session_id = p.session_id)
    UNION ALL
    SELECT p.session_id FROM main.session_windows s
    JOIN main.session_windows p ON p.session_key = s.session_key AND (p.created_at, p.rowid) < (s.created_at, s.rowid)
    WHERE s.previous_session_id IS NULL AND (s.reason = 'rewind' OR s.reason IS NULL) AND EXISTS (
      SELECT 1 FROM main.transcript_event_identities a JOIN main.transcript_event_identities b ON b.session_id = s.session_id AND b.event_id = a.event_id
      WHERE a.session_id = p.session_id)
  ) END AS superseded,
  w.previous_session_id AS previous_session_id,
  w.session_id IS n.current_session_id AS current,
  r.generation AS generation,
  w.transcript_updated_at AS updated_at
FROM main.session_windows w
LEFT JOIN main.session_nodes n ON n.session_key = w.session_key
LEFT JOIN main.transcript_rewrite_watermarks r ON r.session_id = w.session_id
LEFT JOIN main.schema_meta m ON m.meta_key = 'primary'
