//! One call of a function: its arguments, decoded.

use std::borrow::Cow;

use rusqlite::functions::Context;
use rusqlite::types::ValueRef;

use super::Function;
use crate::error::{Error, Result, type_name};
use crate::handle::Handle;

pub(super) struct Call<'c> {
    pub(super) context: &'c Context<'c>,
    pub(super) function: &'static Function,
    pub(super) handle: &'c Handle,
}

impl Call<'_> {
    /// Argument `i` (from 0). NULL where it was left out.
    pub(super) fn raw(&self, i: usize) -> ValueRef<'_> {
        if i < self.context.len() { self.context.get_raw(i) } else { ValueRef::Null }
    }

    /// A text argument; `None` for NULL.
    pub(super) fn text(&self, i: usize) -> Result<Option<Cow<'_, str>>> {
        match self.raw(i) {
            ValueRef::Null => Ok(None),
            ValueRef::Text(bytes) => Ok(Some(String::from_utf8_lossy(bytes))),
            other => Err(self.wrong(i, "TEXT", other)),
        }
    }

    /// An integer argument; `None` for NULL. Some hosts (node:sqlite) bind every number as REAL: a whole one counts.
    pub(super) fn integer(&self, i: usize) -> Result<Option<i64>> {
        match self.raw(i) {
            ValueRef::Null => Ok(None),
            value => whole(value).map(Some).ok_or_else(|| self.wrong(i, "INTEGER", value)),
        }
    }

    /// Argument `i` has the wrong type. Its value is not shown: it may be what the caller wants to have redacted.
    pub(super) fn wrong(&self, i: usize, expected: &str, got: ValueRef<'_>) -> Error {
        self.argument(i, expected, type_name(got))
    }

    /// The number in argument `i` is out of range.
    pub(super) fn out_of_range(&self, i: usize, expected: &str, got: i64) -> Error {
        self.argument(i, expected, &got.to_string())
    }

    /// Argument `i` is not what was `expected`.
    pub(super) fn argument(&self, i: usize, expected: &str, got: &str) -> Error {
        let name = self.function.arguments.get(i).copied().unwrap_or_default();
        Error::argument(self.function.name, i + 1, name, expected, got)
    }
}

/// The value as an integer, if it is one.
pub(super) fn whole(value: ValueRef<'_>) -> Option<i64> {
    match value {
        ValueRef::Integer(value) => Some(value),
        #[expect(clippy::cast_possible_truncation, reason = "compared after the cast")]
        #[expect(clippy::cast_precision_loss, reason = "compared after the cast")]
        #[expect(clippy::float_cmp, reason = "exact or not a whole number")]
        ValueRef::Real(value) => Some(value as i64).filter(|&whole| whole as f64 == value),
        _ => None,
    }
}
