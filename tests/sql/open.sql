-- The way from an empty index file to the first search.
.load ./session_search
.headers on
.echo on
SELECT session_search_version();
SELECT key FROM json_each(session_search_debug()) ORDER BY key;
-- Nothing is opened yet.
SELECT host, path, attached, transcripts, behind, messages, unreadable, broken FROM session_search_status;
SELECT * FROM sessions_search('otter', 'agent:main:main') ORDER BY message_id;
SELECT session_search_reconcile();
-- Opening reads the list of sessions; reconcile indexes them.
SELECT session_search_open('openclaw-agent.sqlite');
SELECT host, path, attached, transcripts, behind, messages, unreadable, broken FROM session_search_status;
SELECT session_search_reconcile();
SELECT host, path, attached, transcripts, behind, messages, unreadable, broken FROM session_search_status;
-- With a budget it stops when that is used up; nothing is left here.
SELECT session_search_reconcile(1000);
SELECT session_search_reconcile(0);
-- What it made: tables of its own names only.
SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'session\_search\_%' ESCAPE '\' ORDER BY name;
SELECT key FROM session_search_meta ORDER BY key;
-- Again changes nothing. NULL is no path.
SELECT session_search_open('openclaw-agent.sqlite');
SELECT session_search_open(NULL);
SELECT count(*) FROM sessions_search('otter', 'agent:main:main') ORDER BY 1;
-- A search indexes by itself what is small and new.
.open second.sqlite
.load ./session_search
SELECT session_search_open('openclaw-agent.sqlite');
SELECT count(*) FROM sessions_search('otter', 'agent:main:main') ORDER BY 1;
