//! The index: the only code that writes. It lives in the main database of the caller's connection.
//!
//! What flows: a [`Source`] gives the sessions of the host, the [`Catalog`] sets them against what is indexed, and [`write`] brings
//! the transcripts that are behind in step, by reading their events and writing the difference. [`in_place`] puts the index into the
//! host's own database, where [`apply`] writes the difference that one event makes, as it is stored.
//!
//! Invariant: a transcript whose `indexed_stamp` equals the stamp of its rows has exactly its searchable messages in the index. Everything
//! else counts as behind, and a search checks what it finds there.
//!
//! Tested by `tests/beside.rs`, `tests/in_place.rs`, `tests/upkeep.rs`, `tests/windows.rs`, `tests/odd_rows.rs`, `tests/plans.rs` and
//! `tests/histories.rs`.

mod apply;
mod catalog;
mod check;
mod in_place;
mod redaction;
mod remembered;
mod rows;
mod status;
mod transcript;
mod write;

use std::path::Path;
use std::sync::MutexGuard;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use crate::error::{Error, Result};
use crate::handle::{Handle, TransactionState};
use crate::schema;
use crate::source::{self, Adapter, HostVersion, Snapshot, Source};
use crate::transaction::{Guest, Writing, reading, writing_index};

pub(crate) use apply::apply;
use apply::{Pace, Triggers};
pub(crate) use catalog::{Catalog, Entry};
pub(crate) use check::check;
pub(crate) use in_place::{attach, attach_at_load, install, uninstall};
pub(crate) use redaction::{Redaction, redact_rule};
use remembered::Remembered;
pub(crate) use rows::{MessageRow, count_matches, matches, message};
pub use status::{Counts, Status};
pub(crate) use status::{behind, status};
pub(crate) use transcript::active_messages;
use write::{Budget, Which, Writer};

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

/// Bounds of one reconcile transaction. A larger transcript takes several. The host is read for no longer, so that it can checkpoint.
const STEP_TIME: Duration = Duration::from_millis(30);
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
    /// In place: what the triggers may do, and the `schema_version` for which that is known.
    triggers: Option<(i64, Triggers)>,
    /// In place: the last `schema_version` that was seen outside a transaction of the caller.
    committed_schema: Option<i64>,
    pace: Pace,
    redaction: Redaction,
}

impl Attached {
    fn new(source: Source) -> Self {
        Self {
            source,
            catalog: None,
            remembered: Remembered::default(),
            trouble: None,
            triggers: None,
            committed_schema: None,
            pace: Pace::new(),
            redaction: Redaction::default(),
        }
    }

