-- The transcripts of a database made by standalone.sql.
SELECT
  s.session_id, s.session_key, s.agent_id, s.parent_session_key, s.spawned_by, s.owner_session_key,
  0 AS superseded,
  NULL AS previous_session_id,
  0 AS current,
  NULL AS generation,
  NULL AS updated_at
FROM main.sessions s
