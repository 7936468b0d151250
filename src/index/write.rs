//! Bringing transcripts in step: their events are read, the active branch is followed, and the difference to what the index holds
//! is written. Bounded by a [`Budget`]; what does not fit is left behind, and what was written of it is right already.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Instant;

use rusqlite::params;

use super::catalog::Catalog;
use super::transaction::Writing;
use super::{rowid, rowids, transcript_and_seq};
use crate::branch::Branch;
use crate::error::{Error, Result};
use crate::event::Message;
use crate::handle::Handle;
use crate::redact::Redacted;
use crate::schema;
use crate::source::Snapshot;

/// What one transaction may cost.
pub(super) struct Budget {
    until: Option<Instant>,
    messages: usize,
    bytes: usize,
    /// A search gives up on a transcript that takes too long; reconcile goes on until it is done.
    gives_up: bool,
}

impl Budget {
    /// For a search: ends at `until`.
    pub(super) fn until(until: Instant) -> Self {
        Self { until: Some(until), messages: usize::MAX, bytes: usize::MAX, gives_up: true }
    }

    /// For one step of reconcile: so many messages and bytes of text, and no new transcript after `until`.
    pub(super) fn step(messages: usize, bytes: usize, until: Option<Instant>) -> Self {
        Self { until, messages, bytes, gives_up: false }
    }

    fn late(&self) -> bool {
        self.until.is_some_and(|until| Instant::now() >= until)
    }

    fn spent(&self) -> bool {
        self.messages == 0 || self.bytes == 0 || self.late()
    }

    /// Whether the transcript at hand has to be left half done.
    fn stops(&self) -> bool {
        self.messages == 0 || self.bytes == 0 || self.gives_up && self.late()
    }

    fn take(&mut self, message: &Message) {
        self.messages = self.messages.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(message.text.len());
    }
}

/// Brings transcripts in step, in the given transaction, until the budget is spent. At least one is worked on.
pub(super) fn catch_up(
    handle: &Handle,
    snapshot: &Snapshot<'_>,
    slot: &mut Option<Catalog>,
    budget: &mut Budget,
    transaction: Writing<'_>,
) -> Result<()> {
    // Taken inside the transaction: transcript ids are only good for the state of the index that they came from.
    let done = current(handle, snapshot, slot)
        .and_then(|catalog| Writer { handle, snapshot }.catch_up(catalog, budget))
        .and_then(|()| transaction.commit());
    if done.is_err() {
        *slot = None; // it speaks of rows that have been rolled back
    }
    done
}

/// Makes an empty index where there is none for this host, in the given transaction.
pub(super) fn make_index(handle: &Handle, snapshot: &Snapshot<'_>, slot: &mut Option<Catalog>, transaction: Writing<'_>) -> Result<()> {
    let done = current(handle, snapshot, slot).and_then(|_| transaction.commit());
    if done.is_err() {
        *slot = None;
    }
    done
}

/// The catalog as of now, of an index that is made first where there is none. The caller has opened a transaction.
fn current<'c>(handle: &Handle, snapshot: &Snapshot<'_>, slot: &'c mut Option<Catalog>) -> Result<&'c mut Catalog> {
    if Catalog::refresh(slot, handle, snapshot)?.is_none() {
        schema::prepare(handle.connection(), &snapshot.identity()?)?;
    }
    Catalog::refresh(slot, handle, snapshot)?.ok_or_else(super::no_index)
}

/// How far a transcript got.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Done {
    /// It is in step.
    All,
    /// What was written is right, but it is not all.
    Part,
    /// The budget ended before it was read.
    Nothing,
}

struct Writer<'w> {
    handle: &'w Handle,
    snapshot: &'w Snapshot<'w>,
}

