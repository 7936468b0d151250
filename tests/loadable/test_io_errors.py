"""Errors of the disk under a database that holds its index."""

import json
import subprocess
import sys

from hosts import HERE, LIBRARY, PROGRAMS, TestCase


class IoErrors(TestCase):
    def test_the_host_is_told_the_truth_and_the_index_stays_sound(self):
        command = [sys.executable, HERE / "io_errors.py", LIBRARY, PROGRAMS / "apsw-new", self.folder / "db"]
        done = subprocess.run([str(part) for part in command], capture_output=True, text=True, timeout=300)
        self.assertEqual((done.stderr, done.returncode), ("", 0))
        result = json.loads(done.stdout)
        self.assertEqual(result["faults"], [])
        self.assertGreater(result["tried"], 200)
