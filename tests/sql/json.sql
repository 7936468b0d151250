-- sessions_search_json(query, caller [, options])
.load ./session_search
.mode list
SELECT session_search_open('openclaw-agent.sqlite'), session_search_reconcile();
.echo on
SELECT json_set(sessions_search_json('zurich nine', 'agent:main:main'), '$.results[0].score', 0);
SELECT sessions_search_json('nosuchword', 'agent:main:main');
SELECT sessions_search_json('zurich', NULL);
SELECT sessions_search_json(NULL, 'agent:main:main') IS NULL;
-- `truncated` only where there was more.
SELECT json_extract(a, '$.truncated'), json_array_length(a, '$.results')
FROM (SELECT sessions_search_json('pelican', 'agent:main:main', '{"limit":5}') AS a UNION ALL
      SELECT sessions_search_json('pelican', 'agent:main:main', '{"limit":6}')) ORDER BY 2;
-- Best first: higher scores before lower ones.
SELECT min(later.value ->> 'score' <= earlier.value ->> 'score')
FROM (SELECT sessions_search_json('the', 'agent:main:main', '{"limit":25}') AS a), json_each(a, '$.results') earlier
JOIN json_each(a, '$.results') later ON later.key = earlier.key + 1 ORDER BY 1;
-- The rows of sessions_search are the results of the object.
SELECT count(*) FROM (
  SELECT value ->> 'messageId', value ->> 'snippet', value ->> 'timestamp' FROM json_each(sessions_search_json('the', 'agent:main:main'), '$.results')
  EXCEPT SELECT message_id, excerpt, timestamp FROM sessions_search('the', 'agent:main:main')) ORDER BY 1;
