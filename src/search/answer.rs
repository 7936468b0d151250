//! The bounded answer, in the shape of OpenClaw's `sessions_search` tool.

use serde::{Deserialize, Serialize};

use super::request::{Order, SearchRequest};
use crate::event::Role;

/// All results together have at most this many bytes of JSON (OpenClaw's bound).
const MAX_BYTES: usize = 32_768;

/// Said in words too: a model that sees only an empty list takes it for "never said".
const INDEXING: &str = "some of the sessions are still being indexed: results may be missing, search again in a moment";
const CUT: &str = "the query is too long: only its first words were searched for";
const INCOMPLETE: &str = "some of the sessions could not be searched: results may be missing";

/// One message that matches.
///
/// ```
/// let hit: session_search::Hit = serde_json::from_str(r#"{"sessionKey":"agent:main:main","timestamp":1784000000000,"role":"user",
///     "snippet":"The red kite is in the shed.","score":1.5,"sessionId":"s1","messageId":"m1"}"#)?;
/// assert_eq!(hit.excerpt, "The red kite is in the shed.");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Hit {
    /// The session that the message belongs to; history shows the conversation around it.
    pub session_key: String,
    /// Milliseconds since 1970.
    pub timestamp: i64,
    /// Who wrote it, [`Role::User`] or [`Role::Assistant`].
    pub role: Role,
    /// The piece of the message around the match, at most 300 characters, secrets masked; `snippet` in JSON.
    #[serde(rename = "snippet")]
    pub excerpt: String,
    /// Higher is better.
    pub score: f64,
    /// The transcript of the session that holds the message.
    pub session_id: String,
    /// The message.
    pub message_id: String,
    /// The place of the message in its transcript. Not part of the JSON.
    #[serde(skip)]
    pub seq: Option<i64>,
}

/// What a search answers; as JSON exactly what `sessions_search_json` returns.
///
/// ```
/// let response: session_search::SearchResponse = serde_json::from_str(r#"{"results":[],"indexing":true}"#)?;
/// assert!(response.results.is_empty() && response.indexing && !response.truncated);
/// assert_eq!(serde_json::to_string(&response)?, r#"{"results":[],"indexing":true}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SearchResponse {
    /// The best messages, best first, or newest first where the request says so. At most 32,768 bytes of JSON.
    pub results: Vec<Hit>,
    /// Some session that the caller sees is not wholly indexed yet: results may be missing.
    #[serde(default, skip_serializing_if = "is_false")]
    pub indexing: bool,
    /// What is to be known about the answer, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<String>,
    /// There were more results.
    #[serde(default, skip_serializing_if = "is_false")]
    pub truncated: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// What an answer is made of, before it is bounded.
#[derive(Default)]
pub(crate) struct Found {
    /// The best ones: more than the request's limit if there are more.
    pub(super) hits: Vec<Hit>,
    pub(super) indexing: bool,
    /// Not all of the query was searched for.
    pub(super) query_cut: bool,
    /// Some database could not be searched.
    pub(crate) incomplete: bool,
}

impl Found {
    /// Takes in what another database gave for the same request, with scores of the same statistics. A message that both hold counts once.
    pub(crate) fn merge(&mut self, other: Self, request: &SearchRequest) {
        self.hits.extend(other.hits);
        self.hits.sort_by(|a, b| {
            let best = b.score.total_cmp(&a.score);
            let newest = b.timestamp.cmp(&a.timestamp).then_with(|| a.message_id.cmp(&b.message_id));
            let first = if request.order == Order::Recent { newest } else { best.then(newest) };
            first.then_with(|| (&a.session_key, &a.session_id, a.seq).cmp(&(&b.session_key, &b.session_id, b.seq)))
        });
        self.hits.dedup_by(|a, b| (&a.session_key, &a.session_id, &a.message_id) == (&b.session_key, &b.session_id, &b.message_id));
        self.hits.truncate(request.limit + 1);
        self.indexing |= other.indexing;
        self.query_cut |= other.query_cut;
        self.incomplete |= other.incomplete;
    }

    /// As many of the hits as the request wants and as fit, cut between results.
    pub(crate) fn bounded(self, request: &SearchRequest) -> SearchResponse {
        let Self { hits: mut results, indexing, query_cut, incomplete } = self;
        let mut bytes = 2; // the brackets of the list
        let fitting = results
            .iter()
            .take_while(|hit| {
                bytes += json(hit).len() + 1;
                bytes - 1 <= MAX_BYTES // no comma behind the last
            })
            .count();
        let kept = fitting.min(request.limit);
        let truncated = kept < results.len();
        results.truncate(kept);
        let warnings: Vec<_> = [(indexing, INDEXING), (query_cut, CUT), (incomplete, INCOMPLETE)]
            .into_iter()
            .filter(|(said, _)| *said)
            .map(|(_, text)| text)
            .collect();
        let warning = (!warnings.is_empty()).then(|| warnings.join("; "));
        SearchResponse { results, indexing, warning, truncated }
    }
}

impl SearchResponse {
    /// The answer as one JSON object.
    pub(crate) fn to_json(&self) -> String {
        json(self)
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}
