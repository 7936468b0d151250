-- The index in the application's own database: in, used, out.
.load ./session_search
.headers on
PRAGMA journal_mode = wal;
PRAGMA foreign_keys = on;
.read standalone.sql
.echo on
SELECT session_search_install();
SELECT type, name FROM sqlite_schema WHERE name LIKE 'session_search_%' AND name NOT LIKE 'session_search_fts_%' ORDER BY type, name;
-- What this connection stores is found at once, in the transaction that stores it.
INSERT INTO sessions(session_id, session_key, created_at) VALUES('s1', 'agent:main:main', 1), ('s2', 'agent:main:telegram:direct:7', 2);
INSERT INTO transcript_events(session_id, seq, event_json, created_at) VALUES
  ('s1', 1, '{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"where is the red kite"}}', 100),
  ('s1', 2, '{"type":"message","id":"b","parentId":"a","message":{"role":"assistant","content":"the red kite is in the shed"}}', 200);
SELECT message_id, seq, excerpt FROM sessions_search('kite', 'agent:main:main') ORDER BY seq;
BEGIN;
INSERT INTO transcript_events VALUES
  ('s1', 3, '{"type":"message","id":"c","parentId":"b","message":{"role":"user","content":"then bring the kite"}}', 300);
SELECT message_id FROM sessions_search('kite', 'agent:main:main') ORDER BY message_id;
ROLLBACK;
SELECT message_id FROM sessions_search('kite', 'agent:main:main') ORDER BY message_id;
-- A rewind: the conversation stands on the first message again. What came after it is gone, and comes back with the next control.
INSERT INTO transcript_events VALUES('s1', 3, '{"type":"leaf","id":"l1","parentId":"b","targetId":"a"}', 300);
SELECT message_id FROM sessions_search('kite', 'agent:main:main') ORDER BY message_id;
INSERT INTO transcript_events VALUES('s1', 4, '{"type":"leaf","id":"l2","parentId":"l1","targetId":"b"}', 400);
SELECT message_id FROM sessions_search('kite', 'agent:main:main') ORDER BY message_id;
-- A change, and a deletion by cascade.
UPDATE transcript_events SET event_json = replace(event_json, 'kite', 'balloon') WHERE seq = 2;
SELECT message_id FROM sessions_search('balloon', 'agent:main:main') ORDER BY message_id;
DELETE FROM sessions WHERE session_id = 's1';
SELECT count(*) FROM sessions_search('kite', 'agent:main:main') ORDER BY 1;
SELECT host, attached, transcripts, behind, messages, broken FROM session_search_status;
-- A connection without the extension writes as ever, even one that trusts nothing.
.open index.sqlite
PRAGMA trusted_schema = off;
INSERT INTO transcript_events VALUES('s2', 1, '{"type":"message","id":"d","message":{"role":"user","content":"a kite for you"}}', 500);
SELECT session_search_version();
-- With the extension it is known to be behind, until a search or reconcile has indexed it.
.open index.sqlite
.load ./session_search
SELECT behind, messages FROM session_search_status;
SELECT session_search_reconcile();
SELECT behind, messages FROM session_search_status;
SELECT message_id FROM sessions_search('kite', 'agent:main:telegram:direct:7') ORDER BY message_id;
-- To install again changes nothing; and the index is this database's own.
SELECT session_search_install();
SELECT session_search_open('openclaw-agent.sqlite');
-- Out again: nothing is left but what the application has stored.
SELECT session_search_uninstall();
SELECT session_search_uninstall();
SELECT name FROM sqlite_schema WHERE name LIKE '%session_search%' ORDER BY name;
SELECT session_id, seq FROM transcript_events ORDER BY session_id, seq;
SELECT message_id FROM sessions_search('kite', 'agent:main:main') ORDER BY message_id;
-- A database that belongs to OpenClaw is left alone.
.open openclaw-agent.sqlite
.load ./session_search
SELECT session_search_install();
SELECT session_search_install('{"addopt":true}');
SELECT count(*) FROM sqlite_schema WHERE name LIKE 'session_search%' ORDER BY 1;
