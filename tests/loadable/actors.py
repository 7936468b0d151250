"""Programs that live together with a database that holds its index: each is a process of its own, started by test_crowd.py.

    actors.py LIBRARY MODULE ROLE DATABASE NUMBER SECONDS

MODULE is `debian` or the folder of an apsw. Writers print a line for each transaction that was committed; everybody prints what went wrong
(but "database is locked") as a line that begins with `fault`.
"""

import json
import random
import sys
import time

import connections
from connections import SqliteError

WORD = "common"


def message(identifier, parent, text):
    event = {"type": "message", "id": identifier, "parentId": parent, "message": {"role": "user", "content": text}}
    return json.dumps(event)


class Actor:
    def __init__(self, library, module, database, number):
        connect = connections.Sqlite3
        if module != "debian":
            sys.path[:0] = [module]
            connect = connections.Apsw
        self.conn, self.library, self.number = connect(database), library, number
        self.chance = random.Random(number)
        for pragma in ("busy_timeout = 2000", "foreign_keys = on", "synchronous = off"):
            self.conn.rows(f"PRAGMA {pragma}")

    def load(self):
        self.conn.load(self.library)

    def say(self, line):
        sys.stdout.write(line + "\n")
        sys.stdout.flush()

    def attempt(self, work):
        """Whether it was done; a locked database is no fault."""
        try:
            work()
            return True
        except SqliteError as error:
            if "locked" not in str(error):
                self.say(f"fault {error}")
            try:
                self.conn.rows("ROLLBACK")
            except SqliteError:
                pass
            return False


class Writer(Actor):
    """Appends to its own conversation; sometimes changes or deletes what it said before, or starts anew."""

    def start(self):
        self.n = 0
        self.session = f"{self.number}-{time.time_ns()}"
        sql = "INSERT INTO sessions(session_id, session_key, created_at) VALUES(?, ?, 1)"
        while not self.attempt(lambda: self.conn.rows(sql, self.session, f"agent:main:dashboard:{self.session}")):
            pass

    def step(self):
        what, done = self.chance.random(), []
        self.n += 1

        def work():
            self.conn.rows("BEGIN IMMEDIATE")
            if what < 0.1 and self.n > 5:
                sql = "UPDATE transcript_events SET event_json = replace(event_json, 'common', 'changed') WHERE session_id = ? AND seq = ?"
                self.conn.rows(sql, self.session, self.chance.randrange(1, self.n))
            elif what < 0.15 and self.n > 5:
                seq = self.chance.randrange(1, self.n)
                self.conn.rows("DELETE FROM transcript_events WHERE session_id = ? AND seq = ?", self.session, seq)
                done.append(f"deleted {self.session} {seq}")
            for _ in range(self.chance.choice((1, 1, 1, 5))):
                event = message(f"{self.session}-{self.n}", f"{self.session}-{self.n - 1}", f"{WORD} words number {self.n} of {self.session}")
                self.conn.rows("INSERT INTO transcript_events VALUES(?, ?, ?, 1)", self.session, self.n, event)
                done.append(f"stored {self.session} {self.n}")
                self.n += 1
            if what > 0.95:
                self.conn.rows("ROLLBACK")
                done.clear()
            else:
                self.conn.rows("COMMIT")

        if self.attempt(work):
            for line in done:
                self.say(line)
        if self.n > 300:
            self.start()


class Indexing(Writer):
    """A writer with the extension."""

    def start(self):
        if not hasattr(self, "session"):
            self.load()
        super().start()


class Searcher(Actor):
    """Every result is there, in the state that its own transaction sees, and holds the word."""

    def start(self):
        self.load()

    def step(self):
        def work():
            self.conn.rows("BEGIN")
            sql = "SELECT session_id, seq, excerpt FROM sessions_search(?, 'agent:main:main', '{\"limit\":25,\"order\":\"recent\",\"policy\":{\"visibility\":\"agent\"}}')"
            for session, seq, excerpt in self.conn.rows(sql, WORD):
                stored = self.conn.rows("SELECT event_json FROM transcript_events WHERE session_id = ? AND seq = ?", session, seq)
                if not stored or WORD not in stored[0][0] or WORD not in excerpt:
                    self.say(f"fault {session} {seq} is a result although it reads {stored}")
            self.conn.rows("COMMIT")

        self.attempt(work)


class Reconciler(Actor):
    def start(self):
        self.load()

    def step(self):
        self.attempt(lambda: self.conn.rows("SELECT session_search_reconcile(?)", self.chance.choice((0, 5, 50))))


class Keeper(Actor):
    """Makes the index anew, optimizes, takes it out and puts it in again."""

    def start(self):
        self.load()

    def step(self):
        call = self.chance.choice(("rebuild(0)", "rebuild()", "optimize()", "uninstall()", "install()", "check()"))
        if call in ("rebuild(0)", "rebuild()", "optimize()", "check()"):
            self.attempt(lambda: self.conn.rows("SELECT session_search_install()"))
        self.attempt(lambda: self.conn.rows(f"SELECT session_search_{call}"))
        self.say("kept")


ROLES = {"writer": Writer, "indexing": Indexing, "searcher": Searcher, "reconciler": Reconciler, "keeper": Keeper}


def main(library, module, role, database, number, seconds):
    actor = ROLES[role](library, module, database, int(number))
    actor.start()
    until = time.monotonic() + float(seconds)
    while time.monotonic() < until:
        actor.step()


if __name__ == "__main__":
    main(*sys.argv[1:])
