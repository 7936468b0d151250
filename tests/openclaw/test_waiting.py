"""OpenClaw never waits for us: how long our reads of its database last, and how fast it writes with and without us."""

import contextlib
import itertools
import os
import random
import sqlite3
import statistics
import subprocess
import threading
import time
import unittest
import unittest.mock

from openclaw import HERE, TestCase

MAIN = "agent:main:main"
LONGEST = 0.050  # seconds


class Repeated:
    """A thread that does something again and again while the block runs."""

    def __init__(self, work):
        self.work = work
        self.times = 0
        self.failed = None
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        try:
            while not self.over.is_set():
                self.work()
                self.times += 1
        except Exception as error:
            self.failed = error

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()
        if self.failed:
            raise self.failed


class Checkpoints:
    """A third connection that empties the WAL again and again, as OpenClaw does: how long readers and writers let it wait."""

    def __init__(self, database):
        self.connection = sqlite3.connect(database, timeout=0, isolation_level=None, check_same_thread=False)
        self.waits = []

    def empty(self):
        began = time.perf_counter()
        while True:
            try:
                busy = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
            except sqlite3.OperationalError:  # locked
                busy = True
            if not busy:
                break
            time.sleep(0.0005)
        self.waits.append(time.perf_counter() - began)
        time.sleep(0.02)


def summary(seconds):
    ordered = sorted(seconds)
    at = lambda part: 1000 * ordered[min(len(ordered) - 1, int(len(ordered) * part))]  # noqa: E731
    return f"median {at(0.5):.2f}, p99 {at(0.99):.2f}, longest {1000 * ordered[-1]:.2f} ms of {len(ordered)}"


class Waiting(TestCase):
    """9,000 messages in 31 sessions, most of them in one; and OpenClaw writes into another one."""

    def setUp(self):
        super().setUp()
        self.writer = self.accessors()
        for number in range(30):
            self.fill(f"agent:main:dashboard:{number}", [f"The harbour of word{number} {i} is open." for i in range(100)])
        chance = random.Random(6000)
        words = [f"w{number}" for number in range(20_000)]
        self.fill("agent:main:dashboard:long", [f"A {name} of {' '.join(chance.choices(words, k=80))}." for name in ("harbour", "pier") * 3_000])
        self.writer.ask("create", key=MAIN)
        self.writer.ask("say", key=MAIN, role="user", text="Hello.")

    def fill(self, key, texts):
        self.writer.ask("create", key=key)
        self.writer.ask("replace", key=key, texts=texts)

    # What a host program does again and again.

    def searches(self, host):
        """Looks for the newest of many, with what OpenClaw has just stored."""
        connection = host.searching(self.openclaw.database, self.openclaw.index)
        self.assertEqual(connection.value("SELECT session_search_reconcile(60000)"), 0)
        return lambda: connection.answer("harbour", options='{"limit":25,"order":"recent","policy":{"visibility":"agent"}}')

    def first_searches(self, host):
        """Searches without an index."""
        return self.without_an_index(host, lambda connection: connection.answer("master"))

    def reconciles(self, host):
        """Makes an index from nothing."""

        def reconcile(connection):
            while connection.value("SELECT session_search_reconcile()"):
                pass

        return self.without_an_index(host, reconcile)

    def without_an_index(self, host, work):
        index = self.folder / "remade.sqlite"

        def anew():
            connection = host.searching(self.openclaw.database, index)
            work(connection)
            connection.close()
            for file in self.folder.glob("remade.sqlite*"):
                file.unlink()

        return anew

    def watched(self, name):
        """A host program that writes its read transactions into a file."""
        library, reads = self.folder / "reads.so", self.folder / f"reads-{name}"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-Wall", "-Werror", "-o", library, HERE / "reads.c", "-ldl"], check=True)
        with unittest.mock.patch.dict(os.environ, {"LD_PRELOAD": str(library), "SESSION_SEARCH_READS": str(reads)}):
            return self.host("debian"), reads

    def longest(self, work):
        """The longest read of what a host program does while OpenClaw writes, in seconds on the processor."""
        host, file = self.watched(work.__name__)
        begun = work(host)
        file.write_text("")
        with Repeated(begun) as works:
            self.writer.ask("appends", key=MAIN, text="The harbour master says", seconds=6)
        self.assertGreater(works.times, 1)
        reads = [[int(part) / 1e9 for part in line.split()] for line in file.read_text().splitlines()]
        print(f"\n{work.__name__}, {works.times} times: reads on the processor {summary([ran for _, ran, _ in reads])}")
        print(f"  and waiting for the disk: {summary([total - ready for total, _, ready in reads])}")
        print(f"  and waiting for a processor: {summary([total for total, *_ in reads])}")
        return max(ran for _, ran, _ in reads)

    def test_no_search_is_a_long_read(self):
        self.assertLessEqual(self.longest(self.searches), LONGEST)

    def test_a_first_search_is_no_long_read(self):
        """It indexes for about 50 ms, within the read in which it searches."""
        self.assertLessEqual(self.longest(self.first_searches), 2 * LONGEST)

    def test_no_step_of_reconcile_is_a_long_read(self):
        self.assertLessEqual(self.longest(self.reconciles), LONGEST)

    def test_writes_and_checkpoints_do_not_wait(self):
        host = self.host("node")
        works = itertools.cycle([self.searches(host)] * 39 + [self.reconciles(host)])

        def work():
            next(works)()
            time.sleep(0.02)  # whoever searches does something with the answer

        appends = {"without us": [], "with us": []}
        checkpoints = {name: Checkpoints(self.openclaw.database) for name in appends}
        # Checkpoints make OpenClaw wait too, so they are looked at by themselves.
        for name, emptied in [*itertools.product(appends, [False])] * 3 + [*itertools.product(appends, [True])] * 2:
            with contextlib.ExitStack() as running:
                if emptied:
                    running.enter_context(Repeated(checkpoints[name].empty))
                if name == "with us":
                    running.enter_context(Repeated(work))
                taken = self.writer.ask("appends", key=MAIN, text=name, seconds=3)
            if not emptied:
                appends[name] += [milliseconds / 1000 for milliseconds in taken]
        for name, taken in appends.items():
            print(f"\n{name}: appends {summary(taken)}")
            print(f"  TRUNCATE checkpoints of a third connection: {summary(checkpoints[name].waits)}")
            checkpoints[name].connection.close()
        # One more busy process costs time where processors are few: what must not be is a wait as long as a read.
        median = {name: [statistics.median(taken), statistics.median(checkpoints[name].waits)] for name, taken in appends.items()}
        self.assertLessEqual(median["with us"][0], median["without us"][0] + LONGEST)
        # A checkpoint does wait for a read, and now and then for a step of reconcile.
        self.assertLessEqual(median["with us"][1], median["without us"][1] + 2 * LONGEST)


if __name__ == "__main__":
    unittest.main()
