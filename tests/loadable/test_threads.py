"""Many connections of one process on one index file and one host, while the host is written."""

import itertools

from hosts import LIBRARY, PYTHON, TestCase


class Threads(TestCase):
    def test_four_searchers_and_a_writer(self):
        for name, mode in itertools.product(PYTHON, ("delete", "wal")):
            with self.subTest(host=name, journal_mode=mode):
                database, writer = self.standalone(f"{name}-{mode}-host.sqlite")
                writer.execute("INSERT INTO sessions(session_id, session_key, created_at) VALUES('s1', 'agent:main:main', 0)")
                index = self.folder / f"{name}-{mode}.sqlite"
                result = self.host(name).scene("search_while_writing", LIBRARY, database, index, mode, 2)
                self.assertEqual(result["faults"], [])
                self.assertGreater(result["searches"], 20)
                self.assertGreater(result["committed"], 20)
                # Each finds the last message; nothing is behind, and every message is indexed.
                self.assertEqual(result["ends"], [[1, 0, result["committed"]]] * 4)
