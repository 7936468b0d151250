//! The scalar and aggregate functions. [`FUNCTIONS`] declares them all; registration is one loop over it. The files beside this one
//! only decode arguments.
//!
//! Common rules: NULL for the first argument gives NULL, a wrong type is an error that says what was expected, bytes of a text that
//! are not UTF-8 count as U+FFFD.

mod call;
mod search;
mod text;
mod transcript;
mod upkeep;

use std::sync::Arc;

use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::Value;

use crate::error::{Error, Result};
use crate::handle::Handle;
use call::Call;

/// One function in SQL.
pub(crate) struct Function {
    pub(crate) name: &'static str,
    /// The arguments in order; from `required` on they may be left out.
    pub(crate) arguments: &'static [&'static str],
    pub(crate) required: usize,
    reads: Reads,
    body: Body,
}

/// What a function looks at, which decides its flags.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reads {
    /// Nothing but its arguments: DETERMINISTIC, and INNOCUOUS, so that it may be used in views, triggers and indexes.
    Arguments,
    /// The build: harmless, but not marked deterministic (rusqlite 0.40 cannot do that for a function without arguments).
    Build,
    /// The database: DIRECTONLY, so that no foreign schema can call it.
    Database,
}

impl Reads {
    fn flags(self) -> FunctionFlags {
        let own = match self {
            Self::Arguments => FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS,
            Self::Build => FunctionFlags::SQLITE_INNOCUOUS,
            Self::Database => FunctionFlags::SQLITE_DIRECTONLY,
        };
        FunctionFlags::SQLITE_UTF8 | own
    }
}

enum Body {
    Scalar(fn(&Call<'_>) -> Result<Value>),
    /// `transcript_branch`.
    Branch,
}

const fn scalar(
    name: &'static str,
    arguments: &'static [&'static str],
    required: usize,
    reads: Reads,
    body: fn(&Call<'_>) -> Result<Value>,
) -> Function {
    Function { name, arguments, required, reads, body: Body::Scalar(body) }
}

/// Every function there is.
#[rustfmt::skip] // one row each
pub(crate) static FUNCTIONS: [Function; 22] = [
    scalar("sessions_search_json", &["query", "caller", "options"], 2, Reads::Database, search::sessions_search_json),
    scalar("session_visible", &["session_key", "caller", "policy"], 2, Reads::Database, search::session_visible),
    scalar("session_search_match", &["query", "mode", "tokenizer"], 1, Reads::Arguments, search::session_search_match),
    scalar("redact", &["text"], 1, Reads::Arguments, text::redact),
    scalar("redact_excerpt", &["text", "query", "max_chars"], 1, Reads::Arguments, text::redact_excerpt),
    scalar("transcript_text", &["event"], 1, Reads::Arguments, transcript::text),
    scalar("transcript_role", &["event"], 1, Reads::Arguments, transcript::role),
    scalar("transcript_message_id", &["event"], 1, Reads::Arguments, transcript::message_id),
    scalar("transcript_timestamp", &["event", "created_at"], 2, Reads::Arguments, transcript::timestamp),
    Function { name: "transcript_branch", arguments: &["seq", "event"], required: 2, reads: Reads::Arguments, body: Body::Branch },
    scalar("session_search_open", &["path"], 1, Reads::Database, upkeep::open),
    scalar("session_search_install", &["options"], 0, Reads::Database, upkeep::install),
    scalar("session_search_attach", &[], 0, Reads::Database, upkeep::attach),
    scalar("session_search_uninstall", &[], 0, Reads::Database, upkeep::uninstall),
    scalar("session_search_apply", &["token", "old_session_id", "old_seq", "new_session_id", "new_seq"], 5, Reads::Database, upkeep::apply),
    scalar("session_search_reconcile", &["budget_ms"], 0, Reads::Database, upkeep::reconcile),
    scalar("session_search_redact_rule", &["kind", "value", "on"], 2, Reads::Database, upkeep::redact_rule),
    scalar("session_search_check", &[], 0, Reads::Database, upkeep::check),
    scalar("session_search_rebuild", &["budget_ms"], 0, Reads::Database, upkeep::rebuild),
    scalar("session_search_optimize", &[], 0, Reads::Database, upkeep::optimize),
    scalar("session_search_version", &[], 0, Reads::Build, upkeep::version),
    scalar("session_search_debug", &[], 0, Reads::Build, upkeep::debug),
];

/// Registers all functions on a connection.
pub(crate) fn register(handle: &Arc<Handle>, conn: &Connection) -> Result<()> {
    let registering = |e| Error::sqlite("registering the functions", e);
    for function in &FUNCTIONS {
        for arity in function.required..=function.arguments.len() {
            let count = i32::try_from(arity).unwrap_or(-1);
            match function.body {
                Body::Scalar(body) => {
                    let handle = Arc::clone(handle);
                    // A closure, not a function item: rusqlite 0.40 passes `&Context`, later versions `&mut Context`.
                    conn.create_scalar_function(function.name, count, function.reads.flags(), move |context| {
                        body(&Call { context, function, handle: &handle }).map_err(|e| rusqlite::Error::UserFunctionError(e.into()))
                    })
                }
                Body::Branch => conn.create_aggregate_function(function.name, count, function.reads.flags(), transcript::BranchAggregate),
            }
            .map_err(registering)?;
        }
    }
    Ok(())
}
