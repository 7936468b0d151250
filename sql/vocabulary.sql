-- Every term in the index with its place, for the check.
CREATE VIRTUAL TABLE temp.session_search_vocabulary USING fts5vocab(main, session_search_fts, instance);
