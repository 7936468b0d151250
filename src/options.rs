//! Options objects of the functions, decoded key by key. Nothing is guessed: an unknown key or a wrong type is an error that names it.

use std::ops::RangeInclusive;

use serde_json::{Map, Value};

use crate::error::{Error, Result, shortened};

/// The options argument of a function: JSON text; `None` stands for `{}`.
pub(crate) fn options(text: Option<&str>) -> Result<Map<String, Value>> {
    text.map_or_else(|| Ok(Map::new()), |text| object("options", text))
}

/// The object `name`, in JSON text.
pub(crate) fn object(name: &str, text: &str) -> Result<Map<String, Value>> {
    match json(name, text)? {
        Value::Object(map) => Ok(map),
        other => Err(Error::input(format!("{name} must be a JSON object, got {}", shown(&other)))),
    }
}

/// The JSON text of the object `name`.
pub(crate) fn json(name: &str, text: &str) -> Result<Value> {
    serde_json::from_str(text).map_err(|e| Error::input(format!("{name} must be a JSON object: {e}")))
}

/// The object `name` has a key that it must not have.
pub(crate) fn unknown(name: &str, key: &str, known: &str) -> Error {
    Error::input(format!("{name} has the unknown key {}: the keys are {known}", shown(&Value::from(key))))
}

pub(crate) fn text<'v>(key: &str, value: &'v Value) -> Result<&'v str> {
    value.as_str().ok_or_else(|| Error::option(key, "a string", &shown(value)))
}

pub(crate) fn boolean(key: &str, value: &Value) -> Result<bool> {
    value.as_bool().ok_or_else(|| Error::option(key, "true or false", &shown(value)))
}

/// How many of something, within bounds.
pub(crate) fn count(key: &str, bounds: RangeInclusive<i64>, value: &Value) -> Result<usize> {
    let count = value.as_i64().filter(|count| bounds.contains(count)).and_then(|count| usize::try_from(count).ok());
    count.ok_or_else(|| out_of_bounds(key, &bounds, &shown(value)))
}

/// The same for a number that did not come as JSON.
pub(crate) fn in_bounds(key: &str, bounds: RangeInclusive<i64>, count: usize) -> Result<()> {
    let is_within = i64::try_from(count).is_ok_and(|count| bounds.contains(&count));
    if is_within { Ok(()) } else { Err(out_of_bounds(key, &bounds, &count.to_string())) }
}

fn out_of_bounds(key: &str, bounds: &RangeInclusive<i64>, got: &str) -> Error {
    Error::option(key, &format!("an integer from {} to {}", bounds.start(), bounds.end()), got)
}

pub(crate) fn integer(key: &str, value: &Value) -> Result<i64> {
    value.as_i64().ok_or_else(|| Error::option(key, "an integer", &shown(value)))
}

pub(crate) fn milliseconds(key: &str, value: &Value) -> Result<i64> {
    value.as_i64().ok_or_else(|| Error::option(key, "an integer (milliseconds since 1970)", &shown(value)))
}

/// A wrong value as an error shows it: JSON, so that a string and a number can be told apart.
pub(crate) fn shown(value: &Value) -> String {
    shortened(&value.to_string())
}
