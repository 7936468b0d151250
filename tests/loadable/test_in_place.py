"""The index in the host's own database: each statement does what it does without an index, and is found at once."""

import json
import shutil

from connections import SqliteError
from hosts import LIBRARY, PYTHON, SUPPORTED, TestCase, message
from scenes_in_place import differences

COLUMNS = "transcript_events(session_id, seq, event_json, created_at)"


def event(identifier, parent, text):
    """A message as an SQL literal."""
    return quoted(message(identifier, text, parent))


def leaf(identifier, parent, target):
    """A control that makes another event the one where the conversation stands."""
    return quoted(json.dumps({"type": "leaf", "id": identifier, "parentId": parent, "targetId": target}))


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


FIVE = event("m5", "m4", "common five")
SIX = event("m6", "m5", "common six")
OTHER = event("m2", "m1", "common other")
NO_TEXT = quoted('{"type":"custom","id":"m2","parentId":"m1"}')

# Two conversations, the second with a dead branch (n2), and one without events.
WORLD = f"""
INSERT INTO sessions(session_id, session_key, created_at) VALUES
  ('s1', 'agent:main:main', 1), ('s2', 'agent:main:telegram:direct:7', 2), ('s3', 'agent:main:slack:channel:c', 3);
INSERT INTO {COLUMNS} VALUES
  ('s1', 1, {event("m1", None, "common one")}, 1), ('s1', 2, {event("m2", "m1", "common two")}, 2),
  ('s1', 3, {event("m3", "m2", "common three")}, 3), ('s1', 4, {event("m4", "m3", "common four")}, 4),
  ('s2', 1, {event("n1", None, "common ein")}, 5), ('s2', 2, {event("n2", "n1", "common zwei")}, 6),
  ('s2', 3, {event("n3", "n1", "common drei")}, 7);
"""

