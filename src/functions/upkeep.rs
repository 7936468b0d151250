//! Opening a host, catching up, and what is needed for a bug report.

use std::path::Path;
use std::time::Duration;

use rusqlite::types::Value;

use super::call::Call;
use crate::error::Result;
use crate::{index, schema};

/// `session_search_open(path)`: the name of the host's table layout.
pub(super) fn open(call: &Call<'_>) -> Result<Value> {
    let Some(path) = call.text(0)? else { return Ok(Value::Null) };
    index::open(call.handle, Path::new(path.as_ref())).map(|adapter| Value::Text(adapter.to_owned()))
}

/// `session_search_reconcile([budget_ms])`: how many transcripts remain. Without a budget it works until none does.
pub(super) fn reconcile(call: &Call<'_>) -> Result<Value> {
    let budget = match call.integer(0)? {
        None => None,
        Some(ms) => match u64::try_from(ms) {
            Ok(ms) => Some(Duration::from_millis(ms)),
            Err(_) => return Err(call.out_of_range(0, "milliseconds, not negative", ms)),
        },
    };
    let remaining = index::reconcile(call.handle, budget)?;
    Ok(Value::Integer(i64::try_from(remaining).unwrap_or(i64::MAX)))
}

/// `session_search_version()`.
#[expect(clippy::unnecessary_wraps, reason = "the shape of every function")]
pub(super) fn version(_: &Call<'_>) -> Result<Value> {
    Ok(Value::Text(env!("CARGO_PKG_VERSION").to_owned()))
}

/// `session_search_debug()`: facts of the build and the SQLite it runs in, as JSON.
#[expect(clippy::unnecessary_wraps, reason = "the shape of every function")]
pub(super) fn debug(_: &Call<'_>) -> Result<Value> {
    let facts = serde_json::json!({
        "version": env!("CARGO_PKG_VERSION"),
        "build": if cfg!(feature = "loadable") { "loadable" } else { "static" },
        "format": schema::format_text(),
        "sqlite": rusqlite::version(),
        "target": format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS),
    });
    Ok(Value::Text(facts.to_string()))
}
