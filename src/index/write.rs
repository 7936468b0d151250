//! Bringing transcripts in step: their events are read, the active branch is followed, and the difference to what the index holds
//! is written. Bounded by a [`Budget`]; what does not fit is left behind, and what was written of it is right already.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Instant;

use rusqlite::params;

use super::catalog::{Catalog, Entry};
use super::transaction::Writing;
use super::transcript::{Found, Remembered};
use super::{rowid, rowids, transcript_and_seq};
use crate::error::{Error, Result};
use crate::event::Message;
use crate::handle::Handle;
use crate::redact::Redacted;
use crate::schema;
use crate::source::Snapshot;
use crate::tokenizer::Tokenizer;

/// What one transaction may cost.
pub(super) struct Budget {
    until: Option<Instant>,
    messages: usize,
    bytes: usize,
    /// Whether a transcript is left half done when the time is over, too.
    strict: bool,
    /// Steps (events read, rows deleted, messages written) that are taken even when it is late, so that something gets done.
    grace: usize,
}

/// So many steps cost a few milliseconds: a small transcript gets through on a machine that stalls.
const GRACE: usize = 256;

impl Budget {
    /// For a search: ends at `until`.
    pub(super) fn until(until: Instant) -> Self {
        Self { until: Some(until), messages: usize::MAX, bytes: usize::MAX, strict: true, grace: GRACE }
    }

    /// For one step of reconcile: so many messages and bytes of text, and no new transcript after `until`.
    pub(super) fn step(messages: usize, bytes: usize, until: Option<Instant>) -> Self {
        Self { until, messages, bytes, strict: false, grace: 0 }
    }

    fn late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    fn spent(&self) -> bool {
        self.messages == 0 || self.bytes == 0 || self.late()
    }

    /// One more step: whether the transcript at hand has to be left half done instead, for want of time.
    fn stops_in_time(&mut self) -> bool {
        self.grace = self.grace.saturating_sub(1);
        self.strict && self.grace == 0 && self.late()
    }

    /// The same before a message is written, for want of time or room.
    fn stops(&mut self) -> bool {
        self.messages == 0 || self.bytes == 0 || self.stops_in_time()
    }

    fn take(&mut self, message: &Message) {
        self.messages = self.messages.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(message.text.len());
    }
}

/// What a transaction has done.
#[derive(Default)]
pub(super) struct Progress {
    /// Some transcript got further.
    pub(super) any: bool,
    /// The host's events of some transcript could not be read; the others went on.
    pub(super) unread: Option<Error>,
}

/// Brings transcripts in step, in the given transaction, until the budget is spent: the `wanted` ones, and what must not be
/// found any more. At least one is worked on.
pub(super) fn catch_up(
    handle: &Handle,
    snapshot: &Snapshot<'_>,
    slot: &mut Option<Catalog>,
    remembered: &mut Remembered,
    budget: &mut Budget,
    wanted: &dyn Fn(&Entry) -> bool,
    transaction: Writing<'_>,
) -> Result<Progress> {
    in_step_with(handle, snapshot, slot, transaction, |catalog| {
        Writer { handle, snapshot, remembered, budget, wrote: false }.catch_up(catalog, wanted)
    })
}

/// Makes an empty index where there is none for this host, in the given transaction.
pub(super) fn make_index(handle: &Handle, snapshot: &Snapshot<'_>, slot: &mut Option<Catalog>, transaction: Writing<'_>) -> Result<()> {
    in_step_with(handle, snapshot, slot, transaction, |_| Ok(()))
}

/// Runs `work` on the catalog as of this transaction (transcript ids are only good for the state of the index that they came from),
/// of an index that is made first where there is none, and commits. On error the catalog goes: it speaks of rows that are gone.
fn in_step_with<T>(
    handle: &Handle,
    snapshot: &Snapshot<'_>,
    slot: &mut Option<Catalog>,
    transaction: Writing<'_>,
    work: impl FnOnce(&mut Catalog) -> Result<T>,
) -> Result<T> {
    let current = || -> Result<T> {
        if Catalog::refresh(slot, handle, snapshot)?.is_none() {
            schema::prepare(handle.connection(), &snapshot.identity()?)?;
        }
        let catalog = Catalog::refresh(slot, handle, snapshot)?.ok_or_else(super::no_index)?;
        let value = work(catalog)?;
        transaction.commit()?;
        Ok(value)
    };
    let done = current();
    if done.is_err() {
        *slot = None;
    }
    done
}

