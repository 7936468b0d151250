-- In place: the state of each transcript of `s` (the SELECT of an adapter's sessions.sql), from the stamp that the triggers give it.
-- `made` stands for a transcript that no trigger has met yet. The highest seq is good enough for "how many".
SELECT s.*,
  ifnull((SELECT max(e.seq) FROM main.transcript_events e WHERE e.session_id = s.session_id) + 1, 0) AS events,
  NULL AS last_seq,
  ifnull(t.source_stamp, (SELECT m.value FROM main.session_search_meta m WHERE m.key = 'made')) AS changed
FROM s LEFT JOIN main.session_search_transcript t ON t.session_id = s.session_id
