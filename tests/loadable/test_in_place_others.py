"""Connections without the extension on a database with the index in it, copies of such a database, and changes of its tables."""

import subprocess

from connections import SqliteError
from hosts import LIBRARY, SUPPORTED
from scenes_in_place import differences
from test_in_place import CASES, COLUMNS, ENTRIES, FIVE, SIX, World, content, event

# Host programs with the extension, and those that write beside them without it.
PAIRS = (("debian", "debian"), ("debian", "apsw-new"), ("apsw-new", "debian"), ("apsw-new", "apsw-new"), ("node", "debian"))
DIFFERENT = (("debian", "apsw-new"), ("apsw-new", "debian"), ("node", "apsw-new"))
OLDER = "the index was made by SQLite 3.43 or newer and this is an older one: use a newer SQLite"


def path_of(connection):
    return connection.rows("PRAGMA database_list")[0][2]


# The tokenizer is not there; or, before that, a newer SQLite's option is not known.
REFUSED = "no such tokenizer: session_search|unrecognized option: \"contentless_delete\""


class WithoutExtension(World):
    def untrusting(self, host, path):
        """A connection without the extension that trusts no schema."""
        connection = host.open(path, load=False)
        for pragma in ("trusted_schema = off", "synchronous = off", "foreign_keys = on"):
            connection.rows(f"PRAGMA {pragma}")
        return connection

    def test_every_statement_is_behind_never_wrong_and_in_step_after_reconcile(self):
        for name, other in DIFFERENT:
            host, other = self.host(name), self.host(other)
            for case in CASES:
                with self.subTest(host=name, other=other.name, case=case):
                    indexed, plain = self.copies(host)
                    path = path_of(indexed)
                    writer = self.untrusting(other, path)
                    # One that cannot index what it finds.
                    reader = host.open(path, "ro")
                    before = content(writer)[1]
                    for statement in CASES[case]:
                        for connection in (writer, plain):
                            try:
                                connection.rows(statement)
                            except SqliteError:
                                pass
                        self.assertEqual(differences(reader, ENTRIES), [], statement)
                    self.assertEqual(content(writer), content(plain))
                    behind = indexed.status("behind")
                    if content(writer)[1] != before:
                        self.assertGreater(behind, 0)
                    self.assertEqual(reader.status("behind"), behind)
                    self.assertEqual(indexed.value("SELECT session_search_reconcile()"), 0)
                    self.assertEqual(indexed.rows("SELECT behind, broken FROM session_search_status"), [[0, None]])
                    for connection in (indexed, reader):
                        self.assertEqual(differences(connection, ENTRIES), [])
                    for connection in (indexed, plain, writer, reader):
                        connection.close()

    def test_rolled_back_outside_write_leaves_everything_in_step(self):
        for name, other in PAIRS:
            with self.subTest(host=name, other=other):
                indexed, _ = self.copies(self.host(name))
                writer = self.untrusting(self.host(other), path_of(indexed))
                writer.rows("BEGIN")
                writer.rows("DELETE FROM transcript_events")
                self.assertEqual(differences(indexed), [])
                writer.rows("ROLLBACK")
                self.assertEqual(indexed.status("behind"), 0)
                self.assertEqual(differences(indexed), [])

    def test_outside_and_inside_writes_in_turn(self):
        """Each takes what the other left, whether it is in step or not."""
        for name, other in PAIRS:
            with self.subTest(host=name, other=other):
                indexed, _ = self.copies(self.host(name))
                path = path_of(indexed)
                writer, reader = self.untrusting(self.host(other), path), self.host(name).open(path, "ro")
                for seq in range(5, 25):
                    text = event(f"m{seq}", f"m{seq - 1}", f"common turn{seq}")
                    (writer if seq % 3 else indexed).rows(f"INSERT INTO {COLUMNS} VALUES('s1', {seq}, {text}, 9)")
                    if seq % 7 == 0:
                        self.assertEqual(indexed.value("SELECT session_search_reconcile()"), 0)
                    if seq % 5 == 0:
                        (indexed if seq % 2 else writer).rows(f"DELETE FROM transcript_events WHERE session_id = 's1' AND seq = {seq}")
                    self.assertEqual(differences(reader, [f"turn{seq}"]), [])
                self.assertEqual(differences(indexed), [])
                self.assertEqual(indexed.status("behind"), 0)

    def test_checks_of_sqlite_itself_pass(self):
        """From 3.44 on SQLite checks FTS5 tables too, and for one with a text of its own, as 3.40 makes it, it needs the tokenizer. (3.44 to 3.46,
        not among the hosts, need it for every one.)"""
        for name, other in PAIRS:
            with self.subTest(host=name, other=other):
                indexed, _ = self.copies(self.host(name))
                writer = self.untrusting(self.host(other), path_of(indexed))
                for check in ("PRAGMA integrity_check", "PRAGMA quick_check"):
                    if (name, other) == ("debian", "apsw-new"):
                        self.assertEqual(writer.error(check), "SQL logic error")
                        self.assertEqual(self.host(other).open(path_of(indexed)).value(check), "ok")
                    else:
                        self.assertEqual(writer.value(check), "ok")
                self.assertEqual(writer.rows("PRAGMA foreign_key_check"), [])

    def test_older_sqlite_with_the_extension_leaves_a_newer_index_behind(self):
        """The text of the index is written in another way from 3.43 on, which 3.40 cannot read."""
        indexed, _ = self.copies(self.host("apsw-new"))
        path = path_of(indexed)
        older = self.host("debian").open(path)
        older.rows("PRAGMA foreign_keys = on")
        for statement in (
            f"INSERT INTO {COLUMNS} VALUES('s1', 5, {FIVE}, 5)",
            "DELETE FROM sessions WHERE session_id = 's2'",
            "UPDATE transcript_events SET event_json = replace(event_json, 'two', 'other') WHERE seq = 2",
        ):
            older.rows(statement)
            self.assertIn(OLDER, older.error("SELECT * FROM sessions_search('common', 'agent:main:main')"))
            self.assertIn(OLDER, older.error("SELECT session_search_reconcile()"))
        self.assertIn(OLDER, older.status("broken"))
        self.assertEqual(indexed.status("behind"), 2)
        self.assertEqual(differences(indexed, ENTRIES), [])
        self.assertEqual(indexed.status("behind"), 0)

    def test_newer_sqlite_goes_on_with_an_older_index(self):
        indexed, _ = self.copies(self.host("debian"))
        path = path_of(indexed)
        for name in ("apsw-new", "node"):
            with self.subTest(host=name):
                newer = self.host(name).open(path)
                for word, connection in enumerate((newer, indexed, newer)):
                    connection.rows("DELETE FROM transcript_events WHERE session_id = 's1' AND seq > 4")
                    connection.rows(f"INSERT INTO {COLUMNS} VALUES('s1', 5, {event('m5', 'm4', f'common {name} w{word}')}, 5)")
                    for one in (newer, indexed):
                        self.assertEqual(one.status("behind"), 0)
                        self.assertEqual(differences(one, ("w0", "w1", "w2")), [])
                newer.close()


