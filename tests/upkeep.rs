//! Proving the index, making it anew, taking deleted words out of it.

mod support;

use rusqlite::Connection;
use support::world::{LAYOUTS, World};
use support::{found, open, reconcile, settled};

fn check(conn: &Connection) -> String {
    conn.query_row("SELECT session_search_check()", [], |row| row.get(0)).unwrap()
}

/// Two conversations with a few messages each, in every layout, beside and in place: the host and a connection that searches it.
fn worlds() -> impl Iterator<Item = (World, Connection)> {
    LAYOUTS.into_iter().flat_map(|layout| [(layout, false), (layout, true)]).map(|(layout, in_place)| {
        let mut world = if in_place { World::in_place(layout) } else { World::new(layout) };
        for s in ["s1", "s2"] {
            world.session(s, &format!("agent:main:dashboard:{s}"), None);
            world.say(s, &format!("{s}a"), None, "common words about getUserName");
            world.say(s, &format!("{s}b"), Some(&format!("{s}a")), "common 门票 and more");
            world.append(s, &format!(r#"{{"type":"label","id":"{s}x","parentId":"{s}b"}}"#));
        }
        let conn = if in_place { world.host.with_extension() } else { world.host.index() };
        reconcile(&conn);
        (world, conn)
    })
}

/// What is done to an index behind our back, and what the check says then.
const DAMAGE: [(&str, &str); 12] = [
    ("DELETE FROM session_search_message WHERE message_id = 's1a'", "transcript s1, event 0: its message row is missing"),
    ("UPDATE session_search_message SET role = 'assistant' WHERE message_id = 's1a'", "transcript s1, event 0: its message row is wrong"),
    ("UPDATE session_search_message SET tokens = 99 WHERE message_id = 's2a'", "transcript s2: its sums do not agree with its messages"),
    ("UPDATE session_search_message SET source_hash = source_hash + 1", "transcript s2, event 1: its message row is wrong"),
    (
        "INSERT INTO session_search_message SELECT id + 1, 'z', role, timestamp, source_hash, tokens FROM session_search_message WHERE message_id = 's1b'",
        "transcript s1, event 2: its message row should not be there",
    ),
    (
        "UPDATE session_search_transcript SET tokens = tokens + 1 WHERE session_id = 's2'",
        "transcript s2: its sums do not agree with its messages",
    ),
    (
        "INSERT INTO session_search_message SELECT 999 << 24, 'z', role, timestamp, source_hash, tokens FROM session_search_message LIMIT 1",
        "there are messages of a transcript 999 that is not listed",
    ),
    (
        "DELETE FROM session_search_fts WHERE rowid IN (SELECT id FROM session_search_message WHERE message_id = 's1b')",
        "transcript s1, event 1: its text is missing",
    ),
    (
        "INSERT OR REPLACE INTO session_search_fts(rowid, text) SELECT id, 'words common about get user name' FROM session_search_message WHERE message_id = 's1a'",
        "transcript s1, event 0: its text is wrong",
    ),
    (
        "INSERT INTO session_search_fts(rowid, text) SELECT max(id) + 5, 'more' FROM session_search_message WHERE message_id LIKE 's2%'",
        "transcript s2, event 6: its text should not be there",
    ),
    ("DELETE FROM session_search_fts_docsize", "full text: "),
    ("UPDATE session_search_fts_data SET block = zeroblob(length(block)) WHERE id > 10", "full text: "),
];

#[test]
fn check_names_every_fault_and_rebuild_mends_it() {
    for (damage, fault) in DAMAGE {
        for (world, conn) in worlds() {
            assert_eq!(check(&conn), "ok", "{:?}", world.layout);
            conn.execute_batch(damage).unwrap();
            let text = check(&conn);
            assert!(text.lines().any(|line| line.starts_with(fault)), "{:?} after {damage}: {text}", world.layout);
            let remaining: i64 = conn.query_row("SELECT session_search_rebuild()", [], |row| row.get(0)).unwrap();
            assert_eq!((remaining, check(&conn).as_str(), found(&conn, "common").len()), (0, "ok", 4), "{:?} after {damage}", world.layout);
        }
    }
}

#[test]
fn rebuild_mends_what_fts5_cannot_even_open() {
    for table in ["data", "idx", "docsize", "config"] {
        for (world, conn) in worlds() {
            conn.execute_batch(&format!("DROP TABLE session_search_fts_{table}")).unwrap();
            conn.query_row("SELECT session_search_rebuild()", [], |_| Ok(())).unwrap();
            assert_eq!((check(&conn).as_str(), found(&conn, "common").len()), ("ok", 4), "{:?} without {table}", world.layout);
        }
    }
}

#[test]
fn damage_that_sqlite_notices_is_mended_by_the_next_search() {
    let damage = ["DELETE FROM session_search_fts_data", "UPDATE session_search_fts_config SET v = 99"];
    for damage in damage
        .into_iter()
        .map(str::to_owned)
        .chain(["data", "idx", "docsize", "config"].map(|t| format!("DROP TABLE session_search_fts_{t}")))
    {
        for (mut world, conn) in worlds() {
            conn.execute_batch(&damage).unwrap();
            // A connection that has nothing in memory, and something to write.
            let conn = if world.host.folder.path("session-search.sqlite").exists() {
                let again = world.host.index_unopened("session-search.sqlite");
                open(&again, &world.host.path);
                again
            } else {
                world.host.with_extension()
            };
            world.say("s1", "late", Some("s1x"), "common late");
            let answer = support::search(&conn, "common");
            assert!(answer["indexing"] != true, "{:?} after {damage}: {:?}", world.layout, support::status(&conn, "broken"));
            assert_eq!(found(&conn, "common").len(), 5, "{:?} after {damage}", world.layout);
            assert_eq!(check(&conn), "ok", "{:?} after {damage}", world.layout);
        }
    }
}

#[test]
fn what_is_behind_is_no_fault() {
    for (mut world, conn) in worlds() {
        if world.app.query_row("SELECT session_search_version()", [], |_| Ok(())).is_ok() {
            world.app = world.host.writer();
        }
        world.say("s1", "s1c", Some("s1x"), "common third");
        world.edit("s2", 0, &support::message("s2a", None, "common other"));
        assert_eq!(check(&conn), "ok");
        assert_eq!(found(&conn, "common").len(), 5);
        assert_eq!(check(&conn), "ok");
    }
}

#[test]
fn rebuild_in_steps_is_searched_meanwhile() {
    for (_, conn) in worlds() {
        let remaining: i64 = conn.query_row("SELECT session_search_rebuild(0)", [], |row| row.get(0)).unwrap();
        assert!(remaining <= 1, "one transcript was done");
        assert_eq!(settled(&conn, "common")["results"].as_array().unwrap().len(), 4);
    }
}

#[test]
fn a_deleted_word_is_in_no_page_after_optimize() {
    for (mut world, conn) in worlds() {
        // Deleted and changed, with other messages before and after in the index.
        for n in 0..300 {
            let parent = if n == 0 { "s1x".to_owned() } else { format!("n{}", n - 1) };
            world.say("s1", &format!("n{n}"), Some(&parent), &format!("filler number{n} with Zanzibardhow{n} inside"));
        }
        reconcile(&conn);
        for n in 0..300 {
            let parent = if n == 0 { "s1x".to_owned() } else { format!("n{}", n - 1) };
            world.edit("s1", 3 + n, &support::message(&format!("n{n}"), Some(&parent), &format!("filler number{n}")));
        }
        reconcile(&conn);
        conn.query_row("SELECT session_search_optimize()", [], |_| Ok(())).unwrap();
        assert_eq!((check(&conn).as_str(), found(&conn, "zanzibardhow7").len(), found(&conn, "number7").len()), ("ok", 0, 1));
        conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE); VACUUM; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        let file = std::fs::read(conn.path().unwrap()).unwrap();
        assert!(memchr::memmem::find(&file, b"zanzibardhow").is_none(), "{:?}", world.layout);
        assert!(memchr::memmem::find(&file, b"number").is_some());
    }
}

#[test]
fn without_transcripts_there_is_nothing_to_keep_up() {
    let conn = Connection::open_in_memory().unwrap();
    session_search::register(&conn).unwrap();
    for call in ["check()", "rebuild()", "optimize()", "reconcile()"] {
        let error = conn.query_row(&format!("SELECT session_search_{call}"), [], |_| Ok(())).unwrap_err().to_string();
        assert!(error.starts_with("no transcripts to search on this connection"), "{call}: {error}");
    }
}

#[test]
fn the_check_mends_nothing() {
    let damage = [
        "DROP TABLE session_search_message",
        "DROP TABLE session_search_fts_idx",
        "UPDATE session_search_meta SET value = '1.1.1.1' WHERE key = 'format'",
        "DELETE FROM session_search_meta WHERE key = 'format'",
    ];
    for damage in damage {
        for (world, conn) in worlds() {
            conn.execute_batch(damage).unwrap();
            for _ in 0..2 {
                assert!(check(&conn).starts_with("tables of it are missing, or of another format"), "{:?} after {damage}", world.layout);
            }
            assert_eq!(found(&conn, "common").len(), 4, "{:?} after {damage}", world.layout);
            assert_eq!(check(&conn), "ok", "{:?} after {damage}", world.layout);
        }
    }
    for (_, conn) in worlds().filter(|(_, conn)| conn.execute_batch("DROP TRIGGER session_search_move").is_ok()) {
        assert!(check(&conn).starts_with("its triggers are missing or changed"));
        assert_eq!(found(&conn, "common").len(), 4);
        assert_eq!(check(&conn), "ok");
    }
}

#[test]
fn reconcile_begins_with_what_was_used_last() {
    for (mut world, conn) in worlds() {
        for (n, used) in [(1, 500), (2, 900), (3, 700)] {
            let session = format!("old{n}");
            world.session(&session, &format!("agent:main:dashboard:{n}"), None);
            world.say(&session, "a", None, "common");
            world.app.execute("UPDATE transcript_events SET created_at = ?1 WHERE session_id = ?2", (used, &session)).unwrap();
        }
        conn.query_row("SELECT session_search_rebuild(0)", [], |_| Ok(())).unwrap();
        world.app.execute_batch("UPDATE transcript_events SET created_at = 1 WHERE session_id IN ('s1', 's2')").unwrap();
        let mut order = Vec::new();
        for _ in 0..8 {
            let sql =
                "SELECT group_concat(session_id) FROM session_search_transcript WHERE indexed_stamp IS NOT NULL AND session_id LIKE 'old%'";
            let done: Option<String> = conn.query_row(sql, [], |row| row.get(0)).unwrap();
            order.extend(done.unwrap_or_default().split(',').filter(|s| !s.is_empty()).map(str::to_owned));
            order.dedup();
            conn.query_row("SELECT session_search_reconcile(0)", [], |_| Ok(())).unwrap();
        }
        let mut first: Vec<String> = Vec::new();
        for session in order {
            if !first.contains(&session) {
                first.push(session);
            }
        }
        assert_eq!(first, ["old2", "old3", "old1"], "{:?}", world.layout);
    }
}
