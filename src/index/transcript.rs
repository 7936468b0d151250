//! A transcript of the host, as far as it has been read: which of its messages can be found.
//!
//! Reading can stop at any event and go on later, in another transaction. It also goes on after an append, where the host says that
//! nothing before has changed (the rewrite generation of OpenClaw 2026.9); otherwise a new stamp means to begin again.

use std::collections::{BTreeMap, HashMap};

use crate::branch::Branch;
use crate::error::Result;
use crate::event::Message;
use crate::source::{Session, Snapshot, StoredEvent};

use super::is_indexable;

/// A message that has searchable text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Of the event's stored bytes.
    pub(super) hash: i64,
    /// The row's, in milliseconds since 1970.
    pub(super) created_at: i64,
}

/// A transcript, as far as it has been read.
#[derive(Default)]
pub(super) struct Transcript {
    /// The session as it was when reading began or went on.
    session: Option<Session>,
    branch: Branch,
    /// All messages with searchable text, on the active branch or not, by seq.
    messages: BTreeMap<i64, Found>,
    /// Events that cannot be read, or have no seq that can be indexed.
    pub(super) unreadable: i64,
    /// Seq and hash of the last event that was read.
    last: Option<(i64, i64)>,
    complete: bool,
}

impl Transcript {
    /// Reads on to the end, or until `each` says false, which gets the message of every event that is read now (`None`: it has none).
    /// Returns whether the end was reached.
    pub(super) fn read(
        &mut self,
        snapshot: &Snapshot<'_>,
        session: &Session,
        mut each: impl FnMut(i64, Option<Message>) -> bool,
    ) -> Result<bool> {
        if self.session.as_ref() != Some(session) {
            if !self.is_continued_by(snapshot, session)? {
                *self = Self::default();
            }
            self.session = Some(session.clone());
            self.complete = false;
        }
        if self.complete {
            return Ok(true);
        }
        let mut stopped = false;
        let from = self.last.map_or(i64::MIN, |(seq, _)| seq.saturating_add(1));
        snapshot.events(&session.session_id, from, |seq, stored| {
            let message = self.take(seq, &stored);
            stopped = !each(seq, message);
            !stopped
        })?;
        self.complete = !stopped;
        Ok(self.complete)
    }

    /// Whether what has been read is the beginning of the transcript as it is now. The generation alone does not say so: it goes back
    /// with a backup, and then other events may follow.
    fn is_continued_by(&self, snapshot: &Snapshot<'_>, session: &Session) -> Result<bool> {
        let (Some(before), Some((seq, hash))) = (&self.session, self.last) else { return Ok(false) };
        Ok(session.continues(before) && snapshot.event_hash(&session.session_id, seq)? == Some(hash))
    }

    fn take(&mut self, seq: i64, stored: &StoredEvent<'_>) -> Option<Message> {
        self.last = self.last.max(Some((seq, stored.hash())));
        let Some(event) = stored.read() else {
            self.unreadable += 1;
            return None;
        };
        self.branch.push(seq, event.entry);
        if !is_indexable(seq) {
            self.unreadable += 1;
            return None;
        }
        if event.message.is_some() {
            self.messages.insert(seq, Found { hash: stored.hash(), created_at: stored.created_at });
        }
        event.message
    }

    /// The messages on the active branch, by seq.
    pub(super) fn active(&self) -> BTreeMap<i64, Found> {
        self.branch.active().into_iter().filter_map(|seq| Some((seq, *self.messages.get(&seq)?))).collect()
    }
}

/// The searchable messages of a transcript as the host holds it now: seq -> source hash. What a search checks its hits against
/// where the index is behind.
pub(crate) fn active_messages(snapshot: &Snapshot<'_>, session: &Session) -> Result<HashMap<i64, i64>> {
    let mut transcript = Transcript::default();
    transcript.read(snapshot, session, |_, _| true)?;
    Ok(transcript.active().into_iter().map(|(seq, found)| (seq, found.hash)).collect())
}

/// The transcripts that were read last: half read, or to be gone on with at the next message.
#[derive(Default)]
pub(super) struct Remembered {
    /// The last one was used last.
    transcripts: Vec<(String, Transcript)>,
}

impl Remembered {
    const MOST: usize = 8;

    /// What is known of a transcript; it is no longer remembered.
    pub(super) fn take(&mut self, session_id: &str) -> Transcript {
        match self.transcripts.iter().position(|(id, _)| id == session_id) {
            Some(i) => self.transcripts.remove(i).1,
            None => Transcript::default(),
        }
    }

    /// Where there is no room, one that has been read wholly goes, the longest unused first; else the new one, so that the others finish.
    pub(super) fn keep(&mut self, session_id: &str, transcript: Transcript) {
        self.transcripts.push((session_id.to_owned(), transcript));
        if self.transcripts.len() > Self::MOST {
            let wholly = self.transcripts.iter().position(|(_, transcript)| transcript.complete);
            self.transcripts.remove(wholly.unwrap_or(Self::MOST));
        }
    }

    pub(super) fn forget_all(&mut self) {
        self.transcripts.clear();
    }
}
