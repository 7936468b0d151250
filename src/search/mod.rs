//! Search: from a request to a bounded answer.
//!
//! ```text
//! sessions that the caller sees -> FTS5 MATCH among them, filtered, ranked, checked where the index is behind -> the best few
//!   -> their events, as the host holds them now -> secrets found -> excerpt
//! ```
//!
//! Invariants: filters come before ranking and limits, so what the caller cannot see changes nothing that it sees; every result is an
//! event of the host at the moment of the search, on its active branch. Tested by `tests/beside.rs` and `tests/search.rs`.

mod answer;
mod request;

use std::collections::{HashMap, HashSet};
use std::convert::Infallible;

use rusqlite::params;

use crate::error::{Error, Result};
use crate::event::Role;
use crate::excerpt::excerpt;
use crate::handle::Handle;
use crate::index::{self, Catalog, Entry};
use crate::query::{Query, Tokens};
use crate::redact::Redacted;
use crate::source::{Session, Snapshot};
use crate::tokenizer::Tokenizer;
use crate::visibility::{self, Caller, Policy};

pub(crate) use answer::{Answer, Hit};
pub(crate) use request::{Order, Request, parse_policy};

/// The longest excerpt, in characters.
pub(crate) const EXCERPT_CHARS: usize = 300;

/// ?1 MATCH expression, ?2 JSON array of transcript ids, ?3 role or NULL, ?4 and ?5 first and last timestamp, ?6 limit (-1: none).
const BY_RELEVANCE: &str = "SELECT m.id, -bm25(session_search_fts) AS score, m.message_id, m.source_hash
    FROM main.session_search_fts CROSS JOIN main.session_search_message m ON m.id = session_search_fts.rowid
    WHERE session_search_fts MATCH ?1 AND m.id >> 24 IN (SELECT value FROM json_each(?2))
      AND (?3 IS NULL OR m.role = ?3) AND m.timestamp BETWEEN ?4 AND ?5
    ORDER BY score DESC, m.timestamp DESC, m.message_id, m.id DESC LIMIT ?6";

/// The same, newest first.
const BY_RECENCY: &str = "SELECT m.id, -bm25(session_search_fts) AS score, m.message_id, m.source_hash
    FROM main.session_search_fts CROSS JOIN main.session_search_message m ON m.id = session_search_fts.rowid
    WHERE session_search_fts MATCH ?1 AND m.id >> 24 IN (SELECT value FROM json_each(?2))
      AND (?3 IS NULL OR m.role = ?3) AND m.timestamp BETWEEN ?4 AND ?5
    ORDER BY m.timestamp DESC, m.message_id, m.id DESC LIMIT ?6";

/// Runs a search on the host that this connection has opened.
pub(crate) fn search(handle: &Handle, request: &Request) -> Result<Answer> {
    let mut attached = handle.attached()?;
    let attached = attached.as_mut().ok_or_else(index::not_open)?;
    let first = attached.look(handle, true, |snapshot, catalog| Search { handle, snapshot, catalog, request, doubt: false }.run())?;
    match first {
        Outcome::Answer(answer) => Ok(answer),
        Outcome::Changed(transcripts) => {
            // The host changed an event without a new stamp. Nothing in the index is taken for granted now.
            attached.doubt(&transcripts);
            let again =
                attached.look(handle, true, |snapshot, catalog| Search { handle, snapshot, catalog, request, doubt: true }.run())?;
            match again {
                Outcome::Answer(answer) => Ok(answer),
                Outcome::Changed(_) => Err(Error::state("the host database does not keep still: search again")),
            }
        }
    }
}

/// `session_visible(session_key, caller, policy)`: whether the host holds such a session and the caller may see it.
pub(crate) fn session_visible(handle: &Handle, session_key: &str, caller: &str, policy: &Policy) -> Result<bool> {
    let mut attached = handle.attached()?;
    let attached = attached.as_mut().ok_or_else(index::not_open)?;
    let caller = Caller::new(caller, policy);
    attached.look(handle, false, |_, catalog| {
        Ok(catalog.entries.iter().any(|e| e.session.session_key == session_key && caller.sees(&facts(&e.session))))
    })
}

fn facts(session: &Session) -> visibility::Session<'_> {
    visibility::Session {
        session_key: &session.session_key,
        agent_id: session.agent_id.as_deref(),
        parent_session_key: session.parent_session_key.as_deref(),
        spawned_by: session.spawned_by.as_deref(),
        owner_session_key: session.owner_session_key.as_deref(),
    }
}

enum Outcome {
    Answer(Answer),
    /// Events of these transcripts are not what was indexed, although their stamps say so.
    Changed(Vec<i64>),
}

/// One row of the ranked list.
struct Ranked<'c> {
    entry: &'c Entry,
    transcript: i64,
    seq: i64,
    score: f64,
    source_hash: i64,
}

struct Search<'s> {
    handle: &'s Handle,
    snapshot: &'s Snapshot<'s>,
    catalog: &'s Catalog,
    request: &'s Request,
    /// Check every hit as if its transcript were behind.
    doubt: bool,
}

