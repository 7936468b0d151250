//! `sessions_history(session_key, caller [, options])`: the messages of a session, oldest first.

use rusqlite::types::Value;

use super::text;
use crate::error::Result;
use crate::handle::{Handle, Rows, TableFunction};
use crate::history::{self, HistoryMessage, HistoryRequest};

const NAME: &str = "sessions_history";

pub(super) const TABLE: TableFunction = TableFunction {
    name: c"sessions_history",
    columns: &["session_id", "message_id", "seq", "role", "timestamp", "text"],
    arguments: &[("session_key", true), ("caller", true), ("options", false)],
    rows,
};

fn rows(handle: &Handle, arguments: &[Value]) -> Result<Rows> {
    let [key, caller, options] = arguments else { return Ok(Vec::new()) };
    let (key, caller, options) = (text(NAME, 1, "session_key", key)?, text(NAME, 2, "caller", caller)?, text(NAME, 3, "options", options)?);
    let Some(key) = key else { return Ok(Vec::new()) };
    let turns = history::history(handle, &HistoryRequest::from_json(key, caller, options)?)?;
    let row = |turn: HistoryMessage| {
        vec![
            Value::Text(turn.session_id),
            Value::Text(turn.message_id),
            Value::Integer(turn.seq),
            Value::Text(turn.role.as_str().to_owned()),
            Value::Integer(turn.timestamp),
            Value::Text(turn.text),
        ]
    };
    Ok(turns.into_iter().map(row).collect())
}
