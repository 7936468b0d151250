"""The index in the host's own database: how a search is judged there, and what is played inside a Python host program.

A search is judged by a naive scan of the rows. That is made of the pure functions of the extension, which have tests of their own.
"""

import json
import os
import random
import shutil
import tempfile
import threading
import time

from connections import SqliteError

MOST = 25
SEARCH = f"""SELECT sessions_search_json(?, 'agent:main:main', '{{"limit":{MOST},"policy":{{"visibility":"agent"}}}}')"""
# Every message on an active branch: its text, session and id.
SCAN = """
SELECT transcript_text(e.event_json), e.session_id, transcript_message_id(e.event_json)
FROM sessions s
JOIN (SELECT session_id, transcript_branch(seq, event_json) AS seqs FROM transcript_events GROUP BY session_id) b USING(session_id)
JOIN json_each(b.seqs) a
JOIN transcript_events e ON e.session_id = s.session_id AND e.seq = a.value
WHERE typeof(e.event_json) IN ('text', 'blob') AND transcript_text(e.event_json) IS NOT NULL
"""


def scan(connection):
    """By word, what a search must find: the (session, message) pairs."""
    found = {}
    for text, *place in connection.rows(SCAN):
        for word in text.lower().split():
            found.setdefault(word, set()).add(tuple(place))
    return found


def search(connection, word):
    """The (session, message) pairs that are found, and whether the answer says that some may be missing."""
    answer = json.loads(connection.value(SEARCH, word))
    return {(hit["sessionId"], hit["messageId"]) for hit in answer["results"]}, "indexing" in answer


def differences(connection, words=(), only_more=False):
    """Where a search differs from the scan, for every word that is stored and for `words` that may not be. What it says to be incomplete
    (or, with `only_more`, any answer) may miss messages, but may not show others."""
    right, wrong = scan(connection), []
    for word in sorted({*right, *words}):
        found, incomplete = search(connection, word)
        due = right.get(word, set())
        if not found <= due or not (incomplete or only_more) and len(found) != min(len(due), MOST):
            more, missing = sorted(found - due), sorted(due - found)[:MOST]
            wrong.append(f"{word}: found {more} too, not {missing}{' (incomplete)' * incomplete}")
    return wrong


def row_counts(connect, library, path, cases, load):
    """The cursor's row count of each statement of each case, and of one `executemany`; nothing is kept."""
    connection = connect(path)
    if load:
        connection.load(library)
    connection.rows("PRAGMA foreign_keys = on")
    counts = []
    for statements in cases:
        connection.rows("BEGIN")
        for statement in statements:
            cursor = connection.raw.cursor()
            try:
                cursor.execute(statement)
                cursor.fetchall()
                counts.append(cursor.rowcount)
            except connection.module.Error as error:
                counts.append(str(error))
        if connection.raw.in_transaction:
            connection.rows("ROLLBACK")
    cursor = connection.raw.executemany(
        "INSERT INTO transcript_events(session_id, seq, event_json, created_at) VALUES('s3', ?, ?, 1)",
        [(seq, json.dumps({"type": "message", "id": f"e{seq}", "message": {"role": "user", "content": "x"}})) for seq in range(50)],
    )
    return [*counts, cursor.rowcount]


def backup(connect, path, copy):
    """A copy made by SQLite's backup API, on connections without the extension."""
    source, target = connect(path), connect(copy)
    if hasattr(source.raw, "iterdump"):
        source.raw.backup(target.raw, pages=1)
    else:
        with target.raw.backup("main", source.raw, "main") as work:
            while not work.done:
                work.step(1)
    target.close()


def dump(connect, path, copy):
    """A copy made by the dump of apsw's shell, without the extension. Returns the dump."""
    import io

    import apsw.shell

    source, target, text = connect(path), connect(copy), io.StringIO()
    source.rows("PRAGMA trusted_schema = off")
    apsw.shell.Shell(db=source.raw, stdout=text).process_command(".dump")
    apsw.shell.Shell(db=target.raw, stdin=io.StringIO(text.getvalue())).cmdloop()
    target.close()
    return text.getvalue()


