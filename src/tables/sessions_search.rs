//! `sessions_search(query, caller [, options])`: one row for each result, best first.

use rusqlite::types::Value;

use super::text;
use crate::error::Result;
use crate::handle::{Handle, Rows, TableFunction};
use crate::search::{self, Hit, SearchRequest};

const NAME: &str = "sessions_search";

pub(super) const TABLE: TableFunction = TableFunction {
    name: c"sessions_search",
    columns: &["session_key", "session_id", "message_id", "seq", "role", "timestamp", "excerpt", "score"],
    arguments: &[("query", true), ("caller", true), ("options", false)],
    rows,
};

fn rows(handle: &Handle, arguments: &[Value]) -> Result<Rows> {
    let [query, caller, options] = arguments else { return Ok(Vec::new()) };
    let (query, caller, options) = (text(NAME, 1, "query", query)?, text(NAME, 2, "caller", caller)?, text(NAME, 3, "options", options)?);
    let Some(query) = query else { return Ok(Vec::new()) };
    let answer = search::search(handle, &SearchRequest::from_json(query, caller, options)?)?;
    let row = |hit: Hit| {
        vec![
            Value::Text(hit.session_key),
            Value::Text(hit.session_id),
            Value::Text(hit.message_id),
            hit.seq.map_or(Value::Null, Value::Integer),
            Value::Text(hit.role.as_str().to_owned()),
            Value::Integer(hit.timestamp),
            Value::Text(hit.excerpt),
            Value::Real(hit.score),
        ]
    };
    Ok(answer.results.into_iter().map(row).collect())
}
