"""Loading on a file in any state, twice, in many threads, in a SQLite that is too old, in two SQLites at once; and opening a host then."""

import os
import shutil
import sqlite3
import subprocess

from connections import SqliteError
from hosts import CALLER, LIBRARY, PROGRAMS, PYTHON, SUPPORTED, TestCase, say

TOO_OLD = "session_search needs SQLite 3.40 or newer, this is 3.39.4"
OTHER_COPY = "session_search is in use by another copy of SQLite in this process: load a copy of the library file"
NOT_OPEN = "no transcripts to search on this connection: call session_search_open(path) first, or session_search_install() to keep the index in this database"
PURE = "SELECT redact('x') || session_search_match('y') || transcript_role('{}') IS NULL AND session_search_version() <> ''"


class Loading(TestCase):
    def test_too_old_sqlite_is_told_and_lives_on(self):
        result = self.host("apsw-old").scene("failed_loads", LIBRARY, 50)
        self.assertEqual(result, {"texts": [TOO_OLD], "alive": True})

    def test_two_sqlites_in_one_process_need_two_files(self):
        # SQLite takes the entry point's name from the file's name, so the copy has the same one.
        copy = shutil.copy(LIBRARY, self.folder / "session_search.so")
        for first in ("sqlite3", "apsw"):
            with self.subTest(first=first):
                result = self.host("debian").scene("two_sqlites", LIBRARY, copy, PROGRAMS / "apsw-new", first)
                self.assertEqual(result, {"texts": [OTHER_COPY] * 3, "alive": ["x", "x"], "copy": ["y", "y"]})

    def test_loading_again_changes_nothing(self):
        for name in PYTHON:
            with self.subTest(host=name):
                self.assertEqual(self.host(name).scene("loads_by_function", LIBRARY, self.folder / f"{name}.sqlite"), ["x", "x"])
        connection = self.host("node").searching(self.fixture(), self.folder / "node.sqlite")
        for _ in range(3):
            connection.load()
            self.assertEqual(len(connection.ids("pelican")), 6, "the opened host stays opened")

    def test_loading_in_the_shell_by_function(self):
        select = f"SELECT load_extension('{LIBRARY}') IS NULL"
        ran = subprocess.run(["sqlite3", ":memory:", select, select, "SELECT redact('x')"], capture_output=True, text=True)
        self.assertEqual((ran.stdout, ran.stderr), ("1\n1\nx\n", ""))

    def test_many_threads_load_at_once(self):
        for name in PYTHON:
            for threads in (2, 16):
                with self.subTest(host=name, threads=threads):
                    index = self.folder / f"{name}-{threads}.sqlite"
                    found = self.host(name).scene("load_in_threads", LIBRARY, self.fixture(), index, threads)
                    self.assertEqual(found, [6] * threads)

    def test_opening_waits_for_another_writer_as_long_as_the_busy_timeout_says(self):
        for name in PYTHON:
            with self.subTest(host=name):
                index = self.folder / f"{name}.sqlite"
                opened = self.host(name).scene("open_while_another_writes", LIBRARY, self.fixture(), index, 0.2)
                self.assertEqual(opened, "openclaw-2026-09")

    def test_opening_that_fails_leaves_no_transaction_open(self):
        for name in PYTHON:
            with self.subTest(host=name):
                index = self.folder / f"{name}.sqlite"
                opened, *then = self.host(name).scene("open_while_another_reads", LIBRARY, self.fixture(), index)
                self.assertIn("database is locked", opened)
                self.assertEqual(then, [None, [], [], [], "openclaw-2026-09"])


