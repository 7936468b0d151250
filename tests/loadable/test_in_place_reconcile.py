"""Reconcile in every state of the caller's transaction, and beside other processes."""

import concurrent.futures

from connections import SqliteError
from hosts import LIBRARY, PYTHON, SUPPORTED
from scenes_in_place import differences
from test_in_place import COLUMNS, ENTRIES, FIVE, SIX, World, event

BUSY = "database is locked"
INSIDE_A_WRITE = "the index cannot be written from inside a statement that writes: use a plain SELECT"
RECONCILE = "SELECT session_search_reconcile()"
OUTSIDE = (
    f"INSERT INTO {COLUMNS} VALUES('s1', 5, {FIVE}, 5)",
    "UPDATE transcript_events SET event_json = replace(event_json, 'zwei', 'other') WHERE session_id = 's2'",
    f"INSERT INTO {COLUMNS} VALUES('s3', 1, {event('k1', None, 'common first')}, 9)",
)
OWN = f"INSERT INTO {COLUMNS} VALUES('s1', 6, {SIX}, 6)"
TWO = f"{OWN}, ('s1', 7, {event('m7', 'm6', 'common seven')}, 7) RETURNING seq"
# What the caller has begun, and how it ends.
STATES = {
    "autocommit": ([], []),
    "transaction": (["BEGIN"], ["COMMIT"]),
    "transaction that has read": (["BEGIN", "SELECT count(*) FROM transcript_events"], ["COMMIT"]),
    "transaction that has written": (["BEGIN", OWN], ["COMMIT"]),
    "transaction that writes later": (["BEGIN"], [OWN, "COMMIT"]),
    "transaction that is rolled back": (["BEGIN", OWN], ["ROLLBACK"]),
    "immediate": (["BEGIN IMMEDIATE"], ["COMMIT"]),
    "exclusive": (["BEGIN EXCLUSIVE", OWN], ["COMMIT"]),
    "savepoint": (["SAVEPOINT a"], ["RELEASE a"]),
    "savepoints": (["SAVEPOINT a", OWN, "SAVEPOINT b"], ["RELEASE b", "RELEASE a"]),
    "savepoint that is rolled back": (["SAVEPOINT a", "SAVEPOINT b", OWN], ["ROLLBACK TO b", "RELEASE a"]),
    "savepoint named as ours": (["SAVEPOINT session_search", OWN], ["RELEASE session_search"]),
}


