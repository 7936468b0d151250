//! Private keys in PEM: `-----BEGIN … PRIVATE KEY-----` and the base64 lines that follow, with or without an END.
//!
//! With an END in reach, all from the first line of base64 to the END is the secret, whatever it looks like. Without one the body ends
//! at the first line that is no base64, so that nothing behind it vanishes. Lines may be indented, quoted, numbered, or joined by an
//! escaped line break or a blank. A marker without a body masks nothing.

use std::ops::Range;

use super::find::Evidence;
use super::scan::{Alphabet, Scan};

/// How long the label between BEGIN and the dashes may be.
const MAX_LABEL: usize = 48;
/// Header lines (`Proc-Type:`, `Comment:`) and blank ones before the body that are skipped, and how long one may be.
const MAX_HEADERS: usize = 8;
const MAX_HEADER: usize = 200;
/// How far from its BEGIN an END is looked for: a key of 16,384 bits takes 13 KB.
const MAX_BLOCK: usize = 20_000;
/// A line of so much base64 belongs to a key, whatever the lines before it looked like.
const LONG_LINE: usize = 40;
/// A first line with less base64 than this is no body.
const MIN_FIRST_LINE: usize = 16;

/// Notes the body of the key whose BEGIN is at `hit`.
pub(super) fn private_key(scan: &mut Scan<'_>, kind: &'static str, hit: Range<usize>) {
    let label_len = (0..MAX_LABEL).take_while(|i| matches!(scan.byte(hit.end + i), b'A'..=b'Z' | b'0'..=b'9' | b' ')).count();
    let label = scan.slice(hit.end..hit.end + label_len).trim_ascii();
    let dashes = (0..8).take_while(|i| scan.byte(hit.end + label_len + i) == b'-').count();
    if dashes < 4 || !(label.ends_with(b"PRIVATE KEY") || label.ends_with(b"PRIVATE KEY BLOCK")) {
        return;
    }
    let start = hit.end + label_len + dashes;
    let end = block_end(scan, start);
    let body = match (body(scan, start), end) {
        (Some(body), Some(end)) => Some(body.start..before_break(scan, body.end.max(end))),
        (None, Some(end)) if is_mostly_base64(scan, start..end) => Some(start..before_break(scan, end)),
        (body, _) => body,
    };
    if let Some(body) = body {
        scan.found(body, kind, Evidence::Shape);
    }
}

/// The END of the block whose BEGIN ends at `start`: the next marker, if it is one. Every byte lies behind one BEGIN only.
fn block_end(scan: &mut Scan<'_>, start: usize) -> Option<usize> {
    let block = scan.slice(start..scan.bytes.len().min(start + MAX_BLOCK));
    let mut at = 0;
    loop {
        let rest = block.get(at..)?;
        let found = memchr::memmem::find(rest, b"----");
        scan.tick(found.unwrap_or(rest.len()));
        let marker = at + found?;
        let dashes = block.get(marker..)?.iter().take_while(|b| **b == b'-').count();
        scan.tick(dashes);
        let word = block.get(marker + dashes..)?.trim_ascii_start();
        if word.starts_with(b"END ") {
            return Some(start + marker);
        }
        if word.starts_with(b"BEGIN ") {
            return None;
        }
        at = marker + dashes;
    }
}

/// Before the blanks and line breaks, escaped ones too, that end at `end`.
fn before_break(scan: &Scan<'_>, mut end: usize) -> usize {
    loop {
        let slashes = (2..10).take_while(|back| scan.before(end, *back) == b'\\').count();
        match scan.before(end, 1) {
            b' ' | b'\t' | b'\n' | b'\r' => end -= 1,
            b'n' | b'r' if slashes > 0 => end -= 1 + slashes,
            _ => return end,
        }
    }
}

/// Whether most of a block is runs of base64, as where a log has put something before each line.
fn is_mostly_base64(scan: &mut Scan<'_>, block: Range<usize>) -> bool {
    let bytes = scan.slice(block);
    scan.tick(bytes.len());
    let random =
        |run: &&[u8]| run.len() >= MIN_FIRST_LINE && run.iter().any(u8::is_ascii_uppercase) && run.iter().any(u8::is_ascii_lowercase);
    let base64: usize = bytes.split(|b| !Alphabet::Base64.has(*b)).filter(random).map(<[u8]>::len).sum();
    base64 * 2 > bytes.len()
}