class States(TestCase):
    """The extension is loaded on a main database in some state; what then works, and what says why not."""

    def assert_alive(self, connection):
        """Loaded: what needs no database works wherever a plain SELECT does (new SQLite reads the schema before any)."""
        try:
            connection.rows("SELECT 1")
        except SqliteError as error:
            self.assertEqual(connection.error(PURE), str(error))
            return
        self.assertEqual(connection.value(PURE), 1)

    def test_empty_file(self):
        for name in SUPPORTED:
            with self.subTest(host=name):
                path = self.folder / f"{name}.sqlite"
                path.touch()
                connection = self.host(name).open(path)
                self.assert_alive(connection)
                self.assertEqual(connection.error("SELECT * FROM sessions_search('a', 'b')"), NOT_OPEN)
                self.assertEqual(path.stat().st_size, 0, "loading writes nothing")
                connection.rows("SELECT session_search_open(?)", str(self.fixture()))
                self.assertEqual(len(connection.ids("pelican")), 6)

    def test_locked_file(self):
        database = self.fixture()
        for name in SUPPORTED:
            with self.subTest(host=name):
                host, index = self.host(name), self.folder / f"{name}.sqlite"
                host.searching(database, index).close()
                locker = sqlite3.connect(index, isolation_level=None)
                locker.execute("BEGIN EXCLUSIVE")
                connection = host.open(index)
                self.assert_alive(connection)
                self.assertIn("database is locked", connection.error("SELECT session_search_open(?)", str(database)))
                locker.execute("COMMIT")
                locker.close()
                self.assert_alive(connection)
                connection.rows("SELECT session_search_open(?)", str(database))
                self.assertEqual(len(connection.ids("pelican")), 6)

    def test_index_that_is_locked_later_is_searched_after(self):
        database = self.fixture()
        for name in SUPPORTED:
            with self.subTest(host=name):
                index = self.folder / f"{name}.sqlite"
                connection = self.host(name).searching(database, index)
                before = connection.ids("pelican")
                locker = sqlite3.connect(index, isolation_level=None)
                locker.execute("BEGIN EXCLUSIVE")
                self.assertIn("database is locked", connection.error("SELECT * FROM sessions_search('pelican', ?)", CALLER))
                locker.execute("ROLLBACK")
                locker.close()
                self.assertEqual(connection.ids("pelican"), before)

    def test_file_that_is_no_database(self):
        database = self.fixture()
        for name in SUPPORTED:
            with self.subTest(host=name):
                path = self.folder / f"{name}.sqlite"
                path.write_bytes(noise := os.urandom(16384))
                connection = self.host(name).open(path)
                self.assert_alive(connection)
                self.assertIn("file is not a database", connection.error("SELECT session_search_open(?)", str(database)))
                self.assert_alive(connection)
                self.assertEqual(path.read_bytes(), noise)

    def test_read_only_index(self):
        database = self.fixture()
        for name in SUPPORTED:
            for mode in ("ro", "immutable"):
                with self.subTest(host=name, mode=mode):
                    host, index = self.host(name), self.folder / f"{name}-{mode}.sqlite"
                    writable = host.searching(database, index)
                    writable.rows("SELECT session_search_reconcile()")
                    writable.close()
                    connection = host.searching(database, index, mode)
                    self.assert_alive(connection)
                    self.assertEqual(len(connection.ids("pelican")), 6)
                    self.assertEqual(connection.value("SELECT session_search_reconcile()"), 0)

    def test_read_only_file_without_index(self):
        database = self.fixture()
        for name in SUPPORTED:
            with self.subTest(host=name):
                path = self.folder / f"{name}.sqlite"
                path.touch()
                connection = self.host(name).open(path, "ro")
                self.assert_alive(connection)
                text = connection.error("SELECT session_search_open(?)", str(database))
                self.assertIn("attempt to write a readonly database", text)
                self.assertEqual(connection.error("SELECT * FROM sessions_search('a', 'b')"), NOT_OPEN)

    def test_read_only_index_that_is_behind(self):
        database, writer = self.standalone()
        say(writer, "first word", "m1", 1)
        for number, name in enumerate(SUPPORTED, 2):
            with self.subTest(host=name):
                host, index = self.host(name), self.folder / f"{name}.sqlite"
                writable = host.searching(database, index)
                writable.rows("SELECT session_search_reconcile()")
                writable.close()
                connection = host.searching(database, index, "ro")
                known = connection.ids("first")
                say(writer, f"late word{number}", f"m{number}", number)
                answer = connection.answer(f"word{number}")
                self.assertEqual((answer["results"], answer["indexing"]), ([], True))
                answer = connection.answer("first")
                self.assertEqual(([hit["messageId"] for hit in answer["results"]], answer["indexing"]), (known, True))
                self.assertEqual(connection.status("behind"), 1)
                self.assertIn("readonly", connection.status("broken"))
                self.assertIn("attempt to write a readonly database", connection.error("SELECT session_search_reconcile()"))

    def test_file_without_write_permission(self):
        """In the shell, as another user where the tests run as root, to whom permissions mean nothing."""
        index = self.folder / "index.sqlite"
        self.fixture()
        library = shutil.copy(LIBRARY, self.folder / "session_search.so")
        open_it = [f".load {library}", "SELECT session_search_open('openclaw-agent.sqlite')"]
        subprocess.run(["sqlite3", index, *open_it, "SELECT session_search_reconcile()"], cwd=self.folder, check=True, capture_output=True)
        for path in (self.folder, *self.folder.iterdir()):
            path.chmod(0o555 if path.is_dir() else 0o444)
        search = f"SELECT count(*) FROM sessions_search('pelican', '{CALLER}')"
        other = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        ran = subprocess.run(["sqlite3", index, *open_it, search], cwd=self.folder, capture_output=True, text=True, **other)
        self.folder.chmod(0o755)
        self.assertEqual((ran.stdout, ran.stderr), ("openclaw-2026-09\n6\n", ""))
