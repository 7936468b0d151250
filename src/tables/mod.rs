//! The table functions. [`TABLES`] declares them all.

mod sessions_search;
mod status;

use crate::handle::TableFunction;

/// Every table function there is. The last one costs nothing to connect.
pub(crate) static TABLES: [TableFunction; 2] = [sessions_search::TABLE, status::TABLE];
