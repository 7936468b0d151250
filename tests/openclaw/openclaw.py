"""A real OpenClaw for the tests: an installation's state in a folder of its own, its functions, its gateway and its commands.

OpenClaw is the npm package that scripts/setup.sh brought. Nothing here needs a model or a network: OpenClaw runs where there is no other
network than the loopback device. Where the system does not allow that, the tests fail, unless SESSION_SEARCH_NETWORK=1 says that OpenClaw
may reach out (its gateway asks for a list of models).
"""

import functools
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "loadable"))

import hosts  # noqa: E402

HERE = Path(__file__).resolve().parent
PACKAGE = hosts.PROGRAMS / "openclaw/node_modules/openclaw"
NODE = [str(hosts.PROGRAMS / "node"), "--disable-warning=ExperimentalWarning"]
if not PACKAGE.is_dir():
    raise FileNotFoundError(f"no OpenClaw at {PACKAGE}: run scripts/setup.sh openclaw")


@functools.cache
def alone():
    """What a command begins with to run without any network."""
    if os.environ.get("SESSION_SEARCH_NETWORK") == "1":
        return []
    prefix = ["unshare", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"]
    subprocess.run([*prefix, "true"], check=True)
    return prefix


class Failed(Exception):
    """What OpenClaw said when it refused."""


class Program:
    """A Node program of this folder, driven over pipes."""

    def __init__(self, script, environment, folder):
        self.script = script
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            [*alone(), *NODE, str(HERE / script), str(PACKAGE)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env=environment,
            cwd=folder,
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        code = self.process.wait(timeout=120)
        self.process.stdout.close()
        said = self.said()
        self.errors.close()
        if code != 0:
            raise AssertionError(f"{self.script} ended with code {code}: {said}")

    def said(self):
        self.errors.seek(0)
        return self.errors.read()[-4000:]

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"{self.script} died with code {self.process.wait(timeout=60)}: {self.said()}")
        reply = json.loads(line)
        if "error" in reply:
            raise Failed(reply["error"])
        return reply["value"]

    def ask(self, what, **values):
        self.process.stdin.write(json.dumps({"do": what} | values) + "\n")
        self.process.stdin.flush()
        return self.answer()


class OpenClaw:
    """An installation with its state in `folder`."""

    def __init__(self, folder):
        self.folder = folder
        self.state = folder / "state"
        self.database = self.state / "agents/main/agent/openclaw-agent.sqlite"
        # Best beside the agent's database.
        self.index = self.database.with_name("session-search.sqlite")
        for part in ("home", "state", "temporary"):
            (folder / part).mkdir()
        settings = {
            "gateway": {"mode": "local"},
            "logging": {"file": str(folder / "openclaw.log")},
            "update": {"checkOnStart": False},
            "agents": {"defaults": {"workspace": str(folder / "workspace")}},
        }
        (self.state / "openclaw.json").write_text(json.dumps(settings))
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "TMPDIR": str(folder / "temporary"),
            "NO_COLOR": "1",
            "OPENCLAW_STATE_DIR": str(self.state),
            "OPENCLAW_DISABLE_BONJOUR": "1",
            "OPENCLAW_NO_AUTO_UPDATE": "1",
            "OPENCLAW_NO_RESPAWN": "1",
            "OPENCLAW_SKIP_BROWSER_CONTROL_SERVER": "1",
            "OPENCLAW_SKIP_CHANNELS": "1",
            "OPENCLAW_SKIP_CRON": "1",
            "OPENCLAW_SKIP_GMAIL_WATCHER": "1",
            "OPENCLAW_SKIP_STARTUP_MODEL_PREWARM": "1",
        }

    def accessors(self):
        """Its own functions, in a process of its own."""
        return Program("accessors.mjs", self.environment, self.folder)

    def gateway(self):
        """Its gateway, when it is ready."""
        gateway = Program("gateway.mjs", self.environment, self.folder)
        gateway.answer()
        return gateway

    def command(self, *arguments, fails=False):
        """What a command of its prints. A command that fails is an error, unless `fails`."""
        done = subprocess.run(
            [*alone(), *NODE, str(PACKAGE / "openclaw.mjs"), *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            env=self.environment,
            cwd=self.folder,
            timeout=180,
        )
        if done.returncode != 0 and not fails:
            raise AssertionError(f"openclaw {arguments} ended with code {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout


class TestCase(hosts.TestCase):
    """With an installation of its own for each test."""

    def setUp(self):
        super().setUp()
        self.openclaw = OpenClaw(self.folder)

    def accessors(self):
        return self.enterContext(self.openclaw.accessors())

    def searching(self, name="debian", index=None):
        """A connection of a host program to the index, which searches the agent's database."""
        return self.host(name).searching(self.openclaw.database, index or self.openclaw.index)
