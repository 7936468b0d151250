"""What goes wrong while the host writes: stopped statements, a full disk, a damaged index, triggers that do not fire. No row of the host is lost,
none of its writes fails for the index, and no search shows what is not there."""

import subprocess

from connections import SqliteError
from hosts import LIBRARY, PYTHON, SUPPORTED
from scenes_in_place import differences
from test_in_place import COLUMNS, ENTRIES, World, event

WRITES = ("append", "append several", "fork", "replace", "delete")
WHERE = ("alone", "transaction", "commit")


class Stopped(World):
    """After each run the database holds exactly the rows that the host was told are stored."""

    def fresh(self, host, page_size=4096):
        path = self.folder / f"{host.name}.sqlite"
        for old in self.folder.glob(f"{path.name}*"):
            old.unlink()
        _, writer = self.standalone(path.name)
        writer.execute("PRAGMA journal_mode = delete")
        writer.execute(f"PRAGMA page_size = {page_size}")
        writer.execute("VACUUM")
        writer.execute("PRAGMA journal_mode = wal")
        writer.close()
        host.installed(path).close()
        return path

    def test_progress_handler_that_stops(self):
        for name in PYTHON:
            host = self.host(name)
            for wanted in WRITES:
                for where in WHERE:
                    with self.subTest(host=name, write=wanted, where=where):
                        several = wanted == "append several"
                        every = (wanted, where) == ("append", "transaction")
                        steps = (1, 4000, 61) if several else (1, 400, 1 if every else 40 if where == "commit" else 7)
                        result = host.scene("stopped_by_progress", LIBRARY, self.fresh(host), wanted, where, *steps)
                        self.assertEqual(result["faults"], [])
                        self.assertGreater(result["refused"], 0)
                        if wanted == "append":
                            self.assertLess(result["refused"], result["runs"], "so many steps are enough in the end")

    def test_calls_of_ours_that_are_stopped(self):
        for name in PYTHON:
            with self.subTest(host=name):
                host = self.host(name)
                template, _ = self.world(host)
                result = host.scene("lost_in_silence", LIBRARY, template, self.folder, 0, 900, 13)
                self.assertEqual(result["faults"], [])
                self.assertGreater(result["stopped"], 20)

    def test_interrupt_from_another_thread(self):
        for name in PYTHON:
            for where in ("alone", "transaction"):
                with self.subTest(host=name, where=where):
                    host = self.host(name)
                    result = host.scene("interrupted_by_a_thread", LIBRARY, self.fresh(host), where, 1)
                    self.assertEqual(result["faults"], [])
                    self.assertGreater(result["refused"], 0)

    def test_full_disk(self):
        for name in PYTHON:
            host = self.host(name)
            template = self.fresh(host, 512)
            for wanted in WRITES:
                for where, journal in (("alone", "wal"), ("transaction", "delete" if wanted == "fork" else "wal")):
                    with self.subTest(host=name, write=wanted, where=where, journal=journal):
                        result = host.scene("full_disk", LIBRARY, template, self.folder, wanted, where, journal)
                        self.assertEqual(result["faults"], [])
                        self.assertEqual(result["refused"] == 0, (wanted, where) == ("delete", "alone"), "a row less needs no page")


