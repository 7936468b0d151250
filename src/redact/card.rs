//! Payment card numbers: 13 to 19 digits, in one piece or in the groups of a card, with the first digits of an issuer and a right
//! check digit.

use std::ops::Range;

use super::find::Evidence;
use super::iban;
use super::scan::Scan;

/// Shortest and longest number of a card.
const LENGTHS: std::ops::RangeInclusive<usize> = 13..=19;
/// The first group of a card has this many digits: looking at every fourth byte misses none.
const GROUP: usize = 4;

/// Numbers of test cards in the documentation of payment services, exact: they stay readable.
const PUBLISHED_EXAMPLES: [&str; 5] = ["4242424242424242", "5454545454545454", "4111111111111111", "5555555555554444", "378282246310005"];

/// Notes the card numbers of the text.
pub(super) fn numbers(scan: &mut Scan<'_>) {
    let mut at = 0;
    while at < scan.bytes.len() {
        if !scan.byte(at).is_ascii_digit() {
            at += GROUP;
            continue;
        }
        let back = (1..GROUP).take_while(|back| scan.before(at, *back).is_ascii_digit()).count();
        let start = at - back;
        let end = digits_end(scan, start);
        at = match number_at(scan, start, end) {
            Some(range) => {
                let next = range.end;
                scan.found(range, "payment-card", Evidence::Shape);
                next
            }
            None => match iban::number_around(scan, start) {
                Some(range) => {
                    let next = range.end;
                    scan.found(range, "iban", Evidence::Shape);
                    next
                }
                None => end,
            },
        };
    }
}

/// The card number whose first digits are `start..end`.
fn number_at(scan: &mut Scan<'_>, start: usize, end: usize) -> Option<Range<usize>> {
    let before = scan.before(start, 1);
    if before.is_ascii_alphanumeric() || matches!(before, b'_' | b'.' | b'-' | b'/') || in_row(scan, start) {
        return None;
    }
    let end = match end - start {
        len if LENGTHS.contains(&len) => end,
        GROUP => groups_end(scan, end)?,
        _ => return None,
    };
    let after = scan.byte(end);
    let more = matches!(after, b'.' | b'-' | b'/') && scan.byte(end + 1).is_ascii_alphanumeric();
    if after.is_ascii_alphanumeric() || after == b'_' || more {
        return None;
    }
    let digits: Vec<u8> = scan.slice(start..end).iter().copied().filter(u8::is_ascii_digit).collect();
    scan.tick(digits.len());
    (!is_published(&digits) && has_issuer(&digits) && passes_luhn(&digits)).then_some(start..end)
}

/// Whether a number stands right before the one at `start`: a row of a table, hexadecimal or not.
fn in_row(scan: &Scan<'_>, start: usize) -> bool {
    let back = (2..8).take_while(|back| scan.before(start, *back).is_ascii_hexdigit()).count();
    let number = scan.slice(start.saturating_sub(back + 1)..start.saturating_sub(1));
    scan.before(start, 1) == b' '
        && back >= 3
        && number.iter().any(u8::is_ascii_digit)
        && !scan.before(start, back + 2).is_ascii_alphanumeric()
}

/// Whether `digits` are those of a test card.
fn is_published(digits: &[u8]) -> bool {
    PUBLISHED_EXAMPLES.iter().any(|example| example.as_bytes() == digits)
}

/// Whether `value`, whose name says that it is a card's number, has the length of one. Check digits are for numbers without a name.
pub(super) fn is_labelled_number(value: &[u8]) -> bool {
    if !value.iter().all(|b| b.is_ascii_digit() || matches!(b, b' ' | b'-')) {
        return false;
    }
    let digits: Vec<u8> = value.iter().copied().filter(u8::is_ascii_digit).collect();
    LENGTHS.contains(&digits.len()) && !is_published(&digits)
}

/// The end of the groups behind a first group of four: 4-4-4, or 6-5, with the same blank or dash between.
fn groups_end(scan: &mut Scan<'_>, first: usize) -> Option<usize> {
    let separator = scan.byte(first);
    if !matches!(separator, b' ' | b'-') {
        return None;
    }
    let mut lengths = Vec::new();
    let mut end = first;
    while lengths.len() < 5 && scan.byte(end) == separator && scan.byte(end + 1).is_ascii_digit() {
        let next = digits_end(scan, end + 1);
        lengths.push(next - end - 1);
        end = next;
    }
    // A row of more groups is a table, not a card.
    (lengths == [4, 4, 4] || lengths == [6, 5]).then_some(end)
}

fn digits_end(scan: &mut Scan<'_>, start: usize) -> usize {
    let len = scan.rest(start).iter().take_while(|b| b.is_ascii_digit()).count();
    scan.tick(len);
    start + len
}

/// Visa, Mastercard, American Express, Discover, JCB, Diners and Union Pay, with the lengths that they issue.
fn has_issuer(digits: &[u8]) -> bool {
    let first = |n: usize| digits.iter().take(n).fold(0_u32, |number, d| number * 10 + u32::from(d - b'0'));
    match digits.len() {
        13 => first(1) == 4,
        14 => matches!(first(2), 36 | 38 | 39) || matches!(first(3), 300..=305),
        15 => matches!(first(2), 34 | 37),
        16 => first(1) == 4 || matches!(first(2), 51..=55 | 62 | 65) || matches!(first(4), 2221..=2720 | 6011 | 3528..=3589),
        19 => first(2) == 62,
        _ => false,
    }
}

/// The check digit of ISO/IEC 7812.
fn passes_luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(i, digit)| match u32::from(digit - b'0') {
            d if i % 2 == 0 => d,
            d if d > 4 => 2 * d - 9,
            d => 2 * d,
        })
        .sum();
    sum.is_multiple_of(10)
}
