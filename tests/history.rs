//! The conversation around a hit: what is shown, what is not, and how much of it.

mod support;

use rusqlite::Connection;
use support::world::{LAYOUTS, World};
use support::{EVERYTHING, Host, search};

/// Session id, message id, seq, role and text.
type Turn = (String, String, i64, String, String);

fn history(conn: &Connection, key: &str, caller: &str, options: &str) -> rusqlite::Result<Vec<Turn>> {
    let sql = "SELECT session_id, message_id, seq, role, text FROM sessions_history(?1, ?2, ?3)";
    let mut statement = conn.prepare(sql)?;
    let rows = statement.query_map([key, caller, options], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)))?;
    rows.collect()
}

fn ids(conn: &Connection, options: &str) -> Vec<String> {
    history(conn, "agent:main:main", "agent:main:main", options).unwrap().into_iter().map(|(_, id, ..)| id).collect()
}

/// A conversation of 60 messages with a dead branch, in every layout, beside and in place.
fn conversations() -> impl Iterator<Item = (World, Connection)> {
    LAYOUTS.into_iter().flat_map(|layout| [(layout, false), (layout, true)]).map(|(layout, in_place)| {
        let mut world = if in_place { World::in_place(layout) } else { World::new(layout) };
        world.session("s", "agent:main:main", None);
        let mut parent = None;
        for n in 0..50 {
            world.say("s", &format!("m{n}"), parent.as_deref(), &format!("message number {n}"));
            parent = Some(format!("m{n}"));
        }
        for n in 50..55 {
            world.say("s", &format!("dead{n}"), parent.as_deref(), "rewound away");
            parent = Some(format!("dead{n}"));
        }
        world.rewind("s", "l", "dead54", "m49");
        for n in 50..60 {
            let before = if n == 50 { "m49".to_owned() } else { format!("m{}", n - 1) };
            world.say("s", &format!("m{n}"), Some(&before), &format!("message number {n}"));
        }
        let conn = if in_place { world.host.with_extension() } else { world.host.index() };
        (world, conn)
    })
}