# The tokenizer is not there; or, before that, a newer SQLite's option is not known.
REFUSED = "no such tokenizer: session_search|unrecognized option: \"contentless_delete\""


class IndexTables(World):
    def test_the_index_tables(self):
        """As docs/in-place.md says."""
        for name, other in PAIRS:
            with self.subTest(host=name, other=other):
                indexed, _ = self.copies(self.host(name))
                plain = self.host(other).open(path_of(indexed), load=False)
                plain.rows("PRAGMA trusted_schema = off")
                for table in ("meta", "transcript", "message"):
                    self.assertGreater(plain.value(f"SELECT count(*) FROM session_search_{table}"), 0)
                self.assertRegex(plain.error("SELECT * FROM session_search_fts('common')"), REFUSED)
                plain.rows("BEGIN")
                drop = "DROP TABLE session_search_fts"
                if other == "apsw-new":
                    plain.rows(drop)
                else:
                    self.assertRegex(plain.error(drop), REFUSED)
                plain.rows("ROLLBACK")
                plain.close()


class Copies(World):
    """A copy made without the extension is searchable, and goes on as the original does."""

    def assert_copy(self, host, path, behind):
        connection = host.open(path)
        connection.rows("PRAGMA foreign_keys = on")
        self.assertEqual(connection.rows("SELECT attached, behind FROM session_search_status"), [[1, behind]])
        self.assertEqual(differences(connection, ENTRIES), [])
        connection.rows(f"INSERT INTO {COLUMNS} VALUES('s1', 6, {SIX}, 6)")
        connection.rows("DELETE FROM sessions WHERE session_id = 's2'")
        self.assertEqual(connection.status("behind"), 0)
        self.assertEqual(differences(connection, ENTRIES), [])
        connection.rows("INSERT INTO session_search_fts(session_search_fts) VALUES('integrity-check')")
        self.assertEqual(connection.value("PRAGMA integrity_check"), "ok")
        connection.close()

    def each(self, copy, others=("debian", "apsw-new")):
        """Copies a database in step, and one with an outside write, by `copy(writer, path, target)`, and looks at the target."""
        for name, other in PAIRS:
            for behind in (0, 1) if other in others else ():
                with self.subTest(host=name, other=other, behind=behind):
                    host = self.host(name)
                    indexed, _ = self.copies(host)
                    path, target = path_of(indexed), self.folder / f"{name}-{other}-{behind}.sqlite"
                    writer = self.host(other).open(path, load=False)
                    writer.rows("PRAGMA trusted_schema = off")
                    (writer if behind else indexed).rows(f"INSERT INTO {COLUMNS} VALUES('s1', 5, {FIVE}, 5)")
                    copy(writer, path, target)
                    self.assert_copy(host, target if target.exists() else path, behind)

    def test_vacuum(self):
        def vacuum(writer, *_):
            writer.rows("DELETE FROM transcript_events WHERE session_id = 's3'")
            writer.rows("VACUUM")

        self.each(vacuum)

    def test_vacuum_into(self):
        self.each(lambda writer, _, target: writer.rows("VACUUM INTO ?", str(target)))

    def test_backup(self):
        """(Of node only as a database that another program backs up.)"""
        self.each(lambda writer, path, target: writer.host.scene("backup", path, target))

    def test_dump_of_the_shell(self):
        """3.40.1. (Python's `iterdump` cannot write any FTS5 table before 3.13.)"""

        def dump(_, path, target):
            self.restore(self.dump(path, "PRAGMA trusted_schema = off"), target)

        self.each(dump, ("debian",))

    def test_dump_of_the_shell_with_the_extension(self):
        """3.40.1, which cannot write the index of a newer SQLite; the pair with node has one."""

        def dump(_, path, target):
            self.restore(self.dump(path, f".load {LIBRARY}"), target)

        self.each(dump, ("debian",))

    def test_dump_of_the_shell_of_apsw(self):
        def dump(writer, path, target):
            self.assertNotIn("session_search_apply", writer.host.scene("dump", path, target))

        self.each(dump, ("apsw-new",))

    def dump(self, path, first):
        ran = subprocess.run(["sqlite3", "-batch", "-init", "/dev/null", "-cmd", first, path, ".dump"], capture_output=True, text=True)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertNotIn("session_search_apply", ran.stdout, "nothing of a connection's own")
        return ran.stdout

    def restore(self, dump, target):
        ran = subprocess.run(["sqlite3", "-batch", "-init", "/dev/null", target], input=dump, capture_output=True, text=True)
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))


