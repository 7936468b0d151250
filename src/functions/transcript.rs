//! What of a transcript is searchable: the parts of an event, and the active branch.

use rusqlite::functions::{Aggregate, Context};
use rusqlite::types::{Value, ValueRef};

use super::call::{Call, whole};
use crate::branch::{Branch, Entry};
use crate::error::{Result, type_name};
use crate::event::Message;
use crate::source::StoredEvent;

/// The searchable message of the event in argument 1: `None` for NULL, for every other event and for one that cannot be read.
fn message(call: &Call<'_>) -> Result<Option<Message>> {
    match call.raw(0) {
        ValueRef::Null => Ok(None),
        event @ (ValueRef::Text(_) | ValueRef::Blob(_)) => Ok(StoredEvent::new(event, 0).read().and_then(|event| event.message)),
        other => Err(call.wrong(0, "TEXT (JSON) or BLOB (one zstd frame of it)", other)),
    }
}

fn text_or_null(text: Option<String>) -> Value {
    text.map_or(Value::Null, Value::Text)
}

/// `transcript_text(event)`: what can be found in it.
pub(super) fn text(call: &Call<'_>) -> Result<Value> {
    Ok(text_or_null(message(call)?.map(|message| message.text)))
}

/// `transcript_role(event)`: `user` or `assistant`.
pub(super) fn role(call: &Call<'_>) -> Result<Value> {
    Ok(text_or_null(message(call)?.map(|message| message.role.as_str().to_owned())))
}

/// `transcript_message_id(event)`.
pub(super) fn message_id(call: &Call<'_>) -> Result<Value> {
    Ok(text_or_null(message(call)?.map(|message| message.id)))
}

/// `transcript_timestamp(event, created_at)`: the event's own time in milliseconds since 1970, else `created_at`.
pub(super) fn timestamp(call: &Call<'_>) -> Result<Value> {
    let (message, created_at) = (message(call)?, call.integer(1)?);
    Ok(message.and_then(|message| message.timestamp.or(created_at)).map_or(Value::Null, Value::Integer))
}

/// `transcript_branch(seq, event)`: a JSON array of the active seqs of one transcript. The order of the rows does not matter;
/// events that cannot be read do not count.
pub(super) struct BranchAggregate;

impl Aggregate<Vec<(i64, Entry)>, Value> for BranchAggregate {
    fn init(&self, _: &mut Context<'_>) -> rusqlite::Result<Vec<(i64, Entry)>> {
        Ok(Vec::new())
    }

    fn step(&self, context: &mut Context<'_>, entries: &mut Vec<(i64, Entry)>) -> rusqlite::Result<()> {
        let seq = context.get_raw(0);
        let Some(seq) = whole(seq) else {
            let error = crate::Error::argument("transcript_branch", 1, "seq", "INTEGER", type_name(seq));
            return Err(rusqlite::Error::UserFunctionError(error.into()));
        };
        if let Some(event) = StoredEvent::new(context.get_raw(1), 0).read() {
            entries.push((seq, event.entry));
        }
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, entries: Option<Vec<(i64, Entry)>>) -> rusqlite::Result<Value> {
        let mut entries = entries.unwrap_or_default();
        entries.sort_by_key(|(seq, _)| *seq);
        let mut branch = Branch::new();
        for (seq, entry) in entries {
            branch.push(seq, entry);
        }
        Ok(Value::Text(serde_json::Value::from(branch.active()).to_string()))
    }
}
