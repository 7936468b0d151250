//! `session_search_status`: one row about the index of this connection.

use rusqlite::types::Value;

use crate::error::{Error, Result};
use crate::handle::{Handle, Rows, TableFunction};
use crate::schema::SCHEMA_VERSION;

pub(super) const TABLE: TableFunction = TableFunction {
    name: c"session_search_status",
    columns: &["version", "schema_version", "host", "path", "attached", "transcripts", "behind", "messages", "unreadable", "broken"],
    arguments: &[],
    rows,
};

/// What the index holds.
struct Counts {
    transcripts: i64,
    behind: i64,
    messages: i64,
    unreadable: i64,
}

fn rows(handle: &Handle, _: &[Value]) -> Result<Rows> {
    let mut attached = handle.attached()?;
    let mut row = vec![Value::Text(env!("CARGO_PKG_VERSION").to_owned()), Value::Integer(SCHEMA_VERSION.into())];
    let Some(attached) = attached.as_mut() else {
        row.extend([Value::Null, Value::Null, Value::Integer(0), Value::Null, Value::Null, Value::Null, Value::Null, Value::Null]);
        return Ok(vec![row]);
    };
    let counts = attached.look(handle, false, |_, catalog| {
        let transcripts = catalog.entries.iter().filter(|entry| entry.searchable).count();
        Ok(Counts {
            transcripts: i64::try_from(transcripts).unwrap_or(i64::MAX),
            behind: i64::try_from(catalog.work()).unwrap_or(i64::MAX),
            messages: count(handle, "SELECT count(*) FROM main.session_search_message")?,
            unreadable: count(handle, "SELECT ifnull(sum(unreadable), 0) FROM main.session_search_transcript")?,
        })
    });
    row.push(Value::Text(attached.adapter().to_owned()));
    row.push(Value::Text(attached.path().display().to_string()));
    row.push(Value::Integer(1));
    match counts {
        Ok(counts) => {
            row.extend([counts.transcripts, counts.behind, counts.messages, counts.unreadable].map(Value::Integer));
            row.push(attached.trouble().map_or(Value::Null, |error| Value::Text(error.to_string())));
        }
        Err(error) => {
            row.extend([Value::Null, Value::Null, Value::Null, Value::Null]);
            row.push(Value::Text(error.to_string()));
        }
    }
    Ok(vec![row])
}

fn count(handle: &Handle, sql: &str) -> Result<i64> {
    let counted = handle.connection().prepare_cached(sql).and_then(|mut s| s.query_row([], |row| row.get(0)));
    counted.map_err(|e| Error::index("counting what is indexed", e))
}