# What a host does, as SQL statements one after the other. Some fail, with and without an index.
CASES = {
    "append": [f"INSERT INTO {COLUMNS} VALUES('s1', 5, {FIVE}, 5)", f"INSERT INTO {COLUMNS} VALUES('s1', 6, {SIX}, 6)"],
    "append two at once": [f"INSERT INTO {COLUMNS} VALUES('s1', 5, {FIVE}, 5), ('s1', 6, {SIX}, 6)"],
    "append to two sessions at once": [f"INSERT INTO {COLUMNS} VALUES('s1', 5, {FIVE}, 5), ('s2', 4, {SIX}, 6)"],
    "append, returning": [f"INSERT INTO {COLUMNS} VALUES('s1', 5, {FIVE}, 5), ('s1', 6, {SIX}, 6) RETURNING seq, event_json"],
    "append by select": [f"INSERT INTO {COLUMNS} SELECT 's3', seq, event_json, 9 FROM transcript_events WHERE session_id = 's1'"],
    "append by recursion": [
        f"WITH RECURSIVE n(i) AS (VALUES(5) UNION ALL SELECT i + 1 FROM n WHERE i < 20) INSERT INTO {COLUMNS} SELECT 's1', i, "
        "json_object('type', 'message', 'id', 'm' || i, 'parentId', 'm' || (i - 1), "
        "'message', json_object('role', 'user', 'content', 'several w' || i)), i FROM n"
    ],
    "first event of a session": [f"INSERT INTO {COLUMNS} VALUES('s3', 0, {FIVE}, 5)"],
    "new session": [
        "INSERT INTO sessions(session_id, session_key, created_at) VALUES('s4', 'agent:main:discord:c', 4)",
        f"INSERT INTO {COLUMNS} VALUES('s4', 1, {FIVE}, 5)",
    ],
    "event without its session": [f"INSERT INTO {COLUMNS} VALUES('s9', 1, {FIVE}, 5)"],
    "event between others": [
        "UPDATE transcript_events SET seq = seq * 10",
        f"INSERT INTO {COLUMNS} VALUES('s1', 15, {FIVE}, 5)",
    ],
    "event as a blob": [f"INSERT INTO {COLUMNS} VALUES('s1', 5, CAST({FIVE} AS BLOB), 5)"],
    "event that is no JSON": [f"INSERT INTO {COLUMNS} VALUES('s1', 5, 'five', 5)", f"INSERT INTO {COLUMNS} VALUES('s1', 6, 6, 6)"],
    "event that is null": [f"INSERT INTO {COLUMNS} VALUES('s1', 5, NULL, 5)"],
    "fork": [f"INSERT INTO {COLUMNS} VALUES('s1', 5, {event('m5', 'm2', 'common fork')}, 5)"],
    "fork and go on": [
        f"INSERT INTO {COLUMNS} VALUES('s1', 5, {event('m5', 'm1', 'common fork')}, 5)",
        f"INSERT INTO {COLUMNS} VALUES('s1', 6, {event('m6', 'm5', 'common further')}, 6)",
    ],
    "leaf control": [f"INSERT INTO {COLUMNS} VALUES('s1', 5, {leaf('l1', 'm4', 'm2')}, 5)"],
    "leaf control back and forth": [
        f"INSERT INTO {COLUMNS} VALUES('s1', 5, {leaf('l1', 'm4', 'm2')}, 5)",
        f"INSERT INTO {COLUMNS} VALUES('s1', 6, {leaf('l2', 'l1', 'm4')}, 6)",
    ],
    "leaf control to the dead branch": [f"INSERT INTO {COLUMNS} VALUES('s2', 4, {leaf('l1', 'n3', 'n2')}, 5)"],
    "replace": [f"INSERT OR REPLACE INTO {COLUMNS} VALUES('s1', 2, {OTHER}, 5)"],
    "replace the last": [f"REPLACE INTO {COLUMNS} VALUES('s1', 4, {event('m4', 'm3', 'common other')}, 5)"],
    "replace by an event without text": [f"REPLACE INTO {COLUMNS} VALUES('s1', 2, {NO_TEXT}, 5)"],
    "replace some and append": [f"REPLACE INTO {COLUMNS} VALUES('s1', 2, {OTHER}, 5), ('s1', 5, {FIVE}, 5), ('s1', 2, {NO_TEXT}, 5)"],
    "replace, returning": [f"REPLACE INTO {COLUMNS} VALUES('s1', 2, {OTHER}, 5) RETURNING seq"],
    "upsert": [f"INSERT INTO {COLUMNS} VALUES('s1', 2, {OTHER}, 5) ON CONFLICT DO UPDATE SET event_json = excluded.event_json"],
    "upsert that appends": [f"INSERT INTO {COLUMNS} VALUES('s1', 5, {FIVE}, 5) ON CONFLICT DO UPDATE SET event_json = excluded.event_json"],
    "upsert of several": [
        f"INSERT INTO {COLUMNS} VALUES('s1', 2, {OTHER}, 5), ('s1', 5, {FIVE}, 5) "
        "ON CONFLICT(session_id, seq) DO UPDATE SET event_json = excluded.event_json RETURNING seq"
    ],
    "upsert that does nothing": [f"INSERT INTO {COLUMNS} VALUES('s1', 2, {OTHER}, 5) ON CONFLICT DO NOTHING"],
    "or ignore": [f"INSERT OR IGNORE INTO {COLUMNS} VALUES('s1', 2, {OTHER}, 5), ('s1', 5, {FIVE}, 5)"],
    "or abort": [f"INSERT OR ABORT INTO {COLUMNS} VALUES('s1', 5, {FIVE}, 5), ('s1', 2, {OTHER}, 5)"],
    "or fail": [f"INSERT OR FAIL INTO {COLUMNS} VALUES('s1', 5, {FIVE}, 5), ('s1', 2, {OTHER}, 5)"],
    "or rollback": [f"INSERT OR ROLLBACK INTO {COLUMNS} VALUES('s1', 5, {FIVE}, 5), ('s1', 2, {OTHER}, 5)"],
    "update": [f"UPDATE transcript_events SET event_json = {OTHER} WHERE session_id = 's1' AND seq = 2"],
    "update of all": ["UPDATE transcript_events SET event_json = replace(event_json, 'common', 'usual')"],
    "update, returning": ["UPDATE transcript_events SET event_json = replace(event_json, 'two', 'other') RETURNING session_id, seq"],
    "update from": [
        "UPDATE transcript_events SET event_json = replace(event_json, 'common', s.session_id) FROM sessions s "
        "WHERE s.session_id = transcript_events.session_id AND seq < 3"
    ],
    "update that changes nothing": ["UPDATE transcript_events SET created_at = created_at, event_json = event_json"],
    "update of another column": ["UPDATE transcript_events SET created_at = 9 WHERE session_id = 's1'"],
    "update of seq": ["UPDATE transcript_events SET seq = seq + 100"],
    "update that changes the order": ["UPDATE transcript_events SET seq = 100 - seq WHERE session_id = 's2'"],
    "update onto another row": ["UPDATE OR REPLACE transcript_events SET seq = 2 WHERE session_id = 's1' AND seq = 3"],
    "update onto another row, refused": ["UPDATE transcript_events SET seq = 2 WHERE session_id = 's1' AND seq = 3"],
    "move to another session": ["UPDATE transcript_events SET session_id = 's2', seq = seq + 10 WHERE session_id = 's1' AND seq > 2"],
    "move a whole session": ["UPDATE transcript_events SET session_id = 's3' WHERE session_id = 's1'"],
    "delete the last": ["DELETE FROM transcript_events WHERE session_id = 's1' AND seq = 4"],
    "delete in the middle": ["DELETE FROM transcript_events WHERE session_id = 's1' AND seq = 2"],
    "delete, returning": ["DELETE FROM transcript_events WHERE seq = 2 RETURNING session_id, event_json"],
    "delete all of a session": ["DELETE FROM transcript_events WHERE session_id = 's1'"],
    "delete all": ["DELETE FROM transcript_events"],
    "delete and append": [
        "DELETE FROM transcript_events WHERE session_id = 's1' AND seq > 2",
        f"INSERT INTO {COLUMNS} VALUES('s1', 3, {event('m5', 'm2', 'common five')}, 5)",
    ],
    "delete all of a session and begin again": [
        "DELETE FROM transcript_events WHERE session_id = 's1'",
        f"INSERT INTO {COLUMNS} VALUES('s1', 1, {event('m5', None, 'common five')}, 5)",
    ],
    "cascade": ["DELETE FROM sessions WHERE session_id = 's1'"],
    "cascade of all": ["DELETE FROM sessions"],
    "cascade and begin again": [
        "DELETE FROM sessions WHERE session_id = 's1'",
        "INSERT INTO sessions(session_id, session_key, created_at) VALUES('s1', 'agent:main:main', 4)",
        f"INSERT INTO {COLUMNS} VALUES('s1', 1, {event('m5', None, 'common five')}, 5)",
    ],
    "replace of a session": ["REPLACE INTO sessions(session_id, session_key, created_at) VALUES('s1', 'agent:main:main', 4)"],
    "update of a session": ["UPDATE sessions SET session_key = 'agent:main:other', archived_at = 5 WHERE session_id = 's1'"],
    "new id for a session, refused": ["UPDATE sessions SET session_id = 's9' WHERE session_id = 's1'"],
}
ENTRIES = ("one", "two", "three", "four", "five", "six", "zwei", "drei", "fork", "further", "other", "usual", "common")

