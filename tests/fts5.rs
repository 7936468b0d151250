//! The tokenizer and the auxiliary function in FTS5 tables of somebody's own.

use rusqlite::Connection;

fn connection(create: &str) -> Connection {
    let conn = Connection::open_in_memory().unwrap();
    session_search::register(&conn).unwrap();
    conn.execute_batch(create).unwrap();
    conn
}

fn strings(conn: &Connection, sql: &str) -> Vec<String> {
    let mut statement = conn.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[test]
fn tokens_offsets_and_phrases_reach_fts5() {
    let conn = connection("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='session_search')");
    conn.execute_batch("INSERT INTO t(rowid, text) VALUES(1, 'Né à Łódź: 东京塔 don''t'), (2, 'plain')").unwrap();
    let highlighted = |query: &str| strings(&conn, &format!("SELECT highlight(t, 0, '[', ']') FROM t('{query}')"));
    assert_eq!(highlighted("lodz"), ["Né à [Łódź]: 东京塔 don't"]);
    assert_eq!(highlighted("\"京塔\""), ["Né à Łódź: 东[京塔] don't"]);
    assert_eq!(highlighted("ne + a"), ["[Né à] Łódź: 东京塔 don't"]);
    assert_eq!(highlighted("NEAR(ne lodz, 2)"), ["[Né] à [Łódź]: 东京塔 don't"]);
    assert_eq!(highlighted("pla*"), ["[plain]"]);
    conn.execute_batch("CREATE VIRTUAL TABLE v USING fts5vocab(t, row)").unwrap();
    assert_eq!(strings(&conn, "SELECT term FROM v ORDER BY term"), ["a", "don", "lodz", "ne", "plain", "t", "东", "京", "塔"]);
    conn.execute_batch("INSERT INTO t(t, rank) VALUES('integrity-check', 1)").unwrap();
}

#[test]
fn readings_of_a_name_stand_where_the_name_stands() {
    let conn = connection("CREATE VIRTUAL TABLE t USING fts5(text, other, tokenize='session_search')");
    let rows =
        "INSERT INTO t VALUES('call getUserName() twice', 'C++ code'), ('the user called', 'plain c'), ('getUserName getUserName', 'i++')";
    conn.execute_batch(rows).unwrap();
    let highlighted = |query: &str| strings(&conn, &format!("SELECT highlight(t, 0, '[', ']') FROM t('{query}') ORDER BY rowid"));
    let name = ["call [getUserName]() twice", "[getUserName] [getUserName]"];
    // A part is in the index once for a text.
    let part = ["call [getUserName]() twice", "[getUserName] getUserName"];
    assert_eq!(highlighted("getUserName"), name);
    assert_eq!(highlighted("getusername"), name);
    assert_eq!(highlighted("UserName"), part);
    assert_eq!(highlighted("getUs*"), name);
    assert_eq!(highlighted("user"), [part[0], "the [user] called", part[1]]);
    assert_eq!(highlighted("user AND name AND get"), part);
    assert_eq!(highlighted("\"call getUserName twice\""), ["[call getUserName() twice]"]);
    assert_eq!(highlighted("NEAR(call twice, 1)"), ["[call] getUserName() [twice]"]);
    let others = |query: &str| strings(&conn, &format!("SELECT other FROM t('{query}') ORDER BY rowid"));
    assert_eq!(others("other: \"C++\""), ["C++ code"]);
    assert_eq!(others("other: c"), ["C++ code", "plain c"]);
    assert_eq!(others("\"i++\""), ["i++"]);
    assert_eq!(others("{text other}: \"code\""), ["C++ code"]);
    // Readings are no tokens of their own.
    let sizes: Vec<String> = strings(&conn, "SELECT hex(sz) FROM t_docsize ORDER BY id");
    assert_eq!(sizes, ["0302", "0302", "0201"]);
    conn.execute_batch("INSERT INTO t(t, rank) VALUES('integrity-check', 1); DELETE FROM t WHERE rowid = 3").unwrap();
    conn.execute_batch("INSERT INTO t(t, rank) VALUES('integrity-check', 1)").unwrap();
}

#[test]
fn a_phrase_of_characters_does_not_reach_across_punctuation() {
    let conn = connection("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='session_search')");
    conn.execute_batch("INSERT INTO t VALUES('去东京'), ('在东。京都'), ('东\n京'), ('东，京')").unwrap();
    let highlighted = |query: &str| strings(&conn, &format!("SELECT highlight(t, 0, '[', ']') FROM t('\"{query}\"') ORDER BY rowid"));
    assert_eq!(highlighted("东京"), ["去[东京]", "[东\n京]"]);
    assert_eq!(highlighted("东、京"), ["在[东。京]都", "[东，京]"]);
    assert_eq!(highlighted("京都"), ["在东。[京都]"]);
}

#[test]
fn trigram_mode_finds_any_part_of_a_word() {
    let conn = connection("CREATE VIRTUAL TABLE t USING fts5(text, other, tokenize='session_search mode trigram')");
    let rows =
        "INSERT INTO t(text) VALUES('Né à Łódź: 东京塔'), ('migration of the db'), (CAST(x'6265666F7265006166746572' AS TEXT)), ('C++')";
    conn.execute_batch(rows).unwrap();
    let highlighted = |query: &str| strings(&conn, &format!("SELECT highlight(t, 0, '[', ']') FROM t('{query}') ORDER BY rowid"));
    assert_eq!(highlighted("lod"), ["Né à [Łód]ź: 东京塔"]);
    assert_eq!(highlighted("odz"), ["Né à Ł[ódź]: 东京塔"]);
    assert_eq!(highlighted("\"a ŁÓDŹ\""), ["Né [à Łódź]: 东京塔"]);
    assert_eq!(highlighted("\"京塔\" *"), ["Né à Łódź: 东[京塔]"]);
    assert_eq!(highlighted("grat"), ["mi[grat]ion of the db"]);
    assert_eq!(highlighted("db*"), ["migration of the [db]"]);
    // An older highlight() marks matches that overlap one by one.
    let plus = if rusqlite::version_number() >= 3_044_000 { "C[++]" } else { "C[++][+]" };
    assert_eq!(highlighted("\"+\" *"), [plus]);
    assert_eq!(highlighted("text: grat NOT \"lod\""), ["mi[grat]ion of the db"]);
    assert_eq!(highlighted("NEAR(mig the, 20)"), ["[mig]ration of [the] db"]);
    // A NUL ends what highlight() shows, not what is found.
    for query in ["before", "after", "\"fore aft\""] {
        assert_eq!(strings(&conn, &format!("SELECT rowid || '' FROM t('{query}')")), ["3"], "{query}");
    }
    conn.execute_batch("INSERT INTO t(t, rank) VALUES('integrity-check', 1)").unwrap();
}

#[test]
fn any_bytes_are_tokenized() {
    let conn = connection("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='session_search')");
    let rows: [&[u8]; 4] = [b"before\0after", b"bad \xff\xfe bytes", b"", b"\xf0\x9f cut"];
    for row in rows {
        conn.execute("INSERT INTO t(text) VALUES(CAST(?1 AS TEXT))", [row]).unwrap();
    }
    conn.execute("INSERT INTO t(text) VALUES(?1)", [format!("before {} behind", "\0".repeat(10_291))]).unwrap();
    conn.execute("INSERT INTO t(text) VALUES(NULL)", []).unwrap();
    conn.execute("INSERT INTO t(text) VALUES(?1)", ["long ".repeat(2_000_000)]).unwrap();
    conn.execute("INSERT INTO t(text) VALUES(?1)", ["x".repeat(10_000_000)]).unwrap();
    for (query, rows) in [("before", 2), ("after", 1), ("bytes", 1), ("cut", 1), ("behind", 1), ("long", 1)] {
        let found: i64 = conn.query_row("SELECT count(*) FROM t(?1)", [query], |row| row.get(0)).unwrap();
        assert_eq!(found, rows, "{query}");
    }
    conn.execute_batch("INSERT INTO t(t, rank) VALUES('integrity-check', 1)").unwrap();
}

#[test]
fn unknown_tokenizer_options_are_refused() {
    for options in ["mode letters", "case_sensitive 1", "remove_diacritics 3", "separators x", "mode"] {
        let conn = Connection::open_in_memory().unwrap();
        session_search::register(&conn).unwrap();
        let sql = format!("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='session_search {options}')");
        let created = conn.execute_batch(&sql).and_then(|()| conn.execute_batch("INSERT INTO t(text) VALUES('a')"));
        assert!(created.is_err(), "{options}");
    }
    for options in ["mode words", "mode trigram", "remove_diacritics 0", "remove_diacritics 1 mode words"] {
        let sql = format!("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='session_search {options}'); INSERT INTO t(text) VALUES('é')");
        connection(&sql);
    }
}

#[test]
fn the_auxiliary_function_cuts_around_the_matches_of_the_query() {
    let secret = concat!("gh", "p_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8");
    let text = format!("{} the needle {secret} lies here {}", "before ".repeat(100), "after ".repeat(100));
    // A table that holds the text as it is, one that holds it without its secrets, and one without any content.
    let delete = if rusqlite::version_number() >= 3_043_000 { ", contentless_delete=1" } else { "" };
    let contentless = format!("CREATE VIRTUAL TABLE t USING fts5(text, other, content=''{delete}, tokenize='session_search')");
    let tables = [
        "CREATE VIRTUAL TABLE t USING fts5(text, other, tokenize='session_search')",
        &contentless,
        "CREATE VIRTUAL TABLE t USING fts5(text, other, tokenize='unicode61')",
    ];
    for table in tables {
        for indexed in [text.clone(), text.replace(secret, "\u{1f}")] {
            let conn = connection(table);
            conn.execute("INSERT INTO t(text, other) VALUES(?1, 'other words')", [&indexed]).unwrap();
            let sql = "SELECT session_search_excerpt(t, ?1, 80) FROM t('needle lies')";
            let excerpt: String = conn.query_row(sql, [&text], |row| row.get(0)).unwrap();
            assert!(excerpt.contains("needle [redacted:github-token] lies"), "{table}: {excerpt}");
            assert!(excerpt.chars().count() <= 80 && excerpt.starts_with('…') && excerpt.ends_with('…'), "{excerpt}");
            let null: Option<String> =
                conn.query_row("SELECT session_search_excerpt(t, NULL, 80) FROM t('needle')", [], |row| row.get(0)).unwrap();
            assert_eq!(null, None);
            // Another text than the one that was indexed: no match is known, the beginning is shown.
            let other: String =
                conn.query_row("SELECT session_search_excerpt(t, 'something else', 80) FROM t('needle')", [], |r| r.get(0)).unwrap();
            assert_eq!(other, "something else");
            for (call, expected) in [
                ("session_search_excerpt(t)", "expected 3 arguments (table, text, max_chars), got 1"),
                ("session_search_excerpt(t, 'a')", "expected 3 arguments (table, text, max_chars), got 2"),
                ("session_search_excerpt(t, 5, 5)", "argument 2 (text) must be TEXT"),
                ("session_search_excerpt(t, 'a', 0)", "argument 3 (max_chars) must be an integer of at least 1"),
                ("session_search_excerpt(t, 'a', 'b')", "argument 3 (max_chars) must be an integer of at least 1"),
            ] {
                let error = conn.query_row(&format!("SELECT {call} FROM t('needle')"), [], |_| Ok(())).unwrap_err().to_string();
                assert!(error.contains(expected), "{call}: {error}");
            }
        }
    }
}

#[test]
fn the_scalar_excerpt_works_on_a_column_of_an_fts5_table() {
    let conn = connection("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='session_search'); INSERT INTO t VALUES('a needle here')");
    let sql = "SELECT redact_excerpt(text) || redact_excerpt(text, 'needle', 6) FROM t('needle')";
    assert_eq!(strings(&conn, sql), ["a needle hereneedle"]);
}

#[test]
fn bm25_takes_the_statistics_that_it_is_given() {
    let conn = connection("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='session_search'); INSERT INTO t VALUES('a a b'), ('a c')");
    let blob = |numbers: &[f64]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
    let score = |query: &str, statistics: &[u8]| {
        let sql = "SELECT session_search_bm25(t, ?2) FROM t(?1) ORDER BY rowid";
        conn.query_row(sql, rusqlite::params![query, statistics], |row| row.get::<_, f64>(0))
    };
    // Two of three tokens, the average length: 2 * 2.2 / (2 + 1.2).
    assert!((score("a", &blob(&[3.0, 1.0])).unwrap() - 1.375).abs() < 1e-12);
    assert!((score("a OR b", &blob(&[3.0, 1.0, 10.0])).unwrap() - 11.375).abs() < 1e-12);
    for (query, statistics) in [("a", vec![]), ("a OR b", blob(&[3.0, 1.0])), ("a", vec![1, 2, 3])] {
        let error = score(query, &statistics).unwrap_err().to_string();
        assert!(error.contains("session_search_bm25: argument 2 (statistics) must be a BLOB of little-endian doubles"), "{error}");
    }
    let error = conn.query_row("SELECT session_search_bm25(t) FROM t('a')", [], |_| Ok(())).unwrap_err().to_string();
    assert!(error.contains("session_search_bm25: expected 2 arguments (table, statistics), got 1"), "{error}");
}
