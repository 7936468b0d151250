-- What `make demo` shows first: the sqlite3 shell, an index file, and an OpenClaw agent database that is only read.
.mode box --wrap 70 --wordwrap on
.headers on
.echo on

.load ./session_search
SELECT session_search_open('openclaw-agent.sqlite');

-- 1. Words. The first search indexes what it finds in the database.
SELECT session_key, role, excerpt FROM sessions_search('proxy restarts', 'agent:main:main');

-- 2. Accents: zurich finds Zürich, lodz finds Łódź.
SELECT session_key, role, excerpt FROM sessions_search('zurich lodz', 'agent:main:main');

-- 3. Chinese: a part of a sentence that has no spaces.
SELECT session_key, role, excerpt FROM sessions_search('门票', 'agent:main:main');

-- 4. A secret that somebody pasted: the message is found, the secret is masked.
SELECT session_key, role, excerpt FROM sessions_search('vaultword key bot', 'agent:main:main');

-- The same as JSON, as an agent gets it.
SELECT sessions_search_json('zeppelin dashboard', 'agent:main:main') AS answer;
