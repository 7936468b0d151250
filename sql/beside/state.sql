-- Beside: the state of each transcript of `s` (the SELECT of an adapter's sessions.sql), from what OpenClaw moves on with every change.
SELECT s.*,
  (SELECT count(*) FROM main.transcript_events e WHERE e.session_id = s.session_id) AS events,
  (SELECT max(e.seq) FROM main.transcript_events e WHERE e.session_id = s.session_id) AS last_seq,
  ifnull(s.updated_at, '') || '' AS changed
FROM s