impl<'s> Search<'s> {
    fn run(&self) -> Result<Outcome> {
        let visible = self.visible();
        let indexing = visible.iter().any(|entry| !entry.in_step);
        let transcripts: Vec<i64> = visible.iter().filter_map(|entry| entry.transcript).collect();
        let mut ranked = self.ranked(&transcripts, visible.iter().all(|entry| entry.in_step))?;
        let more = ranked.len() > self.request.options.limit;
        let mut changed = Vec::new();
        let mut hits = Vec::new();
        for row in ranked.drain(..) {
            match self.hit(&row)? {
                Some(hit) => hits.push(hit),
                None => changed.push(row.transcript),
            }
        }
        if !changed.is_empty() {
            return Ok(Outcome::Changed(changed));
        }
        hits.truncate(self.request.options.limit);
        Ok(Outcome::Answer(Answer::bounded(hits, more, indexing, self.request.query.is_cut())))
    }

    /// The sessions that the caller sees and asked for.
    fn visible(&self) -> Vec<&'s Entry> {
        let caller = Caller::new(&self.request.caller, &self.request.options.policy);
        let asked = |entry: &Entry| self.request.options.session_key.as_ref().is_none_or(|key| *key == entry.session.session_key);
        self.catalog.entries.iter().filter(|entry| entry.searchable && asked(entry) && caller.sees(&facts(&entry.session))).collect()
    }

    /// The best messages of the given transcripts, one more than the limit if there are so many.
    fn ranked(&self, transcripts: &[i64], in_step: bool) -> Result<Vec<Ranked<'s>>> {
        if transcripts.is_empty() {
            return Ok(Vec::new());
        }
        let wanted = self.request.options.limit + 1;
        if in_step && !self.doubt {
            let (ranked, seen) = self.ranked_up_to(transcripts, wanted, Some(wanted))?;
            if ranked.len() == wanted || seen < wanted {
                return Ok(ranked);
            }
        }
        // Some rows may not count: go down the list until there are enough that do.
        Ok(self.ranked_up_to(transcripts, wanted, None)?.0)
    }

    /// Goes down the ranked list (its first `limit` rows) until `wanted` rows count. Also returns how many rows were seen.
    fn ranked_up_to(&self, transcripts: &[i64], wanted: usize, limit: Option<usize>) -> Result<(Vec<Ranked<'s>>, usize)> {
        let options = &self.request.options;
        let sql = match options.order {
            Order::Relevance => BY_RELEVANCE,
            Order::Recent => BY_RECENCY,
        };
        let mut statement = self.handle.connection().prepare_cached(sql).map_err(searching)?;
        let transcripts = serde_json::Value::from(transcripts).to_string();
        let limit = limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(-1));
        let role = options.role.map(Role::as_str);
        let expression = self.request.query.to_match();
        let mut rows = statement.query(params![expression, transcripts, role, options.since, options.until, limit]).map_err(searching)?;
        let mut ranked = Vec::new();
        let mut seen = 0;
        let mut known: HashSet<(&str, String)> = HashSet::new();
        let mut active: HashMap<i64, HashMap<i64, i64>> = HashMap::new();
        while ranked.len() < wanted {
            let Some(row) = rows.next().map_err(searching)? else { break };
            seen += 1;
            let (transcript, seq) = index::transcript_and_seq(row.get(0).map_err(searching)?);
            let source_hash: i64 = row.get(3).map_err(searching)?;
            let Some(entry) = self.catalog.by_transcript(transcript) else { continue };
            if self.doubt || !entry.in_step {
                let now = match active.entry(transcript) {
                    std::collections::hash_map::Entry::Occupied(now) => now.into_mut(),
                    std::collections::hash_map::Entry::Vacant(place) => {
                        place.insert(index::active_messages(self.snapshot, &entry.session.session_id)?)
                    }
                };
                if now.get(&seq) != Some(&source_hash) {
                    continue;
                }
            }
            // A message that a later transcript of the same session carries on is one message.
            if known.insert((&entry.session.session_key, row.get(2).map_err(searching)?)) {
                ranked.push(Ranked { entry, transcript, seq, score: row.get(1).map_err(searching)?, source_hash });
            }
        }
        Ok((ranked, seen))
    }

    /// The result for a ranked row, from the host's own event. `None` if that is not the event that was indexed.
    fn hit(&self, row: &Ranked<'_>) -> Result<Option<Hit>> {
        let session = &row.entry.session;
        let mut found = None;
        self.snapshot.event(&session.session_id, row.seq, |stored| {
            if stored.hash() == row.source_hash {
                found = stored.read().and_then(|event| event.message).map(|message| (message, stored.created_at));
            }
            Ok(())
        })?;
        let Some((message, created_at)) = found else { return Ok(None) };
        Ok(Some(Hit {
            session_key: session.session_key.clone(),
            session_id: session.session_id.clone(),
            message_id: message.id.clone(),
            seq: row.seq,
            role: message.role,
            timestamp: message.timestamp.unwrap_or(created_at),
            excerpt: matching_excerpt(&message.text, &self.request.query, EXCERPT_CHARS),
            score: row.score,
        }))
    }
}

/// The piece of a message around what a query finds in it, secrets masked.
pub(crate) fn matching_excerpt(text: &str, query: &Query, max_chars: usize) -> String {
    let message = Redacted::new(text);
    let mut tokens = Tokens::default();
    let Ok(()) = message.tokens::<Infallible>(Tokenizer::default(), |token| {
        tokens.push(token.text, token.start..token.end);
        Ok(())
    });
    excerpt(&message, &query.find(&tokens), max_chars)
}

fn searching(error: rusqlite::Error) -> Error {
    Error::sqlite("searching the index", error)
}
