-- What `make demo` shows second: a database of one's own, which holds its index.
.mode box --wrap 70 --wordwrap on
.headers on
.read standalone.sql
.echo on

.load ./session_search
SELECT session_search_install();
INSERT INTO sessions(session_id, session_key, created_at) VALUES('s1', 'agent:main:main', 1784000000000);

-- 1. A message is found by the next statement.
INSERT INTO transcript_events(session_id, seq, event_json, created_at) VALUES('s1', 1,
  '{"type":"message","id":"m1","parentId":null,"message":{"role":"user","content":"Where did we see the red kite?"}}', 1784000000000);
SELECT role, excerpt FROM sessions_search('kite', 'agent:main:main');

-- 2. In a transaction it is found before the commit, and gone after a rollback.
BEGIN;
INSERT INTO transcript_events(session_id, seq, event_json, created_at) VALUES('s1', 2,
  '{"type":"message","id":"m2","parentId":"m1","message":{"role":"assistant","content":"The kite was over the harbour."}}', 1784000001000);
SELECT role, excerpt FROM sessions_search('harbour', 'agent:main:main');
ROLLBACK;
SELECT count(*) AS found_after_the_rollback FROM sessions_search('harbour', 'agent:main:main');

-- 3. A rewind: the conversation goes on from the first message, and what was said after it is no longer found.
INSERT INTO transcript_events(session_id, seq, event_json, created_at) VALUES
  ('s1', 2, '{"type":"message","id":"m2","parentId":"m1","message":{"role":"assistant","content":"The kite was over the lighthouse."}}', 1784000001000),
  ('s1', 3, '{"type":"leaf","id":"l1","parentId":"m2","targetId":"m1"}', 1784000002000),
  ('s1', 4, '{"type":"message","id":"m3","parentId":"m1","message":{"role":"assistant","content":"The kite was over the old mill."}}', 1784000003000);
SELECT role, excerpt FROM sessions_search('kite', 'agent:main:main', '{"order":"recent"}');

-- 4. A program without the extension changes a message. The next search has seen it.
.shell sqlite3 application.sqlite "UPDATE transcript_events SET event_json = replace(event_json, 'old mill', 'new bridge') WHERE seq = 4"
SELECT count(*) AS found_by_the_old_words FROM sessions_search('mill', 'agent:main:main');
SELECT role, excerpt FROM sessions_search('bridge', 'agent:main:main');
SELECT host, attached, behind, messages FROM session_search_status;
