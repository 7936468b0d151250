DROP TRIGGER IF EXISTS temp.session_search_apply_insert;
DROP TRIGGER IF EXISTS temp.session_search_apply_update;
DROP TRIGGER IF EXISTS temp.session_search_apply_delete;