class Ledger:
    """Writes on one connection, and what the host was told of each: the rows that must be there.

    A statement that fails has done nothing, but for one that is told to have been `interrupted`: SQLite asks for that once more when the work
    is done, with an index and without, and so it may have done all or nothing.
    """

    def __init__(self, connection, path, connect):
        self.connection = connection
        self.witness = connect(path)  # without the extension
        self.session = None
        self.stored = {}
        self.sessions = {}  # what is stored, by session
        self.faults = []
        self.refused = 0

    def rows(self, condition="session_id = ?"):
        sql = f"SELECT session_id || '/' || seq, event_json FROM transcript_events WHERE {condition}"
        return dict(self.witness.rows(sql, *[self.session] * condition.count("?")))

    def begin(self, session, word):
        """A session of its own for each run, in step."""
        self.session, self.stored = session, {}
        self.connection.rows(f"INSERT INTO sessions(session_id, session_key, created_at) VALUES('{session}', 'agent:main:{session}', 1)")
        self.write([insert(session, 1, [f"{word} one", f"{word} two"])])

    def end(self):
        """Brings everything in step; what is wrong then, and what was."""
        connection = self.connection
        connection.rows("BEGIN")  # fails if a transaction was left open
        connection.rows("COMMIT")
        if self.rows("1") != {place: event for rows in self.sessions.values() for place, event in rows.items()}:
            self.faults.append("an earlier run has lost rows after all")
        remaining = connection.value("SELECT session_search_reconcile()")
        status = connection.rows("SELECT behind, broken FROM session_search_status")
        if remaining != 0 or status != [[0, None]]:
            self.faults.append(f"not in step: {remaining}, {status}")
        connection.rows("INSERT INTO session_search_fts(session_search_fts) VALUES('integrity-check')")
        return self.faults + differences(connection)

    def write(self, steps, stopped=None):
        """Runs `steps`, pairs of a statement and the rows that it makes or, with None, takes away. `stopped`, if any, is called with the number
        of a step before it runs, and with None after it."""
        told, pending = [self.stored], None  # the possible contents: committed, and within a transaction
        for number, (sql, rows) in enumerate(steps):
            if stopped:
                stopped(number)
            try:
                self.connection.rows(sql)
                done = [True]
            except SqliteError as error:
                self.refused += 1
                done = [False, True] if "interrupted" in str(error) else [False]
            if stopped:
                stopped(None)
            lives = self.connection.raw.in_transaction
            if sql == "BEGIN":
                pending = told
            elif sql == "COMMIT":
                told = [world for is_done in done for world in (pending if is_done else told)]
                if lives:
                    self.connection.rows("ROLLBACK")
            elif pending is None:
                told = [changed(world, rows) if is_done else world for is_done in done for world in told]
            elif lives:
                pending = [changed(world, rows) if is_done else world for is_done in done for world in pending]
            else:
                if done == [True]:
                    self.faults.append(f"OK, but the transaction is gone: {sql[:60]}")
                break
        self.stored = self.rows()
        self.sessions[self.session] = self.stored
        if self.stored not in told:
            found, due = self.stored, told[0]
            lost, more = sorted(due.keys() - found.keys()), sorted(found.keys() - due.keys())
            self.faults.append(f"lost {lost}, not told of {more}, in {[sql[:60] for sql, _ in steps]}")


def changed(rows, changes):
    rows = {**rows, **changes}
    return {place: event for place, event in rows.items() if event is not None}


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def insert(session, first, texts, verb="INSERT"):
    """A step that stores messages, one after the other, in one statement; `texts` by what comes after which."""
    rows = {}
    for seq, text in enumerate(texts, first):
        event = {"type": "message", "id": f"m{seq}", "parentId": f"m{seq - 1}" if seq > 1 else None}
        rows[seq] = json.dumps(event | {"message": {"role": "user", "content": text}})
    values = ", ".join(f"('{session}', {seq}, {quoted(event)}, {seq})" for seq, event in rows.items())
    sql = f"{verb} INTO transcript_events(session_id, seq, event_json, created_at) VALUES {values}"
    return sql, {f"{session}/{seq}": event for seq, event in rows.items()}


def fork(session, seq, parent, text):
    event = {"type": "message", "id": f"m{seq}", "parentId": f"m{parent}", "message": {"role": "user", "content": text}}
    sql, _ = insert(session, seq, [""])
    stored = json.dumps(event)
    return f"{sql.split(' VALUES ')[0]} VALUES('{session}', {seq}, {quoted(stored)}, {seq})", {f"{session}/{seq}": stored}


