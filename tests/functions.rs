//! The functions as SQL sees them, over the same data that their rooms are tested with.

mod support;

use std::collections::BTreeSet;

use rusqlite::Connection;
use serde_json::Value;
use support::decompressed;

fn connection() -> Connection {
    let conn = Connection::open_in_memory().unwrap();
    session_search::register(&conn).unwrap();
    conn
}

#[test]
fn transcript_branch_gives_the_recorded_active_rows() {
    let conn = connection();
    conn.execute_batch("CREATE TABLE events(seq, event)").unwrap();
    let lists = String::from_utf8(decompressed("data/branch-vectors.jsonl.zst")).unwrap();
    let mut count = 0;
    for line in lists.lines() {
        let list: Value = serde_json::from_str(line).unwrap();
        conn.execute_batch("DELETE FROM events").unwrap();
        // Not in order: the aggregate sorts by seq.
        for (seq, event) in list["events"].as_array().unwrap().iter().enumerate().rev() {
            conn.execute("INSERT INTO events VALUES(?1, ?2)", rusqlite::params![i64::try_from(seq).unwrap(), event.to_string()]).unwrap();
        }
        let active: String = conn.query_row("SELECT transcript_branch(seq, event) FROM events", [], |row| row.get(0)).unwrap();
        let expected: Vec<&Value> = list["sep"]["active"].as_array().unwrap().iter().map(|row| &row[1]).collect();
        assert_eq!(active, serde_json::to_string(&expected).unwrap(), "{}", list["name"]);
        count += 1;
    }
    assert_eq!(count, 398);
}

