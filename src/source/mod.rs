//! Where transcripts come from: a host database, read through an inner connection of our own that can only read.
//!
//! Everything is read inside a [`Snapshot`], a short read transaction, so that the list of sessions, the events and the stamps
//! of one search belong together. The host is never written and never locked for writing. Host rowids are never used.
//!
//! Tested by `tests/beside.rs` and, on every host program, by `tests/loadable`.

mod adapter;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rusqlite::functions::{Aggregate, Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row};
use twox_hash::XxHash64;

use crate::error::{Error, Result};
use crate::event::{self, Event, Message, Stored};

pub(crate) use adapter::Adapter;

/// How long a read of the host may wait for a lock (WAL readers wait only while the log is being recovered).
const BUSY_TIMEOUT: Duration = Duration::from_secs(1);

/// One transcript of the host and what visibility needs to know of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "what hosts call them")]
pub(crate) struct Session {
    pub(crate) session_id: String,
    pub(crate) session_key: String,
    pub(crate) agent_id: Option<String>,
    pub(crate) parent_session_key: Option<String>,
    pub(crate) spawned_by: Option<String>,
    pub(crate) owner_session_key: Option<String>,
    /// A rewind replaced this transcript by another one of the same key.
    pub(crate) superseded: bool,
    /// How many events it has, and the highest seq among them.
    pub(crate) events: i64,
    last_seq: i64,
    /// What the host says about its last change: equal texts, and equal numbers above, mean equal rows.
    changed: String,
    /// Two states of one generation differ in appended events only. `None` where the host does not promise that.
    generation: Option<String>,
    /// The transcript of the same session that this one came after.
    pub(crate) previous_session_id: Option<String>,
    /// The session stands on this transcript.
    pub(crate) current: bool,
}

impl Session {
    /// Changes whenever the transcript's rows do.
    pub(crate) fn stamp(&self) -> String {
        format!("{}:{}:{}:{}", self.changed, self.last_seq, self.events, self.generation.as_deref().unwrap_or_default())
    }

    /// Whether the transcript is that of `before` with nothing but events appended.
    pub(crate) fn continues(&self, before: &Self) -> bool {
        let appended = self.last_seq.saturating_sub(before.last_seq);
        self.session_id == before.session_id
            && self.generation.is_some()
            && self.generation == before.generation
            && appended >= 0
            && self.events.saturating_sub(before.events) == appended
    }
}

/// A host database.
pub(crate) struct Source {
    connection: Connection,
    path: PathBuf,
    file: Option<FileId>,
    opened: u64,
    adapter: &'static Adapter,
    schema_version: i64,
}

/// Which state of which file: SQLite's `data_version` counts only within one open file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostVersion {
    /// Counts the files opened by this process.
    file: u64,
    data: i64,
}

/// The next [`HostVersion::file`].
static OPENED: AtomicU64 = AtomicU64::new(0);

/// Which file a path led to when it was opened: device and inode.
type FileId = (u64, u64);

impl Source {
    /// Opens the database at `path` for reading only and finds out what it is.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let opening = |e| Error::sqlite("opening the host database", e);
        let path = &std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        if !path.is_file() {
            return Err(Error::state(format!("the host database {} is not there any more", shown(path))));
        }
        let file = file_id(path);
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(opening)?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(opening)?;
        connection
            .create_aggregate_function(
                "session_search_stamp",
                3,
                FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY,
                ContentStamp,
            )
            .map_err(opening)?;
        let adapter = Adapter::find(&connection)?.ok_or_else(|| {
            Error::state(format!("session_search_open: no transcripts in this database: expected the tables of {}", Adapter::known()))
        })?;
        let schema_version = schema_version(&connection)?;
        let opened = OPENED.fetch_add(1, Ordering::Relaxed);
        Ok(Self { connection, path: path.to_owned(), file, opened, adapter, schema_version })
    }

    /// The name of the table layout.
    pub(crate) fn adapter(&self) -> &'static str {
        self.adapter.name
    }

    /// The host database's file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `read` on one state of the host. A file that took the place of the opened one is opened first, and a host whose
    /// tables have changed is looked at again.
    pub(crate) fn snapshot<T>(&mut self, read: impl FnOnce(&Snapshot<'_>) -> Result<T>) -> Result<T> {
        if self.file != file_id(&self.path) {
            *self = Self::open(&self.path)?;
        }
        if !self.connection.is_autocommit() {
            self.connection.execute_batch("ROLLBACK").map_err(reading)?; // a panic left the last one open
        }
        self.connection.execute_batch("BEGIN").map_err(reading)?;
        let done = self
            .refresh_adapter()
            .and_then(|()| read(&Snapshot { connection: &self.connection, path: &self.path, adapter: self.adapter, opened: self.opened }));
        let ended = self.connection.execute_batch("ROLLBACK").map_err(reading);
        done.and_then(|value| ended.map(|()| value))
    }

    fn refresh_adapter(&mut self) -> Result<()> {
        let now = schema_version(&self.connection)?;
        if now != self.schema_version {
            self.adapter = Adapter::find(&self.connection)?.ok_or_else(|| {
                Error::state(format!(
                    "the host database has changed and holds no transcripts any more: expected the tables of {}",
                    Adapter::known()
                ))
            })?;
            self.schema_version = now;
        }
        Ok(())
    }
}

