//! Redaction where it matters: in the index, in excerpts and in histories, with the rules of a database beside the library's.

mod support;

use rusqlite::Connection;
use support::world::{LAYOUTS, World};
use support::{found, message, search, status};

fn rule(conn: &Connection, kind: &str, value: &str, on: i64) -> rusqlite::Result<i64> {
    conn.query_row("SELECT session_search_redact_rule(?1, ?2, ?3)", (kind, value, on), |row| row.get(0))
}

fn check(conn: &Connection) -> String {
    conn.query_row("SELECT session_search_check()", [], |row| row.get(0)).unwrap()
}

/// What a search for `query` and the history show.
fn shown(conn: &Connection, query: &str) -> String {
    let history: String = conn
        .query_row("SELECT group_concat(text) FROM sessions_history('agent:main:main', 'agent:main:main')", [], |row| row.get(0))
        .unwrap();
    format!("{} {history}", search(conn, query)["results"])
}

fn worlds() -> impl Iterator<Item = (World, Connection)> {
    LAYOUTS.into_iter().flat_map(|layout| [(layout, false), (layout, true)]).map(|(layout, in_place)| {
        let mut world = if in_place { World::in_place(layout) } else { World::new(layout) };
        world.session("s", "agent:main:main", None);
        world.say("s", "a", None, "common acme_Qx7Lw2Zt9RkV and frobkey: Hx82kkQa, write to bob.miller@corp.dev, not BlueHeron77");
        let conn = if in_place { world.host.with_extension() } else { world.host.index() };
        (world, conn)
    })
}

#[test]
fn rules_of_a_database_mask_and_keep_out_of_the_index() {
    let rules = [
        ("prefix", "acme_", "Qx7Lw2Zt9RkV", "qx7lw2zt9rkv"),
        ("name", "frobkey", "Hx82kkQa", "hx82kkqa"),
        ("personal", "on", "bob.miller@corp.dev", "miller"),
    ];
    for (kind, value, secret, word) in rules {
        for (mut world, conn) in worlds() {
            let at = format!("{:?} {kind}", world.layout);
            assert!(shown(&conn, "common").contains(secret), "{at}");
            assert_eq!(found(&conn, word), ["a"], "{at}");
            assert_eq!(rule(&conn, kind, value, 1).unwrap(), 1, "{at}");
            assert!(!shown(&conn, "common").contains(secret) && shown(&conn, "common").contains("[redacted:"), "{at}");
            assert_eq!((found(&conn, word).len(), found(&conn, "common"), check(&conn).as_str()), (0, vec!["a".to_owned()], "ok"), "{at}");
            // The writer's connection knows it as well, and so does a new one.
            world.say("s", "b", Some("a"), &format!("common again acme_Qx7Lw2Zt9RkV frobkey: Hx82kkQa bob.miller@corp.dev {kind}"));
            assert_eq!((found(&conn, word).len(), found(&conn, "common").len()), (0, 2), "{at}");
            assert_eq!(check(&conn), "ok", "{at}");
            // Said again it changes nothing; taken back, everything is found again.
            assert_eq!(rule(&conn, kind, value, 1).unwrap(), 1);
            assert_eq!(rule(&conn, kind, value, 0).unwrap(), 0);
            assert_eq!((found(&conn, word).len(), check(&conn).as_str()), (2, "ok"), "{at}");
        }
    }
}

#[test]
fn a_known_secret_is_masked_on_its_connection_and_stored_nowhere() {
    for (mut world, conn) in worlds() {
        assert_eq!(rule(&conn, "known", "BlueHeron77", 1).unwrap(), 1);
        assert!(!shown(&conn, "common").contains("BlueHeron77"));
        conn.query_row("SELECT session_search_rebuild()", [], |_| Ok(())).unwrap();
        assert_eq!((found(&conn, "BlueHeron77").len(), check(&conn).as_str()), (0, "ok"));
        conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE); VACUUM; PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        let file = std::fs::read(conn.path().unwrap()).unwrap();
        assert!(memchr::memmem::find(&file, b"blueheron").is_none(), "{:?}: in the index", world.layout);
        let own = conn.path().unwrap() == world.host.path.to_str().unwrap();
        assert_eq!(memchr::memmem::find(&file, b"BlueHeron77").is_some(), own, "only in the event itself");
        assert_eq!(rule(&conn, "known", "BlueHeron77", 0).unwrap(), 0);
        world.edit("s", 0, &message("a", None, "common BlueHeron77 once more"));
        assert!(shown(&conn, "common").contains("BlueHeron77"));
    }
}