#[test]
fn transcript_functions_give_the_parts_of_a_searchable_event() {
    let conn = connection();
    let rows = [
        (r#"{"type":"message","id":" a ","timestamp":5,"message":{"role":"user","content":" hi "}}"#, "hi|user|a|5"),
        (r#"{"type":"message","id":"a","message":{"role":"assistant","content":[{"type":"text","text":"hi"}]}}"#, "hi|assistant|a|77"),
        (r#"{"type":"message","id":"a","message":{"role":"toolResult","content":"hi"}}"#, "-|-|-|-"),
        (r#"{"type":"custom","id":"a"}"#, "-|-|-|-"),
        ("not json", "-|-|-|-"),
    ];
    for (event, expected) in rows {
        let sql = "SELECT ifnull(transcript_text(?1), '-') || '|' || ifnull(transcript_role(?1), '-') || '|' ||
            ifnull(transcript_message_id(?1), '-') || '|' || ifnull(transcript_timestamp(?1, 77), '-')";
        let got: String = conn.query_row(sql, [event], |row| row.get(0)).unwrap();
        assert_eq!(got, expected, "{event}");
    }
}

#[test]
fn errors_say_what_was_expected_and_what_came() {
    let conn = connection();
    let rows = [
        ("redact(4111111111111111)", "redact: argument 1 (text) must be TEXT, got INTEGER"),
        ("redact(x'00')", "redact: argument 1 (text) must be TEXT, got BLOB"),
        ("redact_excerpt('a', 'b', 0)", "redact_excerpt: argument 3 (max_chars) must be an integer of at least 1, got 0"),
        ("redact_excerpt('a', 'b', 'c')", "redact_excerpt: argument 3 (max_chars) must be INTEGER, got TEXT"),
        ("transcript_text(1.5)", "transcript_text: argument 1 (event) must be TEXT (JSON) or BLOB (one zstd frame of it), got REAL"),
        ("transcript_branch('a', '{}')", "transcript_branch: argument 1 (seq) must be INTEGER, got TEXT"),
        ("session_search_match('')", "query has nothing to search for: it is empty, give at least one word or number"),
        (
            "session_search_match('a', 'most')",
            r#"session_search_match: argument 2 (mode) must be one of "all", "any", "prefix", got "most""#,
        ),
        ("session_search_reconcile(-1)", "session_search_reconcile: argument 1 (budget_ms) must be milliseconds, not negative, got -1"),
        ("session_search_reconcile()", "no transcripts to search on this connection: call session_search_open(path) first"),
        ("sessions_search_json('a', 'b', '[]')", "options must be a JSON object, got []"),
        ("sessions_search_json('a', 'b', '{')", "options must be a JSON object: EOF while parsing an object at line 1 column 1"),
        ("sessions_search_json('a', 'b', '{\"limit\":0}')", "option limit must be an integer from 1 to 25, got 0"),
        ("sessions_search_json('a', 'b', '{\"limit\":2.5}')", "option limit must be an integer from 1 to 25, got 2.5"),
        (
            "sessions_search_json('a', 'b', '{\"roles\":[]}')",
            r#"option roles must be an array of "user" and "assistant", not empty, got []"#,
        ),
        ("sessions_search_json('a', 'b', '{\"order\":\"best\"}')", r#"option order must be "relevance" or "recent", got "best""#),
        (
            "sessions_search_json('a', 'b', '{\"since\":\"now\"}')",
            r#"option since must be an integer (milliseconds since 1970), got "now""#,
        ),
        (
            "sessions_search_json('a', 'b', '{\"max\":1}')",
            r#"options has the unknown key "max": the keys are sessionKey, limit, match, order, roles, since, until, policy"#,
        ),
        (
            "sessions_search_json('a', 'b', '{\"policy\":{\"visibility\":\"everything\"}}')",
            r#"option policy.visibility must be one of "self", "tree", "agent", "all", got "everything""#,
        ),
        (
            "session_visible('a', 'b', '{\"visibility\":1}')",
            r#"option policy.visibility must be one of "self", "tree", "agent", "all", got 1"#,
        ),
        ("(SELECT count(*) FROM sessions_search('a'))", "sessions_search: argument 2 (caller) is missing"),
        ("(SELECT count(*) FROM sessions_search(1, 'b'))", "sessions_search: argument 1 (query) must be TEXT, got INTEGER"),
    ];
    for (call, expected) in rows {
        let error = conn.query_row(&format!("SELECT {call}"), [], |_| Ok(())).unwrap_err().to_string();
        assert!(error.contains(expected), "{call}: {error}");
    }
}

#[test]
fn registering_that_failed_can_be_done_again() {
    let conn = Connection::open_in_memory().unwrap();
    let flags = rusqlite::functions::FunctionFlags::SQLITE_UTF8;
    conn.create_scalar_function("redact", 1, flags, |_| Ok(1)).unwrap();
    {
        // SQLite does not replace a function while a statement runs.
        let mut running = conn.prepare("SELECT 1 UNION ALL SELECT 2").unwrap();
        let mut rows = running.query([]).unwrap();
        rows.next().unwrap();
        for _ in 0..2 {
            let error = session_search::register(&conn).unwrap_err().to_string();
            assert!(error.contains("while registering the functions"), "{error}");
        }
    }
    for _ in 0..2 {
        session_search::register(&conn).unwrap();
    }
    let version: String = conn.query_row("SELECT session_search_version() || redact('')", [], |row| row.get(0)).unwrap();
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
    conn.query_row("SELECT * FROM session_search_status", [], |_| Ok(())).unwrap();
}

#[test]
fn null_in_null_out() {
    let conn = connection();
    let calls = [
        "redact(NULL)",
        "redact_excerpt(NULL)",
        "transcript_text(NULL)",
        "session_search_match(NULL)",
        "session_search_open(NULL)",
        "sessions_search_json(NULL, 'a')",
        "session_visible(NULL, 'a')",
    ];
    for call in calls {
        let null: bool = conn.query_row(&format!("SELECT {call} IS NULL"), [], |row| row.get(0)).unwrap();
        assert!(null, "{call}");
    }
}

#[test]
fn whoever_asks_without_a_name_sees_nothing() {
    let host = support::Host::fixture("sep-2026.9.6-small-main");
    let index = host.index();
    for caller in ["NULL", "''", "'  '", "'agent::bad'", "'agent:main:'"] {
        let sql = format!(r#"SELECT sessions_search_json('pelican', {caller}, '{{"policy":{{"visibility":"all"}}}}')"#);
        let answer: String = index.query_row(&sql, [], |row| row.get(0)).unwrap();
        assert_eq!(answer, r#"{"results":[]}"#, "{caller}");
        let sql = format!(r#"SELECT session_visible('agent:main:main', {caller}, '{{"visibility":"all"}}')"#);
        assert!(!index.query_row(&sql, [], |row| row.get::<_, bool>(0)).unwrap(), "{caller}");
    }
    let unknown: bool = index.query_row("SELECT session_visible('agent:main:nobody', 'agent:main:main')", [], |row| row.get(0)).unwrap();
    assert!(!unknown, "a session that the database does not hold is not visible");
}

#[test]
fn search_and_session_visible_agree() {
    let host = support::Host::fixture("sep-2026.9.6-small-main");
    let index = host.index();
    let keys: Vec<String> = {
        let conn = host.writer();
        let mut statement = conn.prepare("SELECT session_key FROM session_nodes").unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    for caller in &keys {
        for policy in [r"{}", r#"{"visibility":"self"}"#, r#"{"visibility":"agent"}"#, r#"{"sandboxed":true,"visibility":"all"}"#] {
            let options = format!(r#"{{"limit":25,"match":"any","policy":{policy}}}"#);
            // Words of every session of the fixture.
            let query = "zeppelin cafe subtask marmot heron pelican otter vaultword edgeword cycleword ibis walrus";
            let mut seen = BTreeSet::new();
            for key in &keys {
                let mut one: Value = serde_json::from_str(&options).unwrap();
                one["sessionKey"] = key.as_str().into();
                let answer = support::search_as(&index, query, caller, &one.to_string()).unwrap();
                if !answer["results"].as_array().unwrap().is_empty() {
                    seen.insert(key.clone());
                }
            }
            let visible: BTreeSet<String> = keys
                .iter()
                .filter(|key| {
                    let sql = "SELECT session_visible(?1, ?2, ?3)";
                    index.query_row(sql, [key.as_str(), caller, policy], |row| row.get::<_, bool>(0)).unwrap()
                })
                .filter(|key| !key.ends_with(":nulled")) // nothing of it is on the active branch
                .cloned()
                .collect();
            assert_eq!(seen, visible, "{caller} {policy}");
        }
    }
}

#[test]
fn any_text_is_a_valid_query() {
    let conn = connection();
    conn.execute_batch("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='session_search')").unwrap();
    let mut tried = 0;
    for line in include_str!("data/queries-hostile.jsonl").lines() {
        let text: String = serde_json::from_str(line).unwrap();
        conn.execute("DELETE FROM t", []).unwrap();
        conn.execute("INSERT INTO t(text) VALUES(?1)", [&text]).unwrap();
        for mode in ["all", "any", "prefix"] {
            tried += 1;
            let expression = conn.query_row("SELECT session_search_match(?1, ?2)", [text.as_str(), mode], |row| row.get::<_, String>(0));
            let expression = match expression {
                Ok(expression) => expression,
                Err(error) => {
                    assert!(error.to_string().starts_with("query has nothing to search for: "), "{text:?}: {error}");
                    continue;
                }
            };
            let found: i64 = conn.query_row("SELECT count(*) FROM t WHERE t MATCH ?1", [&expression], |row| row.get(0)).unwrap();
            assert!(found == 1 || mode != "all", "{text:?} does not find itself by {expression}");
        }
    }
    assert!(tried > 2_000);
}

#[test]
fn options_narrow_the_results() {
    let host = support::Host::fixture("sep-2026.9.6-small-main");
    let index = host.index();
    let count = |query: &str, options: &str| {
        let options = format!(r#"{{"policy":{{"visibility":"agent"}},"limit":25{options}}}"#);
        let answer = support::search_as(&index, query, "agent:main:main", &options).unwrap();
        answer["results"].as_array().unwrap().len()
    };
    let rows = [
        ("pelican", "", 6),
        ("pelican", r#","roles":["user"]"#, 3),
        ("pelican", r#","roles":["assistant"]"#, 3),
        ("pelican", r#","roles":["assistant","user"]"#, 6),
        ("pelican", r#","since":1783688474000"#, 5),
        ("pelican", r#","until":1783688437000"#, 1),
        ("pelican", r#","since":1783688437000,"until":1783688437000"#, 1),
        ("pelican", r#","sessionKey":"agent:main:slack:channel:c0123abcd""#, 6),
        ("pelican", r#","sessionKey":"agent:main:main""#, 0),
        ("pelican heron", "", 0),
        ("pelican heron", r#","match":"any""#, 10),
        ("peli", "", 0),
        ("peli", r#","match":"prefix""#, 6),
    ];
    for (query, options, expected) in rows {
        assert_eq!(count(query, options), expected, "{query} {options}");
    }
}

#[test]
fn scores_are_those_of_fts5_over_the_sessions_that_are_searched() {
    let host = support::Host::fixture("sep-2026.9.6-small-main");
    let index = host.index();
    // The caller sees all: then the statistics are those of the whole index, which FTS5's own function takes.
    for query in ["pelican", "the", "pelican question", "the panel", "proxy OR pelican OR zurich", "\"reverse proxy\" the", "pel* refunds"]
    {
        let sql = "SELECT m.message_id, -bm25(session_search_fts) FROM session_search_fts
            JOIN session_search_message m ON m.id = session_search_fts.rowid WHERE session_search_fts MATCH session_search_match(?1)";
        let mut statement = index.prepare(sql).unwrap();
        let theirs: std::collections::BTreeMap<String, f64> =
            statement.query_map([query], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
        let answer = support::search(&index, query);
        let hits = answer["results"].as_array().unwrap();
        assert_eq!(hits.len(), theirs.len().min(25), "{query}");
        for hit in hits {
            let (ours, theirs) = (hit["score"].as_f64().unwrap(), theirs[hit["messageId"].as_str().unwrap()]);
            assert!((ours - theirs).abs() <= theirs.abs() * 1e-9, "{query}: {ours} is not {theirs}");
        }
    }
}

#[test]
fn the_answer_is_bounded() {
    let mut world = support::world::World::new(support::world::Layout::Standalone);
    // Escapes make JSON larger than the text: 25 excerpts of 300 characters can exceed the bound.
    let control = "\u{1}".repeat(2_000);
    let key = format!("agent:main:dashboard:{}", "k".repeat(600));
    world.session("s1", &key, None);
    for i in 0..25 {
        let parent = (i > 0).then(|| format!("m{}", i - 1));
        world.say("s1", &format!("m{i}"), parent.as_deref(), &format!("needle {control} {}", "wide ".repeat(400)));
    }
    let index = world.host.index();
    let (caller, options) = support::EVERYTHING;
    let json: String = index.query_row("SELECT sessions_search_json('needle', ?1, ?2)", [caller, options], |row| row.get(0)).unwrap();
    let answer: Value = serde_json::from_str(&json).unwrap();
    let results = answer["results"].to_string();
    let hits = answer["results"].as_array().unwrap();
    assert!(results.len() <= 32_768, "{}", results.len());
    assert!(hits.len() < 25 && !hits.is_empty(), "{}", hits.len());
    assert_eq!(answer["truncated"], true);
    assert!(hits.iter().all(|hit| hit["snippet"].as_str().unwrap().chars().count() <= 300));
    let rows: i64 = index.query_row("SELECT count(*) FROM sessions_search('needle', ?1, ?2)", [caller, options], |row| row.get(0)).unwrap();
    assert_eq!(usize::try_from(rows).unwrap(), hits.len(), "the table function has the same bound");
}