# What may be done to an index, as SQL of a connection without the extension.
STRUCTURE, AVERAGES, PAGES = (f"session_search_fts_data SET block = %s WHERE {rows}" for rows in ("id = 10", "id = 1", "id > 10"))
GARBAGE = {
    "zeros": "zeroblob(length(block))",
    "ones": "CAST(replace(hex(zeroblob(length(block))), '00', char(255)) AS BLOB)",
    "half": "substr(block, 1, length(block) / 2)",
    "nothing": "x''",
    "null": "NULL",
    "text": "'abc'",
    "more": "CAST(block || x'ffffffffffff' AS BLOB)",
}
DAMAGES = {
    **{f"structure: {what}": [f"UPDATE {STRUCTURE % how}"] for what, how in GARBAGE.items()},
    **{f"averages: {what}": [f"UPDATE {AVERAGES % GARBAGE[what]}"] for what in ("ones", "half", "nothing", "text")},
    **{f"pages: {what}": [f"UPDATE {PAGES % GARBAGE[what]}"] for what in ("zeros", "ones", "half", "nothing")},
    # One level of 2^31 - 1 segments.
    "structure asks for too much memory": ["UPDATE " + STRUCTURE % "x'0000000001010000" "87ffffff7f'"],
    "structure deleted": ["DELETE FROM session_search_fts_data WHERE id = 10"],
    "averages deleted": ["DELETE FROM session_search_fts_data WHERE id = 1"],
    "pages deleted": ["DELETE FROM session_search_fts_data WHERE id > 10"],
    "data deleted": ["DELETE FROM session_search_fts_data"],
    "idx deleted": ["DELETE FROM session_search_fts_idx"],
    "idx leads elsewhere": ["UPDATE session_search_fts_idx SET pgno = 99999"],
    "docsize deleted": ["DELETE FROM session_search_fts_docsize"],
    "docsize garbage": ["UPDATE session_search_fts_docsize SET sz = x'ffffffffff'"],
    "docsize of rows to come": [
        "INSERT OR IGNORE INTO session_search_fts_docsize(id, sz) SELECT (1 << 24) + value, x'05' FROM generate_series"
    ],
    "config deleted": ["DELETE FROM session_search_fts_config"],
    "config of another version": ["UPDATE session_search_fts_config SET v = 99 WHERE k = 'version'"],
    "config garbage": ["INSERT OR REPLACE INTO session_search_fts_config(k, v) VALUES('pgsz', -5), ('automerge', 'x'), ('crisismerge', 1)"],
    **{
        f"{table} missing": [f"DELETE FROM sqlite_schema WHERE tbl_name = 'session_search_{table}' AND type IN ('table', 'index')"]
        for table in ("fts", "fts_data", "fts_idx", "fts_docsize", "fts_config", "message", "meta")
    },
    **{f"{table} dropped": [f"DROP TABLE session_search_{table}"] for table in ("message", "meta")},
    "tokenizer of another": ["UPDATE sqlite_schema SET sql = replace(sql, 'session_search'')', 'nobody'')') WHERE name = 'session_search_fts'"],
    "module of another": ["UPDATE sqlite_schema SET sql = replace(sql, 'fts5', 'nobody') WHERE name = 'session_search_fts'"],
    "fts of other columns": ["UPDATE sqlite_schema SET sql = replace(sql, '(text,', '(other, text,') WHERE name = 'session_search_fts'"],
    "message emptied": ["DELETE FROM session_search_message"],
    "message holds rows to come": [
        "INSERT OR IGNORE INTO session_search_message(id, message_id, role, timestamp, source_hash, tokens) "
        "SELECT (1 << 24) + value, 'x', 'user', 1, 1, 1 FROM generate_series"
    ],
    "message of other columns": ["ALTER TABLE session_search_message RENAME COLUMN tokens TO other"],
    "message is a view": ["DROP TABLE session_search_message", "CREATE VIEW session_search_message AS SELECT 1 AS id"],
    "message with a trigger": [
        "CREATE TRIGGER other BEFORE INSERT ON session_search_message BEGIN SELECT RAISE(ABORT, 'not you'); END",
        "CREATE TRIGGER another BEFORE DELETE ON session_search_message BEGIN SELECT RAISE(FAIL, 'not you'); END",
    ],
    "meta emptied": ["DELETE FROM session_search_meta"],
    "meta of a newer format": ["UPDATE session_search_meta SET value = '999.1.1.1' WHERE key = 'format'"],
    "meta of an older format": ["UPDATE session_search_meta SET value = '0.0.0.0' WHERE key = 'format'"],
    "meta of another identity": ["UPDATE session_search_meta SET value = 'x' WHERE key = 'identity'"],
    "transcript emptied": ["DELETE FROM session_search_transcript"],
    "transcript of other ids": ["UPDATE session_search_transcript SET id = id + 1000"],
    "transcript of an id too large": ["UPDATE session_search_transcript SET id = 9223372036854775807 WHERE id = 1"],
    "transcript of other types": ["UPDATE session_search_transcript SET messages = 'x', tokens = x'00', unreadable = 1.5"],
    "transcript of other columns": ["ALTER TABLE session_search_transcript RENAME COLUMN tokens TO other"],
    "transcript with a column less": ["ALTER TABLE session_search_transcript DROP COLUMN unreadable"],
}
# What fails so far: where FTS5 asks for too much memory; and a search for words that an update has taken away where FTS5 cannot tell which rows
# they are in.
KNOWN = {
    ("debian", "structure asks for too much memory", "before"),
    *(("apsw-new", "structure asks for too much memory", moment) for moment in ("after", "within")),
    *(("apsw-new", "docsize deleted", moment) for moment in ("before", "after")),
}
# What the host writes then, as scenes_in_place.py has it: all of it has to succeed.
HOST_WRITES = ("append", "transaction", "several", "savepoint", "replace", "update", "delete", "cascade", "fork", "new session")


