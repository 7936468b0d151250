-- SQLite 3.40 to 3.42 cannot delete from a contentless table: the table keeps its text, secrets replaced. The same statements work on both.
CREATE VIRTUAL TABLE main.session_search_fts USING fts5(text, tokenize='session_search');
