"""Damage and change under an open connection: never a crash, never a wrong result, and a text that says what to do."""

import shutil
import sqlite3

from connections import SqliteError
from hosts import LIBRARY, PYTHON, SUPPORTED, TestCase, say

RIGHT = 6  # messages with the word pelican
GONE = "the index in the main database is gone: call session_search_open(path) again"
NEWER = "the index has the format 999.1.1.1, this version of session_search knows up to "


class Damage(TestCase):
    def each_host(self):
        """A connection of each host program, with an index of its own that is in step, and that index file."""
        for name in SUPPORTED:
            index = self.folder / f"{name}.sqlite"
            connection = self.host(name).searching(self.fixture(file=f"{name}-host.sqlite"), index)
            self.assertEqual(connection.value("SELECT session_search_reconcile()"), 0)
            yield connection, index

    def open_again(self, connection):
        connection.rows("SELECT session_search_open(?)", str(self.folder / f"{connection.host.name}-host.sqlite"))

    def right_or_text(self, connection, query="pelican"):
        """The text of a search that fails, or None for one whose answer is right: whole, or said to be incomplete."""
        try:
            answer = connection.answer(query)
        except SqliteError as error:
            text = str(error)
            self.assertGreater(len(text), 20, text)
            return text
        found = len({hit["messageId"] for hit in answer["results"]})
        if "indexing" in answer:
            self.assertLessEqual(found, RIGHT)
        else:
            self.assertEqual(found, RIGHT)
        return None

    def assert_repaired_by_opening(self, connection):
        self.open_again(connection)
        self.assertEqual(connection.value("SELECT session_search_reconcile()"), 0)
        self.assertEqual(len(connection.ids("pelican")), RIGHT)

    def test_index_file_is_deleted(self):
        for connection, index in self.each_host():
            with self.subTest(host=connection.host.name):
                index.unlink()
                self.assertIsNone(self.right_or_text(connection))
                again = connection.host.searching(self.folder / f"{connection.host.name}-host.sqlite", index)
                self.assertEqual(len(again.ids("pelican")), RIGHT)

    def test_index_file_is_emptied(self):
        for connection, index in self.each_host():
            with self.subTest(host=connection.host.name):
                index.write_bytes(b"")
                self.assertIn(self.right_or_text(connection), (None, GONE))
                self.assert_repaired_by_opening(connection)

    def test_index_table_is_dropped(self):
        for table in ("meta", "transcript", "message", "fts"):
            for connection, index in self.each_host():
                with self.subTest(host=connection.host.name, table=table):
                    connection.rows(f"DROP TABLE session_search_{table}")
                    text = self.right_or_text(connection)
                    if text not in (None, GONE):
                        self.assertEqual(text, f"session_search: no such table: main.session_search_{table} while searching the index")
                    self.assert_repaired_by_opening(connection)
                connection.close()
                index.unlink()

    def test_list_of_transcripts_is_emptied(self):
        for connection, _ in self.each_host():
            with self.subTest(host=connection.host.name):
                connection.rows("DELETE FROM session_search_transcript")
                self.right_or_text(connection)
                self.assert_repaired_by_opening(connection)

    def test_full_text_table_is_garbage(self):
        for what, where in (("structure", "id = 10"), ("averages", "id = 1"), ("pages", "id > 10")):
            for connection, index in self.each_host():
                with self.subTest(host=connection.host.name, what=what):
                    connection.close()
                    raw = sqlite3.connect(index)
                    raw.create_function("garbage", 1, lambda block: bytes((7 * i + 161) % 256 for i in range(len(block))))
                    raw.execute(f"UPDATE session_search_fts_data SET block = garbage(block) WHERE {where}")
                    raw.commit()
                    raw.close()
                    connection = connection.host.open(index)
                    self.open_again(connection)
                    text = self.right_or_text(connection)
                    if text is not None:
                        self.assertRegex(text, "(malformed|corrupt|constructor failed: session_search_fts).* while searching the index")
                    self.assertEqual(connection.value("SELECT redact('x')"), "x")
                connection.close()
                index.unlink()

    def test_index_pages_are_garbage(self):
        for connection, index in self.each_host():
            with self.subTest(host=connection.host.name):
                connection.close()
                with index.open("r+b") as file:
                    file.seek(4096)
                    file.write(b"\xa5" * 8 * 4096)
                connection = connection.host.open(index)
                database = str(self.folder / f"{connection.host.name}-host.sqlite")
                self.assertIn("malformed", connection.error("SELECT session_search_open(?)", database))
                self.assertEqual(connection.value("SELECT redact('x')"), "x")

    def test_newer_index_is_refused_and_left_alone(self):
        for connection, index in self.each_host():
            with self.subTest(host=connection.host.name):
                connection.close()
                raw = sqlite3.connect(index)
                raw.execute("UPDATE session_search_meta SET value = '999.1.1.1' WHERE key = 'format'")
                raw.commit()
                raw.close()
                before = index.read_bytes()
                connection = connection.host.open(index)
                database = str(self.folder / f"{connection.host.name}-host.sqlite")
                self.assertIn(NEWER, connection.error("SELECT session_search_open(?)", database))
                self.assertEqual(index.read_bytes(), before)

    def test_index_that_becomes_newer_under_an_open_connection(self):
        """A newer library takes over the index: the older one in another process must notice, and not write into it."""
        for name in SUPPORTED:
            with self.subTest(host=name):
                database, writer = self.standalone(f"{name}-host.sqlite")
                say(writer, "common one", "m1", 1)
                index = self.folder / f"{name}.sqlite"
                connection = self.host(name).searching(database, index)
                self.assertEqual(connection.ids("common"), ["m1"])
                raw = sqlite3.connect(index)
                raw.execute("UPDATE session_search_meta SET value = '999.1.1.1' WHERE key = 'format'")
                raw.execute("UPDATE session_search_meta SET value = hex(randomblob(16)) WHERE key = 'state'")
                raw.commit()
                raw.close()
                say(writer, "common two", "m2", 2)
                before = index.read_bytes()
                self.assertIn(NEWER, connection.error("SELECT * FROM sessions_search('common', 'agent:main:main')"))
                self.assertIn(NEWER, connection.error("SELECT session_search_reconcile()"))
                self.assertEqual(index.read_bytes(), before)

    def test_older_index_is_made_again(self):
        for connection, index in self.each_host():
            with self.subTest(host=connection.host.name):
                connection.rows("UPDATE session_search_meta SET value = '0.0.0.0' WHERE key = 'format'")
                connection.rows("DELETE FROM session_search_message")
                self.assert_repaired_by_opening(connection)

    def test_two_hosts_share_one_index_file(self):
        """They make the index again in turn, but what each finds is right."""
        other = self.folder / "other.sqlite"
        for connection, index in self.each_host():
            with self.subTest(host=connection.host.name):
                shutil.copy(self.folder / f"{connection.host.name}-host.sqlite", other)
                raw = sqlite3.connect(other)
                raw.execute("UPDATE schema_meta SET agent_id = 'other', created_at = 1 WHERE meta_key = 'primary'")
                raw.execute("DELETE FROM transcript_events WHERE event_json LIKE '%pelican%' AND seq > 4")
                raw.commit()
                raw.close()
                second = connection.host.searching(other, index)
                for _ in range(3):
                    self.assertEqual(len(connection.ids("pelican")), RIGHT)
                    self.assertEqual(len(second.ids("pelican")), 3)
                second.close()

    def test_interrupted_work_leaves_nothing_wrong(self):
        database, texts = self.fixture(), set()
        for name in PYTHON:
            host = self.host(name)
            for steps in (1, 7, 50, 300, 1000, 3000, 10000, 30000):
                with self.subTest(host=name, steps=steps):
                    result = host.scene("interrupted", LIBRARY, database, self.folder / f"{name}-{steps}.sqlite", steps)
                    self.assertEqual((result["remaining"], result["found"]), (0, RIGHT))
                    texts.update(result["texts"])
        self.assertGreater(len(texts), 1)
        self.assertEqual([text for text in texts if "interrupt" not in text], [])

    def test_full_disk_leaves_nothing_wrong(self):
        for connection, _ in self.each_host():
            with self.subTest(host=connection.host.name):
                name = connection.host.name
                database, writer = self.standalone(f"{name}-full.sqlite")
                say(writer, "common one", "m1", 1)
                connection.rows("SELECT session_search_open(?)", str(database))
                self.assertEqual(connection.ids("common"), ["m1"])
                pages = connection.value("PRAGMA page_count")
                connection.rows(f"PRAGMA max_page_count = {pages}")
                say(writer, "common two " + " ".join(f"word{i}" for i in range(50000)), "m2", 2)
                self.assertIn("database or disk is full", connection.error("SELECT session_search_reconcile()"))
                answer = connection.answer("common")
                self.assertEqual(([hit["messageId"] for hit in answer["results"]], answer["indexing"]), (["m1"], True))
                self.assertIn("database or disk is full", connection.status("broken"))
                connection.rows("PRAGMA max_page_count = 1000000")
                self.assertEqual(connection.value("SELECT session_search_reconcile()"), 0)
                self.assertEqual(connection.ids("common"), ["m1", "m2"])


