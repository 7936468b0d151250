//! The index in the host's own database: every change is searchable in the statement that makes it, and nothing of the host's is lost.
//! `tests/histories.rs` does more of this at random, `tests/loadable/test_in_place*.py` on the built library, with damage and several programs.

mod support;

use rusqlite::Connection;
use rusqlite::types::Value;
use support::world::{Layout, World};
use support::{Folder, decompressed, found, ids, leaf, message, reconcile, search, settled, status};

/// A connection with the extension to a new database of the standalone layout that holds its index.
fn installed(folder: &Folder) -> Connection {
    let conn = Connection::open(folder.path("own.sqlite")).unwrap();
    conn.execute_batch("PRAGMA journal_mode = wal").unwrap();
    conn.execute_batch(include_str!("../sql/standalone.sql")).unwrap();
    drop(conn);
    let conn = with_extension(folder);
    conn.query_row("SELECT session_search_install()", [], |_| Ok(())).unwrap();
    conn
}

fn plain(folder: &Folder) -> Connection {
    let conn = Connection::open(folder.path("own.sqlite")).unwrap();
    conn.execute_batch("PRAGMA foreign_keys = on").unwrap();
    conn
}

fn with_extension(folder: &Folder) -> Connection {
    let conn = plain(folder);
    session_search::register(&conn).unwrap();
    conn
}

fn start(conn: &Connection, session: &str) {
    start_as(conn, session, &format!("agent:main:{session}"));
}

fn start_as(conn: &Connection, session: &str, key: &str) {
    conn.execute("INSERT INTO sessions(session_id, session_key, created_at) VALUES(?1, ?2, 1)", [session, key]).unwrap();
}

fn append(conn: &Connection, session: &str, event: &str) {
    let sql = "INSERT INTO transcript_events(session_id, seq, event_json, created_at)
        SELECT ?1, ifnull(max(seq) + 1, 0), ?2, 7 FROM transcript_events WHERE session_id = ?1";
    conn.prepare_cached(sql).unwrap().execute([session, event]).unwrap();
}

fn say(conn: &Connection, session: &str, id: &str, parent: &str, text: &str) {
    append(conn, session, &message(id, Some(parent).filter(|parent| !parent.is_empty()), text));
}

fn behind(conn: &Connection) -> Value {
    status(conn, "behind")
}

/// Everything that the index holds, without what is chance: session id, seq and the rest of each message row, and every token with its place.
fn content(conn: &Connection) -> Vec<Vec<Value>> {
    let rows = |sql: &str, columns: usize| -> Vec<Vec<Value>> {
        let mut statement = conn.prepare(sql).unwrap();
        let rows = statement.query_map([], |row| (0..columns).map(|i| row.get(i)).collect()).unwrap();
        rows.map(Result::unwrap).collect()
    };
    conn.execute_batch("CREATE VIRTUAL TABLE IF NOT EXISTS temp.tokens USING fts5vocab(main, session_search_fts, instance)").unwrap();
    let messages = "SELECT session_id, m.id & 0xffffff, message_id, role, timestamp, source_hash, m.tokens FROM session_search_message m
        JOIN session_search_transcript t ON t.id = m.id >> 24 ORDER BY 1, 2";
    let tokens = "SELECT session_id, doc & 0xffffff, offset, term FROM temp.tokens JOIN session_search_transcript t ON t.id = doc >> 24 ORDER BY 1, 2, 3";
    let sums = "SELECT session_id, messages, tokens, unreadable FROM session_search_transcript ORDER BY 1";
    [rows(messages, 7), rows(tokens, 4), rows(sums, 4)].concat()
}

