//! Secrets that stand where they belong without a name of their own: the fifth field of a line of `.pgpass`, the password in the code of a
//! wireless network, and the words of a wallet's key. Each looks a fixed number of bytes far.

use std::ops::Range;

use super::find::Evidence;
use super::rules::Strength;
use super::scan::Scan;
use super::value::{self, JUDGED, Value};

/// How long a field of `.pgpass` may be.
const MAX_FIELD: usize = 64;
/// How many words a wallet's key has, and how long its words are (BIP 39).
const WORDS: [usize; 5] = [12, 15, 18, 21, 24];
const MAX_WORDS: usize = 24;
const WORD: std::ops::RangeInclusive<usize> = 3..=8;

/// Notes the password behind `host:port:database:user:`, of which `hit` is the port.
pub(super) fn pgpass(scan: &mut Scan<'_>, kind: &'static str, hit: Range<usize>) {
    let host = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b'*' | b'/');
    let before = (1..=MAX_FIELD).take_while(|back| host(scan.before(hit.start, *back))).count();
    let begins = matches!(scan.before(hit.start, before + 1), 0 | b'\n' | b' ' | b'"' | b'\'' | b'`');
    scan.tick(before);
    if before == 0 || !begins {
        return;
    }
    let mut at = hit.end;
    for _ in 0..2 {
        let field = scan.rest(at).iter().take(MAX_FIELD).take_while(|b| b.is_ascii_graphic() && !matches!(b, b':' | b'"')).count();
        scan.tick(field);
        at += field + 1;
        if field == 0 || scan.before(at, 1) != b':' {
            return;
        }
    }
    let password = scan.rest(at).iter().take(JUDGED).take_while(|b| b.is_ascii_graphic() && !matches!(b, b'"' | b'\'' | b'`')).count();
    scan.tick(password);
    let bytes = scan.slice(at..at + password);
    if value::is_secret(Value { bytes, quoted: true, prose: false, query: false }, Strength::Password) {
        scan.found(at..at + password, kind, Evidence::Context);
    }
}

/// Notes the password among the fields of a wireless network that begin at `at`: `T:WPA;S:home;P:x;;`.
pub(super) fn wifi(scan: &mut Scan<'_>, kind: &'static str, mut at: usize) {
    const FIELDS: usize = 6;
    for _ in 0..FIELDS {
        let mut end = at;
        while end < at + MAX_FIELD + 2 && !matches!(scan.byte(end), b';' | b'"' | b'\n' | 0) {
            // What is escaped belongs to the field.
            end += 1 + usize::from(scan.byte(end) == b'\\');
        }
        scan.tick(end - at);
        let bytes = scan.slice(at + 2..end);
        let password = scan.byte(at).eq_ignore_ascii_case(&b'p') && scan.byte(at + 1) == b':' && scan.byte(end) == b';';
        if password && value::is_secret(Value { bytes, quoted: true, prose: false, query: false }, Strength::Password) {
            scan.found(at + 2..end, kind, Evidence::Context);
        }
        if scan.byte(end) != b';' {
            return;
        }
        at = end + 1;
    }
}

/// Notes the words of a wallet's key behind the name that ends at `at`.
pub(super) fn mnemonic(scan: &mut Scan<'_>, kind: &'static str, at: usize) {
    let between =
        scan.rest(at).iter().take(8).take_while(|b| matches!(b, b' ' | b':' | b'=' | b'"' | b'\'' | b'\\' | b'\n' | b'`' | b'*')).count();
    if !scan.slice(at..at + between).iter().any(|b| matches!(b, b':' | b'=')) {
        return;
    }
    let start = at + between;
    let (mut end, mut words) = (start, 0);
    let mut next = start;
    while words <= MAX_WORDS {
        let word = scan.rest(next).iter().take(WORD.end() + 1).take_while(|b| b.is_ascii_lowercase()).count();
        scan.tick(word + 1);
        if !WORD.contains(&word) {
            break;
        }
        words += 1;
        end = next + word;
        next = end + 1;
        if scan.byte(end) != b' ' {
            break;
        }
    }
    if WORDS.contains(&words) {
        scan.found(start..end, kind, Evidence::Context);
    }
}
