//! JSON Web Keys: the private members of an object that has a `kty`, at any depth of escaping.
//!
//! Around each `kty` so much is looked at as the largest key takes, and no byte twice.

use super::find::Evidence;
use super::scan::{Alphabet, Scan};
use super::verify;

/// How far the private members may be before and behind the `kty`: an RSA key of 4,096 bits takes 3 KB.
const BEFORE: usize = 2_048;
const BEHIND: usize = 4_096;
/// Shortest private number.
const SHORTEST: usize = 16;

/// Notes the private members near the `kty` at `at`.
pub(super) fn private_numbers(scan: &mut Scan<'_>, kind: &'static str, at: usize) {
    if !matches!(scan.before(at, 1), b'"' | b'\'') {
        return;
    }
    let from = at.saturating_sub(BEFORE).max(scan.jwk_end);
    let to = (at + BEHIND).min(scan.bytes.len());
    if from >= to {
        return;
    }
    scan.tick(to - from);
    scan.jwk_end = to;
    for quote in memchr::memchr2_iter(b'"', b'\'', scan.slice(from..to)) {
        if let Some(value) = member(scan, from + quote + 1) {
            let end = scan.run(Alphabet::Url64, value);
            if end - value >= SHORTEST && verify::is_mixed(scan, value..end) {
                scan.found(value..end, kind, Evidence::Context);
            }
        }
    }
}

/// Where the value of the private member begins whose name is at `at`.
fn member(scan: &Scan<'_>, at: usize) -> Option<usize> {
    let name = scan.rest(at).iter().take(3).take_while(|b| b.is_ascii_alphabetic()).count();
    if !matches!(scan.slice(at..at + name), b"d" | b"k" | b"p" | b"q" | b"dp" | b"dq" | b"qi") {
        return None;
    }
    let colon = behind_quote(scan, at + name)?;
    let blanks = |at: usize| at + scan.rest(at).iter().take(4).take_while(|b| **b == b' ').count();
    let colon = blanks(colon);
    if scan.byte(colon) != b':' {
        return None;
    }
    behind_quote(scan, blanks(colon + 1))
}

/// Behind the quote at `at`, escaped or not.
fn behind_quote(scan: &Scan<'_>, at: usize) -> Option<usize> {
    let escapes = scan.rest(at).iter().take(7).take_while(|b| **b == b'\\').count();
    matches!(scan.byte(at + escapes), b'"' | b'\'').then_some(at + escapes + 1)
}
