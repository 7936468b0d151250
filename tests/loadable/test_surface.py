"""What loads is exactly what README.md declares: the functions with their arities, the modules, the tokenizer, the auxiliary function.

The library exports one symbol.
"""

import itertools
import re
import struct
import subprocess

from hosts import LIBRARY, ROOT, SUPPORTED, TestCase

HEADER = "| name | kind | does |"
# The kinds of README.md, and the type that SQLite gives to such a function.
FUNCTIONS = {"scalar": "s", "aggregate": "w"}


def declared():
    """(name, fewest arguments, most arguments, kind) of each backticked name in the surface table of README.md."""
    lines = iter((ROOT / "README.md").read_text(encoding="utf-8").splitlines())
    for line in lines:
        if line.strip() == HEADER:
            break
    for line in lines:
        if not line.startswith("|"):
            break
        names, kind, *_ = re.split(r"(?<!\\)\|", line.strip().strip("|"))
        for name, arguments in re.findall(r"`(\w+)(?:\(([^`]*)\))?`", names):
            required, *_ = arguments.split("[")
            count = len(re.findall(r"\w+", required))
            yield name, count, len(re.findall(r"\w+", arguments)), kind.strip().lower()


class Surface(TestCase):
    def setUp(self):
        super().setUp()
        self.declared = list(declared())
        self.assertTrue(self.declared, f"README.md has no table with the header {HEADER}")

    def of_kind(self, *kinds):
        return [row for row in self.declared if any(kind in row[3] for kind in kinds)]

    def difference(self, sql):
        """The rows that loading adds to a list, in every host; they must not depend on it."""
        found = []
        for name in SUPPORTED:
            connection = self.host(name).open(load=False)
            before = connection.rows(sql)
            connection.load()
            after = connection.rows(sql)
            self.assertEqual([row for row in before if row not in after], [], "nothing is taken over")
            found.append(sorted(row for row in after if row not in before))
        self.assertTrue(all(rows == found[0] for rows in found), found)
        return found[0]

    def test_every_row_has_a_known_kind(self):
        known = self.of_kind(*FUNCTIONS, "table", "tokenizer", "auxiliary")
        self.assertEqual(known, self.declared)

    def test_functions(self):
        # FTS5 lists an auxiliary function as a scalar one of any arity.
        expected = [[name, -1, "s"] for name, *_ in self.of_kind("auxiliary")]
        for kind, letter in FUNCTIONS.items():
            for name, fewest, most, _ in self.of_kind(kind):
                expected += [[name, arity, letter] for arity in range(fewest, most + 1)]
        found = self.difference("SELECT name, narg, CASE type WHEN 'a' THEN 'w' ELSE type END FROM pragma_function_list")
        self.assertEqual(found, sorted(expected))

    def test_modules(self):
        expected = sorted([name] for name, *_ in self.of_kind("table"))
        self.assertEqual(self.difference("SELECT name FROM pragma_module_list"), expected)

    def test_arguments_of_table_functions(self):
        connection = self.host("debian").open()
        for name, _, most, _ in self.of_kind("table"):
            hidden = connection.rows("SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 1", name)
            self.assertEqual(len(hidden), most, name)

    def test_tokenizer(self):
        ((name, *_),) = self.of_kind("tokenizer")
        create = f"CREATE VIRTUAL TABLE temp.t USING fts5(x, tokenize = '{name}')"
        for host in SUPPORTED:
            connection = self.host(host).open(load=False)
            self.assertIn(f"no such tokenizer: {name}", connection.error(create))
            connection.load()
            connection.rows(create)
            connection.rows("INSERT INTO t VALUES('Zürich 门票')")
            for query in ("zurich", "门票"):
                self.assertEqual(connection.value("SELECT count(*) FROM t(?)", f'"{query}"'), 1)

    def test_auxiliary_function(self):
        average_and_idf = "x'" + struct.pack("<2d", 3, 1).hex() + "'"
        calls = {"session_search_excerpt": ("t, x, 30", "a b c"), "session_search_bm25": (f"t, {average_and_idf}", 1.0)}
        self.assertEqual(sorted(calls), sorted(name for name, *_ in self.of_kind("auxiliary")))
        for (name, (arguments, value)), host in itertools.product(calls.items(), SUPPORTED):
            call = f"SELECT {name}({arguments}) FROM t('b')"
            connection = self.host(host).open(load=False)
            connection.rows("CREATE VIRTUAL TABLE temp.t USING fts5(x)")
            connection.rows("INSERT INTO t VALUES('a b c')")
            self.assertIn(f"no such function: {name}", connection.error(call))
            connection.load()
            self.assertEqual(connection.value(call), value)

    def test_library_exports_one_symbol(self):
        symbols = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], check=True, capture_output=True, text=True).stdout
        self.assertEqual([line.split()[-1] for line in symbols.splitlines()], ["sqlite3_sessionsearch_init"])

    def test_what_reads_the_database_cannot_be_called_by_a_foreign_schema(self):
        connection = self.host("debian").open()
        flags = {name: flags for name, flags in connection.rows("SELECT name, flags FROM pragma_function_list")}
        direct_only, innocuous = 0x80000, 0x200000
        calls = ("open", "install", "attach", "uninstall", "apply", "reconcile", "check", "rebuild", "optimize", "redact_rule")
        database = {"sessions_search_json", "session_visible", *(f"session_search_{call}" for call in calls)}
        for name, *_ in self.of_kind(*FUNCTIONS):
            reads_database = name in database
            self.assertEqual(flags[name] & (direct_only | innocuous), direct_only if reads_database else innocuous, name)
        connection.rows("CREATE VIEW v AS SELECT redact('a') AS a, session_search_version() AS b")
        connection.rows("SELECT * FROM v")
        connection.rows("CREATE TABLE t(x)")
        connection.rows("CREATE INDEX i ON t(redact(x), session_search_match(x))")
        for sql, name in (
            ("SELECT session_search_open('x') AS a", "session_search_open()"),
            ("SELECT session_search_reconcile() AS a", "session_search_reconcile()"),
            ("SELECT * FROM session_search_status", "session_search_status"),
            ("SELECT * FROM sessions_search('a', 'b')", "sessions_search"),
        ):
            connection.rows("DROP VIEW v")
            connection.rows(f"CREATE VIEW v AS {sql}")
            self.assertIn(name, connection.error("SELECT * FROM v"))