class Damaged(World):
    """A broken index fails no write of the host.

    Not among the damages: session_search_transcript dropped while the plain triggers stand, which write into it; and pages of the file that are
    overwritten, which SQLite takes for a corrupt database wherever it meets them.
    """

    def test_host_writes_go_on(self):
        for name in PYTHON:
            host = self.host(name)
            template, plain = self.world(host)
            for case, damage in DAMAGES.items():
                for moment in ("before", "after", "within"):
                    with self.subTest(host=name, damage=case, moment=moment):
                        writes = HOST_WRITES if moment == "before" else ("append", "transaction", "update", "cascade")
                        faults = host.scene("damaged", LIBRARY, template, plain, damage, moment, writes)
                        if (name, case, moment) in KNOWN:
                            self.assertNotEqual(faults, [], "repaired: take it out of KNOWN")
                        else:
                            self.assertEqual(faults, [])


def append(seq, word):
    return f"INSERT INTO {COLUMNS} VALUES('s1', {seq}, {event(f'm{seq}', f'm{seq - 1}', f'common {word}')}, {seq})"


def trigger(timing, operation, what):
    """A trigger of the host on the event with seq 6."""
    row = "old" if operation == "DELETE" else "new"
    return f"CREATE TRIGGER other {timing} {operation} ON transcript_events WHEN {row}.seq = 6 BEGIN SELECT RAISE({what}); END"


# Triggers of the host that keep a plain trigger of ours from firing, or undo what it did.
RAISES = ("IGNORE", "FAIL, 'no'", "ABORT, 'no'", "ROLLBACK, 'no'")
APPENDS = [append(5, "five"), append(6, "six"), append(7, "seven")]
CHANGES = [
    "UPDATE transcript_events SET event_json = replace(event_json, 'six', 'other') WHERE seq = 6",
    "DELETE FROM transcript_events WHERE seq = 6",
]
# One statement on the event with seq 6, whether it is there or not.
AGAIN = append(6, "again").replace("INSERT", "REPLACE", 1)
OURS = ("insert", "update", "move", "delete")
OUTSIDE = [
    append(5, "five"),
    "UPDATE transcript_events SET event_json = replace(event_json, 'two', 'other') WHERE session_id = 's1' AND seq = 2",
    "DELETE FROM transcript_events WHERE session_id = 's1' AND seq = 4",
    "UPDATE transcript_events SET session_id = 's3' WHERE session_id = 's2' AND seq = 3",
    "UPDATE transcript_events SET seq = 40 WHERE session_id = 's1' AND seq = 3",
]


