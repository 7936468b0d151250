"""Putting the index in, taking it out, loading the extension where it is, and closing."""

import ctypes
import ctypes.util
import os
import re
import sqlite3
import subprocess
import threading
import time
from pathlib import Path

from connections import SqliteError
from hosts import LIBRARY, PYTHON, ROOT, SUPPORTED, message
from scenes_in_place import differences
from test_in_place import COLUMNS, ENTRIES, FIVE, SIX, World, event

INSTALL = "SELECT session_search_install()"
ADOPT = """SELECT session_search_install('{"adopt":true}')"""
UNINSTALL = "SELECT session_search_uninstall()"
OURS = "SELECT name FROM sqlite_schema WHERE name LIKE '%session_search%' OR tbl_name LIKE '%session_search%' OR sql LIKE '%session_search%'"
BELONGS = "session_search_install: this database belongs to OpenClaw, which refuses to start with triggers of others in it: connect to an index file"
WAY_OUT = """only if no OpenClaw will use this database any more: session_search_install('{"adopt":true}')"""
NOT_OPEN = "no transcripts to search on this connection: call session_search_open(path) first, or session_search_install()"
FIXTURES = {"sep-2026.9.6-small-main": "openclaw-2026-09", "jul-2026.7.2-beta.1-small-main": "openclaw-2026-07"}
SEARCH = "SELECT * FROM sessions_search('common', 'agent:main:main')"
# Stored so, it is in the index as the token zyxwvutsrq.
WORD, TOKEN = "Zyxwvutsrq", "zyxwvutsrq"
STAMPS = "SELECT count(*) FROM session_search_transcript WHERE source_stamp IS NOT indexed_stamp"


def path_of(connection):
    return connection.rows("PRAGMA database_list")[0][2]


