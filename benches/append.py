"""What it costs to store one message: bare, with a trigger that writes FTS5 itself, and with the index in place.

    python3 benches/append.py debian          # the sqlite3 module of Python
    python3 benches/append.py apsw target/hosts/apsw-new

Every variant has a database of its own in WAL mode (synchronous = normal), and they take turns message by message, so that they meet the same
noise. 200 sessions take turns too. At the end every 97th message is searched for.
"""

import json
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/loadable"))
import connections  # noqa: E402

SESSIONS, WARM, ROUNDS, WORDS = 200, 2_000, 6_000, 67
CLASSIC = """
CREATE VIRTUAL TABLE classic USING fts5(text, session_id UNINDEXED, role UNINDEXED);
CREATE TRIGGER classic_insert AFTER INSERT ON transcript_events WHEN json_extract(new.event_json, '$.message.role') IN ('user', 'assistant') BEGIN
  INSERT INTO classic(rowid, text, session_id, role) VALUES(new.rowid, json_extract(new.event_json, '$.message.content'), new.session_id,
    json_extract(new.event_json, '$.message.role'));
END;
"""


def database(connect, folder, name, library):
    conn = connect(str(folder / f"{name}.sqlite"))
    conn.rows("PRAGMA journal_mode = wal")
    conn.rows("PRAGMA synchronous = normal")
    for sql in (ROOT / "sql/standalone.sql").read_text().split(";\n"):
        conn.rows(sql)
    if name == "classic":
        for part in CLASSIC.split("\n", 2)[1:2] + [CLASSIC.split("\n", 2)[2]]:
            conn.rows(part)
    if name == "in place":
        conn.load(library)
        conn.rows("SELECT session_search_install()")
    for s in range(SESSIONS):
        conn.rows("INSERT INTO sessions(session_id, session_key, created_at) VALUES(?, ?, 0)", f"s{s}", f"agent:main:dashboard:{s}")
    return conn


def main(kind, *folder):
    sys.path[:0] = folder
    connect = connections.Sqlite3 if kind == "debian" else connections.Apsw
    words = [f"{a}{b}{c}" for a in ("re", "in", "con", "de", "over") for b in ("port", "struct", "form", "late", "view", "scribe") for c in ("", "ing", "ed", "s")]
    chance = random.Random(1)
    with tempfile.TemporaryDirectory(prefix="session-search-") as name:
        databases = {n: database(connect, Path(name), n, str(ROOT / "dist/session_search")) for n in ("bare", "classic", "in place")}
        times = {n: [] for n in databases}
        for i in range(WARM + ROUNDS):
            seq, s = divmod(i, SESSIONS)
            text = f"message{i} " + " ".join(chance.choices(words, k=WORDS - 1))
            parent = f"{s}-{seq - 1}" if seq else None
            event = {"type": "message", "id": f"{s}-{seq}", "parentId": parent, "message": {"role": "user", "content": text}}
            values = (f"s{s}", seq, json.dumps(event), i)
            for n in chance.sample(list(databases), len(databases)):
                start = time.perf_counter_ns()
                databases[n].rows("INSERT INTO transcript_events(session_id, seq, event_json, created_at) VALUES(?, ?, ?, ?)", *values)
                if i >= WARM:
                    times[n].append((time.perf_counter_ns() - start) / 1000)
        sql = "SELECT group_concat(message_id) FROM sessions_search(?, 'agent:main:main', '{\"policy\":{\"visibility\":\"agent\"}}')"
        for i in range(0, WARM + ROUNDS, 97):
            assert databases["in place"].value(sql, f"message{i}") == f"{i % SESSIONS}-{i // SESSIONS}"
        assert databases["in place"].value("SELECT behind FROM session_search_status") == 0
        print(f"{kind}, SQLite {databases['bare'].value('SELECT sqlite_version()')}: one message of {len(text)} bytes a transaction, microseconds")
        bare = statistics.median(times["bare"])
        for n, of in times.items():
            quantiles = statistics.quantiles(of, n=100)
            print(f"  {n:9} p50 {quantiles[49]:6.1f} (+{quantiles[49] - bare:5.1f})  p90 {quantiles[89]:6.1f}  p99 {quantiles[98]:7.1f}  mean {statistics.mean(of):6.1f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