#[test]
fn a_window_shows_the_active_branch_around_the_place() {
    let all: Vec<String> = (0..60).map(|n| format!("m{n}")).collect();
    let rows = [
        ("{}", 40..60),
        (r#"{"limit":5}"#, 55..60),
        (r#"{"limit":200}"#, 0..60),
        (r#"{"messageId":"m30","sessionId":"s","limit":5}"#, 28..33),
        (r#"{"messageId":"m30","limit":4}"#, 29..33),
        (r#"{"messageId":"m1","limit":6}"#, 0..6),
        (r#"{"messageId":"m59","limit":6}"#, 54..60),
        (r#"{"messageId":"m50","limit":3}"#, 49..52),
        (r#"{"messageId":"dead52"}"#, 0..0),
        (r#"{"messageId":"nothing"}"#, 0..0),
        (r#"{"messageId":"m1","sessionId":"other"}"#, 0..0),
        (r#"{"before":10,"limit":4}"#, 6..10),
        (r#"{"before":0}"#, 0..0),
        (r#"{"after":10,"limit":4}"#, 11..15),
        (r#"{"after":10000}"#, 0..0),
        (r#"{"after":49,"limit":2}"#, 50..52),
    ];
    for (world, conn) in conversations() {
        for (options, expected) in rows.clone() {
            assert_eq!(ids(&conn, options), all[expected], "{:?} {options}", world.layout);
        }
        // Page by page from the end, then from the beginning.
        let (mut backward, mut before) = (Vec::new(), i64::MAX);
        loop {
            let page = history(&conn, "agent:main:main", "agent:main:main", &format!(r#"{{"before":{before},"limit":7}}"#)).unwrap();
            let Some(first) = page.first() else { break };
            before = first.2;
            backward.splice(0..0, page.into_iter().map(|(_, id, ..)| id));
        }
        assert_eq!(backward, all);
    }
}

#[test]
fn the_history_around_every_hit_contains_it() {
    let host = Host::fixture("sep-2026.9.6-small-main");
    let conn = host.index();
    let mut hits = 0;
    for query in ["zeppelin", "config.json", "门票", "pelican", "word", "a OR b OR the"] {
        for hit in search(&conn, query)["results"].as_array().unwrap() {
            let (key, session, id) =
                (hit["sessionKey"].as_str().unwrap(), hit["sessionId"].as_str().unwrap(), hit["messageId"].as_str().unwrap());
            let options =
                serde_json::json!({"sessionId": session, "messageId": id, "limit": 3, "policy": {"visibility": "agent"}}).to_string();
            let around = history(&conn, key, EVERYTHING.0, &options).unwrap();
            assert!(around.iter().any(|(_, message, ..)| message == id), "{hit}");
            hits += 1;
        }
    }
    assert!(hits > 20);
}

#[test]
fn what_may_not_be_seen_looks_like_what_does_not_exist() {
    for (mut world, conn) in conversations() {
        world.session("hidden", "agent:main:telegram:direct:7", None);
        world.say("hidden", "h", None, "for others");
        world.session("secret", "agent:main:dashboard:incognito-1", None);
        world.say("secret", "i", None, "for nobody");
        for options in ["{}", r#"{"messageId":"h","sessionId":"hidden"}"#, r#"{"sessionId":"s"}"#] {
            let forbidden = history(&conn, "agent:main:telegram:direct:7", "agent:main:telegram:direct:8", options).unwrap();
            let absent = history(&conn, "agent:main:telegram:direct:999", "agent:main:telegram:direct:8", options).unwrap();
            assert_eq!((forbidden.len(), absent.len()), (0, 0), "{options}");
        }
        assert_eq!(history(&conn, "agent:main:telegram:direct:7", "agent:main:telegram:direct:7", "{}").unwrap().len(), 1);
        let all = r#"{"policy":{"visibility":"all"}}"#;
        assert_eq!(history(&conn, "agent:main:dashboard:incognito-1", "agent:main:main", all).unwrap().len(), 0);
        assert_eq!(history(&conn, "agent:main:main", "", all).unwrap().len(), 0);
    }
}

#[test]
fn texts_are_masked_and_bounded() {
    let mut world = World::new(LAYOUTS[0]);
    world.session("s", "agent:main:main", None);
    let secret = concat!("gh", "p_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8");
    world.say("s", "m0", None, &format!("the token is {secret} and more"));
    for n in 1..40 {
        let text = format!("{n} {}", "many words ".repeat(if n % 2 == 0 { 90 } else { 2_000 }));
        world.say("s", &format!("m{n}"), Some(&format!("m{}", n - 1)), &text);
    }
    let conn = world.host.index();
    let first = history(&conn, "agent:main:main", "agent:main:main", r#"{"messageId":"m0","limit":1}"#).unwrap();
    assert!(first[0].4.contains("[redacted:") && !first[0].4.contains(&secret[8..]), "{first:?}");
    for place in [r#""messageId":"m20""#, r#""before":40"#, r#""after":3"#] {
        let rows = history(&conn, "agent:main:main", "agent:main:main", &format!(r#"{{{place},"limit":200}}"#)).unwrap();
        assert!(rows.iter().map(|row| row.4.len()).sum::<usize>() <= 32_768);
        assert!(rows.iter().all(|row| row.4.chars().count() <= 4_000) && rows.len() > 4);
        let seqs: Vec<i64> = rows.iter().map(|row| row.2).collect();
        assert!(seqs.windows(2).all(|pair| pair[0] + 1 == pair[1]), "no gap: {seqs:?}");
        assert!(!place.contains("m20") || seqs.contains(&20));
        assert!(!place.contains("before") || seqs.last() == Some(&39));
        assert!(!place.contains("after") || seqs.first() == Some(&4));
    }
}

#[test]
fn tools_are_shown_only_when_asked_for() {
    let host = Host::fixture("sep-2026.9.6-small-main");
    let conn = host.index();
    let of = |options: &str| history(&conn, "agent:main:main", "agent:main:main", options).unwrap();
    let plain = of(r#"{"limit":200}"#);
    assert!(plain.iter().all(|row| row.3 != "toolResult" && !row.4.contains("toolargword") && !row.4.contains("hiddenthought")));
    let tools = of(r#"{"limit":200,"includeTools":true}"#);
    assert!(tools.iter().any(|row| row.3 == "toolResult" && row.4.contains("toolresultword")));
    assert!(tools.iter().any(|row| row.3 == "assistant"
        && row.4.contains("config.json")
        && row.4.contains(r#"exec {"command":"cat config.json # toolargword"}"#)));
    assert!(tools.iter().all(|row| !row.4.contains("hiddenthought")));
}

#[test]
fn options_are_checked() {
    let (_, conn) = conversations().next().unwrap();
    let rows = [
        (r#"{"limit":0}"#, "option limit must be an integer from 1 to 200, got 0"),
        (r#"{"limit":201}"#, "option limit must be an integer from 1 to 200, got 201"),
        (r#"{"messageId":7}"#, "option messageId must be a string, got 7"),
        (r#"{"before":"x"}"#, r#"option before must be an integer, got "x""#),
        (r#"{"includeTools":1}"#, "option includeTools must be true or false, got 1"),
        (r#"{"after":1,"before":2}"#, "options must have one of messageId, before and after, got after and before"),
        (
            r#"{"query":"x"}"#,
            r#"options has the unknown key "query": the keys are sessionId, messageId, before, after, limit, includeTools, policy"#,
        ),
        ("[]", "options must be a JSON object, got []"),
    ];
    for (options, error) in rows {
        let got = history(&conn, "agent:main:main", "agent:main:main", options).unwrap_err().to_string();
        assert_eq!(got, error, "{options}");
    }
}
