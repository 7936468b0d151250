//! The sessions of the host set against what is indexed: who is searchable, who is in step, what is left over.
//!
//! Built from one state of the host and one of the index, and kept until one of them changes: the host's `data_version`, what the
//! connection itself has changed in it, or the index's version (which goes back with a rolled-back transaction, as the rows do).

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::schema::{self, IndexVersion, Readiness};
use crate::source::{HostVersion, Session, Snapshot};
use crate::visibility;

/// One session of the host.
pub(crate) struct Entry {
    pub(crate) session: Session,
    /// Its transcript id in the index, once it has one.
    pub(crate) transcript: Option<i64>,
    /// Messages in the index, and tokens in them.
    pub(crate) messages: i64,
    pub(crate) tokens: i64,
    /// Whether the index says of some state of its rows that it reflects it.
    pub(super) stamped: bool,
    /// Whether the index reflects its rows.
    pub(crate) in_step: bool,
    /// Whether it may be found at all: not replaced by a rewind, not incognito.
    pub(crate) searchable: bool,
    /// When its last event was stored, once that was asked for.
    last_used: Option<i64>,
    /// The transcripts that came directly after it, once its session has left it. What they carry on counts there, if at all.
    pub(crate) later: Vec<String>,
}

/// One transcript in the index.
struct Indexed {
    id: i64,
    stamp: Option<String>,
    messages: i64,
    tokens: i64,
}

impl Entry {
    fn new(session: Session, indexed: Option<&Indexed>) -> Self {
        let searchable = !session.superseded && !visibility::is_incognito(&session.session_key);
        let mut entry = Self {
            session,
            transcript: indexed.map(|row| row.id),
            messages: indexed.map_or(0, |row| row.messages),
            tokens: indexed.map_or(0, |row| row.tokens),
            stamped: indexed.is_some_and(|row| row.stamp.is_some()),
            in_step: true,
            searchable,
            last_used: None,
            later: Vec::new(),
        };
        entry.in_step = match indexed {
            Some(row) => row.stamp.as_deref() == Some(entry.stamp()),
            None => !searchable || entry.session.state.events == 0, // nothing indexed, nothing to index
        };
        entry
    }

    /// The stamp of the rows that should be indexed: of none where the session is not searchable.
    pub(super) fn stamp(&self) -> &str {
        if self.searchable { &self.session.state.stamp } else { "" }
    }
}

/// All sessions of the host, and transcripts in the index that the host no longer has.
pub(crate) struct Catalog {
    pub(crate) entries: Vec<Entry>,
    pub(super) orphans: Vec<i64>,
    pub(super) host: HostVersion,
    pub(super) index: IndexVersion,
}

impl Catalog {
    /// The catalog as of now; does nothing when neither the host nor the index has changed. `None` if there is no index for this host,
    /// or none of this format.
    pub(super) fn refresh<'c>(current: &'c mut Option<Self>, handle: &Handle, snapshot: &Snapshot<'_>) -> Result<Option<&'c mut Self>> {
        let host = snapshot.version()?;
        let index = schema::version(handle.connection())?;
        let fresh = match current.take() {
            Some(catalog) if catalog.host.is_same(host) && Some(&catalog.index) == index.as_ref() => catalog,
            known => {
                let Some(index) = index else { return Ok(None) };
                if schema::readiness(handle.connection(), &snapshot.identity()?)? != Readiness::Ready {
                    return Ok(None);
                }
                let sessions = match known {
                    Some(catalog) if catalog.host.is_same(host) => catalog.entries.into_iter().map(|e| e.session).collect(),
                    _ => snapshot.sessions()?,
                };
                Self::join(handle, sessions, host, index)?
            }
        };
        Ok(Some(current.insert(fresh)))
    }

