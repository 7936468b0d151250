//! Rows of a host that are not as its application writes them: each is left out or noticed, and the rest goes on.

mod support;

use rusqlite::params;
use support::world::{LAYOUTS, Layout, World, fill};
use support::{found, message, open, reconcile, status};

const NOTHING: [&str; 0] = [];
const KEY: &str = "agent:main:dashboard:one";

#[test]
fn an_event_out_of_the_range_of_the_index_still_moves_the_branch() {
    let mut world = World::new(Layout::Standalone);
    world.session("s1", KEY, None);
    world.say("s1", "m1", None, "word one");
    world.say("s1", "m2", Some("m1"), "word two");
    let sql = "INSERT INTO transcript_events(session_id, seq, event_json, created_at) VALUES('s1', 16777216, ?1, 1)";
    world.app.execute(sql, [support::leaf("l1", "m2", "m1")]).unwrap();
    let index = world.host.index();
    assert_eq!(found(&index, "word"), ["m1"]);
    assert_eq!(status(&index, "unreadable"), 1.into());
}

#[test]
fn a_message_longer_than_sqlite_takes_does_not_stop_the_rest() {
    let mut world = World::new(Layout::Standalone);
    world.session("s1", KEY, None);
    world.say("s1", "m1", None, "word one");
    world.say("s1", "m2", Some("m1"), &format!("word two {}", "long ".repeat(50_000)));
    let index = world.host.index_unopened("session-search.sqlite");
    index.set_limit(rusqlite::limits::Limit::SQLITE_LIMIT_LENGTH, 100_000).unwrap();
    open(&index, &world.host.path);
    reconcile(&index);
    assert_eq!(found(&index, "word"), ["m1"]);
}

#[test]
fn one_odd_row_does_not_stop_the_rest() {
    for layout in [Layout::Standalone, Layout::July] {
        let mut world = World::new(layout);
        world.session("s1", KEY, None);
        world.say("s1", "m1", None, "word one");
        world.say("s1", "m2", Some("m1"), "word two");
        world.session("s2", "agent:main:dashboard:two", None);
        world.say("s2", "n1", None, "word three");
        for (seq, created) in [("1.5", "1"), ("-3", "'never'"), ("99999999999", "1")] {
            let sql = format!(
                "INSERT OR IGNORE INTO transcript_events(session_id, seq, event_json, created_at) VALUES('s1', {seq}, '{{}}', {created})"
            );
            world.app.execute(&sql, []).unwrap();
        }
        let index = world.host.index();
        assert_eq!(found(&index, "word"), ["m1", "m2", "n1"], "{layout:?}");
        assert_eq!(status(&index, "unreadable"), 3.into(), "{layout:?}");
        assert_eq!(status(&index, "broken"), rusqlite::types::Value::Null, "{layout:?}");
    }
}

