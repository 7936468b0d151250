DROP TRIGGER IF EXISTS main.session_search_insert;
DROP TRIGGER IF EXISTS main.session_search_update;
DROP TRIGGER IF EXISTS main.session_search_move;
DROP TRIGGER IF EXISTS main.session_search_delete;