class Reconcile(World):
    def behind(self, host):
        """A connection to a database with three transcripts behind, and the one without the extension that did it."""
        indexed, _ = self.copies(host)
        other = host.open(indexed.rows("PRAGMA database_list")[0][2], load=False)
        other.rows("PRAGMA synchronous = off")
        for statement in OUTSIDE:
            other.rows(statement)
        self.assertEqual(indexed.status("behind"), 3)
        return indexed, other

    def in_step(self, connection):
        self.assertEqual(connection.value(RECONCILE), 0)
        self.assertEqual(connection.rows("SELECT behind, broken FROM session_search_status"), [[0, None]])
        self.assertEqual(differences(connection, ENTRIES), [])
        connection.rows("INSERT INTO session_search_fts(session_search_fts) VALUES('integrity-check')")

    def test_every_state_of_the_transaction(self):
        for name in SUPPORTED:
            host = self.host(name)
            for state, (before, after) in STATES.items():
                for call in (RECONCILE, "SELECT session_search_reconcile(1000)"):
                    with self.subTest(host=name, state=state, call=call):
                        indexed, other = self.behind(host)
                        for statement in before:
                            indexed.rows(statement)
                        kept = indexed.rows("SELECT last_insert_rowid()")
                        self.assertEqual(indexed.value(call), 0)
                        self.assertEqual(indexed.rows("SELECT last_insert_rowid()"), kept)
                        self.assertEqual(indexed.status("behind"), 0)
                        self.assertEqual(differences(indexed, ENTRIES), [])
                        if before:
                            self.assertIn("within a transaction", indexed.error("BEGIN"))
                        for statement in after:
                            indexed.rows(statement)
                        rows = other.value("SELECT count(*) FROM transcript_events WHERE session_id = 's1'")
                        kept = OWN in before + after and not any("ROLLBACK" in statement for statement in after)
                        self.assertEqual(rows, 5 + kept)
                        self.assertEqual(differences(indexed, ENTRIES), [])
                        self.in_step(indexed)
                        other.rows("BEGIN IMMEDIATE")  # no lock is left
                        other.rows("ROLLBACK")
                        other.close()
                        indexed.close()

    def test_rolled_back_reconcile_is_behind_again(self):
        for name in SUPPORTED:
            with self.subTest(host=name):
                indexed, other = self.behind(self.host(name))
                indexed.rows("BEGIN")
                self.assertEqual(indexed.value(RECONCILE), 0)
                indexed.rows("ROLLBACK")
                self.assertEqual(indexed.status("behind"), 3)
                self.assertEqual(differences(indexed, ENTRIES), [])
                self.in_step(indexed)

    def test_inside_a_statement_that_writes(self):
        """An error, and the statement undone; with nothing to do, it is a function as any other."""
        for name in SUPPORTED:
            for transaction in (False, True):
                with self.subTest(host=name, transaction=transaction):
                    indexed, other = self.behind(self.host(name))
                    other.rows("CREATE TABLE t(x)")
                    if transaction:
                        indexed.rows("BEGIN")
                        indexed.rows(OWN)
                    text = indexed.error("INSERT INTO t SELECT session_search_reconcile() FROM (SELECT 1 UNION ALL SELECT 2)")
                    self.assertRegex(text, INSIDE_A_WRITE)
                    self.assertEqual(indexed.rows("SELECT * FROM t"), [])
                    if transaction:
                        indexed.rows("COMMIT")
                    self.assertEqual(other.value("SELECT count(*) FROM transcript_events WHERE session_id = 's1'"), 5 + transaction)
                    self.in_step(indexed)
                    indexed.rows("INSERT INTO t SELECT session_search_reconcile()")
                    self.assertEqual(indexed.rows("SELECT * FROM t"), [[0]])

    def test_unfinished_statements_of_the_same_connection(self):
        """A cursor that reads goes on; beside an unfinished INSERT .. RETURNING it waits for another time."""
        for name in PYTHON:
            with self.subTest(host=name):
                host = self.host(name)
                indexed, _ = self.behind(host)
                path = indexed.rows("PRAGMA database_list")[0][2]
                read, written, said, stored = host.scene("reconcile_beside_cursors", LIBRARY, path, TWO)
                self.assertEqual(read, indexed.rows("SELECT session_id, seq FROM transcript_events WHERE seq < 6 ORDER BY 1, 2"))
                self.assertEqual((written, said, stored), ([[6], [7]], INSIDE_A_WRITE, 2))
                self.in_step(indexed)

    def test_while_another_process_holds_the_write_lock(self):
        for name in SUPPORTED:
            for lock in ("BEGIN IMMEDIATE", "BEGIN EXCLUSIVE"):
                for before in ([], ["BEGIN"]):
                    with self.subTest(host=name, lock=lock, before=before):
                        indexed, _ = self.behind(self.host(name))
                        locker = self.host("debian").open(indexed.rows("PRAGMA database_list")[0][2], load=False)
                        locker.rows(lock)
                        locker.rows(f"INSERT INTO {COLUMNS} VALUES('s1', 7, {event('m7', 'm5', 'common seven')}, 7)")
                        for statement in before:
                            indexed.rows(statement)
                        self.assertIn(BUSY, indexed.error(RECONCILE))
                        self.assertEqual(indexed.status("behind"), 3)
                        self.assertEqual(differences(indexed, [*ENTRIES, "seven"]), [])
                        self.assertIs(indexed.answer("five")["indexing"], True)
                        for _ in before:
                            indexed.rows("COMMIT")
                        locker.rows("COMMIT")
                        self.in_step(indexed)
                        self.assertEqual(indexed.ids("seven"), ["m7"])

    def test_stale_snapshot(self):
        """What the caller reads is not the newest state: nothing can be written on top of it, as for any write."""
        for name in SUPPORTED:
            with self.subTest(host=name):
                indexed, other = self.behind(self.host(name))
                indexed.rows("BEGIN")
                indexed.rows("SELECT count(*) FROM transcript_events")
                other.rows(f"INSERT INTO {COLUMNS} VALUES('s1', 7, {event('m7', 'm5', 'common seven')}, 7)")
                self.assertIn(BUSY, indexed.error(RECONCILE))
                self.assertEqual(differences(indexed, [*ENTRIES, "seven"]), [])
                self.assertIs(indexed.answer("five")["indexing"], True)
                indexed.rows("COMMIT")
                self.in_step(indexed)
                self.assertEqual(indexed.ids("seven"), ["m7"])

    def test_a_large_backlog_takes_several_calls_with_a_budget(self):
        for name in SUPPORTED:
            with self.subTest(host=name):
                indexed, other = self.behind(self.host(name))
                other.rows(
                    "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 300) "
                    "INSERT INTO sessions(session_id, session_key, created_at) SELECT 'b' || i, 'agent:main:b' || i, i FROM n"
                )
                other.rows(
                    f"INSERT INTO {COLUMNS} SELECT session_id, 1, json_object('type', 'message', 'id', 'm', 'message', "
                    "json_object('role', 'user', 'content', 'word' || session_id)), 1 FROM sessions WHERE session_id LIKE 'b%'"
                )
                remaining = [303]
                while remaining[-1] and len(remaining) < 1000:
                    remaining.append(indexed.value("SELECT session_search_reconcile(0)"))
                self.assertEqual(remaining[-1], 0)
                self.assertGreater(len(remaining), 2)
                self.assertEqual(remaining, sorted(remaining, reverse=True))
                self.in_step(indexed)

    def test_three_reconcilers_and_two_writers_in_processes_of_their_own(self):
        """One writer has the extension. Of two SQLites where the index may be shared."""
        for hosts in (("debian",) * 5, ("apsw-new",) * 5, ("debian", "apsw-new", "apsw-new", "apsw-new", "debian")):
            with self.subTest(hosts=hosts):
                path = self.copies(self.host(hosts[0]))[0].rows("PRAGMA database_list")[0][2]
                seconds = 1.5
                with concurrent.futures.ThreadPoolExecutor(5) as pool:
                    work = [pool.submit(self.host(name).scene, "reconcile_for", LIBRARY, path, seconds) for name in hosts[:3]]
                    for name, library, session in zip(hosts[3:], (LIBRARY, None), ("s1", "s2")):
                        work.append(pool.submit(self.host(name).scene, "write_for", library, path, session, seconds))
                    results = [one.result() for one in work]
                self.assertEqual([fault for faults, _ in results for fault in faults if BUSY not in fault], [])
                self.assertEqual([faults for faults, _ in results[3:]], [[], []], "a writer that waits is never refused")
                for _, count in results:
                    self.assertGreater(count, 10)
                connection = self.host(hosts[0]).open(path)
                self.assertEqual(connection.value("SELECT count(*) FROM transcript_events"), 7 + sum(count for _, count in results[3:]))
                self.in_step(connection)
