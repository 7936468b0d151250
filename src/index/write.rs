//! Bringing transcripts in step: their events are read, the active branch is followed, and the difference to what the index holds
//! is written. Bounded by a [`Budget`]; what does not fit is left behind, and what was written of it is right already.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::time::Instant;

use rusqlite::params;

use super::catalog::{Catalog, Entry};
use super::remembered::Remembered;
use super::transcript::Found;
use super::{rowid, rowids, transcript_and_seq, writing_index};
use crate::error::{Error, Result};
use crate::event::Message;
use crate::handle::Handle;
use crate::redact::{Detector, Redacted};
use crate::schema;
use crate::source::Snapshot;
use crate::tokenizer::{Purpose, Tokenizer};

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

    /// For what has to be done at once.
    pub(super) fn unbounded() -> Self {
        Self { until: None, messages: usize::MAX, bytes: usize::MAX, strict: false, grace: 0 }
    }

    /// For one step of reconcile: so many messages and bytes of text, and no longer than `until`, so that the host is not read for longer.
    pub(super) fn step(messages: usize, bytes: usize, until: Instant) -> Self {
        Self { until: Some(until), messages, bytes, strict: true, grace: GRACE }
    }

    /// Messages and bytes of text that were written, of a budget that began with so many.
    pub(super) fn used(&self, messages: usize, bytes: usize) -> (usize, usize) {
        (messages - self.messages, bytes - self.bytes)
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
    /// Transcripts that came in step, or went.
    pub(super) done: usize,
    /// The host's events of some transcript could not be read; the others went on.
    pub(super) unread: Option<Error>,
}

/// Which transcripts are brought in step.
pub(super) enum Which<'w> {
    /// Those that a search looks at, small ones first, and what must not be found any more.
    Wanted(&'w dyn Fn(&Entry) -> bool),
    /// All, those that were used last first.
    All,
}

/// Brings transcripts in step, in the given transaction, until the writer's budget is spent. At least one is worked on. On error the catalog
/// goes, as in [`make_index`]. The caller commits.
pub(super) fn catch_up(
    mut writer: Writer<'_>,
    slot: &mut Option<Catalog>,
    remembered: &mut Remembered,
    which: &Which<'_>,
) -> Result<Progress> {
    with_current_catalog(writer.handle, writer.snapshot, slot, |catalog| writer.catch_up(catalog, remembered, which))
}

/// Makes an empty index where there is none for this host. The caller has opened a transaction, and commits.
pub(super) fn make_index(handle: &Handle, snapshot: &Snapshot<'_>, slot: &mut Option<Catalog>) -> Result<()> {
    with_current_catalog(handle, snapshot, slot, |_| Ok(()))
}

/// Runs `work` on the catalog as of the transaction (transcript ids are only good for the state of the index that they came from), of an
/// index that is made first where there is none. On error the catalog goes: it speaks of rows that will be gone.
fn with_current_catalog<T>(
    handle: &Handle,
    snapshot: &Snapshot<'_>,
    slot: &mut Option<Catalog>,
    work: impl FnOnce(&mut Catalog) -> Result<T>,
) -> Result<T> {
    let current = || -> Result<T> {
        if Catalog::refresh(slot, handle, snapshot)?.is_none() {
            schema::prepare(handle.connection(), &snapshot.identity()?)?;
            Catalog::refresh(slot, handle, snapshot)?;
        }
        work(slot.as_mut().ok_or_else(super::no_index)?)
    };
    let done = current();
    if done.is_err() {
        *slot = None;
    }
    done
}

/// How far a transcript got.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Done {
    /// It is in step.
    All,
    /// What was read and written is right, but it is not all.
    Part,
}

/// Writes the rows of the index.
pub(super) struct Writer<'w> {
    handle: &'w Handle,
    snapshot: &'w Snapshot<'w>,
    detector: &'w Detector,
    budget: &'w mut Budget,
    /// Whether a row of the index has changed.
    wrote: bool,
}

impl<'w> Writer<'w> {
    pub(super) fn new(handle: &'w Handle, snapshot: &'w Snapshot<'w>, detector: &'w Detector, budget: &'w mut Budget) -> Self {
        Self { handle, snapshot, detector, budget, wrote: false }
    }

