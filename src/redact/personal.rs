//! Addresses of mail and telephone numbers: masked only where a host asks for it.

use std::ops::Range;

use super::find::Evidence;
use super::scan::{Alphabet, Scan};

/// Longest local part and longest domain of an address (RFC 5321).
const MAX_LOCAL: usize = 64;
const MAX_DOMAIN: usize = 255;
/// How many digits a number has with its country (E.164), and how far they are looked for.
const DIGITS: std::ops::RangeInclusive<usize> = 8..=15;
const MAX_PHONE: usize = 24;

/// Notes the address around the `@` at `hit`.
pub(super) fn mail(scan: &mut Scan<'_>, kind: &'static str, hit: Range<usize>) {
    let local = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b'+');
    let before = (1..=MAX_LOCAL).take_while(|back| local(scan.before(hit.start, *back))).count();
    let run = scan.run(Alphabet::Dotted, hit.end);
    scan.tick(before);
    let domain = scan.slice(hit.end..run.min(hit.end + MAX_DOMAIN));
    let dots = domain.iter().rev().take_while(|b| **b == b'.').count();
    let domain = domain.get(..domain.len() - dots).unwrap_or_default();
    let top = domain.rsplit(|b| *b == b'.').next().unwrap_or_default();
    // `git@github.com:o/r` is an address of a repository.
    let repository = scan.byte(run) == b':' && scan.byte(run + 1).is_ascii_alphanumeric();
    if before > 0 && top.len() < domain.len() && top.len() >= 2 && top.iter().all(u8::is_ascii_alphabetic) && !repository {
        scan.found(hit.start - before..hit.end + domain.len(), kind, Evidence::Shape);
    }
}

/// Notes the number behind the `+` at `hit`.
pub(super) fn phone(scan: &mut Scan<'_>, kind: &'static str, hit: Range<usize>) {
    if scan.before(hit.start, 1).is_ascii_alphanumeric() || !matches!(scan.byte(hit.end), b'1'..=b'9') {
        return;
    }
    let part = |b: &&u8| b.is_ascii_digit() || matches!(b, b' ' | b'-' | b'.' | b'(' | b')' | b'/');
    let len = scan.rest(hit.end).iter().take(MAX_PHONE).take_while(part).count();
    scan.tick(len);
    let number = scan.slice(hit.end..hit.end + len);
    let behind = number.iter().rev().take_while(|b| !b.is_ascii_digit()).count();
    let end = hit.end + len - behind;
    let digits = number.iter().filter(|b| b.is_ascii_digit()).count();
    if DIGITS.contains(&digits) && !scan.byte(end).is_ascii_alphanumeric() {
        scan.found(hit.start..end, kind, Evidence::Shape);
    }
}
