-- In place, on every connection with the extension: each change is indexed in the statement that makes it. Only keys are passed, so that a
-- renamed column breaks nothing; TOKEN is a number of the connection, so that nobody else calls this by mistake.
CREATE TEMP TRIGGER session_search_apply_insert AFTER INSERT ON main.transcript_events BEGIN
  SELECT session_search_apply(TOKEN, NULL, NULL, new.session_id, new.seq);
END;
CREATE TEMP TRIGGER session_search_apply_update AFTER UPDATE ON main.transcript_events BEGIN
  SELECT session_search_apply(TOKEN, old.session_id, old.seq, new.session_id, new.seq);
END;
CREATE TEMP TRIGGER session_search_apply_delete AFTER DELETE ON main.transcript_events BEGIN
  SELECT session_search_apply(TOKEN, old.session_id, old.seq, NULL, NULL);
END;
