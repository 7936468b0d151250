//! Search: from a request to a bounded answer.
//!
//! ```text
//! sessions that the caller sees -> FTS5 MATCH among them, filtered, ranked, checked where the index is behind -> the best few
//!   -> their events, as the host holds them now -> secrets found -> excerpt
//! ```
//!
//! Invariants: filters come before ranking and limits, so what the caller cannot see changes nothing that it sees; every result is an
//! event of the host at the moment of the search, on its active branch. Tested by `tests/beside.rs` and `tests/functions.rs`.

mod answer;
mod rank;
mod request;

use std::convert::Infallible;

use crate::error::{Error, Result};
use crate::excerpt::excerpt;
use crate::handle::Handle;
use crate::index::{self, Entry};
use crate::query::{Query, Tokens};
use crate::redact::{Detector, Redacted};
use crate::source::{Session, Snapshot};
use crate::tokenizer::Tokenizer;
use crate::visibility::{self, Caller, Policy};

pub(crate) use answer::{Answer, Hit};
use rank::{Ranked, Ranking};
pub(crate) use request::{Request, parse_policy};

/// The longest excerpt, in characters.
pub(crate) const EXCERPT_CHARS: usize = 300;

/// Runs a search on the host that this connection has opened.
pub(crate) fn search(handle: &Handle, request: &Request) -> Result<Answer> {
    let mut attached = index::attached(handle)?;
    let attached = attached.as_mut().ok_or_else(index::not_open)?;
    let redaction = attached.redaction(handle)?;
    let caller = Caller::new(&request.caller, &request.options.policy);
    let asked = |entry: &Entry| request.options.session_key.as_ref().is_none_or(|key| *key == entry.session.session_key);
    let sees = |entry: &Entry| entry.searchable && asked(entry) && caller.sees(&facts(&entry.session));
    let look = |doubted: &[i64], attached: &mut index::Attached| {
        attached.look_mending(handle, Some(&sees), doubted, |snapshot, catalog| {
            let visible = catalog.entries.iter().filter(|entry| sees(entry)).collect();
            Search { handle, snapshot, request, detector: redaction.detector(), visible, doubt: !doubted.is_empty() }.run()
        })
    };
    match look(&[], attached)? {
        Outcome::Answer(answer) => Ok(answer),
        Outcome::Changed(transcripts) => {
            // The host changed an event without a new stamp. Nothing in the index is taken for granted now.
            match look(&transcripts, attached)? {
                Outcome::Answer(answer) => Ok(answer),
                Outcome::Changed(_) => Err(Error::state("the host database does not keep still: search again")),
            }
        }
    }
}

/// `session_visible(session_key, caller, policy)`: whether the host holds such a session and the caller may see it.
pub(crate) fn session_visible(handle: &Handle, session_key: &str, caller: &str, policy: &Policy) -> Result<bool> {
    let mut attached = index::attached(handle)?;
    let attached = attached.as_mut().ok_or_else(index::not_open)?;
    let caller = Caller::new(caller, policy);
    attached.look(handle, None, &[], |_, catalog| {
        Ok(catalog.entries.iter().any(|e| e.session.session_key == session_key && caller.sees(&facts(&e.session))))
    })
}

/// What visibility needs to know of a session.
pub(crate) fn facts(session: &Session) -> visibility::Session<'_> {
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

/// One search on one state of the host and the index.
struct Search<'s> {
    handle: &'s Handle,
    snapshot: &'s Snapshot<'s>,
    request: &'s Request,
    detector: &'s Detector,
    /// The sessions that the caller sees and asked for.
    visible: Vec<&'s Entry>,
    /// Check every hit as if its transcript were behind.
    doubt: bool,
}

impl Search<'_> {
    fn run(&self) -> Result<Outcome> {
        let indexing = self.visible.iter().any(|entry| !entry.in_step);
        // One more than the limit, to know whether there is more.
        let best = Ranking::of(self)?.best(self.request.options.limit + 1)?;
        let more = best.len() > self.request.options.limit;
        let mut changed = Vec::new();
        let mut hits = Vec::new();
        for row in &best {
            match self.hit(row)? {
                Some(hit) => hits.push(hit),
                None => changed.extend(row.entry.transcript),
            }
        }
        if !changed.is_empty() {
            return Ok(Outcome::Changed(changed));
        }
        hits.truncate(self.request.options.limit);
        Ok(Outcome::Answer(Answer::bounded(hits, more, indexing, self.request.query.is_cut())))
    }

    /// The result for a ranked row, from the host's own event. `None` if that is not the event that was indexed.
    fn hit(&self, row: &Ranked<'_>) -> Result<Option<Hit>> {
        let session = &row.entry.session;
        let Some((message, created_at)) = self.snapshot.message(&session.session_id, row.seq, row.source_hash)? else { return Ok(None) };
        Ok(Some(Hit {
            session_key: session.session_key.clone(),
            session_id: session.session_id.clone(),
            excerpt: matching_excerpt(&Redacted::with(self.detector, &message.text), &self.request.query, EXCERPT_CHARS),
            message_id: message.id,
            seq: row.seq,
            role: message.role,
            timestamp: message.timestamp.unwrap_or(created_at),
            score: row.score,
        }))
    }
}

/// The piece of a message around what a query finds in it, secrets masked.
pub(crate) fn matching_excerpt(message: &Redacted<'_>, query: &Query, max_chars: usize) -> String {
    let mut tokens = Tokens::default();
    let Ok(()) = message.tokens::<Infallible>(Tokenizer::default(), |token| {
        tokens.push(token.text, token.start..token.end);
        Ok(())
    });
    excerpt(message, &query.find(&tokens), max_chars)
}
