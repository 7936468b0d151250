//! Searching and visibility.

use rusqlite::types::Value;

use super::call::Call;
use crate::error::{Result, shortened};
use crate::query::{MatchMode, Query};
use crate::search::{self, SearchRequest};
use crate::tokenizer::Tokenizer;

/// `sessions_search_json(query, caller [, options])`: the whole bounded answer as one JSON object.
pub(super) fn sessions_search_json(call: &Call<'_>) -> Result<Value> {
    let (Some(query), caller, options) = (call.text(0)?, call.text(1)?, call.text(2)?) else { return Ok(Value::Null) };
    let request = SearchRequest::from_json(&query, caller.as_deref(), options.as_deref())?;
    Ok(Value::Text(search::search(call.handle, &request)?.to_json()))
}

/// `session_visible(session_key, caller [, policy])`: 1 or 0.
pub(super) fn session_visible(call: &Call<'_>) -> Result<Value> {
    let (Some(key), caller, policy) = (call.text(0)?, call.text(1)?, call.text(2)?) else { return Ok(Value::Null) };
    let policy = search::parse_policy(policy.as_deref())?;
    let visible = search::session_visible(call.handle, &key, caller.as_deref().unwrap_or_default(), &policy)?;
    Ok(Value::Integer(visible.into()))
}

/// `session_search_match(query [, mode [, tokenizer]])`: a MATCH expression of FTS5 for what a person typed, in a table whose tokenizer has
/// these options.
pub(super) fn session_search_match(call: &Call<'_>) -> Result<Value> {
    let (Some(query), mode, options) = (call.text(0)?, call.text(1)?, call.text(2)?) else { return Ok(Value::Null) };
    let mode: MatchMode = match mode {
        None => MatchMode::default(),
        Some(word) => word.parse().map_err(|_| call.argument(1, MatchMode::WORDS, &format!("{:?}", shortened(&word))))?,
    };
    let tokenizer = Tokenizer::from_args(options.as_deref().unwrap_or_default().split_ascii_whitespace())?;
    Ok(Value::Text(Query::parse(&query, mode, tokenizer)?.to_match()))
}
