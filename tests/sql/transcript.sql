-- transcript_text, transcript_role, transcript_message_id, transcript_timestamp, transcript_branch
.load ./session_search
.mode list
.nullvalue NULL
.echo on
CREATE TABLE events(seq INTEGER, event);
INSERT INTO events VALUES
  (1, '{"type":"message","id":"a","parentId":null,"timestamp":"2026-07-10T08:00:00.000Z","message":{"role":"user","content":"first question"}}'),
  (2, '{"type":"message","id":"b","parentId":"a","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hidden"},{"type":"text","text":"an answer"}]}}'),
  (3, '{"type":"message","id":"c","parentId":"a","message":{"role":"user","content":"another question"}}'),
  (4, '{"type":"message","id":"d","parentId":"c","message":{"role":"toolResult","content":[{"type":"text","text":"output"}]}}'),
  (5, 'not JSON'),
  (6, NULL);
SELECT seq, transcript_message_id(event), transcript_role(event), transcript_timestamp(event, 7), transcript_text(event) FROM events ORDER BY seq;
-- The answer 2 is on a dead branch; 4 is on the active one, although it is not searchable.
SELECT transcript_branch(seq, event) FROM events ORDER BY 1;
SELECT transcript_branch(seq, event) FROM (SELECT * FROM events ORDER BY seq DESC) ORDER BY 1;
SELECT transcript_branch(seq, event) FROM events WHERE seq > 100 ORDER BY 1;
SELECT transcript_text(7);
SELECT transcript_text(x'00ff');
SELECT transcript_timestamp(event, 'yesterday') FROM events WHERE seq = 1 ORDER BY 1;
SELECT transcript_branch('one', event) FROM events WHERE seq = 1 ORDER BY 1;
SELECT transcript_branch(NULL, event) FROM events WHERE seq = 1 ORDER BY 1;
