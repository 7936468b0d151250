-- An application with tables of the extension's own layout, and its index file.
.open application.sqlite
PRAGMA journal_mode = wal;
.read standalone.sql
INSERT INTO sessions(session_id, session_key, created_at) VALUES('s1', 'agent:main:main', 1), ('s2', 'agent:main:telegram:direct:7', 2);
INSERT INTO transcript_events(session_id, seq, event_json, created_at) VALUES
  ('s1', 1, '{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"where is the red kite"}}', 100),
  ('s1', 2, '{"type":"message","id":"b","parentId":"a","message":{"role":"assistant","content":"the red kite is in the shed"}}', 200),
  ('s2', 1, '{"type":"message","id":"c","parentId":null,"message":{"role":"user","content":"a kite for you"}}', 300);
.open index.sqlite
.load ./session_search
.mode list
.echo on
SELECT session_search_open('application.sqlite');
SELECT message_id, seq, timestamp, excerpt FROM sessions_search('kite', 'agent:main:main') ORDER BY message_id;
SELECT message_id FROM sessions_search('kite', 'agent:main:telegram:direct:7') ORDER BY message_id;
-- A rewind: the conversation goes on from the first message. What was said after it is gone at once.
ATTACH 'application.sqlite' AS application;
INSERT INTO application.transcript_events VALUES
  ('s1', 3, '{"type":"message","id":"d","parentId":"a","message":{"role":"assistant","content":"a red kite has flown off"}}', 400);
SELECT message_id FROM sessions_search('kite red', 'agent:main:main') ORDER BY message_id;
-- A change, a deletion.
UPDATE application.transcript_events SET event_json = replace(event_json, 'kite', 'balloon') WHERE session_id = 's2';
SELECT message_id FROM sessions_search('kite', 'agent:main:main') ORDER BY message_id;
SELECT message_id FROM sessions_search('balloon', 'agent:main:main') ORDER BY message_id;
DELETE FROM application.sessions WHERE session_id = 's2';
DELETE FROM application.transcript_events WHERE session_id = 's2';
SELECT message_id FROM sessions_search('balloon', 'agent:main:main') ORDER BY message_id;
SELECT host, transcripts, behind, messages FROM session_search_status;
