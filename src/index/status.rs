//! What there is to know about the index of a connection.

use std::path::PathBuf;

use serde::Serialize;

use super::{attached, rows};
use crate::error::Result;
use crate::handle::Handle;
use crate::schema::SCHEMA_VERSION;
use crate::transaction::Guest;

/// The index of a connection: the row of `session_search_status`.
///
/// ```no_run
/// let search = session_search::SessionSearch::open("application.sqlite")?;
/// let status = search.status()?;
/// if let Some(why) = status.broken {
///     eprintln!("the index of {:?} cannot be written: {why}", status.path);
/// }
/// # Ok::<(), session_search::Error>(())
/// ```
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Status {
    /// The version of this library.
    pub version: &'static str,
    /// The version of the index tables.
    pub schema_version: u32,
    /// The table layout of the database that is searched; `None` without one.
    pub host: Option<&'static str>,
    /// The file of that database.
    pub path: Option<PathBuf>,
    /// It is open and, in place, this connection indexes what it stores.
    pub attached: bool,
    /// How much there is; `None` where it cannot be counted, then `broken` says why.
    pub counts: Option<Counts>,
    /// Why the last attempt to write or read the index failed.
    pub broken: Option<String>,
}

/// How much is indexed, and how much is not.
///
/// ```no_run
/// let search = session_search::SessionSearch::open("application.sqlite")?;
/// if search.status()?.counts.is_some_and(|counts| counts.behind > 0) {
///     search.reconcile(None)?;
/// }
/// # Ok::<(), session_search::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Counts {
    /// Transcripts that may be found.
    pub transcripts: usize,
    /// Those that are not in step yet.
    pub behind: usize,
    /// Messages in the index.
    pub messages: i64,
    /// Events that are no JSON or out of range.
    pub unreadable: i64,
}

/// The status of this connection.
pub(crate) fn status(handle: &Handle) -> Result<Status> {
    let guest = Guest::of(handle);
    let version = env!("CARGO_PKG_VERSION");
    let mut status =
        Status { version, schema_version: SCHEMA_VERSION, host: None, path: None, attached: false, counts: None, broken: None };
    let mut attached = attached(handle)?;
    let Some(attached) = attached.as_mut() else { return Ok(status) };
    let counted = attached.look(handle, None, &[], |_, catalog| {
        let (messages, unreadable) = rows::counts(handle)?;
        let transcripts = catalog.entries.iter().filter(|entry| entry.searchable).count();
        Ok(Counts { transcripts, behind: catalog.work(), messages, unreadable })
    });
    match counted {
        Ok(counts) => {
            status.counts = Some(counts);
            status.broken = attached.trouble().map(ToString::to_string);
        }
        Err(error) => status.broken = Some(guest.may_go_on(error)?.to_string()),
    }
    status.attached = attached.is_connected(handle)?;
    status.host = Some(attached.adapter());
    status.path = Some(attached.path().to_owned());
    Ok(status)
}

/// How many transcripts are behind, as of the last look.
pub(crate) fn behind(handle: &Handle) -> Result<usize> {
    Ok(handle.attached()?.as_ref().map_or(0, super::Attached::work))
}