class Install(World):
    def empty(self, host, journal="wal"):
        """A database of the extension's own layout without an index, with rows."""
        _, plain = self.copies(host)
        plain.rows("DROP TRIGGER idle")
        plain.rows(f"PRAGMA journal_mode = {journal}")
        path = path_of(plain)
        plain.close()
        connection = host.open(path)
        connection.rows("PRAGMA foreign_keys = on")
        return connection, path

    def test_what_is_there_already_is_indexed(self):
        for name in SUPPORTED:
            with self.subTest(host=name):
                connection, _ = self.empty(self.host(name))
                self.assertIn(NOT_OPEN, connection.error(SEARCH))
                self.assertEqual(connection.value(INSTALL), "standalone")
                self.assertEqual(connection.rows("SELECT attached, behind, messages FROM session_search_status"), [[1, 2, 0]])
                self.assertEqual(differences(connection, ENTRIES), [])
                self.assertEqual(connection.value("SELECT session_search_reconcile()"), 0)

    def test_twice_changes_nothing(self):
        for name in SUPPORTED:
            with self.subTest(host=name):
                connection, _ = self.copies(self.host(name))
                schema = connection.rows("SELECT * FROM sqlite_schema")
                for _ in range(3):
                    self.assertEqual(connection.value(INSTALL), "standalone")
                    self.assertEqual(connection.value("SELECT session_search_attach()"), "standalone")
                self.assertEqual(connection.rows("SELECT * FROM sqlite_schema"), schema)
                self.assertEqual(connection.rows("SELECT behind, messages FROM session_search_status"), [[0, 6]])
                self.assertEqual(connection.value("SELECT count(*) FROM temp.sqlite_schema"), 3)

    def test_only_plain_things_are_made(self):
        """No trigger of the file calls a function or names a virtual table."""
        for name in SUPPORTED:
            with self.subTest(host=name):
                connection, _ = self.copies(self.host(name))
                triggers = dict(connection.rows("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'"))
                self.assertEqual(sorted(triggers), [f"session_search_{what}" for what in ("delete", "insert", "move", "update")])
                for sql in triggers.values():
                    called = set(re.findall(r"(\w+)\(", sql)) - {"session_search_transcript", "VALUES", "CONFLICT"}
                    self.assertLessEqual(called, {"random", "typeof"}, "SQLite's own functions")
                    self.assertNotIn("session_search_fts", sql)

    def test_in_a_transaction_that_is_rolled_back(self):
        for name in SUPPORTED:
            for begin, end in (("BEGIN", ["ROLLBACK"]), ("SAVEPOINT a", ["ROLLBACK TO a", "RELEASE a"])):
                with self.subTest(host=name, begin=begin):
                    connection, _ = self.empty(self.host(name))
                    schema = connection.rows("SELECT * FROM sqlite_schema")
                    connection.rows(begin)
                    self.assertEqual(connection.value(INSTALL), "standalone")
                    connection.rows(f"INSERT INTO {COLUMNS} VALUES('s1', 5, {FIVE}, 5)")
                    self.assertEqual(differences(connection, ENTRIES), [])
                    for statement in end:
                        connection.rows(statement)
                    self.assertEqual(connection.rows("SELECT * FROM sqlite_schema"), schema)
                    connection.rows(f"INSERT INTO {COLUMNS} VALUES('s1', 5, {FIVE}, 5)")
                    self.assertIn(NOT_OPEN, connection.error(SEARCH))
                    connection.rows(f"INSERT INTO {COLUMNS} VALUES('s1', 6, {SIX}, 6)")
                    self.assertEqual(connection.value(INSTALL), "standalone")
                    self.assertEqual(differences(connection, ENTRIES), [])
                    connection.rows("DELETE FROM sessions WHERE session_id = 's2'")
                    self.assertEqual(connection.value(STAMPS), 0)

    def test_in_a_transaction_that_is_kept(self):
        for name in SUPPORTED:
            with self.subTest(host=name):
                connection, path = self.empty(self.host(name))
                connection.rows("BEGIN")
                connection.rows(f"INSERT INTO {COLUMNS} VALUES('s1', 5, {FIVE}, 5)")
                connection.rows(INSTALL)
                connection.rows(f"INSERT INTO {COLUMNS} VALUES('s1', 6, {SIX}, 6)")
                connection.rows("COMMIT")
                for one in (connection, connection.host.open(path)):
                    self.assertEqual(differences(one, ENTRIES), [])
                    self.assertEqual(one.rows("SELECT attached, behind FROM session_search_status"), [[1, 0]])

    def test_other_connection_of_the_extension_attaches_by_itself(self):
        for name in SUPPORTED:
            with self.subTest(host=name):
                connection, path = self.empty(self.host(name))
                other = connection.host.open(path)
                self.assertIn(NOT_OPEN, other.error(SEARCH))
                connection.rows(INSTALL)
                other.rows(f"INSERT INTO {COLUMNS} VALUES('s1', 5, {FIVE}, 5)")
                self.assertEqual(differences(other, ENTRIES), [])
                other.rows(f"INSERT INTO {COLUMNS} VALUES('s1', 6, {SIX}, 6)")
                self.assertEqual(connection.value(STAMPS), 0)
                self.assertEqual(differences(connection, ENTRIES), [])

    def test_memory_database(self):
        for name in SUPPORTED:
            with self.subTest(host=name):
                connection = self.host(name).open()
                for statement in (ROOT / "sql/standalone.sql").read_text().split(";\n"):
                    if "CREATE" in statement:
                        connection.rows(statement)
                self.assertEqual(connection.value(INSTALL), "standalone")
                connection.rows("INSERT INTO sessions(session_id, session_key, created_at) VALUES('s1', 'agent:main:main', 1)")
                connection.rows(f"INSERT INTO {COLUMNS} VALUES('s1', 5, {FIVE}, 5)")
                self.assertEqual(connection.ids("five"), ["m5"])