#[test]
fn unreadable_events_are_counted_and_the_rest_goes_on() {
    let mut world = World::new(Layout::Standalone);
    world.session("s1", KEY, None);
    world.say("s1", "m1", None, "word one");
    let frame =
        ruzstd::encoding::compress_to_vec(message("z1", Some("m1"), "word zipped").as_bytes(), ruzstd::encoding::CompressionLevel::Fastest);
    let mut long = message("m9", Some("m1"), "word ");
    long.insert_str(long.find("word ").unwrap() + 5, &"long ".repeat(2_000_000));
    let mut bad_bytes = message("m8", Some("m1"), "word @ bytes").into_bytes();
    let at = bad_bytes.iter().position(|&b| b == b'@').unwrap();
    bad_bytes[at] = 0xff;
    let sql = "INSERT INTO transcript_events(session_id, seq, event_json, created_at) VALUES('s1', ?1, CASE WHEN ?3 THEN CAST(?2 AS TEXT) ELSE ?2 END, 1)";
    let add = |seq: i64, event: &[u8], text: bool| world.app.execute(sql, params![seq, event, text]).unwrap();
    add(1, b"{\"type\":\"message\",", true); // malformed JSON
    add(2, &frame[..frame.len() - 3], false); // a truncated frame
    add(3, b"", false); // an empty blob
    add(4, b"", true); // an empty text
    add(5, b"[1,2,3]", true); // JSON, but no event: not unreadable
    add(6, &bad_bytes, true); // bytes that are not UTF-8
    add(7, message("m7", Some("m8"), "word \0 nul").as_bytes(), true);
    add(8, message("m7b", Some("m7"), "word after nul").as_bytes(), true);
    add(9, &frame, false);
    add(10, long.as_bytes(), true); // 10 MB
    world.app.execute("INSERT INTO transcript_events VALUES('s1', 11, 42, 1)", []).unwrap(); // no text at all
    world.app.execute("INSERT INTO transcript_events VALUES('s1', 99999999999, '{}', 1)", []).unwrap(); // out of range
    let index = world.host.index();
    assert_eq!(status(&index, "unreadable"), 6.into());
    // The branch: m1 <- m9 (its siblings are dead).
    assert_eq!(found(&index, "word"), ["m1", "m9"]);
    assert_eq!(found(&index, "long"), ["m9"]);
    world.rewind("s1", "l1", "m9", "m7b");
    world.app.execute("UPDATE transcript_events SET seq = 12 WHERE seq = 100000000000", []).unwrap();
    reconcile(&index); // 10 MB may be more than a search reads on its way
    assert_eq!(found(&index, "word"), ["m1", "m7", "m7b", "m8"]);
    assert_eq!(found(&index, "bytes"), ["m8"]);
    world.app.execute("DELETE FROM transcript_events WHERE seq IN (10, 12)", []).unwrap();
    assert_eq!(found(&index, "zipped"), ["z1"]);
}

#[test]
fn a_change_without_a_stamp_is_noticed_when_its_message_is_hit() {
    for layout in LAYOUTS {
        let mut world = World::new(layout);
        world.session("s1", KEY, None);
        let seq = world.say("s1", "m1", None, "word before");
        world.say("s1", "m2", Some("m1"), "word other");
        let index = world.host.index();
        assert_eq!(found(&index, "before"), ["m1"]);
        // Not as the application does it: nothing but the event changes.
        let sql = "UPDATE transcript_events SET event_json = ?1 WHERE session_id = 's1' AND seq = ?2";
        world.app.execute(sql, params![message("m1", None, "word after"), seq]).unwrap();
        assert_eq!(found(&index, "before"), NOTHING, "{layout:?}");
        assert_eq!(found(&index, "after"), ["m1"], "{layout:?}");
        assert_eq!(found(&index, "word"), ["m1", "m2"], "{layout:?}");
    }
}

#[test]
fn an_index_is_made_and_kept_with_count_changes_on() {
    let mut world = World::new(Layout::September);
    world.session("s1", KEY, None);
    world.say("s1", "m1", None, "word one");
    let index = world.host.index_unopened("session-search.sqlite");
    index.execute_batch("PRAGMA count_changes = 1").unwrap();
    open(&index, &world.host.path);
    assert_eq!(found(&index, "word"), ["m1"]);
    world.say("s1", "m2", Some("m1"), "word two");
    reconcile(&index);
    assert_eq!(found(&index, "word"), ["m1", "m2"]);
}

#[test]
fn a_change_without_a_stamp_in_a_long_transcript_is_not_forgotten() {
    let mut world = World::new(Layout::September);
    fill(&mut world, 1, 12_000);
    world.session("other", "agent:main:dashboard:other", None);
    let index = world.host.index();
    assert_eq!(found(&index, "\"number 11\""), ["m0-11"]);
    let changed = message("m0-11", Some("m0-10"), "something new");
    world.app.execute("UPDATE transcript_events SET event_json = ?1 WHERE session_id = 's0' AND seq = 11", [changed]).unwrap();
    // One search notices it and may not get through; other sessions go on meanwhile.
    for round in 0..100 {
        assert_eq!(support::ids(&support::search(&index, "\"number 11\"")), NOTHING, "round {round}");
        world.say("other", &format!("o{round}"), None, "meanwhile");
        let answer = support::search(&index, "something new");
        if answer["indexing"] != true {
            assert_eq!(support::ids(&answer), ["m0-11"], "round {round}: in step means that it is found");
            return;
        }
    }
    panic!("searches alone get nowhere");
}