/// How far a transcript got.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Done {
    /// It is in step.
    All,
    /// What was read and written is right, but it is not all.
    Part,
}

struct Writer<'w> {
    handle: &'w Handle,
    snapshot: &'w Snapshot<'w>,
    remembered: &'w mut Remembered,
    budget: &'w mut Budget,
    /// Whether a row of the index has changed.
    wrote: bool,
}

impl Writer<'_> {
    fn catch_up(&mut self, catalog: &mut Catalog, wanted: &dyn Fn(&Entry) -> bool) -> Result<Progress> {
        let mut progress = Progress::default();
        for i in catalog.behind(wanted) {
            if progress.any && self.budget.spent() {
                break;
            }
            let entry = &mut catalog.entries[i];
            let id = match entry.transcript {
                Some(id) => id,
                None => self.add(&entry.session.session_id)?,
            };
            entry.transcript = Some(id);
            match self.bring_in_step(id, entry) {
                Ok((done, unreadable)) => {
                    progress.any = true;
                    self.note(id, entry, done, unreadable)?;
                }
                Err(Failed::Host(error)) => progress.unread = Some(error),
                Err(Failed::Index(error)) => return Err(error),
            }
        }
        while let Some(&id) = catalog.orphans.last() {
            if progress.any && self.budget.spent() {
                break;
            }
            progress.any = true;
            // Half removed it is in step with nothing, should the host bring it back.
            self.execute("UPDATE main.session_search_transcript SET indexed_stamp = NULL WHERE id = ?1", [id])?;
            if self.clear(id)? == Done::All {
                self.execute("DELETE FROM main.session_search_transcript WHERE id = ?1", [id])?;
                catalog.orphans.pop();
            }
        }
        if self.wrote {
            catalog.index.state = self.new_state()?;
        }
        Ok(progress)
    }

    fn execute(&mut self, sql: &str, params: impl rusqlite::Params) -> Result<()> {
        self.wrote = true;
        schema::execute(self.handle.connection(), sql, params).map_err(writing_index)
    }

    fn new_state(&self) -> Result<String> {
        let sql = "UPDATE main.session_search_meta SET value = hex(randomblob(16)) WHERE key = 'state' RETURNING value";
        let state = self.handle.connection().prepare_cached(sql).and_then(|mut s| s.query_row([], |row| row.get(0)));
        state.map_err(writing_index)
    }

    /// A transcript id. Ids that differ in bytes that are no UTF-8 only are read as the same: they share it.
    fn add(&mut self, session_id: &str) -> Result<i64> {
        self.wrote = true;
        let sql = "INSERT INTO main.session_search_transcript(session_id) VALUES(?1)
            ON CONFLICT(session_id) DO UPDATE SET session_id = excluded.session_id RETURNING id";
        let id = self.handle.connection().prepare_cached(sql).and_then(|mut s| s.query_row([session_id], |row| row.get(0)));
        id.map_err(writing_index)
    }

    /// Makes the index hold the searchable messages of a session, or nothing where it must not be found. Returns also how many of its
    /// events cannot be read.
    fn bring_in_step(&mut self, id: i64, entry: &Entry) -> Result<(Done, i64), Failed> {
        if !entry.searchable {
            return Ok((self.clear(id)?, 0));
        }
        let session_id = &entry.session.session_id;
        let mut transcript = self.remembered.take(session_id);
        // The texts that are read now are kept for writing, but no more than one transaction may write anyway.
        let mut texts = BTreeMap::new();
        let mut room = super::STEP_BYTES;
        let read = transcript.read(self.snapshot, &entry.session, |seq, message| {
            if let Some(message) = message.filter(|message| message.text.len() <= room) {
                room -= message.text.len();
                texts.insert(seq, message);
            }
            !self.budget.stops_in_time()
        });
        let complete = read.map_err(Failed::Host)?;
        let done = if complete { self.write_difference(id, &transcript.active(), &mut texts, Some(session_id))? } else { Done::Part };
        let unreadable = transcript.unreadable;
        self.remembered.keep(session_id, transcript);
        Ok((done, unreadable))
    }

    /// Takes all messages of a transcript out of the index.
    fn clear(&mut self, id: i64) -> Result<Done> {
        self.write_difference(id, &BTreeMap::new(), &mut BTreeMap::new(), None)
    }

    /// Writes the difference between what the index holds of a transcript and what it should hold, as far as the budget goes.
    /// Messages come from `texts`, or from the host's `session_id` once more.
    fn write_difference(
        &mut self,
        id: i64,
        wanted: &BTreeMap<i64, Found>,
        texts: &mut BTreeMap<i64, Message>,
        session_id: Option<&str>,
    ) -> Result<Done> {
        let held = self.held(id)?;
        let is_held = |seq: &i64, found: &Found| held.get(seq) == Some(&found.hash);
        for (seq, _) in held.iter().filter(|(seq, hash)| wanted.get(seq).map(|found| found.hash) != Some(**hash)) {
            if self.budget.stops_in_time() {
                return Ok(Done::Part);
            }
            let row = rowid(id, *seq);
            self.execute("DELETE FROM main.session_search_fts WHERE rowid = ?1", [row])?;
            self.execute("DELETE FROM main.session_search_message WHERE id = ?1", [row])?;
        }
        for (&seq, found) in wanted.iter().filter(|(seq, found)| !is_held(seq, found)) {
            if self.budget.stops() {
                return Ok(Done::Part);
            }
            let message = match (texts.remove(&seq), session_id) {
                (Some(message), _) => Some(message),
                (None, Some(session_id)) => self.snapshot.message(session_id, seq, found.hash)?.map(|(message, _)| message),
                (None, None) => None,
            };
            if let Some(message) = message {
                match self.insert(rowid(id, seq), &message, *found) {
                    // The caller has lowered SQLITE_LIMIT_LENGTH: this message has no place, the others have.
                    Err(error) if error.is_too_big() => {}
                    inserted => inserted?,
                }
                self.budget.take(&message);
            }
        }
        Ok(Done::All)
    }

    fn insert(&mut self, row: i64, message: &Message, found: Found) -> Result<()> {
        let timestamp = message.timestamp.unwrap_or(found.created_at);
        let text = Redacted::new(&message.text);
        let mut tokens = 0_i64;
        let Ok(()) = text.tokens::<Infallible>(Tokenizer::default(), |_| {
            tokens += 1;
            Ok(())
        });
        self.execute("INSERT INTO main.session_search_fts(rowid, text) VALUES(?1, ?2)", params![row, text.indexed()])?;
        self.execute(
            "INSERT INTO main.session_search_message(id, message_id, role, timestamp, source_hash, tokens) VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
            params![row, message.id, message.role.as_str(), timestamp, found.hash, tokens],
        )
    }

    /// Notes in the index and in the catalog how far a transcript got.
    fn note(&mut self, id: i64, entry: &mut Entry, done: Done, unreadable: i64) -> Result<()> {
        if done == Done::Part && !self.wrote && !entry.stamped {
            return Ok(()); // nothing has changed
        }
        self.wrote = true;
        let stamp = (done == Done::All).then(|| entry.stamp());
        let (first, last) = rowids(id);
        let sql = "UPDATE main.session_search_transcript SET indexed_stamp = ?2, unreadable = ?3, (messages, tokens) =
            (SELECT count(*), ifnull(sum(tokens), 0) FROM main.session_search_message WHERE id BETWEEN ?4 AND ?5)
            WHERE id = ?1 RETURNING messages, tokens";
        let params = params![id, stamp, unreadable, first, last];
        let noted =
            self.handle.connection().prepare_cached(sql).and_then(|mut s| s.query_row(params, |row| Ok((row.get(0)?, row.get(1)?))));
        (entry.messages, entry.tokens) = noted.map_err(writing_index)?;
        entry.in_step = done == Done::All;
        entry.stamped = entry.in_step;
        Ok(())
    }

    /// What the index holds of a transcript: seq -> source hash.
    fn held(&self, id: i64) -> Result<BTreeMap<i64, i64>> {
        let (first, last) = rowids(id);
        let sql = "SELECT id, source_hash FROM main.session_search_message WHERE id BETWEEN ?1 AND ?2";
        let mut statement = self.handle.connection().prepare_cached(sql).map_err(writing_index)?;
        let rows = statement.query_map([first, last], |row| Ok((transcript_and_seq(row.get(0)?).1, row.get(1)?))).map_err(writing_index)?;
        rows.collect::<rusqlite::Result<_>>().map_err(writing_index)
    }
}

/// What went wrong with a transcript.
enum Failed {
    /// Its events cannot be read: the others go on.
    Host(Error),
    /// The index cannot be written.
    Index(Error),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Index(error)
    }
}

fn writing_index(error: rusqlite::Error) -> Error {
    Error::index("writing the index", error)
}
