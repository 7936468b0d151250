//! Texts without their secrets.

use rusqlite::types::Value;

use super::call::Call;
use crate::error::Result;
use crate::excerpt::excerpt;
use crate::query::{MatchMode, Query};
use crate::redact::Redacted;
use crate::search::{EXCERPT_CHARS, matching_excerpt};
use crate::tokenizer::Tokenizer;

/// `redact(text)`: the text with its secrets masked.
pub(super) fn redact(call: &Call<'_>) -> Result<Value> {
    let text = call.text(0)?;
    Ok(text.map_or(Value::Null, |text| Value::Text(crate::redact::redact(&text).into_owned())))
}

/// `redact_excerpt(text [, query [, max_chars]])`: at most so many characters around what the query finds, secrets masked.
/// A query that finds nothing, or that has nothing to search for, gives the beginning of the text.
pub(super) fn redact_excerpt(call: &Call<'_>) -> Result<Value> {
    let (text, query, max_chars) = (call.text(0)?, call.text(1)?, call.integer(2)?);
    let max_chars = match max_chars {
        None => EXCERPT_CHARS,
        Some(max) => match usize::try_from(max) {
            Ok(max) if max > 0 => max,
            _ => return Err(call.out_of_range(2, "an integer of at least 1", max)),
        },
    };
    let Some(text) = text else { return Ok(Value::Null) };
    let query = query.and_then(|query| Query::parse(&query, MatchMode::All, Tokenizer::default()).ok());
    let text = Redacted::new(&text);
    Ok(Value::Text(match query {
        Some(query) => matching_excerpt(&text, &query, max_chars),
        None => excerpt(&text, &[], max_chars),
    }))
}
