//! One call of a function: its arguments, decoded.

use std::borrow::Cow;

use rusqlite::functions::Context;
use rusqlite::types::ValueRef;

use super::Function;
use crate::error::{Error, Result};
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

    /// An integer argument; `None` for NULL.
    pub(super) fn integer(&self, i: usize) -> Result<Option<i64>> {
        match self.raw(i) {
            ValueRef::Null => Ok(None),
            ValueRef::Integer(value) => Ok(Some(value)),
            other => Err(self.wrong(i, "INTEGER", other)),
        }
    }

    /// Argument `i` is not what was `expected`.
    pub(super) fn wrong(&self, i: usize, expected: &str, got: ValueRef<'_>) -> Error {
        let name = self.function.arguments.get(i).copied().unwrap_or_default();
        let got = match got {
            ValueRef::Integer(value) => value.to_string(), // never a secret, and its value is often what is wrong
            other => other.data_type().to_string().to_uppercase(),
        };
        Error::argument(self.function.name, i + 1, name, expected, &got)
    }
}