def delete(session, *seqs):
    listed = ", ".join(str(seq) for seq in seqs)
    return f"DELETE FROM transcript_events WHERE session_id = '{session}' AND seq IN ({listed})", {f"{session}/{seq}": None for seq in seqs}


# What is being written when it is stopped, into a session that holds two messages. `word` is this run's own.
def writes(session, word):
    return {
        "append": insert(session, 3, [f"{word} three"]),
        "append several": insert(session, 3, [f"{word} many{i}" for i in range(6)]),
        "fork": fork(session, 3, 1, f"{word} fork"),
        "replace": insert(session, 1, [f"{word} changed"], "REPLACE"),
        "delete": delete(session, 1),
    }


def around(session, word, wanted, where):
    """The steps of a run: what is stopped alone, within a transaction, or the COMMIT after it."""
    stopped = writes(session, word)[wanted]
    if where == "alone":
        return [stopped], {0}
    before, after = insert(session, 20, [f"{word} before"]), insert(session, 21, [f"{word} after"])
    return [("BEGIN", {}), before, stopped, after, ("COMMIT", {})], {2} if where == "transaction" else {4}


def opened(connect, library, path):
    connection = connect(path)
    connection.load(library)
    connection.rows("PRAGMA synchronous = off")
    return connection


def set_handler(connection, handler, steps):
    (getattr(connection.raw, "set_progress_handler", None) or connection.raw.setprogresshandler)(handler, steps)


def stopped_by_progress(connect, library, path, wanted, where, first, last, stride):
    """Stops a write after so many steps of SQLite, for every number of them. What was lost or is wrong, and how many were stopped."""
    ledger = Ledger(opened(connect, library, path), path, connect)
    runs = range(first, last, stride)
    for steps in runs:
        session, word = f"p{steps}", f"w{steps}"
        ledger.begin(session, word)
        planned, at = around(session, word, wanted, where)
        ledger.write(planned, lambda number: set_handler(ledger.connection, (lambda: 1) if number in at else None, steps))
        ledger.connection.rows("SELECT session_search_reconcile()")
    return {"faults": ledger.end(), "refused": ledger.refused, "runs": len(runs)}


def interrupted_by_a_thread(connect, library, path, where, seconds):
    """Another thread interrupts again and again while several rows are written at a time."""
    ledger = Ledger(opened(connect, library, path), path, connect)
    stop, run = threading.Event(), 0

    def interrupt():
        while not stop.is_set():
            time.sleep(random.random() * 0.002)
            ledger.connection.raw.interrupt()

    until = time.monotonic() + seconds
    while time.monotonic() < until:
        run += 1
        session, word = f"i{run}", f"w{run}"
        ledger.begin(session, word)
        thread = threading.Thread(target=interrupt)
        planned, at = around(session, word, "append several", where)
        thread.start()
        ledger.write(planned)
        stop.set()
        thread.join()
        stop.clear()
    return {"faults": ledger.end(), "refused": ledger.refused, "runs": run}


def full_disk(connect, library, template, folder, wanted, where, journal):
    """Writes with room for 0, 1, 2, .. more pages, until there is enough for all. What was lost or is wrong, and how many were refused."""
    faults, refused, room = [], 0, 0
    while True:
        path = f"{folder}/full-{room}.sqlite"
        shutil.copy(template, path)
        connection = opened(connect, library, path)
        connection.rows(f"PRAGMA journal_mode = {journal}")
        ledger = Ledger(connection, path, connect)
        ledger.begin("f", "wf")
        pages = connection.value("PRAGMA page_count")
        connection.rows(f"PRAGMA max_page_count = {pages + room}")
        ledger.write(around("f", "wf " + " ".join(f"room{i}" for i in range(60)), wanted, where)[0])
        connection.rows("PRAGMA max_page_count = 1000000")
        faults += [f"{room}: {fault}" for fault in ledger.end()]
        behind = ledger.refused
        refused += behind
        for one in (ledger.witness, connection):
            one.close()
        room += 1
        if not behind and room > 40 or room > 200:
            return {"faults": faults, "refused": refused, "runs": room}


