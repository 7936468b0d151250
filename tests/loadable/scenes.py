"""What is played inside a Python host program, where threads, file descriptors or a second SQLite are looked at.

`connect(path, mode)` opens a connection of the host's own SQLite. Each scene returns plain data for the test to judge.
"""

import concurrent.futures
import json
import os
import sys
import threading
import time

import connections

SEARCH = "SELECT sessions_search_json(?, 'agent:main:main', '{\"limit\":25,\"policy\":{\"visibility\":\"agent\"}}')"
BUSY = "database is locked"


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def rounds_of_opening(connect, library, host, index, count):
    """Open, load, search, close, `count` times; how many descriptors are open more than after the first round."""
    opened = []
    for _ in range(count):
        connection = connect(index)
        connection.load(library)
        if host:
            connection.rows("SELECT session_search_open(?)", host)
            connection.rows(SEARCH, "pelican")
            # A statement that has not run to its end: closing takes it back.
            unfinished = connection.raw.cursor()
            unfinished.execute("SELECT * FROM sessions_search('pelican', 'agent:main:main')")
            unfinished.fetchone()
            connection.rows("SELECT * FROM session_search_status")
            unfinished.close()
        connection.rows("SELECT redact('x')")
        connection.close()
        opened.append(descriptors())
    return opened[-1] - opened[0]


def failed_loads(connect, library, count):
    """The texts of so many loads on one connection and on new ones, and whether each connection still works."""
    texts, alive = set(), True
    kept = connect(":memory:")
    for _ in range(count):
        for connection in (kept, connect(":memory:")):
            try:
                connection.load(library)
                texts.add("")
            except connections.SqliteError as error:
                texts.add(str(error))
            alive = alive and connection.value("SELECT 1") == 1
    return {"texts": sorted(texts), "alive": alive}


def two_sqlites(connect, library, copy, apsw_folder, first):
    """Debian's SQLite and apsw's in this one process, `first` loads first: what the second one gets, from the same file and from a copy."""
    sys.path.insert(0, apsw_folder)
    kinds = [connections.Sqlite3, connections.Apsw]
    if first == "apsw":
        kinds.reverse()
    owner, other = (kind(":memory:") for kind in kinds)
    owner.load(library)
    texts = []
    for _ in range(3):
        try:
            other.load(library)
        except connections.SqliteError as error:
            texts.append(str(error))
    alive = [owner.value("SELECT redact('x')"), other.value("SELECT 'x'")]
    other.load(copy)
    return {"texts": texts, "alive": alive, "copy": [owner.value("SELECT redact('y')"), other.value("SELECT redact('y')")]}


def loads_by_function(connect, library, index):
    """`SELECT load_extension()` three times on one connection, then once on another that is open beside it."""
    first, second = connect(index), connect(index)
    for connection in (first, first, first, second):
        connection.raw.enable_load_extension(True)
        connection.rows("SELECT load_extension(?)", library)
    return [connection.value("SELECT redact('x')") for connection in (first, second)]


def load_in_threads(connect, library, host, index, count):
    """`count` threads load at once, on connections of their own; then each searches. What each found."""
    start = threading.Barrier(count)

    def work(_):
        connection = connect(index)
        start.wait()
        for _ in range(2):
            connection.load(library)
        connection.rows("PRAGMA busy_timeout = 10000")
        connection.rows("SELECT session_search_open(?)", host)
        found = json.loads(connection.value(SEARCH, "pelican"))
        while "indexing" in found:
            found = json.loads(connection.value(SEARCH, "pelican"))
        connection.close()
        return len(found["results"])

    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, range(count)))


def open_while_another_writes(connect, library, host, index, seconds):
    """`session_search_open` on an empty index file, with a busy timeout, while another connection holds the write lock for a moment."""
    connect(index).rows("CREATE TABLE other(x)")
    locker = connect(index)
    connection = connect(index)
    connection.load(library)
    connection.rows("PRAGMA busy_timeout = 10000")
    locker.rows("BEGIN IMMEDIATE")
    release = threading.Timer(seconds, lambda: locker.rows("COMMIT"))
    release.start()
    try:
        return connection.value("SELECT session_search_open(?)", host)
    except connections.SqliteError as error:
        return str(error)
    finally:
        release.join()


