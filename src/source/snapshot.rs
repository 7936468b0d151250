//! Reading one state of a host.

use std::path::Path;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row};

use super::{Adapter, Session, State, StoredEvent, reading};
use crate::error::Result;
use crate::event::Message;
use crate::handle::{Handle, TransactionState};
use crate::schema::schema_version;

/// One state of the host database.
pub(crate) struct Snapshot<'s> {
    pub(super) connection: &'s Connection,
    pub(super) path: &'s Path,
    pub(super) adapter: &'static Adapter,
    pub(super) kind: Kind<'s>,
}

/// Whose connection it is read through.
pub(super) enum Kind<'s> {
    /// Our own; how many files had been opened before.
    Beside { opened: u64 },
    /// The caller's.
    InPlace(&'s Handle),
}

/// Which state of which file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HostVersion {
    /// SQLite's `data_version` counts only within one open file.
    file: u64,
    /// Moves with the commits of other connections.
    data: i64,
    /// Moves with what the connection itself changes.
    own: u64,
    /// In place: moves with a restored backup, too, which is neither.
    schema: i64,
    /// What a version is good for: seen inside a write transaction, it can be rolled back and come again with other rows.
    settled: bool,
}

impl HostVersion {
    /// Whether nobody has changed the database in between.
    pub(crate) fn is_same(self, other: Self) -> bool {
        Self { settled: other.settled, ..self } == other
    }

    /// Whether an equal version means the same in the next call.
    pub(crate) fn is_settled(self) -> bool {
        self.settled
    }
}

