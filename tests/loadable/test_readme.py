"""The SQL of README.md gives the output that README.md shows, and the demo shows what it says."""

import re
import shutil
import subprocess
import unittest

from hosts import LIBRARY, ROOT, TestCase


class Readme(TestCase):
    def shell(self, statements, database):
        """Runs statements in the sqlite3 shell, in a folder with the library, the tables of an application and an OpenClaw database."""
        self.fixture(file="openclaw-agent.sqlite")
        shutil.copy(LIBRARY, self.folder / "session_search.so")
        shutil.copy(ROOT / "sql/standalone.sql", self.folder)
        done = subprocess.run(
            ["sqlite3", "-batch", "-bail", "-init", "/dev/null", database], input=statements, cwd=self.folder, capture_output=True, text=True, timeout=60
        )
        self.assertEqual((done.stderr, done.returncode), ("", 0))
        return done.stdout

    def test_examples_give_the_output_shown(self):
        examples = []
        for page in ("README.md", "docs/events.md"):
            text = (ROOT / page).read_text(encoding="utf-8")
            examples += re.findall(r"```sql\n(.*?)```\n\n```\n(.*?)```", text, re.DOTALL)
        databases = ("application.sqlite", "session-search.sqlite", "lighthouse.sqlite")
        self.assertEqual(len(examples), len(databases))
        for (statements, output), database in zip(examples, databases):
            self.assertEqual(self.shell(statements, database), output)

    def test_demo_finds_words_accents_chinese_and_masks_a_secret(self):
        shown = self.shell((ROOT / "scripts/demo_beside.sql").read_text(encoding="utf-8"), "session-search.sqlite")
        for part in ("nginx-proxy restarts", "Łódź", "东京塔的门票多少钱", "[redacted:", '"sessionKey":"agent:main:main"'):
            self.assertIn(part, shown)
        self.assertNotIn("sk-" + "proj", shown)

    def test_demo_in_place_shows_what_it_says(self):
        shown = self.shell((ROOT / "scripts/demo_in_place.sql").read_text(encoding="utf-8"), "application.sqlite")
        boxes = "".join(line for line in shown.splitlines() if line.startswith("│"))
        for part in ("red kite?", "over the harbour.", "over the old mill.", "over the new bridge."):
            self.assertIn(part, boxes)
        self.assertNotIn("lighthouse", boxes)
        for header in ("found_after_the_rollback", "found_by_the_old_words"):
            self.assertRegex(boxes, header + r" ││ 0 ")
