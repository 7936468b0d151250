"""Calls that a careless or hostile schema, host or model can make: each is an error of SQL or a value, and the host lives on."""

import itertools

from connections import SqliteError
from hosts import CALLER, SUPPORTED, TestCase, message, say

# SQL expressions. A function of one argument is called with each, others with all combinations of the shorter lists.
VALUES = [
    "NULL",
    "0",
    "-1",
    "9223372036854775807",
    "-9223372036854775808",
    "1.5",
    "9e999",
    "''",
    "'abc'",
    "'{}'",
    "x''",
    "x'00ff'",
    "x'28b52ffd00'",
    "char(0)",
    "CAST(x'fffe61' AS TEXT)",
    "zeroblob(1000000)",
    "hex(zeroblob(500000))",
    "replace(hex(zeroblob(500000)), '0', '[')",
    "replace(hex(zeroblob(50000)), '0', '\"a\" OR b* ')",
    "printf('{\"limit\":%s}', hex(zeroblob(50000)))",
]
PAIRS = ["NULL", "-1", "9223372036854775807", "1.5", "''", "'agent:main:main'", "'{\"limit\":-1}'", "x'00ff'", "char(0)"]
PAIRS += ["hex(zeroblob(500000))"]
TRIPLES = ["NULL", "-9223372036854775808", "''", "'{}'", "x'00ff'", "hex(zeroblob(50000))"]
COMBINATIONS = {n: list(itertools.product(values, repeat=n)) for n, values in enumerate(([], VALUES, PAIRS, TRIPLES))}
COMBINATIONS[5] = list(itertools.product(["NULL", "-1", "'s'"], repeat=5))

# Every text must be one of ours or SQLite's, and say something.
NO_TEXT = ("", "not an error", "unknown error", "SQL logic error")
LONGEST_TEXT = 500

# Statements, and a piece of the error that they must give (None: rows).
STATEMENTS = [
    ("SELECT redact()", "wrong number of arguments to function redact()"),
    ("SELECT redact('a', 'b')", "wrong number of arguments to function redact()"),
    ("SELECT session_search_version(1)", "wrong number of arguments to function session_search_version()"),
    ("SELECT sessions_search_json('a')", "wrong number of arguments to function sessions_search_json()"),
    ("SELECT transcript_branch(1)", "wrong number of arguments to function transcript_branch()"),
    ("SELECT transcript_branch(DISTINCT 1, '{}')", "DISTINCT aggregates must have exactly one argument"),
    ("SELECT session_search_excerpt('a', 'b', 1)", "unable to use function session_search_excerpt in the requested context"),
    ("SELECT session_search_excerpt()", "unable to use function session_search_excerpt in the requested context"),
    ("SELECT * FROM sessions_search", "sessions_search: argument 1 (query) is missing"),
    ("SELECT * FROM sessions_search('pelican')", "sessions_search: argument 2 (caller) is missing"),
    ("SELECT * FROM sessions_search WHERE caller = 'x' AND query > 'pelican'", "sessions_search: argument 1 (query) is missing"),
    ("SELECT * FROM sessions_search(1, 'x')", "sessions_search: argument 1 (query) must be TEXT, got INTEGER"),
    ("SELECT * FROM sessions_search('a', x'00')", "sessions_search: argument 2 (caller) must be TEXT, got BLOB"),
    ("SELECT * FROM sessions_search('a', 'b', '{}', 'c')", "too many arguments on sessions_search"),
    ("SELECT * FROM session_search_status(1)", "too many arguments on session_search_status"),
    ("SELECT * FROM sessions_search(NULL, NULL, NULL)", None),
    ("SELECT * FROM sessions_search('pelican', 'agent:main:main') LIMIT -1 OFFSET -5", None),
    ("SELECT * FROM sessions_search('pelican', 'agent:main:main') WHERE rowid > 9223372036854775807", None),
    ("SELECT * FROM sessions_search WHERE query IN ('pelican', 'heron') AND caller = 'agent:main:main'", None),
    ("SELECT count(*) FROM sessions_search('pelican', 'agent:main:main') a, sessions_search('heron', a.session_key) b", None),
    ("SELECT * FROM (SELECT 'pelican' AS q) t LEFT JOIN sessions_search(t.q, 'agent:main:main')", None),
    ("SELECT * FROM sessions_search((SELECT message_id FROM sessions_search('pelican', 'agent:main:main')), 'agent:main:main')", None),
    ("INSERT INTO sessions_search(query) VALUES('a')", "table sessions_search may not be modified"),
    ("DELETE FROM session_search_status", "table session_search_status may not be modified"),
    ("CREATE VIRTUAL TABLE temp.x USING sessions_search(a)", "no such module: sessions_search"),
    ("CREATE VIRTUAL TABLE temp.x USING fts5(a, tokenize = 'session_search mode nonsense')", "error in tokenizer constructor"),
    ("CREATE VIRTUAL TABLE temp.x USING fts5(a, tokenize = 'session_search mode')", "error in tokenizer constructor"),
    ("SELECT redact_excerpt('a', 'b', 0)", "redact_excerpt: argument 3 (max_chars) must be an integer of at least 1, got 0"),
    ("SELECT redact(4113142783475003)", "redact: argument 1 (text) must be TEXT, got INTEGER"),
    ("SELECT session_search_reconcile(-1)", "session_search_reconcile: argument 1 (budget_ms) must be milliseconds, not negative, got -1"),
    ("SELECT session_search_match(hex(zeroblob(500000)))", "query must be at most 4096 characters, got 1000000"),
    ("SELECT length(redact(hex(zeroblob(500000))))", None),
]


