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
    matches: Vec<(f64, i64)>,
    /// Transcripts that were looked at in the host: seq -> source hash of their searchable messages.
    active: HashMap<i64, HashMap<i64, i64>>,
    /// Session key, message id and event of what counts already.
    known: HashSet<(&'s str, String, i64)>,
}

impl<'r, 's> Ranking<'r, 's> {
    pub(super) fn of(search: &'r Search<'s>) -> Result<Self> {
        let entries: HashMap<i64, &Entry> = search.visible.iter().filter_map(|entry| Some((entry.transcript?, *entry))).collect();
        let mut this = Self { search, entries, matches: Vec::new(), active: HashMap::new(), known: HashSet::new() };
        if !this.entries.is_empty() {
            this.find()?;
        }
        Ok(this)
    }

    fn find(&mut self) -> Result<()> {
        let (handle, query) = (self.search.handle, &self.search.request.query);
        let is_wanted = |transcript: i64| self.entries.contains_key(&transcript);
        let messages: i64 = self.entries.values().map(|entry| entry.messages).sum();
        let tokens: i64 = self.entries.values().map(|entry| entry.tokens).sum();
        let phrases: Vec<String> = query.phrases().collect();
        let expression = query.to_match();
        let mut statistics = Statistics::new(messages, tokens);
        if let [_] = phrases[..] {
            // The matches of the only phrase are counted as they come: its weight is put in afterwards.
            statistics.push(1.0);
        } else {
            for phrase in &phrases {
                statistics.push(statistics.idf(index::count_matches(handle, is_wanted, phrase)?));
            }
        }
        let matches = &mut self.matches;
        index::matches(handle, is_wanted, &expression, statistics.bytes(), |rowid, score| matches.push((score, rowid)))?;
        if let [_] = phrases[..] {
            let idf = statistics.idf(i64::try_from(matches.len()).unwrap_or(i64::MAX));
            for (score, _) in matches {
                *score *= idf;
            }
        }
        Ok(())
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
        let options = &self.search.request.options;
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

/// What `session_search_bm25` needs to know: the average number of tokens of a message, then the idf of each phrase.
struct Statistics {
    messages: f64,
    bytes: Vec<u8>,
}

impl Statistics {
    #[expect(clippy::cast_precision_loss, reason = "counts")]
    fn new(messages: i64, tokens: i64) -> Self {
        let messages = messages as f64;
        let average = if messages > 0.0 { tokens as f64 / messages } else { 1.0 };
        Self { messages, bytes: average.max(1.0).to_le_bytes().to_vec() }
    }

    /// The weight of a phrase that so many messages hold, as FTS5's bm25 has it.
    #[expect(clippy::cast_precision_loss, reason = "counts")]
    fn idf(&self, holding: i64) -> f64 {
        let holding = holding as f64;
        let idf = ((self.messages - holding + 0.5) / (holding + 0.5)).ln();
        if idf > 0.0 { idf } else { 1e-6 }
    }

    fn push(&mut self, idf: f64) {
        self.bytes.extend(idf.to_le_bytes());
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}
