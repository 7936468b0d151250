//! Opening, indexing and searching a large OpenClaw database, beside plain FTS5 doing the bare work in the same run.
//!
//! `make bench` makes a database of 200 sessions with 100 events each (75 of them searchable, about 640 bytes of text, word
//! frequencies as in a natural language); `SESSION_SEARCH_BENCH_DB=path` measures one of yours (it is only read) with the words of
//! `SESSION_SEARCH_BENCH_WORDS=common,rare`. Medians of 31 searches, of 5 times indexing.

#[path = "../tests/support/mod.rs"]
mod support;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use support::world::{Layout, World};

const SESSIONS: usize = 200;
const EVENTS: usize = 100;

fn main() {
    let made = std::env::var_os("SESSION_SEARCH_BENCH_DB").is_none().then(large);
    let path = made
        .as_ref()
        .map_or_else(|| PathBuf::from(std::env::var_os("SESSION_SEARCH_BENCH_DB").unwrap_or_default()), |w| w.host.path.clone());
    let words = std::env::var("SESSION_SEARCH_BENCH_WORDS").unwrap_or_else(|_| "word9,word7999".to_owned());
    let (common, rare) = words.split_once(',').expect("SESSION_SEARCH_BENCH_WORDS=common,rare");
    println!("SQLite {}, {}", rusqlite::version(), if made.is_some() { "generated database" } else { "given database" });

    let folder = support::Folder::new();
    let mut number = 0;
    let mut fresh = || {
        number += 1;
        let conn = Connection::open(folder.path(&format!("index-{number}.sqlite"))).unwrap();
        conn.execute_batch("PRAGMA journal_mode = wal; PRAGMA synchronous = normal").unwrap();
        session_search::register(&conn).unwrap();
        conn
    };
    let index_once = |conn: &Connection| {
        support::open(conn, &path);
        support::reconcile(conn);
    };
    let indexing = median(5, || {
        let conn = fresh();
        timed(|| index_once(&conn))
    });
    let ours = fresh();
    index_once(&ours);
    let texts = texts(&path);
    let bytes: usize = texts.iter().map(String::len).sum();
    let inserting = median(5, || {
        let conn = fresh();
        timed(|| insert(&conn, &texts))
    });
    let plain = fresh();
    insert(&plain, &texts);
    println!(
        "open and index, {} messages, {bytes} bytes of text: {}   (plain FTS5 inserts of the same texts: {})",
        texts.len(),
        ms(indexing),
        ms(inserting)
    );

    for (name, word) in [("common", common), ("rare", rare)] {
        let sql = "SELECT count(*) FROM plain WHERE plain MATCH ?1";
        let matches: i64 = plain.query_row(sql, [word], |row| row.get(0)).unwrap();
        let answer = support::search(&ours, word);
        let results = answer["results"].as_array().unwrap().len();
        assert_eq!(results, usize::try_from(matches.min(25)).unwrap(), "the answer to {word}");
        let options = r#"{"policy":{"visibility":"agent"}}"#;
        let searching = median(31, || timed(|| drop(support::search_as(&ours, word, "agent:main:main", options).unwrap())));
        let bare = median(31, || {
            timed(|| {
                let sql = "SELECT rowid FROM plain WHERE plain MATCH ?1 ORDER BY rank LIMIT 10";
                let mut statement = plain.prepare_cached(sql).unwrap();
                let rows: Vec<i64> = statement.query_map([word], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
                assert_eq!(rows.len(), usize::try_from(matches.min(10)).unwrap());
            })
        });
        println!("search, {name} word ({matches} matches): {}   (plain FTS5, ten rowids by rank: {})", ms(searching), ms(bare));
    }
}

/// A database as OpenClaw 2026.9 has it.
fn large() -> World {
    let mut world = World::new(Layout::September);
    let mut random = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        // Zipf: the n-th word is as frequent as 1/n.
        let uniform = f64::from(u32::try_from(random >> 32).unwrap()) / f64::from(u32::MAX);
        format!("word{:.0}", 8_000_f64.powf(uniform).floor())
    };
    world.app.execute_batch("BEGIN").unwrap();
    for s in 0..SESSIONS {
        let session = format!("session-{s}");
        world.session(&session, &format!("agent:main:dashboard:{s}"), None);
        let mut parent: Option<String> = None;
        for e in 0..EVENTS {
            let id = format!("{s}-{e}");
            let text: Vec<String> = (0..90).map(|_| next()).collect();
            let mut event: serde_json::Value = serde_json::from_str(&support::message(&id, parent.as_deref(), &text.join(" "))).unwrap();
            if e % 4 == 3 {
                event["message"]["role"] = "toolResult".into();
            }
            world.append(&session, &event.to_string());
            parent = Some(id);
        }
    }
    world.app.execute_batch("COMMIT; PRAGMA wal_checkpoint(truncate)").unwrap();
    world
}

/// The searchable texts of a database.
fn texts(path: &std::path::Path) -> Vec<String> {
    let conn = Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    session_search::register(&conn).unwrap();
    let sql = "SELECT transcript_text(coalesce(event_json, event_zstd)) AS text FROM transcript_events WHERE text IS NOT NULL";
    let mut statement = conn.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

fn insert(conn: &Connection, texts: &[String]) {
    let create =
        "BEGIN; CREATE VIRTUAL TABLE plain USING fts5(text, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2')";
    conn.execute_batch(create).unwrap();
    let mut statement = conn.prepare("INSERT INTO plain(text) VALUES(?1)").unwrap();
    for text in texts {
        statement.execute([text]).unwrap();
    }
    conn.execute_batch("COMMIT").unwrap();
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn median(times: usize, mut measure: impl FnMut() -> Duration) -> Duration {
    let mut all: Vec<Duration> = (0..times).map(|_| measure()).collect();
    all.sort_unstable();
    all[times / 2]
}

fn ms(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}
