//! The index: the only code that writes. It lives in the main database of the caller's connection.
//!
//! What flows: a [`Source`] gives the sessions of the host, the [`Catalog`] sets them against what is indexed, and [`write`] brings
//! the transcripts that are behind in step, by reading their events and writing the difference.
//!
//! Invariant: a transcript whose `indexed_stamp` equals the host's stamp has exactly its searchable messages in the index. Everything
//! else counts as behind, and a search checks what it finds there.
//!
//! Tested by `tests/beside.rs`, `tests/windows.rs`, `tests/odd_rows.rs` and `tests/histories.rs`.

mod catalog;
mod rows;
mod transaction;
mod transcript;
mod write;

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::source::{self, Adapter, Snapshot, Source};

pub(crate) use catalog::{Catalog, Entry};
pub(crate) use rows::{MessageRow, count_matches, counts, matches, message};
use transaction::{Guest, Writing, reading};
use transcript::Remembered;
pub(crate) use transcript::active_messages;
use write::Budget;

/// A message's place in the index: the transcript in the high bits, the seq in the low ones.
const SEQ_BITS: u32 = 24;

/// Whether an event with this seq has a place in the index.
fn is_indexable(seq: i64) -> bool {
    (0..1 << SEQ_BITS).contains(&seq)
}

/// The rowid of an event's message and FTS5 row.
fn rowid(transcript: i64, seq: i64) -> i64 {
    transcript << SEQ_BITS | seq
}

/// Transcript id and seq of a rowid.
pub(crate) fn transcript_and_seq(rowid: i64) -> (i64, i64) {
    (rowid >> SEQ_BITS, rowid & ((1 << SEQ_BITS) - 1))
}

/// The first and the last rowid of a transcript.
fn rowids(transcript: i64) -> (i64, i64) {
    (transcript << SEQ_BITS, transcript << SEQ_BITS | ((1 << SEQ_BITS) - 1))
}

/// How long a search works on what has changed before it leaves the rest to reconcile.
const SYNC_TIME: Duration = Duration::from_millis(50);

/// Bounds of one reconcile transaction. A larger transcript takes several.
const STEP_MESSAGES: usize = 4_096;
const STEP_BYTES: usize = 2 << 20;

/// The host database that a connection searches.
pub(crate) struct Attached {
    source: Source,
    /// As of the last look.
    catalog: Option<Catalog>,
    /// Long transcripts, as far as they have been read.
    remembered: Remembered,
    /// Why the last attempt to bring the index in step failed, until one succeeds or nothing is behind any more.
    trouble: Option<Error>,
}

impl Attached {
    /// The name of the host's table layout.
    pub(crate) fn adapter(&self) -> &'static str {
        self.source.adapter()
    }

    /// The host database's file.
    pub(crate) fn path(&self) -> &Path {
        self.source.path()
    }

    /// Why the index could not be brought in step, if so.
    pub(crate) fn trouble(&self) -> Option<&Error> {
        self.trouble.as_ref()
    }

    /// Shows `view` one state of the host with the catalog that belongs to it. First small changes of the `wanted`
    /// sessions are indexed, on the same state: what is committed meanwhile does not make this search say `indexing`.
    pub(crate) fn look<T>(
        &mut self,
        handle: &Handle,
        wanted: Option<&dyn Fn(&Entry) -> bool>,
        view: impl FnOnce(&Snapshot<'_>, &Catalog) -> Result<T>,
    ) -> Result<T> {
        let Self { source, catalog, remembered, trouble } = self;
        let to_do = source.snapshot(|snapshot| {
            let catalog = Catalog::refresh(catalog, handle, snapshot)?;
            Ok(catalog.is_none_or(|catalog| wanted.is_some_and(|wanted| catalog.has_work(wanted))))
        })?;
        let guest = Guest::of(handle);
        // The lock of the index is waited for before the host is read, so that no read of the host is held meanwhile.
        let transaction = to_do.then(|| Writing::begin(handle));
        source.snapshot(|snapshot| {
            // Whatever keeps us from writing (a locked or read-only index, a full disk), what is behind stays behind.
            *trouble = match (transaction, wanted) {
                (None, _) => trouble.take(),
                (Some(Err(error)), _) => Some(guest.may_go_on(error)?),
                (Some(Ok(open)), Some(wanted)) => {
                    let mut budget = Budget::until(Instant::now() + SYNC_TIME);
                    match write::catch_up(handle, snapshot, catalog, remembered, &mut budget, wanted, open) {
                        Ok(progress) => progress.unread,
                        Err(error) => Some(guest.may_go_on(error)?),
                    }
                }
                (Some(Ok(open)), None) => match write::make_index(handle, snapshot, catalog, open) {
                    Ok(()) => None,
                    Err(error) => Some(guest.may_go_on(error)?),
                },
            };
            if to_do {
                protect(handle.connection(), snapshot.path());
            }
            reading(handle, || match Catalog::refresh(catalog, handle, snapshot)? {
                Some(catalog) => {
                    if catalog.work() == 0 {
                        *trouble = None;
                    }
                    view(snapshot, catalog)
                }
                None => Err(trouble.take().unwrap_or_else(no_index)),
            })
        })
    }

    /// Treats transcripts as behind although their stamps say otherwise.
    pub(crate) fn doubt(&mut self, transcripts: &[i64]) {
        self.remembered.forget_all();
        if let Some(catalog) = &mut self.catalog {
            catalog.doubt(transcripts);
        }
    }

    /// One reconcile transaction. Returns how many transcripts remain, and whether any got further.
    fn step(&mut self, handle: &Handle, until: Option<Instant>) -> Result<(usize, bool)> {
        let Self { source, catalog, remembered, trouble } = self;
        let work = source.snapshot(|snapshot| Ok(Catalog::refresh(catalog, handle, snapshot)?.is_none_or(|catalog| catalog.work() > 0)))?;
        if !work {
            *trouble = None;
            return Ok((0, false));
        }
        let guest = Guest::of(handle);
        let transaction = Writing::begin(handle)?;
        source.snapshot(|snapshot| {
            let mut budget = Budget::step(STEP_MESSAGES, STEP_BYTES, until);
            let done = write::catch_up(handle, snapshot, catalog, remembered, &mut budget, &|_| true, transaction);
            let progress = done.or_else(|error| Err(guest.may_go_on(error)?))?;
            *trouble = progress.unread;
            Ok((catalog.as_ref().map_or(0, Catalog::work), progress.any))
        })
    }
}

