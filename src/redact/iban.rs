//! International bank account numbers (ISO 13616): a country, two check digits, and as many characters as the country has.

use std::ops::Range;

use super::scan::Scan;

/// How far before its first long run of digits a number can begin: `GB82 WEST 1234`.
const MAX_HEAD: usize = 12;

/// Length of the numbers of each country.
#[rustfmt::skip]
const LENGTHS: [(&[u8; 2], usize); 88] = [
    (b"AD", 24), (b"AE", 23), (b"AL", 28), (b"AT", 20), (b"AZ", 28), (b"BA", 20), (b"BE", 16), (b"BG", 22), (b"BH", 22), (b"BI", 27),
    (b"BR", 29), (b"BY", 28), (b"CH", 21), (b"CR", 22), (b"CY", 28), (b"CZ", 24), (b"DE", 22), (b"DJ", 27), (b"DK", 18), (b"DO", 28),
    (b"EE", 20), (b"EG", 29), (b"ES", 24), (b"FI", 18), (b"FK", 18), (b"FO", 18), (b"FR", 27), (b"GB", 22), (b"GE", 22), (b"GI", 23),
    (b"GL", 18), (b"GR", 27), (b"GT", 28), (b"HN", 28), (b"HR", 21), (b"HU", 28), (b"IE", 22), (b"IL", 23), (b"IQ", 23), (b"IS", 26),
    (b"IT", 27), (b"JO", 30), (b"KW", 30), (b"KZ", 20), (b"LB", 28), (b"LC", 32), (b"LI", 21), (b"LT", 20), (b"LU", 20), (b"LV", 21),
    (b"LY", 25), (b"MC", 27), (b"MD", 24), (b"ME", 22), (b"MK", 19), (b"MN", 20), (b"MR", 27), (b"MT", 31), (b"MU", 30), (b"NI", 28),
    (b"NL", 18), (b"NO", 15), (b"OM", 23), (b"PK", 24), (b"PL", 28), (b"PS", 29), (b"PT", 25), (b"QA", 29), (b"RO", 24), (b"RS", 22),
    (b"RU", 33), (b"SA", 24), (b"SC", 31), (b"SD", 18), (b"SE", 24), (b"SI", 19), (b"SK", 24), (b"SM", 27), (b"SO", 23), (b"ST", 25),
    (b"SV", 28), (b"TL", 23), (b"TN", 24), (b"TR", 26), (b"UA", 29), (b"VA", 22), (b"VG", 24), (b"XK", 20),
];

/// The account number that the digits from `digits` on belong to.
pub(super) fn number_around(scan: &mut Scan<'_>, digits: usize) -> Option<Range<usize>> {
    let part = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b' ';
    for back in 1..=MAX_HEAD {
        scan.tick(1);
        if !part(scan.before(digits, back)) {
            return None;
        }
        if let Some(range) = digits.checked_sub(back).and_then(|start| number_at(scan, start)) {
            return Some(range);
        }
    }
    None
}

/// The account number that begins at `start`, in one piece or in groups with a blank between.
fn number_at(scan: &mut Scan<'_>, start: usize) -> Option<Range<usize>> {
    let [a, b, c, d, ..] = scan.rest(start) else { return None };
    if !c.is_ascii_digit() || !d.is_ascii_digit() || scan.before(start, 1).is_ascii_alphanumeric() {
        return None;
    }
    let (_, len) = LENGTHS.iter().find(|(country, _)| **country == [*a, *b])?;
    let mut number = Vec::with_capacity(*len);
    let mut at = start;
    while number.len() < *len {
        match scan.byte(at) {
            b if b.is_ascii_digit() || b.is_ascii_uppercase() => number.push(b),
            b' ' if number.len() % 4 == 0 && scan.before(at, 1) != b' ' => {}
            _ => return None,
        }
        at += 1;
    }
    scan.tick(at - start);
    (!scan.byte(at).is_ascii_alphanumeric() && has_check_digits(&number)).then_some(start..at)
}

/// Country and check digits moved to the end, letters as numbers from 10 on: the remainder by 97 is 1.
fn has_check_digits(number: &[u8]) -> bool {
    let (head, account) = number.split_at(4.min(number.len()));
    let remainder = account.iter().chain(head).fold(0, |rest: u32, b| match b {
        b'0'..=b'9' => (rest * 10 + u32::from(b - b'0')) % 97,
        _ => (rest * 100 + u32::from(b.saturating_sub(b'A')) + 10) % 97,
    });
    remainder == 1
}