/// One state of the host database.
pub(crate) struct Snapshot<'s> {
    connection: &'s Connection,
    path: &'s Path,
    adapter: &'static Adapter,
    opened: u64,
}

impl Snapshot<'_> {
    /// The host database's file.
    pub(crate) fn path(&self) -> &Path {
        self.path
    }

    /// Equal versions: nobody has changed the database in between.
    pub(crate) fn version(&self) -> Result<HostVersion> {
        let data = self.connection.prepare_cached("PRAGMA data_version").and_then(|mut s| s.query_row([], |row| row.get(0)));
        Ok(HostVersion { file: self.opened, data: data.map_err(reading)? })
    }

    /// What another database under the same path would not give.
    pub(crate) fn identity(&self) -> Result<String> {
        let mut statement = self.connection.prepare_cached(self.adapter.identity).map_err(reading)?;
        let mut rows = statement.query([]).map_err(reading)?;
        match rows.next().map_err(reading)? {
            Some(row) => Ok(text(row, 0)?.unwrap_or_default()),
            None => Ok(String::new()),
        }
    }

    /// All transcripts.
    pub(crate) fn sessions(&self) -> Result<Vec<Session>> {
        let mut statement = self.connection.prepare_cached(self.adapter.sessions).map_err(reading)?;
        let mut rows = statement.query([]).map_err(reading)?;
        let mut all = Vec::new();
        while let Some(row) = rows.next().map_err(reading)? {
            // A row without an id or a key can be named by nobody and is visible to nobody.
            let (Some(session_id), Some(session_key)) = (text(row, 0)?, text(row, 1)?) else { continue };
            all.push(Session {
                session_id,
                session_key,
                agent_id: text(row, 2)?,
                parent_session_key: text(row, 3)?,
                spawned_by: text(row, 4)?,
                owner_session_key: text(row, 5)?,
                superseded: row.get(6).map_err(reading)?,
                events: row.get(7).map_err(reading)?,
                last_seq: row.get(8).unwrap_or(-1), // NULL without events; a host without STRICT tables may hold anything
                changed: text(row, 9)?.unwrap_or_default(),
                generation: text(row, 10)?,
                previous_session_id: text(row, 11)?,
                current: row.get(12).map_err(reading)?,
            });
        }
        Ok(all)
    }

    /// Calls `each` with the events of a transcript from the seq `from` on, in order, until it says false. A seq that is no integer is -1.
    pub(crate) fn events(&self, session_id: &str, from: i64, each: impl FnMut(i64, StoredEvent<'_>) -> bool) -> Result<()> {
        self.events_between(session_id, from, i64::MAX, each)
    }

    /// The message of one event, if the event is still the one with this hash.
    pub(crate) fn message(&self, session_id: &str, seq: i64, hash: i64) -> Result<Option<(Message, i64)>> {
        let mut found = None;
        self.events_between(session_id, seq, seq, |_, stored| {
            if stored.hash() == hash {
                found = stored.read().and_then(|event| event.message).map(|message| (message, stored.created_at));
            }
            true
        })?;
        Ok(found)
    }

    /// The hash of one event, if it is there.
    pub(crate) fn event_hash(&self, session_id: &str, seq: i64) -> Result<Option<i64>> {
        let mut hash = None;
        self.events_between(session_id, seq, seq, |_, stored| {
            hash = Some(stored.hash());
            true
        })?;
        Ok(hash)
    }

    /// Whether a transcript has an event of this id, where the host keeps track of that.
    pub(crate) fn has_event(&self, session_id: &str, event_id: &str) -> Result<bool> {
        let Some(sql) = self.adapter.has_event else { return Ok(false) };
        self.connection.prepare_cached(sql).and_then(|mut s| s.exists([session_id, event_id])).map_err(reading)
    }

    fn events_between(&self, session_id: &str, from: i64, to: i64, mut each: impl FnMut(i64, StoredEvent<'_>) -> bool) -> Result<()> {
        let mut statement = self.connection.prepare_cached(self.adapter.events).map_err(reading)?;
        let mut rows = statement.query(rusqlite::params![session_id, from, to]).map_err(reading)?;
        while let Some(row) = rows.next().map_err(reading)? {
            let event = StoredEvent::new(row.get_ref(1).map_err(reading)?, row.get(2).unwrap_or(0));
            if !each(row.get(0).unwrap_or(-1), event) {
                break;
            }
        }
        Ok(())
    }
}

/// One event as the host keeps it.
pub(crate) struct StoredEvent<'r> {
    value: ValueRef<'r>,
    /// When the host stored it, in milliseconds since 1970.
    pub(crate) created_at: i64,
}

