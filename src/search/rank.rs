//! Ranking: from the messages that match to the best few that count.
//!
//! Scores are bm25, with the statistics (how many messages, how long, how many of them hold a phrase) of the sessions that are searched:
//! what the caller does not see has no weight. Message rows are only looked up as far down the list as it takes to find enough
//! that count.

use std::collections::hash_map::Entry as Slot;
use std::collections::{HashMap, HashSet};

use super::Search;
use super::request::Order;
use crate::error::Result;
use crate::index::{self, Entry, MessageRow};

/// A message that counts.
pub(super) struct Ranked<'c> {
    pub(super) entry: &'c Entry,
    pub(super) seq: i64,
    pub(super) score: f64,
    pub(super) source_hash: i64,
}

/// A match with its message row.
struct Candidate {
    rowid: i64,
    score: f64,
    row: MessageRow,
}

/// The matches among the sessions that the caller sees.
pub(super) struct Ranking<'r, 's> {
    search: &'r Search<'s>,
    /// By transcript id.
    entries: HashMap<i64, &'s Entry>,
    /// Transcripts that were looked at in the host: seq -> source hash of their searchable messages.
    active: HashMap<i64, HashMap<i64, i64>>,
    /// Session key, message id and event of what counts already.
    known: HashSet<(&'s str, String, i64)>,
}

impl<'r, 's> Ranking<'r, 's> {
    pub(super) fn of(search: &'r Search<'s>) -> Self {
        let entries: HashMap<i64, &Entry> = search.visible.iter().filter_map(|entry| Some((entry.transcript?, *entry))).collect();
        Self { search, entries, active: HashMap::new(), known: HashSet::new() }
    }

    /// What these sessions say of the weight of the phrases of the query.
    pub(super) fn collection(&self) -> Result<Collection> {
        let holding = |phrase: String| match self.entries.len() {
            0 => Ok(0),
            _ => index::count_matches(self.search.handle, |transcript| self.is_wanted(transcript), &phrase),
        };
        Ok(Collection { holding: self.search.query.phrases().map(holding).collect::<Result<_>>()?, ..self.size() })
    }

    /// How much there is to search, without the phrases.
    fn size(&self) -> Collection {
        let messages = self.entries.values().map(|entry| entry.messages).sum();
        let tokens = self.entries.values().map(|entry| entry.tokens).sum();
        Collection { messages, tokens, holding: Vec::new() }
    }

    fn is_wanted(&self, transcript: i64) -> bool {
        self.entries.contains_key(&transcript)
    }

    /// Score and rowid of every match.
    fn matches(&self, collection: Option<&Collection>) -> Result<Vec<(f64, i64)>> {
        let mut matches = Vec::new();
        if self.entries.is_empty() {
            return Ok(matches);
        }
        let (handle, query) = (self.search.handle, self.search.query);
        let mut find = |statistics: &[u8]| {
            let each = |rowid, score| matches.push((score, rowid));
            index::matches(handle, |transcript| self.is_wanted(transcript), &query.to_match(), statistics, each)
        };
        match collection {
            Some(collection) => find(&collection.statistics())?,
            None if query.phrases().nth(1).is_some() => find(&self.collection()?.statistics())?,
            None => {
                // The matches of the only phrase are counted as they come: its weight is put in afterwards.
                let size = self.size();
                find(&size.with_weights([1.0]))?;
                let idf = size.idf(i64::try_from(matches.len()).unwrap_or(i64::MAX));
                for (score, _) in &mut matches {
                    *score *= idf;
                }
            }
        }
        Ok(matches)
    }

    /// The best `wanted` messages, by relevance (then newest, then message id) or newest first.
    pub(super) fn best(mut self, wanted: usize, collection: Option<&Collection>) -> Result<Vec<Ranked<'s>>> {
        let mut matches = self.matches(collection)?;
        matches.sort_unstable_by(|a, b| b.0.total_cmp(&a.0));
        let mut best = Vec::new();
        // What only the message rows can order is looked up together: rows of equal score, or all of them.
        let together = |a: &(f64, i64), b: &(f64, i64)| self.search.request.order == Order::Recent || a.0.total_cmp(&b.0).is_eq();
        for group in matches.chunk_by(together) {
            let mut candidates = Vec::with_capacity(group.len());
            for &(score, rowid) in group {
                candidates.extend(self.candidate(score, rowid)?);
            }
            candidates.sort_unstable_by(|a, b| {
                let newest = b.row.timestamp.cmp(&a.row.timestamp);
                newest.then_with(|| a.row.message_id.cmp(&b.row.message_id)).then(b.rowid.cmp(&a.rowid))
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
        let options = self.search.request;
        let row = index::message(self.search.handle, rowid)?.filter(|row| {
            (options.since..=options.until).contains(&row.timestamp) && options.role.is_none_or(|role| role.as_str() == row.role)
        });
        Ok(row.map(|row| Candidate { rowid, score, row }))
    }

    /// The message as a result, if it is one: where the index is behind, only if the host still has it on the active branch; if a
    /// later transcript of the same session carries it on, only there.
    fn counts(&mut self, candidate: Candidate) -> Result<Option<Ranked<'s>>> {
        let Candidate { rowid, score, row } = candidate;
        let (transcript, seq) = index::transcript_and_seq(rowid);
        let Some(&entry) = self.entries.get(&transcript) else { return Ok(None) };
        if self.search.doubt || !entry.in_step {
            let active = match self.active.entry(transcript) {
                Slot::Occupied(known) => known.into_mut(),
                Slot::Vacant(slot) => slot.insert(index::active_messages(self.search.snapshot, &entry.session)?),
            };
            if active.get(&seq) != Some(&row.source_hash) {
                return Ok(None);
            }
        }
        for later in &entry.later {
            if self.search.snapshot.has_event(later, &row.message_id)? {
                return Ok(None); // there it counts, or is dead
            }
        }
        let new = self.known.insert((&entry.session.session_key, row.message_id, row.source_hash));
        Ok(new.then_some(Ranked { entry, seq, score, source_hash: row.source_hash }))
    }
}

/// How much there is to search, and how many messages hold each phrase of the query. Those of several databases can be added up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Collection {
    messages: i64,
    tokens: i64,
    /// By phrase.
    holding: Vec<i64>,
}

impl Collection {
    pub(crate) fn add(&mut self, other: &Self) {
        self.messages += other.messages;
        self.tokens += other.tokens;
        self.holding.resize(self.holding.len().max(other.holding.len()), 0);
        for (sum, more) in self.holding.iter_mut().zip(&other.holding) {
            *sum += more;
        }
    }

    /// What `session_search_bm25` needs to know: the average number of tokens of a message, then the idf of each phrase.
    fn statistics(&self) -> Vec<u8> {
        self.with_weights(self.holding.iter().map(|&holding| self.idf(holding)))
    }

    #[expect(clippy::cast_precision_loss, reason = "counts")]
    fn with_weights(&self, weights: impl IntoIterator<Item = f64>) -> Vec<u8> {
        let average = if self.messages > 0 { self.tokens as f64 / self.messages as f64 } else { 1.0 };
        [average.max(1.0)].into_iter().chain(weights).flat_map(f64::to_le_bytes).collect()
    }

    /// The weight of a phrase that so many messages hold, as FTS5's bm25 has it.
    #[expect(clippy::cast_precision_loss, reason = "counts")]
    fn idf(&self, holding: i64) -> f64 {
        let (messages, holding) = (self.messages as f64, holding as f64);
        let idf = ((messages - holding + 0.5) / (holding + 0.5)).ln();
        if idf > 0.0 { idf } else { 1e-6 }
    }
}