impl Writer<'_> {
    fn catch_up(&self, catalog: &mut Catalog, budget: &mut Budget) -> Result<()> {
        let mut worked = false;
        while let Some(&id) = catalog.orphans.last() {
            if worked && budget.spent() {
                break;
            }
            self.remove(id)?;
            catalog.orphans.pop();
            worked = true;
        }
        for i in catalog.behind() {
            let entry = &mut catalog.entries[i];
            if worked && budget.spent() {
                break;
            }
            if budget.gives_up && entry.too_large {
                continue;
            }
            let id = match entry.transcript {
                Some(id) => id,
                None => self.add(&entry.session.session_id)?,
            };
            let session = entry.searchable.then_some(entry.session.session_id.as_str());
            let done = self.bring_in_step(id, session, entry.stamp(), budget)?;
            entry.too_large = done == Done::Nothing && !worked; // it had the whole budget
            catalog.wrote(i, id, done == Done::All);
            worked = true;
        }
        if worked {
            catalog.index.state = self.new_state()?;
        }
        Ok(())
    }

    /// Runs a statement to its end. Not as one without rows: `PRAGMA count_changes` gives every statement a row.
    fn execute(&self, sql: &str, params: impl rusqlite::Params) -> Result<()> {
        let mut statement = self.handle.connection().prepare_cached(sql).map_err(writing_index)?;
        let mut rows = statement.query(params).map_err(writing_index)?;
        while rows.next().map_err(writing_index)?.is_some() {}
        Ok(())
    }

    fn new_state(&self) -> Result<String> {
        let sql = "UPDATE main.session_search_meta SET value = hex(randomblob(16)) WHERE key = 'state' RETURNING value";
        let state = self.handle.connection().prepare_cached(sql).and_then(|mut s| s.query_row([], |row| row.get(0)));
        state.map_err(writing_index)
    }

    fn add(&self, session_id: &str) -> Result<i64> {
        let sql = "INSERT INTO main.session_search_transcript(session_id) VALUES(?1)
            ON CONFLICT(session_id) DO UPDATE SET session_id = excluded.session_id RETURNING id";
        let id = self.handle.connection().prepare_cached(sql).and_then(|mut s| s.query_row([session_id], |row| row.get(0)));
        id.map_err(writing_index)
    }

    fn remove(&self, id: i64) -> Result<()> {
        let (first, last) = rowids(id);
        self.execute("DELETE FROM main.session_search_fts WHERE rowid BETWEEN ?1 AND ?2", [first, last])?;
        self.execute("DELETE FROM main.session_search_message WHERE id BETWEEN ?1 AND ?2", [first, last])?;
        self.execute("DELETE FROM main.session_search_transcript WHERE id = ?1", [id])
    }

    /// Writes the difference between what the index holds of a transcript and what it should hold: the searchable messages of
    /// `session_id`, or nothing.
    fn bring_in_step(&self, id: i64, session_id: Option<&str>, stamp: &str, budget: &mut Budget) -> Result<Done> {
        let held = self.held(id)?;
        let wanted = match session_id {
            None => Transcript::default(),
            Some(session_id) => match Transcript::read(self.snapshot, session_id, &held, &|| budget.stops())? {
                Some(wanted) => wanted,
                None => return Ok(Done::Nothing),
            },
        };
        let mut done = Done::All;
        for (&seq, hash) in &held {
            let kept = wanted.messages.get(&seq).is_some_and(|m| m.hash == *hash);
            if let (false, Some(row)) = (kept, rowid(id, seq)) {
                self.execute("DELETE FROM main.session_search_fts WHERE rowid = ?1", [row])?;
                self.execute("DELETE FROM main.session_search_message WHERE id = ?1", [row])?;
            }
        }
        for (&seq, wanted) in &wanted.messages {
            let (Some(message), Some(row)) = (&wanted.new, rowid(id, seq)) else { continue };
            if budget.stops() {
                done = Done::Part;
                break;
            }
            let timestamp = message.timestamp.unwrap_or(wanted.created_at);
            self.execute(
                "INSERT INTO main.session_search_message(id, message_id, role, timestamp, source_hash) VALUES(?1, ?2, ?3, ?4, ?5)",
                params![row, message.id, message.role.as_str(), timestamp, wanted.hash],
            )?;
            let text = Redacted::new(&message.text);
            self.execute("INSERT INTO main.session_search_fts(rowid, text) VALUES(?1, ?2)", params![row, text.indexed()])?;
            budget.take(message);
        }
        let stamp = (done == Done::All).then_some(stamp);
        let sql = "UPDATE main.session_search_transcript SET indexed_stamp = ?2, unreadable = ?3 WHERE id = ?1";
        self.execute(sql, params![id, stamp, wanted.unreadable])?;
        Ok(done)
    }

    /// What the index holds of a transcript: seq -> source hash.
    fn held(&self, id: i64) -> Result<HashMap<i64, i64>> {
        let (first, last) = rowids(id);
        let sql = "SELECT id, source_hash FROM main.session_search_message WHERE id BETWEEN ?1 AND ?2";
        let mut statement = self.handle.connection().prepare_cached(sql).map_err(writing_index)?;
        let rows = statement.query_map([first, last], |row| Ok((transcript_and_seq(row.get(0)?).1, row.get(1)?))).map_err(writing_index)?;
        rows.collect::<rusqlite::Result<_>>().map_err(writing_index)
    }
}

/// The searchable messages of a transcript as the host holds it now, by seq.
#[derive(Default)]
struct Transcript {
    messages: BTreeMap<i64, Wanted>,
    unreadable: i64,
}

struct Wanted {
    hash: i64,
    created_at: i64,
    /// The message, unless the index holds this very event.
    new: Option<Message>,
}

impl Transcript {
    /// Reads a transcript. Messages whose event is `held` with the same hash are not kept in memory. `None` if `stop` said so.
    fn read(snapshot: &Snapshot<'_>, session_id: &str, held: &HashMap<i64, i64>, stop: &dyn Fn() -> bool) -> Result<Option<Self>> {
        let mut branch = Branch::new();
        let mut this = Self::default();
        let mut stopped = false;
        snapshot.events(session_id, |seq, stored| {
            if stop() {
                stopped = true;
                return Ok(false);
            }
            match stored.read() {
                Some(event) if rowid(0, seq).is_some() => {
                    branch.push(seq, event.entry);
                    if let Some(message) = event.message {
                        let hash = stored.hash();
                        let new = (held.get(&seq) != Some(&hash)).then_some(message);
                        this.messages.insert(seq, Wanted { hash, created_at: stored.created_at, new });
                    }
                }
                _ => this.unreadable += 1,
            }
            Ok(true)
        })?;
        if stopped {
            return Ok(None);
        }
        let active: HashSet<i64> = branch.active().into_iter().collect();
        this.messages.retain(|seq, _| active.contains(seq));
        Ok(Some(this))
    }
}

/// The searchable messages of a transcript as the host holds it now: seq -> source hash. What a search checks its hits against
/// where the index is behind.
pub(crate) fn active_messages(snapshot: &Snapshot<'_>, session_id: &str) -> Result<HashMap<i64, i64>> {
    let transcript = Transcript::read(snapshot, session_id, &HashMap::new(), &|| false)?.unwrap_or_default();
    Ok(transcript.messages.into_iter().map(|(seq, wanted)| (seq, wanted.hash)).collect())
}

fn writing_index(error: rusqlite::Error) -> Error {
    Error::index("writing the index", error)
}