impl<'r> StoredEvent<'r> {
    /// An event from a column or argument.
    pub(crate) fn new(value: ValueRef<'r>, created_at: i64) -> Self {
        Self { value, created_at }
    }

    /// The event, if it can be read: a text is JSON, a blob is one zstd frame of it.
    pub(crate) fn read(&self) -> Option<Event> {
        let stored = match self.value {
            ValueRef::Text(json) => Stored::Json(json),
            ValueRef::Blob(frame) => Stored::Zstd(frame),
            _ => return None,
        };
        event::parse(&stored.json().ok()?).ok()
    }

    /// XXH64 of the event's bytes, as SQLite keeps integers.
    pub(crate) fn hash(&self) -> i64 {
        match self.value {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => XxHash64::oneshot(0, bytes).cast_signed(),
            _ => 0,
        }
    }
}

/// `session_search_stamp(seq, event, created_at)`: a stamp from the content of a transcript, for hosts that keep none.
/// The order of the rows does not matter.
struct ContentStamp;

impl Aggregate<(u64, u64), String> for ContentStamp {
    fn init(&self, _: &mut Context<'_>) -> rusqlite::Result<(u64, u64)> {
        Ok((0, 0))
    }

    fn step(&self, context: &mut Context<'_>, (count, sum): &mut (u64, u64)) -> rusqlite::Result<()> {
        let hash = |i| StoredEvent::new(context.get_raw(i), 0).hash();
        let number = |i| context.get(i).unwrap_or_else(|_| hash(i));
        let mut row = [0; 24];
        for (bytes, part) in row.chunks_exact_mut(8).zip([number(0), hash(1), number(2)]) {
            bytes.copy_from_slice(&part.to_le_bytes());
        }
        *count += 1;
        *sum = sum.wrapping_add(XxHash64::oneshot(0, &row));
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, state: Option<(u64, u64)>) -> rusqlite::Result<String> {
        let (count, sum) = state.unwrap_or_default();
        Ok(format!("{count}:{sum:016x}"))
    }
}

/// A path as an error shows it: its end, where a mistake is, of at most 200 characters.
pub(crate) fn shown(path: &Path) -> String {
    let text = path.display().to_string();
    match text.char_indices().rev().nth(199) {
        Some((start, _)) if start > 0 => format!("…{}", text.get(start..).unwrap_or_default()),
        _ => text,
    }
}

fn reading(error: rusqlite::Error) -> Error {
    Error::sqlite("reading the host database", error)
}

fn schema_version(conn: &Connection) -> Result<i64> {
    conn.prepare_cached("PRAGMA schema_version").and_then(|mut s| s.query_row([], |row| row.get(0))).map_err(reading)
}

/// A text column; bytes that are not UTF-8 become U+FFFD, anything but text counts as absent.
fn text(row: &Row<'_>, column: usize) -> Result<Option<String>> {
    match row.get_ref(column).map_err(reading)? {
        ValueRef::Text(bytes) => Ok(Some(String::from_utf8_lossy(bytes).into_owned())),
        _ => Ok(None),
    }
}

#[cfg(unix)]
fn file_id(path: &Path) -> Option<FileId> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|m| (m.dev(), m.ino()))
}

/// Where files have no such number, a replaced file is noticed by its identity at the next `session_search_open`.
#[cfg(not(unix))]
fn file_id(_: &Path) -> Option<FileId> {
    None
}