impl Snapshot<'_> {
    /// The host database's file.
    pub(crate) fn path(&self) -> &Path {
        self.path
    }

    pub(crate) fn version(&self) -> Result<HostVersion> {
        let data = self.connection.prepare_cached("PRAGMA main.data_version").and_then(|mut s| s.query_row([], |row| row.get(0)));
        let mut version = HostVersion { file: 0, data: data.map_err(reading)?, own: 0, schema: 0, settled: true };
        match self.kind {
            Kind::Beside { opened } => version.file = opened,
            Kind::InPlace(_) => version.schema = schema_version(self.connection)?,
        }
        self.follow_own_changes(&mut version);
        Ok(version)
    }

    /// The version after changes of ours that no session and no event has part in.
    pub(crate) fn follow_own_changes(&self, version: &mut HostVersion) {
        if let Kind::InPlace(handle) = self.kind {
            version.own = self.connection.total_changes();
            version.settled = handle.transaction_state() != TransactionState::Write;
        }
    }

    /// What another database under the same path would not give, and another way of living neither.
    pub(crate) fn identity(&self) -> Result<String> {
        if let Kind::InPlace(_) = self.kind {
            return Ok(self.adapter.identity_in_place());
        }
        let mut statement = self.connection.prepare_cached(self.adapter.identity).map_err(reading)?;
        let mut rows = statement.query([]).map_err(reading)?;
        match rows.next().map_err(reading)? {
            Some(row) => Ok(text(row, 0)?.unwrap_or_default()),
            None => Ok(String::new()),
        }
    }

    /// All transcripts.
    pub(crate) fn sessions(&self) -> Result<Vec<Session>> {
        let sql = match self.kind {
            Kind::Beside { .. } => self.adapter.sessions,
            Kind::InPlace(_) => self.adapter.sessions_in_place,
        };
        let mut statement = self.connection.prepare_cached(sql).map_err(reading)?;
        let mut rows = statement.query([]).map_err(reading)?;
        let mut all = Vec::new();
        while let Some(row) = rows.next().map_err(reading)? {
            // A row without an id or a key can be named by nobody and is visible to nobody.
            let (Some(session_id), Some(session_key)) = (text(row, 0)?, text(row, 1)?) else { continue };
            let named = matches!(row.get_ref(0).map_err(reading)?, ValueRef::Text(bytes) if bytes == session_id.as_bytes());
            if !named && matches!(self.kind, Kind::InPlace(_)) {
                continue; // no UTF-8: the triggers note it under another name than we would
            }
            all.push(Session {
                session_id,
                session_key,
                agent_id: text(row, 2)?,
                parent_session_key: text(row, 3)?,
                spawned_by: text(row, 4)?,
                owner_session_key: text(row, 5)?,
                superseded: row.get(6).map_err(reading)?,
                previous_session_id: text(row, 7)?,
                current: row.get(8).map_err(reading)?,
                state: self.state(row)?,
            });
        }
        Ok(all)
    }

    fn state(&self, row: &Row<'_>) -> Result<State> {
        let events = row.get(11).unwrap_or(i64::MAX); // in place computed from a seq that may be anything
        let changed = text(row, 13)?.unwrap_or_default();
        if let Kind::InPlace(_) = self.kind {
            return Ok(State { events, ..State::of_stamp(changed) });
        }
        let last_seq = row.get(12).unwrap_or(-1); // NULL without events; a host without STRICT tables may hold anything
        let generation = text(row, 9)?;
        let stamp = format!("{changed}:{last_seq}:{events}:{}", generation.as_deref().unwrap_or_default());
        Ok(State { stamp, events, last_seq, generation })
    }

    /// The session key of a transcript, if the host has it.
    pub(crate) fn session_key(&self, session_id: &str) -> Result<Option<String>> {
        let mut statement = self.connection.prepare_cached(self.adapter.session_key).map_err(reading)?;
        let mut rows = statement.query([session_id]).map_err(reading)?;
        let Some(row) = rows.next().map_err(reading)? else { return Ok(None) };
        text(row, 0)
    }

    /// Calls `each` with the events of a transcript from the seq `from` on, in order, until it says false. A seq that is no integer is -1.
    pub(crate) fn events(&self, session_id: &str, from: i64, each: impl FnMut(i64, StoredEvent<'_>) -> bool) -> Result<()> {
        self.events_between(session_id, from, i64::MAX, each)
    }

    /// When the last event of a transcript was stored, in milliseconds since 1970; 0 if there is none.
    pub(crate) fn last_used(&self, session_id: &str) -> Result<i64> {
        let sql = "SELECT created_at FROM main.transcript_events WHERE session_id = ?1 ORDER BY seq DESC LIMIT 1";
        let mut statement = self.connection.prepare_cached(sql).map_err(reading)?;
        let mut rows = statement.query([session_id]).map_err(reading)?;
        Ok(rows.next().map_err(reading)?.map_or(0, |row| row.get(0).unwrap_or(0)))
    }

    /// Whether a transcript has any event.
    pub(crate) fn has_events(&self, session_id: &str) -> Result<bool> {
        let mut any = false;
        self.events(session_id, i64::MIN, |_, _| {
            any = true;
            false
        })?;
        Ok(any)
    }

    /// Calls `take` with one event, if it is there.
    pub(crate) fn event<T>(&self, session_id: &str, seq: i64, take: impl FnOnce(StoredEvent<'_>) -> T) -> Result<Option<T>> {
        let (mut take, mut taken) = (Some(take), None);
        self.events_between(session_id, seq, seq, |_, stored| {
            taken = take.take().map(|take| take(stored));
            false
        })?;
        Ok(taken)
    }

    /// The message of one event, if the event is still the one with this hash.
    pub(crate) fn message(&self, session_id: &str, seq: i64, hash: i64) -> Result<Option<(Message, i64)>> {
        let found = self.event(session_id, seq, |stored| {
            let message = if stored.hash() == hash { stored.read().and_then(|event| event.message) } else { None };
            message.map(|message| (message, stored.created_at))
        })?;
        Ok(found.flatten())
    }

    /// The hash of one event, if it is there.
    pub(crate) fn event_hash(&self, session_id: &str, seq: i64) -> Result<Option<i64>> {
        self.event(session_id, seq, |stored| stored.hash())
    }

    /// Whether a transcript has an event of this id, where the host keeps track of that.
    pub(crate) fn has_event(&self, session_id: &str, event_id: &str) -> Result<bool> {
        let Some(sql) = self.adapter.has_event else { return Ok(false) };
        self.connection.prepare_cached(sql).and_then(|mut s| s.exists([session_id, event_id])).map_err(reading)
    }

    fn events_between(&self, session_id: &str, from: i64, to: i64, mut each: impl FnMut(i64, StoredEvent<'_>) -> bool) -> Result<()> {
        let mut statement = self.connection.prepare_cached(self.adapter.events).map_err(reading)?;
        let mut rows = statement.query(rusqlite::params![session_id, from, to]).map_err(reading)?;
        while let Some(row) = rows.next().map_err(reading)? {
            let event = StoredEvent::new(row.get_ref(1).map_err(reading)?, row.get(2).unwrap_or(0));
            if !each(row.get(0).unwrap_or(-1), event) {
                break;
            }
        }
        Ok(())
    }
}

/// A text column; bytes that are not UTF-8 become U+FFFD, anything but text counts as absent.
fn text(row: &Row<'_>, column: usize) -> Result<Option<String>> {
    match row.get_ref(column).map_err(reading)? {
        ValueRef::Text(bytes) => Ok(Some(String::from_utf8_lossy(bytes).into_owned())),
        _ => Ok(None),
    }
}
