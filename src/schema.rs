//! The index tables: made when they are missing, made again when they belong to another host or another format.
//!
//! The index is a cache of the transcripts, so making it again loses nothing but time.

use rusqlite::{Connection, OptionalExtension};

use crate::error::{Error, Result};
use crate::{event, redact, tokenizer};

const CREATE_TABLES: &str = include_str!("../sql/index.sql");
const CREATE_FTS: &str = include_str!("../sql/fts_plain.sql");
const CREATE_FTS_CONTENTLESS: &str = include_str!("../sql/fts_contentless.sql");
const DROP: &str = include_str!("../sql/drop_index.sql");

/// The version of the tables themselves.
pub(crate) const SCHEMA_VERSION: u32 = 1;

/// The first SQLite whose FTS5 can delete from a contentless table.
const CONTENTLESS_DELETE: i32 = 3_043_000;

/// What decides the content of an index. Newer versions of any part make another index.
const FORMAT: [u32; 4] = [SCHEMA_VERSION, tokenizer::VERSION, event::VERSION, redact::VERSION];

/// The versions that decide the content of an index: tables, tokenizer, extractor, redaction rules.
pub(crate) fn format_text() -> String {
    FORMAT.map(|part| part.to_string()).join(".")
}

/// Which state of the index. Equal versions: neither its tables nor their rows have changed in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexVersion {
    /// The main database's `schema_version`.
    schema: i64,
    /// A random token that every transaction of ours replaces.
    pub(crate) state: String,
}

/// The version of the index in the main database of `conn`. `None` if there is none.
pub(crate) fn version(conn: &Connection) -> Result<Option<IndexVersion>> {
    let schema = conn.prepare_cached("PRAGMA main.schema_version").and_then(|mut s| s.query_row([], |row| row.get(0))).map_err(looking)?;
    let sql = "SELECT value FROM main.session_search_meta WHERE key = 'state'";
    let state = match conn.prepare_cached(sql).and_then(|mut s| s.query_row([], |row| row.get(0)).optional()) {
        Ok(state) => state,
        Err(_) if !has_tables(conn, &["session_search_meta"])? => None,
        Err(error) => return Err(looking(error)),
    };
    Ok(state.map(|state| IndexVersion { schema, state }))
}

/// Whether the main database of `conn` holds a whole index of this format for the host `identity`. Writes nothing.
///
/// # Errors
/// When the index was made by a newer version of this library or needs a newer SQLite.
pub(crate) fn is_ready(conn: &Connection, identity: &str) -> Result<bool> {
    if !has_tables(conn, &["session_search_meta"])? {
        return Ok(false);
    }
    let sql =
        "SELECT f.value, i.value FROM main.session_search_meta f, main.session_search_meta i WHERE f.key = 'format' AND i.key = 'identity'";
    let stored = conn.query_row(sql, [], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))).optional().map_err(looking)?;
    let Some((format, held)) = stored else { return Ok(false) };
    refuse_newer(&format)?;
    refuse_contentless(conn)?;
    Ok(format == format_text() && held == identity && has_tables(conn, &TABLES)?)
}

/// Everything that has to be there, FTS5's own tables included.
const TABLES: [&str; 8] = [
    "session_search_meta",
    "session_search_transcript",
    "session_search_message",
    "session_search_fts",
    "session_search_fts_config",
    "session_search_fts_data",
    "session_search_fts_docsize",
    "session_search_fts_idx",
];

fn has_tables(conn: &Connection, tables: &[&str]) -> Result<bool> {
    let mut has = conn.prepare_cached("SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = ?1").map_err(looking)?;
    for table in tables {
        if !has.exists([table]).map_err(looking)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Makes an empty index for the host `identity` in the main database of `conn`, in the place of any other.
/// The caller has opened a transaction or savepoint.
pub(crate) fn prepare(conn: &Connection, identity: &str) -> Result<()> {
    let preparing = |e| Error::index("preparing the index", e);
    conn.execute_batch(DROP).map_err(preparing)?;
    conn.execute_batch(CREATE_TABLES).map_err(preparing)?;
    let fts = if rusqlite::version_number() >= CONTENTLESS_DELETE { CREATE_FTS_CONTENTLESS } else { CREATE_FTS };
    conn.execute_batch(fts).map_err(preparing)?;
    let meta = "INSERT INTO main.session_search_meta(key, value) VALUES('format', ?1), ('identity', ?2), ('state', hex(randomblob(16)))";
    execute(conn, meta, [&format_text(), identity]).map_err(preparing)
}

/// Runs a statement to its end. Not as one that has no rows: with `PRAGMA count_changes` every statement that writes has one.
pub(crate) fn execute(conn: &Connection, sql: &str, params: impl rusqlite::Params) -> rusqlite::Result<()> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    while rows.next()?.is_some() {}
    Ok(())
}

fn refuse_newer(format: &str) -> Result<()> {
    let parts: Option<Vec<u32>> = format.split('.').map(|part| part.parse().ok()).collect();
    let newer = match parts {
        Some(parts) => parts.len() > FORMAT.len() || parts.iter().zip(FORMAT).any(|(&theirs, ours)| theirs > ours),
        None => true,
    };
    if newer {
        let ours = format_text();
        return Err(Error::state(format!(
            "the index has the format {format}, this version of session_search knows up to {ours}: use a newer one"
        )));
    }
    Ok(())
}

fn refuse_contentless(conn: &Connection) -> Result<()> {
    if rusqlite::version_number() >= CONTENTLESS_DELETE {
        return Ok(());
    }
    let sql = "SELECT 1 FROM main.sqlite_schema WHERE name = 'session_search_fts' AND instr(sql, 'contentless_delete')";
    let contentless = conn.query_row(sql, [], |_| Ok(())).optional().map_err(looking)?;
    match contentless {
        Some(()) => Err(Error::state(
            "the index was made by SQLite 3.43 or newer and this is an older one: use a newer SQLite, or another index file for this one",
        )),
        None => Ok(()),
    }
}

fn looking(error: rusqlite::Error) -> Error {
    Error::index("looking for the index", error)
}