#[test]
fn recorded_lists_appended_one_by_one_are_what_a_rebuild_makes() {
    let (folder, afresh) = (Folder::new(), Folder::new());
    let lists = String::from_utf8(decompressed("data/branch-vectors.jsonl.zst")).unwrap();
    let lists: Vec<serde_json::Value> = lists.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // Two connections with the extension take turns in every third list, so that neither knows all of it.
    let writers = [installed(&folder), with_extension(&folder)];
    for (n, list) in lists.iter().enumerate() {
        let session = format!("list{n}");
        start(&writers[0], &session);
        writers[0].execute_batch("BEGIN").unwrap();
        for (i, event) in list["events"].as_array().unwrap().iter().enumerate() {
            let turn = n % 3 == 0 && i % 2 == 1;
            if turn {
                writers[0].execute_batch("COMMIT").unwrap();
            }
            append(&writers[usize::from(turn)], &session, &event.to_string());
            if turn {
                writers[0].execute_batch("BEGIN").unwrap();
            }
        }
        writers[0].execute_batch("COMMIT").unwrap();
    }
    assert_eq!(behind(&writers[0]), 0.into(), "every event was indexed as it was stored");
    let other = Connection::open(afresh.path("own.sqlite")).unwrap();
    other.execute_batch(include_str!("../sql/standalone.sql")).unwrap();
    other.execute("ATTACH ?1 AS appended", [folder.path("own.sqlite").to_str().unwrap()]).unwrap();
    other
        .execute_batch(
            "INSERT INTO sessions SELECT * FROM appended.sessions; INSERT INTO transcript_events SELECT * FROM appended.transcript_events",
        )
        .unwrap();
    other.execute_batch("DETACH appended").unwrap();
    session_search::register(&other).unwrap();
    other.query_row("SELECT session_search_install()", [], |_| Ok(())).unwrap();
    reconcile(&other);
    let (appended, rebuilt) = (content(&writers[0]), content(&other));
    assert!(rebuilt.len() > 1_000);
    assert_eq!(appended, rebuilt);
}

#[test]
fn a_branch_known_from_a_rolled_back_append_is_not_believed() {
    let folder = Folder::new();
    let (one, two) = (installed(&folder), with_extension(&folder));
    start(&one, "s");
    say(&one, "s", "a", "", "common root");
    for end in ["ROLLBACK", "ROLLBACK TO before; COMMIT"] {
        one.execute_batch("BEGIN; SAVEPOINT before").unwrap();
        say(&one, "s", "b", "a", "common undone");
        assert_eq!(found(&one, "common"), ["a", "b"]);
        one.execute_batch(end).unwrap();
        assert_eq!((found(&one, "common"), behind(&one)), (vec!["a".to_owned()], 0.into()));
        // The same place in the transcript, but another event, which leads elsewhere.
        say(&two, "s", "c", "a", "common other");
        say(&one, "s", "d", "b", "common child of the other"); // nobody knows b: it follows what was said last
        assert_eq!(
            (found(&one, "common"), found(&two, "common")),
            (vec!["a".into(), "c".into(), "d".into()], vec!["a".into(), "c".into(), "d".into()])
        );
        assert_eq!(behind(&one), 0.into());
        one.execute_batch("DELETE FROM transcript_events WHERE seq > 0").unwrap();
        assert_eq!((found(&two, "common"), behind(&two)), (vec!["a".to_owned()], 0.into()));
    }
}

