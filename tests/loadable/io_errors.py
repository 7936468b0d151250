"""Input and output errors under a database that holds its index, made by a VFS of apsw. Run by test_io_errors.py as a process of its own.

    io_errors.py LIBRARY APSW DATABASE

For each operation that writes the files of the database, the n-th write, sync or truncation fails, for every n until all went well. What the
host was told is stored is there afterwards, what it was told has failed is not, and the index is sound.
"""

import json
import shutil
import sys
from pathlib import Path

library, folder, database = sys.argv[1:]
sys.path[:0] = [folder]
import apsw  # noqa: E402


class Fault:
    """The n-th change of a file from now on fails, and so do those after it."""

    left = None
    met = False

    @classmethod
    def pass_on(cls):
        if cls.left is not None:
            cls.left -= 1
            if cls.left < 0:
                cls.met = True
                raise apsw.IOError("injected")


class File(apsw.VFSFile):
    def __init__(self, filename, flags):
        super().__init__("unix", filename, flags)

    def xWrite(self, data, offset):
        Fault.pass_on()
        super().xWrite(data, offset)

    def xSync(self, flags):
        Fault.pass_on()
        super().xSync(flags)

    def xTruncate(self, size):
        Fault.pass_on()
        super().xTruncate(size)


class Vfs(apsw.VFS):
    def __init__(self):
        super().__init__("faulty", "unix")

    def xOpen(self, name, flags):
        return File(name, flags)


VFS = Vfs()  # registered as long as it is there
EVENT = '{"type":"message","id":"%s","parentId":%s,"message":{"role":"user","content":"common words of %s"}}'


def event(n):
    return EVENT % (f"m{n}", f'"m{n - 1}"' if n else "null", f"number{n}")


def connect(path, name):
    connection = apsw.Connection(str(path), vfs=name)
    connection.enable_load_extension(True)
    connection.load_extension(library)
    # Few pages in memory: changes are written before the commit, too.
    connection.execute("PRAGMA foreign_keys = on; PRAGMA cache_size = 8; PRAGMA cache_spill = 8")
    return connection


def rows(connection):
    return connection.execute("SELECT session_id, seq, event_json FROM transcript_events ORDER BY 1, 2").fetchall()


def append(connection):
    connection.execute("INSERT INTO transcript_events VALUES('s1', 400, ?, 1)", (event(400),))


def transaction(connection):
    connection.execute("BEGIN")
    connection.execute("INSERT INTO transcript_events VALUES('s1', 400, ?, 1)", (event(400),))
    connection.execute("UPDATE transcript_events SET event_json = replace(event_json, 'words', 'terms') WHERE session_id = 's2' AND seq < 5")
    connection.execute("DELETE FROM sessions WHERE session_id = 's3'")
    connection.execute("COMMIT")


def delete(connection):
    connection.execute("DELETE FROM sessions WHERE session_id = 's1'")


def reconcile(connection):
    connection.execute("SELECT session_search_reconcile()").fetchall()


def rebuild(connection):
    connection.execute("SELECT session_search_rebuild()").fetchall()


def optimize(connection):
    connection.execute("SELECT session_search_optimize()").fetchall()


def uninstall(connection):
    connection.execute("SELECT session_search_uninstall()").fetchall()


def search(connection):
    connection.execute("SELECT * FROM sessions_search('common', 'agent:main:main')").fetchall()


def template(path, journal):
    connection = connect(path, None)
    connection.execute(f"PRAGMA journal_mode = {journal}")
    connection.execute((Path(__file__).resolve().parent.parent.parent / "sql/standalone.sql").read_text())
    connection.execute("SELECT session_search_install()").fetchall()
    for s in ("s1", "s2", "s3", "s4"):
        connection.execute("INSERT INTO sessions(session_id, session_key, created_at) VALUES(?, ?, 1)", (s, f"agent:main:{s}"))
        with connection:
            for n in range(60):
                connection.execute("INSERT INTO transcript_events VALUES(?, ?, ?, 1)", (s, n, event(n)))
    connection.close()
    # Something for reconcile.
    plain = apsw.Connection(str(path))
    plain.execute("UPDATE transcript_events SET event_json = replace(event_json, 'common', 'usual') WHERE session_id = 's4'")
    plain.close()


def main():
    faults, tried = [], 0
    for journal in ("wal", "delete"):
        original = Path(f"{database}-{journal}")
        template(original, journal)
        before = rows(connect(original, None))
        for work in (append, transaction, delete, reconcile, rebuild, optimize, uninstall, search):
            for n in [*range(12), *range(12, 60, 4), *range(60, 4_000, 97)]:
                where = f"{journal} {work.__name__} {n}"
                path = Path(f"{database}-copy")
                for old in path.parent.glob(f"{path.name}*"):
                    old.unlink()
                shutil.copy(original, path)
                connection = connect(path, "faulty")
                rows(connection)
                Fault.left, Fault.met, told = n, False, None
                try:
                    work(connection)
                except apsw.Error as error:
                    told = str(error)
                met, inside = Fault.met, connection.in_transaction
                Fault.left = None
                if inside:
                    connection.execute("ROLLBACK")
                connection.close()
                tried += 1
                after = rows(apsw.Connection(str(path)))
                clean = apsw.Connection(":memory:")
                with clean.backup("main", apsw.Connection(str(original)), "main") as backup:
                    backup.step()
                clean.execute("PRAGMA foreign_keys = on")
                if work in (append, transaction, delete):
                    # What the host does without us.
                    clean.execute("".join(f"DROP TRIGGER session_search_{t};" for t in ("insert", "update", "move", "delete")))
                    work(clean)
                due = before if told else rows(clean)
                if after != due:
                    faults.append(f"{where}: {len(after)} rows, told {told}")
                connection = connect(path, None)
                if connection.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                    faults.append(f"{where}: integrity_check")
                connection.execute("SELECT session_search_install()").fetchall()
                check = connection.execute("SELECT session_search_check()").fetchone()[0]
                remaining = connection.execute("SELECT session_search_reconcile()").fetchone()[0]
                again = connection.execute("SELECT session_search_check()").fetchone()[0]
                if (check, remaining, again) != ("ok", 0, "ok"):
                    faults.append(f"{where}: {check}, {remaining}, {again}")
                connection.close()
                if not met:
                    break
    print(json.dumps({"faults": faults, "tried": tried}))


main()
