//! Passwords in URLs: `scheme://user:PASSWORD@host`, raw `@`, `/`, `:` and `#` in the password included.

use std::ops::Range;

use super::find::Evidence;
use super::rules::Strength;
use super::scan::Scan;
use super::value::{self, JUDGED, Value};

/// How long user and host names may be.
const MAX_NAME: usize = 255;

/// Notes the password between the `://` at `hit` and the host.
pub(super) fn userinfo(scan: &mut Scan<'_>, kind: &'static str, hit: Range<usize>) {
    if scan.covered(hit.start) || !scan.before(hit.start, 1).is_ascii_alphanumeric() {
        return;
    }
    let user = hit.end;
    let url_end = url_run(scan, user);
    let user_end = end_of(scan, user, url_end.min(user + MAX_NAME), b":@/?#");
    match scan.byte(user_end) {
        // A token may stand alone, where the user should be.
        b'@' if value::is_random(scan.slice(user..user_end)) => scan.found(user..user_end, "url-token", Evidence::Context),
        b':' => {
            let password = user_end + 1;
            if let Some(end) = password_end(scan, password, url_end) {
                let judged = scan.slice(password..end.min(password + JUDGED));
                scan.tick(judged.len());
                if !judged.is_empty()
                    && value::is_secret(Value { bytes: judged, quoted: true, prose: false, query: false }, Strength::Password)
                {
                    scan.found(password..end, kind, Evidence::Context);
                }
            }
        }
        _ => {}
    }
}

/// The `@` that ends the password: the last one before a `/`, unless no proper host follows it and a later one has one.
fn password_end(scan: &mut Scan<'_>, password: usize, url_end: usize) -> Option<usize> {
    let authority_end = end_of(scan, password, url_end, b"/?#");
    let authority = scan.slice(password..authority_end);
    let last = scan.url.1.filter(|last| *last >= password);
    match memchr::memrchr(b'@', authority) {
        Some(at) => match last {
            Some(last) if last > password + at && !is_host(scan, password + at + 1) && is_host(scan, last + 1) => Some(last),
            _ => Some(password + at),
        },
        // `host:8443/path`: a port, no password.
        None if authority.iter().all(u8::is_ascii_digit) => None,
        None => last.filter(|last| is_host(scan, *last + 1)),
    }
}

/// Whether what begins at `at` is surely a host: a name with a dot, with a port, or `localhost`.
fn is_host(scan: &Scan<'_>, at: usize) -> bool {
    let name = (0..MAX_NAME).take_while(|i| scan.byte(at + i).is_ascii_alphanumeric() || matches!(scan.byte(at + i), b'-' | b'.')).count();
    let port = scan.byte(at + name) == b':' && scan.byte(at + name + 1).is_ascii_digit();
    let host = scan.slice(at..at + name);
    name > 0 && (port || host == b"localhost" || host.iter().rev().skip(1).any(|b| *b == b'.'))
}

/// The first of `stops` in a range, or its end.
fn end_of(scan: &mut Scan<'_>, start: usize, end: usize, stops: &[u8]) -> usize {
    let len = scan.slice(start..end).iter().take_while(|b| !stops.contains(b)).count();
    scan.tick(len);
    start + len
}

/// End of the run of characters that may stand in a URL as people write it. Remembers the run and the last `@` in it.
fn url_run(scan: &mut Scan<'_>, from: usize) -> usize {
    let (known, _) = &scan.url;
    if known.contains(&from) {
        return known.end;
    }
    let outside = |b: &u8| b.is_ascii_whitespace() || b.is_ascii_control() || matches!(b, b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\');
    let rest = scan.rest(from);
    let len = rest.iter().position(outside).unwrap_or(rest.len());
    let last_at = memchr::memrchr(b'@', scan.slice(from..from + len)).map(|at| from + at);
    scan.tick(2 * len);
    scan.url = (from..from + len, last_at);
    from + len
}
