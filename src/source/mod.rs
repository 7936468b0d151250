//! Where transcripts come from: a host database beside the index, read through an inner connection of our own that can only read, or
//! the tables beside ours in the caller's own main database.
//!
//! Everything is read inside a [`Snapshot`], a short read transaction, so that the list of sessions, the events and the stamps
//! of one search belong together. Beside, the host is never written and never locked for writing. Host rowids are never used.
//!
//! Tested by `tests/beside.rs`, `tests/in_place.rs` and, on every host program, by `tests/loadable`.

mod adapter;
mod beside;
mod event;
mod in_place;
mod snapshot;

use std::path::Path;

use rusqlite::Connection;

use crate::error::{Error, Result};
use crate::handle::Handle;

pub(crate) use adapter::Adapter;
use beside::Beside;
pub(crate) use event::StoredEvent;
use in_place::InPlace;
pub(crate) use snapshot::{HostVersion, Snapshot};

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
    /// The transcript of the same session that this one came after.
    pub(crate) previous_session_id: Option<String>,
    /// The session stands on this transcript.
    pub(crate) current: bool,
    pub(crate) state: State,
}

/// Which state of its rows a transcript is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct State {
    /// Changes whenever the rows do.
    pub(crate) stamp: String,
    /// How many events there are, about.
    pub(crate) events: i64,
    last_seq: i64,
    /// Two states of one generation differ in appended events only. `None` where the host does not promise that.
    generation: Option<String>,
}

impl State {
    /// The state with this stamp, of which nothing else is known.
    pub(crate) fn of_stamp(stamp: String) -> Self {
        Self { stamp, events: 0, last_seq: -1, generation: None }
    }

    /// Whether the rows are those of `before` with nothing but events appended.
    pub(crate) fn continues(&self, before: &Self) -> bool {
        let appended = self.last_seq.saturating_sub(before.last_seq);
        self.generation.is_some()
            && self.generation == before.generation
            && appended >= 0
            && self.events.saturating_sub(before.events) == appended
    }
}

/// A host database.
pub(crate) enum Source {
    /// Another file than the index.
    Beside(Beside),
    /// The caller's main database, which holds the index too.
    InPlace(InPlace),
}

impl Source {
    /// Opens the database at `path` for reading only and finds out what it is.
    pub(crate) fn beside(path: &Path) -> Result<Self> {
        Beside::open(path).map(Self::Beside)
    }

    /// The caller's main database, if it holds transcripts.
    pub(crate) fn in_place(conn: &Connection) -> Result<Option<Self>> {
        Ok(InPlace::find(conn)?.map(Self::InPlace))
    }

    pub(crate) fn is_in_place(&self) -> bool {
        matches!(self, Self::InPlace(_))
    }

    /// The table layout.
    pub(crate) fn adapter(&self) -> &'static Adapter {
        match self {
            Self::Beside(host) => host.adapter,
            Self::InPlace(host) => host.adapter,
        }
    }

    /// The host database's file.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Beside(host) => &host.path,
            Self::InPlace(host) => &host.path,
        }
    }

    /// Runs `read` on one state of the host, whose tables are looked at again where they have changed.
    pub(crate) fn snapshot<T>(&mut self, handle: &Handle, read: impl FnOnce(&Snapshot<'_>) -> Result<T>) -> Result<T> {
        match self {
            Self::Beside(host) => host.snapshot(read),
            Self::InPlace(host) => host.snapshot(handle, read),
        }
    }

    /// Looks at the tables of the caller's main database again, if they have changed.
    pub(crate) fn look_again(&mut self, conn: &Connection) -> Result<()> {
        match self {
            Self::Beside(_) => Ok(()), // does so itself
            Self::InPlace(host) => host.look_again(conn),
        }
    }

    /// Runs `read` on the host as the statement that calls us sees it, in a database whose tables have not changed since the last snapshot.
    pub(crate) fn within_statement<T>(&self, handle: &Handle, read: impl FnOnce(&Snapshot<'_>) -> T) -> Option<T> {
        match self {
            Self::Beside(_) => None,
            Self::InPlace(host) => Some(read(&host.as_is(handle))),
        }
    }
}

/// The layout of a host whose tables have changed since it was last looked at.
fn changed_adapter(conn: &Connection) -> Result<&'static Adapter> {
    let gone = || {
        let known = Adapter::known();
        Error::state(format!("the host database has changed and holds no transcripts any more: expected the tables of {known}"))
    };
    Adapter::find(conn)?.ok_or_else(gone)
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