    fn join(handle: &Handle, sessions: Vec<Session>, host: HostVersion, index: IndexVersion) -> Result<Self> {
        let mut indexed = indexed_transcripts(handle)?;
        let mut later = later_transcripts(&sessions);
        let entries: Vec<_> = sessions
            .into_iter()
            .map(|session| {
                let row = indexed.remove(&session.session_id);
                let mut entry = Entry::new(session, row.as_ref());
                if !entry.session.current && !later.is_empty() {
                    let key = (entry.session.session_key.clone(), entry.session.session_id.clone());
                    entry.later = later.remove(&key).unwrap_or_default();
                }
                entry
            })
            .collect();
        let orphans = indexed.into_values().map(|row| row.id).collect();
        Ok(Self { entries, orphans, host, index })
    }

    /// Whether an unchanged catalog may be used in the next call, too.
    pub(super) fn is_settled(&self) -> bool {
        self.host.is_settled()
    }

    /// Treats transcripts as behind although their stamps say otherwise.
    pub(super) fn doubt(&mut self, transcripts: &[i64]) {
        for entry in &mut self.entries {
            entry.in_step &= entry.transcript.is_none_or(|id| !transcripts.contains(&id));
        }
    }

    /// How many transcripts are behind or left over.
    pub(crate) fn work(&self) -> usize {
        self.orphans.len() + self.entries.iter().filter(|e| !e.in_step).count()
    }

    /// The `wanted` sessions that are behind, and those that must not be found any more; small ones before large ones, so that a large
    /// one does not keep others waiting.
    pub(super) fn behind(&self, wanted: &dyn Fn(&Entry) -> bool) -> Vec<usize> {
        let behind = self.entries.iter().enumerate().filter(|(_, entry)| !entry.in_step && (wanted(entry) || !entry.searchable));
        let mut behind: Vec<_> = behind.map(|(i, entry)| (entry.session.state.events, i)).collect();
        behind.sort_unstable();
        behind.into_iter().map(|(_, i)| i).collect()
    }

    /// All sessions that are behind; those that were used last first.
    pub(super) fn behind_by_use(&mut self, snapshot: &Snapshot<'_>) -> Result<Vec<usize>> {
        let mut behind = Vec::new();
        for (i, entry) in self.entries.iter_mut().enumerate().filter(|(_, entry)| !entry.in_step) {
            let used = match entry.last_used {
                Some(used) => used,
                None => *entry.last_used.insert(snapshot.last_used(&entry.session.session_id)?),
            };
            behind.push((Reverse(used), i));
        }
        behind.sort_unstable();
        Ok(behind.into_iter().map(|(_, i)| i).collect())
    }

    /// Whether a search of the `wanted` sessions has anything to index on its way.
    pub(super) fn has_work(&self, wanted: &dyn Fn(&Entry) -> bool) -> bool {
        !self.orphans.is_empty() || !self.behind(wanted).is_empty()
    }
}

/// What is indexed, by session id.
fn indexed_transcripts(handle: &Handle) -> Result<HashMap<String, Indexed>> {
    let reading = |e| Error::index("reading the index", e);
    let sql = "SELECT session_id, id, indexed_stamp, messages, tokens FROM main.session_search_transcript";
    let mut statement = handle.connection().prepare_cached(sql).map_err(reading)?;
    let rows = statement.query_map([], |row| {
        // In place a host may have put bytes there that are no UTF-8: a transcript of nobody.
        let session_id = String::from_utf8_lossy(row.get_ref(0)?.as_bytes()?).into_owned();
        Ok((session_id, Indexed { id: row.get(1)?, stamp: row.get(2)?, messages: row.get(3)?, tokens: row.get(4)? }))
    });
    rows.and_then(Iterator::collect).map_err(reading)
}

/// The transcripts that came directly after each of the others, by session key and session id.
fn later_transcripts(sessions: &[Session]) -> HashMap<(String, String), Vec<String>> {
    let mut later: HashMap<_, Vec<_>> = HashMap::new();
    for session in sessions {
        if let Some(previous) = &session.previous_session_id {
            later.entry((session.session_key.clone(), previous.clone())).or_default().push(session.session_id.clone());
        }
    }
    later
}
