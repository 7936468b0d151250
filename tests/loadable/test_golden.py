"""The .sql files of tests/sql in the sqlite3 shell: what they print is the .out file beside them.

Each runs in a folder of its own that holds what it names: session_search.so, openclaw-agent.sqlite (a real database), standalone.sql.
After a wanted change, `SESSION_SEARCH_GOLDEN=write` writes the .out files anew; read the difference before you keep it.
"""

import difflib
import os
import re
import shutil
import subprocess

from hosts import LIBRARY, ROOT, TestCase

PAIRS = ROOT / "tests/sql"
WRITE = os.environ.get("SESSION_SEARCH_GOLDEN") == "write"


class Golden(TestCase):
    def output(self, script):
        folder = self.folder / script.stem
        folder.mkdir()
        shutil.copy(LIBRARY, folder / "session_search.so")
        shutil.copy(ROOT / "sql/standalone.sql", folder)
        self.fixture(file=f"{script.stem}/openclaw-agent.sqlite")
        # Unbuffered, so that errors stand where they happen.
        command = ["stdbuf", "--output=0", "sqlite3", "-batch", "-init", "/dev/null", "index.sqlite"]
        with script.open() as file:
            ran = subprocess.run(command, cwd=folder, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
        text = ran.stdout.replace(str(folder), "FOLDER")
        return re.sub(r"^(Parse|Runtime) error( near line \d+)?: ", "Error: ", text, flags=re.MULTILINE)

    def test_every_pair(self):
        scripts = sorted(PAIRS.glob("*.sql"))
        self.assertGreater(len(scripts), 5)
        if not WRITE:
            self.assertEqual([script.stem for script in scripts], sorted(out.stem for out in PAIRS.glob("*.out")))
        for script in scripts:
            with self.subTest(script=script.name):
                found, out = self.output(script), script.with_suffix(".out")
                if WRITE:
                    out.write_text(found, encoding="utf-8")
                expected = out.read_text(encoding="utf-8")
                difference = difflib.unified_diff(expected.splitlines(), found.splitlines(), out.name, "now", lineterm="")
                self.assertEqual(found, expected, "\n" + "\n".join(difference))
