//! Cookies: of `Cookie: theme=dark; sid=x` the values that let somebody in, by the name of the cookie.
//!
//! A header is read once.

use super::find::Evidence;
use super::scan::Scan;
use super::value;
use super::verify::SAMPLE;

/// Most cookies of a header, how long a name may be, and shortest value that is secret.
const MAX_COOKIES: usize = 64;
const MAX_NAME: usize = 64;
const SHORTEST: usize = 8;

/// Parts of the names of cookies that identify somebody.
const NAMES: [&[u8]; 10] = [b"sess", b"sid", b"auth", b"token", b"jwt", b"remember", b"xsrf", b"csrf", b"clearance", b"login"];

/// Notes the secret cookies of the header whose name ends at `at`.
pub(super) fn cookies(scan: &mut Scan<'_>, kind: &'static str, at: usize) {
    if at < scan.cookie_end {
        return;
    }
    let between =
        scan.rest(at).iter().take(8).take_while(|b| matches!(b, b' ' | b'\t' | b':' | b'=' | b'"' | b'\'' | b'\\' | b']' | b',')).count();
    let between = between + usize::from(scan.byte(at) == b's');
    if !scan.slice(at..at + between).iter().any(|b| matches!(b, b':' | b'=')) {
        return;
    }
    let mut at = at + between;
    for _ in 0..MAX_COOKIES {
        let name = scan.rest(at).iter().take(MAX_NAME).take_while(|b| is_part(**b) && **b != b'=').count();
        let start = at + name + 1;
        if name == 0 || scan.byte(at + name) != b'=' {
            break;
        }
        let len = scan.rest(start).iter().take_while(|b| is_part(**b)).count();
        scan.tick(name + len);
        let end = start + len;
        if is_sensitive(scan.slice(at..at + name)) && is_session(scan, start, end) {
            scan.found(start..end, kind, Evidence::Context);
        }
        at = end;
        if scan.byte(at) != b';' {
            break;
        }
        at += 1 + scan.rest(at + 1).iter().take(2).take_while(|b| **b == b' ').count();
        // An attribute without a value: `Secure; HttpOnly`.
        let flag = scan.rest(at).iter().take(MAX_NAME).take_while(|b| b.is_ascii_alphabetic()).count();
        if scan.byte(at + flag) == b';' {
            at += flag + 1 + usize::from(scan.byte(at + flag + 1) == b' ');
        }
    }
    scan.cookie_end = at;
}

/// Whether a byte is part of a cookie as it is sent.
fn is_part(byte: u8) -> bool {
    byte.is_ascii_graphic() && !matches!(byte, b';' | b'"' | b'\'' | b'`' | b'\\' | b'<')
}

fn is_sensitive(name: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    NAMES.iter().any(|part| memchr::memmem::find(&lower, part).is_some())
}

fn is_session(scan: &mut Scan<'_>, start: usize, end: usize) -> bool {
    let sample = scan.slice(start..end.min(start + SAMPLE));
    scan.tick(sample.len());
    sample.len() >= SHORTEST && value::is_scrambled(sample) && !value::is_stand_in(sample)
}
