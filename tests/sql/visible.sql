-- session_visible(session_key, caller [, policy])
.load ./session_search
.mode list
SELECT session_search_open('openclaw-agent.sqlite'), session_search_reconcile();
.echo on
SELECT session_visible('agent:main:main', 'agent:main:main');
-- The main session of an agent sees all of it, another one itself and what it started.
SELECT session_visible('agent:main:cron:daily-brief', 'agent:main:main');
SELECT session_visible('agent:main:main', 'agent:main:cron:daily-brief');
SELECT session_visible('agent:main:cron:daily-brief', 'agent:main:cron:daily-brief');
-- Policies, from narrow to wide.
SELECT v.value, session_visible('agent:main:cron:daily-brief', 'agent:main:discord:group:777', json_object('visibility', v.value))
FROM json_each('["self","tree","agent","all"]') v ORDER BY v.key;
SELECT session_visible('agent:main:cron:daily-brief', 'agent:main:main', '{"sandboxed":true}');
-- A session that the database does not hold, a missing caller.
SELECT session_visible('agent:main:no:such', 'agent:main:main');
SELECT session_visible('agent:main:main', '');
SELECT session_visible('agent:main:main', NULL);
SELECT session_visible(NULL, 'agent:main:main') IS NULL;
-- What is not understood is an error.
SELECT session_visible('agent:main:main', 'agent:main:main', '{"visibility":"everything"}');
SELECT session_visible('agent:main:main', 'agent:main:main', '{"visible":"all"}');
SELECT session_visible('agent:main:main', 'agent:main:main', '{"sandboxed":1}');
SELECT session_visible('agent:main:main', 'agent:main:main', 'all');
SELECT session_visible(1, 'agent:main:main');
