//! What people reported of searches in their languages and of queries that failed: `tests/data/reports.jsonl`, run in real FTS5 tables.
//!
//! A row has `texts` (numbered from 1) and `queries` with the `rows` that they find, best first where the order is decided, or the text of
//! the error; `trigram` has FTS5 expressions for the other mode. Or it has a `text` and the `excerpt` that a `query` gets. `origin` is the
//! report; where what it asks for is wrong or out of reach, `note` says why.

use rusqlite::{Connection, params};
use serde_json::Value;

const ROWS: &str = include_str!("data/reports.jsonl");

fn rows() -> Vec<Value> {
    ROWS.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A table of the texts of a row.
fn table(row: &Value, options: &str) -> Connection {
    let conn = Connection::open_in_memory().unwrap();
    session_search::register(&conn).unwrap();
    conn.execute_batch(&format!("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='session_search {options}')")).unwrap();
    for text in row["texts"].as_array().unwrap() {
        let text = text.as_str().unwrap().replace("{10291 NUL}", &"\0".repeat(10_291));
        conn.execute("INSERT INTO t(text) VALUES(?1)", [text]).unwrap();
    }
    conn.execute_batch("INSERT INTO t(t, rank) VALUES('integrity-check', 1)").unwrap();
    conn
}

/// The rowids that an expression finds, best first, equal ones in order.
fn found(conn: &Connection, expression: &str) -> Vec<i64> {
    let mut statement = conn.prepare("SELECT rowid FROM t(?1) ORDER BY rank, rowid").unwrap();
    statement.query_map([expression], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

/// The same numbers; in the same order where the row gives another one than that of the numbers.
fn assert_found(mut found: Vec<i64>, expected: &Value, context: &str) {
    let expected: Vec<i64> = expected.as_array().unwrap().iter().map(|row| row.as_i64().unwrap()).collect();
    if expected.is_sorted() {
        found.sort_unstable();
    }
    assert_eq!(found, expected, "{context}");
}

#[test]
fn reported_queries_find_what_they_should() {
    let mut queries = 0;
    for row in rows().iter().filter(|row| row["queries"].is_array()) {
        let conn = table(row, "");
        for query in row["queries"].as_array().unwrap() {
            let context = format!("{} {query}", row["id"]);
            let mode = query["mode"].as_str().unwrap_or("all");
            let expression: rusqlite::Result<String> =
                conn.query_row("SELECT session_search_match(?1, ?2)", params![query["query"].as_str(), mode], |row| row.get(0));
            match (expression, query["rows"].as_str()) {
                (Ok(expression), None) => assert_found(found(&conn, &expression), &query["rows"], &context),
                (Err(error), Some(expected)) => assert_eq!(error.to_string(), expected, "{context}"),
                (other, _) => panic!("{context}: {other:?}"),
            }
            queries += 1;
        }
    }
    assert!(queries > 150, "{queries}");
}

#[test]
fn trigram_mode_finds_parts_of_words() {
    let mut queries = 0;
    for row in rows().iter().filter(|row| row["trigram"].is_array()) {
        let conn = table(row, "mode trigram");
        for query in row["trigram"].as_array().unwrap() {
            let context = format!("{} {query}", row["id"]);
            assert_found(found(&conn, query["match"].as_str().unwrap()), &query["rows"], &context);
            queries += 1;
        }
    }
    assert!(queries > 30, "{queries}");
}

#[test]
fn excerpts_show_the_match_within_the_limit() {
    let conn = Connection::open_in_memory().unwrap();
    session_search::register(&conn).unwrap();
    let mut excerpts = 0;
    for row in rows().iter().filter(|row| row["excerpt"].is_string()) {
        let sql = "SELECT redact_excerpt(?1, ?2, ?3)";
        let values = params![row["text"].as_str(), row["query"].as_str(), row["max_chars"].as_i64()];
        let excerpt: String = conn.query_row(sql, values, |row| row.get(0)).unwrap();
        assert_eq!(excerpt, row["excerpt"].as_str().unwrap(), "{row}");
        assert!(i64::try_from(excerpt.chars().count()).unwrap() <= row["max_chars"].as_i64().unwrap(), "{row}");
        excerpts += 1;
    }
    assert!(excerpts > 5, "{excerpts}");
}
