//! Values behind a name: `PASSWORD=x`, `"api_key": "x"`, `secret => 'x'`, `<password>x</password>`, `--token x`, `?access_token=x`.
//!
//! The literal is the end of the name; from there: what closes the name, a separator, what opens the value, the value. Each step looks
//! a fixed number of bytes far; the value itself is walked over only once it is known to be secret.

use std::ops::Range;

use super::find::Evidence;
use super::name::{self, MAX_NAME};
use super::rules::Strength;
use super::scan::Scan;
use super::value::{self, JUDGED, Value};
use super::wording;

/// Deepest nesting of escaped quotes: three levels of JSON in JSON.
const MAX_BACKSLASHES: usize = 7;
/// Blanks that are skipped between name, separator and value.
const MAX_BLANKS: usize = 24;

/// What stands between a name and its value. It decides what ends the value, besides its own quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    /// `=`
    Equals,
    /// `:`, whatever follows
    Colon,
    /// `=` in percent-encoding: an encoded `&` ends the value.
    PercentEncoded,
    /// `>` of an XML element: a `<` ends the value.
    Element,
    /// The blank behind a flag or behind `is`.
    Blank,
    /// `==`: only a literal is a value.
    Compared,
    /// The border of a cell: another one ends the value.
    Cell,
    /// The break behind a colon: the value has a line of its own.
    NextLine,
    /// A dash, or nothing but a blank, in a sentence.
    Prose,
}

/// Notes the value behind the name that ends at `hit`, if it is a secret.
pub(super) fn value_of(scan: &mut Scan<'_>, kind: &'static str, strength: Strength, hit: Range<usize>) {
    if scan.covered(hit.start) {
        return;
    }
    let Some((separator, at)) = separator(scan, kind, strength, &hit) else { return };
    if !name::names_a_secret(scan, hit.start) {
        return;
    }
    let query = matches!(scan.before(at, 1), b'=' | b'D' | b'd') && name::in_query(scan, hit.start);
    let Some(rejected) = mask_value(scan, kind, strength, separator, query, at) else { return };
    // `password: string = "…"`: what was no secret was the type.
    let behind = skip_blanks(scan, rejected);
    if separator == Separator::Colon && scan.byte(behind) == b'=' {
        let at = skip_blanks(scan, behind + 1);
        mask_value(scan, kind, strength, Separator::Equals, false, at);
    }
}

/// Notes the value at `at` if it is a secret; otherwise gives back where it ends.
fn mask_value(scan: &mut Scan<'_>, kind: &'static str, strength: Strength, separator: Separator, query: bool, at: usize) -> Option<usize> {
    let (range, quoted) = match quoted(scan, separator, at) {
        Some(range) => (range, true),
        None => (bare(scan, separator, skip_quote(scan, at)), false),
    };
    let prose = !quoted && separator == Separator::Colon && scan.before(at, 1) == b' ';
    let judged = scan.slice(range.start..range.end.min(range.start + JUDGED));
    scan.tick(judged.len());
    let stands_out = match separator {
        Separator::Blank if strength == Strength::Password => value::stands_out(judged),
        Separator::Cell => value::stands_out_in_prose(judged) && scan.byte(skip_blanks(scan, range.end + usize::from(quoted))) == b'|',
        Separator::NextLine => value::stands_out_in_prose(judged) && wording::ends_line(scan, range.end),
        Separator::Prose => value::stands_out_in_prose(judged),
        _ => true,
    };
    if !stands_out {
        return Some(range.end);
    }
    // The first value of a form has a second one behind it.
    let form = separator == Separator::Equals && scan.byte(range.end) == b'&' && scan.before(at, 1) == b'=';
    let query = !quoted && (query || form);
    let element_ends = separator != Separator::Element || scan.rest(range.end).starts_with(b"</");
    if judged.is_empty() || !element_ends || (separator == Separator::Compared && !quoted) {
        return Some(range.end);
    }
    if !value::is_secret(Value { bytes: judged, quoted, prose, query }, strength) {
        return Some(range.end);
    }
    let end = if quoted { range.end } else { bare_to_the_end(scan, separator, &range) };
    scan.found(range.start..end, kind, Evidence::Context);
    None
}

