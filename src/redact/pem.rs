//! Private keys in PEM: `-----BEGIN … PRIVATE KEY-----` and the base64 lines that follow, with or without an END, or before an END
//! whose BEGIN was cut off.
//!
//! The literal is `private key`; what stands before it makes it a BEGIN or an END, in either case and with dashes of any kind. Between a
//! BEGIN and its END all is the secret, whatever it looks like. Without an END the body ends at the first line that is no base64, so that
//! nothing behind it vanishes. Lines may be indented, quoted, numbered, commented, strings of a program, or joined by an escaped line
//! break or a blank (`lines.rs`). A marker without a body masks nothing.

use std::ops::Range;

use super::find::Evidence;
use super::lines::{self, Next};
use super::scan::{Alphabet, Scan};
use super::value;

/// How long the label between BEGIN and `PRIVATE KEY` may be.
const MAX_LABEL: usize = 48;
/// How many bytes of the dashes of a marker are looked at, and how many make one.
const MAX_DASHES: usize = 24;
const MIN_DASHES: usize = 2;
/// Header lines (`Proc-Type:`, `Comment:`) before the body that are skipped, and how long one may be.
const MAX_HEADERS: usize = 8;
const MAX_HEADER: usize = 200;
/// How far an END may be from its BEGIN: a key of 16,384 bits takes 13 KB.
const MAX_BLOCK: usize = 20_000;
/// A line of so much base64 belongs to a key, whatever the lines before it looked like.
const LONG_LINE: usize = 40;
/// A first line with less base64 than this is no body.
const MIN_FIRST_LINE: usize = 16;
/// A last line with less base64 than this says nothing.
const MIN_LAST_LINE: usize = 6;
/// How much may stand between two lines before an END.
const MAX_GAP: usize = 24;

/// A BEGIN whose END has not come yet.
pub(super) struct OpenKey {
    /// First byte behind the marker.
    start: usize,
    body: Option<Range<usize>>,
}

/// A marker and what it says.
struct Marker {
    begins: bool,
    /// It has its dashes; without them it might be a line of prose.
    dashed: bool,
    range: Range<usize>,
}

/// Notes the key that the marker around the literal at `hit` opens or closes.
pub(super) fn private_key(scan: &mut Scan<'_>, kind: &'static str, hit: &Range<usize>) {
    let Some(marker) = marker(scan, hit) else { return };
    let body = if marker.begins { opened(scan, &marker) } else { closed(scan, &marker) };
    scan.no_key_before = marker.range.end;
    if let Some(body) = body {
        scan.found(body, kind, Evidence::Shape);
    }
}

/// Notes the private lines of a key of `PuTTY`, whose number stands at `at`.
pub(super) fn putty(scan: &mut Scan<'_>, kind: &'static str, at: usize) {
    let blanks = at + (0..4).take_while(|i| scan.byte(at + i) == b' ').count();
    let digits = (0..4).take_while(|i| scan.byte(blanks + i).is_ascii_digit()).count();
    if digits > 0
        && let Some(body) = body(scan, blanks + digits)
    {
        scan.found(body, kind, Evidence::Shape);
    }
}

/// The body behind a BEGIN, as far as it is known without its END.
fn opened(scan: &mut Scan<'_>, marker: &Marker) -> Option<Range<usize>> {
    let start = marker.range.end;
    let body = body(scan, start).filter(|body| marker.dashed || body.len() >= LONG_LINE);
    scan.open_key = Some(OpenKey { start, body: body.clone() });
    body
}

/// All before an END, from its BEGIN or from the first line that is left of the key. Every byte lies before one END only.
fn closed(scan: &mut Scan<'_>, marker: &Marker) -> Option<Range<usize>> {
    let end = lines::before_break(scan, marker.range.start);
    match scan.open_key.take() {
        Some(open) if marker.range.start.saturating_sub(open.start) <= MAX_BLOCK && !has_marker(scan, open.start..marker.range.start) => {
            match open.body {
                Some(body) => Some(body.start..body.end.max(end)),
                None => is_mostly_base64(scan, open.start..end).then_some(open.start..end),
            }
        }
        _ => lines_before(scan, marker.range.start).map(|start| start..end),
    }
}

