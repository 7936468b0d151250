//! Full-text search over an AI agent's own past sessions, inside SQLite.
//!
//! [`register`] gives a [`rusqlite::Connection`] the same SQL functions, table functions and FTS5 tokenizer that the loadable
//! extension brings; README.md lists them. There are two ways of living with a database that holds transcripts.
//!
//! *In place*: the index is in the same database, and every message is searchable in the transaction that stores it.
//!
//! ```no_run
//! let conn = rusqlite::Connection::open("application.sqlite")?; // with the tables of sql/standalone.sql
//! session_search::register(&conn)?;
//! conn.query_row("SELECT session_search_install()", [], |_| Ok(()))?; // once
//! let answer: String = conn.query_row(
//!     "SELECT sessions_search_json('reverse proxy', 'agent:main:main')", [], |row| row.get(0))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! *Beside*: the connection's main database is the index, a file of ours; the database that holds the transcripts is opened from SQL
//! and only read.
//!
//! ```no_run
//! let index = rusqlite::Connection::open("session-search.sqlite")?;
//! session_search::register(&index)?;
//! index.query_row("SELECT session_search_open('openclaw-agent.sqlite')", [], |_| Ok(()))?; // on every connection
//! let answer: String = index.query_row(
//!     "SELECT sessions_search_json('reverse proxy', 'agent:main:main')", [], |row| row.get(0))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(all(feature = "loadable", feature = "bundled"))]
compile_error!("the features `loadable` and `bundled` exclude each other: a loadable extension uses the SQLite that loads it");

mod branch;
mod client;
#[cfg(feature = "loadable")]
#[allow(unsafe_code)]
mod entry;
mod error;
mod event;
mod excerpt;
#[allow(unsafe_code)]
mod fts5;
mod functions;
#[allow(unsafe_code)]
mod handle;
mod history;
mod index;
mod options;
mod query;
mod redact;
mod schema;
mod search;
mod source;
mod tables;
mod tokenizer;
mod transaction;
mod visibility;

use std::sync::Arc;

use handle::Handle;

pub use client::{
    Activity, Database, Failure, ManyResponse, Progress, Reconciler, SESSIONS_HISTORY_SCHEMA, SESSIONS_SEARCH_SCHEMA, SessionSearch,
    search_many,
};
pub use error::{Error, ErrorKind, Result};
pub use event::Role;
pub use history::{HistoryMessage, HistoryRequest};
pub use index::{Counts, Status};
pub use query::MatchMode;
pub use search::{Hit, Order, SearchRequest, SearchResponse};
pub use visibility::{Policy, SessionToolsVisibility, Visibility};

/// Registers the functions, the table functions and the tokenizer on a connection. Doing it again changes nothing.
///
/// If the main database holds its own index, what the connection stores is indexed from now on. If it is locked just then, this waits for up to
/// a second, and what is missed is made good by the next search.
///
/// # Errors
/// When the SQLite of the connection has no FTS5, or refuses a registration.
pub fn register(connection: &rusqlite::Connection) -> Result<()> {
    registered(connection).map(drop)
}

fn registered(connection: &rusqlite::Connection) -> Result<Arc<Handle>> {
    // What can fail for a reason outside comes before the first registration.
    let fts5 = fts5::Api::find(connection)?;
    if let Some(handle) = Handle::of(connection) {
        return Ok(handle);
    }
    let handle = Handle::new(connection)?;
    functions::register(&handle, connection)?;
    fts5.register()?;
    handle::register_tables(&handle, connection, &tables::TABLES)?;
    handle.set_registered();
    index::attach_at_load(&handle)?;
    Ok(handle)
}
