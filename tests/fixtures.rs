//! Real OpenClaw databases: what OpenClaw can find is found, and nothing else, but for differences that are named here.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;
use serde_json::Value;
use support::{Host, decompressed, ids, reconcile, search, search_as};

/// Session id and message id.
type Row = (String, String);

/// The rows of OpenClaw's own index, less those of the given sessions.
fn openclaw_rows(host: &Host, without: &[&str]) -> BTreeMap<Row, String> {
    let conn = Connection::open(&host.path).unwrap();
    let mut rows = conn.prepare("SELECT session_id, message_id, text FROM session_transcript_fts").unwrap();
    let rows = rows.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?))).unwrap();
    rows.map(Result::unwrap).filter(|((session, _), _): &(Row, String)| !without.iter().any(|w| session.starts_with(w))).collect()
}

/// The rows of our index.
fn our_rows(index: &Connection) -> BTreeSet<Row> {
    let sql = "SELECT t.session_id, m.message_id FROM session_search_message m JOIN session_search_transcript t ON t.id = m.id >> 24
        JOIN session_search_fts f ON f.rowid = m.id";
    let mut rows = index.prepare(sql).unwrap();
    rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect()
}

/// The text that is taken from each event of the host.
fn our_texts(host: &Host) -> BTreeMap<Row, String> {
    let conn = Connection::open(&host.path).unwrap();
    session_search::register(&conn).unwrap();
    let zstd: bool =
        conn.query_row("SELECT count(*) FROM pragma_table_info('transcript_events') WHERE name = 'event_zstd'", [], |r| r.get(0)).unwrap();
    let event = if zstd { "coalesce(event_json, event_zstd)" } else { "event_json" };
    let sql = format!(
        "SELECT session_id, transcript_message_id({event}), transcript_text({event}) FROM transcript_events WHERE transcript_text({event}) IS NOT NULL"
    );
    let mut rows = conn.prepare(&sql).unwrap();
    rows.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?))).unwrap().map(Result::unwrap).collect()
}

fn assert_same_rows(host: &Host, expected: &BTreeMap<Row, String>) {
    let index = host.index();
    assert_eq!(our_rows(&index), expected.keys().cloned().collect());
    let texts = our_texts(host);
    for (row, text) in expected {
        assert_eq!(texts.get(row), Some(text), "{row:?}");
    }
}

#[test]
fn september_database_is_searchable_to_the_row() {
    let host = Host::fixture("sep-2026.9.6-small-main");
    assert_same_rows(&host, &openclaw_rows(&host, &[]));
}

#[test]
fn july_database_is_searchable_to_the_row() {
    let host = Host::fixture("jul-2026.7.2-beta.1-small-main");
    assert_same_rows(&host, &openclaw_rows(&host, &[]));
}

#[test]
fn what_openclaw_had_not_indexed_yet_is_searchable_too() {
    let indexed = Host::fixture("jul-2026.7.2-beta.1-small-main");
    let host = Host::fixture("jul-2026.7.2-beta.1-small-main-DIRTY");
    assert!(openclaw_rows(&host, &[]).len() < openclaw_rows(&indexed, &[]).len());
    assert_same_rows(&host, &openclaw_rows(&indexed, &[]));
}

#[test]
fn after_real_rewinds_nothing_rewound_is_found_and_nothing_twice() {
    let host = Host::fixture("sep-2026.9.6-live-main");
    // OpenClaw keeps the window that a rewind replaced in its index; here it is superseded.
    let expected = openclaw_rows(&host, &["28257022"]);
    assert_eq!(expected.len() + 4, openclaw_rows(&host, &[]).len());
    assert_same_rows(&host, &expected);
    let index = host.index();
    assert_eq!(ids(&search(&index, "rwdrop")), [""; 0]);
    assert_eq!(ids(&search(&index, "rwkeep")).len(), 2);
    assert_eq!(ids(&search(&index, "rollold")).len(), 2, "a window before a rollover stays searchable");
    assert_eq!(ids(&search(&index, "rollnew")).len(), 1);
    let mut seen = BTreeSet::new();
    for (_, message) in our_rows(&index) {
        assert!(seen.insert(message.clone()), "{message} is indexed twice");
    }
}