/// What separates the name that ends at `hit.end` from its value, and where the value begins.
fn separator(scan: &mut Scan<'_>, kind: &str, strength: Strength, hit: &Range<usize>) -> Option<(Separator, usize)> {
    let numbered = (0..4).take_while(|i| scan.byte(hit.end + i).is_ascii_digit() || (*i == 0 && scan.byte(hit.end) == b'_')).count();
    let name_end = hit.end + numbered;
    let closed = close_name(scan, name_end);
    let at = skip_blanks(scan, closed);
    let rest = scan.rest(at);
    // Nobody tells a signature, and `two-pass` is a word.
    let by_people = match strength {
        Strength::Password => scan.byte(hit.start).is_ascii_alphabetic() || !scan.byte(hit.start).is_ascii(),
        Strength::Secret => kind != "signature",
        _ => false,
    };
    let worded = || if by_people { wording::link(scan, strength, hit.start, closed) } else { None };
    let (separator, len) = match rest {
        // `:-` stands before a default of the shell.
        [b'=', b'>', ..] | [b':', b'=' | b'-', ..] => (Separator::Equals, 2),
        [b'=', b'=', ..] => (Separator::Compared, rest.iter().take(3).take_while(|b| **b == b'=').count()),
        // A path of a module, a message of the shell.
        [b':', b':' | b'?' | b'+', ..] => return None,
        [b'=', ..] => (Separator::Equals, 1),
        [b':', ..] => (Separator::Colon, 1),
        [b'%', b'3', b'D' | b'd', ..] => (Separator::PercentEncoded, 3),
        _ if rest.starts_with(b"\\u003d") || rest.starts_with(b"\\u003D") => (Separator::Equals, 6),
        _ if rest.starts_with("＝".as_bytes()) => (Separator::Equals, "＝".len()),
        _ if rest.starts_with("：".as_bytes()) => (Separator::Colon, "：".len()),
        [b'>', ..] if at == name_end && name::opens_element(scan, hit.start) => (Separator::Element, 1),
        _ if closed > name_end => return labelled(scan, closed).or_else(worded),
        // `- name: DB_PASSWORD` and `value: x` on the next line.
        [b'\n' | b'\r', ..] => return labelled(scan, at),
        _ if at > closed && name::is_flag(scan, hit.start) && rest.first() != Some(&b'-') => return Some((Separator::Blank, at)),
        _ => return worded(),
    };
    // The name was emphasized, its colon too.
    let emphasis = if separator == Separator::Colon { (0..2).take_while(|i| scan.byte(at + len + i) == b'*').count() } else { 0 };
    let value = skip_blanks(scan, at + len + emphasis);
    if separator == Separator::Colon && by_people && matches!(scan.byte(value), b'\n' | b'\r') {
        return wording::next_line(scan, value).map(|value| (Separator::NextLine, value));
    }
    Some((separator, value))
}

/// Skips what may close a name: quotes (escaped or not), `]`, `)`, the `**` of Markdown.
fn close_name(scan: &Scan<'_>, mut at: usize) -> usize {
    for _ in 0..3 {
        let quote = at + backslashes(scan, at);
        match scan.byte(quote) {
            b'"' | b'\'' | b'`' => at = quote + 1,
            b']' | b')' | b'*' if quote == at => at += 1,
            _ => break,
        }
    }
    at
}

/// The value of a name that is itself a value: `"name":"PASSWORD","value":"x"`, `<add key="Password" value="x"/>`.
fn labelled(scan: &Scan<'_>, at: usize) -> Option<(Separator, usize)> {
    let between = (0..MAX_BLANKS).take_while(|i| matches!(scan.byte(at + i), b' ' | b'\t' | b'\n' | b'\r' | b',')).count();
    let quote = at + between + backslashes(scan, at + between);
    let label = if matches!(scan.byte(quote), b'"' | b'\'') { quote + 1 } else { at + between };
    if between == 0 || !scan.rest(label).get(..5)?.eq_ignore_ascii_case(b"value") {
        return None;
    }
    let closed = skip_blanks(scan, close_name(scan, label + 5));
    let separated = matches!(scan.byte(closed), b':' | b'=') && scan.byte(closed + 1) != b':';
    separated.then(|| (Separator::Equals, skip_blanks(scan, closed + 1)))
}

pub(super) fn skip_blanks(scan: &Scan<'_>, at: usize) -> usize {
    at + (0..MAX_BLANKS).take_while(|i| matches!(scan.byte(at + i), b' ' | b'\t')).count()
}

fn backslashes(scan: &Scan<'_>, at: usize) -> usize {
    (0..MAX_BACKSLASHES).take_while(|i| scan.byte(at + i) == b'\\').count()
}

/// Behind an opening quote at `at`, escaped or not, with the letter of a string literal before it or not; else `at`.
fn skip_quote(scan: &Scan<'_>, at: usize) -> usize {
    let letter = usize::from(matches!(scan.byte(at), b'b' | b'r' | b'f' | b'u' | b'N' | b'@') && matches!(scan.byte(at + 1), b'"' | b'\''));
    let quote = at + letter + backslashes(scan, at + letter);
    if matches!(scan.byte(quote), b'"' | b'\'' | b'`') { quote + 1 } else { at }
}