/// The marker that the literal at `hit` is part of.
fn marker(scan: &mut Scan<'_>, hit: &Range<usize>) -> Option<Marker> {
    let part_of_label = |b: u8| b.is_ascii_alphanumeric() || b == b' ';
    let label = (1..=MAX_LABEL).take_while(|back| part_of_label(scan.before(hit.start, *back))).count();
    let label = hit.start - label;
    scan.tick(hit.start - label);
    // The nearest of the two words: another key may end right before this one.
    let opens = |word: &[u8]| word.eq_ignore_ascii_case(b"BEGIN");
    let mut word_end = hit.start;
    let word = scan.slice(label..hit.start).rsplit(|b| *b == b' ').find(|word| {
        let found = opens(word) || word.eq_ignore_ascii_case(b"END");
        word_end = if found { word_end } else { word_end.saturating_sub(word.len() + 1) };
        found
    })?;
    let begins = opens(word);
    let label = word_end - word.len();
    let label = label - (1..=2).take_while(|back| scan.before(label, *back) == b' ').count();
    let mut start = label;
    while label - start < MAX_DASHES && dash_before(scan, start) > 0 {
        start -= dash_before(scan, start);
    }
    let block = scan.slice(hit.end..hit.end + 6).eq_ignore_ascii_case(b" BLOCK");
    let label_end = hit.end + if block { 6 } else { 0 };
    let closing = label_end + (0..2).take_while(|i| scan.byte(label_end + i) == b' ').count();
    let mut end = closing;
    while end - closing < MAX_DASHES && dash_at(scan, end) > 0 {
        end += dash_at(scan, end);
    }
    let dashed = label - start >= MIN_DASHES && end - closing >= MIN_DASHES;
    let bare = label == start && end == closing && !word.iter().any(u8::is_ascii_lowercase);
    let end = if dashed { end } else { label_end };
    (dashed || bare).then_some(Marker { begins, dashed, range: start..end })
}

/// How many bytes the dash at `at` has: a hyphen, or what a word processor makes of two.
fn dash_at(scan: &Scan<'_>, at: usize) -> usize {
    match scan.rest(at) {
        [b'-', ..] => 1,
        [0xe2, 0x80, 0x93 | 0x94, ..] => 3,
        _ => 0,
    }
}

/// How many bytes the dash has that ends at `end`.
fn dash_before(scan: &Scan<'_>, end: usize) -> usize {
    let width = if scan.before(end, 1) == b'-' { 1 } else { 3 };
    let dash = end.checked_sub(width).map_or(0, |at| dash_at(scan, at));
    if dash == width { width } else { 0 }
}

/// Whether the marker of something else stands in a block.
fn has_marker(scan: &mut Scan<'_>, block: Range<usize>) -> bool {
    let bytes = scan.slice(block);
    scan.tick(bytes.len());
    memchr::memmem::find_iter(bytes, b"----").any(|at| {
        let behind = bytes.get(at..).unwrap_or_default();
        let word = behind.iter().take(MAX_DASHES).take_while(|b| **b == b'-').count();
        let word = behind.get(word..).unwrap_or_default().trim_ascii_start();
        word.starts_with(b"END ") || word.starts_with(b"BEGIN ")
    })
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
    // Every line but the last has the width of the first, or is long.
    while line.len() >= width.min(LONG_LINE) {
        let Some(next) = lines::next(scan, line.end) else { break };
        let end = scan.run(Alphabet::Base64, next.at);
        if !is_body_line(scan, &next, end) {
            break;
        }
        line = next.at..end;
    }
    Some(start..line.end)
}

