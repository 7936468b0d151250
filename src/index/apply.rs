//! In place: a change of one event is indexed in the statement that makes it. TEMP triggers call us, SQLite lets us run statements of our own
//! meanwhile, and what we write becomes part of the host's transaction.
//!
//! Three rules:
//! - The host's write never fails for a reason of the index. An error leaves the transcript behind; the plain triggers see to that.
//! - The host hears of an error that cost it its transaction, or it would lose rows that it was told are stored.
//! - FTS5 writes its pages when the next statement begins that can be undone alone. That must happen while we run, where its failure is ours,
//!   and not at the host's COMMIT: see [`Step::open`] and [`Step::done`].
//!
//! A savepoint is refused here, so nothing can be undone: rows are written in an order that is right wherever it ends. And FTS5 is written a row at
//! a time: SQLite 3.40 rolls the host's transaction back when the end of a statement of many rows fails.
//!
//! Tested by `tests/in_place.rs`, `tests/histories.rs` and, with broken indexes on every host program, by `tests/loadable`.

use std::hash::{BuildHasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant, SystemTime};

use rusqlite::config::DbConfig;
use rusqlite::{ffi, params};

use super::remembered::Remembered;
use super::transcript::Transcript;
use super::write::{Budget, Done, Texts, Writer, totals};
use super::{Attached, is_indexable, writing_index};
use crate::branch::Growth;
use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::redact::Detector;
use crate::schema::{self, Readiness};
use crate::source::{Snapshot, State};
use crate::transaction::Guest;
use crate::visibility;

/// Session id and seq of an event.
pub(crate) type Key<'k> = (&'k str, i64);

/// An event has come (`new`), gone (`old`) or changed (both). `token` is that of the connection's own triggers.
///
/// # Errors
/// Only where the host's transaction is lost.
pub(crate) fn apply(handle: &Handle, token: i64, old: Option<Key<'_>>, new: Option<Key<'_>>) -> Result<()> {
    if token != handle.token() {
        return Ok(()); // not called by a trigger of ours
    }
    let Ok(mut slot) = handle.attached() else { return Ok(()) };
    let Some(attached) = slot.as_mut() else { return Ok(()) };
    let guest = Guest::of(handle);
    let caught = |_| Err(Error::state("session_search: internal error (a panic was caught)"));
    let done = catch_unwind(AssertUnwindSafe(|| attached.apply(handle, old, new))).unwrap_or_else(caught);
    if let Err(error) = done {
        if guest.is_lost() {
            attached.triggers = None; // the next change looks whether it is the index
        }
        let error = guest.may_go_on(error)?;
        // Fails on purpose: its rollback makes FTS5 forget what it has not written yet.
        let _ = schema::execute(handle.connection(), "UPDATE main.session_search_transcript SET messages = NULL", []);
        let error = guest.may_go_on(error)?;
        rusqlite::trace::log(ffi::SQLITE_WARNING, &error.to_string().replace('\0', "\u{fffd}"));
        attached.trouble = Some(error);
    }
    Ok(())
}