#[test]
fn a_long_transcript_is_right_at_once_however_it_changes() {
    let folder = Folder::new();
    let conn = installed(&folder);
    start(&conn, "s");
    let fill = plain(&folder);
    fill.execute_batch("BEGIN").unwrap();
    for n in 0..20_000 {
        let parent = if n == 0 { String::new() } else { format!("m{}", n - 1) };
        let text = if n % 5_000 == 4_999 { "common milestone" } else { "another step of many" };
        say(&fill, "s", &format!("m{n}"), &parent, text);
    }
    fill.execute_batch("COMMIT").unwrap();
    let all = ["m14999", "m19999", "m4999", "m9999"];
    // Written without the extension: right while it is behind, whole after reconcile.
    let early = search(&conn, "common");
    assert!(early["indexing"] == true && ids(&early).iter().all(|id| all.contains(&id.as_str())));
    reconcile(&conn);
    assert_eq!(found(&conn, "common"), all);
    for conn in [&conn, &with_extension(&folder)] {
        append(conn, "s", &leaf("l1", "m19999", "m9000"));
        assert_eq!(ids(&search(conn, "common")), ["m4999"], "what was rewound away is gone at once, indexed or not");
        append(conn, "s", &leaf("l2", "l1", "m19999"));
        let again = search(conn, "common");
        assert!(again["indexing"] == true || ids(&again) == all);
        reconcile(conn);
        assert_eq!(found(conn, "common"), all);
    }
    conn.execute_batch("DELETE FROM sessions").unwrap();
    assert_eq!((found(&conn, "common").len(), behind(&conn), status(&conn, "messages")), (0, 0.into(), 0.into()));
    assert_eq!(content(&conn), Vec::<Vec<Value>>::new(), "deleting a session takes everything out of the index");
}

#[test]
fn what_is_read_for_the_host_again_and_again_is_bounded() {
    let folder = Folder::new();
    let conn = installed(&folder);
    start(&conn, "s");
    conn.execute_batch("BEGIN").unwrap();
    for n in 0..3_000 {
        say(&conn, "s", &format!("m{n}"), &if n == 0 { String::new() } else { format!("m{}", n - 1) }, "common step");
    }
    // Reading it anew for each of these would be 3,000 times 3,000 events.
    conn.execute_batch("UPDATE transcript_events SET event_json = replace(event_json, 'step', 'stair')").unwrap();
    assert_eq!(settled(&conn, "step")["results"].as_array().unwrap().len(), 0);
    assert_eq!(found(&conn, "stair").len(), 25);
    conn.execute_batch("DELETE FROM transcript_events WHERE seq >= 10; COMMIT").unwrap();
    assert_eq!(found(&conn, "common").len(), 10);
    assert_eq!((behind(&conn), status(&conn, "messages")), (0.into(), 10.into()));
}

#[test]
fn tables_of_the_same_names_elsewhere_do_not_count() {
    let folder = Folder::new();
    let conn = installed(&folder);
    start(&conn, "s");
    say(&conn, "s", "a", "", "common one");
    conn.execute_batch(
        "CREATE TEMP TABLE sessions AS SELECT * FROM main.sessions;
         CREATE TEMP TABLE transcript_events AS SELECT * FROM main.transcript_events WHERE 0;
         CREATE TEMP TABLE session_search_transcript(x); CREATE TEMP TABLE session_search_message(x); CREATE TEMP TABLE session_search_meta(x);
         INSERT INTO main.sessions(session_id, session_key, created_at) VALUES('t', 'agent:main:t', 1)",
    )
    .unwrap();
    let event = message("b", None, "common two");
    conn.execute("INSERT INTO main.transcript_events(session_id, seq, event_json, created_at) VALUES('t', 0, ?1, 1)", [event]).unwrap();
    assert_eq!(found(&conn, "common"), ["a", "b"]);
    assert_eq!(behind(&conn), 0.into());
}

#[test]
fn incognito_sessions_are_not_indexed() {
    let folder = Folder::new();
    let conn = installed(&folder);
    start_as(&conn, "hidden", "agent:main:dashboard:incognito-1");
    say(&conn, "hidden", "a", "", "common secret");
    assert_eq!((status(&conn, "messages"), found(&conn, "common").len()), (0.into(), 0));
    // A conversation that becomes one leaves the index with the next search.
    start(&conn, "s");
    say(&conn, "s", "b", "", "common open");
    assert_eq!(found(&conn, "common"), ["b"]);
    conn.execute_batch("UPDATE sessions SET session_key = 'agent:main:dashboard:incognito-2' WHERE session_id = 's'").unwrap();
    assert_eq!(found(&conn, "common").len(), 0);
    assert_eq!(content(&conn).iter().filter(|row| row.len() == 7).count(), 0);
    say(&conn, "s", "c", "b", "common later");
    assert_eq!((found(&conn, "common").len(), status(&conn, "messages")), (0, 0.into()));
    conn.execute_batch("UPDATE sessions SET session_key = 'agent:main:s' WHERE session_id = 's'").unwrap();
    assert_eq!(found(&conn, "common"), ["b", "c"]);
}

