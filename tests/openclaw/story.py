"""Conversations that OpenClaw holds, and what a search must find in them.

A `Story` tells OpenClaw what to do and keeps an expectation of its own, made from what was said and done alone: it reads neither OpenClaw's
database nor the index. Every message has a word of its own.
"""

import itertools
from dataclasses import dataclass, field

from openclaw import Failed

LONG = " And the rest of it is only here to make the message long." * 40  # long enough that OpenClaw compresses it


@dataclass
class Window:
    """One transcript. `nodes` are its events by id: the event before, and the word of a message."""

    key: str
    nodes: dict = field(default_factory=dict)
    leaf: str | None = None
    reset: str | None = None  # the last one; nothing leads back behind it
    superseded: bool = False

    def path(self, leaf):
        """The ids from the first event to `leaf`."""
        ids = []
        while leaf is not None:
            ids.append(leaf)
            leaf = self.nodes[leaf][0]
        return ids[::-1]

    def messages(self):
        """The ids of the messages on the active branch."""
        return [id for id in self.path(self.leaf) if self.nodes[id][1]]

    def standing_at(self, leaf):
        """The transcript that OpenClaw makes when it goes back to `leaf`: a copy that stands there."""
        if self.reset and self.reset not in self.path(leaf):
            leaf = self.leaf
        return Window(self.key, dict(self.nodes), leaf, self.reset)


class Story:
    """`hands` do it: OpenClaw's functions, or its gateway."""

    def __init__(self, hands):
        self.hands = hands
        self.windows = {}
        self.current = {}
        self.words = set()
        self.by_user = set()
        self.numbers = itertools.count()

    def window(self, key):
        return self.windows[self.current[key]]

    def word(self):
        word = f"word{next(self.numbers)}"
        self.words.add(word)
        return word

    def _stands(self, key, session, window):
        self.windows[session] = window
        self.current[key] = session

    # What is done, and what is to be expected then.

    def create(self, key):
        self._stands(key, self.hands.create(key), Window(key))

    def say(self, key, role="user", more=""):
        word = self.word()
        id = self.hands.say(key, role, f"The harbour of {word} is open.{more}")
        self._follows(key, id, word)
        if role == "user":
            self.by_user.add(id)
        return id

    def _follows(self, key, id, word):
        window = self.window(key)
        window.nodes[id] = (window.leaf, word)
        window.leaf = id

    def note(self, key):
        """An event that is no message, but one that the next message follows."""
        id = f"c0ffee{next(self.numbers):02}"
        self.hands.note(key, {"type": "custom", "id": id, "customType": "note", "data": {"text": " ".join(self.words)}})
        self._follows(key, id, None)

    def rewind(self, key, id):
        """Back to before a message of the user."""
        old = self.window(key)
        self._stands(key, self.hands.rewind(key, id), old.standing_at(old.nodes[id][0]))
        old.superseded = True

    def switch(self, key, tip):
        """To another branch."""
        old = self.window(key)
        self._stands(key, self.hands.switch(key, tip), old.standing_at(tip))
        old.superseded = True

    def fork(self, key, id, to):
        """A session of its own that begins with what was said before a message of the user."""
        old = self.window(key)
        leaf = old.nodes[id][0]
        new, session = self.hands.fork(key, id, to)
        self._stands(new, session, Window(new, {id: old.nodes[id] for id in old.path(leaf)}, leaf))
        return new

    def reset(self, key, **how):
        """A new beginning in the same transcript. What was said before stays searchable."""
        self.hands.reset(key, **how)
        self._follows(key, f"reset {next(self.numbers)}", None)
        self.window(key).reset = self.window(key).leaf

    def roll_over(self, key):
        """A new transcript of the same session. The one before stays searchable."""
        self._stands(key, self.hands.roll_over(key), Window(key))

    def delete(self, key):
        self.hands.delete(key)
        del self.current[key]
        self.windows = {session: window for session, window in self.windows.items() if window.key != key}

    # What is expected.

    def questions(self, key):
        """The messages of the user that the session shows: rewinds and forks go to those alone."""
        return [id for id in self.window(key).messages() if id in self.by_user]

    def found(self, word):
        return sorted(
            (window.key, session, id)
            for session, window in self.windows.items()
            if not window.superseded
            for id in window.messages()
            if window.nodes[id][1] == word
        )

    def expected(self):
        return {word: self.found(word) for word in self.words}

    def answered(self, connection):
        """What searches on a connection find: everything that was ever said is looked for."""
        return {word: found(connection, word) for word in sorted(self.words)}


def found(connection, query, options=None):
    answer = connection.answer(query, **({"options": options} if options else {}))
    assert "indexing" not in answer, f"{query} is answered while indexing"
    return sorted((hit["sessionKey"], hit["sessionId"], hit["messageId"]) for hit in answer["results"])


class Functions:
    """Hands that call OpenClaw's functions."""

    def __init__(self, accessors):
        self.ask = accessors.ask

    def create(self, key):
        return self.ask("create", key=key)

    def say(self, key, role, text):
        return self.ask("say", key=key, role=role, text=text)

    def note(self, key, event):
        self.ask("event", key=key, event=event)

    def rewind(self, key, id):
        return self.ask("rewind", key=key, id=id)

    def switch(self, key, tip):
        return self.ask("switch", key=key, tip=tip)

    def fork(self, key, id, to):
        return to, self.ask("fork", key=key, id=id, to=to)

    def reset(self, key, anew=False):
        self.ask("reset", key=key, anew=anew)

    def roll_over(self, key):
        return self.ask("rollover", key=key)

    def delete(self, key):
        self.ask("delete", key=key)


class Calls(Functions):
    """Hands that call the gateway. What only a model or a channel would say comes from the functions, in another process."""

    def __init__(self, gateway, accessors):
        super().__init__(accessors)
        self.call = gateway.ask

    def session(self, key):
        return self.ask("session", key=key)

    def create(self, key):
        return self.call("sessions.create", key=key, agentId="main")["sessionId"]

    def say(self, key, role, text):
        if role == "user":
            return super().say(key, role, text)
        return self.call("chat.inject", sessionKey=key, message=text)["messageId"]

    def rewind(self, key, id):
        self.call("sessions.rewind", sessionKey=key, entryId=id)
        return self.session(key)

    def switch(self, key, tip):
        self.call("sessions.branches.switch", sessionKey=key, leafEntryId=tip)
        return self.session(key)

    def fork(self, key, id, to):
        new = self.call("sessions.fork", sessionKey=key, entryId=id)["sessionKey"]
        return new, self.session(new)

    def reset(self, key):
        self.call("sessions.reset", key=key, reason="reset")

    def delete(self, key):
        # A session is deleted only while OpenClaw does nothing else with it.
        for attempt in itertools.count():
            try:
                self.call("sessions.delete", key=key, deleteTranscript=True)
                return
            except Failed:
                if attempt == 5:
                    raise