def open_while_another_reads(connect, library, host, index):
    """`session_search_open` on an empty index file that cannot be committed to, since another connection is reading it. What it says, and
    what then becomes of a transaction on the same connection, of a write on another one, and of opening again."""
    reader = connect(index)
    reader.rows("CREATE TABLE other(x)")
    reader.rows("INSERT INTO other VALUES(1), (2)")
    reading = reader.raw.cursor()
    reading.execute("SELECT x FROM other")
    reading.fetchone()
    connection = connect(index)
    connection.load(library)
    results = []
    for work in (
        lambda: connection.value("SELECT session_search_open(?)", host),
        reading.close,
        lambda: connection.rows("BEGIN"),
        lambda: connection.rows("COMMIT"),
        lambda: connect(index).rows("INSERT INTO other VALUES(3)"),
        lambda: connection.value("SELECT session_search_open(?)", host),
    ):
        try:
            results.append(work())
        except connections.SqliteError as error:
            results.append(str(error))
    return results


def interrupted(connect, library, host, index, steps):
    """Reconcile and search, each stopped by a progress handler after so many steps of SQLite; then what a search finds when let alone."""
    connection = connect(index)
    connection.load(library)
    connection.rows("SELECT session_search_open(?)", host)
    texts = set()
    set_handler = getattr(connection.raw, "set_progress_handler", None) or connection.raw.setprogresshandler
    for sql, *values in (("SELECT session_search_reconcile()",), (SEARCH, "pelican")):
        set_handler(lambda: 1, steps)
        try:
            connection.rows(sql, *values)
        except connections.SqliteError as error:
            texts.add(str(error))
        set_handler(None, steps)
    connection.rows("BEGIN")  # fails if a transaction was left open
    connection.rows("COMMIT")
    remaining = connection.value("SELECT session_search_reconcile()")
    found = json.loads(connection.value(SEARCH, "pelican"))
    connection.rows("INSERT INTO session_search_fts(session_search_fts) VALUES('integrity-check')")
    connection.close()
    return {"texts": sorted(texts), "remaining": remaining, "found": len(found["results"])}


def search_while_writing(connect, library, host, index, journal_mode, seconds):
    """Four threads search and reconcile on one index file while a fifth appends to the host. Faults, and what each finds at the end."""
    connect(index).rows(f"PRAGMA journal_mode = {journal_mode}")
    committed, faults, searches = [0], [], [0]
    stop, all_stopped = threading.Event(), threading.Barrier(5, timeout=20)

    def write():
        # Of the host's own SQLite, too: two SQLites in one process undo each other's file locks.
        writer = connect(host)
        writer.rows("PRAGMA busy_timeout = 10000")
        seq = 0
        while not stop.is_set():
            seq += 1
            event = {"type": "message", "id": f"m{seq}", "parentId": f"m{seq - 1}" if seq > 1 else None}
            event |= {"message": {"role": "user", "content": f"common word{seq}"}}
            writer.rows("INSERT INTO transcript_events VALUES('s1', ?, ?, ?)", seq, json.dumps(event), seq)
            committed[0] = seq
            time.sleep(0.002)
        writer.close()
        all_stopped.wait()

    def search(number):
        connection = connect(index)
        connection.load(library)
        # Two threads wait for a lock, two do not.
        connection.rows(f"PRAGMA busy_timeout = {5000 * (number % 2)}")
        retry(connection, "SELECT session_search_open(?)", host)
        while not stop.is_set():
            seq = committed[0]
            if seq == 0:
                continue
            try:
                answer = json.loads(connection.value(SEARCH, f"word{seq}"))
                ids = [hit["messageId"] for hit in answer["results"]]
                searches[0] += 1
                if ids != [f"m{seq}"] and not (ids == [] and answer.get("indexing")):
                    faults.append(f"word{seq}: {answer}")
                connection.rows("SELECT session_search_reconcile(5)")
            except connections.SqliteError as error:
                if BUSY not in str(error):
                    faults.append(str(error))
        all_stopped.wait()
        retry(connection, "SELECT session_search_reconcile()")
        found = json.loads(retry(connection, SEARCH, f"word{committed[0]}")[0][0])
        status = retry(connection, "SELECT behind, messages FROM session_search_status")
        connection.close()
        return [len(found["results"]), *status[0]]

    with concurrent.futures.ThreadPoolExecutor(5) as pool:
        writing = pool.submit(write)
        searching = [pool.submit(search, number) for number in range(4)]
        time.sleep(seconds)
        stop.set()
        writing.result()
        ends = [future.result() for future in searching]
    return {"faults": faults, "searches": searches[0], "committed": committed[0], "ends": ends}


def retry(connection, sql, *values):
    """The rows, however often the database is busy (for 10 seconds)."""
    until = time.monotonic() + 10
    while True:
        try:
            return connection.rows(sql, *values)
        except connections.SqliteError as error:
            if BUSY not in str(error) or time.monotonic() > until:
                raise
            time.sleep(0.01)
