//! One event as the host keeps it, and a stamp from the content of many.

use std::borrow::Cow;

use rusqlite::functions::{Aggregate, Context};
use rusqlite::types::ValueRef;
use twox_hash::XxHash64;

use crate::event::{self, Event, Stored, ToolUse};

/// One event as the host keeps it.
pub(crate) struct StoredEvent<'r> {
    value: ValueRef<'r>,
    /// When the host stored it, in milliseconds since 1970.
    pub(crate) created_at: i64,
}

impl<'r> StoredEvent<'r> {
    /// An event from a column or argument.
    pub(crate) fn new(value: ValueRef<'r>, created_at: i64) -> Self {
        Self { value, created_at }
    }

    /// The event, if it can be read: a text is JSON, a blob is one zstd frame of it.
    pub(crate) fn read(&self) -> Option<Event> {
        event::parse(&self.json()?).ok()
    }

    /// What it has to do with tools, if anything.
    pub(crate) fn tool_use(&self) -> Option<ToolUse> {
        event::tool_use(&self.json()?).ok().flatten()
    }

    fn json(&self) -> Option<Cow<'r, [u8]>> {
        let stored = match self.value {
            ValueRef::Text(json) => Stored::Json(json),
            ValueRef::Blob(frame) => Stored::Zstd(frame),
            _ => return None,
        };
        stored.json().ok()
    }

    /// XXH64 of the event's bytes, as SQLite keeps integers.
    pub(crate) fn hash(&self) -> i64 {
        match self.value {
            ValueRef::Text(bytes) => XxHash64::oneshot(0, bytes).cast_signed(),
            ValueRef::Blob(bytes) => XxHash64::oneshot(1, bytes).cast_signed(), // the same bytes would mean something else
            _ => 0,
        }
    }
}

/// `session_search_stamp(seq, event, created_at)`: a stamp from the content of a transcript, for hosts that keep none.
/// The order of the rows does not matter.
pub(super) struct ContentStamp;

impl Aggregate<(u64, u64), String> for ContentStamp {
    fn init(&self, _: &mut Context<'_>) -> rusqlite::Result<(u64, u64)> {
        Ok((0, 0))
    }

    fn step(&self, context: &mut Context<'_>, (count, sum): &mut (u64, u64)) -> rusqlite::Result<()> {
        let hash = |i| StoredEvent::new(context.get_raw(i), 0).hash();
        let number = |i| context.get(i).unwrap_or_else(|_| hash(i));
        let mut row = [0; 24];
        for (bytes, part) in row.chunks_exact_mut(8).zip([number(0), hash(1), number(2)]) {
            bytes.copy_from_slice(&part.to_le_bytes());
        }
        *count += 1;
        *sum = sum.wrapping_add(XxHash64::oneshot(0, &row));
        Ok(())
    }

    fn finalize(&self, _: &mut Context<'_>, state: Option<(u64, u64)>) -> rusqlite::Result<String> {
        let (count, sum) = state.unwrap_or_default();
        Ok(format!("{count}:{sum:016x}"))
    }
}
