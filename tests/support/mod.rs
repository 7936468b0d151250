//! What the integration tests share: the OpenClaw databases of tests/fixtures, an index connection, and a search.
#![allow(dead_code, unreachable_pub, reason = "every test file uses its own part")]

pub mod world;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, functions::FunctionFlags};
use serde_json::Value;

/// A folder that goes away with the test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("session-search-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A file of tests/fixtures or tests/data, decompressed (once).
pub fn decompressed(path: &str) -> Vec<u8> {
    static KNOWN: Mutex<BTreeMap<String, Vec<u8>>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(path.to_owned()).or_insert_with(|| decompress(path)).clone()
}

fn decompress(path: &str) -> Vec<u8> {
    let packed = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(path)).unwrap();
    let mut bytes = Vec::new();
    ruzstd::decoding::StreamingDecoder::new(packed.as_slice()).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

/// The fixture `name`, unpacked into a folder of its own: where OpenClaw's database would stand.
pub struct Host {
    pub folder: Folder,
    pub path: PathBuf,
}

impl Host {
    pub fn fixture(name: &str) -> Self {
        let folder = Folder::new();
        let path = folder.path("openclaw-agent.sqlite");
        fs::write(&path, decompressed(&format!("fixtures/{name}.sqlite.zst"))).unwrap();
        Self { folder, path }
    }

    /// An empty database of the standalone layout.
    pub fn standalone() -> Self {
        let folder = Folder::new();
        let path = folder.path("standalone.sqlite");
        let conn = Connection::open(&path).unwrap();
        conn.execute_batch("PRAGMA journal_mode = wal").unwrap();
        conn.execute_batch(include_str!("../../sql/standalone.sql")).unwrap();
        Self { folder, path }
    }

    /// A connection as the host's own application has it.
    pub fn writer(&self) -> Connection {
        let conn = Connection::open(&self.path).unwrap();
        conn.execute_batch("PRAGMA foreign_keys = on; PRAGMA synchronous = off").unwrap();
        conn.busy_timeout(std::time::Duration::from_secs(5)).unwrap();
        // The schema's checks use functions that OpenClaw registers or that a newer SQLite has.
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
        conn.create_scalar_function("openclaw_transcript_payload_decode", 1, flags, |_| Ok(rusqlite::types::Value::Null)).unwrap();
        let octet_length = |value: rusqlite::types::ValueRef<'_>| value.as_bytes_or_null().ok().flatten().map(<[u8]>::len);
        if rusqlite::version_number() < 3_043_000 {
            conn.create_scalar_function("octet_length", 1, flags, move |context| {
                Ok(octet_length(context.get_raw(0)).and_then(|length| i64::try_from(length).ok()))
            })
            .unwrap();
        }
        conn
    }

    /// The same with the extension.
    pub fn with_extension(&self) -> Connection {
        let conn = self.writer();
        session_search::register(&conn).unwrap();
        conn
    }

    /// A connection to the index file beside it, with the host opened and indexed.
    pub fn index(&self) -> Connection {
        let conn = self.index_unopened("session-search.sqlite");
        open(&conn, &self.path);
        reconcile(&conn);
        conn
    }

    pub fn index_unopened(&self, name: &str) -> Connection {
        let conn = Connection::open(self.folder.path(name)).unwrap();
        conn.execute_batch("PRAGMA synchronous = off").unwrap();
        session_search::register(&conn).unwrap();
        conn
    }
}

pub fn open(conn: &Connection, path: &Path) -> String {
    conn.query_row("SELECT session_search_open(?1)", [path.to_str().unwrap()], |row| row.get(0)).unwrap()
}

pub fn reconcile(conn: &Connection) {
    let remaining: i64 = conn.query_row("SELECT session_search_reconcile()", [], |row| row.get(0)).unwrap();
    assert_eq!(remaining, 0, "reconcile without a budget leaves nothing");
}

/// A caller and policy that see all sessions of agent `main`.
pub const EVERYTHING: (&str, &str) = ("agent:main:main", r#"{"limit":25,"policy":{"visibility":"agent"}}"#);

/// The answer of `sessions_search_json` as [`EVERYTHING`] sees it.
pub fn search(conn: &Connection, query: &str) -> Value {
    search_as(conn, query, EVERYTHING.0, EVERYTHING.1).unwrap()
}

pub fn search_as(conn: &Connection, query: &str, caller: &str, options: &str) -> rusqlite::Result<Value> {
    let json: String = conn.query_row("SELECT sessions_search_json(?1, ?2, ?3)", [query, caller, options], |row| row.get(0))?;
    Ok(serde_json::from_str(&json).unwrap())
}

/// The ids of the messages found, sorted.
pub fn ids(answer: &Value) -> Vec<String> {
    let mut ids: Vec<String> =
        answer["results"].as_array().unwrap().iter().map(|hit| hit["messageId"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

/// The answer to a query. The very next search is right: it may only say `indexing` when it has used up the time that it has for indexing
/// on its way (50 ms; on a machine that stalls), and then the one after it counts.
pub fn settled(conn: &Connection, query: &str) -> Value {
    for _ in 0..50 {
        let start = Instant::now();
        let answer = search(conn, query);
        if answer["indexing"] != true {
            return answer;
        }
        assert!(start.elapsed() >= Duration::from_millis(50), "it says `indexing` although it had the time");
    }
    panic!("searches alone get nowhere");
}

/// The ids of the messages that a query finds, sorted.
pub fn found(conn: &Connection, query: &str) -> Vec<String> {
    ids(&settled(conn, query))
}

/// One value of `session_search_status`.
pub fn status(conn: &Connection, column: &str) -> rusqlite::types::Value {
    conn.query_row(&format!("SELECT {column} FROM session_search_status"), [], |row| row.get(0)).unwrap()
}

/// A user message as OpenClaw writes it.
pub fn message(id: &str, parent: Option<&str>, text: &str) -> String {
    let event = serde_json::json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-07-10T08:00:00.000Z",
        "message": {"role": "user", "content": [{"type": "text", "text": text}]}});
    event.to_string()
}

/// A leaf control: the conversation goes on from `target`.
pub fn leaf(id: &str, parent: &str, target: &str) -> String {
    let event =
        serde_json::json!({"type": "leaf", "id": id, "parentId": parent, "timestamp": "2026-07-10T08:00:00.000Z", "targetId": target});
    event.to_string()
}