class Calls(TestCase):
    def test_every_function_with_every_kind_of_value(self):
        faults = set()
        for name, opened in (("debian", False), *((name, True) for name in SUPPORTED)):
            connection = self.host(name).open(self.folder / f"{name}-{opened}.sqlite")
            functions = connection.rows("SELECT name, narg FROM pragma_function_list WHERE narg >= 0")
            functions = [row for row in functions if row[0].startswith(("session", "transcript_", "redact"))]
            functions.remove(["session_search_uninstall", 0])  # closes what is open
            self.assertGreater(len(functions), 15)
            if opened:
                connection.rows("SELECT session_search_open(?)", str(self.fixture()))
                connection.rows("SELECT session_search_reconcile()")
            for function, arity in functions:
                for values in COMBINATIONS[arity]:
                    call = f"{function}({', '.join(values)})"
                    try:
                        connection.rows(f"SELECT typeof({call})")
                    except SqliteError as error:
                        text = str(error)
                        if text in NO_TEXT or "panic" in text or len(text) > LONGEST_TEXT:
                            faults.add(f"{call}: {len(text)} characters, {text[:100]}")
            if opened:
                self.assertEqual(len(connection.ids("pelican")), 6, "the connection still searches what it searched")
        self.assertEqual(sorted(faults), [])

    def test_statements(self):
        for name in SUPPORTED:
            connection = self.host(name).searching(self.fixture(), self.folder / f"{name}.sqlite")
            for sql, error in STATEMENTS:
                with self.subTest(host=name, sql=sql):
                    if error is None:
                        connection.rows(sql)
                    else:
                        self.assertIn(error, connection.error(sql))
            self.assertEqual(len(connection.ids("pelican")), 6)

    def test_functions_in_an_indexed_where_after_analyze(self):
        """The planner calls a function without arguments by itself where it has samples of an index."""
        for name in SUPPORTED:
            with self.subTest(host=name):
                connection = self.host(name).open()
                connection.rows("CREATE TABLE t(v TEXT)")
                connection.rows("CREATE INDEX i ON t(v)")
                numbers = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)"
                connection.rows(f"{numbers} INSERT INTO t SELECT i % 7 FROM n")
                connection.rows("INSERT INTO t VALUES(session_search_version())")
                connection.rows("ANALYZE")
                for operator, count in (("=", 1), ("<", None), (">", None)):
                    rows = connection.rows(f"SELECT count(*) FROM t WHERE v {operator} session_search_version()")
                    if count is not None:
                        self.assertEqual(rows, [[count]])
                connection.rows("SELECT count(*) FROM t WHERE v = session_search_debug() OR v > redact('x')")

    def test_search_inside_a_statement_that_writes(self):
        """A search may run there; it writes nothing, and the statement and its transaction stay whole."""
        for name in SUPPORTED:
            with self.subTest(host=name):
                database, writer = self.standalone(f"{name}-host.sqlite")
                connection = self.host(name).searching(database, self.folder / f"{name}.sqlite")
                connection.rows("CREATE TABLE hits(id)")
                insert = "INSERT INTO hits SELECT message_id FROM sessions_search('common', ?)"
                say(writer, "common one", "m1", 1)
                self.assertEqual(connection.ids("common"), ["m1"])
                say(writer, "common two", "m2", 2)
                connection.rows(insert, CALLER)
                self.assertEqual(connection.rows("SELECT id FROM hits"), [["m1"]], "the other one cannot be indexed now")
                text = connection.error("INSERT INTO hits SELECT session_search_reconcile()")
                self.assertEqual(text, "the index cannot be written from inside a statement that writes: use a plain SELECT")
                connection.rows("BEGIN")
                connection.rows("INSERT INTO hits VALUES('in a transaction')")
                connection.rows("SELECT session_search_reconcile()")
                connection.rows(insert, CALLER)
                self.assertEqual(connection.value("SELECT count(*) FROM hits"), 4)
                connection.rows("ROLLBACK")
                self.assertEqual(connection.rows("SELECT id FROM hits"), [["m1"]])
                self.assertEqual(connection.ids("common"), ["m1", "m2"])

    def test_whole_numbers_may_come_as_real(self):
        """node:sqlite and better-sqlite3 bind every JavaScript number as REAL."""
        for name in SUPPORTED:
            with self.subTest(host=name):
                connection = self.host(name).searching(self.fixture(), self.folder / f"{name}.sqlite")
                self.assertEqual(connection.value("SELECT session_search_reconcile(?)", 60000.0), 0)
                self.assertEqual(connection.value("SELECT redact_excerpt('a word', NULL, ?)", 30.0), "a word")
                event = message("m1", "a word")
                self.assertEqual(connection.value("SELECT transcript_timestamp(?, ?)", event, 7.0), 1783670400000)
                self.assertEqual(connection.value("SELECT transcript_branch(?, ?)", 7.0, event), "[7]")
                connection.rows("CREATE VIRTUAL TABLE temp.t USING fts5(x)")
                connection.rows("INSERT INTO t VALUES('a word')")
                self.assertEqual(connection.value("SELECT session_search_excerpt(t, x, ?) FROM t('word')", 30.0), "a word")
                text = connection.error("SELECT redact_excerpt('a', NULL, 1.5)")
                self.assertEqual(text, "redact_excerpt: argument 3 (max_chars) must be INTEGER, got REAL")


