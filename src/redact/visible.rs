//! A copy of a text as it is meant: without the characters that nobody sees, and with what is written in code for a visible one.
//!
//! Both can stand inside a secret or its name and hide it from every rule. An invisible character counts where visible ASCII stands on
//! both sides of it: emoji and scripts that need joiners make no copy. `%6B`, `\u006b` and the full-width `ｋ` count everywhere. Finds in
//! the copy are mapped back, so that a secret spans what was hidden in it. Tested in `tests/hidden.rs` and by the properties.

use std::iter::Peekable;
use std::ops::Range;

/// Longest control sequence of a terminal that is skipped.
const MAX_SEQUENCE: usize = 64;

/// A text as it is meant.
pub(super) struct Visible {
    pub(super) text: String,
    /// Twice the place in `text` up to which something was taken out, and one more where a character stands for it; and how many bytes of
    /// the original are left out in all from there on.
    cuts: Vec<(usize, usize)>,
}

impl Visible {
    /// The copy of `text`, or nothing if it would be the same.
    pub(super) fn of(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let mut visible = Self { text: String::new(), cuts: Vec::new() };
        let (mut copied, mut removed, mut seen) = (0, 0, 0);
        let mut wide = memchr::memchr3_iter(0xe2, 0xef, 0xf3, bytes).peekable();
        let mut narrow = memchr::memchr3_iter(0x1b, 0xc2, b'%', bytes).peekable();
        let mut escapes = memchr::memmem::find_iter(bytes, b"\\u00").peekable();
        while let Some(start) = first_of(&mut wide, &mut narrow, &mut escapes) {
            if start < seen {
                continue;
            }
            let (end, character) = match coded(bytes, start) {
                Some((end, character)) => (end, Some(character)),
                None => (invisible_end(bytes, start), None),
            };
            seen = end;
            let graphic = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_graphic);
            let counts = character.is_some() || (end > start && graphic(start.checked_sub(1)) && graphic(Some(end)));
            if !counts {
                continue;
            }
            visible.text.push_str(&text[copied..start]);
            let place = 2 * visible.text.len();
            if let Some(character) = character {
                visible.text.push(character.into());
            }
            removed += end - start - usize::from(character.is_some());
            visible.cuts.push((place + usize::from(character.is_some()), removed));
            copied = end;
        }
        if visible.cuts.is_empty() {
            return None;
        }
        visible.text.push_str(&text[copied..]);
        Some(visible)
    }

    /// Where a range of the copy is in the text: what was taken out inside of it belongs to it, what was at its borders does not.
    pub(super) fn in_original(&self, range: Range<usize>) -> Range<usize> {
        let removed = |cuts: usize| cuts.checked_sub(1).and_then(|last| self.cuts.get(last)).map_or(0, |(_, removed)| *removed);
        let start = range.start + removed(self.cuts.partition_point(|(place, _)| *place <= 2 * range.start));
        let end = range.end + removed(self.cuts.partition_point(|(place, _)| *place < 2 * range.end));
        start..end
    }
}

/// The least of what three iterators give next.
fn first_of(
    a: &mut Peekable<impl Iterator<Item = usize>>,
    b: &mut Peekable<impl Iterator<Item = usize>>,
    c: &mut Peekable<impl Iterator<Item = usize>>,
) -> Option<usize> {
    let next = [a.peek(), b.peek(), c.peek()].into_iter().flatten().min().copied()?;
    a.next_if_eq(&next).or_else(|| b.next_if_eq(&next)).or_else(|| c.next_if_eq(&next))
}

/// The visible ASCII character that is written in code at `at`, and the end of the code.
fn coded(bytes: &[u8], at: usize) -> Option<(usize, u8)> {
    let hex = |at: usize| bytes.get(at).and_then(|b| char::from(*b).to_digit(16)).and_then(|digit| u8::try_from(digit).ok());
    let byte = |at: usize| Some(hex(at)? * 16 + hex(at + 1)?).filter(u8::is_ascii_graphic);
    match bytes.get(at..)? {
        // The borders of an encoded pair tell where its value ends; the rules know them.
        [b'%', b'2', b'6', ..] | [b'%', b'3', b'D' | b'd', ..] => None,
        [b'%', ..] => byte(at + 1).map(|character| (at + 3, character)),
        [b'\\', b'u', b'0', b'0', ..] => byte(at + 4).map(|character| (at + 6, character)),
        [0xef, ..] => {
            let character = full_width(bytes, at)?;
            // `：` and `＝` between other letters are the punctuation of a language.
            let beside = |at: Option<usize>| at.and_then(|at| full_width(bytes, at)).is_some_and(|b| b.is_ascii_alphanumeric());
            (character.is_ascii_alphanumeric() || beside(at.checked_sub(3)) || beside(Some(at + 3))).then_some((at + 3, character))
        }
        _ => None,
    }
}

/// The ASCII character whose full-width form is at `at`.
fn full_width(bytes: &[u8], at: usize) -> Option<u8> {
    match bytes.get(at..)? {
        [0xef, 0xbc, last @ 0x81..=0xbf, ..] => Some(last - 0x60),
        [0xef, 0xbd, last @ 0x80..=0x9e, ..] => Some(last - 0x20),
        _ => None,
    }
}

/// The end of the invisible characters and control sequences that begin at `start`.
fn invisible_end(bytes: &[u8], start: usize) -> usize {
    let mut end = start;
    loop {
        end += match bytes.get(end..).unwrap_or_default() {
            // The soft hyphen; joiners, marks of direction, the word joiner and its like; the byte order mark; tags.
            [0xc2, 0xad, ..] => 2,
            [0xe2, 0x80, 0x8b..=0x8f | 0xaa..=0xae, ..]
            | [0xe2, 0x81, 0xa0..=0xaf, ..]
            | [0xef, 0xbb, 0xbf, ..]
            | [0xef, 0xb8, 0x80..=0x8f, ..] => 3,
            [0xf3, 0xa0, 0x80..=0x87, _, ..] => 4,
            [0x1b, rest @ ..] => 1 + sequence_len(rest),
            _ => return end,
        }
    }
}

/// How long the control sequence behind an ESC is: `[31m`, `]8;;link` up to its end, `(B`, or a single character.
fn sequence_len(rest: &[u8]) -> usize {
    match rest {
        [b'[', rest @ ..] => {
            let parameters = rest.iter().take(MAX_SEQUENCE).take_while(|b| matches!(b, b' '..=b'?')).count();
            1 + parameters + usize::from(matches!(rest.get(parameters), Some(b'@'..=b'~')))
        }
        [b']', rest @ ..] => {
            let text = rest.iter().take_while(|b| !b.is_ascii_control()).count();
            match rest.get(text..) {
                Some([0x07, ..]) => text + 2,
                Some([0x1b, b'\\', ..]) => text + 3,
                _ => 1,
            }
        }
        [b'(' | b')', b'0' | b'A' | b'B', ..] => 2,
        [b'7' | b'8' | b'=' | b'>' | b'c', ..] => 1,
        _ => 0,
    }
}