    fn catch_up(&mut self, catalog: &mut Catalog, remembered: &mut Remembered, which: &Which<'_>) -> Result<Progress> {
        let mut progress = Progress::default();
        let behind = match which {
            Which::Wanted(wanted) => catalog.behind(wanted),
            Which::All => catalog.behind_by_use(self.snapshot)?,
        };
        for i in behind {
            if progress.any && self.budget.spent() {
                break;
            }
            let entry = &mut catalog.entries[i];
            let id = match entry.transcript {
                Some(id) => id,
                None => self.add(&entry.session.session_id)?,
            };
            entry.transcript = Some(id);
            match self.bring_in_step(id, entry, remembered) {
                Ok((done, unreadable)) => {
                    progress.any = true;
                    progress.done += usize::from(done == Done::All);
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
                progress.done += 1;
            }
        }
        if self.wrote {
            catalog.index.state = self.new_state()?;
        }
        Ok(progress)
    }

    pub(super) fn execute(&mut self, sql: &str, params: impl rusqlite::Params) -> Result<()> {
        self.wrote = true;
        schema::execute(self.handle.connection(), sql, params).map_err(writing_index)
    }

    fn new_state(&self) -> Result<String> {
        let sql = "UPDATE main.session_search_meta SET value = hex(randomblob(16)) WHERE key = 'state' RETURNING value";
        let state = self.handle.connection().prepare_cached(sql).and_then(|mut s| s.query_row([], |row| row.get(0)));
        state.map_err(writing_index)
    }

    /// A transcript id. Ids that differ in bytes that are no UTF-8 only are read as the same: they share it.
    pub(super) fn add(&mut self, session_id: &str) -> Result<i64> {
        self.wrote = true;
        let sql = "INSERT INTO main.session_search_transcript(session_id, source_stamp)
            SELECT ?1, value FROM main.session_search_meta WHERE key = 'made'
            ON CONFLICT(session_id) DO UPDATE SET session_id = excluded.session_id RETURNING id";
        let id = self.handle.connection().prepare_cached(sql).and_then(|mut s| s.query_row([session_id], |row| row.get(0)));
        id.map_err(writing_index)
    }

    /// Makes the index hold the searchable messages of a session, or nothing where it must not be found. Returns also how many of its
    /// events cannot be read.
    fn bring_in_step(&mut self, id: i64, entry: &Entry, remembered: &mut Remembered) -> Result<(Done, i64), Failed> {
        if !entry.searchable {
            return Ok((self.clear(id)?, 0));
        }
        let session_id = &entry.session.session_id;
        let mut transcript = remembered.take(session_id);
        let mut texts = Texts::default();
        let budget = &mut *self.budget;
        let read = transcript.read(self.snapshot, session_id, &entry.session.state, |seq, message| {
            texts.keep(seq, message);
            !budget.stops_in_time()
        });
        let complete = read.map_err(Failed::Host)?;
        let done = if complete { self.write_difference(id, &transcript.active(), texts, session_id)? } else { Done::Part };
        let unreadable = transcript.unreadable;
        remembered.keep(session_id, transcript);
        Ok((done, unreadable))
    }

    /// Takes all messages of a transcript out of the index, as far as the budget goes.
    pub(super) fn clear(&mut self, id: i64) -> Result<Done> {
        self.write_difference(id, &BTreeMap::new(), Texts::default(), "")
    }

    /// Takes one message out of the index. Ended halfway, it counts as another message, which is to be taken out.
    pub(super) fn delete(&mut self, id: i64, seq: i64) -> Result<()> {
        let row = rowid(id, seq);
        self.execute("UPDATE main.session_search_message SET source_hash = 0 WHERE id = ?1", [row])?;
        self.execute("DELETE FROM main.session_search_fts WHERE rowid = ?1", [row])?;
        self.execute("DELETE FROM main.session_search_message WHERE id = ?1", [row])
    }

    /// Writes the difference between what the index holds of a transcript and what it should hold, as far as the budget goes.
    /// Messages come from `texts`, or from the host once more.
    pub(super) fn write_difference(&mut self, id: i64, wanted: &BTreeMap<i64, Found>, mut texts: Texts, session_id: &str) -> Result<Done> {
        let held = self.held(id)?;
        for (seq, _) in held.iter().filter(|(seq, found)| wanted.get(seq) != Some(*found)) {
            if self.budget.stops_in_time() {
                return Ok(Done::Part);
            }
            self.delete(id, *seq)?;
        }
        for (&seq, found) in wanted.iter().filter(|(seq, found)| held.get(seq) != Some(*found)) {
            if self.budget.stops() {
                return Ok(Done::Part);
            }
            let message = match texts.take(seq) {
                Some(message) => Some(message),
                None => self.snapshot.message(session_id, seq, found.hash)?.map(|(message, _)| message),
            };
            if let Some(message) = message {
                self.insert(id, seq, &message, *found)?;
                self.budget.take(&message);
            }
        }
        Ok(Done::All)
    }

    /// Puts a message into the index: how many messages and tokens it holds more. The message row comes last: only a message with an
    /// FTS5 row counts as held.
    pub(super) fn insert(&mut self, id: i64, seq: i64, message: &Message, found: Found) -> Result<(i64, i64)> {
        let text = Redacted::with(self.detector, &message.text);
        let mut tokens = 0;
        indexed_terms(&text, |position, _| tokens = position + 1);
        let row = rowid(id, seq);
        let inserted =
            self.execute("INSERT OR REPLACE INTO main.session_search_fts(rowid, text) VALUES(?1, ?2)", params![row, text.indexed()]);
        match inserted {
            // The caller has lowered SQLITE_LIMIT_LENGTH: this message has no place, the others have.
            Err(error) if error.is_too_big() => return Ok((0, 0)),
            inserted => inserted?,
        }
        self.execute(
            "INSERT OR REPLACE INTO main.session_search_message(id, message_id, role, timestamp, source_hash, tokens) VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
            params![row, message.id, message.role.as_str(), found.timestamp, found.hash, tokens],
        )?;
        Ok((1, tokens))
    }

    /// Notes in the index and in the catalog how far a transcript got.
    fn note(&mut self, id: i64, entry: &mut Entry, done: Done, unreadable: i64) -> Result<()> {
        if done == Done::Part && !self.wrote && !entry.stamped {
            return Ok(()); // nothing has changed
        }
        self.wrote = true;
        let stamp = (done == Done::All).then(|| entry.stamp().to_owned());
        (entry.messages, entry.tokens) = totals(self.handle, id)?;
        if done == Done::All && entry.session.state.events == 0 && entry.messages == 0 {
            // Nothing, in step with nothing: should its session go, nobody would tell us.
            self.execute("DELETE FROM main.session_search_transcript WHERE id = ?1", [id])?;
            (entry.transcript, entry.in_step, entry.stamped) = (None, true, false);
            return Ok(());
        }
        let sql = "UPDATE main.session_search_transcript
            SET indexed_stamp = ?2, applied_seq = NULL, unreadable = ?3, messages = ?4, tokens = ?5 WHERE id = ?1";
        self.execute(sql, params![id, stamp, unreadable, entry.messages, entry.tokens])?;
        entry.in_step = done == Done::All;
        entry.stamped = entry.in_step;
        Ok(())
    }

    /// What the index holds of a transcript, by seq.
    fn held(&self, id: i64) -> Result<BTreeMap<i64, Found>> {
        let (first, last) = rowids(id);
        let sql = "SELECT id, source_hash, timestamp FROM main.session_search_message WHERE id BETWEEN ?1 AND ?2";
        let mut statement = self.handle.connection().prepare_cached(sql).map_err(writing_index)?;
        let held = |row: &rusqlite::Row<'_>| Ok((transcript_and_seq(row.get(0)?).1, Found { hash: row.get(1)?, timestamp: row.get(2)? }));
        let rows = statement.query_map([first, last], held).map_err(writing_index)?;
        rows.collect::<rusqlite::Result<_>>().map_err(writing_index)
    }
}

/// Messages that were read and may be written next: no more than one transaction may write anyway.
pub(super) struct Texts {
    messages: BTreeMap<i64, Message>,
    room: usize,
}

impl Default for Texts {
    fn default() -> Self {
        Self { messages: BTreeMap::new(), room: super::STEP_BYTES }
    }
}

impl Texts {
    pub(super) fn keep(&mut self, seq: i64, message: Option<Message>) {
        if let Some(message) = message.filter(|message| message.text.len() <= self.room) {
            self.room -= message.text.len();
            self.messages.insert(seq, message);
        }
    }

    fn take(&mut self, seq: i64) -> Option<Message> {
        self.messages.remove(&seq)
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

/// What FTS5 makes of a text: each term with its position.
pub(super) fn indexed_terms(text: &Redacted<'_>, mut each: impl FnMut(i64, &[u8])) {
    let mut position = -1;
    let Ok(()) = Tokenizer::default().terms::<Infallible>(text.indexed().as_bytes(), Purpose::Text, |term| {
        position += i64::from(!term.colocated);
        each(position, term.text.as_bytes());
        Ok(())
    });
}

/// How many messages and tokens the index holds of a transcript.
pub(super) fn totals(handle: &Handle, id: i64) -> Result<(i64, i64)> {
    let (first, last) = rowids(id);
    let sql = "SELECT count(*), ifnull(sum(tokens), 0) FROM main.session_search_message WHERE id BETWEEN ?1 AND ?2";
    let mut statement = handle.connection().prepare_cached(sql).map_err(writing_index)?;
    statement.query_row([first, last], |row| Ok((row.get(0)?, row.get(1)?))).map_err(writing_index)
}
