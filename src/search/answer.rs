//! The bounded answer, in the shape of OpenClaw's `sessions_search` tool.

use serde::{Serialize, Serializer};

use crate::event::Role;

/// All results together have at most this many bytes of JSON (OpenClaw's bound).
const MAX_BYTES: usize = 32_768;

/// Said in words too: a model that sees only an empty list takes it for "never said".
const INDEXING: &str = "some of the sessions are still being indexed: results may be missing, search again in a moment";
const CUT: &str = "the query is too long: only its first words were searched for";

/// One message that matches.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Hit {
    pub(crate) session_key: String,
    /// Milliseconds since 1970.
    pub(crate) timestamp: i64,
    #[serde(serialize_with = "role")]
    pub(crate) role: Role,
    #[serde(rename = "snippet")]
    pub(crate) excerpt: String,
    /// Higher is better.
    pub(crate) score: f64,
    pub(crate) session_id: String,
    pub(crate) message_id: String,
    #[serde(skip)]
    pub(crate) seq: i64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn role<S: Serializer>(role: &Role, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(role.as_str())
}

/// What a search answers.
#[derive(Debug, Serialize)]
pub(crate) struct Answer {
    pub(crate) results: Vec<Hit>,
    /// Some session that the caller sees is not wholly indexed yet.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) indexing: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    warning: Option<String>,
    /// There were more results.
    #[serde(skip_serializing_if = "is_false")]
    pub(crate) truncated: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl Answer {
    /// As many of the hits as fit, cut between results.
    pub(super) fn bounded(mut hits: Vec<Hit>, mut truncated: bool, indexing: bool, query_cut: bool) -> Self {
        let mut bytes = 2; // the brackets of the list
        let fitting = hits
            .iter()
            .take_while(|hit| {
                bytes += hit.to_json().len() + 1;
                bytes - 1 <= MAX_BYTES // no comma behind the last
            })
            .count();
        truncated |= fitting < hits.len();
        hits.truncate(fitting);
        let warnings: Vec<_> =
            [(indexing, INDEXING), (query_cut, CUT)].into_iter().filter(|(said, _)| *said).map(|(_, text)| text).collect();
        let warning = (!warnings.is_empty()).then(|| warnings.join("; "));
        Self { results: hits, indexing, warning, truncated }
    }

    /// The answer as one JSON object.
    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl Hit {
    fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
