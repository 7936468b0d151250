//! The index in the very database that it indexes: put in, connect, take out.

use std::thread::sleep;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::Attached;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::schema::{self, Readiness};
use crate::source::{Adapter, Source};
use crate::transaction::{Guest, Writing};

/// How long loading waits for a database that is locked just then.
const LOAD_TIME: Duration = Duration::from_secs(1);
const LOAD_PAUSE: Duration = Duration::from_millis(10);

/// `session_search_install(options)`: puts the index and its triggers into the main database and connects. What is there already is indexed
/// by the next searches and by reconcile. Returns the name of the table layout.
pub(crate) fn install(handle: &Handle, adopt: bool) -> Result<&'static str> {
    let conn = handle.connection();
    {
        let mut slot = handle.attached()?;
        if slot.as_ref().is_some_and(|attached| !attached.source.is_in_place()) {
            return Err(Error::state(
                "session_search_install: this connection searches another database (session_search_open): connect to the one that shall hold the index",
            ));
        }
        let identity = own_transcripts(conn, adopt)?.identity_in_place();
        schema::refuse_foreign(conn)?;
        if schema::readiness(conn, &identity)? != Readiness::Ready {
            let transaction = Writing::begin(handle)?;
            schema::prepare(conn, &identity)?;
            transaction.commit()?;
        }
        *slot = None;
    }
    attach(handle)
}

/// The table layout of the main database, if it may hold an index.
fn own_transcripts(conn: &Connection, adopt: bool) -> Result<&'static Adapter> {
    let adapter = Adapter::find(conn)?.ok_or_else(|| {
        let known = Adapter::known();
        Error::state(format!(
            "session_search_install: no transcripts in the main database: expected the tables of {known}; sql/standalone.sql makes them for a new application"
        ))
    })?;
    if adapter.foreign && !adopt {
        return Err(Error::state(
            "session_search_install: this database belongs to OpenClaw, which refuses to start with triggers of others in it: connect to an index file (for \
             example session-search.sqlite beside it) and call session_search_open(path); only if no OpenClaw will use this database any more: \
             session_search_install('{\"adopt\":true}')",
        ));
    }
    Ok(adapter)
}

/// `session_search_attach()`: connects to the index in the main database: from now on what this connection stores is indexed at once. Returns the
/// name of the table layout.
pub(crate) fn attach(handle: &Handle) -> Result<&'static str> {
    let slot = super::attached(handle)?;
    match slot.as_ref() {
        Some(attached) if attached.source.is_in_place() => {
            // These say why not, if not.
            schema::readiness(handle.connection(), &attached.source.adapter().identity_in_place())?;
            schema::connect_triggers(handle.connection(), handle.token())?;
            Ok(attached.adapter())
        }
        _ => Err(Error::state("session_search_attach: the main database holds no index of its own: call session_search_install() first")),
    }
}

/// Connects at load, if the main database holds its index. Whatever prevents it does not prevent loading: the first search tries again.
///
/// # Errors
/// When the transaction that it is loaded in is lost.
pub(crate) fn attach_at_load(handle: &Handle) -> Result<()> {
    let (guest, until) = (Guest::of(handle), Instant::now() + LOAD_TIME);
    while let Err(error) = super::attached(handle).map(drop) {
        let error = guest.may_go_on(error)?;
        if !error.is_busy() || Instant::now() >= until {
            break;
        }
        sleep(LOAD_PAUSE);
    }
    Ok(())
}

/// Makes `slot` right for the main database as it is now, unless another database is open: the index can have come or gone through another
/// connection, and the TEMP triggers go when the caller changes `PRAGMA temp_store`.
pub(super) fn follow(handle: &Handle, slot: &mut Option<Attached>) -> Result<()> {
    if slot.as_ref().is_some_and(|attached| !attached.source.is_in_place()) {
        return Ok(());
    }
    let conn = handle.connection();
    let guest = Guest::of(handle);
    if !schema::is_in_place(conn)? {
        if slot.take().is_some() {
            schema::disconnect_triggers(conn).or_else(|error| guest.may_go_on(error).map(drop))?;
        }
        return Ok(());
    }
    if slot.is_none() {
        *slot = Source::in_place(conn)?.map(Attached::new);
    }
    if let Some(attached) = slot.as_mut().filter(|_| conn.is_autocommit()) {
        attached.committed_schema = Some(schema::schema_version(conn)?);
    }
    // Without them (a connection that may only read, for example) it can be searched all the same.
    schema::connect_triggers(conn, handle.token()).or_else(|error| guest.may_go_on(error).map(drop))
}

/// `session_search_uninstall()`: takes everything of ours out of the main database, and says whether there was anything. The freed pages are
/// overwritten, so that no word of a message stays in them.
pub(crate) fn uninstall(handle: &Handle) -> Result<bool> {
    let conn = handle.connection();
    let mut slot = handle.attached()?;
    schema::disconnect_triggers(conn)?;
    if !schema::has_anything(conn)? {
        return Ok(false);
    }
    let transaction = Writing::begin(handle)?;
    schema::overwriting(conn, || schema::remove_all(conn))?;
    transaction.commit()?;
    *slot = None;
    Ok(true)
}