# What is around the statements of a case, and whether they are kept.
AROUND = {
    "alone": ([], []),
    "transaction": (["BEGIN"], ["COMMIT"]),
    "rolled back": (["BEGIN"], ["ROLLBACK"]),
    "savepoint rolled back": (
        ["BEGIN", f"INSERT INTO {COLUMNS} VALUES('s3', 1, {event('k1', None, 'common kept')}, 9)", "SAVEPOINT a"],
        ["ROLLBACK TO a", "RELEASE a", "COMMIT"],
    ),
    "savepoint": (["SAVEPOINT a", "SAVEPOINT b"], ["RELEASE b", "RELEASE a"]),
}


class World(TestCase):
    """Each host has its own file with the index in it, and one without any, both with the rows of WORLD. The other one has a trigger, too: with
    any trigger on a table, an INSERT that breaks a foreign key leaves another last_insert_rowid()."""

    def world(self, host):
        files = self.folder / f"{host.name}-indexed.sqlite", self.folder / f"{host.name}-plain.sqlite"
        for file, load in zip(files, (True, False)):
            if not file.exists():
                self.standalone(file.name)[1].close()
                connection = host.installed(file) if load else host.open(file, load=False)
                for statement in filter(str.strip, WORLD.split(";\n")):
                    connection.rows(statement)
                if not load:
                    connection.rows("CREATE TRIGGER idle AFTER INSERT ON transcript_events BEGIN SELECT 1; END")
                connection.rows("PRAGMA wal_checkpoint(TRUNCATE)")
                connection.close()
        return files

    def copies(self, host, pragmas=()):
        """Fresh copies of both, connected: with the extension and without."""
        connections = []
        for file, load in zip(self.world(host), (True, False)):
            copy = self.folder / f"copy-{file.name}"
            for old in self.folder.glob(f"{copy.name}*"):
                old.unlink()
            shutil.copy(file, copy)
            connection = host.open(copy, load=load)
            for pragma in ("synchronous = off", "foreign_keys = on", *pragmas):
                connection.rows(f"PRAGMA {pragma}")
            connections.append(connection)
        return connections


