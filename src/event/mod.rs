//! What of a stored event matters here: its message, if it has searchable text, and its place in the tree.
//!
//! The reader accepts what `JSON.parse` accepts, because JavaScript hosts write these events: the last of repeated keys counts, and
//! a lone surrogate is legal. It accepts a little more: bad UTF-8 does not hide a message (both become U+FFFD), and a key may hold
//! raw control characters. Keys that do not matter are skipped without allocation, and nothing recurses into the content.
//!
//! Invariant: no input panics, and an error quotes nothing of the content. Tested in `event/tests.rs` and `event/time.rs`.

mod json;
mod time;
mod tools;
mod zstd;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::branch::{AppendMode, Entry, Kind, Reference};
pub(crate) use tools::{ToolUse, tool_use};

/// Version of what is taken out of an event. It decides what is in an index, so this number is part of the index format.
pub(crate) const VERSION: u32 = 1;

/// An event as the host keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stored<'a> {
    /// TEXT: the JSON itself.
    Json(&'a [u8]),
    /// BLOB: one zstd frame that holds the JSON.
    Zstd(&'a [u8]),
}

impl<'a> Stored<'a> {
    /// The JSON of the event: borrowed, or decoded from a whole zstd frame of at most 4 MiB content.
    pub(crate) fn json(&self) -> Result<Cow<'a, [u8]>, Unreadable> {
        match *self {
            Self::Json(json) => Ok(Cow::Borrowed(json)),
            Self::Zstd(frame) => zstd::decode(frame).map(Cow::Owned),
        }
    }
}

/// Why an event cannot be read. Quotes nothing of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// The text is not one JSON value.
    Json,
    /// The blob is not exactly one whole, undamaged zstd frame.
    Zstd,
    /// The frame holds more than 4 MiB.
    TooLarge,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Json => "the event is not valid JSON",
            Self::Zstd => "the event is not one undamaged zstd frame",
            Self::TooLarge => "the event is larger than 4 MiB",
        })
    }
}

impl std::error::Error for Unreadable {}

/// Who wrote a message. Only users and assistants can be searched; a history can show what tools answered.
///
/// ```
/// assert_eq!(session_search::Role::ToolResult.as_str(), "toolResult");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// `user`
    User,
    /// `assistant`
    Assistant,
    /// `toolResult`
    ToolResult,
}

impl Role {
    /// The name that events and answers use.
    ///
    /// ```
    /// assert_eq!(session_search::Role::User.as_str(), "user");
    /// ```
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::ToolResult => "toolResult",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A message with searchable text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    /// The event's `id`, trimmed; never empty.
    pub(crate) id: String,
    /// `message.role`
    pub(crate) role: Role,
    /// What a search looks at: `message.content` if it is a string, else `message.text`, else the text blocks of the content,
    /// one per line. Never blank.
    pub(crate) text: String,
    /// The event's `timestamp` in milliseconds since 1970; `None` if it has no usable one, then the row's `created_at` counts.
    pub(crate) timestamp: Option<i64>,
}

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// Its place in the tree.
    pub(crate) entry: Entry,
    /// Its message; `Some` exactly if it is searchable.
    pub(crate) message: Option<Message>,
}

/// Reads one event. JSON that is no object is an event without any facts.
pub(crate) fn parse(json: &[u8]) -> Result<Event, Unreadable> {
    let json = String::from_utf8_lossy(json);
    let [kind, id, parent_id, target_id, append_parent_id, append_mode, message, timestamp] =
        json::members(&json, ["type", "id", "parentId", "targetId", "appendParentId", "appendMode", "message", "timestamp"])?;
    let kind = kind.and_then(json::string);
    let id = id.and_then(json::string).filter(|id| !trim(id).is_empty());
    let entry = Entry {
        kind: kind.as_deref().map_or(Kind::Other, Kind::of),
        id: id.as_deref().map(str::to_owned),
        parent_id: reference(parent_id),
        target_id: reference(target_id),
        append_parent_id: reference(append_parent_id),
        append_mode: append_mode.map_or(AppendMode::Absent, |raw| match json::string(raw).as_deref() {
            Some("side") => AppendMode::Side,
            _ => AppendMode::Unusable,
        }),
        has_message: message.is_some(),
    };
    let message = match (kind.as_deref(), id, message) {
        (Some("message"), Some(id), Some(message)) => role_and_text(message)?.map(|(role, text)| Message {
            id: trim(&id).to_owned(),
            role,
            text,
            timestamp: timestamp.and_then(milliseconds),
        }),
        _ => None,
    };
    Ok(Event { entry, message })
}

fn reference(value: Option<&RawValue>) -> Reference {
    match value {
        None => Reference::Absent,
        Some(raw) if raw.get() == "null" => Reference::Null,
        Some(raw) => match json::string(raw) {
            Some(id) if !trim(&id).is_empty() => Reference::Id(id.into_owned()),
            _ => Reference::Unusable,
        },
    }
}

/// The role and the searchable text of `message`, if it has both.
fn role_and_text(message: &RawValue) -> Result<Option<(Role, String)>, Unreadable> {
    let [role, content, text] = json::members(message.get(), ["role", "content", "text"])?;
    let role = match role.and_then(json::string).as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        _ => return Ok(None),
    };
    let text = match (content.and_then(json::string), text.and_then(json::string)) {
        (Some(content), _) => trim(&content).to_owned(), // a blank string counts: `text` is not tried
        (None, Some(text)) => trim(&text).to_owned(),
        (None, None) => text_blocks(content)?,
    };
    Ok((!text.is_empty()).then_some((role, text)))
}

/// The texts of the content blocks that are text, untrimmed, one per line; blank ones count for nothing.
fn text_blocks(content: Option<&RawValue>) -> Result<String, Unreadable> {
    let mut joined = String::new();
    for block in content.map(json::elements).transpose()?.unwrap_or_default() {
        let [kind, text] = json::members(block.get(), ["type", "text"])?;
        if !matches!(kind.and_then(json::string).as_deref(), Some("text" | "input_text" | "output_text")) {
            continue;
        }
        let Some(text) = text.and_then(json::string).filter(|text| !trim(text).is_empty()) else { continue };
        if !joined.is_empty() {
            joined.push('\n');
        }
        joined.push_str(&text);
    }
    Ok(joined)
}

fn milliseconds(timestamp: &RawValue) -> Option<i64> {
    if let Some(text) = json::string(timestamp) {
        return time::parse(&text);
    }
    let number = json::number(timestamp)?;
    // -2^63 and 2^63 are exact as f64; between them the cast only truncates.
    #[allow(clippy::cast_possible_truncation)]
    (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&number).then_some(number as i64)
}

/// `String.prototype.trim` of JavaScript: unlike Rust's it takes U+FEFF for white space, and not U+0085.
fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}'))
}
