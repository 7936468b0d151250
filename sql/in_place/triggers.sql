-- In place: every write of a transcript gives it a new stamp. These triggers call no function of ours and touch no virtual table, so
-- every connection can write, with the extension or without.
--
-- A connection with the extension indexes the change first (temp_triggers.sql: SQLite fires TEMP triggers before others) and leaves a note
-- of it, `applied_seq` and `applied_stamp`: then the transcript stays in step. If the order were ever another, it would merely be behind.
CREATE TRIGGER main.session_search_insert AFTER INSERT ON transcript_events WHEN typeof(new.session_id) = 'text' BEGIN
  INSERT INTO session_search_transcript(session_id, source_stamp) VALUES(new.session_id, random())
  ON CONFLICT(session_id) DO UPDATE SET
    source_stamp = CASE WHEN applied_seq = new.seq THEN applied_stamp ELSE random() END,
    indexed_stamp = CASE WHEN applied_seq = new.seq THEN applied_stamp ELSE indexed_stamp END,
    applied_seq = NULL;
END;
CREATE TRIGGER main.session_search_update AFTER UPDATE ON transcript_events WHEN typeof(new.session_id) = 'text' BEGIN
  INSERT INTO session_search_transcript(session_id, source_stamp) VALUES(new.session_id, random())
  ON CONFLICT(session_id) DO UPDATE SET
    source_stamp = CASE WHEN applied_seq = new.seq THEN applied_stamp ELSE random() END,
    indexed_stamp = CASE WHEN applied_seq = new.seq THEN applied_stamp ELSE indexed_stamp END,
    applied_seq = NULL;
END;
-- The transcript that an event leaves, by deletion or for another one.
CREATE TRIGGER main.session_search_move AFTER UPDATE OF session_id ON transcript_events WHEN old.session_id IS NOT new.session_id BEGIN
  UPDATE session_search_transcript SET
    source_stamp = CASE WHEN applied_seq = old.seq THEN applied_stamp ELSE random() END,
    indexed_stamp = CASE WHEN applied_seq = old.seq THEN applied_stamp ELSE indexed_stamp END,
    applied_seq = NULL
  WHERE session_id = old.session_id;
END;
CREATE TRIGGER main.session_search_delete AFTER DELETE ON transcript_events BEGIN
  UPDATE session_search_transcript SET
    source_stamp = CASE WHEN applied_seq = old.seq THEN applied_stamp ELSE random() END,
    indexed_stamp = CASE WHEN applied_seq = old.seq THEN applied_stamp ELSE indexed_stamp END,
    applied_seq = NULL
  WHERE session_id = old.session_id;
END;
