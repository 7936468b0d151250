//! Secrets without a literal: bot tokens of Discord, and secret keys of AWS that stand alone.
//!
//! Each looks at a fixed number of bytes around every dot, or around every fortieth byte.

use super::find::Evidence;
use super::scan::Alphabet::{Alnum, Url64};
use super::scan::Scan;
use super::value;

/// Length of a secret key of AWS: of so many bytes in a row exactly one has a place divisible by it.
const LENGTH: usize = 40;
/// So much base64 on the next line makes a line part of a block.
const BLOCK: usize = 30;

/// Notes the secret keys of AWS that stand without a name: forty characters of base64, no more, of all classes in short pieces.
pub(super) fn aws_secret_keys(scan: &mut Scan<'_>) {
    let part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/');
    for at in (0..scan.bytes.len()).step_by(LENGTH) {
        if !part(scan.byte(at)) {
            continue;
        }
        let back = (1..=LENGTH).take_while(|back| part(scan.before(at, *back))).count();
        let start = at - back;
        let len = back + scan.rest(at).iter().take(LENGTH + 1).take_while(|b| part(**b)).count();
        scan.tick(len);
        if len == LENGTH && stands_alone(scan, start, start + LENGTH) && is_secret_key(scan.slice(start..start + LENGTH)) {
            scan.found(start..start + LENGTH, "aws-secret-key", Evidence::Shape);
        }
    }
}

/// Whether forty characters have all classes in as short pieces as random ones have: no path, no name, no digest.
fn is_secret_key(bytes: &[u8]) -> bool {
    const PIECES: usize = 12;
    let count = |class: fn(&u8) -> bool| bytes.iter().filter(|b| class(b)).count();
    let classes = count(u8::is_ascii_uppercase) >= 3 && count(u8::is_ascii_lowercase) >= 3 && count(u8::is_ascii_digit) >= 2;
    classes && value::pieces(bytes).1 >= PIECES && !value::is_published_example(bytes)
}

/// Whether what begins at `start` and ends at `end` is no part of a longer token and no line of a block of base64.
fn stands_alone(scan: &Scan<'_>, start: usize, end: usize) -> bool {
    let glue = |b: u8| matches!(b, b'-' | b'_' | b'.' | b'~' | b'%' | b'\\' | b'$' | b'@');
    let behind = scan.byte(end);
    let goes_on = matches!(behind, b'=' | b'-' | b'_' | b'(') || (glue(behind) && scan.byte(end + 1).is_ascii_alphanumeric());
    !glue(scan.before(start, 1)) && !goes_on && !follows_line(scan, start) && !precedes_line(scan, end)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// Whether a line of base64 ends right before the line that begins at `start`.
fn follows_line(scan: &Scan<'_>, start: usize) -> bool {
    let blanks = (1..=BLOCK).take_while(|back| matches!(scan.before(start, *back), b' ' | b'\t')).count();
    let line = start - blanks;
    // A carriage return may stand before the break.
    matches!(scan.before(line, 1), b'\n' | b'"') && (3..BLOCK + 3).all(|back| is_base64(scan.before(line, back)))
}

/// Whether a line of base64 begins right behind the line that ends at `end`.
fn precedes_line(scan: &Scan<'_>, end: usize) -> bool {
    let breaks = (0..BLOCK).take_while(|i| matches!(scan.byte(end + i), b'\r' | b'\n' | b' ' | b'"')).count();
    let line = end + breaks;
    scan.byte(end) != b' ' && breaks > 0 && (line..line + BLOCK).all(|at| is_base64(scan.byte(at)))
}

/// Discord's bot tokens have no literal: base64 of the bot's number, 6 characters, 27 and more, with dots between.
pub(super) fn discord_tokens(scan: &mut Scan<'_>) {
    const MIDDLE: usize = 6;
    for dot in memchr::memchr_iter(b'.', scan.bytes) {
        let second = dot + MIDDLE + 1;
        if scan.byte(second) != b'.' || !scan.slice(dot + 1..second).iter().all(|b| Url64.has(*b)) {
            continue;
        }
        let id = (1..=29).take_while(|back| Alnum.has(scan.before(dot, *back))).count();
        scan.tick(id);
        let start = dot - id;
        if !(23..=28).contains(&id) || !scan.border(start) || !is_number_in_base64(scan.slice(start..dot)) {
            continue;
        }
        let end = scan.run(Url64, second + 1);
        if end - second > 27 {
            scan.found(start..end, "discord-token", Evidence::Shape);
        }
    }
}

/// Whether base64 text stands for decimal digits: in each group of four only certain characters can stand.
pub(super) fn is_number_in_base64(text: &[u8]) -> bool {
    // 0011dddd 0011dddd 0011dddd in groups of six: 0011dd dd0011 dddd00 11dddd.
    text.chunks(4).all(|group| {
        // Behind `9` the next two of the table: no digits.
        let beyond = matches!(group, [b'O', b'j' | b'z' | b'g' | b'w', ..]);
        !beyond
            && group.iter().enumerate().all(|(i, b)| match i {
                0 => matches!(b, b'M' | b'N' | b'O'),
                1 if group.len() == 2 => matches!(b, b'A' | b'Q' | b'g' | b'w'),
                1 => matches!(b, b'D' | b'T' | b'j' | b'z'),
                2 => matches!(b, b'A' | b'E' | b'I' | b'M' | b'Q' | b'U' | b'Y' | b'c' | b'g' | b'k'),
                _ => matches!(b, b'w'..=b'z' | b'0'..=b'5'),
            })
    })
}