#[test]
fn a_secret_in_the_place_of_another_and_a_rule_after_a_rollback_are_known() {
    for (world, conn) in worlds() {
        rule(&conn, "known", "AnotherOne", 1).unwrap();
        assert!(shown(&conn, "common").contains("BlueHeron77"));
        rule(&conn, "known", "AnotherOne", 0).unwrap();
        rule(&conn, "known", "BlueHeron77", 1).unwrap();
        assert!(!shown(&conn, "common").contains("BlueHeron77"), "{:?}", world.layout);
        // A schema that is rolled back has the number of the next one.
        conn.execute_batch("BEGIN").unwrap();
        rule(&conn, "name", "something_else", 1).unwrap();
        assert!(shown(&conn, "common").contains("Qx7Lw2Zt9RkV"));
        conn.execute_batch("ROLLBACK").unwrap();
        rule(&conn, "prefix", "acme_", 1).unwrap();
        assert!(!shown(&conn, "common").contains("Qx7Lw2Zt9RkV"), "{:?}", world.layout);
    }
}

#[test]
fn rules_are_checked() {
    for (_, conn) in worlds() {
        for (kind, value, error) in [
            ("prefix", "a", "session_search_redact_rule: argument 2 (value) is refused: too short: it would match too much"),
            ("prefix", "größe_", "session_search_redact_rule: argument 2 (value) is refused: must be visible ASCII"),
            ("known", "abc", "session_search_redact_rule: argument 2 (value) is refused: too short: it would match too much"),
            (
                "pattern",
                "abcdef",
                r#"session_search_redact_rule: argument 1 (kind) must be "prefix", "name", "personal" or "known", got "pattern""#,
            ),
        ] {
            assert_eq!(rule(&conn, kind, value, 1).unwrap_err().to_string(), error);
        }
        assert_eq!(
            rule(&conn, "prefix", "acme_", 2).unwrap_err().to_string(),
            "session_search_redact_rule: argument 3 (on) must be 1 or 0, got 2"
        );
        assert_eq!(status(&conn, "behind"), 0.into());
    }
}

#[test]
fn rules_go_with_a_rollback_and_with_uninstall() {
    for (_, conn) in worlds() {
        conn.execute_batch("BEGIN").unwrap();
        rule(&conn, "prefix", "acme_", 1).unwrap();
        assert!(!shown(&conn, "common").contains("Qx7Lw2Zt9RkV"));
        conn.execute_batch("ROLLBACK").unwrap();
        assert!(shown(&conn, "common").contains("Qx7Lw2Zt9RkV"));
        assert_eq!(check(&conn), "ok");
        rule(&conn, "prefix", "acme_", 1).unwrap();
        conn.query_row("SELECT session_search_uninstall()", [], |_| Ok(())).unwrap();
        let left: i64 =
            conn.query_row("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'session_search%'", [], |row| row.get(0)).unwrap();
        assert_eq!(left, 0);
    }
}

/// One secret of each kind, said in a conversation of its own and once more in an answer; then changed, taken back and made anew.
#[test]
fn a_secret_of_any_kind_is_in_no_page_but_the_events_own() {
    let rows = include_str!("data/redact-kinds.jsonl").replace('⟂', "");
    let kinds: Vec<serde_json::Value> = rows.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let personal = ["email", "phone"];
    let secrets: Vec<&str> = kinds
        .iter()
        .filter(|k| !personal.iter().any(|p| k["id"].as_str().unwrap().contains(p)))
        .map(|k| k["secret"].as_str().unwrap())
        .collect();
    assert!(secrets.len() > 100);
    for in_place in [false, true] {
        let mut world = if in_place { World::in_place(LAYOUTS[0]) } else { World::new(LAYOUTS[0]) };
        for (n, kind) in kinds.iter().enumerate() {
            let session = format!("k{n}");
            world.session(&session, &format!("agent:main:dashboard:{n}"), None);
            let text = kind["positive"].as_str().unwrap();
            world.say(&session, "a", None, text);
            world.say(&session, "b", Some("a"), &format!("as you said: {text} (common)"));
            world.edit(&session, 1, &message("b", Some("a"), &format!("changed: {text} common")));
        }
        let conn = if in_place { world.host.with_extension() } else { world.host.index() };
        support::reconcile(&conn);
        assert_eq!(check(&conn), "ok");
        conn.query_row("SELECT session_search_rebuild()", [], |_| Ok(())).unwrap();
        // What the index holds: every term, and every page of the file that is not the events' (beside: of the index file and its log).
        conn.execute_batch("CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, session_search_fts, row)").unwrap();
        let terms: Vec<String> =
            conn.prepare("SELECT term FROM temp.terms").unwrap().query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        let terms = terms.join(" ");
        let mut pages = Vec::new();
        if !in_place {
            for name in ["session-search.sqlite", "session-search.sqlite-wal", "session-search.sqlite-journal"] {
                pages.extend(std::fs::read(world.host.folder.path(name)).unwrap_or_default());
            }
        }
        for secret in &secrets {
            for run in secret.split(|c: char| !c.is_ascii_alphanumeric()).filter(|run| run.len() >= 12) {
                assert!(
                    !terms.contains(&run.to_lowercase()),
                    "a part of {} is a term",
                    kinds.iter().find(|k| k["secret"] == *secret).unwrap()["id"]
                );
            }
            for form in [(*secret).to_owned(), secret.to_lowercase()] {
                assert!(memchr::memmem::find(&pages, form.as_bytes()).is_none(), "a secret is in a page of the index file");
            }
        }
    }
}