class OwnTable(TestCase):
    """The tokenizer and the functions on a table of the user's own."""

    def setUp(self):
        super().setUp()
        self.connections = []
        for name in SUPPORTED:
            connection = self.host(name).open()
            connection.rows("CREATE VIRTUAL TABLE notes USING fts5(title, body, tokenize = 'session_search')")
            for title, body in (
                ("Zürich", "The café in Zürich opens at nine; " + "ask again later. " * 40 + "password=hunter2hunter2"),
                ("票", "东京塔的门票多少钱？"),
                ("empty", None),
            ):
                connection.rows("INSERT INTO notes VALUES(?, ?)", title, body)
            self.connections.append(connection)

    def test_scalar_functions_work_on_its_columns(self):
        for connection in self.connections:
            with self.subTest(host=connection.host.name):
                self.assertEqual(connection.value("SELECT redact_excerpt(title) FROM notes('门票')"), "票")
                text = connection.value("SELECT redact_excerpt(body, 'hunter2hunter2 password', 60) FROM notes('zurich')")
                self.assertIn("password=[redacted:password]", text)
                self.assertEqual(connection.value("SELECT redact(title) FROM notes('门票')"), "票")
                self.assertEqual(connection.rows("SELECT redact_excerpt(body) FROM notes WHERE title = 'empty'"), [[None]])

    def test_auxiliary_function_works_on_it(self):
        for connection in self.connections:
            with self.subTest(host=connection.host.name):
                excerpt = "SELECT session_search_excerpt(notes, body, CAST(? AS INTEGER)) FROM notes(?)"
                self.assertEqual(connection.value(excerpt, 200, "门票"), "东京塔的门票多少钱？")
                text = connection.value(excerpt, 60, "nine")
                self.assertIn("nine", text)
                self.assertLessEqual(len(text), 60)
                text = connection.value(excerpt, 60, "hunter2hunter2")
                self.assertIn("[redacted:password]", text)
                self.assertNotIn("hunter2", text)
                self.assertEqual(connection.rows("SELECT session_search_excerpt(notes, NULL, 60) FROM notes('nine')"), [[None]])
                self.assertEqual(connection.value("SELECT session_search_excerpt(notes, title, 60) FROM notes('nine')"), "Zürich")

    def test_auxiliary_function_without_a_match(self):
        for connection in self.connections:
            with self.subTest(host=connection.host.name):
                sql = "SELECT session_search_excerpt(notes, body, 30) FROM notes WHERE rowid = 2"
                self.assertEqual(connection.value(sql), "东京塔的门票多少钱？")

    def test_wrong_calls_of_the_auxiliary_function_are_errors(self):
        for arguments, error in (
            ("notes", "session_search_excerpt: expected 3 arguments (table, text, max_chars), got 1"),
            ("notes, body, 30, 1", "session_search_excerpt: expected 3 arguments (table, text, max_chars), got 4"),
            ("notes, 1, 30", "session_search_excerpt: argument 2 (text) must be TEXT"),
            ("notes, x'ff', 30", "session_search_excerpt: argument 2 (text) must be TEXT"),
            ("notes, body, 0", "session_search_excerpt: argument 3 (max_chars) must be an integer of at least 1"),
            ("notes, body, 'x'", "session_search_excerpt: argument 3 (max_chars) must be an integer of at least 1"),
            ("notes, body, -9223372036854775808", "session_search_excerpt: argument 3 (max_chars) must be an integer of at least 1"),
        ):
            for connection in self.connections:
                with self.subTest(host=connection.host.name, arguments=arguments):
                    text = connection.error(f"SELECT session_search_excerpt({arguments}) FROM notes('nine')")
                    self.assertEqual(text, error)

    def test_huge_limits_and_foreign_texts_are_values(self):
        for connection in self.connections:
            with self.subTest(host=connection.host.name):
                sql = "SELECT length(session_search_excerpt(notes, ?, 9223372036854775807)) FROM notes('nine')"
                self.assertEqual(connection.value(sql, "another text"), 12)
                self.assertEqual(connection.value(sql, ""), 0)
                connection.value("SELECT session_search_excerpt(notes, hex(zeroblob(500000)), 10) FROM notes('nine')")

    def test_integrity_check_finds_nothing(self):
        for connection in self.connections:
            with self.subTest(host=connection.host.name):
                connection.rows("INSERT INTO notes(notes) VALUES('integrity-check')")
                self.assertEqual(connection.rows("PRAGMA integrity_check"), [["ok"]])