def host_writes(kind):
    """The statements of a host on the rows of `World`."""
    def said(seq, text, session="s1"):
        return insert(session, seq, [text])[0]

    more = [said(5, "common five"), said(6, "common six"), said(4, "common vier", "s2")]
    return {
        "append": more,
        "transaction": ["BEGIN", *more, "COMMIT"],
        "several": [insert("s1", 5, ["common five", "common six", "common seven"])[0]],
        "savepoint": ["SAVEPOINT a", more[0], "SAVEPOINT b", more[1], "ROLLBACK TO b", more[2], "RELEASE b", "RELEASE a"],
        "replace": ["BEGIN", insert("s1", 2, ["common other"], "REPLACE")[0], "COMMIT", insert("s1", 3, ["common other"], "REPLACE")[0]],
        "update": ["UPDATE transcript_events SET event_json = replace(event_json, 'common', 'usual')"],
        "delete": [
            "BEGIN",
            "DELETE FROM transcript_events WHERE session_id = 's1' AND seq = 4",
            "COMMIT",
            "DELETE FROM transcript_events WHERE seq > 1",
        ],
        "cascade": ["BEGIN", "DELETE FROM sessions WHERE session_id = 's1'", "COMMIT", "DELETE FROM sessions"],
        "fork": [fork("s1", 5, 1, "common fork")[0], "BEGIN", fork("s2", 4, 1, "common fork")[0], "COMMIT"],
        "new session": [
            "BEGIN",
            "INSERT INTO sessions(session_id, session_key, created_at) VALUES('s4', 'agent:main:discord:c', 4)",
            said(1, "common one", "s4"),
            "COMMIT",
        ],
    }[kind]


def damaged(connect, library, template, plain, damage, moment, kinds):
    """Writes of a host while the index is damaged: before the connection opens, after it has written, or within its transaction (by itself).
    What fails, is lost, or is found and should not be."""
    faults = []
    for kind in kinds:
        statements = host_writes(kind)
        begins = [number for number, statement in enumerate(statements, 1) if statement.startswith(("BEGIN", "SAVEPOINT"))]
        if moment == "within" and not begins:
            continue
        with tempfile.TemporaryDirectory(dir=os.path.dirname(template)) as folder:
            path, twin = shutil.copy(template, f"{folder}/indexed.sqlite"), shutil.copy(plain, f"{folder}/plain.sqlite")
            if moment == "before":
                apply_damage(connect(path), damage).close()
            connection, other = opened(connect, library, path), connect(twin)
            for one in (connection, other):
                one.rows("PRAGMA foreign_keys = on")
                one.rows("PRAGMA synchronous = off")
                try:
                    one.rows(insert("s3", 1, ["common first"])[0])
                except (SqliteError, MemoryError) as error:
                    faults.append(f"{kind}: {error!r}, at the first append")
            if moment == "after":
                apply_damage(connect(path), damage).close()
            for number, statement in enumerate(statements):
                other.rows(statement)
                try:
                    if moment == "within" and number == begins[0]:
                        apply_damage(connection, damage)
                    connection.rows(statement)
                except (SqliteError, MemoryError) as error:  # how Python's module says "out of memory"
                    faults.append(f"{kind}: {error!r}, at {statement[:60]}")
            rows = "SELECT session_id, seq, event_json FROM transcript_events ORDER BY 1, 2"
            witness = connect(path)
            if witness.rows(rows) != other.rows(rows):
                faults.append(f"{kind}: {len(witness.rows(rows))} rows instead of {len(other.rows(rows))}")
            try:
                faults += [f"{kind}: {fault}" for fault in differences(connection, ("five", "two", "common"), only_more=True)]
            except (SqliteError, MemoryError):
                pass
            for one in (witness, connection, other):
                one.close()
    return faults


def apply_damage(connection, damage):
    series = "(WITH RECURSIVE n(value) AS (VALUES(1) UNION ALL SELECT value + 1 FROM n WHERE value < 30) SELECT value FROM n)"
    if not connection.raw.in_transaction:
        connection.rows("PRAGMA synchronous = off")
    connection.rows("PRAGMA writable_schema = on")
    for statement in damage:
        connection.rows(statement.replace("generate_series", series))
    if any("sqlite_schema" in statement for statement in damage):
        connection.rows(f"PRAGMA schema_version = {connection.value('PRAGMA schema_version') + 1}")
    connection.rows("PRAGMA writable_schema = off")
    return connection


