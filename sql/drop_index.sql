-- Takes the index out. Nothing is lost: it is made again from the transcripts.
DROP TABLE IF EXISTS main.session_search_fts;
DROP TABLE IF EXISTS main.session_search_message;
DROP TABLE IF EXISTS main.session_search_transcript;
DROP TABLE IF EXISTS main.session_search_meta;
