//! `session_search_status`: one row about the index of this connection.

use rusqlite::types::Value;

use crate::error::Result;
use crate::handle::{Handle, Rows, TableFunction};
use crate::index;
use crate::schema::SCHEMA_VERSION;
use crate::transaction::Guest;

pub(super) const TABLE: TableFunction = TableFunction {
    name: c"session_search_status",
    columns: &["version", "schema_version", "host", "path", "attached", "transcripts", "behind", "messages", "unreadable", "broken"],
    arguments: &[],
    rows,
};

fn rows(handle: &Handle, _: &[Value]) -> Result<Rows> {
    let guest = Guest::of(handle);
    let mut attached = index::attached(handle)?;
    let mut counts = [const { Value::Null }; 4];
    let (mut host, mut path, mut broken) = (Value::Null, Value::Null, Value::Null);
    let mut is_attached = false;
    if let Some(attached) = attached.as_mut() {
        let counted = attached.look(handle, None, &[], |_, catalog| {
            let (messages, unreadable) = index::counts(handle)?;
            let transcripts = catalog.entries.iter().filter(|entry| entry.searchable).count();
            let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
            Ok([number(transcripts), number(catalog.work()), messages, unreadable])
        });
        broken = match counted {
            Ok(numbers) => {
                counts = numbers.map(Value::Integer);
                attached.trouble().map_or(Value::Null, |error| Value::Text(error.to_string()))
            }
            Err(error) => Value::Text(guest.may_go_on(error)?.to_string()),
        };
        is_attached = attached.is_connected(handle)?;
        host = Value::Text(attached.adapter().to_owned());
        path = Value::Text(attached.path().display().to_string());
    }
    let version = Value::Text(env!("CARGO_PKG_VERSION").to_owned());
    let [transcripts, behind, messages, unreadable] = counts;
    let schema = Value::Integer(SCHEMA_VERSION.into());
    Ok(vec![vec![version, schema, host, path, Value::Integer(is_attached.into()), transcripts, behind, messages, unreadable, broken]])
}