    /// The name of the host's table layout.
    pub(crate) fn adapter(&self) -> &'static str {
        self.source.adapter().name
    }

    /// What is masked in the texts of this database.
    pub(crate) fn redaction(&mut self, handle: &Handle) -> Result<Redaction> {
        self.redaction.refresh(handle)?;
        Ok(self.redaction.clone())
    }

    /// Whether a message is indexed as it is stored on this connection (in place), or can be searched at all (beside).
    pub(crate) fn is_connected(&self, handle: &Handle) -> Result<bool> {
        Ok(!self.source.is_in_place() || schema::has_temp_triggers(handle.connection(), handle.token())?)
    }

    /// The host database's file.
    pub(crate) fn path(&self) -> &Path {
        self.source.path()
    }

    /// Why the index could not be brought in step, if so.
    pub(crate) fn trouble(&self) -> Option<&Error> {
        self.trouble.as_ref()
    }

    /// As [`look`](Self::look), but an index that turns out to be damaged is made anew first.
    pub(crate) fn look_mending<T>(
        &mut self,
        handle: &Handle,
        wanted: Option<&dyn Fn(&Entry) -> bool>,
        doubted: &[i64],
        mut view: impl FnMut(&Snapshot<'_>, &Catalog) -> Result<T>,
    ) -> Result<T> {
        let guest = Guest::of(handle);
        let looked = self.look(handle, wanted, doubted, &mut view);
        let damage = match &looked {
            Err(error) => error.is_damage(),
            Ok(_) => self.trouble.as_ref().is_some_and(Error::is_damage), // it could not be written
        };
        if !damage || guest.is_lost() {
            return looked;
        }
        match self.make_anew(handle, || Ok(())) {
            Ok(()) => self.look(handle, wanted, &[], view),
            Err(error) => guest.may_go_on(error).and(looked),
        }
    }

    /// Makes an empty index in the place of the one that there is, after `first` in the same transaction.
    fn make_anew(&mut self, handle: &Handle, first: impl FnOnce() -> Result<()>) -> Result<()> {
        self.catalog = None;
        self.remembered.forget_all();
        let transaction = Writing::begin(handle)?;
        first()?;
        self.source.snapshot(handle, |snapshot| schema::make(handle.connection(), &snapshot.identity()?))?;
        transaction.commit()
    }

    /// Shows `view` one state of the host with the catalog that belongs to it. First small changes of the `wanted`
    /// sessions are indexed, on the same state: what is committed meanwhile does not make this search say `indexing`. The `doubted`
    /// transcripts count as behind although their stamps say otherwise.
    pub(crate) fn look<T>(
        &mut self,
        handle: &Handle,
        wanted: Option<&dyn Fn(&Entry) -> bool>,
        doubted: &[i64],
        view: impl FnOnce(&Snapshot<'_>, &Catalog) -> Result<T>,
    ) -> Result<T> {
        self.forget_unsettled();
        let Self { source, catalog, remembered, trouble, redaction, .. } = self;
        if !doubted.is_empty() {
            remembered.forget_all();
        }
        let (to_do, is_new) = source.snapshot(handle, |snapshot| {
            let Some(catalog) = Catalog::refresh(catalog, handle, snapshot)? else { return Ok((true, true)) };
            catalog.doubt(doubted);
            Ok((wanted.is_some_and(|wanted| catalog.has_work(wanted)), false))
        })?;
        let (guest, in_place) = (Guest::of(handle), source.is_in_place());
        // The lock of the index is waited for before the host is read, so that no read of the host is held meanwhile. Where somebody else
        // writes for longer, the search goes on without.
        let begin = || if is_new { Writing::begin(handle) } else { Writing::begin_within(handle, SYNC_TIME) };
        // In place, a caller that only reads keeps the lock free for others.
        let reads = in_place && !handle.connection().is_autocommit() && handle.transaction_state() != TransactionState::Write;
        let transaction = (to_do && (is_new || !reads)).then(begin);
        source.snapshot(handle, |snapshot| {
            redaction.refresh(handle)?; // as of the transaction that writes
            // Whatever keeps us from writing (a locked or read-only index, a full disk), what is behind stays behind.
            if let Some(transaction) = transaction {
                let done = transaction.and_then(|transaction| {
                    let unread = match wanted {
                        Some(wanted) => {
                            let mut budget = Budget::until(Instant::now() + SYNC_TIME);
                            let writer = Writer::new(handle, snapshot, redaction.detector(), &mut budget);
                            write::catch_up(writer, catalog, remembered, &Which::Wanted(wanted))?.unread
                        }
                        None => write::make_index(handle, snapshot, catalog).map(|()| None)?,
                    };
                    keep(transaction, catalog, |host| snapshot.follow_own_changes(host)).map(|()| unread)
                });
                *trouble = done.or_else(|error| guest.may_go_on(error).map(Some))?;
            }
            if to_do && !in_place {
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

    /// What was seen inside a write transaction of the caller may have been rolled back.
    fn forget_unsettled(&mut self) {
        self.catalog.take_if(|catalog| !catalog.is_settled());
    }

    /// How many transcripts are behind, as of the last look.
    fn work(&self) -> usize {
        self.catalog.as_ref().map_or(0, Catalog::work)
    }

    /// One reconcile transaction.
    fn step(&mut self, handle: &Handle, until: Option<Instant>) -> Result<Step> {
        self.forget_unsettled();
        let Self { source, catalog, remembered, trouble, redaction, .. } = self;
        let work = source
            .snapshot(handle, |snapshot| Ok(Catalog::refresh(catalog, handle, snapshot)?.is_none_or(|catalog| catalog.work() > 0)))?;
        if !work {
            *trouble = None;
            return Ok(Step::default());
        }
        let guest = Guest::of(handle);
        let transaction = Writing::begin(handle)?;
        let until = until.unwrap_or_else(|| Instant::now() + STEP_TIME).min(Instant::now() + STEP_TIME);
        let progress = source.snapshot(handle, |snapshot| {
            let mut budget = Budget::step(STEP_MESSAGES, STEP_BYTES, until);
            redaction.refresh(handle)?; // as of the transaction that writes
            let writer = Writer::new(handle, snapshot, redaction.detector(), &mut budget);
            let progress = write::catch_up(writer, catalog, remembered, &Which::All)?;
            Ok((progress, budget.used(STEP_MESSAGES, STEP_BYTES)))
        });
        // The host is not read while the index is written to the disk.
        let follow = |host: &mut HostVersion| {
            source.within_statement(handle, |snapshot| snapshot.follow_own_changes(host));
        };
        let kept = progress.and_then(|progress| keep(transaction, catalog, follow).map(|()| progress));
        let (progress, (messages, bytes)) = kept.or_else(|error| Err(guest.may_go_on(error)?))?;
        *trouble = progress.unread;
        Ok(Step { remaining: self.work(), done: progress.done, any: progress.any, messages, bytes })
    }
}

/// What one reconcile transaction has done.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Step {
    /// Transcripts that are still behind.
    pub(crate) remaining: usize,
    /// Transcripts that came in step.
    pub(crate) done: usize,
    /// Some transcript got further. What cannot be read does not: status says why.
    pub(crate) any: bool,
    /// Messages written, and the bytes of their texts.
    pub(crate) messages: usize,
    pub(crate) bytes: usize,
}

/// Commits what the catalog says already; if that fails, the catalog goes.
fn keep(transaction: Writing<'_>, catalog: &mut Option<Catalog>, follow: impl FnOnce(&mut HostVersion)) -> Result<()> {
    match (transaction.commit(), catalog.as_mut()) {
        (Ok(()), Some(catalog)) => follow(&mut catalog.host),
        (Ok(()), None) => {}
        (Err(error), _) => {
            *catalog = None;
            return Err(error);
        }
    }
    Ok(())
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
    let mut attached = Attached::new(Source::beside(path)?);
    attached.look_mending(handle, None, &[], |_, _| Ok(()))?;
    let adapter = attached.adapter();
    *handle.attached()? = Some(attached);
    Ok(adapter)
}

/// Nothing of ours goes into a database that belongs to another application.
fn refuse_host_as_main(conn: &Connection, path: &Path) -> Result<()> {
    if schema::is_in_place(conn)? {
        return Err(Error::state(
            "session_search_open: this connection's main database holds its own transcripts and their index (session_search_install): search it as \
             it is, or connect to an index file to search another database",
        ));
    }
    let canonical = |p: &Path| p.canonicalize().ok();
    let main = conn.path().and_then(|main| canonical(Path::new(main)));
    if main.is_some() && main == canonical(path) {
        return Err(Error::state(
            "session_search_open: this is the connection's own main database: connect to an index file (for example \
             session-search.sqlite beside it) and open the database from there, or put the index into it with session_search_install()",
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

/// `session_search_rebuild(budget)`: makes the index anew, and works as long as reconcile would. Returns how many transcripts remain.
pub(crate) fn rebuild(handle: &Handle, budget: Option<Duration>) -> Result<usize> {
    {
        let mut attached = attached(handle)?;
        let attached = attached.as_mut().ok_or_else(not_open)?;
        attached.make_anew(handle, || Ok(()))?;
    }
    reconcile(handle, budget)
}

/// `session_search_optimize()`: the index in one piece, without what was deleted.
pub(crate) fn optimize(handle: &Handle) -> Result<()> {
    let slot = attached(handle)?;
    if slot.is_none() {
        return Err(not_open());
    }
    let conn = handle.connection();
    let transaction = Writing::begin(handle)?;
    schema::overwriting(conn, || schema::optimize(conn))?;
    transaction.commit()
}

/// `session_search_reconcile(budget)`: works off what is behind, in short transactions. Returns how many transcripts remain.
pub(crate) fn reconcile(handle: &Handle, budget: Option<Duration>) -> Result<usize> {
    let until = budget.map(|budget| Instant::now() + budget);
    loop {
        let step = step(handle, until)?;
        if step.remaining == 0 || !step.any || until.is_some_and(|until| Instant::now() >= until) {
            return Ok(step.remaining);
        }
    }
}

/// One short transaction of [`reconcile`], which ends at `until` if not before.
pub(crate) fn step(handle: &Handle, until: Option<Instant>) -> Result<Step> {
    let mut attached = attached(handle)?;
    let attached = attached.as_mut().ok_or_else(not_open)?;
    match attached.step(handle, until) {
        Err(error) if error.is_damage() => {
            attached.make_anew(handle, || Ok(())).map_err(|_| error)?;
            attached.step(handle, until)
        }
        step => step,
    }
}

/// What this connection searches: the database that it has opened, or its own main database if the index is in there.
pub(crate) fn attached(handle: &Handle) -> Result<MutexGuard<'_, Option<Attached>>> {
    let mut slot = handle.attached()?;
    in_place::follow(handle, &mut slot)?;
    Ok(slot)
}

/// No host database has been opened on this connection.
pub(crate) fn not_open() -> Error {
    Error::state(
        "no transcripts to search on this connection: call session_search_open(path) first, or session_search_install() to keep the index in \
         this database",
    )
}

/// The index went away.
fn no_index() -> Error {
    Error::state("the index in the main database is gone: call session_search_open(path) or session_search_install() again")
}