#[test]
fn events_before_their_session_and_odd_rows_are_no_error() {
    let folder = Folder::new();
    let conn = installed(&folder);
    conn.execute_batch("PRAGMA foreign_keys = off").unwrap();
    say(&conn, "s", "a", "", "common early");
    assert_eq!(found(&conn, "common").len(), 0, "nobody can see it yet");
    start(&conn, "s");
    assert_eq!(found(&conn, "common"), ["a"]);
    for (seq, event) in
        [("1", "'no json'"), ("2", "x'00ff'"), ("3", "NULL"), ("-5", "'{}'"), ("16777216", "'{}'"), ("'text'", "'{}'"), ("1.5", "'{}'")]
    {
        let sql = format!(
            "INSERT OR IGNORE INTO transcript_events VALUES('s', {seq}, {event}, 1), (x'0102', {seq}, {event}, 1), (CAST(x'73ff' AS TEXT), {seq}, {event}, 1)"
        );
        conn.execute_batch(&sql).unwrap();
    }
    conn.execute("INSERT INTO transcript_events VALUES('s', 16777217, ?1, 1)", [message("far", Some("a"), "common far")]).unwrap();
    assert_eq!(found(&conn, "common"), ["a"]);
    conn.execute_batch("DELETE FROM transcript_events WHERE seq > 1000").unwrap();
    assert_eq!(found(&conn, "common"), ["a"]);
    reconcile(&conn);
}

#[test]
fn an_event_that_moves_to_another_transcript_is_found_there() {
    let folder = Folder::new();
    let conn = installed(&folder);
    start(&conn, "s");
    start(&conn, "t");
    say(&conn, "s", "a", "", "common one");
    say(&conn, "s", "b", "a", "common two");
    conn.execute_batch("UPDATE transcript_events SET session_id = 't', seq = 5 WHERE seq = 1").unwrap();
    let keys = |conn: &Connection| {
        let answer = search(conn, "common");
        let hit = |hit: &serde_json::Value| format!("{} {}", hit["sessionId"].as_str().unwrap(), hit["messageId"].as_str().unwrap());
        let mut keys: Vec<_> = answer["results"].as_array().unwrap().iter().map(hit).collect();
        keys.sort();
        keys
    };
    assert_eq!((keys(&conn), behind(&conn)), (vec!["s a".to_owned(), "t b".to_owned()], 0.into()));
    conn.execute_batch("UPDATE transcript_events SET seq = 9 WHERE session_id = 't'").unwrap();
    assert_eq!((keys(&conn), behind(&conn)), (vec!["s a".to_owned(), "t b".to_owned()], 0.into()));
    // The whole transcript gets another name.
    conn.execute_batch("PRAGMA foreign_keys = off; UPDATE sessions SET session_id = 'u' WHERE session_id = 's'; UPDATE transcript_events SET session_id = 'u' WHERE session_id = 's'").unwrap();
    assert_eq!(keys(&conn), ["t b", "u a"]);
}

#[test]
fn a_window_that_a_rewind_replaces_is_superseded_in_place_too() {
    let mut world = World::in_place(Layout::September);
    world.session("w1", "agent:main:main", None);
    world.say("w1", "a", None, "common kept");
    world.say("w1", "b", Some("a"), "common rewound");
    world.session("w2", "agent:main:main", Some(("w1", Some("rewind"))));
    world.say("w2", "a", None, "common kept");
    assert_eq!(found(&world.app, "common"), ["a"]);
    assert_eq!(status(&world.app, "host"), Value::Text("openclaw-2026-09".into()));
}

