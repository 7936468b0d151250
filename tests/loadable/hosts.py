"""What the tests of the built library share: where things are, the OpenClaw databases, and the host programs.

A host is a program with a SQLite of its own. It runs as a process of its own and is driven over pipes, so that a crash fails one test and
nothing else, and two copies of SQLite meet in one process only where a test wants that. A host that cannot start or load fails the test.

The library is taken from the environment variable SESSION_SEARCH_SO, else dist/session_search.so.
"""

import functools
import itertools
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from connections import SqliteError

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LIBRARY = os.path.abspath(os.environ.get("SESSION_SEARCH_SO", ROOT / "dist/session_search.so"))
PROGRAMS = ROOT / "target/hosts"
if not os.path.isfile(LIBRARY):
    raise FileNotFoundError(f"no library at {LIBRARY}: run make loadable")

COMMANDS = {
    "debian": [sys.executable, HERE / "worker.py", "debian"],  # 3.40.1
    "apsw-old": [sys.executable, HERE / "worker.py", "apsw", PROGRAMS / "apsw-old"],  # 3.39.4, too old
    "apsw-new": [sys.executable, HERE / "worker.py", "apsw", PROGRAMS / "apsw-new"],  # 3.54.1
    "node": [PROGRAMS / "node", "--disable-warning=ExperimentalWarning", HERE / "worker.mjs"],  # 3.53
}
# Those that the extension supports, and those of them that play the scenes of scenes.py.
SUPPORTED = ("debian", "apsw-new", "node")
PYTHON = ("debian", "apsw-new")

CALLER = "agent:main:main"
SMALL = "sep-2026.9.6-small-main"
# The caller sees all sessions of its agent.
WIDE = '{"limit":25,"policy":{"visibility":"agent"}}'


class Host:
    """One running host program. Leaving the `with` block ends it, and fails if it crashed or wrote to stderr (as a panic does)."""

    def __init__(self, name):
        self.name = name
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [str(part) for part in COMMANDS[name]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            encoding="utf-8",
        )
        self.numbers = itertools.count()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.close()
        code = self.process.wait(timeout=60)
        errors = self.stderr()
        self.errors.close()
        if code != 0 or errors:
            raise AssertionError(f"{self.name} ended with code {code}: {errors}")

    def stderr(self):
        self.errors.seek(0)
        return self.errors.read()

    def ask(self, **command):
        """The answer to one command. An error of SQLite is a `SqliteError`, a dead host an `AssertionError`."""
        try:
            self.process.stdin.write(json.dumps(command, default=carried) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise AssertionError(f"{self.name} died with code {self.process.wait(timeout=60)} at {command}: {self.stderr()}")
        reply = json.loads(line)
        if "error" in reply:
            raise SqliteError(reply["error"])
        return reply["value"]

    def open(self, path=":memory:", mode="rw", load=True):
        """A connection to a database, with the extension unless `load` is false."""
        name = str(next(self.numbers))
        self.ask(do="open", name=name, path=str(path), mode=mode)
        connection = Connection(self, name)
        if load:
            connection.load()
        return connection

    def searching(self, database, index, mode="rw"):
        """A connection to the file `index` that searches `database`."""
        connection = self.open(index, mode)
        connection.rows("SELECT session_search_open(?)", str(database))
        return connection

    def installed(self, path):
        """A connection to a database of the extension's own layout, with the index put into it."""
        connection = self.open(path)
        connection.rows("SELECT session_search_install()")
        return connection

    def scene(self, name, *arguments):
        """What the function `name` of scenes.py or scenes_in_place.py returns in this host."""
        return self.ask(do="scene", scene=name, arguments=[str(a) if isinstance(a, Path) else a for a in arguments])


class Connection:
    """A connection inside a host program."""

    def __init__(self, host, name):
        self.host = host
        self.name = name

    def load(self, library=LIBRARY):
        self.host.ask(do="load", name=self.name, library=str(library))

    def close(self):
        self.host.ask(do="close", name=self.name)

    def rows(self, sql, *values):
        return self.host.ask(do="rows", name=self.name, sql=sql, values=values)

    def value(self, sql, *values):
        """The first column of the only row."""
        ((value, *_),) = self.rows(sql, *values)
        return value

    def error(self, sql, *values):
        """The text of the error that this statement must give."""
        try:
            rows = self.rows(sql, *values)
        except SqliteError as error:
            return str(error)
        raise AssertionError(f"{self.host.name}: no error but {rows} from {sql}")

    def answer(self, query, caller=CALLER, options=WIDE):
        """What `sessions_search_json` answers."""
        return json.loads(self.value("SELECT sessions_search_json(?, ?, ?)", query, caller, options))

    def ids(self, query, caller=CALLER, options=WIDE):
        """The messages that a search finds, sorted; the search must have seen everything."""
        answer = self.answer(query, caller, options)
        if "indexing" in answer:
            raise AssertionError(f"{self.host.name}: {query} is answered while indexing")
        return sorted(hit["messageId"] for hit in answer["results"])

    def status(self, column):
        return self.value(f"SELECT {column} FROM session_search_status")


def carried(value):
    """bytes as worker.py and worker.mjs expect them."""
    return {"blob": value.hex()}


@functools.cache
def fixture_bytes(name):
    packed = ROOT / f"tests/fixtures/{name}.sqlite.zst"
    return subprocess.run(["zstd", "-dqc", packed], check=True, capture_output=True).stdout


class TestCase(unittest.TestCase):
    """With a folder of its own for each test."""

    maxDiff = None

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="session-search-")))

    def host(self, name):
        """A host program that runs until the test ends."""
        return self.enterContext(Host(name))

    def fixture(self, name=SMALL, file="openclaw-agent.sqlite"):
        """A fresh copy of an OpenClaw database."""
        path = self.folder / file
        path.write_bytes(fixture_bytes(name))
        return path

    def standalone(self, file="standalone.sqlite"):
        """A fresh database of the extension's own layout, and a connection to it of an application without the extension."""
        import sqlite3

        path = self.folder / file
        writer = sqlite3.connect(path, isolation_level=None)
        self.addCleanup(writer.close)
        writer.execute("PRAGMA journal_mode = wal")
        writer.executescript((ROOT / "sql/standalone.sql").read_text())
        return path, writer


def message(identifier, text, parent=None):
    """A user message as OpenClaw writes it."""
    event = {"type": "message", "id": identifier, "parentId": parent, "timestamp": "2026-07-10T08:00:00.000Z"}
    return json.dumps(event | {"message": {"role": "user", "content": [{"type": "text", "text": text}]}})


def say(writer, text, identifier, seq, session="s1", key="agent:main:main"):
    """Stores a message in a standalone database, behind the one before it."""
    writer.execute("INSERT OR IGNORE INTO sessions(session_id, session_key, created_at) VALUES(?, ?, 0)", (session, key))
    event = message(identifier, text, f"m{seq - 1}" if seq > 1 else None)
    writer.execute("INSERT INTO transcript_events(session_id, seq, event_json, created_at) VALUES(?, ?, ?, ?)", (session, seq, event, seq))
