//! Transactions of ours inside whatever the caller is doing. Left without being finished, also by a panic, they undo themselves.
//!
//! SQLite refuses a savepoint while a write statement runs: what a trigger calls ([`Guest`] alone) works without one.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::handle::{Handle, TransactionState};

/// Begins reading, then wants to write (no row: there is no such key).
const UPGRADE: &str = "BEGIN; SELECT 1 FROM main.sqlite_schema LIMIT 1; UPDATE main.session_search_meta SET value = value WHERE key = ''";
const PAUSE: Duration = Duration::from_millis(2);

/// An open write transaction: one of our own where the caller has none, else a savepoint in the caller's.
pub(crate) struct Writing<'h> {
    handle: &'h Handle,
    end: &'static str,
    undo: &'static str,
    /// The caller's `last_insert_rowid()`, which is given back at the end.
    last_insert_rowid: i64,
    open: bool,
}

impl<'h> Writing<'h> {
    /// Opens it, waiting for the write lock as long as the caller's busy handler says.
    pub(crate) fn begin(handle: &'h Handle) -> Result<Self> {
        Self::open(handle, "BEGIN IMMEDIATE")
    }

    /// The same, but waits no longer than `time`, whatever the busy handler says: SQLite does not call it where a reader wants to write.
    pub(crate) fn begin_within(handle: &'h Handle, time: Duration) -> Result<Self> {
        let until = Instant::now() + time;
        loop {
            match Self::open(handle, UPGRADE) {
                Err(error) if error.is_busy() && Instant::now() < until => sleep(PAUSE),
                opened => return opened,
            }
        }
    }

    fn open(handle: &'h Handle, begin: &str) -> Result<Self> {
        let conn = handle.connection();
        let (begin, end, undo) = if conn.is_autocommit() {
            if handle.transaction_state() == TransactionState::Write {
                // A COMMIT would fail here and leave the caller in an open transaction.
                return Err(from_inside());
            }
            (begin, "COMMIT", "ROLLBACK")
        } else {
            ("SAVEPOINT session_search", "RELEASE session_search", "ROLLBACK TO session_search; RELEASE session_search")
        };
        // Undone from here on, also if only a part of `begin` goes well.
        let this = Self { handle, end, undo, last_insert_rowid: conn.last_insert_rowid(), open: true };
        conn.execute_batch(begin).map_err(|error| {
            let inside = error.to_string().contains("SQL statements in progress");
            if inside { from_inside() } else { writing_index(error) }
        })?;
        Ok(this)
    }

    /// Keeps what was written.
    pub(crate) fn commit(mut self) -> Result<()> {
        self.handle.connection().execute_batch(self.end).map_err(writing_index)?;
        self.open = false;
        Ok(())
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        if self.open {
            // Fails where SQLite has rolled back by itself; the error that led here is the one that counts.
            let _ = self.handle.connection().execute_batch(self.undo);
        }
        self.handle.set_last_insert_rowid(self.last_insert_rowid);
    }
}

/// Where we write inside the caller's transaction or statement. After some errors (an interrupt, a full disk) SQLite rolls all of it back: that
/// must not go unsaid, or the caller would lose rows that it was told are stored.
pub(crate) struct Guest<'h> {
    handle: &'h Handle,
    in_transaction: bool,
    writing: bool,
}

impl<'h> Guest<'h> {
    pub(crate) fn of(handle: &'h Handle) -> Self {
        let writing = handle.transaction_state() == TransactionState::Write;
        Self { handle, in_transaction: !handle.connection().is_autocommit(), writing }
    }

    /// Whether the caller's transaction is gone. To be asked directly after an error, before anything else runs.
    pub(crate) fn is_lost(&self) -> bool {
        let in_transaction = !self.handle.connection().is_autocommit();
        let writing = self.handle.transaction_state() == TransactionState::Write;
        self.in_transaction && !in_transaction || self.writing && !writing
    }

    /// The error, if it may be put aside: the caller's transaction is still there, or there was none.
    pub(crate) fn may_go_on(&self, error: Error) -> Result<Error> {
        if self.is_lost() { Err(error.lost_transaction()) } else { Ok(error) }
    }
}

/// Runs `work` on one state of the index, so that what it reads belongs together.
pub(crate) fn reading<T>(handle: &Handle, work: impl FnOnce() -> Result<T>) -> Result<T> {
    struct Reading<'h>(&'h Handle);
    impl Drop for Reading<'_> {
        fn drop(&mut self) {
            // Nothing was written, so this ends whatever state the transaction is in.
            let conn = self.0.connection();
            if conn.execute_batch("RELEASE session_search_read").is_err() {
                let _ = conn.execute_batch("ROLLBACK TO session_search_read; RELEASE session_search_read");
            }
        }
    }
    let conn = handle.connection();
    if !conn.is_autocommit() || handle.transaction_state() == TransactionState::Write {
        return work(); // the caller's transaction already holds one state
    }
    conn.execute_batch("SAVEPOINT session_search_read").map_err(|e| Error::index("reading the index", e))?;
    let _reading = Reading(handle);
    work()
}

fn from_inside() -> Error {
    Error::state("the index cannot be written from inside a statement that writes: use a plain SELECT")
}

pub(crate) fn writing_index(error: rusqlite::Error) -> Error {
    Error::index("writing the index", error)
}
