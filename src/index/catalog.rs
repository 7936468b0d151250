//! The sessions of the host set against what is indexed: who is searchable, who is in step, what is left over.
//!
//! Built from one state of the host and one of the index, and kept until one of them changes: the host's `data_version`, or the
//! index's version (which goes back with a rolled-back transaction, as the rows do).

use std::collections::HashMap;

use crate::error::{Error, Result};
use crate::handle::Handle;
use crate::schema::{self, IndexVersion};
use crate::source::{HostVersion, Session, Snapshot};
use crate::visibility;

/// One session of the host.
pub(crate) struct Entry {
    pub(crate) session: Session,
    /// Its transcript id in the index, once it has one.
    pub(crate) transcript: Option<i64>,
    /// Whether the index reflects its rows.
    pub(crate) in_step: bool,
    /// Whether it may be found at all: not replaced by a rewind, not incognito.
    pub(crate) searchable: bool,
    /// A search found that it takes too long; reconcile does it.
    pub(super) too_large: bool,
}

impl Entry {
    fn new(session: Session, indexed: Option<(i64, Option<String>)>) -> Self {
        let searchable = !session.superseded && !visibility::is_incognito(&session.session_key);
        let mut entry = Self { session, transcript: None, in_step: false, searchable, too_large: false };
        if let Some((id, stamp)) = indexed {
            entry.transcript = Some(id);
            entry.in_step = stamp.as_deref() == Some(entry.stamp());
        } else {
            entry.in_step = !searchable; // nothing indexed, nothing to index
        }
        entry
    }

    /// The stamp of the rows that should be indexed: of none where the session is not searchable.
    pub(super) fn stamp(&self) -> &str {
        if self.searchable { &self.session.stamp } else { "" }
    }
}

/// All sessions of the host, and transcripts in the index that the host no longer has.
pub(crate) struct Catalog {
    pub(crate) entries: Vec<Entry>,
    pub(super) orphans: Vec<i64>,
    host: HostVersion,
    pub(super) index: IndexVersion,
    by_transcript: HashMap<i64, usize>,
}

impl Catalog {
    /// The catalog as of now; does nothing when neither the host nor the index has changed. `None` if there is no index for this host,
    /// or none of this format.
    pub(super) fn refresh<'c>(current: &'c mut Option<Self>, handle: &Handle, snapshot: &Snapshot<'_>) -> Result<Option<&'c mut Self>> {
        let host = snapshot.version()?;
        let index = schema::version(handle.connection())?;
        let fresh = match current.take() {
            Some(catalog) if catalog.host == host && Some(&catalog.index) == index.as_ref() => catalog,
            known => {
                let Some(index) = index else { return Ok(None) };
                if !schema::is_ready(handle.connection(), &snapshot.identity()?)? {
                    return Ok(None);
                }
                let sessions = match known {
                    Some(catalog) if catalog.host == host => catalog.entries.into_iter().map(|e| e.session).collect(),
                    _ => snapshot.sessions()?,
                };
                Self::join(handle, sessions, host, index)?
            }
        };
        Ok(Some(current.insert(fresh)))
    }

    fn join(handle: &Handle, sessions: Vec<Session>, host: HostVersion, index: IndexVersion) -> Result<Self> {
        let mut indexed = indexed_transcripts(handle)?;
        let entries: Vec<_> = sessions
            .into_iter()
            .map(|session| {
                let row = indexed.remove(&session.session_id);
                Entry::new(session, row)
            })
            .collect();
        let orphans = indexed.into_values().map(|(id, _)| id).collect();
        let by_transcript = entries.iter().enumerate().filter_map(|(i, e)| Some((e.transcript?, i))).collect();
        Ok(Self { entries, orphans, host, index, by_transcript })
    }

    /// The session of a transcript id.
    pub(crate) fn by_transcript(&self, transcript: i64) -> Option<&Entry> {
        self.entries.get(*self.by_transcript.get(&transcript)?)
    }

    /// Notes what `write` has done.
    pub(super) fn wrote(&mut self, i: usize, transcript: i64, in_step: bool) {
        if let Some(entry) = self.entries.get_mut(i) {
            entry.transcript = Some(transcript);
            entry.in_step = in_step;
            self.by_transcript.insert(transcript, i);
        }
    }

    /// Treats transcripts as behind although their stamps say otherwise.
    pub(super) fn doubt(&mut self, transcripts: &[i64]) {
        for transcript in transcripts {
            if let Some(entry) = self.by_transcript.get(transcript).and_then(|&i| self.entries.get_mut(i)) {
                entry.in_step = false;
            }
        }
    }

    /// How many transcripts are behind or left over.
    pub(crate) fn work(&self) -> usize {
        self.orphans.len() + self.entries.iter().filter(|e| !e.in_step).count()
    }

    /// The sessions that are behind. First those that must not be found any more: that costs little and leaves nothing to check. Then
    /// the small ones, so that a large one does not keep others waiting.
    pub(super) fn behind(&self) -> Vec<usize> {
        let mut behind: Vec<usize> = (0..self.entries.len()).filter(|&i| !self.entries[i].in_step).collect();
        behind.sort_by_key(|&i| (self.entries[i].searchable, self.entries[i].session.events));
        behind
    }

    /// Whether there is anything for reconcile to do.
    pub(super) fn has_work(&self) -> bool {
        !self.orphans.is_empty() || self.entries.iter().any(|e| !e.in_step)
    }

    /// Whether there is anything that a search can do on its way.
    pub(super) fn has_small_work(&self) -> bool {
        !self.orphans.is_empty() || self.entries.iter().any(|e| !e.in_step && !e.too_large)
    }
}

/// Session id -> transcript id and indexed stamp.
fn indexed_transcripts(handle: &Handle) -> Result<HashMap<String, (i64, Option<String>)>> {
    let reading = |e| Error::index("reading the index", e);
    let sql = "SELECT session_id, id, indexed_stamp FROM main.session_search_transcript";
    let mut statement = handle.connection().prepare_cached(sql).map_err(reading)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, (row.get(1)?, row.get(2)?)))).map_err(reading)?;
    rows.collect::<rusqlite::Result<_>>().map_err(reading)
}
