//! What a message has to do with tools. Not searchable; a history can show it.

use super::{Message, Role, Unreadable, json, milliseconds, text_blocks, trim};

/// The calls of an assistant or the result of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolUse {
    /// The event's `id`, trimmed; never empty.
    pub(crate) id: String,
    /// The assistant, or a tool's result.
    pub(crate) role: Role,
    /// Each call on a line, name and arguments as JSON; or the text of the result. Never blank.
    pub(crate) text: String,
    /// The event's `timestamp` in milliseconds since 1970, if it has a usable one.
    pub(crate) timestamp: Option<i64>,
}

impl ToolUse {
    /// The text of an assistant's message with its calls below.
    pub(crate) fn below(&self, message: &Message) -> String {
        format!("{}\n{}", message.text, self.text)
    }
}

/// Reads one event; `None` if it has nothing to do with tools.
pub(crate) fn tool_use(json: &[u8]) -> Result<Option<ToolUse>, Unreadable> {
    let json = String::from_utf8_lossy(json);
    let [kind, id, message, timestamp] = json::members(&json, ["type", "id", "message", "timestamp"])?;
    let (Some("message"), Some(id), Some(message)) = (kind.and_then(json::string).as_deref(), id.and_then(json::string), message) else {
        return Ok(None);
    };
    let [role, content] = json::members(message.get(), ["role", "content"])?;
    let (role, text) = match role.and_then(json::string).as_deref() {
        Some("assistant") => (Role::Assistant, calls(content)?),
        Some("toolResult") => {
            let plain = content.and_then(json::string).map(|text| trim(&text).to_owned());
            (Role::ToolResult, plain.map_or_else(|| text_blocks(content), Ok)?)
        }
        _ => return Ok(None),
    };
    let id = trim(&id).to_owned();
    let timestamp = timestamp.and_then(milliseconds);
    Ok((!id.is_empty() && !text.is_empty()).then_some(ToolUse { id, role, text, timestamp }))
}

fn calls(content: Option<&serde_json::value::RawValue>) -> Result<String, Unreadable> {
    let mut lines = Vec::new();
    for block in content.map(json::elements).transpose()?.unwrap_or_default() {
        let [kind, name, arguments] = json::members(block.get(), ["type", "name", "arguments"])?;
        if kind.and_then(json::string).as_deref() == Some("toolCall") {
            let name = name.and_then(json::string).unwrap_or_default();
            lines.push(format!("{name} {}", arguments.map_or("{}", |arguments| arguments.get())));
        }
    }
    Ok(lines.join("\n"))
}
