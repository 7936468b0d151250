-- FTS5 cannot even drop a table of which a part is missing. This gives it what it needs for that.
CREATE TABLE IF NOT EXISTS main.session_search_fts_data(id INTEGER PRIMARY KEY, block BLOB);
CREATE TABLE IF NOT EXISTS main.session_search_fts_idx(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS main.session_search_fts_docsize(id INTEGER PRIMARY KEY, sz BLOB, origin INTEGER);
CREATE TABLE IF NOT EXISTS main.session_search_fts_content(id INTEGER PRIMARY KEY, c0);
CREATE TABLE IF NOT EXISTS main.session_search_fts_config(k PRIMARY KEY, v) WITHOUT ROWID;
INSERT OR REPLACE INTO main.session_search_fts_config(k, v) VALUES('version', 4);
-- No averages, and a structure without segments.
INSERT OR REPLACE INTO main.session_search_fts_data(id, block) VALUES(1, x''), (10, x'00000000000000');
