"""Closing a connection gives everything back, also after searches."""

import ctypes
import ctypes.util
import itertools
import sqlite3
from pathlib import Path

from hosts import LIBRARY, PYTHON, TestCase

ROUNDS = 100


class Closing(TestCase):
    def test_no_descriptor_stays_open(self):
        for name in PYTHON:
            for host in (None, self.fixture()):
                with self.subTest(host=name, opened=host is not None):
                    more = self.host(name).scene("rounds_of_opening", LIBRARY, host, self.folder / f"{name}.sqlite", ROUNDS)
                    self.assertEqual(more, 0)

    def test_no_file_stays_open_in_node(self):
        host, database = self.host("node"), self.fixture()
        for _ in range(10):
            connection = host.searching(database, self.folder / "index.sqlite")
            self.assertEqual(len(connection.ids("pelican")), 6)
            connection.close()
            files = [link.resolve() for link in Path(f"/proc/{host.process.pid}/fd").iterdir()]
            self.assertEqual([file for file in files if self.folder in file.parents], [])

    def test_sqlite3_close_returns_ok(self):
        """The C call itself: sqlite3_close() refuses while a statement is open, where most bindings leak the connection in silence."""
        sqlite = ctypes.CDLL(ctypes.util.find_library("sqlite3"))  # the one that Python's own module uses
        database, index = self.fixture(), self.folder / "index.sqlite"

        def run(db, sql):
            message = ctypes.c_char_p()
            code = sqlite.sqlite3_exec(db, sql.encode(), None, None, ctypes.byref(message))
            self.assertEqual(code, 0, message.value)

        lasts = ("SELECT 1", "SELECT sessions_search_json('pelican', 'agent:main:main')", "SELECT * FROM session_search_status")
        for last, locked in itertools.product(lasts, (False, True)):
            with self.subTest(last=last, locked=locked):
                locker = sqlite3.connect(index, isolation_level=None)
                if locked:
                    locker.execute("BEGIN EXCLUSIVE")
                db, message = ctypes.c_void_p(), ctypes.c_char_p()
                self.assertEqual(sqlite.sqlite3_open(str(index).encode(), ctypes.byref(db)), 0)
                sqlite.sqlite3_enable_load_extension(db, 1)
                self.assertEqual(sqlite.sqlite3_load_extension(db, LIBRARY.encode(), None, ctypes.byref(message)), 0, message.value)
                locker.close()
                run(db, f"SELECT session_search_open('{database}')")
                run(db, "SELECT session_search_reconcile()")
                run(db, last)
                self.assertEqual(sqlite.sqlite3_close(db), 0)

    def test_sqlite3_close_returns_ok_after_an_error(self):
        sqlite = ctypes.CDLL(ctypes.util.find_library("sqlite3"))
        db, message = ctypes.c_void_p(), ctypes.c_char_p()
        self.assertEqual(sqlite.sqlite3_open(b":memory:", ctypes.byref(db)), 0)
        sqlite.sqlite3_enable_load_extension(db, 1)
        self.assertEqual(sqlite.sqlite3_load_extension(db, LIBRARY.encode(), None, ctypes.byref(message)), 0, message.value)
        for sql in (b"SELECT * FROM sessions_search('a', 'b')", b"SELECT session_search_open('missing')", b"SELECT * FROM sessions_search"):
            self.assertEqual(sqlite.sqlite3_exec(db, sql, None, None, None), 1)
        self.assertEqual(sqlite.sqlite3_close(db), 0)
