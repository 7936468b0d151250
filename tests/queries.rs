//! No query is a syntax error: every text, nasty or random, gives an expression that FTS5 accepts, or the one clear error.
//!
//! `tests/data/queries-hostile.jsonl` has the collected ones; `SESSION_SEARCH_QUERIES=200000` makes so many random ones instead of the few thousand
//! of every run.

use rusqlite::{Connection, params};

const HOSTILE: &str = include_str!("data/queries-hostile.jsonl");
const MODES: [&str; 3] = ["all", "any", "prefix"];

/// What random queries are made of: syntax of FTS5 and of others, quotes of all kinds, words of many scripts, what is no character.
const PIECES: [&str; 60] = [
    " ",
    " ",
    " ",
    " ",
    "a",
    "B",
    "word",
    "OR",
    "AND",
    "NOT",
    "NEAR",
    "NEAR(a b, 2)",
    "{a b}:",
    "text:",
    "^",
    "*",
    "\"",
    "\"\"",
    "'",
    "“",
    "”",
    "«",
    "»",
    "„",
    "(",
    ")",
    "-",
    "--",
    "+",
    "++",
    "#",
    ".",
    ",",
    ":",
    ";",
    "/",
    "\\",
    "%",
    "C++",
    ".net",
    "getUserName",
    "foo_bar",
    "é",
    "ß",
    "İ",
    "東京",
    "。",
    "한국",
    "हि",
    "ไทย",
    "👩\u{200D}💻",
    "🇩🇪",
    "\u{301}",
    "\u{200B}",
    "\u{FEFF}",
    "\0",
    "\u{1F}",
    "\u{FFFF}",
    "½",
    "ﷺ",
];

struct Tables(Vec<Connection>);

impl Tables {
    fn new() -> Self {
        let table = |options: &str| {
            let conn = Connection::open_in_memory().unwrap();
            session_search::register(&conn).unwrap();
            let create = format!(
                "CREATE VIRTUAL TABLE t USING fts5(text, other, tokenize='{options}'); INSERT INTO t VALUES('a word of the text', '東京 foo_bar')"
            );
            conn.execute_batch(&create).unwrap();
            conn
        };
        Self(["session_search", "session_search mode trigram", "unicode61"].map(table).into())
    }

    /// Whether the query has something to search for.
    fn assert_searched(&self, query: &str, mode: &str) -> bool {
        let conn = &self.0[0];
        let expression: rusqlite::Result<String> =
            conn.prepare_cached("SELECT session_search_match(?1, ?2)").unwrap().query_row(params![query, mode], |row| row.get(0));
        match expression {
            Ok(expression) => {
                for conn in &self.0 {
                    let found: rusqlite::Result<i64> =
                        conn.prepare_cached("SELECT count(*) FROM t(?1)").unwrap().query_row([&expression], |row| row.get(0));
                    assert!(found.is_ok(), "{query:?} {mode}: {expression:?} {found:?}");
                }
                true
            }
            Err(error) => {
                assert!(error.to_string().starts_with("query has nothing to search for: "), "{query:?} {mode}: {error}");
                false
            }
        }
    }
}

#[test]
fn collected_queries_never_fail_in_fts5() {
    let tables = Tables::new();
    let queries: Vec<String> = HOSTILE.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(queries.len() > 500);
    for query in &queries {
        for mode in MODES {
            tables.assert_searched(query, mode);
        }
    }
}

#[test]
fn random_queries_never_fail_in_fts5() {
    let wanted = std::env::var("SESSION_SEARCH_QUERIES").map_or(4_000, |number| number.parse().unwrap());
    let tables = Tables::new();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut searched = 0;
    for _ in 0..wanted {
        let mut query = String::new();
        for _ in 0..random.below(12) {
            if random.below(8) == 0 {
                query.extend(char::from_u32(u32::try_from(random.below(0x11_0000)).unwrap()));
            } else {
                query.push_str(PIECES[random.below(PIECES.len())]);
            }
        }
        searched += usize::from(tables.assert_searched(&query, MODES[random.below(3)]));
    }
    assert!(searched > wanted / 2, "{searched} of {wanted}");
}

/// Numbers that are the same in every run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }
}