class Refused(World):
    def test_openclaw_database(self):
        for name in SUPPORTED:
            for fixture in FIXTURES:
                with self.subTest(host=name, fixture=fixture):
                    path = self.fixture(fixture, f"{name}-{fixture}.sqlite")
                    before = path.read_bytes()
                    connection = self.host(name).open(path)
                    for call in (INSTALL, "SELECT session_search_install('{}')", """SELECT session_search_install('{"adopt":false}')"""):
                        text = connection.error(call)
                        self.assertIn(BELONGS, text)
                        self.assertIn(WAY_OUT, text)
                    self.assertIn("call session_search_install() first", connection.error("SELECT session_search_attach()"))
                    connection.close()
                    self.assertEqual(path.read_bytes(), before)

    def test_openclaw_database_that_is_adopted(self):
        """(A table of OpenClaw 2026.9 has a CHECK that SQLite 3.40 cannot run, so nothing is appended there.)"""
        for name in SUPPORTED:
            for fixture, layout in FIXTURES.items():
                with self.subTest(host=name, fixture=fixture):
                    path = self.fixture(fixture, f"{name}-{fixture}.sqlite")
                    connection = self.host(name).open(path)
                    connection.rows("PRAGMA foreign_keys = on")
                    self.assertEqual(connection.value(ADOPT), layout)
                    self.assertEqual(connection.value("SELECT session_search_reconcile()"), 0)
                    self.assertEqual(len(connection.ids("pelican")), 6)
                    if name == "debian" and layout.endswith("09"):
                        continue
                    ((session, last),) = connection.rows(
                        "SELECT session_id, max(seq) FROM transcript_events JOIN "
                        f"{'session_windows' if layout.endswith('09') else 'sessions'} USING(session_id) WHERE session_key = 'agent:main:main'"
                    )
                    # As OpenClaw does, in one transaction.
                    connection.rows("BEGIN IMMEDIATE")
                    text = message("own-1", "ostrich in the barn")
                    sql = "INSERT INTO transcript_events(session_id, seq, event_json, created_at) VALUES(?, ?, ?, ?)"
                    connection.rows(sql, session, last + 1, text, 1800000000000)
                    if layout.endswith("09"):
                        connection.rows(
                            "INSERT INTO transcript_event_identities(session_id, event_id, seq, event_type, created_at) "
                            "VALUES(?, ?, ?, 'message', ?)",
                            *(session, "own-1", last + 1, 1800000000000),
                        )
                        connection.rows("UPDATE session_windows SET transcript_updated_at = 1800000000000 WHERE session_id = ?", session)
                    self.assertEqual(connection.ids("ostrich"), ["own-1"])
                    connection.rows("COMMIT")
                    self.assertEqual(connection.rows("SELECT behind, attached, host FROM session_search_status"), [[0, 1, layout]])
                    connection.close()
                    # An application without the extension, and one with it.
                    plain = self.host("debian").open(path, load=False)
                    plain.rows("DELETE FROM transcript_events WHERE session_id = ? AND seq = ?", session, last + 1)
                    connection = self.host(name).open(path)
                    self.assertEqual(connection.rows("SELECT behind, attached FROM session_search_status"), [[1, 1]])
                    self.assertEqual(connection.ids("ostrich"), [])
                    self.assertEqual(len(connection.ids("pelican")), 6)
                    self.assertEqual(connection.value(UNINSTALL), 1)
                    self.assertEqual([row for row in connection.rows(OURS) if not row[0].startswith("session_transcript")], [])

    def test_wrong_options(self):
        for name in SUPPORTED:
            connection, _ = self.copies(self.host(name))
            wrong = ('{"adopt":1}', '{"adopt":null}', '{"other":true}', '{"adopt":true,"other":1}')
            for options in (*wrong, "[]", "[true]", "true", "null", "", "no JSON"):
                with self.subTest(host=name, options=options):
                    text = connection.error("SELECT session_search_install(?)", options)
                    self.assertIn(
                        "session_search_install: argument 1 (options) must be a JSON object with no other key than adopt (true or false), got", text
                    )
            self.assertIn("argument 1 (options) must be TEXT, got INTEGER", connection.error("SELECT session_search_install(1)"))

    def test_no_transcripts(self):
        for name in SUPPORTED:
            for file in ("empty.sqlite", ":memory:"):
                with self.subTest(host=name, file=file):
                    path = file if file == ":memory:" else self.folder / f"{name}-{file}"
                    connection = self.host(name).open(path)
                    for call in (INSTALL, ADOPT):
                        text = connection.error(call)
                        self.assertIn("session_search_install: no transcripts in the main database: expected the tables of ", text)
                        self.assertIn("sql/standalone.sql makes them for a new application", text)
                    self.assertEqual(connection.rows("SELECT * FROM sqlite_schema"), [])

    def test_read_only_database(self):
        for name in SUPPORTED:
            with self.subTest(host=name):
                host = self.host(name)
                _, plain = self.copies(host)
                connection = host.open(path_of(plain), "ro")
                self.assertIn("attempt to write a readonly database", connection.error(INSTALL))
                self.assertEqual(connection.rows(OURS), [])

    def test_locked_database(self):
        for name in SUPPORTED:
            with self.subTest(host=name):
                host = self.host(name)
                _, plain = self.copies(host)
                connection = host.open(path_of(plain))
                plain.rows("BEGIN IMMEDIATE")
                self.assertIn("database is locked", connection.error(INSTALL))
                plain.rows("COMMIT")
                self.assertEqual(connection.rows(OURS), [])
                self.assertEqual(connection.value(INSTALL), "standalone")

    def test_opening_another_database(self):
        for name in SUPPORTED:
            with self.subTest(host=name):
                connection, _ = self.copies(self.host(name))
                text = connection.error("SELECT session_search_open(?)", str(self.fixture()))
                self.assertIn("this connection's main database holds its own transcripts and their index (session_search_install)", text)
                self.assertEqual(differences(connection), [])

    def test_where_another_database_is_open(self):
        for name in SUPPORTED:
            with self.subTest(host=name):
                connection = self.host(name).searching(self.fixture(), self.folder / f"{name}-beside.sqlite")
                self.assertIn("this connection searches another database (session_search_open)", connection.error(INSTALL))
                self.assertEqual(len(connection.ids("pelican")), 6)


