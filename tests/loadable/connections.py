"""One way to use a connection, for every Python module that brings a SQLite: its own `sqlite3` and apsw.

Statements run in autocommit mode, and every error is a `SqliteError` with SQLite's text alone.
"""

import contextlib
import re
import urllib.parse

MODES = {"rw": "mode=rwc", "ro": "mode=ro", "immutable": "immutable=1"}


class SqliteError(Exception):
    """What SQLite or the extension said."""


def uri(path, mode="rw"):
    """The name that opens `path` in a mode of `MODES`."""
    return path if path == ":memory:" else f"file:{urllib.parse.quote(str(path))}?{MODES[mode]}"


class Connection:
    """Common to both modules; `raw` is the module's own connection."""

    def close(self):
        with self._translated():
            self.raw.close()

    def value(self, sql, *values):
        """The first column of the only row."""
        ((value, *_),) = self.rows(sql, *values)
        return value

    @contextlib.contextmanager
    def _translated(self):
        try:
            yield
        except self.module.Error as error:
            # apsw puts the name of its class, and for a failed load a phrase of its own, before SQLite's text.
            text = re.sub(r"^\w+Error: ", "", str(error))
            raise SqliteError(text.removeprefix("error during initialization: ")) from None


class Sqlite3(Connection):
    """Debian's Python and its SQLite."""

    def __init__(self, path, mode="rw"):
        import sqlite3

        self.module = sqlite3
        with self._translated():
            self.raw = sqlite3.connect(uri(path, mode), uri=True, timeout=0, isolation_level=None, check_same_thread=False)
        self.raw.text_factory = lambda text: text.decode(errors="replace")

    def load(self, library):
        with self._translated():
            self.raw.enable_load_extension(True)
            self.raw.load_extension(library)

    def rows(self, sql, *values):
        with self._translated():
            return [list(row) for row in self.raw.execute(sql, values)]


class Apsw(Connection):
    """apsw and the SQLite that is compiled into it; the folder of the wanted version is on `sys.path`."""

    def __init__(self, path, mode="rw"):
        import apsw

        self.module = apsw
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
        with self._translated():
            self.raw = apsw.Connection(uri(path, mode), flags=flags)

    def load(self, library):
        with self._translated():
            self.raw.enableloadextension(True)
            self.raw.loadextension(library)

    def rows(self, sql, *values):
        with self._translated():
            return [list(row) for row in self.raw.cursor().execute(sql, values)]
