-- session_search_match(query [, mode])
.load ./session_search
.mode list
.echo on
SELECT session_search_match('reverse proxy');
SELECT session_search_match('"reverse proxy" config.json');
SELECT session_search_match('reverse proxy', 'any');
SELECT session_search_match('reverse prox', 'prefix');
SELECT session_search_match('prox* -- +');
SELECT session_search_match('this OR that other');
SELECT session_search_match('text: NEAR(a b) AND NOT ^c');
SELECT session_search_match('same same SAME');
SELECT session_search_match(NULL) IS NULL;
SELECT session_search_match('');
SELECT session_search_match('...');
SELECT session_search_match('a', 'some');
SELECT session_search_match(7);
-- On a table of one's own.
CREATE VIRTUAL TABLE notes USING fts5(body, tokenize = 'session_search');
INSERT INTO notes VALUES('The reverse proxy'), ('A proxy in reverse'), ('Nothing');
SELECT body FROM notes(session_search_match('"reverse proxy"')) ORDER BY body;
SELECT body FROM notes(session_search_match('REVERSE nothing', 'any')) ORDER BY body;