# What may happen to the host's tables, and what undoes it. Between them, the host writes as always.
REBUILT = (
    "CREATE TABLE rebuilt(session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json NOT NULL, created_at INTEGER NOT NULL, note TEXT, "
    "PRIMARY KEY(session_id, seq))"
)
REBUILD = (
    REBUILT,
    "INSERT INTO rebuilt SELECT session_id, seq, event_json, created_at, note FROM transcript_events",
    "DROP TABLE transcript_events",
    "ALTER TABLE rebuilt RENAME TO transcript_events",
)
REBUILD_OTHERWISE = (
    "ALTER TABLE transcript_events RENAME TO old_events",
    REBUILT.replace("rebuilt", "transcript_events"),
    "INSERT INTO transcript_events SELECT session_id, seq, event_json, created_at, note FROM old_events",
)
ALTERATIONS = {
    "rename a column": ("ALTER TABLE transcript_events RENAME COLUMN note TO remark", "ALTER TABLE transcript_events RENAME COLUMN remark TO note"),
    "add a column": ("ALTER TABLE transcript_events ADD COLUMN more INTEGER DEFAULT 7", "ALTER TABLE transcript_events DROP COLUMN more"),
    "drop a column": ("ALTER TABLE transcript_events DROP COLUMN note", "ALTER TABLE transcript_events ADD COLUMN note TEXT"),
    "rename a table": ("ALTER TABLE unrelated RENAME TO foreign_to_us", "ALTER TABLE foreign_to_us RENAME TO unrelated"),
    "rename a column of the sessions": ("ALTER TABLE sessions RENAME COLUMN note TO remark", "ALTER TABLE sessions RENAME COLUMN remark TO note"),
    "add an index": ("CREATE INDEX by_time ON transcript_events(created_at)", "DROP INDEX by_time"),
    "add a trigger": (
        "CREATE TRIGGER other AFTER INSERT ON transcript_events BEGIN UPDATE sessions SET note = new.seq WHERE session_id = new.session_id; END",
        "DROP TRIGGER other",
    ),
    "add a trigger that fires before": (
        "CREATE TRIGGER other BEFORE INSERT ON transcript_events BEGIN UPDATE sessions SET note = new.seq WHERE session_id = new.session_id; END",
        "DROP TRIGGER other",
    ),
    "add a view and a table": ("CREATE VIEW v AS SELECT * FROM transcript_events", "DROP VIEW v"),
    "rebuild the table": (REBUILD, "SELECT 1"),
    "rebuild the table in a transaction": (("BEGIN", *REBUILD, "COMMIT"), "SELECT 1"),
    "rebuild the table beside the old one": (REBUILD_OTHERWISE, "DROP TABLE old_events"),
    "rename the table and back": (
        ("ALTER TABLE transcript_events RENAME TO old_events", "ALTER TABLE old_events RENAME TO transcript_events"),
        "SELECT 1",
    ),
    "analyze": ("ANALYZE", "DROP TABLE sqlite_stat1"),
    "vacuum": ("VACUUM", "SELECT 1"),
}
ALTERS_EVENTS = [steps for case, steps in ALTERATIONS.items() if "the table" in case or case.endswith(" a column")]
# Those after which the transcripts cannot be read until it is undone: the host writes on, and a search says why not.
UNREADABLE = {
    "rename the column of events": (
        "ALTER TABLE transcript_events RENAME COLUMN event_json TO event",
        "ALTER TABLE transcript_events RENAME COLUMN event TO event_json",
    ),
    "rename the table of sessions": ("ALTER TABLE sessions RENAME TO conversations", "ALTER TABLE conversations RENAME TO sessions"),
}