def triggers_off(connect, library, template, statements, then, outside):
    """Statements without plain triggers; `then` another, outside or on this connection with its triggers on again. What is wrong then."""
    import apsw

    with tempfile.TemporaryDirectory(dir=os.path.dirname(template)) as folder:
        path = shutil.copy(template, f"{folder}/indexed.sqlite")
        connection, other = opened(connect, library, path), connect(path)
        connection.rows("PRAGMA foreign_keys = on")
        connection.raw.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
        for statement in statements:
            connection.rows(statement)
        words = ("two", "four", "five", "nine")
        reader = connect(path, "ro")
        reader.load(library)
        wrong = [f"off: {fault}" for fault in differences(reader, words)]
        connection.raw.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 1)
        (other if outside else connection).rows(then)
        wrong += [f"on again: {fault}" for fault in differences(reader, words)]
        new = opened(connect, library, path)
        for one in (new, connection):
            wrong += differences(one, words)
            remaining = one.value("SELECT session_search_reconcile()")
            if remaining or one.value("SELECT behind FROM session_search_status"):
                wrong.append(f"behind after reconcile: {remaining}")
        for one in (other, reader, new, connection):
            one.close()
    return wrong


def reconcile_beside_cursors(connect, library, path, insert_statement):
    """Reconcile beside a cursor that reads and, before that, one of INSERT .. RETURNING that has not come to its end. What each gives, what
    reconcile says to the second, and how many rows it has stored."""
    connection = opened(connect, library, path)
    writing = connection.raw.cursor()
    written = [list(writing.execute(insert_statement).fetchone())]
    try:
        said = connection.value("SELECT session_search_reconcile()")
    except SqliteError as error:
        said = str(error).removeprefix("session_search: ")
    written += [list(row) for row in writing.fetchall()]
    stored = connect(path).value("SELECT count(*) FROM transcript_events WHERE seq IN (6, 7)")
    reading = connection.raw.cursor()
    read = [list(reading.execute("SELECT session_id, seq FROM transcript_events WHERE seq < 6 ORDER BY 1, 2").fetchone())]
    connection.rows("SELECT session_search_reconcile()")
    read += [list(row) for row in reading.fetchall()]
    connection.close()
    return read, written, said, stored


def reconcile_for(connect, library, path, seconds):
    """Reconciles for so long, with and without a budget, and searches. The errors, and how often."""
    connection = opened(connect, library, path)
    faults, count, until = [], 0, time.monotonic() + seconds
    while time.monotonic() < until:
        count += 1
        reconcile = f"SELECT session_search_reconcile({'1' if count % 2 else ''})"
        for sql in (reconcile, "SELECT count(*) FROM sessions_search('common', 'agent:main:main')"):
            try:
                connection.rows(sql)
            except SqliteError as error:
                faults.append(str(error))
        time.sleep(0.002)
    connection.close()
    return faults, count


def write_for(connect, library, path, session, seconds):
    """Appends to a session for so long, waiting for locks. The errors, and how many events."""
    connection = opened(connect, library, path) if library else connect(path)
    connection.rows("PRAGMA busy_timeout = 20000")
    connection.rows("PRAGMA synchronous = off")
    faults, count, until = [], 0, time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            connection.rows(insert(session, 100 + count, [f"common {session} w{count}"])[0])
            count += 1
            connection.rows("UPDATE transcript_events SET created_at = ? WHERE session_id = ? AND seq = ?", count, session, 90 + count)
        except SqliteError as error:
            faults.append(str(error))
        time.sleep(0.001)
    connection.close()
    return faults, count


def rounds_of_appending(connect, library, path, count):
    """Open, load, append, search, change, close, `count` times; how many descriptors are open more than after the first round."""
    opened_files = []
    for number in range(count):
        connection = opened(connect, library, path)
        connection.rows(insert("s1", 100 + number, [f"common w{number}"])[0])
        search(connection, f"w{number}")
        connection.rows("DELETE FROM transcript_events WHERE session_id = 's1' AND seq = ?", 90 + number)
        unfinished = connection.raw.cursor()
        unfinished.execute("SELECT * FROM sessions_search('common', 'agent:main:main')")
        unfinished.fetchone()
        connection.rows("SELECT * FROM session_search_status")
        unfinished.close()
        connection.close()
        opened_files.append(len(os.listdir("/proc/self/fd")))
    return opened_files[-1] - opened_files[0]


def script(connect, path, text):
    """The rows that a script gives; apsw runs one as it is."""
    connection = connect(path)
    rows = [list(row) for row in connection.raw.cursor().execute(text)]
    connection.close()
    return rows
