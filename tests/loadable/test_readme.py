"""The SQL of README.md gives the output that README.md shows, and the demo shows what it says."""

import re
import shutil
import subprocess
import unittest

from hosts import LIBRARY, ROOT, TestCase


class Readme(TestCase):
    def shell(self, statements):
        """Runs statements in the sqlite3 shell, in a folder with the library and an OpenClaw database."""
        self.fixture(file="openclaw-agent.sqlite")
        shutil.copy(LIBRARY, self.folder / "session_search.so")
        done = subprocess.run(
            ["sqlite3", "-batch", "-bail", "-init", "/dev/null", "session-search.sqlite"], input=statements, cwd=self.folder, capture_output=True, text=True, timeout=60
        )
        self.assertEqual((done.stderr, done.returncode), ("", 0))
        return done.stdout

    def test_example_gives_the_output_shown(self):
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        examples = re.findall(r"```sql\n(.*?)```\n\n```\n(.*?)```", text, re.DOTALL)
        self.assertEqual(len(examples), 1)
        for statements, output in examples:
            self.assertEqual(self.shell(statements), output)

    def test_demo_finds_words_accents_chinese_and_masks_a_secret(self):
        shown = self.shell((ROOT / "scripts/demo.sql").read_text(encoding="utf-8"))
        for part in ("nginx-proxy restarts", "Łódź", "东京塔的门票多少钱", "[redacted:", '"sessionKey":"agent:main:main"'):
            self.assertIn(part, shown)
        self.assertNotIn("sk-" + "proj", shown)
