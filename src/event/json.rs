//! Looking into JSON without building it: the members of an object and the elements of an array, as raw slices of the text.
//!
//! `serde_json` checks the grammar and finds the slices; its skipping neither recurses nor allocates per value. A value is decoded
//! only when it is asked for, so a number out of range or a lone surrogate in one field cannot spoil the others.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::Unreadable;

/// The values of `names` in the object `json`, the last one where a key is repeated. A value that is no object has no members.
pub(super) fn members<'a, const N: usize>(json: &'a str, names: [&str; N]) -> Result<[Option<&'a RawValue>; N], Unreadable> {
    if !starts_with(json, '{') {
        return serde_json::from_str::<IgnoredAny>(json).map(|_| [None; N]).map_err(|_| Unreadable::Json);
    }
    let mut json = serde_json::Deserializer::from_str(json);
    let values = json.deserialize_map(Members(&names)).and_then(|values| json.end().map(|()| values));
    values.map_err(|_| Unreadable::Json)
}

/// The elements of the array `raw`; a value that is no array has none.
pub(super) fn elements(raw: &RawValue) -> Result<Vec<&RawValue>, Unreadable> {
    if !starts_with(raw.get(), '[') {
        return Ok(Vec::new());
    }
    serde_json::from_str(raw.get()).map_err(|_| Unreadable::Json)
}

/// The string that `raw` is; `None` if it is no string. Lone surrogates, which JSON allows and UTF-8 does not, become U+FFFD.
pub(super) fn string(raw: &RawValue) -> Option<Cow<'_, str>> {
    let inner = raw.get().strip_prefix('"')?.strip_suffix('"')?;
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Some(Cow::Borrowed(inner));
    }
    let decoded = serde_json::from_str(raw.get()).or_else(|_| serde_json::from_str(&without_lone_surrogates(raw.get())));
    decoded.ok().map(Cow::Owned)
}

/// The number that `raw` is, as JavaScript reads it; infinite if it is out of range.
pub(super) fn number(raw: &RawValue) -> Option<f64> {
    let json = raw.get();
    if json.starts_with(|c: char| c == '-' || c.is_ascii_digit()) { json.parse().ok() } else { None }
}

fn starts_with(json: &str, bracket: char) -> bool {
    json.trim_start_matches([' ', '\t', '\n', '\r']).starts_with(bracket)
}

/// The JSON string `json` with every `\uD800`..`\uDFFF` that is not half of a pair replaced by `\uFFFD`.
fn without_lone_surrogates(json: &str) -> String {
    let mut repaired = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        let (plain, escape) = rest.split_at(at);
        repaired.push_str(plain);
        let length = match (code_unit(escape), escape.get(6..).and_then(code_unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                repaired.push_str("\\uFFFD");
                rest = escape.get(6..).unwrap_or_default();
                continue;
            }
            _ => 2, // `\n`, `\\`, or the `\u` of a character on its own, whose digits follow as plain text
        };
        let (kept, after) = escape.split_at_checked(length).unwrap_or((escape, ""));
        repaired.push_str(kept);
        rest = after;
    }
    repaired.push_str(rest);
    repaired
}

/// The UTF-16 code unit of the escape `\uXXXX` that `json` begins with.
fn code_unit(json: &str) -> Option<u16> {
    u16::from_str_radix(json.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

/// Collects the values of the named keys.
struct Members<'n, const N: usize>(&'n [&'n str; N]);

impl<'de, const N: usize> Visitor<'de> for Members<'_, N> {
    type Value = [Option<&'de RawValue>; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut values = [None; N];
        while let Some(position) = map.next_key_seed(Position(self.0))? {
            match position.and_then(|position| values.get_mut(position)) {
                Some(value) => *value = Some(map.next_value()?),
                None => map.next_value::<IgnoredAny>().map(|_| ())?,
            }
        }
        Ok(values)
    }
}

/// Reads a key: its position among the names. As bytes, because a key may hold a lone surrogate too.
struct Position<'n>(&'n [&'n str]);

impl<'de> DeserializeSeed<'de> for Position<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, key: D) -> Result<Self::Value, D::Error> {
        key.deserialize_bytes(self)
    }
}

impl Visitor<'_> for Position<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_bytes<E>(self, key: &[u8]) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|name| name.as_bytes() == key))
    }
}
