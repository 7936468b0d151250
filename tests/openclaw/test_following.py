"""Whatever OpenClaw does to its transcripts, the very next search is right: beside its functions, and beside its running gateway."""

import random
import unittest

from openclaw import TestCase, hosts
from story import LONG, Calls, Functions, Story, found

MAIN = "agent:main:main"
OTHER = "agent:main:telegram:direct:4242"


class Following(TestCase):
    def tell(self, story, step, connections, accessors):
        """OpenClaw's own view of its sessions confirms the expectation, and every connection finds what is expected."""
        expected = story.expected()
        for connection in connections:
            self.assertEqual(story.answered(connection), expected, f"{connection.host.name} after {step}")
        for key in story.current:
            self.assertEqual(accessors.ask("visible", key=key), story.window(key).messages(), f"OpenClaw itself after {step}, {key}")

    @staticmethod
    def others(branches):
        """Where the branches end that the session does not stand on."""
        return (branch["leafEntryId"] for branch in branches if not branch["active"])

    def test_every_change_is_in_the_next_search(self):
        accessors = self.accessors()
        story = Story(Functions(accessors))
        story.create(MAIN)
        said = [story.say(MAIN)]
        connections = [self.searching(name, self.folder / f"{name}.sqlite") for name in hosts.SUPPORTED]

        def told(step):
            with self.subTest(step=step):
                self.tell(story, step, connections, accessors)

        told("a first message")
        for role in ("assistant", "user", "assistant", "user", "assistant"):
            said.append(story.say(MAIN, role))
            told(f"a message of the {role}")
        said.append(story.say(MAIN, "user", LONG))
        told("a message that OpenClaw compresses")
        story.note(MAIN)
        told("an event that is no message")
        story.rewind(MAIN, said[4])
        told("a rewind")
        said.append(story.say(MAIN))
        told("a message after the rewind")
        story.switch(MAIN, next(self.others(accessors.ask("tips", key=MAIN))))
        told("a switch to the other branch")
        story.fork(MAIN, said[2], OTHER)
        told("a fork")
        other = story.say(OTHER, more=LONG)
        told("a message in the fork")
        story.say(MAIN)
        told("a message beside the fork")
        story.rewind(OTHER, other)
        told("a rewind in the fork")
        story.rewind(OTHER, said[0])
        told("a rewind to the beginning")
        story.say(OTHER)
        told("a message at a new beginning")
        story.reset(MAIN)
        told("a reset")
        after = story.say(MAIN)
        told("a message after the reset")
        story.say(MAIN, "assistant")
        story.rewind(MAIN, after)
        told("a rewind to the reset")
        story.roll_over(MAIN)
        told("a new transcript of the session")
        story.say(MAIN)
        told("a message in the new transcript")
        story.delete(OTHER)
        told("a delete")
        story.create(OTHER)
        story.say(OTHER)
        told("a session under the key of a deleted one")
        story.delete(MAIN)
        told("a delete of a session of several transcripts")

    def test_rewound_text_stays_away_after_a_reset(self):
        accessors = self.accessors()
        story = Story(Functions(accessors))
        story.create(MAIN)
        said = [story.say(MAIN, role) for role in ("user", "assistant") * 2]
        connection = self.searching()
        story.rewind(MAIN, said[2])
        self.tell(story, "a rewind", [connection], accessors)
        story.reset(MAIN, anew=True)
        self.tell(story, "a reset", [connection], accessors)

    def test_rewritten_text_is_what_is_found(self):
        accessors = self.accessors()
        story = Story(Functions(accessors))
        story.create(MAIN)
        said = [story.say(MAIN, role) for role in ("user", "assistant") * 3]
        session = story.current[MAIN]
        connections = [self.searching(name, self.folder / f"{name}.sqlite") for name in hosts.SUPPORTED]
        one = [[(MAIN, session, said[2])]] * 3
        none = [[]] * 3

        def all_find(query):
            return [found(connection, query) for connection in connections]

        self.assertEqual(all_find("word2"), one)
        accessors.ask("rewrite", id=said[2], text="A lighthouse instead.")
        self.assertEqual(all_find("word2"), none)
        self.assertEqual(all_find("lighthouse"), one)
        accessors.ask("trim", key=MAIN, lines=3)  # the header and two messages
        self.assertEqual(all_find("lighthouse"), none)
        self.assertEqual(all_find("harbour"), [sorted((MAIN, session, id) for id in said[4:])] * 3)
        ids = accessors.ask("replace", key=MAIN, texts=["A buoy.", "A pier."])
        self.assertEqual(all_find("harbour"), none)
        self.assertEqual(all_find("pier"), [[(MAIN, session, ids[1])]] * 3)

    def test_random_history(self):
        """What no one thought of: random steps, the same in every run."""
        accessors = self.accessors()
        chance = random.Random(20260906)
        story = Story(Functions(accessors))
        keys = [MAIN, OTHER, "agent:main:dashboard:a"]
        kinds = {"say": 14, "rewind": 4, "switch": 3, "fork": 2, "reset": 1, "roll_over": 1, "delete": 1}
        story.create(MAIN)
        connections = [self.searching(name, self.folder / f"{name}.sqlite") for name in ("debian", "node")]
        done = set()
        for number in range(150):
            key = chance.choice(sorted(story.current))
            own = story.questions(key)
            (what,) = chance.choices([*kinds], [*kinds.values()])
            step = f"step {number}, {what} {key}"
            match what:
                case "rewind" if own:
                    story.rewind(key, chance.choice(own))
                case "switch" if tips := [*self.others(accessors.ask("tips", key=key))]:
                    story.switch(key, chance.choice(tips))
                case "fork" if own and (free := [to for to in keys if to not in story.current]):
                    story.fork(key, chance.choice(own), chance.choice(free))
                case "reset" if own:
                    story.reset(key)
                case "roll_over" if own:
                    story.roll_over(key)
                case "delete" if len(story.current) > 1:
                    story.delete(key)
                case _:
                    what = "say"
                    story.say(key, chance.choice(["user", "user", "assistant"]), chance.choice(["", "", LONG]))
            done.add(what)
            self.tell(story, step, connections, accessors)
        self.assertEqual(done, set(kinds))

    def test_beside_the_running_gateway(self):
        with self.openclaw.gateway() as gateway:
            accessors = self.accessors()
            story = Story(Calls(gateway, accessors))
            story.create(MAIN)
            connection = self.searching("node")
            said = [story.say(MAIN, role) for role in ("user", "assistant") * 3]

            def told(step):
                with self.subTest(step=step):
                    self.tell(story, step, [connection], accessors)

            told("messages")
            story.rewind(MAIN, said[2])
            told("sessions.rewind")
            story.say(MAIN)
            told("a message after the rewind")
            branches = gateway.ask("sessions.branches.list", sessionKey=MAIN)["branches"]
            story.switch(MAIN, next(self.others(branches)))
            told("sessions.branches.switch")
            fork = story.fork(MAIN, said[4], None)
            told("sessions.fork")
            story.say(fork, "assistant", LONG)
            told("chat.inject in the fork")
            story.reset(fork)
            told("sessions.reset")
            story.say(fork, "assistant")
            told("chat.inject after the reset")
            story.delete(fork)
            told("sessions.delete")


if __name__ == "__main__":
    unittest.main()