/// From the first to the last base64 character of the lines behind `at`.
fn body(scan: &mut Scan<'_>, at: usize) -> Option<Range<usize>> {
    let mut line = first_line(scan, at)?;
    let start = line.start;
    let width = line.len();
    while let Some(next) = line_break(scan, line.end) {
        let begin = skip_gutter(scan, next);
        let end = scan.run(Alphabet::Base64, begin);
        // A checksum line is no part of the key; a word of prose neither.
        if end == begin || scan.byte(begin) == b'=' || !is_body_line(scan, begin..end) {
            break;
        }
        line = begin..end;
        // Every line but the last has the width of the first, or is long.
        if line.len() < width.min(LONG_LINE) {
            break;
        }
    }
    Some(start..line.end)
}

/// The first line with base64 behind the BEGIN that ends at `at`; headers and blank lines are skipped.
fn first_line(scan: &mut Scan<'_>, mut at: usize) -> Option<Range<usize>> {
    for _ in 0..MAX_HEADERS {
        let next = line_break(scan, at)?;
        let begin = skip_gutter(scan, next);
        let end = scan.run(Alphabet::Base64, begin);
        if end - begin >= MIN_FIRST_LINE {
            return Some(begin..end);
        }
        at = header_end(scan, begin)?;
    }
    None
}

/// The end of a header or blank line that begins at `at`.
fn header_end(scan: &mut Scan<'_>, at: usize) -> Option<usize> {
    let rest = scan.slice(at..scan.bytes.len().min(at + MAX_HEADER));
    let len = (0..rest.len()).find(|i| matches!(rest.get(*i..), Some([b'\n' | b'\r', ..] | [b'\\', b'n' | b'r' | b'\\', ..])))?;
    scan.tick(len);
    let name = rest.iter().take_while(|b| b.is_ascii_alphabetic() || **b == b'-').count();
    (len == 0 || (name > 0 && rest.get(name) == Some(&b':'))).then_some(at + len)
}

/// Behind the line break at `at`: a real one, an escaped one, or the blank that took its place.
fn line_break(scan: &Scan<'_>, at: usize) -> Option<usize> {
    let rest = scan.rest(at);
    match rest {
        [b'\r', b'\n', ..] => return Some(at + 2),
        [b'\n', ..] => return Some(at + 1),
        [b' ', next, ..] if Alphabet::Base64.has(*next) => return Some(at + 1),
        _ => {}
    }
    let escape = |from: usize, letter: u8| {
        let slashes = (0..8).take_while(|i| scan.byte(from + i) == b'\\').count();
        (slashes > 0 && scan.byte(from + slashes) == letter).then_some(from + slashes + 1)
    };
    let behind_return = escape(at, b'r').unwrap_or(at);
    escape(behind_return, b'n')
}

/// Skips what stands before the text of a line: blanks, quote marks, the sign of a diff, a line number and its bar.
fn skip_gutter(scan: &Scan<'_>, at: usize) -> usize {
    let blanks =
        |from: usize| from + (0..32).take_while(|i| matches!(scan.byte(from + i), b' ' | b'\t' | b'>' | b'|' | b'"' | b'\'')).count();
    let start = blanks(at);
    let numbered = start + (0..6).take_while(|i| scan.byte(start + i).is_ascii_digit()).count();
    let behind = blanks(numbered);
    let marks: [&[u8]; 2] = ["→".as_bytes(), b":"];
    if numbered > start {
        if let Some(mark) = marks.iter().find(|mark| scan.rest(behind).starts_with(mark)) {
            return blanks(behind + mark.len());
        }
        if behind > numbered {
            return behind;
        }
    }
    match scan.rest(start) {
        [b'-', next, ..] if Alphabet::Base64.has(*next) => start + 1,
        [b'+', b' ', ..] => blanks(start + 1),
        _ => start,
    }
}

/// Whether a line behind the first one belongs to the key: long, or not just a word.
fn is_body_line(scan: &Scan<'_>, line: Range<usize>) -> bool {
    let bytes = scan.slice(line.start..line.end.min(line.start + MAX_HEADER));
    let word = bytes.iter().skip(1).all(u8::is_ascii_lowercase);
    let more_words = scan.byte(line.end) == b' ' && bytes.len() < MIN_FIRST_LINE;
    bytes.len() >= LONG_LINE || (!word && !more_words)
}
