"""Calls of ours inside a transaction of the caller, stopped at any moment: what cost the caller its transaction has to be said."""

import shutil

from connections import SqliteError
from scenes_in_place import opened, set_handler

# What is called, and what was done to the database before, so that there is something to do.
CALLS = {
    "status": ("SELECT * FROM session_search_status", ["DROP TRIGGER session_search_move"]),
    "search": ("SELECT sessions_search_json('common', 'agent:main:main')", ["DROP TRIGGER session_search_move"]),
    "search of a damaged index": (
        "SELECT sessions_search_json('common', 'agent:main:main')",
        ["UPDATE session_search_fts_data SET block = x'ff' WHERE id = 10", "UPDATE transcript_events SET created_at = created_at + 1"],
    ),
    "table function": ("SELECT * FROM sessions_search('common', 'agent:main:main')", ["UPDATE transcript_events SET created_at = 5"]),
    "reconcile": ("SELECT session_search_reconcile()", ["UPDATE transcript_events SET created_at = 5"]),
    "rebuild": ("SELECT session_search_rebuild()", []),
    "attach": ("SELECT session_search_attach()", ["DROP TRIGGER session_search_move"]),
    "load": (None, []),
}


def lost_in_silence(connect, library, template, folder, first, last, stride):
    """The calls after which the transaction was gone although nothing was said, and how many were stopped."""
    faults, stopped = [], 0
    for name, (call, before) in CALLS.items():
        for steps in range(first, last, stride):
            path = f"{folder}/stopped.sqlite"
            shutil.copy(template, path)
            other = connect(path)
            for statement in before:
                other.rows(statement)
            other.rows("CREATE TABLE own(x)")
            other.close()
            connection = connect(path) if call is None else opened(connect, library, path)
            connection.rows("BEGIN")
            connection.rows("INSERT INTO own VALUES(1)")
            # Many short statements run: the handler is asked often, and says stop once.
            answers = iter([0] * steps + [1])
            set_handler(connection, lambda: next(answers, 0), 5)
            said = None
            try:
                connection.load(library) if call is None else connection.rows(call)
            except SqliteError as error:
                said, stopped = str(error), stopped + 1
            set_handler(connection, None, 0)
            try:
                connection.rows("COMMIT")
                kept = True
            except SqliteError:
                kept = False
            rows = connection.rows("SELECT count(*) FROM own")[0][0]
            if (not kept or rows == 0) and said is None:
                faults.append(f"{name} stopped at {steps}: {rows} rows, kept {kept}")
            connection.close()
    return {"faults": faults, "stopped": stopped}