impl Attached {
    fn apply(&mut self, handle: &Handle, old: Option<Key<'_>>, new: Option<Key<'_>>) -> Result<()> {
        let schema_version = schema::schema_version(handle.connection())?;
        let triggers = self.triggers(handle, schema_version)?;
        if triggers == Triggers::Nothing {
            return Ok(());
        }
        self.redaction.refresh(handle)?;
        // With plain triggers switched off on this connection (TEMP triggers never are) no stamp moves.
        let is_on = handle.connection().db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER).unwrap_or(true);
        let may_note = is_on && triggers == Triggers::All;
        let Self { source, remembered, pace, redaction, .. } = self;
        let applied = source.within_statement(handle, |snapshot| {
            let mut step = Step { handle, snapshot, detector: redaction.detector(), remembered, pace, may_note };
            match (old, new) {
                (Some((session, gone)), Some((same, came))) if session == same => step.change(session, Some(gone), Some(came)),
                (old, new) => {
                    if let Some((session, gone)) = old {
                        step.change(session, Some(gone), None)?;
                    }
                    new.map_or(Ok(()), |(session, came)| step.change(session, None, Some(came)))
                }
            }
        });
        applied.unwrap_or(Ok(()))
    }

    /// FTS5 must not even notice a missing table of its own: SQLite might take that for a corrupt database and refuse to commit the host's
    /// transaction. So it is asked first whether all is there, and again whenever the schema has changed.
    fn triggers(&mut self, handle: &Handle, now: i64) -> Result<Triggers> {
        let conn = handle.connection();
        if let Some((_, known)) = self.triggers.filter(|(then, _)| *then == now) {
            return Ok(known);
        }
        self.triggers = Some((now, Triggers::Nothing)); // stays so where one of the next questions fails
        if conn.is_autocommit() {
            self.committed_schema = Some(now);
        }
        let looked = self.source.look_again(conn).is_ok();
        if !looked || schema::readiness(conn, &self.source.adapter().identity_in_place())? != Readiness::Ready {
            return Ok(Triggers::Nothing);
        }
        probe(handle)?;
        let known = if schema::has_stopping_triggers(conn)? { Triggers::NoNote } else { Triggers::All };
        // The number of a schema that is rolled back comes again, for another one.
        self.triggers = (self.committed_schema == Some(now)).then_some((now, known));
        Ok(known)
    }
}

/// What the triggers may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Triggers {
    /// Nothing: a part of the index is missing, or is of another format.
    Nothing,
    /// Leave no note for the plain triggers, which a trigger of the host's can keep from firing: somebody else's write might take it.
    NoNote,
    All,
}

/// Makes FTS5 read what it knows of its pages, in a statement that can be undone alone: if that is damaged so that it asks for more memory
/// than there is, any other statement would cost the host its transaction. Inserts nothing, since no rowid is negative.
fn probe(handle: &Handle) -> Result<()> {
    let sql = "INSERT INTO main.session_search_transcript(session_id)
        SELECT '' FROM main.session_search_fts WHERE session_search_fts MATCH '\"a\"' AND rowid = -1";
    schema::execute(handle.connection(), sql, []).map_err(writing_index)
}

/// How much of the host's time goes into transcripts that have to be read again: at once as much as `MOST`, in the long run a tenth.
pub(super) struct Pace {
    left: Duration,
    since: Instant,
}

impl Pace {
    const MOST: Duration = Duration::from_millis(100);
    /// With less it is not begun.
    const LEAST: Duration = Duration::from_millis(10);

    pub(super) fn new() -> Self {
        Self { left: Self::MOST, since: Instant::now() }
    }

    /// Until when it may take, if at all.
    fn until(&mut self) -> Option<Instant> {
        let now = Instant::now();
        self.left = (self.left + (now - self.since) / 10).min(Self::MOST);
        self.since = now;
        (self.left >= Self::LEAST).then(|| now + self.left)
    }

    fn spend(&mut self) {
        let now = Instant::now();
        self.left = self.left.saturating_sub(now - self.since);
        self.since = now;
    }
}

/// A stamp that nobody else gives to anything.
fn new_stamp() -> String {
    // A process that was forked has the same random keys, but not the same number.
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    RandomState::new().hash_one((std::process::id(), now)).to_string()
}

/// What the index says of a transcript.
struct Indexed {
    id: i64,
    stamp: String,
    in_step: bool,
    messages: i64,
    tokens: i64,
}

struct Step<'a> {
    handle: &'a Handle,
    snapshot: &'a Snapshot<'a>,
    detector: &'a Detector,
    remembered: &'a mut Remembered,
    pace: &'a mut Pace,
    /// Whether the plain trigger will come and take a note.
    may_note: bool,
}