class Uninstall(World):
    def with_word(self, host, journal):
        """A database whose index alone holds TOKEN (and, before SQLite 3.43, a second copy of WORD)."""
        indexed, plain = self.copies(host)
        plain.close()
        indexed.rows(f"PRAGMA journal_mode = {journal}")
        indexed.rows(f"INSERT INTO {COLUMNS} VALUES('s1', 5, {event('m5', 'm4', WORD)}, 5)")
        path = Path(path_of(indexed))
        self.checkpoint(indexed)
        self.assertIn(TOKEN.encode(), path.read_bytes())
        return indexed, path

    def checkpoint(self, connection):
        connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")

    def assert_nothing_left(self, path):
        raw = sqlite3.connect(path)
        raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        self.assertEqual(raw.execute(OURS).fetchall(), [])
        self.assertEqual(raw.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        self.assertEqual(raw.execute("SELECT count(*) FROM transcript_events").fetchone(), (8,))
        raw.close()
        for file in self.folder.glob(f"{path.name}*"):
            held = file.read_bytes()
            self.assertNotIn(TOKEN.encode(), held, file.name)
            self.assertEqual(held.count(WORD.encode()), file == path, file.name)

    def test_nothing_is_left(self):
        for name in SUPPORTED:
            for journal in ("wal", "delete"):
                for around in ([], ["BEGIN"]):
                    with self.subTest(host=name, journal=journal, around=around):
                        indexed, path = self.with_word(self.host(name), journal)
                        for statement in around:
                            indexed.rows(statement)
                        secure = indexed.value("PRAGMA secure_delete")
                        self.assertEqual(indexed.value(UNINSTALL), 1)
                        for _ in around:
                            indexed.rows("COMMIT")
                        self.assertEqual(indexed.rows("SELECT * FROM temp.sqlite_schema"), [])
                        self.assertEqual(indexed.value(UNINSTALL), 0)
                        self.assertIn(NOT_OPEN, indexed.error(SEARCH))
                        self.assertEqual(indexed.value("PRAGMA secure_delete"), secure)
                        self.checkpoint(indexed)
                        indexed.close()
                        self.assert_nothing_left(path)

    def test_rolled_back(self):
        for name in SUPPORTED:
            with self.subTest(host=name):
                indexed, _ = self.copies(self.host(name))
                schema = indexed.rows("SELECT * FROM sqlite_schema")
                indexed.rows("BEGIN")
                indexed.rows(UNINSTALL)
                indexed.rows(f"INSERT INTO {COLUMNS} VALUES('s1', 5, {FIVE}, 5)")
                indexed.rows("ROLLBACK")
                self.assertEqual(indexed.rows("SELECT * FROM sqlite_schema"), schema)
                self.assertEqual(differences(indexed, ENTRIES), [])
                indexed.rows(f"INSERT INTO {COLUMNS} VALUES('s1', 5, {FIVE}, 5)")
                self.assertEqual(indexed.value(STAMPS), 0)
                self.assertEqual(differences(indexed, ENTRIES), [])

    def test_writes_of_other_connections_go_on(self):
        for name in SUPPORTED:
            for installed_again in (False, True):
                with self.subTest(host=name, installed_again=installed_again):
                    indexed, _ = self.copies(self.host(name))
                    others = [indexed.host.open(path_of(indexed)), self.host(name).open(path_of(indexed))]
                    for seq, one in enumerate(others, 5):
                        one.rows(f"INSERT INTO {COLUMNS} VALUES('s1', {seq}, {FIVE}, 5)")
                    self.assertEqual(indexed.value(UNINSTALL), 1)
                    if installed_again:
                        indexed.rows(INSTALL)
                    for seq, one in enumerate(others, 7):
                        one.rows(f"INSERT INTO {COLUMNS} VALUES('s1', {seq}, {SIX}, 5)")
                        one.rows("BEGIN")
                        one.rows(f"DELETE FROM transcript_events WHERE session_id = 's1' AND seq = {seq - 6}")
                        one.rows("UPDATE transcript_events SET event_json = replace(event_json, 'zwei', 'other')")
                        one.rows("COMMIT")
                    self.assertEqual(indexed.value("SELECT count(*) FROM transcript_events"), 7 + 4 - 2)
                    for one in (indexed, *others):
                        if installed_again:
                            self.assertEqual(differences(one, ENTRIES), [])
                        else:
                            self.assertIn(NOT_OPEN, one.error(SEARCH))
                            self.assertEqual(one.rows("SELECT * FROM temp.sqlite_schema"), [], "it has let go")

    def test_half_an_index(self):
        """What is left of it goes, too."""
        for name in SUPPORTED:
            for gone in ("TABLE session_search_message", "TABLE session_search_meta", "TRIGGER session_search_move", "TABLE session_search_fts"):
                with self.subTest(host=name, gone=gone):
                    indexed, _ = self.copies(self.host(name))
                    indexed.rows(f"DROP {gone}")
                    self.assertEqual(indexed.value(UNINSTALL), 1)
                    self.assertEqual(indexed.rows(OURS), [])

    def test_without_the_extension(self):
        """sql/uninstall.sql, in the sqlite3 shell 3.40.1 and in apsw's SQLite, twice."""
        script = ROOT / "sql/uninstall.sql"
        for name in SUPPORTED:
            for journal in ("wal", "delete"):
                for tool in ("sqlite3", "apsw-new"):
                    with self.subTest(host=name, journal=journal, tool=tool):
                        indexed, path = self.with_word(self.host(name), journal)
                        # It has to work beside a connection that is open.
                        for number in range(2):
                            if tool == "sqlite3":
                                command = ["sqlite3", "-batch", "-bail", "-init", "/dev/null", path]
                                with script.open() as file:
                                    ran = subprocess.run(command, stdin=file, capture_output=True, text=True)
                                self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "1\n", ""))
                            else:
                                self.assertEqual(self.host(tool).scene("script", path, script.read_text()), [[1]])
                            if number == 0:
                                indexed.rows("UPDATE transcript_events SET created_at = 6 WHERE session_id = 's1'")
                                self.assertIn(NOT_OPEN, indexed.error(SEARCH))
                                self.checkpoint(indexed)
                                indexed.close()
                        self.assert_nothing_left(path)
                        connection = self.host(name).open(path)
                        connection.rows(INSTALL)
                        self.assertEqual(differences(connection), [])

    def test_the_script_names_all_that_is_made(self):
        """By DROP or, for the FTS5 table, by its entry in the schema."""
        script = (ROOT / "sql/uninstall.sql").read_text()
        for name in SUPPORTED:
            indexed, _ = self.copies(self.host(name))
            for kind, made in indexed.rows("SELECT type, name FROM sqlite_schema WHERE name LIKE 'session_search%' AND type <> 'index'"):
                self.assertIn(f"name = '{made}'" if made == "session_search_fts" else f"DROP {kind.upper()} IF EXISTS {made};", script)


