"""OpenClaw's doctor and backups with our index beside its database, and the index after a restore."""

import json
import shutil
import unittest

from openclaw import TestCase, hosts
from story import LONG, Functions, Story

MAIN = "agent:main:main"


class Commands(TestCase):
    def setUp(self):
        super().setUp()
        with self.openclaw.accessors() as accessors:
            self.story = Story(Functions(accessors))
            self.story.create(MAIN)
            said = [self.story.say(MAIN, role, LONG) for role in ("user", "assistant") * 4]
            self.story.rewind(MAIN, said[4])
            self.story.say(MAIN)
        self.connection = self.searching()
        self.assertEqual(self.story.answered(self.connection), self.story.expected())

    def searched(self, database, index):
        """What is found in a database with an index file, in a process of its own."""
        return self.story.answered(self.host("node").searching(database, index))

    def test_doctor_has_nothing_to_say_about_the_index(self):
        content = self.openclaw.index.read_bytes()
        for step in ("before a repair", "after it"):
            # Its exit code speaks of its findings, about the gateway for one.
            report = json.loads(self.openclaw.command("doctor", "--lint", "--json", fails=True))
            self.assertGreater(report["checksRun"], 20)
            for finding in report["findings"]:
                self.assertNotIn(finding["severity"], ("error",), step)
                self.assertNotIn("session-search.sqlite", json.dumps(finding), step)
                self.assertNotIn("agents/main/agent", json.dumps(finding), step)
            if step == "before a repair":
                printed = self.openclaw.command("doctor", "--fix", "--non-interactive", "--yes")
                self.assertIn("Doctor complete", printed)
                self.assertNotIn("session-search.sqlite", printed)
        self.assertEqual(self.openclaw.index.read_bytes(), content)
        self.assertEqual(self.story.answered(self.connection), self.story.expected())
        with self.openclaw.accessors() as accessors:
            self.story.hands = Functions(accessors)
            self.story.say(MAIN)
            self.assertEqual(self.story.answered(self.connection), self.story.expected())

    def test_archive_carries_the_index(self):
        archives, target = self.folder / "archives", self.folder / "restored"
        archives.mkdir()
        made = json.loads(self.openclaw.command("backup", "create", "--verify", "--json", "--output", archives))
        self.assertTrue(made["verified"])
        # It says that it takes the index as it is.
        self.assertEqual([warning for warning in made["warnings"] if "opaque" in warning and str(self.openclaw.index) in warning], made["warnings"])
        self.assertTrue(json.loads(self.openclaw.command("backup", "restore", "--json", made["archivePath"], "--target", target))["ok"])
        (database,) = target.rglob("openclaw-agent.sqlite")
        index = database.with_name("session-search.sqlite")
        self.assertEqual(index.read_bytes(), self.openclaw.index.read_bytes())
        expected = self.story.expected()
        self.assertEqual(self.searched(database, index), expected)
        # Taken while it was written, it can be anything: then it says so or is right, and without it a new one is made.
        whole = index.read_bytes()
        zeroed = whole[: len(whole) // 2] + bytes(len(whole) // 2)
        for name, content in {"cut": whole[: len(whole) // 2], "zeroed": zeroed, "emptied": b""}.items():
            with self.subTest(index=name):
                torn = database.with_name(f"{name}.sqlite")
                torn.write_bytes(content)
                try:
                    self.assertEqual(self.searched(database, torn), expected)
                except hosts.SqliteError as error:
                    print(f"\nan index that was {name}: {error}")
        index.unlink()
        self.assertEqual(self.searched(database, index), expected)

    def test_snapshot_leaves_the_index_out(self):
        repository, restored = self.folder / "snapshots", self.folder / "restored"
        made = json.loads(self.openclaw.command("backup", "sqlite", "create", "--agent", "main", "--repository", repository, "--json"))
        snapshot = made["snapshotPath"]
        self.assertTrue(json.loads(self.openclaw.command("backup", "sqlite", "verify", snapshot, "--json"))["ok"])
        before = self.story.expected()
        # What happens after the snapshot is in the index, and must not be found any more when OpenClaw has gone back.
        with self.openclaw.accessors() as accessors:
            self.story.hands = Functions(accessors)
            for role in ("assistant", "user"):
                self.story.say(MAIN, role)
            self.story.rewind(MAIN, self.story.questions(MAIN)[1])
            self.story.say(MAIN, "user", LONG)
            self.assertEqual(self.story.answered(self.connection), self.story.expected())
        everything = dict.fromkeys(self.story.words, []) | before
        restored.mkdir()
        self.openclaw.command("backup", "sqlite", "restore", snapshot, "--target", restored / "openclaw-agent.sqlite", "--json")
        self.assertEqual([file.name for file in restored.iterdir()], ["openclaw-agent.sqlite"])
        shutil.copy(self.openclaw.index, restored / "newer.sqlite")
        self.assertEqual(self.searched(restored / "openclaw-agent.sqlite", restored / "newer.sqlite"), everything)
        self.assertEqual(self.searched(restored / "openclaw-agent.sqlite", restored / "session-search.sqlite"), everything)
        # The same under the same name, and OpenClaw goes on from there.
        for suffix in ("", "-wal", "-shm"):
            self.openclaw.database.with_name(f"openclaw-agent.sqlite{suffix}").unlink(missing_ok=True)
        self.openclaw.command("backup", "sqlite", "restore", snapshot, "--target", self.openclaw.database, "--json")
        self.assertEqual(self.story.answered(self.connection), everything)
        self.assertEqual(self.searched(self.openclaw.database, self.openclaw.index), everything)
        with self.openclaw.accessors() as accessors:
            id = accessors.ask("say", key=MAIN, role="user", text="A lighthouse instead.")
            self.assertEqual(self.connection.ids("lighthouse"), [id])
        self.assertEqual(self.story.answered(self.connection), everything)


if __name__ == "__main__":
    unittest.main()