/// The index holds the words of the sessions: nobody may read it who may not read them. Narrows the permissions of the index file
/// to those of the host's; SQLite gives its other files the same.
#[cfg(unix)]
fn protect(conn: &Connection, host: &Path) {
    use std::fs::{metadata, set_permissions};
    use std::os::unix::fs::PermissionsExt;
    let Some(index) = conn.path().filter(|path| !path.is_empty()) else { return };
    if let (Ok(host), Ok(now)) = (metadata(host), metadata(index)) {
        let mut permissions = now.permissions();
        let narrow = permissions.mode() & host.permissions().mode();
        if narrow != permissions.mode() & 0o7777 {
            permissions.set_mode(narrow & 0o7777);
            // Not ours to change, then: somebody else's file.
            let _ = set_permissions(index, permissions);
        }
    }
}

#[cfg(not(unix))]
fn protect(_: &Connection, _: &Path) {}

/// `session_search_open(path)`: from now on this connection searches the database at `path`, with the index in its main database.
/// Returns the name of the host's table layout.
pub(crate) fn open(handle: &Handle, path: &Path) -> Result<&'static str> {
    if !path.is_file() {
        let got = format!("'{}'", source::shown(path));
        return Err(Error::argument("session_search_open", 1, "path", "an existing file", &got));
    }
    refuse_host_as_main(handle.connection(), path)?;
    let source = Source::open(path)?;
    let mut attached = Attached { source, catalog: None, remembered: Remembered::default(), trouble: None };
    attached.look(handle, None, |_, _| Ok(()))?;
    let adapter = attached.adapter();
    *handle.attached()? = Some(attached);
    Ok(adapter)
}

/// Nothing of ours goes into a database that belongs to another application.
fn refuse_host_as_main(conn: &Connection, path: &Path) -> Result<()> {
    let canonical = |p: &Path| p.canonicalize().ok();
    let main = conn.path().and_then(|main| canonical(Path::new(main)));
    if main.is_some() && main == canonical(path) {
        return Err(Error::state(
            "session_search_open: this is the connection's own main database: connect to an index file (for example \
             session-search.sqlite beside it) and open the database from there",
        ));
    }
    if Adapter::find(conn)?.is_some_and(|adapter| adapter.foreign) {
        return Err(Error::state(
            "session_search_open: this connection's main database belongs to OpenClaw, where an index must not be: connect to an index \
             file (for example session-search.sqlite beside it) and open the database from there",
        ));
    }
    Ok(())
}

/// `session_search_reconcile(budget)`: works off what is behind, in short transactions. Returns how many transcripts remain.
pub(crate) fn reconcile(handle: &Handle, budget: Option<Duration>) -> Result<usize> {
    let until = budget.map(|budget| Instant::now() + budget);
    let mut attached = handle.attached()?;
    let attached = attached.as_mut().ok_or_else(not_open)?;
    loop {
        let (remaining, any) = attached.step(handle, until)?;
        // What cannot be read does not get further: status says why.
        if remaining == 0 || !any || until.is_some_and(|until| Instant::now() >= until) {
            return Ok(remaining);
        }
    }
}

/// No host database has been opened on this connection.
pub(crate) fn not_open() -> Error {
    Error::state("no transcripts to search on this connection: call session_search_open(path) first")
}

/// The index went away.
fn no_index() -> Error {
    Error::state("the index in the main database is gone: call session_search_open(path) again")
}