class Loading(World):
    def triggers(self, connection):
        return connection.value("SELECT count(*) FROM temp.sqlite_schema WHERE name LIKE 'session_search_apply_%'")

    def test_attached_at_load(self):
        for name in SUPPORTED:
            with self.subTest(host=name):
                indexed, _ = self.copies(self.host(name))
                self.assertEqual(self.triggers(indexed), 3)
                indexed.rows(f"INSERT INTO {COLUMNS} VALUES('s1', 5, {FIVE}, 5)")
                self.assertEqual(indexed.value(STAMPS), 0)
                for _ in range(3):
                    indexed.load()
                self.assertEqual(self.triggers(indexed), 3)
                self.assertEqual(differences(indexed, ENTRIES), [])

    def test_file_that_is_locked_for_a_moment(self):
        """By another process, so that not even reading is possible. Loading waits for about a second."""
        for name in SUPPORTED:
            for locked in (0.3, None):
                with self.subTest(host=name, seconds=locked):
                    host = self.host(name)
                    indexed, plain = self.copies(host)
                    plain.close()
                    path = path_of(indexed)
                    indexed.rows("PRAGMA journal_mode = delete")
                    indexed.close()
                    locker = self.host("debian").open(path, load=False)
                    locker.rows("BEGIN EXCLUSIVE")
                    release = threading.Timer(locked or 0, lambda: locker.rows("COMMIT"))
                    if locked:
                        release.start()
                    began = time.monotonic()
                    connection = host.open(path)
                    took = time.monotonic() - began
                    if locked:
                        release.join()
                        self.assertGreater(took, 0.2)
                        self.assertEqual(self.triggers(connection), 3)
                    else:
                        self.assertLess(took, 5)
                        release.run()
                        self.assertEqual(self.triggers(connection), 0)
                        self.assertEqual(differences(connection), [])
                        self.assertEqual(self.triggers(connection), 3, "attached by the first search")
                    connection.rows(f"INSERT INTO {COLUMNS} VALUES('s1', 5, {FIVE}, 5)")
                    self.assertEqual(connection.value(STAMPS), 0)
                    self.assertEqual(differences(connection, ENTRIES), [])

    def test_files_without_an_index(self):
        for name in SUPPORTED:
            for what, content in (("empty", b""), ("encrypted", os.urandom(16384)), ("short", b"SQLite format 3\0")):
                with self.subTest(host=name, file=what):
                    path = self.folder / f"{name}-{what}"
                    path.write_bytes(content)
                    connection = self.host(name).open(path)
                    try:
                        connection.rows("SELECT 1")
                        self.assertEqual(connection.value("SELECT redact('x')"), "x")
                    except SqliteError as error:
                        self.assertIn("file is not a database", str(error))
                    self.assertTrue(connection.error(INSTALL))
                    connection.close()
                    self.assertEqual(path.read_bytes(), content)

    def test_read_only_connection(self):
        """It searches; and it can attach, since TEMP triggers are its own."""
        for name in SUPPORTED:
            with self.subTest(host=name):
                indexed, _ = self.copies(self.host(name))
                reader = indexed.host.open(path_of(indexed), "ro")
                self.assertEqual(reader.rows("SELECT attached, behind, messages FROM session_search_status"), [[1, 0, 6]])
                self.assertEqual(differences(reader, ENTRIES), [])
                self.assertEqual(reader.value("SELECT session_search_reconcile()"), 0)
                indexed.rows(f"INSERT INTO {COLUMNS} VALUES('s1', 5, {FIVE}, 5)")
                self.assertEqual(reader.ids("five"), ["m5"])
                self.assertIn("attempt to write a readonly database", reader.error("DELETE FROM transcript_events"))
                self.assertIn("readonly", reader.error(UNINSTALL))
                self.assertEqual(differences(reader, ENTRIES), [])

    def test_two_connections_of_one_process(self):
        for name in SUPPORTED:
            with self.subTest(host=name):
                first, _ = self.copies(self.host(name))
                second = first.host.open(path_of(first))
                for seq in range(5, 15):
                    one, other = (first, second) if seq % 2 else (second, first)
                    one.rows(f"INSERT INTO {COLUMNS} VALUES('s1', {seq}, {event(f'm{seq}', f'm{seq - 1}', f'common both{seq}')}, 5)")
                    self.assertEqual(other.ids(f"both{seq}"), [f"m{seq}"])
                    self.assertEqual(other.value(STAMPS), 0)
                first.close()
                self.assertEqual(differences(second, ENTRIES), [])

    def test_attached_database_with_an_index_is_not_touched(self):
        """The index belongs to the main database of a connection."""
        for name in SUPPORTED:
            with self.subTest(host=name):
                indexed, _ = self.copies(self.host(name))
                connection = indexed.host.open(self.folder / f"{name}-main.sqlite")
                connection.rows("ATTACH ? AS other", path_of(indexed))
                self.assertIn(NOT_OPEN, connection.error(SEARCH))
                connection.rows(f"INSERT INTO other.transcript_events VALUES('s1', 5, {FIVE}, 5)")
                self.assertEqual(indexed.status("behind"), 1)
                self.assertEqual(differences(indexed, ENTRIES), [])