#[test]
fn a_database_that_is_searched_before_it_is_indexed_is_indexed_by_the_search() {
    let host = Host::fixture("sep-2026.9.6-small-main");
    let index = host.index_unopened("session-search.sqlite");
    assert_eq!(support::open(&index, &host.path), "openclaw-2026-09");
    // The first search may stop early on a slow machine and then says so.
    while search(&index, "pelican")["indexing"] == true {}
    assert_eq!(ids(&search(&index, "pelican")).len(), 6);
}

/// The recorded searches of OpenClaw 2026.9.6 on this very database. Where we find something else, a row of the table says what and why.
#[test]
fn recorded_searches_find_the_same_messages() {
    let host = Host::fixture("sep-2026.9.6-small-main");
    let index = host.index();
    let recorded = String::from_utf8(decompressed("fixtures/search-results-2026.9.6.jsonl.zst")).unwrap();
    let differences: Vec<Value> =
        include_str!("data/search-differences.jsonl").lines().map(|line| serde_json::from_str(&line.replace('⟂', "")).unwrap()).collect();
    let mut used = BTreeSet::new();
    let (mut equal, mut different) = (0, 0);
    for line in recorded.lines() {
        // A lone surrogate is no text that SQLite could hand over: it comes as U+FFFD.
        let row: Value = serde_json::from_str(&line.replace(r"\ud800", r"\ufffd")).unwrap();
        let (query, options) = (whole_query(&row), &row["options"]);
        let difference = differences.iter().position(|d| d["query"] == query);
        let ours = search_as(&index, &query, support::EVERYTHING.0, &our_options(options));
        let theirs = recorded_ids(&row);
        let same = match (&ours, &theirs) {
            // Which ten of more are first is a matter of ranking: then both say that there are more.
            (Ok(ours), Some(theirs)) if row["fn"]["truncated"] == true => ours["truncated"] == true && ids(ours).len() == theirs.len(),
            (Ok(ours), Some(theirs)) => ids(ours) == *theirs,
            (Err(_), None) => true,
            _ => false,
        };
        if let Some(d) = difference {
            let expected = &differences[d]["ours"];
            let got = ours.as_ref().map_or(Value::Null, |ours| Value::from(ids(ours)));
            assert_eq!(&got, expected, "{query:?}: {}", differences[d]["why"]);
            assert!(!same, "{query:?} is no difference any more");
            used.insert(d);
            different += 1;
        } else {
            assert!(same, "{query:?} {options}: ours {:?}, theirs {theirs:?}", ours.map(|o| ids(&o)));
            equal += 1;
        }
    }
    assert_eq!(used.len(), differences.len(), "every listed difference occurs");
    assert_eq!(equal + different, recorded.lines().count());
}

/// The query; the longest ones are recorded by their beginning and their length.
fn whole_query(row: &Value) -> String {
    let recorded = row["query"].as_str().unwrap();
    let Some((beginning, _)) = recorded.split_once('…') else { return recorded.to_owned() };
    let unit = beginning.split_inclusive(' ').next().unwrap();
    let length = usize::try_from(row["query_len"].as_u64().unwrap()).unwrap();
    unit.repeat(length / unit.len() + 1)[..length].to_owned()
}

fn recorded_ids(row: &Value) -> Option<Vec<String>> {
    let hits = row["fn"]["hits"].as_array()?;
    let mut ids: Vec<String> = hits.iter().map(|hit| hit["messageId"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    Some(ids)
}

/// OpenClaw's options in our words.
fn our_options(options: &Value) -> String {
    let limit = options["limit"].as_i64().unwrap_or(10).clamp(1, 25);
    let mut ours = serde_json::json!({"limit": limit, "policy": {"visibility": "agent"}});
    if let Some(key) = options["sessionKeys"][0].as_str() {
        ours["sessionKey"] = key.into();
    }
    if let Some(role) = options["role"].as_str() {
        ours["roles"] = [role].into();
    }
    if let Some(order) = options["order"].as_str() {
        ours["order"] = order.into();
    }
    ours.to_string()
}

#[test]
fn reconcile_again_changes_nothing() {
    let host = Host::fixture("sep-2026.9.6-small-main");
    let index = host.index();
    let state =
        |c: &Connection| c.query_row("SELECT value FROM session_search_meta WHERE key = 'state'", [], |r| r.get::<_, String>(0)).unwrap();
    let before = state(&index);
    reconcile(&index);
    search(&index, "pelican");
    assert_eq!(state(&index), before);
}