/// The first line with base64 behind the BEGIN that ends at `at`; headers and blank lines are skipped.
fn first_line(scan: &mut Scan<'_>, mut at: usize) -> Option<Range<usize>> {
    let joined = scan.run(Alphabet::Base64, at);
    if joined - at >= LONG_LINE {
        return Some(at..joined);
    }
    for _ in 0..MAX_HEADERS {
        let next = lines::next(scan, at)?;
        let end = scan.run(Alphabet::Base64, next.at);
        let line = scan.slice(next.at..end.min(next.at + MAX_HEADER));
        if line.len() >= LONG_LINE || (line.len() >= MIN_FIRST_LINE && (!next.loose || value::is_random(line))) {
            return Some(next.at..end);
        }
        at = header_end(scan, next.at)?;
    }
    None
}

/// The end of a header that begins at `at`.
fn header_end(scan: &mut Scan<'_>, at: usize) -> Option<usize> {
    let rest = scan.slice(at..scan.bytes.len().min(at + MAX_HEADER));
    let len = (0..rest.len()).find(|i| matches!(rest.get(*i..), Some([b'\n' | b'\r', ..] | [b'\\', b'n' | b'r' | b'\\', ..])))?;
    scan.tick(len);
    let name = rest.iter().take_while(|b| b.is_ascii_alphabetic() || **b == b'-').count();
    (name > 0 && rest.get(name) == Some(&b':')).then_some(at + len)
}

/// Whether the run of base64 from `line.at` to `end`, behind the first line, belongs to the key: long, or not just a word.
fn is_body_line(scan: &Scan<'_>, line: &Next, end: usize) -> bool {
    let bytes = scan.slice(line.at..end.min(line.at + MAX_HEADER));
    // A checksum line is no part of the key.
    if bytes.is_empty() || bytes.first() == Some(&b'=') || bytes.len() >= LONG_LINE {
        return bytes.len() >= LONG_LINE;
    }
    let odd = bytes.len() >= MIN_LAST_LINE && is_odd(bytes);
    if line.loose {
        return odd && lines::ends(scan, end);
    }
    let word = bytes.iter().skip(1).all(u8::is_ascii_lowercase);
    let more_words = scan.byte(end) == b' ' && !lines::ends(scan, end) && bytes.len() < MIN_FIRST_LINE;
    odd || (!word && !more_words)
}

/// Whether a short run has digits between letters or capitals behind its first letter, as words seldom have.
fn is_odd(bytes: &[u8]) -> bool {
    let capitals = bytes.iter().skip(1).any(u8::is_ascii_uppercase) && bytes.iter().any(u8::is_ascii_lowercase);
    let letters = bytes.iter().any(u8::is_ascii_alphabetic);
    capitals || (letters && bytes.iter().any(|b| b.is_ascii_digit() || matches!(b, b'+' | b'=')))
}

/// The first byte of the lines of base64 right before the END at `end`, whose BEGIN is missing.
fn lines_before(scan: &mut Scan<'_>, end: usize) -> Option<usize> {
    let floor = scan.no_key_before.max(scan.mask_end()).max(end.saturating_sub(MAX_BLOCK));
    let (mut start, mut piece_end) = (end, end);
    for piece in scan.slice(floor..end).rsplit(|b| !Alphabet::Base64.has(*b)) {
        scan.tick(piece.len() + 1);
        let last = start == end && piece.len() >= MIN_LAST_LINE && is_odd(piece);
        if start - piece_end > MAX_GAP {
            break;
        }
        if piece.len() >= LONG_LINE || last {
            start = piece_end - piece.len();
        }
        piece_end = (piece_end - piece.len()).saturating_sub(1);
    }
    let escape = scan.before(start, 1) == b'\\' && matches!(scan.byte(start), b'n' | b'r' | b't');
    (start < end).then_some(start + usize::from(escape))
}
