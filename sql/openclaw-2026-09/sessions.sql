-- The transcripts of an OpenClaw agent database, 2026.9 (schema 23): one row for each session window.
-- A window that a rewind replaced is superseded: its successor starts with a copy of it and then leaves the part that was rewound
-- away. `reason` says so where OpenClaw fills it; where it is empty, sharing events tells a rewind from a reset or rollover.
SELECT
  w.session_id,
  w.session_key,
  CASE WHEN w.session_key NOT LIKE 'agent:%' THEN m.agent_id END AS agent_id, -- a scoped key names its agent itself
  coalesce(n.parent_session_key, w.parent_session_key) AS parent_session_key,
  coalesce(n.spawned_by, w.spawned_by) AS spawned_by,
  CASE WHEN instr(n.entry_json, '"ownerSessionKey"') AND json_valid(n.entry_json)
    THEN json_extract(n.entry_json, '$.ownerSessionKey') END AS owner_session_key,
  w.session_id IS NOT n.current_session_id AND w.session_id IN (
    SELECT p.session_id FROM session_windows s JOIN session_windows p ON p.session_id = s.previous_session_id AND p.session_key = s.session_key
    WHERE s.reason = 'rewind' OR s.reason IS NULL AND EXISTS (
      SELECT 1 FROM transcript_event_identities a JOIN transcript_event_identities b ON b.session_id = s.session_id AND b.event_id = a.event_id
      WHERE a.session_id = p.session_id)
  ) AS superseded,
  (SELECT count(*) FROM transcript_events e WHERE e.session_id = w.session_id) AS events,
  (SELECT max(e.seq) FROM transcript_events e WHERE e.session_id = w.session_id) AS last_seq,
  ifnull(w.transcript_updated_at, '') || '' AS changed,
  r.generation AS generation,
  w.previous_session_id AS previous_session_id,
  w.session_id IS n.current_session_id AS current
FROM session_windows w
LEFT JOIN session_nodes n ON n.session_key = w.session_key
LEFT JOIN transcript_rewrite_watermarks r ON r.session_id = w.session_id
LEFT JOIN schema_meta m ON m.meta_key = 'primary'
