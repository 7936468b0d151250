//! Indexes of other versions: those of released ones are used or made anew, those of later ones are left alone.

mod support;

use rusqlite::Connection;
use support::{Folder, decompressed, found, ids, search, status};

/// Every index that a release has left, opened with this one.
fn released(folder: &Folder) -> Vec<Connection> {
    let made = ["index-0.1.0-sqlite-3.40", "index-0.1.0-sqlite-3.54"];
    // A SQLite without contentless_delete cannot use the second.
    let usable = made.iter().filter(|name| rusqlite::version_number() >= 3_043_000 || name.ends_with("3.40"));
    usable
        .map(|name| {
            let path = folder.path(name);
            std::fs::write(&path, decompressed(&format!("fixtures/{name}.sqlite.zst"))).unwrap();
            let conn = Connection::open(path).unwrap();
            session_search::register(&conn).unwrap();
            conn
        })
        .collect()
}

fn check(conn: &Connection) -> String {
    conn.query_row("SELECT session_search_check()", [], |row| row.get(0)).unwrap()
}

fn assert_right(conn: &Connection) {
    assert_eq!(found(conn, "kite OR mill"), ["a", "a", "c", "c"]);
    assert_eq!(found(conn, "東京"), ["c", "c"]);
    for gone in ["harbour", "username", "hunter2x", "Qx7Lw2Zt9RkV"] {
        assert_eq!(found(conn, gone).len(), 0, "{gone}");
    }
    assert_eq!(check(conn), "ok");
}

#[test]
fn the_index_of_a_release_of_this_format_is_used_as_it_is() {
    let folder = Folder::new();
    for conn in released(&folder) {
        let before = conn.total_changes();
        assert_eq!((status(&conn, "behind"), status(&conn, "attached"), status(&conn, "messages")), (0.into(), 1.into(), 4.into()));
        assert_eq!((found(&conn, "kite").len(), conn.total_changes() - before), (2, 0), "nothing was written");
        assert_right(&conn);
        let event = support::message("d", Some("c"), "common more");
        conn.execute("INSERT INTO transcript_events VALUES('s1', 9, ?1, 9)", [event]).unwrap();
        assert_eq!((found(&conn, "common"), status(&conn, "behind")), (vec!["d".to_owned()], 0.into()));
    }
}

#[test]
fn an_older_format_is_made_anew_and_searched_meanwhile() {
    let folder = Folder::new();
    for conn in released(&folder) {
        // As an older version would have left it: other tables, another format.
        conn.execute_batch(
            "UPDATE session_search_meta SET value = '1.1.1.1' WHERE key = 'format';
             ALTER TABLE session_search_transcript DROP COLUMN applied_stamp; DELETE FROM session_search_message",
        )
        .unwrap_or_default();
        let again = Connection::open(conn.path().unwrap()).unwrap();
        session_search::register(&again).unwrap();
        assert!(ids(&search(&again, "kite")).len() <= 2);
        assert_right(&again);
        let format: String = again.query_row("SELECT value FROM session_search_meta WHERE key = 'format'", [], |row| row.get(0)).unwrap();
        assert_ne!(format, "1.1.1.1");
    }
}

#[test]
fn a_newer_format_is_refused_and_not_written() {
    let folder = Folder::new();
    for conn in released(&folder) {
        let newer = "UPDATE session_search_meta SET value = '2.2.1.99' WHERE key = 'format'";
        conn.execute_batch(newer).unwrap();
        let path = conn.path().unwrap().to_owned();
        drop(conn);
        let conn = Connection::open(&path).unwrap();
        session_search::register(&conn).unwrap();
        for call in [
            "session_search_check()",
            "session_search_reconcile()",
            "sessions_search_json('kite', 'agent:main:main')",
            "session_search_install()",
        ] {
            let error = conn.query_row(&format!("SELECT {call}"), [], |_| Ok(())).unwrap_err().to_string();
            assert!(error.starts_with("the index has the format 2.2.1.99, this version of session_search knows up to "), "{call}: {error}");
        }
        // The host's write goes on, and is not indexed by us: to the newer version it is behind.
        let event = support::message("d", Some("c"), "common more");
        conn.execute("INSERT INTO transcript_events VALUES('s1', 9, ?1, 9)", [event]).unwrap();
        let sql = "SELECT count(*) FROM session_search_transcript WHERE source_stamp IS NOT indexed_stamp";
        let behind: i64 = conn.query_row(sql, [], |row| row.get(0)).unwrap();
        let messages: i64 = conn.query_row("SELECT count(*) FROM session_search_message", [], |row| row.get(0)).unwrap();
        assert_eq!((behind, messages), (1, 4));
    }
}
