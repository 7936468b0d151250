//! Transactions of ours inside whatever the caller is doing.

use crate::error::{Error, Result};
use crate::handle::{Handle, TransactionState};

/// Runs `work` in a write transaction: one of our own where the caller has none, else a savepoint in the caller's.
/// On error nothing of `work` remains.
pub(super) fn writing<T>(handle: &Handle, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let conn = handle.connection();
    let (begin, end, undo) = if conn.is_autocommit() {
        if handle.transaction_state() == TransactionState::Write {
            // A COMMIT would fail here and leave the caller in an open transaction.
            return Err(Error::state("the index cannot be written from inside a statement that writes: use a plain SELECT"));
        }
        ("BEGIN IMMEDIATE", "COMMIT", "ROLLBACK")
    } else {
        ("SAVEPOINT session_search", "RELEASE session_search", "ROLLBACK TO session_search; RELEASE session_search")
    };
    let run = |sql| conn.execute_batch(sql).map_err(|e| Error::sqlite("writing the index", e));
    handle.keeping_last_insert_rowid(|| {
        run(begin)?;
        let done = work().and_then(|value| run(end).map(|()| value));
        if done.is_err() {
            // May fail where SQLite has rolled back by itself; the first error is the one that counts.
            let _ = run(undo);
        }
        done
    })
}

/// Runs `work` on one state of the index, so that what it reads belongs together.
pub(crate) fn reading<T>(handle: &Handle, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let conn = handle.connection();
    if !conn.is_autocommit() || handle.transaction_state() == TransactionState::Write {
        return work(); // the caller's transaction already holds one state
    }
    let run = |sql| conn.execute_batch(sql).map_err(|e| Error::sqlite("reading the index", e));
    run("SAVEPOINT session_search_read")?;
    let done = work();
    let ended = run("RELEASE session_search_read");
    done.and_then(|value| ended.map(|()| value))
}
