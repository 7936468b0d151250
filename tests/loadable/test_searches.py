"""The rows of searches.json in the sqlite3 shell, in Debian's Python and in apsw. `searches.test.mjs` runs them in Node."""

import json
import subprocess

from connections import SqliteError
from hosts import HERE, LIBRARY, PYTHON, TestCase

TABLE = json.loads((HERE / "searches.json").read_text(encoding="utf-8").replace("⟂", ""))
JSON = "SELECT sessions_search_json(?1, ?2, ?3)"
ROWS = "SELECT message_id, excerpt FROM sessions_search(?1, ?2, ?3)"


def arguments(row):
    options = row.get("options")
    return row["query"], row.get("caller", TABLE["caller"]), None if options is None else json.dumps(options)


class Searches(TestCase):
    def compare(self, row, run):
        """`run(sql, values)` gives rows, or a `SqliteError`."""
        for sql in (JSON, ROWS):
            try:
                rows = run(sql, arguments(row))
            except SqliteError as error:
                self.assertEqual(str(error), row.get("error"))
                continue
            self.assertNotIn("error", row)
            if sql is JSON:
                answer = json.loads(rows[0][0])
                self.assertEqual(answer.get("truncated", False), row.get("truncated", False))
                self.assertNotIn("indexing", answer)
                found = [(hit["messageId"], hit["snippet"]) for hit in answer["results"]]
            else:
                found = [tuple(row) for row in rows]
            self.assertEqual([identifier for identifier, _ in found], row["ids"])
            if "excerpt" in row:
                self.assertEqual(found[0][1], row["excerpt"])

    def test_python_hosts(self):
        for name in PYTHON:
            host, folder = self.host(name), self.folder / name
            folder.mkdir()
            connection = host.searching(self.fixture(TABLE["database"]), folder / "index.sqlite")
            self.assertEqual(connection.value("SELECT session_search_reconcile()"), 0)
            for row in TABLE["searches"]:
                with self.subTest(host=name, search=row["name"]):
                    self.compare(row, lambda sql, values: connection.rows(sql, *values))

    def test_shell(self):
        self.fixture(TABLE["database"])

        def shell(sql, values):
            for number, value in reversed(list(enumerate(values, 1))):
                sql = sql.replace(f"?{number}", "NULL" if value is None else "'" + value.replace("'", "''") + "'")
            opened = "SELECT iif(session_search_open('openclaw-agent.sqlite') IS NULL, 1, session_search_reconcile())"
            script = [".mode list", ".separator \x1f \x1e", f".load {LIBRARY}", opened, sql]
            ran = subprocess.run(["sqlite3", "-batch", "index.sqlite", *script], cwd=self.folder, capture_output=True, text=True)
            remaining, *rows = ran.stdout.rstrip("\x1e").split("\x1e")
            self.assertEqual(remaining, "0", ran.stderr)
            if ran.returncode != 0:
                raise SqliteError(ran.stderr.strip().removeprefix("Error: stepping, "))
            return [row.split("\x1f") for row in rows]

        for row in TABLE["searches"]:
            with self.subTest(search=row["name"]):
                self.compare(row, shell)
