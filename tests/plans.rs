//! No statement of ours reads a whole table of messages or events: everything that is run in a life in place is explained by SQLite.

mod support;

use std::collections::BTreeSet;
use std::sync::Mutex;

use rusqlite::trace::{TraceEvent, TraceEventCodes};
use support::world::{LAYOUTS, World};
use support::{found, leaf, message, reconcile};

static RUN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

fn note(event: TraceEvent<'_>) {
    if let TraceEvent::Stmt(statement, _) = event {
        RUN.lock().unwrap().insert(statement.sql().into_owned());
    }
}

/// What may be read whole, and why.
const WHOLE: [(&str, &str); 4] = [
    ("FROM s LEFT JOIN main.session_search_transcript", "the list of sessions"),
    ("SELECT session_id, id, indexed_stamp, messages, tokens FROM main.session_search_transcript", "the list of what is indexed"),
    ("main.sqlite_schema", "the host's tables and triggers, when they have changed"),
    ("SELECT ifnull(sum(messages), 0)", "sums over the list of what is indexed, for status"),
];

#[test]
fn no_statement_reads_a_whole_table() {
    for layout in LAYOUTS {
        let mut world = World::in_place(layout);
        RUN.lock().unwrap().clear();
        world.app.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(note));
        world.session("s", "agent:main:main", None);
        for n in 0..20 {
            world.say("s", &format!("m{n}"), (n > 0).then(|| format!("m{}", n - 1)).as_deref(), "common words");
        }
        world.append("s", &leaf("l", "m19", "m9"));
        world.edit("s", 3, &message("m3", Some("m2"), "common other"));
        world.delete_event("s", 5);
        assert!(!found(&world.app, "common OR words").is_empty());
        world
            .app
            .query_row("SELECT count(*) FROM session_search_status, sessions_search('common', 'agent:main:main')", [], |_| Ok(()))
            .unwrap();
        let plain = std::mem::replace(&mut world.app, world.host.writer());
        world.say("s", "late", Some("m4"), "common late");
        world.app = plain;
        reconcile(&world.app);
        world.delete_session("s");
        world.app.trace_v2(TraceEventCodes::empty(), None);

        let run = RUN.lock().unwrap().clone();
        // FTS5's own statements name their tables in quotes.
        let ours = run
            .iter()
            .filter(|sql| (sql.contains("session_search_") || sql.contains("main.transcript_events")) && !sql.contains("'main'."));
        let mut explained = 0;
        for sql in
            ours.filter(|sql| ["SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "--"].iter().any(|word| sql.trim_start().starts_with(word)))
        {
            let mut explain = world.app.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let none = vec![rusqlite::types::Null; explain.parameter_count()];
            let details = explain.query_map(rusqlite::params_from_iter(none), |row| row.get::<_, String>(3)).unwrap();
            for detail in details.map(Result::unwrap) {
                let whole = detail.starts_with("SCAN") && !detail.contains("VIRTUAL TABLE") && !detail.contains("CONSTANT ROW");
                let is_allowed = WHOLE.iter().any(|(part, _)| sql.contains(part))
                    && !detail.contains("session_search_message")
                    && !detail.contains("SCAN e");
                assert!(!whole || is_allowed, "{layout:?}: {detail} in {sql}");
            }
            explained += 1;
        }
        assert!(explained > 25, "only {explained} statements were seen");
    }
}
