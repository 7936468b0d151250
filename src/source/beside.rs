//! A host database in another file than the index, on an inner connection that can only read.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rusqlite::functions::FunctionFlags;
use rusqlite::{Connection, OpenFlags};

use super::event::ContentStamp;
use super::snapshot::{Kind, Snapshot};
use super::{Adapter, changed_adapter, reading, shown};
use crate::error::{Error, Result};
use crate::schema::schema_version;

/// How long a read of the host may wait for a lock (WAL readers wait only while the log is being recovered).
const BUSY_TIMEOUT: Duration = Duration::from_secs(1);

/// How many files this process has opened.
static OPENED: AtomicU64 = AtomicU64::new(0);

/// Which file a path led to when it was opened: device and inode.
type FileId = (u64, u64);

pub(crate) struct Beside {
    connection: Connection,
    pub(super) path: PathBuf,
    file: Option<FileId>,
    opened: u64,
    pub(super) adapter: &'static Adapter,
    schema_version: i64,
}

impl Beside {
    /// Opens the database at `path` for reading only and finds out what it is.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let opening = |e| Error::sqlite("opening the host database", e);
        let path = &std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        if !path.is_file() {
            return Err(Error::state(format!("the host database {} is not there any more", shown(path))));
        }
        let file = file_id(path);
        let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(opening)?;
        connection.busy_timeout(BUSY_TIMEOUT).map_err(opening)?;
        let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DIRECTONLY;
        connection.create_aggregate_function("session_search_stamp", 3, flags, ContentStamp).map_err(opening)?;
        let adapter = Adapter::find(&connection)?.ok_or_else(|| {
            Error::state(format!("session_search_open: no transcripts in this database: expected the tables of {}", Adapter::known()))
        })?;
        let schema_version = schema_version(&connection)?;
        let opened = OPENED.fetch_add(1, Ordering::Relaxed);
        Ok(Self { connection, path: path.to_owned(), file, opened, adapter, schema_version })
    }

    /// Runs `read` on one state of the host. A file that took the place of the opened one is opened first.
    pub(super) fn snapshot<T>(&mut self, read: impl FnOnce(&Snapshot<'_>) -> Result<T>) -> Result<T> {
        if self.file != file_id(&self.path) {
            *self = Self::open(&self.path)?;
        }
        if !self.connection.is_autocommit() {
            self.connection.execute_batch("ROLLBACK").map_err(reading)?; // a panic left the last one open
        }
        self.connection.execute_batch("BEGIN").map_err(reading)?;
        let done = self.refresh_adapter().and_then(|()| {
            let kind = Kind::Beside { opened: self.opened };
            read(&Snapshot { connection: &self.connection, path: &self.path, adapter: self.adapter, kind })
        });
        let ended = self.connection.execute_batch("ROLLBACK").map_err(reading);
        done.and_then(|value| ended.map(|()| value))
    }

    fn refresh_adapter(&mut self) -> Result<()> {
        let now = schema_version(&self.connection)?;
        if now != self.schema_version {
            self.adapter = changed_adapter(&self.connection)?;
            self.schema_version = now;
        }
        Ok(())
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
