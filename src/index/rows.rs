//! Reading the rows of the index.

use super::transcript_and_seq;
use crate::error::{Error, Result};
use crate::handle::Handle;

/// A message in the index.
pub(crate) struct MessageRow {
    pub(crate) timestamp: i64,
    pub(crate) message_id: String,
    pub(crate) role: String,
    pub(crate) source_hash: i64,
}

/// Asks once for each run of rows of one transcript: FTS5 gives rows by rowid.
fn by_rowid(is_wanted: impl Fn(i64) -> bool) -> impl FnMut(i64) -> bool {
    let mut last = None;
    move |rowid| {
        let (transcript, _) = transcript_and_seq(rowid);
        match last {
            Some((known, wanted)) if known == transcript => wanted,
            _ => last.insert((transcript, is_wanted(transcript))).1,
        }
    }
}

/// Calls `each` with rowid and bm25 of every message of the wanted transcripts that matches. `statistics` are those of
/// `session_search_bm25`.
pub(crate) fn matches(
    handle: &Handle,
    is_wanted: impl Fn(i64) -> bool,
    expression: &str,
    statistics: &[u8],
    mut each: impl FnMut(i64, f64),
) -> Result<()> {
    let sql = "SELECT rowid, session_search_bm25(session_search_fts, ?2) FROM main.session_search_fts WHERE session_search_fts MATCH ?1";
    let mut is_wanted = by_rowid(is_wanted);
    let mut statement = handle.connection().prepare_cached(sql).map_err(searching)?;
    let mut rows = statement.query(rusqlite::params![expression, statistics]).map_err(searching)?;
    while let Some(row) = rows.next().map_err(searching)? {
        let rowid = row.get(0).map_err(searching)?;
        if is_wanted(rowid) {
            each(rowid, row.get(1).map_err(searching)?);
        }
    }
    Ok(())
}

/// How many messages of the wanted transcripts match.
pub(crate) fn count_matches(handle: &Handle, is_wanted: impl Fn(i64) -> bool, expression: &str) -> Result<i64> {
    let sql = "SELECT rowid FROM main.session_search_fts WHERE session_search_fts MATCH ?1";
    let mut statement = handle.connection().prepare_cached(sql).map_err(searching)?;
    let mut rows = statement.query([expression]).map_err(searching)?;
    let mut is_wanted = by_rowid(is_wanted);
    let mut count = 0;
    while let Some(row) = rows.next().map_err(searching)? {
        count += i64::from(is_wanted(row.get(0).map_err(searching)?));
    }
    Ok(count)
}

/// The message of a rowid.
pub(crate) fn message(handle: &Handle, rowid: i64) -> Result<Option<MessageRow>> {
    let sql = "SELECT timestamp, message_id, role, source_hash FROM main.session_search_message WHERE id = ?1";
    let mut statement = handle.connection().prepare_cached(sql).map_err(searching)?;
    let mut rows = statement.query([rowid]).map_err(searching)?;
    let Some(row) = rows.next().map_err(searching)? else { return Ok(None) };
    let read = || Ok(MessageRow { timestamp: row.get(0)?, message_id: row.get(1)?, role: row.get(2)?, source_hash: row.get(3)? });
    read().map(Some).map_err(searching)
}

/// How many messages there are in the index, and how many events could not be read.
pub(crate) fn counts(handle: &Handle) -> Result<(i64, i64)> {
    let sql = "SELECT ifnull(sum(messages), 0), ifnull(sum(unreadable), 0) FROM main.session_search_transcript";
    let counted = handle.connection().prepare_cached(sql).and_then(|mut s| s.query_row([], |row| Ok((row.get(0)?, row.get(1)?))));
    counted.map_err(|e| Error::index("counting what is indexed", e))
}

fn searching(error: rusqlite::Error) -> Error {
    Error::index("searching the index", error)
}
