//! Ranking: from the rows that FTS5 matches to the best few that count.
//!
//! FTS5 gives every matching row with its bm25. Rows of sessions that the caller does not see go at once; of the rest, the message rows
//! are only looked up as far down the list as it takes to find enough that count.

use std::collections::hash_map::Entry as Slot;
use std::collections::{HashMap, HashSet};

use super::Search;
use super::request::Order;
use crate::error::{Error, Result};
use crate::index::{self, Entry};

/// All rows that match, with their score: higher is better.
const MATCHES: &str = "SELECT rowid, -bm25(session_search_fts) FROM main.session_search_fts WHERE session_search_fts MATCH ?1";
const MESSAGE: &str = "SELECT timestamp, message_id, role, source_hash FROM main.session_search_message WHERE id = ?1";

/// A message that counts.
pub(super) struct Ranked<'c> {
    pub(super) entry: &'c Entry,
    pub(super) transcript: i64,
    pub(super) seq: i64,
    pub(super) score: f64,
    pub(super) source_hash: i64,
}

/// A match with its message row.
struct Candidate {
    rowid: i64,
    score: f64,
    timestamp: i64,
    message_id: String,
    role: String,
    source_hash: i64,
}

/// The matching rows of the sessions that the caller sees.
pub(super) struct Ranking<'r, 's> {
    search: &'r Search<'s>,
    matches: Vec<(f64, i64)>,
    /// Transcripts that were looked at in the host: seq -> source hash of their searchable messages.
    active: HashMap<i64, HashMap<i64, i64>>,
    /// Session key and message id of what counts already.
    known: HashSet<(&'s str, String)>,
}

impl<'r, 's> Ranking<'r, 's> {
    pub(super) fn of(search: &'r Search<'s>, visible: &[&Entry]) -> Result<Self> {
        let transcripts: HashSet<i64> = visible.iter().filter_map(|entry| entry.transcript).collect();
        let mut this = Self { search, matches: Vec::new(), active: HashMap::new(), known: HashSet::new() };
        if !transcripts.is_empty() {
            let mut statement = search.handle.connection().prepare_cached(MATCHES).map_err(searching)?;
            let mut rows = statement.query([search.request.query.to_match()]).map_err(searching)?;
            while let Some(row) = rows.next().map_err(searching)? {
                let rowid = row.get(0).map_err(searching)?;
                if transcripts.contains(&index::transcript_and_seq(rowid).0) {
                    this.matches.push((row.get(1).map_err(searching)?, rowid));
                }
            }
        }
        Ok(this)
    }

    /// The best `wanted` messages, by relevance (then newest, then message id) or newest first.
    pub(super) fn best(mut self, wanted: usize) -> Result<Vec<Ranked<'s>>> {
        let mut matches = std::mem::take(&mut self.matches);
        matches.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let mut best = Vec::new();
        // What only the message rows can order is looked up together: rows of equal score, or all of them.
        let together = |a: &(f64, i64), b: &(f64, i64)| self.search.request.options.order == Order::Recent || a.0.total_cmp(&b.0).is_eq();
        for group in matches.chunk_by(together) {
            let mut candidates = Vec::with_capacity(group.len());
            for &(score, rowid) in group {
                candidates.extend(self.candidate(score, rowid)?);
            }
            candidates.sort_unstable_by(|a, b| {
                b.timestamp.cmp(&a.timestamp).then_with(|| a.message_id.cmp(&b.message_id)).then(b.rowid.cmp(&a.rowid))
            });
            for candidate in candidates {
                best.extend(self.counts(candidate)?);
                if best.len() == wanted {
                    return Ok(best);
                }
            }
        }
        Ok(best)
    }

    /// The message row of a match, if the filters let it pass.
    fn candidate(&self, score: f64, rowid: i64) -> Result<Option<Candidate>> {
        let options = &self.search.request.options;
        let mut statement = self.search.handle.connection().prepare_cached(MESSAGE).map_err(searching)?;
        let mut rows = statement.query([rowid]).map_err(searching)?;
        let Some(row) = rows.next().map_err(searching)? else { return Ok(None) };
        let read = || -> rusqlite::Result<Candidate> {
            Ok(Candidate { rowid, score, timestamp: row.get(0)?, message_id: row.get(1)?, role: row.get(2)?, source_hash: row.get(3)? })
        };
        let candidate = read().map_err(searching)?;
        let passes = (options.since..=options.until).contains(&candidate.timestamp)
            && options.role.is_none_or(|role| role.as_str() == candidate.role);
        Ok(passes.then_some(candidate))
    }

    /// The message as a result, if it is one: where the index is behind, only if the host still has it on the active branch; and
    /// only once, if a later transcript of the same session carries it on.
    fn counts(&mut self, candidate: Candidate) -> Result<Option<Ranked<'s>>> {
        let (transcript, seq) = index::transcript_and_seq(candidate.rowid);
        let Some(entry) = self.search.catalog.by_transcript(transcript) else { return Ok(None) };
        if self.search.doubt || !entry.in_step {
            let active = match self.active.entry(transcript) {
                Slot::Occupied(known) => known.into_mut(),
                Slot::Vacant(slot) => slot.insert(index::active_messages(self.search.snapshot, &entry.session.session_id)?),
            };
            if active.get(&seq) != Some(&candidate.source_hash) {
                return Ok(None);
            }
        }
        let new = self.known.insert((&entry.session.session_key, candidate.message_id));
        Ok(new.then_some(Ranked { entry, transcript, seq, score: candidate.score, source_hash: candidate.source_hash }))
    }
}

fn searching(error: rusqlite::Error) -> Error {
    Error::index("searching the index", error)
}