class Closing(World):
    def test_no_descriptor_stays_open(self):
        for name in PYTHON:
            with self.subTest(host=name):
                host = self.host(name)
                indexed, _ = self.copies(host)
                self.assertEqual(host.scene("rounds_of_appending", LIBRARY, path_of(indexed), 300), 0)

    def test_no_file_stays_open_in_node(self):
        host = self.host("node")
        indexed, plain = self.copies(host)
        path = path_of(indexed)
        for connection in (indexed, plain):
            connection.close()
        for seq in range(5, 35):
            connection = host.open(path)
            connection.rows(f"INSERT INTO {COLUMNS} VALUES('s1', {seq}, {event(f'm{seq}', f'm{seq - 1}', f'common node{seq}')}, 5)")
            self.assertEqual(connection.ids(f"node{seq}"), [f"m{seq}"])
            connection.close()
            files = [link.resolve() for link in Path(f"/proc/{host.process.pid}/fd").iterdir()]
            self.assertEqual([file for file in files if self.folder in file.parents], [])

    def test_sqlite3_close_returns_ok(self):
        """The C call itself: sqlite3_close() refuses while a statement is open."""
        sqlite = ctypes.CDLL(ctypes.util.find_library("sqlite3"))
        lasts = (
            "SELECT 1",
            f"INSERT INTO {COLUMNS} VALUES('s1', 5, {FIVE}, 5)",
            "SELECT sessions_search_json('common', 'agent:main:main')",
            "SELECT session_search_reconcile()",
            "SELECT * FROM session_search_status",
            "PRAGMA temp_store = 2",
            "SELECT session_search_uninstall()",
            f"INSERT INTO {COLUMNS} VALUES('s1', 1, {FIVE}, 5)",  # fails
            "BEGIN",
        )
        for last in lasts:
            with self.subTest(last=last):
                indexed, _ = self.copies(self.host("debian"))
                db, text = ctypes.c_void_p(), ctypes.c_char_p()
                self.assertEqual(sqlite.sqlite3_open(path_of(indexed).encode(), ctypes.byref(db)), 0)
                sqlite.sqlite3_enable_load_extension(db, 1)
                self.assertEqual(sqlite.sqlite3_load_extension(db, LIBRARY.encode(), None, ctypes.byref(text)), 0, text.value)
                for sql in (f"INSERT INTO {COLUMNS} VALUES('s1', 4711, {SIX}, 5)", last):
                    code = sqlite.sqlite3_exec(db, sql.encode(), None, None, None)
                    self.assertEqual(code, 19 if "'s1', 1," in sql else 0)
                self.assertEqual(sqlite.sqlite3_close(db), 0)
