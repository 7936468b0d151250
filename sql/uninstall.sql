-- Takes an index out of a database where the extension is lost, with SQLite 3.40 or newer and nothing else:
--   sqlite3 -bail app.sqlite < uninstall.sql
-- A newer sqlite3 shell protects the schema; there:
--   sqlite3 -bail -cmd '.dbconfig defensive off' app.sqlite < uninstall.sql
-- With the extension, call session_search_uninstall() instead.
--
-- Only what session_search_install() has made goes; transcripts are not touched. Let no other program use the database meanwhile. It is one
-- transaction, and running it again changes nothing.
--
-- Before SQLite 3.47 the FTS5 table cannot be dropped without its tokenizer ("no such tokenizer"). It has no pages of its own, so its entry is taken
-- out of the schema; what is left of it then are plain tables. Freed pages are overwritten, so that no word of a message stays in them.
PRAGMA secure_delete = on;
BEGIN IMMEDIATE;
DROP TRIGGER IF EXISTS session_search_insert;
DROP TRIGGER IF EXISTS session_search_update;
DROP TRIGGER IF EXISTS session_search_move;
DROP TRIGGER IF EXISTS session_search_delete;
PRAGMA writable_schema = on;
DELETE FROM sqlite_schema WHERE type = 'table' AND name = 'session_search_fts' AND sql LIKE 'CREATE VIRTUAL TABLE%';
PRAGMA writable_schema = reset;
DROP TABLE IF EXISTS session_search_fts_data;
DROP TABLE IF EXISTS session_search_fts_idx;
DROP TABLE IF EXISTS session_search_fts_content;
DROP TABLE IF EXISTS session_search_fts_docsize;
DROP TABLE IF EXISTS session_search_fts_config;
DROP TABLE IF EXISTS session_search_message;
DROP TABLE IF EXISTS session_search_transcript;
DROP TABLE IF EXISTS session_search_meta;
DROP TABLE IF EXISTS session_search_rule;
COMMIT;
