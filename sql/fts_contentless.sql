-- SQLite 3.43 and later: no second copy of the text, and rows are deleted without the text that was indexed.
CREATE VIRTUAL TABLE main.session_search_fts USING fts5(text, content='', contentless_delete=1, tokenize='session_search');