class NeverFalselyInStep(World):
    """Where a plain trigger has not fired, nothing wrong is found, and after reconcile everything."""

    def attempt(self, connection, statement):
        try:
            connection.rows(statement)
        except SqliteError as error:
            self.assertEqual(str(error), "no")

    def assert_right(self, indexed, words=()):
        """On a connection that cannot write, a new one and the old one."""
        words = [*ENTRIES, "seven", *words]
        path = indexed.rows("PRAGMA database_list")[0][2]
        reader, new = indexed.host.open(path, "ro"), indexed.host.open(path)
        try:
            self.assertEqual(differences(reader, words), [], "read only")
        except SqliteError as error:
            self.assertIn("attempt to write a readonly database while preparing the index", str(error))
        self.assertEqual(differences(new, words), [], "new connection")
        self.assertEqual(differences(indexed, words), [], "old connection")
        for connection in (new, indexed):
            self.assertEqual(connection.value("SELECT session_search_reconcile()"), 0)
            self.assertEqual(connection.rows("SELECT behind, attached, broken FROM session_search_status"), [[0, 1, None]])
            self.assertEqual(differences(connection, words), [], "after reconcile")
        for connection in (reader, new):
            connection.close()

    def test_host_trigger_that_stops_others(self):
        """The statements are of the connection with the extension, or of one without, or the latter changes the very event that the former has
        written without the plain trigger."""
        for name in SUPPORTED:
            host = self.host(name)
            for what in RAISES:
                for timing in ("BEFORE", "AFTER"):
                    for operation in ("INSERT", "UPDATE", "DELETE"):
                        for then in ("own", "outside", "same event"):
                            with self.subTest(host=name, what=what, timing=timing, operation=operation, then=then):
                                indexed, _ = self.copies(host)
                                other = host.open(indexed.rows("PRAGMA database_list")[0][2], load=False)
                                other.rows(trigger(timing, operation, what))
                                first, second = (other, indexed) if then == "outside" else (indexed, other)
                                changes = CHANGES if operation == "DELETE" or then != "same event" else CHANGES[: operation == "UPDATE"]
                                for statement in (*APPENDS[:2], *changes):
                                    self.attempt(first, statement)
                                if then == "same event":
                                    other.rows("DROP TRIGGER other")
                                    other.rows(AGAIN)
                                else:
                                    self.attempt(second, APPENDS[2])
                                    self.attempt(first, append(8, "eight"))
                                self.assert_right(indexed, ("eight", "again"))
                                other.close()
                                indexed.close()

    def test_plain_trigger_that_is_gone_or_another(self):
        for name in SUPPORTED:
            host = self.host(name)
            for ours in (*OURS, "all"):
                for instead in ("", "another"):
                    with self.subTest(host=name, trigger=ours, instead=instead):
                        indexed, _ = self.copies(host)
                        other = host.open(indexed.rows("PRAGMA database_list")[0][2], load=False)
                        for one in OURS if ours == "all" else (ours,):
                            other.rows(f"DROP TRIGGER session_search_{one}")
                            if instead:
                                other.rows(f"CREATE TRIGGER session_search_{one} AFTER INSERT ON transcript_events BEGIN SELECT 1; END")
                        for statement in OUTSIDE:
                            other.rows(statement)
                        self.assert_right(indexed)
                        # They are there again.
                        other.rows("UPDATE transcript_events SET event_json = replace(event_json, 'common', 'usual')")
                        self.assertEqual(indexed.status("behind"), 2 + 1)
                        self.assert_right(indexed)
                        other.close()
                        indexed.close()

    def test_plain_trigger_that_is_gone_while_this_connection_writes(self):
        for name in SUPPORTED:
            host = self.host(name)
            for ours in OURS:
                with self.subTest(host=name, trigger=ours):
                    indexed, _ = self.copies(host)
                    other = host.open(indexed.rows("PRAGMA database_list")[0][2], load=False)
                    other.rows(f"DROP TRIGGER session_search_{ours}")
                    for number, statement in enumerate(OUTSIDE):
                        (other if number % 2 else indexed).rows(statement)
                    self.assert_right(indexed)
                    other.close()
                    indexed.close()

    def test_triggers_switched_off(self):
        """On this connection, by SQLITE_DBCONFIG_ENABLE_TRIGGER. TEMP triggers fire all the same."""
        host = self.host("apsw-new")
        template, _ = self.world(host)
        statements = [*OUTSIDE, append(9, "nine"), "DELETE FROM sessions WHERE session_id = 's3'"]
        for count in range(1, len(statements) + 1):
            for then in (append(50, "fifty"), *(append(seq, "again").replace("INSERT", "REPLACE", 1) for seq in (2, 4, 5, 9, 40))):
                for outside in (False, True):
                    with self.subTest(count=count, then=then, outside=outside):
                        self.assertEqual(host.scene("triggers_off", LIBRARY, template, statements[:count], then, outside), [])

    def test_triggers_switched_off_in_the_shell(self):
        """The same on 3.40.1, where Python's module has no such switch. A connection without the extension leaves no trace at all then: nothing
        wrong is found, but new text is missing until the transcript is written again."""
        host = self.host("debian")
        for load in ([f".load {LIBRARY}"], []):
            for count in range(1, len(OUTSIDE) + 1):
                with self.subTest(load=load, count=count):
                    indexed, _ = self.copies(host)
                    commands = [*load, ".dbconfig enable_trigger off", *OUTSIDE[:count]]
                    path = indexed.rows("PRAGMA database_list")[0][2]
                    ran = subprocess.run(["sqlite3", "-batch", "-init", "/dev/null", path, *commands], capture_output=True, text=True)
                    self.assertEqual(ran.stderr, "")
                    new = host.open(path)
                    for one in (new, indexed):
                        self.assertEqual(differences(one, ENTRIES, only_more=not load), [])
                    indexed.rows("UPDATE transcript_events SET event_json = replace(event_json, 'common', 'usual')")
                    for one in (new, indexed):
                        self.assertEqual(differences(one, ENTRIES), [])
                    new.close()
                    indexed.close()
