//! Further readings of a word in plain ASCII: the parts of `getUserName`, and names with a symbol in them (`C++`, `C#`, `.NET`).
//!
//! They stand at the position of the word, so that lengths and phrases do not change. A query has one reading only: `getUserName` asks
//! for the whole name and not for its parts, `C++` for the name and not for every `c`. Tested with the rows of `tests/data/tokens.txt`.

use std::ops::Range;

/// Longer words and words of more parts are data rather than names: base64, hashes, keys.
const MAX_BYTES: u8 = 48;
const MAX_PARTS: usize = 6;

/// An ASCII word that may have further readings, as it is written.
pub(super) struct Written<'a> {
    pub(super) word: &'a str,
    /// The word with the symbol that belongs to it, if one does.
    pub(super) name: Option<&'a str>,
}

/// The bytes of the name that the word `start..end` has together with the symbol beside it, if it has one.
///
/// `++` is part of any word before it (`C++`, `g++`), `#` of a single letter that no letter follows (`C#`, not `page#top`), and the dot of `.net` is.
#[inline]
pub(super) fn with_symbol(text: &[u8], start: usize, end: usize) -> Option<Range<usize>> {
    match text.get(end..) {
        Some([b'+', b'+', ..]) => Some(start..end + 2),
        Some([b'#', rest @ ..]) if end - start == 1 && text[start].is_ascii_alphabetic() && !goes_on(rest) => Some(start..end + 1),
        _ => {
            let dot = start.checked_sub(1).filter(|&at| text[at] == b'.')?;
            text[start..end].eq_ignore_ascii_case(b"net").then_some(dot..end)
        }
    }
}

/// Does a word follow, or a letter that is not ASCII?
fn goes_on(rest: &[u8]) -> bool {
    rest.first().is_some_and(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii())
}

/// The parts of a word, by their bytes.
#[derive(Default)]
pub(super) struct Parts {
    /// Where each part begins, then where the last one ends.
    humps: [u8; MAX_PARTS + 1],
    count: usize,
}

impl Parts {
    /// Takes `word` apart. There are none if it has one part only, or is no name.
    pub(super) fn of(word: &str) -> Self {
        Self::find(word.as_bytes()).unwrap_or_default()
    }

    fn find(word: &[u8]) -> Option<Self> {
        let length = u8::try_from(word.len()).ok().filter(|length| *length <= MAX_BYTES)?;
        let mut parts = Self { humps: [0; MAX_PARTS + 1], count: 1 };
        for at in 1..length {
            if is_hump(word, usize::from(at)) {
                *parts.humps.get_mut(parts.count)? = at;
                parts.count += 1;
            }
        }
        *parts.humps.get_mut(parts.count)? = length;
        (parts.count > 1).then_some(parts)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Calls `each` for every part and every end of several parts: of `getUserName` these are `get`, `User`, `UserName` and `Name`. A beginning
    /// is found as one (`getUser*`). A single letter is no part to look for.
    pub(super) fn try_for_each<E>(&self, mut each: impl FnMut(Range<usize>) -> Result<(), E>) -> Result<(), E> {
        let Some((&end, starts)) = self.humps.get(..=self.count).and_then(<[u8]>::split_last) else { return Ok(()) };
        for (at, &start) in starts.iter().enumerate() {
            let next = *starts.get(at + 1).unwrap_or(&end);
            if next - start > 1 {
                each(usize::from(start)..usize::from(next))?;
            }
            if at > 0 && next < end {
                each(usize::from(start)..usize::from(end))?;
            }
        }
        Ok(())
    }
}

/// An upper-case letter after something else, or before a lower-case letter (`XMLHttp`), but not in a plural (`URLs`).
fn is_hump(word: &[u8], at: usize) -> bool {
    let is_upper = |at: usize| word.get(at).is_some_and(u8::is_ascii_uppercase);
    let is_plural = word.get(at + 1..) == Some(b"s");
    is_upper(at) && (!is_upper(at - 1) || (word.get(at + 1).is_some_and(u8::is_ascii_lowercase) && !is_plural))
}

/// Names and parts that a text had before, as far as there is room for them: one place for each hash, the last one stays.
#[derive(Default)]
pub(super) struct Known {
    /// Byte ranges of the text.
    places: Vec<Range<usize>>,
}

impl Known {
    const PLACES: usize = 256;

    /// Notes the ASCII word at these bytes of the text. False if it stands there already.
    pub(super) fn is_new(&mut self, text: &[u8], range: Range<usize>) -> bool {
        let word = &text[range.clone()];
        let hash = word.iter().fold(0_usize, |hash, byte| hash.wrapping_mul(31) ^ usize::from(byte | 0x20));
        self.places.resize(Self::PLACES, 0..0);
        let known = std::mem::replace(&mut self.places[hash % Self::PLACES], range);
        !text[known].eq_ignore_ascii_case(word)
    }
}
