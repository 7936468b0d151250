-- What a wrong call says.
.load ./session_search
.mode list
.echo on
SELECT session_search_open('missing.sqlite');
SELECT session_search_open(1);
SELECT session_search_open('standalone.sql');
SELECT session_search_open('index.sqlite');
SELECT session_search_open('openclaw-agent.sqlite');
SELECT session_search_reconcile();
SELECT sessions_search_json('', 'agent:main:main');
SELECT sessions_search_json('--', 'agent:main:main');
SELECT sessions_search_json(replace(hex(zeroblob(2500)), '0', 'a'), 'agent:main:main');
SELECT sessions_search_json(1, 'agent:main:main');
SELECT sessions_search_json('a', 'agent:main:main', '[]');
SELECT sessions_search_json('a', 'agent:main:main', '{');
SELECT sessions_search_json('a', 'agent:main:main', '{"Limit":1}');
SELECT sessions_search_json('a', 'agent:main:main', '{"limit":0}');
SELECT sessions_search_json('a', 'agent:main:main', '{"limit":"5"}');
SELECT sessions_search_json('a', 'agent:main:main', '{"match":"some"}');
SELECT sessions_search_json('a', 'agent:main:main', '{"order":"oldest"}');
SELECT sessions_search_json('a', 'agent:main:main', '{"roles":[]}');
SELECT sessions_search_json('a', 'agent:main:main', '{"roles":["tool"]}');
SELECT sessions_search_json('a', 'agent:main:main', '{"since":"yesterday"}');
SELECT sessions_search_json('a', 'agent:main:main', '{"sessionKey":7}');
SELECT sessions_search_json('a', 'agent:main:main', '{"policy":{"visibility":"global"}}');
SELECT * FROM sessions_search ORDER BY 1;
SELECT * FROM sessions_search('a') ORDER BY 1;
SELECT * FROM sessions_search(1, 'agent:main:main') ORDER BY 1;
SELECT session_search_reconcile(-1);
SELECT session_search_reconcile('soon');
-- The host's own database is no place for an index.
.open openclaw-agent.sqlite
.load ./session_search
SELECT session_search_open('openclaw-agent.sqlite');
