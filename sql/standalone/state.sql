-- Beside: the state of each transcript of `s` (the SELECT of sessions.sql). The host moves nothing on, so the content is the state.
SELECT s.*,
  (SELECT count(*) FROM main.transcript_events e WHERE e.session_id = s.session_id) AS events,
  (SELECT max(e.seq) FROM main.transcript_events e WHERE e.session_id = s.session_id) AS last_seq,
  (SELECT session_search_stamp(e.seq, e.event_json, e.created_at) FROM main.transcript_events e WHERE e.session_id = s.session_id) AS changed
FROM s
