-- The transcripts of a database made by standalone.sql. It keeps no stamp of its own, so the content is the stamp.
SELECT
  s.session_id, s.session_key, s.agent_id, s.parent_session_key, s.spawned_by, s.owner_session_key,
  0 AS superseded,
  (SELECT count(*) FROM transcript_events e WHERE e.session_id = s.session_id) AS events,
  (SELECT max(e.seq) FROM transcript_events e WHERE e.session_id = s.session_id) AS last_seq,
  (SELECT session_search_stamp(e.seq, e.event_json, e.created_at) FROM transcript_events e WHERE e.session_id = s.session_id) AS changed,
  NULL AS generation,
  NULL AS previous_session_id,
  0 AS current
FROM sessions s