def outcome(connection, statement):
    """What the host sees of a statement."""
    try:
        said = connection.rows(statement)
    except SqliteError as error:
        said = str(error)
    return said, connection.rows("SELECT changes(), last_insert_rowid()")


def content(connection):
    return [connection.rows(f"SELECT rowid, * FROM {table} ORDER BY 1") for table in ("sessions", "transcript_events")]


class Statements(World):
    def play(self, host, case, around, pragmas=()):
        """Runs a case on both databases, and compares at each statement."""
        indexed, plain = self.copies(host, pragmas)
        before, after = AROUND[around]
        statements = [*before, *CASES[case], *after]
        for number, statement in enumerate(statements, 1):
            self.assertEqual(outcome(indexed, statement), outcome(plain, statement), statement)
            self.assertEqual(indexed.rows("SELECT behind, broken FROM session_search_status"), [[0, None]], statement)
            if number in (len(statements) - len(after), len(statements)):
                self.assertEqual(differences(indexed, ENTRIES), [], statement)
        self.assertEqual(content(indexed), content(plain))
        messages = indexed.status("messages")
        self.assertEqual(messages, indexed.value("SELECT count(*) FROM session_search_message"))
        indexed.rows("INSERT INTO session_search_fts(session_search_fts) VALUES('integrity-check')")
        self.assertEqual(indexed.value("PRAGMA integrity_check"), "ok")
        for connection in (indexed, plain):
            connection.close()

    def test_every_statement_is_as_without_an_index_and_found_at_once(self):
        for name in SUPPORTED:
            host = self.host(name)
            for case in CASES:
                for around in AROUND:
                    with self.subTest(host=name, case=case, around=around):
                        self.play(host, case, around)

    def test_every_statement_under_settings_of_the_host(self):
        settings = (("recursive_triggers = on", "count_changes = on"), ("trusted_schema = off", "locking_mode = exclusive"))
        for name in PYTHON:
            host = self.host(name)
            for pragmas in settings:
                for case in CASES:
                    with self.subTest(host=name, case=case, pragmas=pragmas):
                        self.play(host, case, "alone", pragmas)

    def test_row_counts_of_the_binding(self):
        """Of Python's cursor, for each statement and for `executemany`. (apsw has no row count but changes().)"""
        host = self.host("debian")
        indexed, plain = self.world(host)
        statements = list(CASES.values())
        counts = [host.scene("row_counts", LIBRARY, file, statements, load) for file, load in ((indexed, True), (plain, False))]
        self.assertEqual(*counts)
        self.assertIn(7, counts[0], "an UPDATE of all rows")

    def test_many_appends_in_one_statement_are_found(self):
        """More than a write may take of the host's time at once."""
        for name in SUPPORTED:
            with self.subTest(host=name):
                indexed, plain = self.copies(self.host(name))
                sql = (
                    f"WITH RECURSIVE n(i) AS (VALUES(5) UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO {COLUMNS} SELECT 's1', i, "
                    "json_object('type', 'message', 'id', 'm' || i, 'parentId', 'm' || (i - 1), "
                    "'message', json_object('role', 'user', 'content', 'several w' || i)), i FROM n"
                )
                self.assertEqual(outcome(indexed, sql), outcome(plain, sql))
                self.assertEqual(indexed.status("behind"), 0)
                self.assertEqual(indexed.ids("w2999"), ["m2999"])
                self.assertEqual(indexed.status("messages"), 3002)

    def test_session_that_comes_after_its_events(self):
        for name in SUPPORTED:
            with self.subTest(host=name):
                connection, _ = self.copies(self.host(name), ("foreign_keys = off",))
                connection.rows(f"INSERT INTO {COLUMNS} VALUES('s9', 1, {event('m9', None, 'common nine')}, 9)")
                self.assertEqual(differences(connection, ("nine",)), [])
                connection.rows("INSERT INTO sessions(session_id, session_key, created_at) VALUES('s9', 'agent:main:nine', 9)")
                self.assertEqual(connection.ids("nine"), ["m9"])
                connection.rows("DELETE FROM sessions WHERE session_id = 's9'")
                self.assertEqual(differences(connection, ("nine",)), [])
                self.assertEqual(connection.ids("nine"), [])