class Alterations(World):
    def prepared(self, host):
        indexed, _ = self.copies(host)
        indexed.rows("ALTER TABLE transcript_events ADD COLUMN note TEXT DEFAULT 'n'")
        indexed.rows("ALTER TABLE sessions ADD COLUMN note TEXT DEFAULT 'n'")
        indexed.rows("CREATE TABLE unrelated(x)")
        self.assertEqual(differences(indexed, ENTRIES), [])
        return indexed, path_of(indexed)

    def each(self, alterations, judge):
        """Altered by a connection without the extension, or by the very one that writes; `judge(indexed, altering, there, back)`."""
        for name in SUPPORTED:
            host = self.host(name)
            for case, steps in alterations.items():
                for own in (False, True):
                    with self.subTest(host=name, case=case, own=own):
                        indexed, path = self.prepared(host)
                        altering = indexed if own else host.open(path, load=False)
                        judge(indexed, altering, *steps)
                        altering.close()
                        if not own:
                            indexed.close()

    def alter(self, connection, statements):
        for statement in [statements] if isinstance(statements, str) else statements:
            connection.rows(statement)

    def append(self, connection, seq):
        column = connection.value("SELECT name FROM pragma_table_info('transcript_events') WHERE name LIKE 'event%'")
        text = event(f"m{seq}", f"m{seq - 1}", f"common alter{seq}")
        connection.rows(f"INSERT INTO transcript_events(session_id, seq, created_at, {column}) VALUES('s1', {seq}, {seq}, {text})")

    def test_host_writes_go_on_and_are_found(self):
        words = [*ENTRIES, *(f"alter{seq}" for seq in range(5, 12))]

        def judge(indexed, altering, *steps):
            reader = indexed.host.open(path_of(indexed), "ro")
            for number, step in enumerate(steps):
                self.alter(altering, step)
                seq = 5 + 3 * number
                self.append(indexed, seq)
                self.append(altering, seq + 1)
                indexed.rows(f"DELETE FROM transcript_events WHERE session_id = 's1' AND seq = {number + 1}")
                self.append(indexed, seq + 2)
                try:
                    self.assertEqual(differences(reader, words), [], step)
                except SqliteError as error:
                    # What the plain triggers may have missed has to be noted before it can be searched.
                    self.assertIn("attempt to write a readonly database while preparing the index", str(error))
                    self.assertIn(steps, ALTERS_EVENTS)
                self.assertEqual(indexed.value("SELECT session_search_reconcile()"), 0)
                self.assertEqual(differences(indexed, words), [], step)
                self.assertEqual(indexed.rows("SELECT behind, attached, broken FROM session_search_status"), [[0, 1, None]], step)
                self.append(indexed, 20 + number)
                self.assertEqual(indexed.status("behind"), 0, step)
                self.assertEqual(differences(indexed), [], step)
            reader.close()

        self.each(ALTERATIONS, judge)

    def test_host_writes_go_on_while_transcripts_cannot_be_read(self):
        def judge(indexed, altering, there, back):
            indexed.rows("PRAGMA foreign_keys = on")
            self.alter(altering, there)
            self.append(indexed, 5)
            indexed.rows("DELETE FROM transcript_events WHERE session_id = 's1' AND seq = 2")
            text = indexed.error("SELECT * FROM sessions_search('common', 'agent:main:main')")
            self.assertIn("the host database has changed and holds no transcripts any more", text)
            self.alter(altering, back)
            self.append(indexed, 6)
            self.assertEqual(differences(indexed, ENTRIES), [])
            self.append(indexed, 7)
            self.assertEqual(indexed.status("behind"), 0)
            self.assertEqual(differences(indexed, ENTRIES), [])

        self.each(UNREADABLE, judge)
