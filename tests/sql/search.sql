-- sessions_search(query, caller [, options])
.load ./session_search
.mode list
SELECT session_search_open('openclaw-agent.sqlite'), session_search_reconcile();
.headers on
.echo on
SELECT session_key, session_id, message_id, seq, role, timestamp, excerpt, score > 0
FROM sessions_search('zurich', 'agent:main:main') ORDER BY seq;
.headers off
-- All words, a phrase, any word, the beginning of a word, OR.
SELECT message_id FROM sessions_search('proxy reverse', 'agent:main:main') ORDER BY message_id;
SELECT message_id FROM sessions_search('"proxy reverse"', 'agent:main:main') ORDER BY message_id;
SELECT message_id FROM sessions_search('“reverse proxy”', 'agent:main:main') ORDER BY message_id;
SELECT message_id FROM sessions_search('reverse walrus', 'agent:main:main', '{"match":"any"}') ORDER BY message_id;
SELECT message_id FROM sessions_search('reverse OR walrus', 'agent:main:main') ORDER BY message_id;
SELECT message_id FROM sessions_search('zepp', 'agent:main:main', '{"match":"prefix"}') ORDER BY message_id;
SELECT message_id FROM sessions_search('zepp*', 'agent:main:main') ORDER BY message_id;
SELECT message_id FROM sessions_search('config.json', 'agent:main:main') ORDER BY message_id;
-- Order, limit, roles, time, session.
SELECT message_id, timestamp FROM sessions_search('pelican', 'agent:main:main', '{"order":"recent"}') ORDER BY timestamp DESC;
SELECT message_id, timestamp FROM sessions_search('pelican', 'agent:main:main', '{"order":"recent","limit":2}') ORDER BY timestamp DESC;
SELECT message_id, role FROM sessions_search('pelican', 'agent:main:main', '{"roles":["assistant"]}') ORDER BY message_id;
SELECT message_id FROM sessions_search('pelican', 'agent:main:main', '{"since":1783688733000}') ORDER BY message_id;
SELECT message_id FROM sessions_search('pelican', 'agent:main:main', '{"until":1783688511000}') ORDER BY message_id;
SELECT message_id FROM sessions_search('the', 'agent:main:main', '{"sessionKey":"agent:main:cron:daily-brief"}') ORDER BY message_id;
SELECT message_id FROM sessions_search('the', 'agent:main:main', '{"sessionKey":"agent:main:no:such"}') ORDER BY message_id;
-- Off the active branch, not a message, not there: not found.
SELECT message_id FROM sessions_search('abandonedword OR sideword OR toolresultword OR hiddenthought', 'agent:main:main') ORDER BY message_id;
-- Secrets are masked and cannot be found.
SELECT excerpt FROM sessions_search('vaultword export', 'agent:main:main') ORDER BY message_id;
SELECT excerpt FROM sessions_search('hunter2hunter2hunter2', 'agent:main:main') ORDER BY message_id;
-- Each caller sees its own.
SELECT message_id FROM sessions_search('zurich', 'agent:main:telegram:direct:4242') ORDER BY message_id;
SELECT message_id FROM sessions_search('zurich', 'agent:main:cron:daily-brief') ORDER BY message_id;
SELECT message_id FROM sessions_search('zurich', '') ORDER BY message_id;
SELECT message_id FROM sessions_search('zurich', NULL) ORDER BY message_id;
SELECT message_id FROM sessions_search(NULL, 'agent:main:main') ORDER BY message_id;
-- In a join, and named in WHERE.
SELECT q.word, s.message_id FROM (SELECT 'heron' AS word UNION ALL SELECT 'walrus') q
JOIN sessions_search(q.word, 'agent:main:main') s ORDER BY q.word, s.message_id;
SELECT message_id FROM sessions_search WHERE query = 'walrus' AND caller = 'agent:main:main' ORDER BY message_id;