class Settings(World):
    def test_changed_temp_store_takes_the_triggers_away_until_the_next_search(self):
        for name in SUPPORTED:
            for store in (2, 1):
                with self.subTest(host=name, temp_store=store):
                    connection, _ = self.copies(self.host(name))
                    self.assertEqual(connection.status("attached"), 1)
                    connection.rows(f"PRAGMA temp_store = {store}")
                    self.assertEqual(connection.value("SELECT count(*) FROM temp.sqlite_schema"), 0)
                    connection.rows(f"INSERT INTO {COLUMNS} VALUES('s1', 5, {FIVE}, 5)")
                    stamps = "SELECT count(*) FROM session_search_transcript WHERE source_stamp IS NOT indexed_stamp"
                    self.assertEqual(connection.value(stamps), 1)
                    self.assertEqual(differences(connection, ENTRIES), [])
                    self.assertEqual(connection.rows("SELECT attached, behind FROM session_search_status"), [[1, 0]])
                    connection.rows(f"INSERT INTO {COLUMNS} VALUES('s1', 6, {SIX}, 6)")
                    self.assertEqual(connection.value(stamps), 0, "connected again")
                    self.assertEqual(connection.ids("six"), ["m6"])

    def test_temp_store_changed_inside_a_transaction(self):
        for name in SUPPORTED:
            with self.subTest(host=name):
                connection, _ = self.copies(self.host(name))
                connection.rows("BEGIN")
                connection.rows(f"INSERT INTO {COLUMNS} VALUES('s1', 5, {FIVE}, 5)")
                try:
                    connection.rows("PRAGMA temp_store = 2")
                except SqliteError as error:
                    self.assertIn("temporary storage cannot be changed from within a transaction", str(error))
                connection.rows(f"INSERT INTO {COLUMNS} VALUES('s1', 6, {SIX}, 6)")
                self.assertEqual(differences(connection, ENTRIES), [])
                connection.rows("COMMIT")
                self.assertEqual(connection.ids("six"), ["m6"])
