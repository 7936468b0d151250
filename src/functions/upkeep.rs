//! Opening a host, living in one, catching up, and what is needed for a bug report.

use std::path::Path;
use std::time::Duration;

use rusqlite::types::Value;

use super::call::Call;
use crate::error::{Error, Result, shortened};
use crate::{index, schema};

/// `session_search_open(path)`: the name of the host's table layout.
pub(super) fn open(call: &Call<'_>) -> Result<Value> {
    let Some(path) = call.text(0)? else { return Ok(Value::Null) };
    index::open(call.handle, Path::new(path.as_ref())).map(|adapter| Value::Text(adapter.to_owned()))
}

/// `session_search_install([options])`: the name of the table layout.
pub(super) fn install(call: &Call<'_>) -> Result<Value> {
    let options = call.text(0)?;
    let adopt = options.map_or(Ok(false), |options| adopt(&options))?;
    index::install(call.handle, adopt).map(|adapter| Value::Text(adapter.to_owned()))
}

/// The only option of `session_search_install`.
fn adopt(options: &str) -> Result<bool> {
    let wrong = || {
        let expected = "a JSON object with no other key than adopt (true or false)";
        Error::argument("session_search_install", 1, "options", expected, &shortened(options))
    };
    let given: serde_json::Map<String, serde_json::Value> = serde_json::from_str(options).map_err(|_| wrong())?;
    match (given.get("adopt"), given.len()) {
        (None, 0) => Ok(false),
        (Some(serde_json::Value::Bool(adopt)), 1) => Ok(*adopt),
        _ => Err(wrong()),
    }
}

/// `session_search_attach()`: the name of the table layout.
pub(super) fn attach(call: &Call<'_>) -> Result<Value> {
    index::attach(call.handle).map(|adapter| Value::Text(adapter.to_owned()))
}

/// `session_search_uninstall()`: 1, or 0 where there was nothing to take out.
pub(super) fn uninstall(call: &Call<'_>) -> Result<Value> {
    index::uninstall(call.handle).map(|removed| Value::Integer(removed.into()))
}

/// `session_search_apply(token, old_session_id, old_seq, new_session_id, new_seq)`: called by the TEMP triggers for every event that comes,
/// changes or goes. What it cannot make sense of is behind, no error: the host's write goes on.
pub(super) fn apply(call: &Call<'_>) -> Result<Value> {
    let token = call.integer(0).unwrap_or_default().unwrap_or_default();
    let (old, new) = (call.text(1).unwrap_or_default(), call.text(3).unwrap_or_default());
    let seq = |i| call.integer(i).ok().flatten();
    index::apply(call.handle, token, old.as_deref().zip(seq(2)), new.as_deref().zip(seq(4))).map(|()| Value::Null)
}

/// `session_search_reconcile([budget_ms])`: how many transcripts remain. Without a budget it works until none does.
pub(super) fn reconcile(call: &Call<'_>) -> Result<Value> {
    index::reconcile(call.handle, budget(call)?).map(count)
}

/// `session_search_rebuild([budget_ms])`: how many transcripts remain to be indexed again.
pub(super) fn rebuild(call: &Call<'_>) -> Result<Value> {
    index::rebuild(call.handle, budget(call)?).map(count)
}

/// `session_search_optimize()`: 1.
pub(super) fn optimize(call: &Call<'_>) -> Result<Value> {
    index::optimize(call.handle).map(|()| Value::Integer(1))
}

/// `session_search_check()`: `ok`, or one line for each fault.
pub(super) fn check(call: &Call<'_>) -> Result<Value> {
    let faults = index::check(call.handle)?;
    Ok(Value::Text(if faults.is_empty() { "ok".to_owned() } else { faults.join("\n") }))
}

/// Argument 1 as a time to work.
fn budget(call: &Call<'_>) -> Result<Option<Duration>> {
    let Some(ms) = call.integer(0)? else { return Ok(None) };
    u64::try_from(ms).map(|ms| Some(Duration::from_millis(ms))).map_err(|_| call.out_of_range(0, "milliseconds, not negative", ms))
}

fn count(number: usize) -> Value {
    Value::Integer(i64::try_from(number).unwrap_or(i64::MAX))
}

/// `session_search_redact_rule(kind, value [, on])`: how many rules of its own the database and the connection have.
pub(super) fn redact_rule(call: &Call<'_>) -> Result<Value> {
    let (Some(kind), Some(value), on) = (call.text(0)?, call.text(1)?, call.integer(2)?) else { return Ok(Value::Null) };
    let on = match on {
        None | Some(1) => true,
        Some(0) => false,
        Some(other) => return Err(call.out_of_range(2, "1 or 0", other)),
    };
    index::redact_rule(call.handle, &kind, &value, on).map(count)
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
