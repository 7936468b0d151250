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

pub(crate) use answer::Found;
pub use answer::{Hit, SearchResponse};
pub(crate) use rank::Collection;
use rank::{Ranked, Ranking};
pub(crate) use request::{LIMITS, parse_policy};
pub use request::{Order, SearchRequest};

/// The longest excerpt, in characters.
pub(crate) const EXCERPT_CHARS: usize = 300;

/// Runs a search on the host that this connection has opened.
pub(crate) fn search(handle: &Handle, request: &SearchRequest) -> Result<SearchResponse> {
    Ok(find(handle, request, &request.query()?, None)?.bounded(request))
}

/// The best hits, one more than the limit where there are so many. Scores are made from the statistics of `collection`, or of the sessions
/// that are searched.
pub(crate) fn find(handle: &Handle, request: &SearchRequest, query: &Query, collection: Option<&Collection>) -> Result<Found> {
    let run = |search: Search<'_>| search.run(collection);
    match look(handle, request, query, &[], run)? {
        Outcome::Found(found) => Ok(found),
        // The host changed an event without a new stamp. Nothing in the index is taken for granted now.
        Outcome::Changed(transcripts) => match look(handle, request, query, &transcripts, run)? {
            Outcome::Found(found) => Ok(found),
            Outcome::Changed(_) => Err(Error::state("the host database does not keep still: search again")),
        },
    }
}

/// What the sessions that a search looks at say of the weight of its phrases.
pub(crate) fn collection(handle: &Handle, request: &SearchRequest, query: &Query) -> Result<Collection> {
    look(handle, request, query, &[], |search| Ranking::of(&search).collection())
}

/// Shows `view` one state of the sessions that the request looks at, brought in step as far as there is time. The `doubted` transcripts
/// count as behind.
fn look<T>(handle: &Handle, request: &SearchRequest, query: &Query, doubted: &[i64], view: impl Fn(Search<'_>) -> Result<T>) -> Result<T> {
    let mut attached = index::attached(handle)?;
    let attached = attached.as_mut().ok_or_else(index::not_open)?;
    let redaction = attached.redaction(handle)?;
    let caller = Caller::new(&request.caller, &request.policy);
    let asked = |entry: &Entry| request.session_key.as_ref().is_none_or(|key| *key == entry.session.session_key);
    let sees = |entry: &Entry| entry.searchable && asked(entry) && caller.sees(&facts(&entry.session));
    attached.look_mending(handle, Some(&sees), doubted, |snapshot, catalog| {
        let visible = catalog.entries.iter().filter(|entry| sees(entry)).collect();
        view(Search { handle, snapshot, request, query, detector: redaction.detector(), visible, doubt: !doubted.is_empty() })
    })
}

/// `session_visible(session_key, caller, policy)`: whether the host holds such a session and the caller may see it.
pub(crate) fn session_visible(handle: &Handle, session_key: &str, caller: &str, policy: &Policy) -> Result<bool> {
    policy.check()?;
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
    Found(Found),
    /// Events of these transcripts are not what was indexed, although their stamps say so.
    Changed(Vec<i64>),
}

/// One search on one state of the host and the index.
struct Search<'s> {
    handle: &'s Handle,
    snapshot: &'s Snapshot<'s>,
    request: &'s SearchRequest,
    query: &'s Query,
    detector: &'s Detector,
    /// The sessions that the caller sees and asked for.
    visible: Vec<&'s Entry>,
    /// Check every hit as if its transcript were behind.
    doubt: bool,
}

impl Search<'_> {
    fn run(&self, collection: Option<&Collection>) -> Result<Outcome> {
        let indexing = self.visible.iter().any(|entry| !entry.in_step);
        // One more than the limit, to know whether there is more.
        let best = Ranking::of(self).best(self.request.limit + 1, collection)?;
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
        Ok(Outcome::Found(Found { hits, indexing, query_cut: self.query.is_cut(), incomplete: false }))
    }

    /// The result for a ranked row, from the host's own event. `None` if that is not the event that was indexed.
    fn hit(&self, row: &Ranked<'_>) -> Result<Option<Hit>> {
        let session = &row.entry.session;
        let Some((message, created_at)) = self.snapshot.message(&session.session_id, row.seq, row.source_hash)? else { return Ok(None) };
        Ok(Some(Hit {
            session_key: session.session_key.clone(),
            session_id: session.session_id.clone(),
            excerpt: matching_excerpt(&Redacted::with(self.detector, &message.text), self.query, EXCERPT_CHARS),
            message_id: message.id,
            seq: Some(row.seq),
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
