//! The table functions. [`TABLES`] declares them all.

mod sessions_history;
mod sessions_search;
mod status;

use rusqlite::types::Value;

use crate::error::{Error, Result, type_name};
use crate::handle::TableFunction;

/// Every table function there is. The last one costs nothing to connect.
pub(crate) static TABLES: [TableFunction; 3] = [sessions_search::TABLE, sessions_history::TABLE, status::TABLE];

/// A text argument, the `n`-th (from 1) of `table`; `None` for NULL.
fn text<'v>(table: &str, n: usize, name: &str, value: &'v Value) -> Result<Option<&'v str>> {
    match value {
        Value::Null => Ok(None),
        Value::Text(text) => Ok(Some(text)),
        other => Err(Error::argument(table, n, name, "TEXT", type_name(other.into()))),
    }
}
