//! A transcript of the host, as far as it has been read: which of its messages can be found.
//!
//! Reading can stop at any event and go on later, in another transaction. It also goes on after an append, where the host says that
//! nothing before has changed (the rewrite generation of OpenClaw 2026.9) or where we are called for every change (in place); otherwise
//! a new stamp means to begin again.

use std::collections::{BTreeMap, HashMap};

use crate::branch::{Branch, Growth};
use crate::error::Result;
use crate::event::{Event, Message};
use crate::source::{Session, Snapshot, State, StoredEvent};

use super::is_indexable;

/// A message that has searchable text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Of the event's stored bytes.
    pub(super) hash: i64,
    /// The event's own time, else the row's, in milliseconds since 1970.
    pub(super) timestamp: i64,
}

/// A transcript, as far as it has been read.
#[derive(Default)]
pub(super) struct Transcript {
    /// The state of the rows when reading began or went on.
    state: Option<State>,
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
        session_id: &str,
        state: &State,
        mut each: impl FnMut(i64, Option<Message>) -> bool,
    ) -> Result<bool> {
        if self.state.as_ref() != Some(state) {
            if !self.is_continued_by(snapshot, session_id, state)? {
                *self = Self::default();
            }
            self.state = Some(state.clone());
            self.complete = false;
        }
        if self.complete {
            return Ok(true);
        }
        let mut stopped = false;
        let from = self.last.map_or(i64::MIN, |(seq, _)| seq.saturating_add(1));
        snapshot.events(session_id, from, |seq, stored| {
            let message = self.take(seq, &stored);
            stopped = !each(seq, message);
            !stopped
        })?;
        self.complete = !stopped;
        Ok(self.complete)
    }

    /// Whether what has been read is the beginning of the transcript as it is now. The generation alone does not say so: it goes back
    /// with a backup, and then other events may follow.
    fn is_continued_by(&self, snapshot: &Snapshot<'_>, session_id: &str, state: &State) -> Result<bool> {
        let (Some(before), Some((seq, hash))) = (&self.state, self.last) else { return Ok(false) };
        Ok(state.continues(before) && snapshot.event_hash(session_id, seq)? == Some(hash))
    }

    fn take(&mut self, seq: i64, stored: &StoredEvent<'_>) -> Option<Message> {
        let event = self.read_event(seq, stored)?;
        self.branch.push(seq, event.entry);
        self.keep_message(seq, stored, event.message)
    }

    /// Takes an event that came after all others, in a transcript that has been read to its end. Says what it did to the active branch.
    pub(super) fn append(&mut self, seq: i64, stored: &StoredEvent<'_>) -> (Growth, Option<Message>) {
        let Some(event) = self.read_event(seq, stored) else { return (Growth::None, None) };
        let growth = self.branch.append(seq, event.entry);
        (growth, self.keep_message(seq, stored, event.message))
    }

    /// The event, if it can be read.
    fn read_event(&mut self, seq: i64, stored: &StoredEvent<'_>) -> Option<Event> {
        self.last = self.last.max(Some((seq, stored.hash())));
        let event = stored.read();
        self.unreadable += i64::from(event.is_none());
        event
    }

    /// Keeps in mind that there is a message, and gives it back, if it has a place in the index.
    fn keep_message(&mut self, seq: i64, stored: &StoredEvent<'_>, message: Option<Message>) -> Option<Message> {
        if !is_indexable(seq) {
            self.unreadable += 1;
            return None;
        }
        if let Some(message) = &message {
            self.messages.insert(seq, found(stored, message));
        }
        message
    }

    /// Whether it has been read to its end in the state with this stamp, which ended before `seq`.
    pub(super) fn is_followed_by(&self, stamp: &str, seq: i64) -> bool {
        self.is_whole_at(stamp) && self.last.is_none_or(|(last, _)| last < seq)
    }

    /// Whether it has been read to its end in the state with this stamp.
    pub(super) fn is_whole_at(&self, stamp: &str) -> bool {
        self.complete && self.state.as_ref().is_some_and(|state| state.stamp == stamp)
    }

    /// Whether the event is a message that is known already.
    pub(super) fn holds(&self, seq: i64, stored: &StoredEvent<'_>) -> bool {
        let message = stored.read().and_then(|event| event.message);
        message.is_some_and(|message| self.messages.get(&seq) == Some(&found(stored, &message)))
    }

    /// What is known of a message with searchable text.
    pub(super) fn message(&self, seq: i64) -> Option<Found> {
        self.messages.get(&seq).copied()
    }

    /// What has been read is now the state with this stamp.
    pub(super) fn set_stamp(&mut self, stamp: String) {
        self.state = Some(State::of_stamp(stamp));
    }

    /// Whether it has been read to its end.
    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }

    /// How much memory it takes, in events.
    pub(super) fn size(&self) -> usize {
        self.branch.len() + self.messages.len()
    }

    /// The messages on the active branch, by seq.
    pub(super) fn active(&self) -> BTreeMap<i64, Found> {
        self.branch.active().into_iter().filter_map(|seq| Some((seq, *self.messages.get(&seq)?))).collect()
    }
}

fn found(stored: &StoredEvent<'_>, message: &Message) -> Found {
    Found { hash: stored.hash(), timestamp: message.timestamp.unwrap_or(stored.created_at) }
}

/// The searchable messages of a transcript as the host holds it now: seq -> source hash. What a search checks its hits against
/// where the index is behind.
pub(crate) fn active_messages(snapshot: &Snapshot<'_>, session: &Session) -> Result<HashMap<i64, i64>> {
    let mut transcript = Transcript::default();
    transcript.read(snapshot, &session.session_id, &session.state, |_, _| true)?;
    Ok(transcript.active().into_iter().map(|(seq, found)| (seq, found.hash)).collect())
}
