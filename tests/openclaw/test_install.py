"""Nothing of ours goes into OpenClaw's own database: `session_search_install` refuses it, and why that is right."""

import sqlite3
import unittest

from openclaw import Failed, TestCase, hosts

MAIN = "agent:main:main"


class Install(TestCase):
    def test_install_into_its_database_is_refused(self):
        database = self.openclaw.database
        with self.openclaw.accessors() as accessors:
            accessors.ask("create", key=MAIN)
            accessors.ask("say", key=MAIN, role="user", text="The harbour is open.")
            for name in hosts.SUPPORTED:
                with self.subTest(host=name):
                    before = [database.read_bytes(), database.with_name(f"{database.name}-wal").read_bytes()]
                    connection = self.host(name).open(database)
                    error = connection.error("SELECT session_search_install()")
                    self.assertRegex(error, "^session_search_install: this database belongs to OpenClaw, which refuses to start with triggers")
                    after = [database.read_bytes(), database.with_name(f"{database.name}-wal").read_bytes()]
                    self.assertEqual(before, after)
                    connection.close()
            accessors.ask("say", key=MAIN, role="user", text="The running OpenClaw goes on.")
        with self.openclaw.accessors() as accessors:
            accessors.ask("say", key=MAIN, role="user", text="A new one opens it as before.")
        self.assertEqual(len(self.searching().ids("open* OR goes")), 3)
        with sqlite3.connect(database) as plain:
            self.assertEqual(plain.execute("SELECT name FROM sqlite_schema WHERE name LIKE '%session_search%'").fetchall(), [])

    def test_why_it_is_refused(self):
        """With the index in its own database OpenClaw does not start, until it is taken out again."""
        with self.openclaw.accessors() as accessors:
            accessors.ask("create", key=MAIN)
            accessors.ask("say", key=MAIN, role="user", text="The harbour is open.")
        connection = self.host("debian").open(self.openclaw.database)
        self.assertEqual(connection.value("""SELECT session_search_install('{"adopt":true}')"""), "openclaw-2026-09")
        with self.assertRaisesRegex(Failed, "trigger"), self.openclaw.accessors() as accessors:
            accessors.ask("say", key=MAIN, role="user", text="Not stored.")
        self.assertEqual(connection.value("SELECT session_search_uninstall()"), 1)
        connection.close()
        with self.openclaw.accessors() as accessors:
            accessors.ask("say", key=MAIN, role="user", text="Open again.")


if __name__ == "__main__":
    unittest.main()
