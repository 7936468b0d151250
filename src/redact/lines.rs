//! What separates the lines of a key that somebody has pasted: line breaks in every dress, and what ends one line and begins the next in
//! a quotation, a comment, a table, a diff, HTML or the source of a program. Each looks a fixed number of bytes far.
//!
//! Tested through the rows on private keys.

use super::scan::{Alphabet, Scan};

/// Breaks in a row: blank lines, or `\n` in a string and the end of its line.
const MAX_BREAKS: usize = 4;
/// How much may stand behind the base64 of a line, and before it.
const MAX_TAIL: usize = 24;
const MAX_GUTTER: usize = 32;

/// Where the next line of a key may begin.
pub(super) struct Next {
    pub(super) at: usize,
    /// More than one break is between, or none but quotes and commas: what follows may be something else.
    pub(super) loose: bool,
}

/// The line behind the one whose base64 ends at `end`.
pub(super) fn next(scan: &Scan<'_>, end: usize) -> Option<Next> {
    let mut at = end;
    let mut breaks = 0;
    while breaks < MAX_BREAKS {
        let Some(behind) = line_break(scan, skip_tail(scan, at)) else { break };
        at = skip_gutter(scan, behind);
        breaks += 1;
    }
    if breaks > 0 {
        let quoted = matches!(scan.byte(end), b'"' | b'\'');
        return Some(Next { at, loose: breaks > 1 || quoted });
    }
    // A blank took the place of the break.
    let at = skip_tail(scan, end);
    let blanks = scan.slice(end..at).iter().all(|b| *b == b' ');
    (at > end && Alphabet::Base64.has(scan.byte(at))).then_some(Next { at, loose: !blanks })
}

/// Whether nothing of a line follows its base64, which ends at `end`.
pub(super) fn ends(scan: &Scan<'_>, end: usize) -> bool {
    let tail = skip_tail(scan, end);
    line_break(scan, tail).is_some() || matches!(scan.byte(tail), 0 | b']' | b')' | b'}' | b'<')
}

/// Before the blanks and line breaks, escaped ones too, that end at `end`.
pub(super) fn before_break(scan: &Scan<'_>, mut end: usize) -> usize {
    loop {
        let slashes = (2..10).take_while(|back| scan.before(end, *back) == b'\\').count();
        match scan.before(end, 1) {
            b' ' | b'\t' | b'\n' | b'\r' => end -= 1,
            b'n' | b'r' if slashes > 0 => end -= 1 + slashes,
            _ => return end,
        }
    }
}

/// Behind the line break at `at`, a real or an escaped one.
fn line_break(scan: &Scan<'_>, at: usize) -> Option<usize> {
    match scan.rest(at) {
        [b'\r', b'\n', ..] => return Some(at + 2),
        [b'\n', ..] => return Some(at + 1),
        _ => {}
    }
    let escape = |from: usize, letter: u8| {
        let slashes = (0..8).take_while(|i| scan.byte(from + i) == b'\\').count();
        (slashes > 0 && scan.byte(from + slashes) == letter).then_some(from + slashes + 1)
    };
    let behind_return = escape(at, b'r').unwrap_or(at);
    escape(behind_return, b'n')
}

/// Skips what stands behind the text of a line: blanks, a quote and the sign that joins strings, the bar of a table, `<br>`.
fn skip_tail(scan: &Scan<'_>, start: usize) -> usize {
    let mut at = start;
    while at < start + MAX_TAIL {
        at += match scan.rest(at) {
            [b' ' | b'\t' | b'"' | b'\'' | b'`' | b',' | b';' | b'|', ..]
            | [b'+' | b'.' | b'&' | b'\\', b' ' | b'\t' | b'\n' | b'\r' | b'"', ..] => 1,
            [b'<', b'b' | b'B', b'r' | b'R', rest @ ..] => match rest.iter().take(3).position(|b| *b == b'>') {
                Some(close) => 4 + close,
                None => return at,
            },
            _ => return at,
        };
    }
    at
}

/// Skips what stands before the text of a line: blanks, quote marks, the sign of a diff or a comment, a line number and its bar.
fn skip_gutter(scan: &Scan<'_>, at: usize) -> usize {
    let mark = |b: u8| matches!(b, b' ' | b'\t' | b'>' | b'|' | b'"' | b'\'' | b'`' | b'#' | b'*');
    let blanks = |from: usize| from + (0..MAX_GUTTER).take_while(|i| mark(scan.byte(from + i))).count();
    let start = blanks(at);
    let numbered = start + (0..6).take_while(|i| scan.byte(start + i).is_ascii_digit()).count();
    let behind = blanks(numbered);
    let marks: [&[u8]; 2] = ["→".as_bytes(), b":"];
    if numbered > start {
        if let Some(mark) = marks.iter().find(|mark| scan.rest(behind).starts_with(mark)) {
            return blanks(behind + mark.len());
        }
        if behind > numbered && Alphabet::Base64.has(scan.byte(behind)) {
            return behind;
        }
    }
    match scan.rest(start) {
        [b'/', b'/', b'/' | b'!', b' ' | b'\t', ..] => blanks(start + 3),
        [b'/', b'/', b' ' | b'\t', ..] | [b'-', b'-', b' ', ..] => blanks(start + 2),
        [b'-', next, ..] if Alphabet::Base64.has(*next) => start + 1,
        [b'+', b' ', ..] => blanks(start + 1),
        _ => start,
    }
}
