//! A copy of a text without the characters that nobody sees: they can stand inside a secret and hide it from every rule.
//!
//! Such a character counts where visible ASCII stands on both sides of it: emoji and scripts that need joiners make no copy. Finds in the
//! copy are mapped back, so that a secret spans what was hidden in it. Tested in `tests/rows.rs` and by the properties.

use std::ops::Range;

/// Longest control sequence of a terminal that is skipped.
const MAX_SEQUENCE: usize = 64;

/// A text without what is invisible inside of its words.
pub(super) struct Visible {
    pub(super) text: String,
    /// Where something was taken out of `text`, and how many bytes up to there in all.
    cuts: Vec<(usize, usize)>,
}

impl Visible {
    /// The copy of `text`, or nothing if it would be the same.
    pub(super) fn of(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let graphic = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_graphic);
        let mut visible = Self { text: String::new(), cuts: Vec::new() };
        let (mut copied, mut removed, mut seen) = (0, 0, 0);
        let mut wide = memchr::memchr3_iter(0xe2, 0xef, 0xf3, bytes).peekable();
        let mut narrow = memchr::memchr2_iter(0x1b, 0xc2, bytes).peekable();
        loop {
            let first = match (wide.peek(), narrow.peek()) {
                (Some(a), Some(b)) if a < b => wide.next(),
                (Some(_), None) => wide.next(),
                _ => narrow.next(),
            };
            let Some(start) = first else { break };
            if start < seen || !graphic(start.checked_sub(1)) {
                continue;
            }
            let end = invisible_end(bytes, start);
            seen = end;
            if end > start && graphic(Some(end)) {
                visible.text.push_str(&text[copied..start]);
                removed += end - start;
                visible.cuts.push((visible.text.len(), removed));
                copied = end;
            }
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
        let start = range.start + removed(self.cuts.partition_point(|(at, _)| *at <= range.start));
        let end = range.end + removed(self.cuts.partition_point(|(at, _)| *at < range.end));
        start..end
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
