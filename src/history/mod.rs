//! History: the messages of a session, around a hit or page by page, as far as the caller may see them.
//!
//! Invariants: only the active branch is shown, secrets are masked, and what the caller may not see looks like what does not exist: no rows.
//! Everything is read from the host at the moment of the call; what is indexed has no part in it. Tested by `tests/history.rs`.

mod request;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::branch::Branch;
use crate::error::Result;
use crate::event::Role;
use crate::excerpt::excerpt;
use crate::handle::Handle;
use crate::index::{self, Entry};
use crate::redact::{Detector, Redacted};
use crate::search::facts;
use crate::source::Snapshot;
use crate::visibility::Caller;

pub use request::HistoryRequest;
use request::Place;

/// All messages together have at most this many bytes of JSON, as the results of a search.
const MAX_BYTES: usize = 32_768;

/// The longest text of one message, in characters.
const MAX_CHARS: usize = 4_000;

/// One message of a conversation.
///
/// ```
/// let message: session_search::HistoryMessage = serde_json::from_str(r#"{"sessionId":"s1","messageId":"m1","seq":7,"role":"user",
///     "timestamp":1784000000000,"text":"The red kite is in the shed."}"#)?;
/// assert_eq!(message.role, session_search::Role::User);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HistoryMessage {
    /// The transcript that holds it.
    pub session_id: String,
    /// The message.
    pub message_id: String,
    /// Its place in the transcript, for [`before`](HistoryRequest::before) and [`after`](HistoryRequest::after).
    pub seq: i64,
    /// Who wrote it.
    pub role: Role,
    /// Milliseconds since 1970.
    pub timestamp: i64,
    /// At most 4,000 characters, secrets masked.
    pub text: String,
}

/// The messages, oldest first.
pub(crate) fn history(handle: &Handle, request: &HistoryRequest) -> Result<Vec<HistoryMessage>> {
    request.check()?;
    let mut attached = index::attached(handle)?;
    let attached = attached.as_mut().ok_or_else(index::not_open)?;
    let redaction = attached.redaction(handle)?;
    let caller = Caller::new(&request.caller, &request.policy);
    attached.look(handle, None, &[], |snapshot, catalog| {
        let is_wanted = |entry: &&Entry| {
            let session = &entry.session;
            entry.searchable
                && session.session_key == request.session_key
                && request.session_id.as_ref().is_none_or(|id| *id == session.session_id)
                && caller.sees(&facts(session))
        };
        let mut wanted = Vec::new();
        for entry in catalog.entries.iter().filter(is_wanted) {
            wanted.push((entry.session.current, snapshot.last_used(&entry.session.session_id)?, &entry.session.session_id));
        }
        wanted.sort_unstable_by(|a, b| b.cmp(a));
        for (.., session_id) in wanted {
            let turns = turns(snapshot, session_id, request.tools)?;
            let is_there = |id: &String| turns.iter().any(|turn| turn.message_id == *id);
            // A message id without its transcript: whichever has it.
            if !matches!(&request.place, Place::Around(id) if !is_there(id)) {
                return Ok(window(turns, &request.place, request.limit, redaction.detector()));
            }
        }
        Ok(Vec::new())
    })
}

/// All messages on the active branch of a transcript, unmasked.
fn turns(snapshot: &Snapshot<'_>, session_id: &str, tools: bool) -> Result<Vec<HistoryMessage>> {
    let mut branch = Branch::new();
    let mut turns = BTreeMap::new();
    snapshot.events(session_id, i64::MIN, |seq, stored| {
        let Some(event) = stored.read() else { return true };
        branch.push(seq, event.entry);
        let used = if tools { stored.tool_use() } else { None };
        let turn = |message_id, role, timestamp: Option<i64>, text| {
            let timestamp = timestamp.unwrap_or(stored.created_at);
            HistoryMessage { session_id: session_id.to_owned(), message_id, seq, role, timestamp, text }
        };
        match (event.message, used) {
            (Some(message), used) => {
                let text = used.map_or_else(|| message.text.clone(), |used| used.below(&message));
                turns.insert(seq, turn(message.id, message.role, message.timestamp, text));
            }
            (None, Some(used)) => drop(turns.insert(seq, turn(used.id, used.role, used.timestamp, used.text))),
            (None, None) => {}
        }
        true
    })?;
    Ok(branch.active().into_iter().filter_map(|seq| turns.remove(&seq)).collect())
}

/// The wanted ones, masked and cut, as many as fit: those nearest to the place that was asked for.
fn window(mut turns: Vec<HistoryMessage>, place: &Place, limit: usize, detector: &Detector) -> Vec<HistoryMessage> {
    // Where the window is, and which of its messages comes first where not all fit.
    let (range, from) = match place {
        Place::Around(id) => {
            let Some(at) = turns.iter().position(|turn| turn.message_id == *id) else { return Vec::new() };
            let start = at.saturating_sub((limit - 1) / 2).min(turns.len().saturating_sub(limit));
            (start..(start + limit).min(turns.len()), at)
        }
        Place::Before(seq) => {
            let end = seq.map_or(turns.len(), |seq| turns.iter().take_while(|turn| turn.seq < seq).count());
            (end.saturating_sub(limit)..end, end)
        }
        Place::After(seq) => {
            let start = turns.iter().take_while(|turn| turn.seq <= *seq).count();
            (start..(start + limit).min(turns.len()), start)
        }
    };
    let from = from - range.start;
    let mut turns: Vec<HistoryMessage> = turns.drain(range).collect();
    for turn in &mut turns {
        turn.text = excerpt(&Redacted::with(detector, &turn.text), &[], MAX_CHARS);
    }
    let size = |turn: &HistoryMessage| serde_json::to_string(turn).map_or(usize::MAX, |json| json.len() + 1); // with a comma
    let kept = nearest(&turns.iter().map(size).collect::<Vec<_>>(), from);
    turns.drain(kept).collect()
}

/// The longest run around `from` that fits, growing by turns to both sides.
fn nearest(sizes: &[usize], from: usize) -> std::ops::Range<usize> {
    let (mut start, mut end) = (from.min(sizes.len()), from.min(sizes.len()));
    let mut room = MAX_BYTES - 1; // the brackets of the list, but no comma behind the last
    let (mut forward, mut backward) = (true, true);
    while forward || backward {
        forward = forward && sizes.get(end).is_some_and(|size| *size <= room);
        if forward {
            room -= sizes[end];
            end += 1;
        }
        backward = backward && start > 0 && sizes[start - 1] <= room;
        if backward {
            start -= 1;
            room -= sizes[start];
        }
    }
    start..end
}
