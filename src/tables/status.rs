//! `session_search_status`: one row about the index of this connection.

use rusqlite::types::Value;

use crate::error::Result;
use crate::handle::{Handle, Rows, TableFunction};
use crate::index::{self, Status};

pub(super) const TABLE: TableFunction = TableFunction {
    name: c"session_search_status",
    columns: &["version", "schema_version", "host", "path", "attached", "transcripts", "behind", "messages", "unreadable", "broken"],
    arguments: &[],
    rows,
};

fn rows(handle: &Handle, _: &[Value]) -> Result<Rows> {
    let Status { version, schema_version, host, path, attached, counts, broken } = index::status(handle)?;
    let text = |text: Option<String>| text.map_or(Value::Null, Value::Text);
    let number = |number: Option<i64>| number.map_or(Value::Null, Value::Integer);
    let size = |size: usize| i64::try_from(size).unwrap_or(i64::MAX);
    Ok(vec![vec![
        Value::Text(version.to_owned()),
        Value::Integer(schema_version.into()),
        text(host.map(str::to_owned)),
        text(path.map(|path| path.display().to_string())),
        Value::Integer(attached.into()),
        number(counts.map(|counts| size(counts.transcripts))),
        number(counts.map(|counts| size(counts.behind))),
        number(counts.map(|counts| counts.messages)),
        number(counts.map(|counts| counts.unreadable)),
        text(broken),
    ]])
}
