//! The index beside a host that goes on writing: every change is seen by the very next search, nothing wrong is ever shown, and the
//! host's file is only read.

mod support;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rusqlite::{Connection, params};
use support::world::{LAYOUTS, Layout, World, fill};
use support::{EVERYTHING, found, ids, message, open, reconcile, search, search_as, status};

const NOTHING: [&str; 0] = [];
const KEY: &str = "agent:main:dashboard:one";

#[test]
fn every_change_is_seen_by_the_very_next_search() {
    for layout in LAYOUTS {
        let mut world = World::new(layout);
        let index = world.host.index();
        assert_eq!(found(&index, "word"), NOTHING, "{layout:?}");

        world.session("s1", KEY, None);
        world.say("s1", "m1", None, "word alpha");
        let second = world.say("s1", "m2", Some("m1"), "word beta");
        assert_eq!(found(&index, "word"), ["m1", "m2"], "{layout:?}: append");

        world.edit("s1", second, &message("m2", Some("m1"), "word gamma"));
        assert_eq!(found(&index, "beta"), NOTHING, "{layout:?}: update");
        assert_eq!(found(&index, "gamma"), ["m2"], "{layout:?}: update");

        world.rewind("s1", "l1", "m2", "m1");
        assert_eq!(found(&index, "word"), ["m1"], "{layout:?}: leaf control");
        world.say("s1", "m3", Some("m1"), "word delta");
        assert_eq!(found(&index, "word"), ["m1", "m3"], "{layout:?}: append after a rewind");

        world.append("s1", r#"{"type":"reset","id":"r1","parentId":"m3","reason":"reset"}"#);
        let fifth = world.say("s1", "m5", Some("r1"), "word epsilon");
        assert_eq!(found(&index, "word"), ["m1", "m3", "m5"], "{layout:?}: a reset does not cut search");

        world.delete_event("s1", fifth);
        assert_eq!(found(&index, "word"), ["m1", "m3"], "{layout:?}: delete of the last event");

        world.session("s2", "agent:main:dashboard:two", None);
        world.say("s2", "n1", None, "word zeta");
        assert_eq!(found(&index, "word"), ["m1", "m3", "n1"], "{layout:?}: another session");

        world.delete_session("s1");
        assert_eq!(found(&index, "word"), ["n1"], "{layout:?}: delete of a session");
        assert_eq!(status(&index, "behind"), 0.into());
    }
}

#[test]
fn sessions_that_the_caller_does_not_see_do_not_keep_its_own_waiting() {
    let mut world = World::new(Layout::September);
    fill(&mut world, 60, 300);
    world.session("mine", "agent:main:telegram:direct:1", None);
    for m in 0..400 {
        let parent = (m > 0).then(|| format!("mine{}", m - 1));
        world.say("mine", &format!("mine{m}"), parent.as_deref(), "needle");
    }
    let index = world.host.index_unopened("session-search.sqlite");
    open(&index, &world.host.path);
    let ask = || search_as(&index, "needle", "agent:main:telegram:direct:1", r#"{"policy":{"visibility":"self"}}"#).unwrap();
    let mut answer = ask();
    for _ in 0..20 {
        if answer["indexing"] != true {
            break;
        }
        answer = ask(); // a slow machine
    }
    assert_eq!((answer["results"].as_array().unwrap().len(), &answer["indexing"]), (10, &serde_json::Value::Null));
    assert!(matches!(status(&index, "behind"), rusqlite::types::Value::Integer(behind) if behind > 0), "the others are still behind");
}

#[test]
fn a_lost_transaction_of_the_caller_is_not_hushed_up() {
    let mut world = World::new(Layout::Standalone);
    world.session("s1", KEY, None);
    let index = world.host.index();
    index.execute_batch("CREATE TABLE mine(a); VACUUM").unwrap();
    for m in 0..200 {
        let parent = (m > 0).then(|| format!("m{}", m - 1));
        world.say(
            "s1",
            &format!("m{m}"),
            parent.as_deref(),
            &format!("word{m} with so many other words that they need a page {}", "x".repeat(3_000)),
        );
    }
    let pages: i64 = index.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
    index.execute_batch(&format!("PRAGMA max_page_count = {}; BEGIN; INSERT INTO mine VALUES('important')", pages + 2)).unwrap();
    let searched = search_as(&index, "word1", EVERYTHING.0, EVERYTHING.1);
    if index.is_autocommit() {
        let error = searched.unwrap_err().to_string();
        assert!(error.contains("has rolled back the whole transaction"), "{error}");
    } else {
        // Nothing was lost: the answer says that something is missing.
        assert_eq!(searched.unwrap()["indexing"], true);
        index.execute_batch("COMMIT").unwrap();
        assert_eq!(index.query_row("SELECT a FROM mine", [], |row| row.get::<_, String>(0)).unwrap(), "important");
    }
    index.execute_batch("PRAGMA max_page_count = 1000000").unwrap();
    reconcile(&index);
    assert_eq!(found(&index, "word199"), ["m199"]);
}

#[test]
fn what_exceeds_the_budget_is_indexing_and_never_wrong() {
    let mut world = World::new(Layout::September);
    fill(&mut world, 60, 300);
    let index = world.host.index_unopened("session-search.sqlite");
    open(&index, &world.host.path);
    let first = search(&index, "filler");
    assert_eq!(first["indexing"], true, "18,000 messages are more than a search indexes on its way");
    assert!(first["warning"].as_str().unwrap().contains("still being indexed"));
    reconcile(&index);
    assert_eq!(search(&index, "filler")["indexing"], serde_json::Value::Null);

    // Now all of it changes at once, one message of each session and a rewind, and the index cannot be written.
    let lock = Connection::open(world.host.folder.path("session-search.sqlite")).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    index.busy_timeout(Duration::ZERO).unwrap();
    world.app.execute_batch("BEGIN").unwrap();
    for s in 0..60 {
        let session = format!("s{s}");
        world.edit(&session, 100, &message(&format!("m{s}-100"), Some(&format!("m{s}-99")), "changed entirely"));
        world.rewind(&session, "l", &format!("m{s}-299"), &format!("m{s}-298"));
    }
    world.app.execute_batch("COMMIT").unwrap();
    for stale in ["\"number 100\"", "\"number 299\""] {
        let answer = search(&index, stale);
        assert_eq!((ids(&answer), &answer["indexing"]), (Vec::new(), &true.into()), "{stale} is not said any more");
    }
    let live = search(&index, "\"number 298\"");
    assert_eq!(live["results"].as_array().unwrap().len(), 25, "what was indexed before and still counts stays findable");
    assert_eq!((&live["indexing"], &live["truncated"]), (&true.into(), &true.into()));
    lock.execute_batch("ROLLBACK").unwrap();
    for _ in 0..1_000 {
        if search(&index, "filler")["indexing"] != true {
            break;
        }
    }
    let changed = search(&index, "changed entirely");
    assert_eq!((changed["results"].as_array().unwrap().len(), &changed["indexing"]), (25, &serde_json::Value::Null));
    assert_eq!(found(&index, "\"number 100\""), NOTHING);
}

#[test]
fn a_transcript_too_large_for_a_search_keeps_no_other_waiting() {
    let mut world = World::new(Layout::September);
    fill(&mut world, 1, 12_000);
    let index = world.host.index_unopened("session-search.sqlite");
    open(&index, &world.host.path);
    assert_eq!(search(&index, "filler")["indexing"], true);
    world.session("small", "agent:main:dashboard:small", None);
    world.say("small", "n1", None, "needle");
    let answer = search(&index, "needle");
    assert_eq!(ids(&answer), ["n1"]);
    assert_eq!(answer["indexing"], true);
    // Every search gets a little further with it, in reading first and then in writing.
    for _ in 0..1_000 {
        if search(&index, "needle")["indexing"] != true {
            break;
        }
    }
    assert_eq!(ids(&search(&index, "\"number 11999\"")), ["m0-11999"]);
    // And a message appended to it is found at once, which is read alone.
    world.say("s0", "late", Some("m0-11999"), "needle too");
    assert_eq!(found(&index, "needle"), ["late", "n1"]);
    world.rewind("s0", "l1", "late", "m0-5000");
    assert_eq!(found(&index, "needle"), ["n1"]);
    reconcile(&index);
    assert_eq!(found(&index, "\"number 5001\""), NOTHING);
    assert_eq!(status(&index, "messages"), 5_002.into());
}

#[test]
fn an_invisible_session_changes_nothing() {
    // Twice the same world, once with 200 better ranked messages in sessions that the caller does not see.
    let answer = |invisible: bool| {
        let mut world = World::new(Layout::September);
        world.session("mine", "agent:main:telegram:direct:1", None);
        world.say("mine", "m1", None, "the needle lies in a long text of mine that mentions it only once and says much else besides");
        world.session_with("child", "agent:main:subagent:11111111-1111-4111-8111-111111111111", Some("agent:main:telegram:direct:1"), None);
        world.say("child", "m2", None, "another needle in a text of my own subagent, with many words around it as well");
        if invisible {
            for s in 0..10 {
                let session = format!("other{s}");
                world.session(&session, &format!("agent:main:telegram:direct:9{s}"), None);
                for m in 0..20 {
                    world.say(&session, &format!("o{s}-{m}"), None, if m % 3 == 0 { "needle mine" } else { "needle" });
                }
            }
        }
        let index = world.host.index();
        let options = r#"{"limit":2,"policy":{"visibility":"tree"}}"#;
        let answer = search_as(&index, "needle OR text OR mine", "agent:main:telegram:direct:1", options).unwrap();
        // Something that the caller does not see is behind: no word about it.
        if invisible {
            world.say("other0", "late", None, "needle");
            index.execute_batch("PRAGMA query_only = on").unwrap();
            let late = search_as(&index, "needle", "agent:main:telegram:direct:1", options).unwrap();
            assert_eq!(late["indexing"], serde_json::Value::Null);
            let seen = search_as(&index, "needle", "agent:main:telegram:direct:90", options).unwrap();
            assert_eq!(seen["indexing"], true, "the one who sees it is told");
        }
        answer
    };
    let (without, with) = (answer(false), answer(true));
    assert_eq!(without["results"].as_array().unwrap().len(), 2);
    assert_eq!(without["truncated"], serde_json::Value::Null);
    assert_eq!(with, without);
}

#[test]
fn incognito_sessions_are_never_found_nor_indexed() {
    let mut world = World::new(Layout::September);
    world.session("s1", "agent:main:dashboard:incognito-1", None);
    world.say("s1", "m1", None, "private word");
    let index = world.host.index();
    assert_eq!(found(&index, "private"), NOTHING);
    let own = search_as(&index, "private", "agent:main:dashboard:incognito-1", "{}").unwrap();
    assert_eq!(ids(&own), NOTHING);
    let rows: i64 = index.query_row("SELECT count(*) FROM session_search_message", [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 0);
}

#[test]
fn the_host_file_is_never_written_and_never_locked() {
    let world = World::new(Layout::September);
    let mut world = world;
    fill(&mut world, 20, 50);
    world.app.execute_batch("PRAGMA wal_checkpoint(truncate)").unwrap();
    let before = std::fs::read(&world.host.path).unwrap();
    let index = world.host.index();
    assert_eq!(search(&index, "filler")["results"].as_array().unwrap().len(), 25);
    assert!(std::fs::read(&world.host.path).unwrap() == before, "the bytes of the host's file are the same");

    // A writer that does not wait at all, against searches and reconciles that never stop.
    let host = &world.host;
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let conn = host.writer();
            conn.busy_timeout(Duration::ZERO).unwrap();
            for i in 0..1_500 {
                let sql = "INSERT INTO transcript_events(session_id, seq, event_json, created_at) VALUES('s1', ?1, ?2, 1)";
                conn.execute(sql, params![1_000 + i, message(&format!("w{i}"), Some(&format!("w{}", i - 1)), "hammer")]).unwrap();
                conn.execute("UPDATE session_windows SET transcript_updated_at = ?1 WHERE session_id = 's1'", [2_000_000_000_000_i64 + i])
                    .unwrap();
            }
            done.store(true, Ordering::Relaxed);
        });
        let mut searches = 0;
        while !done.load(Ordering::Relaxed) && !writer.is_finished() {
            search(&index, "hammer");
            let _: i64 = index.query_row("SELECT session_search_reconcile(5)", [], |row| row.get(0)).unwrap();
            searches += 1;
        }
        writer.join().expect("no write was ever refused");
        assert!(searches > 3, "searches ran meanwhile");
    });
    reconcile(&index);
    assert_eq!(ids(&search(&index, "hammer")).len(), 25);
}