/// The text between the quote at `at` and its partner on the same line.
///
/// A quote that is escaped more deeply belongs to the value, one that is escaped less deeply ends it.
fn quoted(scan: &mut Scan<'_>, separator: Separator, at: usize) -> Option<Range<usize>> {
    let start = skip_quote(scan, at);
    if start == at {
        if separator != Separator::Equals || scan.byte(at) != b'{' {
            return None;
        }
        let range = braced(scan, at + 1)?;
        return matches!(scan.byte(range.end + 1), b';' | 0).then_some(range);
    }
    let quote = scan.before(start, 1);
    let depth = (2..=MAX_BACKSLASHES + 1).take_while(|back| scan.before(start, *back) == b'\\').count();
    let mut passed = start;
    for found in memchr::memchr2_iter(quote, b'\n', scan.rest(start)) {
        let end = start + found;
        scan.tick(end - passed);
        passed = end;
        if scan.byte(end) == b'\n' {
            break;
        }
        let escapes = (1..=MAX_BACKSLASHES + 1).take_while(|back| scan.before(end, *back) == b'\\').count();
        // Two backslashes are one of the value, they escape no quote.
        let ends_in_backslash = depth == 0 && escapes % 2 == 0;
        if escapes <= depth || ends_in_backslash {
            return Some(start..if ends_in_backslash { end } else { end - escapes });
        }
    }
    None
}

/// The text between the braces of ODBC: `{…}`, `}}` being a brace of the value.
fn braced(scan: &Scan<'_>, start: usize) -> Option<Range<usize>> {
    let mut at = start;
    while at < start + JUDGED {
        match scan.byte(at) {
            b'}' if scan.byte(at + 1) == b'}' => at += 2,
            b'}' => return Some(start..at),
            0 | b'\n' | b' ' | b'"' | b'\'' | b'(' | b'{' => return None,
            _ => at += 1,
        }
    }
    None
}

/// A value without quotes, as far as it has to be judged.
fn bare(scan: &mut Scan<'_>, separator: Separator, start: usize) -> Range<usize> {
    start..bare_end(scan, separator, start, start + JUDGED)
}

/// The end of a value without quotes that is known to be secret.
fn bare_to_the_end(scan: &mut Scan<'_>, separator: Separator, judged: &Range<usize>) -> usize {
    let end = bare_end(scan, separator, judged.end, usize::MAX);
    if judged.end >= judged.start + JUDGED { trim(scan, judged.start..end) } else { judged.end }
}

fn bare_end(scan: &mut Scan<'_>, separator: Separator, start: usize, limit: usize) -> usize {
    let mut end = start;
    while end < limit && end < scan.bytes.len() && !ends_value(scan, separator, end) {
        end += 1;
    }
    scan.tick(end - start);
    while !scan.text.is_char_boundary(end) {
        end += 1;
    }
    if end >= limit { end } else { trim(scan, start..end) }
}

/// Takes away the punctuation behind a value: the end of a sentence, of a list, of a bracket. A `!` may be part of a password.
fn trim(scan: &Scan<'_>, range: Range<usize>) -> usize {
    let punctuation = |b: &&u8| matches!(b, b'.' | b',' | b';' | b':' | b')' | b']' | b'}' | b'>' | b'|' | b'*');
    range.end - scan.slice(range).iter().rev().take(16).take_while(punctuation).count()
}

/// Whether a value without quotes ends before the byte at `at`.
fn ends_value(scan: &Scan<'_>, separator: Separator, at: usize) -> bool {
    const WIDE: [&str; 8] = ["，", "。", "；", "、", "）", "」", "”", "’"];
    let next = scan.byte(at + 1);
    if separator == Separator::Element {
        return matches!(scan.byte(at), b'<' | b'\n' | b'\r');
    }
    match scan.byte(at) {
        b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'`' | 0x0b | 0x0c | 0x1b => true,
        b'\'' | b')' | b']' | b'}' => !next.is_ascii_alphanumeric(),
        b'<' => next == b'/',
        b'|' => separator == Separator::Cell,
        b'\\' => matches!(next, b'n' | b'r' | b't' | b'"' | b'\'' | b'\\' | b'u'),
        b'%' if separator == Separator::PercentEncoded => scan.rest(at).starts_with(b"%26"),
        b'&' | b';' | b',' => begins_next_pair(scan, at + 1),
        0xe2 | 0xe3 | 0xef => WIDE.iter().any(|mark| scan.rest(at).starts_with(mark.as_bytes())),
        _ => false,
    }
}

/// Whether another name and value follow a `&`, `;` or `,`, or nothing of this value.
fn begins_next_pair(scan: &Scan<'_>, at: usize) -> bool {
    let name =
        (0..MAX_NAME).take_while(|i| scan.byte(at + i).is_ascii_alphanumeric() || matches!(scan.byte(at + i), b'_' | b'-' | b'.')).count();
    let behind = scan.byte(at + name);
    match name {
        0 => !matches!(behind, b'!'..=b'~') || matches!(behind, b'"' | b'\'' | b'{' | b'}' | b'&' | b')'),
        _ => matches!(behind, b'=' | b':'),
    }
}
