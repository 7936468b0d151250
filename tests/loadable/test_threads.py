"""Many connections of one process on one index file and one host, while the host is written."""

from hosts import LIBRARY, PYTHON, TestCase


class Threads(TestCase):
    def test_four_searchers_and_a_writer(self):
        for name in PYTHON:
            with self.subTest(host=name):
                database, writer = self.standalone(f"{name}-host.sqlite")
                writer.execute("INSERT INTO sessions(session_id, session_key, created_at) VALUES('s1', 'agent:main:main', 0)")
                result = self.host(name).scene("search_while_writing", LIBRARY, database, self.folder / f"{name}.sqlite", 3)
                self.assertEqual(result["faults"], [])
                self.assertGreater(result["searches"], 50)
                self.assertGreater(result["committed"], 50)
                # Each finds the last message; nothing is behind, and every message is indexed.
                self.assertEqual(result["ends"], [[1, 0, result["committed"]]] * 4)