#[test]
fn an_index_that_cannot_be_written_is_searched_correctly() {
    let mut world = World::new(Layout::September);
    world.session("s1", KEY, None);
    world.say("s1", "m1", None, "word one");
    world.say("s1", "m2", Some("m1"), "word two");
    drop(world.host.index());
    world.rewind("s1", "l1", "m2", "m1");
    world.say("s1", "m3", Some("m1"), "word three");

    let path = world.host.folder.path("session-search.sqlite");
    let read_only = Connection::open_with_flags(&path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    session_search::register(&read_only).unwrap();
    open(&read_only, &world.host.path);
    let answer = search(&read_only, "word");
    assert_eq!(ids(&answer), ["m1"], "m2 is dead, m3 is not indexed yet");
    assert_eq!(answer["indexing"], true);
    assert!(matches!(status(&read_only, "broken"), rusqlite::types::Value::Text(text) if text.contains("readonly")));

    // Another connection holds the write lock of the index.
    let index = world.host.index_unopened("session-search.sqlite");
    index.busy_timeout(Duration::ZERO).unwrap();
    open(&index, &world.host.path);
    let lock = Connection::open(&path).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    let answer = search(&index, "word");
    assert_eq!((ids(&answer), &answer["indexing"]), (vec!["m1".to_owned()], &true.into()));
    lock.execute_batch("ROLLBACK").unwrap();
    assert_eq!(found(&index, "word"), ["m1", "m3"]);
}

#[test]
fn what_the_caller_rolls_back_is_indexed_again() {
    let mut world = World::new(Layout::September);
    let index = world.host.index();
    world.session("s1", KEY, None);
    world.say("s1", "m1", None, "word one");
    index.execute_batch("BEGIN").unwrap();
    assert_eq!(found(&index, "word"), ["m1"]);
    index.execute_batch("ROLLBACK").unwrap();
    let answer = search(&index, "word");
    assert_eq!((ids(&answer), &answer["indexing"]), (vec!["m1".to_owned()], &serde_json::Value::Null));
    index.execute_batch("SAVEPOINT mine").unwrap();
    world.say("s1", "m2", Some("m1"), "word two");
    assert_eq!(found(&index, "word"), ["m1", "m2"]);
    index.execute_batch("ROLLBACK TO mine; RELEASE mine").unwrap();
    assert_eq!(found(&index, "word"), ["m1", "m2"]);
    let rows: i64 =
        index.query_row("SELECT count(*) FROM session_search_message WHERE message_id LIKE 'm_'", [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 2);
}

#[test]
fn a_search_keeps_last_insert_rowid() {
    let mut world = World::new(Layout::Standalone);
    let index = world.host.index();
    index.execute_batch("CREATE TABLE mine(id INTEGER PRIMARY KEY); INSERT INTO mine VALUES(77)").unwrap();
    world.session("s1", KEY, None);
    world.say("s1", "m1", None, "word one");
    assert_eq!(found(&index, "word"), ["m1"]);
    assert_eq!(index.last_insert_rowid(), 77);
}

#[test]
fn another_database_under_the_same_path_is_noticed() {
    let mut world = World::new(Layout::September);
    world.session("s1", KEY, None);
    world.say("s1", "m1", None, "word one");
    let index = world.host.index();
    assert_eq!(found(&index, "word"), ["m1"]);
    let other = support::Host::fixture("jul-2026.7.2-beta.1-small-main");
    drop(world.app);
    for suffix in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{suffix}", world.host.path.display()));
    }
    std::fs::rename(&other.path, &world.host.path).unwrap();
    assert_eq!(found(&index, "word"), NOTHING);
    assert_eq!(found(&index, "pelican").len(), 6);
    assert_eq!(status(&index, "host"), "openclaw-2026-07".to_owned().into());
}

#[test]
fn two_connections_share_an_index() {
    let mut world = World::new(Layout::September);
    let (one, two) = (world.host.index(), world.host.index());
    world.session("s1", KEY, None);
    for i in 0..20 {
        let parent = (i > 0).then(|| format!("m{:02}", i - 1));
        world.say("s1", &format!("m{i:02}"), parent.as_deref(), "word");
        let (a, b) = if i % 2 == 0 { (&one, &two) } else { (&two, &one) };
        assert_eq!(found(a, "word").len(), i + 1);
        assert_eq!(found(b, "word").len(), i + 1);
    }
    world.delete_session("s1");
    world.session("s2", KEY, None);
    world.say("s2", "n1", None, "word");
    assert_eq!(found(&two, "word"), ["n1"]);
    assert_eq!(found(&one, "word"), ["n1"]);
}

#[cfg(unix)]
#[test]
fn the_index_is_as_private_as_the_host() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new(Layout::Standalone);
    let mode = |name: &str| std::fs::metadata(world.host.folder.path(name)).unwrap().permissions().mode() & 0o777;
    std::fs::set_permissions(&world.host.path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let index = world.host.index_unopened("session-search.sqlite");
    index.execute_batch("PRAGMA journal_mode = wal").unwrap();
    open(&index, &world.host.path);
    assert_eq!(mode("session-search.sqlite"), 0o600);
    // A host that more may read does not widen what is narrow.
    std::fs::set_permissions(&world.host.path, std::fs::Permissions::from_mode(0o644)).unwrap();
    reconcile(&index);
    assert_eq!(mode("session-search.sqlite"), 0o600);
}

#[test]
fn opening_refuses_what_cannot_be_searched() {
    let world = World::new(Layout::September);
    let empty = world.host.folder.path("empty.sqlite");
    Connection::open(&empty).unwrap().execute_batch("CREATE TABLE t(a)").unwrap();
    let text = world.host.folder.path("text.sqlite");
    std::fs::write(&text, "this is no database, but it is long enough to look at: ".repeat(20)).unwrap();
    let index = world.host.index_unopened("session-search.sqlite");
    let refused = |conn: &Connection, path: &std::path::Path| {
        conn.query_row("SELECT session_search_open(?1)", [path.to_str().unwrap()], |_| Ok(())).unwrap_err().to_string()
    };
    assert!(refused(&index, &world.host.folder.path("missing.sqlite")).contains("must be an existing file"));
    let tables = refused(&index, &empty);
    for part in [
        "expected the tables of openclaw-2026-09 (session_windows, ",
        "or openclaw-2026-07 (sessions, ",
        "or standalone (sessions, transcript_events)",
    ] {
        assert!(tables.contains(part), "{tables}");
    }
    assert!(refused(&index, &text).contains("file is not a database"));
    let inside = Connection::open(&world.host.path).unwrap();
    session_search::register(&inside).unwrap();
    assert!(refused(&inside, &world.host.path).contains("this is the connection's own main database"));
    let other = World::new(Layout::July);
    assert!(refused(&inside, &other.host.path).contains("main database belongs to OpenClaw, where an index must not be"));
    let tables: i64 = inside.query_row("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'session_search%'", [], |r| r.get(0)).unwrap();
    assert_eq!(tables, 0, "nothing of ours goes into OpenClaw's database");
    let unopened = search_as(&index, "word", EVERYTHING.0, "{}").unwrap_err().to_string();
    assert!(unopened.contains("call session_search_open(path) first"), "{unopened}");
}

#[test]
fn events_that_followed_a_restored_backup_are_not_taken_for_an_append() {
    let mut world = World::new(Layout::September);
    let index = world.host.index();
    world.session("s1", KEY, None);
    world.say("s1", "m1", None, "word one");
    world.say("s1", "m2", Some("m1"), "word two");
    let lost = world.say("s1", "m3", Some("m2"), "word three");
    assert_eq!(found(&index, "word"), ["m1", "m2", "m3"]);
    // As after a restore: the generation is the one of the backup, and other events follow it.
    world.app.execute("DELETE FROM transcript_events WHERE session_id = 's1' AND seq = ?1", [lost]).unwrap();
    world.rewind("s1", "l1", "m2", "m1");
    assert_eq!(found(&index, "word"), ["m1"]);
    world.say("s1", "n2", Some("m1"), "word four");
    assert_eq!(found(&index, "word"), ["m1", "n2"]);
}

#[test]
fn a_transcript_that_comes_back_half_removed_is_not_in_step() {
    let mut one = World::new(Layout::Standalone);
    fill(&mut one, 1, 15_000);
    let other = World::new(Layout::Standalone);
    let index = one.host.index();
    assert_eq!(ids(&search(&index, "\"number 7\"")), ["m0-7"]);
    // Another host on the same index: the transcripts of the first one are in the way, and removed as far as the time goes.
    open(&index, &other.host.path);
    search(&index, "filler");
    open(&index, &one.host.path);
    for n in [7, 5_000, 14_999] {
        let answer = search(&index, &format!("\"number {n}\""));
        assert!(ids(&answer) == [format!("m0-{n}")] || answer["indexing"] == true, "number {n}: {answer}");
    }
    reconcile(&index);
    assert_eq!(status(&index, "messages"), 15_000.into());
}

#[test]
fn a_search_works_inside_statements_that_write_elsewhere() {
    let mut world = World::new(Layout::September);
    let index = world.host.index();
    index
        .execute_batch("ATTACH ':memory:' AS other; CREATE TABLE other.t(id); CREATE TEMP TABLE t(id); CREATE TABLE main.mine(id)")
        .unwrap();
    world.session("s1", KEY, None);
    for (i, target) in ["temp.t", "other.t", "main.mine"].into_iter().enumerate() {
        // With something to index, and then without.
        let parent = (i > 0).then(|| format!("m{}", i - 1));
        world.say("s1", &format!("m{i}"), parent.as_deref(), "word");
        for _ in 0..2 {
            let sql = format!("INSERT INTO {target} SELECT message_id FROM sessions_search('word', ?1, ?2)");
            let rows = index.execute(&sql, params![EVERYTHING.0, EVERYTHING.1]).unwrap();
            assert!(rows <= i + 1, "{target}");
            assert!(index.is_autocommit(), "{target}");
            assert_eq!(found(&index, "word").len(), i + 1, "{target}");
        }
    }
    let sql = "CREATE TEMP TABLE made AS SELECT * FROM sessions_search('word', ?1, ?2)";
    index.execute(sql, params![EVERYTHING.0, EVERYTHING.1]).unwrap();
    assert_eq!(index.query_row("SELECT count(*) FROM made", [], |row| row.get::<_, i64>(0)).unwrap(), 3);
}
