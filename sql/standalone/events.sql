-- Events ?2 to ?3 of transcript ?1.
SELECT seq, event_json AS event, created_at
FROM main.transcript_events WHERE session_id = ?1 AND seq BETWEEN ?2 AND ?3 ORDER BY seq
