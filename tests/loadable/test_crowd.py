"""Many programs at one database that holds its index, and programs that are killed: nothing is lost, nothing wrong is found.

SESSION_SEARCH_KILLS and SESSION_SEARCH_CROWD (seconds) make it more and longer.
"""

import os
import random
import signal
import subprocess
import sys
import time

from hosts import HERE, LIBRARY, PROGRAMS, PYTHON, TestCase

KILLS = int(os.environ.get("SESSION_SEARCH_KILLS", "12"))
SECONDS = float(os.environ.get("SESSION_SEARCH_CROWD", "2"))
MODULES = {"debian": "debian", "apsw-new": PROGRAMS / "apsw-new"}


class Crowd(TestCase):
    def new_database(self, module):
        # Each SQLite has one of its own: an older one cannot use the index of a newer one.
        self.database, writer = self.standalone(f"{module}.sqlite")
        writer.close()
        self.stored = set()

    def start(self, role, module, number, seconds):
        command = [sys.executable, HERE / "actors.py", LIBRARY, MODULES[module], role, self.database, number, seconds]
        return subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def note(self, lines, role):
        """Remembers what was committed; nobody may have met a fault."""
        for line in lines:
            what, *which = line.split()
            if what == "stored":
                self.stored.add(tuple(which))
            elif what == "deleted":
                self.stored.discard(tuple(which))
            else:
                self.assertEqual(what, "kept", f"{role}: {line}")

    def assert_sound(self, connection):
        self.assertEqual(connection.rows("PRAGMA integrity_check"), [["ok"]])
        there = {(session, str(seq)) for session, seq in connection.rows("SELECT session_id, seq FROM transcript_events")}
        self.assertEqual(self.stored - there, set(), "what was committed is there")
        self.assertEqual(connection.value("SELECT session_search_check()"), "ok")
        self.assertEqual(connection.value("SELECT session_search_reconcile()"), 0)
        self.assertEqual(connection.value("SELECT session_search_check()"), "ok")

    def test_everybody_at_once(self):
        """Four writers, two of them without the extension, four searchers, two reconcilers."""
        for module in PYTHON:
            with self.subTest(host=module):
                host = self.host(module)
                self.new_database(module)
                host.open(self.database).rows("SELECT session_search_install()")
                roles = ["writer", "indexing"] * 2 + ["searcher"] * 4 + ["reconciler"] * 2
                others = [self.start(role, module, n, SECONDS) for n, role in enumerate(roles)]
                for role, process in zip(roles, others):
                    output, _ = process.communicate(timeout=SECONDS + 60)
                    self.assertEqual(process.returncode, 0, output)
                    self.note(output.splitlines(), role)
                self.assertGreater(len(self.stored), 100)
                self.assert_sound(host.open(self.database))

    def test_killed_at_any_moment(self):
        chance = random.Random(7)
        roles = ("indexing", "writer", "reconciler", "keeper", "indexing", "keeper")
        for kill in range(KILLS):
            role, module = roles[kill % len(roles)], PYTHON[kill * len(PYTHON) // KILLS]
            if kill * len(PYTHON) % KILLS < len(PYTHON):
                self.new_database(module)
            with self.subTest(kill=kill, role=role, host=module):
                host = self.host(module)
                host.open(self.database).rows("SELECT session_search_install()")
                # Somebody without the extension leaves work for the others.
                helper = self.start("writer", module, 1_000 + kill, 0.05)
                victim = self.start(role, module, kill, 60)
                self.note(helper.communicate(timeout=60)[0].splitlines(), "writer")
                time.sleep(chance.uniform(0.05, 0.3))
                victim.send_signal(signal.SIGKILL)
                output = victim.communicate(timeout=60)[0]
                # The last line may have been cut.
                self.note(output.splitlines()[: None if output.endswith("\n") else -1], role)
                connection = host.open(self.database)
                connection.rows("SELECT session_search_install()")
                self.assert_sound(connection)