#[test]
fn a_branch_remembered_under_a_stamp_is_not_believed_when_the_index_is_made_anew() {
    // Written before there was an index: no trigger has met it.
    let folder = Folder::new();
    let conn = installed(&folder);
    conn.query_row("SELECT session_search_uninstall()", [], |_| Ok(())).unwrap();
    start(&conn, "s");
    say(&conn, "s", "a", "", "common one");
    say(&conn, "s", "b", "a", "common two");
    conn.query_row("SELECT session_search_install()", [], |_| Ok(())).unwrap();
    assert_eq!(found(&conn, "common"), ["a", "b"]);
    for again in ["SELECT session_search_rebuild()", "DROP TRIGGER session_search_update", "uninstall"] {
        let other = plain(&folder);
        if again == "DROP TRIGGER session_search_update" {
            other.execute_batch(again).unwrap();
        }
        if again == "uninstall" {
            with_extension(&folder).query_row("SELECT session_search_uninstall()", [], |_| Ok(())).unwrap();
        }
        other.execute("UPDATE transcript_events SET event_json = ?1 WHERE seq = 1", [message("b", Some("a"), "common else")]).unwrap();
        if again == "uninstall" {
            with_extension(&folder).query_row("SELECT session_search_install()", [], |_| Ok(())).unwrap();
        } else if again.starts_with("SELECT") {
            conn.query_row(again, [], |_| Ok(())).unwrap();
        }
        assert_eq!((found(&conn, "else"), found(&conn, "two").len()), (vec!["b".to_owned()], 0), "{again}");
        other.execute("UPDATE transcript_events SET event_json = ?1 WHERE seq = 1", [message("b", Some("a"), "common two")]).unwrap();
        assert_eq!(found(&conn, "two"), ["b"], "{again}");
    }
}

#[test]
fn a_change_that_no_trigger_tells_of_is_mended_when_it_is_met() {
    let folder = Folder::new();
    let conn = installed(&folder);
    start(&conn, "s");
    say(&conn, "s", "a", "", "common one");
    let plain = plain(&folder);
    plain.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false).unwrap();
    plain.execute("UPDATE transcript_events SET event_json = ?1", [message("a", None, "usual two")]).unwrap();
    assert_eq!(found(&conn, "common").len(), 0, "met, and not shown");
    assert_eq!(found(&conn, "usual"), ["a"], "and indexed by the way");
}

#[test]
fn a_restored_backup_brings_its_sessions() {
    let folder = Folder::new();
    let mut conn = installed(&folder);
    start_as(&conn, "s", "agent:main:one");
    say(&conn, "s", "a", "", "common one");
    let mut copy = Connection::open_in_memory().unwrap();
    let all = |from: &Connection, to: &mut Connection| {
        rusqlite::backup::Backup::new(from, to).unwrap().run_to_completion(1_000, std::time::Duration::ZERO, None).unwrap();
    };
    all(&conn, &mut copy);
    copy.execute_batch("UPDATE sessions SET session_key = 'agent:main:dashboard:incognito-7'").unwrap();
    conn.execute_batch("UPDATE sessions SET session_key = 'agent:main:two'").unwrap();
    assert_eq!(found(&conn, "common"), ["a"]);
    all(&copy, &mut conn);
    assert_eq!(found(&conn, "common").len(), 0);
}

#[test]
fn what_is_said_after_a_session_became_incognito_is_not_written() {
    let folder = Folder::new();
    let conn = installed(&folder);
    start(&conn, "s");
    say(&conn, "s", "a", "", "common one");
    conn.execute_batch("UPDATE sessions SET session_key = 'agent:main:dashboard:incognito-1'").unwrap();
    say(&conn, "s", "b", "a", "zyxprivateword");
    conn.execute_batch("CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, session_search_fts, row)").unwrap();
    let held: i64 = conn.query_row("SELECT count(*) FROM temp.terms WHERE term = 'zyxprivateword'", [], |row| row.get(0)).unwrap();
    assert_eq!(held, 0);
}