impl Step<'_> {
    /// In one transcript an event is no longer where it was, or is there now.
    fn change(&mut self, session_id: &str, gone: Option<i64>, came: Option<i64>) -> Result<()> {
        let indexed = self.indexed(session_id)?;
        let Some(seq) = came.or(gone) else { return Ok(()) };
        match indexed {
            Some(indexed) if came.is_none() && self.is_over(session_id)? => self.remove(session_id, indexed.id),
            Some(indexed) if !indexed.in_step || !self.may_note || !self.is_searchable(session_id)? => self.forget(indexed.id, gone),
            Some(indexed) => self.keep_in_step(session_id, &indexed, gone, seq),
            None if came.is_some() && self.may_note && self.is_searchable(session_id)? => {
                let id = self.writer(&mut Budget::unbounded()).add(session_id)?;
                let indexed = Indexed { id, stamp: String::new(), in_step: true, messages: 0, tokens: 0 };
                self.keep_in_step(session_id, &indexed, gone, seq)
            }
            None => Ok(()),
        }
    }

    fn keep_in_step(&mut self, session_id: &str, indexed: &Indexed, gone: Option<i64>, seq: i64) -> Result<()> {
        let mut transcript = self.remembered.take(session_id);
        let totals = match self.follow(session_id, indexed, gone, seq, &mut transcript)? {
            Some(totals) => Some(totals),
            None => self.read_again(session_id, indexed.id, &mut transcript)?,
        };
        match totals {
            Some(totals) => {
                let stamp = new_stamp();
                self.done(indexed.id, seq, &stamp, totals, transcript.unreadable)?;
                transcript.set_stamp(stamp);
                self.remembered.keep(session_id, transcript);
                Ok(())
            }
            None => self.forget(indexed.id, gone),
        }
    }

    /// The usual case: an event has come after all others of a transcript that is known. Messages and tokens of the transcript then, or
    /// `None` where it takes more.
    fn follow(
        &mut self,
        session_id: &str,
        indexed: &Indexed,
        gone: Option<i64>,
        seq: i64,
        transcript: &mut Transcript,
    ) -> Result<Option<(i64, i64)>> {
        let same = Some((indexed.messages, indexed.tokens));
        if gone == Some(seq) && transcript.is_whole_at(&indexed.stamp) {
            let unchanged = self.snapshot.event(session_id, seq, |stored| transcript.holds(seq, &stored))?;
            return Ok(same.filter(|_| unchanged == Some(true)));
        }
        if gone.is_some() || !transcript.is_followed_by(&indexed.stamp, seq) {
            return Ok(None);
        }
        let appended = self.snapshot.event(session_id, seq, |stored| transcript.append(seq, &stored))?;
        match appended {
            Some((Growth::None, _) | (Growth::Row, None)) => Ok(same),
            Some((Growth::Row, Some(message))) => {
                let Some(found) = transcript.message(seq) else { return Ok(None) };
                self.open()?;
                let (messages, tokens) = self.writer(&mut Budget::unbounded()).insert(indexed.id, seq, &message, found)?;
                Ok(Some((indexed.messages + messages, indexed.tokens + tokens)))
            }
            Some((Growth::Other, message)) => {
                let Some(until) = self.pace.until() else { return Ok(None) };
                let mut texts = Texts::default();
                texts.keep(seq, message);
                self.write_difference(session_id, indexed.id, transcript, texts, until)
            }
            None => Ok(None), // gone already
        }
    }

    /// The other cases: the transcript is read from its beginning. `None` where that takes too long.
    fn read_again(&mut self, session_id: &str, id: i64, transcript: &mut Transcript) -> Result<Option<(i64, i64)>> {
        let Some(until) = self.pace.until() else { return Ok(None) };
        *transcript = Transcript::default();
        let mut texts = Texts::default();
        let complete = transcript.read(self.snapshot, session_id, &State::of_stamp(String::new()), |seq, message| {
            texts.keep(seq, message);
            Instant::now() < until
        })?;
        if !complete {
            self.pace.spend();
            return Ok(None);
        }
        self.write_difference(session_id, id, transcript, texts, until)
    }

    fn write_difference(
        &mut self,
        session_id: &str,
        id: i64,
        transcript: &Transcript,
        texts: Texts,
        until: Instant,
    ) -> Result<Option<(i64, i64)>> {
        self.open()?;
        let done = self.writer(&mut Budget::until(until)).write_difference(id, &transcript.active(), texts, session_id)?;
        self.pace.spend();
        match done {
            Done::All => totals(self.handle, id).map(Some),
            Done::Part => Ok(None),
        }
    }

    /// Leaves a transcript behind. The text of an event that is gone leaves the index all the same.
    fn forget(&mut self, id: i64, gone: Option<i64>) -> Result<()> {
        if let Some(seq) = gone.filter(|&seq| is_indexable(seq)) {
            self.open()?;
            self.writer(&mut Budget::unbounded()).delete(id, seq)?;
        }
        self.put_behind(id)
    }

    fn remove(&mut self, session_id: &str, id: i64) -> Result<()> {
        self.remembered.take(session_id);
        self.open()?;
        self.writer(&mut Budget::unbounded()).clear(id)?;
        self.put_behind(id)?;
        self.execute("DELETE FROM main.session_search_transcript WHERE id = ?1", [id])
    }

    /// Whether a transcript has no event left, or is being deleted.
    fn is_over(&self, session_id: &str) -> Result<bool> {
        Ok(self.snapshot.session_key(session_id)?.is_none() || !self.snapshot.has_events(session_id)?)
    }

    fn is_searchable(&self, session_id: &str) -> Result<bool> {
        Ok(self.snapshot.session_key(session_id)?.is_some_and(|key| !visibility::is_incognito(&key)))
    }

    /// Before rows of FTS5 are written. The statement touches none, but it can be undone alone: FTS5 writes what is pending from before, and
    /// knows from now on (3.43) which level of the transaction a rollback goes back to.
    fn open(&self) -> Result<()> {
        self.execute("INSERT INTO main.session_search_fts(rowid, text) SELECT 1, '' WHERE 0", [])
    }

    /// At the end, when the transcript is in step: notes that for the plain trigger, which comes next. Being a statement of many rows that can fail
    /// (a range, and columns that are NOT NULL), it can be undone alone too: FTS5 writes its pages now.
    fn done(&self, id: i64, seq: i64, stamp: &str, (messages, tokens): (i64, i64), unreadable: i64) -> Result<()> {
        self.execute(
            "UPDATE main.session_search_transcript
             SET applied_seq = ?2, applied_stamp = ?3, messages = ?4, tokens = ?5, unreadable = ?6 WHERE id BETWEEN ?1 AND ?1",
            params![id, seq, stamp, messages, tokens, unreadable],
        )
    }

    /// The same when it is not in step. It gets a new stamp, in case no plain trigger gives it one. (What must not be indexed at all, with
    /// the stamp '', stays in step with nothing.)
    fn put_behind(&self, id: i64) -> Result<()> {
        self.execute(
            "UPDATE main.session_search_transcript
             SET source_stamp = ?2, applied_seq = NULL, indexed_stamp = CASE indexed_stamp WHEN '' THEN '' END, messages = messages
             WHERE id BETWEEN ?1 AND ?1",
            params![id, new_stamp()],
        )
    }

    fn execute(&self, sql: &str, params: impl rusqlite::Params) -> Result<()> {
        schema::execute(self.handle.connection(), sql, params).map_err(writing_index)
    }

    fn writer<'b>(&'b self, budget: &'b mut Budget) -> Writer<'b> {
        Writer::new(self.handle, self.snapshot, self.detector, budget)
    }

    fn indexed(&self, session_id: &str) -> Result<Option<Indexed>> {
        let sql = "SELECT id, source_stamp, source_stamp IS indexed_stamp AND applied_seq IS NULL, messages, tokens
            FROM main.session_search_transcript WHERE session_id = ?1";
        let mut statement = self.handle.connection().prepare_cached(sql).map_err(writing_index)?;
        let mut rows = statement.query([session_id]).map_err(writing_index)?;
        let Some(row) = rows.next().map_err(writing_index)? else { return Ok(None) };
        let read = || Ok(Indexed { id: row.get(0)?, stamp: row.get(1)?, in_step: row.get(2)?, messages: row.get(3)?, tokens: row.get(4)? });
        read().map(Some).map_err(writing_index)
    }
}
