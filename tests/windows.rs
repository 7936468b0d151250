//! Transcripts of one session that came after each other: what was rewound away is not found, nothing is found twice.

mod support;

use support::world::{Layout, World};
use support::{EVERYTHING, found, search_as};

const NOTHING: [&str; 0] = [];
const KEY: &str = "agent:main:dashboard:one";

#[test]
fn a_window_that_a_rewind_replaced_is_not_found_and_one_before_a_reset_is() {
    for reason in [None, Some("rewind")] {
        let mut world = World::new(Layout::September);
        let index = world.host.index();
        world.session("w1", KEY, None);
        world.say("w1", "m1", None, "word kept");
        world.say("w1", "m2", Some("m1"), "word dropped");
        assert_eq!(found(&index, "word"), ["m1", "m2"]);
        // As recorded from OpenClaw 2026.9.6: a new window copies all and then leaves the part that was rewound away.
        world.session("w2", KEY, Some(("w1", reason)));
        world.say("w2", "m1", None, "word kept");
        world.say("w2", "m2", Some("m1"), "word dropped");
        world.rewind("w2", "l1", "m2", "m1");
        assert_eq!(found(&index, "word"), ["m1"], "{reason:?}");
        assert_eq!(found(&index, "dropped"), NOTHING, "{reason:?}");
        for reason in [Some("reset"), Some("rollover"), None] {
            let id = format!("w-{reason:?}");
            world.session(&id, KEY, Some(("w2", reason)));
            world.say(&id, &format!("m-{reason:?}"), None, "word afresh");
            assert!(found(&index, "word").contains(&"m1".to_owned()), "{reason:?} keeps the window before it");
        }
        world.delete_session("w2");
        assert_eq!(found(&index, "kept"), ["m1"], "what replaced w1 is gone, so w1 counts again");
    }
}

#[test]
fn what_was_rewound_stays_away_when_a_reset_cuts_the_windows_apart() {
    let mut world = World::new(Layout::September);
    let index = world.host.index();
    world.session("w0", KEY, None);
    world.say("w0", "m0", None, "word before a reset");
    world.session("w1", KEY, None);
    world.say("w1", "m1", None, "word kept");
    world.say("w1", "m2", Some("m1"), "word dropped");
    world.session("w2", KEY, Some(("w1", None)));
    world.say("w2", "m1", None, "word kept");
    assert_eq!(found(&index, "word"), ["m0", "m1"]);
    // As recorded from the gateway of OpenClaw 2026.9.6.
    world.app.execute_batch("UPDATE session_windows SET previous_session_id = NULL WHERE session_id = 'w2'").unwrap();
    world.session("w3", KEY, None);
    world.say("w3", "m3", None, "word afresh");
    assert_eq!(found(&index, "word"), ["m0", "m1", "m3"]);
    assert_eq!(found(&index, "dropped"), NOTHING);
}

#[test]
fn messages_carried_over_by_a_compaction_window_are_found_once() {
    let mut world = World::new(Layout::September);
    let index = world.host.index();
    for (i, window) in ["w1", "w2", "w3"].into_iter().enumerate() {
        let previous = [None, Some(("w1", Some("compaction"))), Some(("w2", Some("compaction")))][i];
        world.session(window, KEY, previous);
        world.say(window, "m1", None, "word carried");
    }
    assert_eq!(found(&index, "carried"), ["m1"]);
    let one = search_as(&index, "carried", EVERYTHING.0, r#"{"limit":1,"policy":{"visibility":"agent"}}"#).unwrap();
    assert_eq!(one["truncated"], serde_json::Value::Null, "copies are no further results");
}

#[test]
fn what_a_later_window_carries_on_is_found_there_or_not_at_all() {
    for reason in [None, Some("compaction"), Some("recovery"), Some("switch"), Some("reset")] {
        let mut world = World::new(Layout::September);
        let index = world.host.index();
        world.session("w1", KEY, None);
        world.say("w1", "m1", None, "word evicted");
        world.say("w1", "m2", Some("m1"), "word carried");
        world.session("w2", KEY, Some(("w1", reason)));
        world.say("w2", "m2", None, "word carried");
        world.say("w2", "m3", Some("m2"), "word fresh");
        if reason.is_some() {
            assert_eq!(found(&index, "word"), ["m1", "m2", "m3"], "{reason:?}: what was not carried on stays findable");
        }
        // The conversation leaves m2 and m3, in the window itself and then by a rewind of it.
        world.rewind("w2", "l1", "m3", "m2");
        world.append("w2", r#"{"type":"leaf","id":"l2","parentId":"m2","targetId":null}"#);
        assert_eq!(found(&index, "carried"), NOTHING, "{reason:?}: leaf control");
        world.session("w3", KEY, Some(("w2", Some("rewind"))));
        world.say("w3", "m2", None, "word carried");
        world.append("w3", r#"{"type":"leaf","id":"l3","parentId":"m2","targetId":null}"#);
        assert_eq!(found(&index, "carried"), NOTHING, "{reason:?}: rewind of the later window");
    }
}

#[test]
fn the_window_that_a_session_stands_on_counts_whatever_came_after_it() {
    let mut world = World::new(Layout::September);
    let index = world.host.index();
    world.session("w1", KEY, None);
    world.say("w1", "m1", None, "word kept");
    world.say("w1", "m2", Some("m1"), "word dropped");
    world.session("w2", KEY, Some(("w1", Some("rewind"))));
    world.say("w2", "m1", None, "word kept");
    assert_eq!(found(&index, "word"), ["m1"]);
    world.app.execute("UPDATE session_nodes SET current_session_id = 'w1' WHERE session_key = ?1", [KEY]).unwrap();
    assert_eq!(found(&index, "word"), ["m1", "m2"]);
}

#[test]
fn different_messages_of_one_id_are_both_found() {
    let mut world = World::new(Layout::Standalone);
    for (session, text) in [("s1", "needle alpha"), ("s2", "needle beta")] {
        world.session(session, "agent:main:main", None);
        world.say(session, "m1", None, text);
    }
    let index = world.host.index();
    assert_eq!(found(&index, "needle"), ["m1", "m1"]);
}