#[test]
fn a_time_that_changes_alone_is_taken_over() {
    let folder = Folder::new();
    let conn = installed(&folder);
    start(&conn, "s");
    append(&conn, "s", r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"common"}}"#);
    conn.execute_batch("UPDATE transcript_events SET created_at = 123456").unwrap();
    assert_eq!(search(&conn, "common")["results"][0]["timestamp"], 123_456);
    let check: String = conn.query_row("SELECT session_search_check()", [], |row| row.get(0)).unwrap();
    assert_eq!((check.as_str(), behind(&conn)), ("ok", 0.into()));
}

#[test]
fn a_table_of_the_host_with_a_name_of_ours_stays() {
    let folder = Folder::new();
    let conn = installed(&folder);
    conn.query_row("SELECT session_search_uninstall()", [], |_| Ok(())).unwrap();
    conn.execute_batch("CREATE TABLE session_search_message(a); INSERT INTO session_search_message VALUES('own row')").unwrap();
    let error = conn.query_row("SELECT session_search_install()", [], |_| Ok(())).unwrap_err().to_string();
    assert!(error.contains("is not ours"), "{error}");
    let own: String = conn.query_row("SELECT a FROM session_search_message", [], |row| row.get(0)).unwrap();
    assert_eq!(own, "own row");
}

#[test]
fn a_schema_that_was_rolled_back_is_not_the_next_one_of_its_number() {
    let folder = Folder::new();
    let (conn, other) = (installed(&folder), plain(&folder));
    start(&conn, "s");
    say(&conn, "s", "a", "", "common one");
    conn.execute_batch("BEGIN; CREATE TABLE other(a)").unwrap();
    say(&conn, "s", "b", "a", "common two");
    conn.execute_batch("ROLLBACK").unwrap();
    other.execute_batch("DROP TABLE session_search_fts_idx").unwrap();
    conn.execute_batch("BEGIN").unwrap();
    say(&conn, "s", "c", "a", "common three");
    conn.execute_batch("COMMIT").unwrap();
    assert_eq!(found(&conn, "common"), ["a", "c"]);
}

#[test]
fn a_table_that_was_copied_is_looked_at_again() {
    let folder = Folder::new();
    let (conn, other) = (installed(&folder), plain(&folder));
    start(&conn, "s");
    say(&conn, "s", "a", "", "common one");
    say(&conn, "s", "b", "a", "common two");
    let triggers: Vec<String> = {
        let mut sql = other.prepare("SELECT sql FROM sqlite_schema WHERE type = 'trigger'").unwrap();
        sql.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
    };
    // As SQLite's documentation says, the triggers word for word.
    other
        .execute_batch(
            "PRAGMA foreign_keys = off; BEGIN;
             CREATE TABLE new_events(session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json NOT NULL, created_at INTEGER NOT NULL, extra, PRIMARY KEY(session_id, seq));
             INSERT INTO new_events SELECT session_id, seq, replace(event_json, 'two', 'else'), created_at, 1 FROM transcript_events;
             DROP TABLE transcript_events; ALTER TABLE new_events RENAME TO transcript_events",
        )
        .unwrap();
    for trigger in &triggers {
        other.execute_batch(trigger).unwrap();
    }
    other.execute_batch("COMMIT").unwrap();
    assert_eq!((found(&conn, "else"), found(&conn, "two").len()), (vec!["b".to_owned()], 0));
    let before = status(&conn, "messages");
    conn.execute_batch("VACUUM").unwrap();
    assert_eq!((found(&conn, "common").len(), status(&conn, "messages")), (2, before));
}
