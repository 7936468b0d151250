//! A name and its value as people write them: `the password for bob is x`, `| password | x |`, `Password - x`, `password "x"`, and a
//! value on the line behind its name. The wording alone masks nothing: `value::stands_out_in_prose` judges what comes behind it.
//!
//! Each looks a fixed number of bytes far. Tested in `tests/wording.rs`.

use super::assign::{Separator, skip_blanks};
use super::rules::Strength;
use super::scan::Scan;

/// What links a name to its value, longer ones before their beginnings.
#[rustfmt::skip]
const LINKS: [&str; 22] = [
    "is now set to", "is set to", "was set to", "was changed to", "has been changed to", "is now", "is still", "changed to", "set to", "is",
    "was", "ist", "lautet", "est", "es", "é", "jest", "это", "是", "为", "は", "는",
];
/// `for bob`, `of the new account`: most words between, and how long one may be.
const MAX_WORDS: usize = 5;
const MAX_WORD: usize = 24;
/// How far the cell of a table is looked for before its name.
const MAX_CELL: usize = 24;
/// Blanks, line breaks and the fence of a code block before a value on a line of its own.
const MAX_BREAK: usize = 40;

/// What links the name from `name` to `at`, its closing marks included, to a value, and where that begins.
pub(super) fn link(scan: &Scan<'_>, strength: Strength, name: usize, at: usize) -> Option<(Separator, usize)> {
    let next = skip_blanks(scan, at);
    if let Some((separator, value)) = linked(scan, next) {
        // Passwords are what people tell each other: what is behind `is` needs to be no word, no more.
        let told = separator == Separator::Prose && strength == Strength::Password;
        return Some((if told { Separator::Blank } else { separator }, value));
    }
    match scan.rest(next) {
        [b'|', cell, ..] if *cell != b'|' && in_table(scan, name) => Some((Separator::Cell, skip_blanks(scan, next + 1))),
        _ if next == at => None,
        [b'-', b' ', ..] => Some((Separator::Prose, skip_blanks(scan, next + 1))),
        [b'-', b'>', b' ', ..] => Some((Separator::Prose, skip_blanks(scan, next + 2))),
        // A dash, an arrow.
        [0xe2, 0x80, 0x93 | 0x94, b' ', ..] | [0xe2, 0x86, 0x92, b' ', ..] => Some((Separator::Prose, skip_blanks(scan, next + 3))),
        [b'f', b'o', b'r', b' ', ..] => linked_behind_words(scan, next + 3),
        [b'o', b'f' | b'n', b' ', ..] => linked_behind_words(scan, next + 2),
        _ => Some((Separator::Prose, next)),
    }
}

/// A linking word at `at`, a colon behind it or not.
fn linked(scan: &Scan<'_>, at: usize) -> Option<(Separator, usize)> {
    let link = LINKS.iter().find(|link| {
        let ends = |b: u8| matches!(b, b' ' | b':') || (!link.is_ascii() && b.is_ascii_graphic());
        scan.rest(at).starts_with(link.as_bytes()) && ends(scan.byte(at + link.len()))
    })?;
    let behind = at + link.len();
    let separator = if scan.byte(behind) == b':' { Separator::Colon } else { Separator::Prose };
    let value = skip_blanks(scan, behind + usize::from(separator == Separator::Colon));
    Some((separator, value))
}

/// A linking word or a colon behind a few words.
fn linked_behind_words(scan: &Scan<'_>, mut at: usize) -> Option<(Separator, usize)> {
    for _ in 0..MAX_WORDS {
        let word = skip_blanks(scan, at);
        at = word + (0..MAX_WORD).take_while(|i| matches!(scan.byte(word + i), b'!'..=b'9' | b'@'..=b'~' | 0x80..)).count();
        if scan.byte(at) == b':' {
            return Some((Separator::Prose, skip_blanks(scan, at + 1)));
        }
        if at == word || scan.byte(at) != b' ' {
            return None;
        }
        if let Some((_, value)) = linked(scan, skip_blanks(scan, at)) {
            return Some((Separator::Prose, value));
        }
    }
    None
}

/// Whether the name that begins at `name` stands in a cell of a table.
fn in_table(scan: &Scan<'_>, name: usize) -> bool {
    let part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b' ' | b'*' | b'`' | b'_' | b'-');
    let back = (1..=MAX_CELL).take_while(|back| part(scan.before(name, *back))).count();
    scan.before(name, back + 1) == b'|'
}

/// The value on the line behind a colon, whose blanks and break begin at `at`.
pub(super) fn next_line(scan: &Scan<'_>, at: usize) -> Option<usize> {
    let blank = |b: u8| matches!(b, b' ' | b'\t' | b'\n' | b'\r');
    let skip = |from: usize| from + (0..MAX_BREAK).take_while(|i| blank(scan.byte(from + i))).count();
    let value = skip(at);
    let fence = scan.rest(value).starts_with(b"```");
    let value = if fence { skip(value + 3) } else { value };
    let breaks = memchr::memchr_iter(b'\n', scan.slice(at..value)).count();
    (1..=3).contains(&breaks).then_some(value)
}

/// Whether the line has nothing behind a value that ends at `end`, but the quote that closes it.
pub(super) fn ends_line(scan: &Scan<'_>, end: usize) -> bool {
    let quote = usize::from(matches!(scan.byte(end), b'"' | b'\'' | b'`'));
    matches!(scan.byte(skip_blanks(scan, end + quote)), 0 | b'\n' | b'\r')
}