class HostDatabase(TestCase):
    def each_host(self):
        for name in SUPPORTED:
            database, writer = self.standalone(f"{name}-host.sqlite")
            say(writer, "common one", "m1", 1)
            connection = self.host(name).searching(database, self.folder / f"{name}.sqlite")
            self.assertEqual(connection.ids("common"), ["m1"])
            yield connection, database, writer

    def test_host_database_is_deleted(self):
        for connection, database, writer in self.each_host():
            with self.subTest(host=connection.host.name):
                writer.close()
                database.unlink()
                text = connection.error("SELECT * FROM sessions_search('common', 'agent:main:main')")
                self.assertIn("is not there any more", text)
                self.assertIn("is not there any more", connection.status("broken"))

    def test_host_database_is_replaced(self):
        for connection, database, writer in self.each_host():
            with self.subTest(host=connection.host.name):
                writer.close()
                for file in self.folder.glob(f"{database.name}*"):
                    file.unlink()
                _, writer = self.standalone(database.name)
                say(writer, "common two", "m9", 1)
                self.assertEqual(connection.ids("common"), ["m9"])

    def test_host_tables_are_dropped(self):
        for connection, _, writer in self.each_host():
            with self.subTest(host=connection.host.name):
                writer.execute("DROP TABLE transcript_events")
                text = connection.error("SELECT * FROM sessions_search('common', 'agent:main:main')")
                self.assertIn("the host database has changed and holds no transcripts any more", text)

    def test_host_database_is_locked(self):
        """In WAL mode nothing of the host keeps a reader out, not even an exclusive transaction."""
        for connection, _, writer in self.each_host():
            with self.subTest(host=connection.host.name):
                writer.execute("BEGIN EXCLUSIVE")
                say(writer, "common two", "m2", 2)
                self.assertEqual(connection.ids("common"), ["m1"], "what is not committed is not there")
                writer.execute("COMMIT")
                self.assertEqual(connection.ids("common"), ["m1", "m2"])

    def test_host_database_is_never_written(self):
        for name in SUPPORTED:
            with self.subTest(host=name):
                database = self.fixture(file=f"{name}-host.sqlite")
                before = database.read_bytes()
                connection = self.host(name).searching(database, self.folder / f"{name}.sqlite")
                connection.rows("SELECT session_search_reconcile()")
                connection.ids("pelican")
                connection.close()
                self.assertEqual(database.read_bytes(), before)

    def test_host_as_main_database_is_refused(self):
        for name in SUPPORTED:
            with self.subTest(host=name):
                database = self.fixture(file=f"{name}-host.sqlite")
                before = database.read_bytes()
                connection = self.host(name).open(database)
                for path, reason in (
                    (database, "this is the connection's own main database"),
                    (self.fixture(file="another.sqlite"), "main database belongs to OpenClaw, where an index must not be"),
                ):
                    text = connection.error("SELECT session_search_open(?)", str(path))
                    self.assertIn(reason, text)
                self.assertEqual(database.read_bytes(), before)

    def test_paths_that_lead_to_no_transcripts(self):
        foreign = self.folder / "foreign.sqlite"
        with sqlite3.connect(foreign) as raw:
            raw.execute("CREATE TABLE t(x)")
        raw.close()
        noise = self.folder / "noise"
        noise.write_bytes(b"\x01" * 5000)
        for name in SUPPORTED:
            connection = self.host(name).open(self.folder / f"{name}.sqlite")
            for path, text in (
                (self.folder / "missing", "session_search_open: argument 1 (path) must be an existing file, got "),
                (self.folder, "session_search_open: argument 1 (path) must be an existing file, got "),
                (foreign, "session_search_open: no transcripts in this database: expected the tables of openclaw-2026-09 ("),
                (noise, "file is not a database"),
            ):
                with self.subTest(host=name, path=path.name):
                    self.assertIn(text, connection.error("SELECT session_search_open(?)", str(path)))
            self.assertFalse((self.folder / "missing").exists())
