//! Credentials of HTTP: `Authorization: Bearer x` in a header, in code and in a log, and the scheme word alone.

use std::ops::Range;

use super::find::Evidence;
use super::rules::Strength;
use super::scan::{Alphabet, Scan};
use super::value::{self, JUDGED, Value};
use super::verify;

/// Blanks, quotes and separators between the parts of a header that are skipped.
const MAX_BETWEEN: usize = 16;

/// Notes the credential behind the name of the header that ends at `hit`.
pub(super) fn authorization(scan: &mut Scan<'_>, kind: &'static str, hit: Range<usize>) {
    if scan.covered(hit.start) {
        return;
    }
    let start = skip(scan, hit.end, |b| matches!(b, b' ' | b'\t' | b'"' | b'\'' | b'`' | b'\\' | b']' | b')' | b':' | b'=' | b',' | b'>'));
    let separated = scan.slice(hit.end..start).iter().any(|b| matches!(b, b':' | b'=' | b','));
    if !separated {
        return;
    }
    let scheme =
        (0..32).take_while(|i| scan.byte(start + i).is_ascii_alphanumeric() || matches!(scan.byte(start + i), b'-' | b'_')).count();
    let credential = skip(scan, start + scheme, |b| matches!(b, b' ' | b'\t'));
    if scheme > 0 && credential > start + scheme {
        note(scan, kind, credential);
    } else {
        // No scheme: the value is the credential, if it looks like one.
        let end = scan.run(Alphabet::Token68, start);
        let bytes = scan.slice(start..end.min(start + JUDGED));
        if value::is_random(bytes) || (scan.before(start, 1) == b'=' && value::is_random_short(bytes)) {
            scan.found(start..end, kind, Evidence::Context);
        }
    }
}

/// Notes the credential behind a scheme word that stands without its header.
pub(super) fn bearer(scan: &mut Scan<'_>, kind: &'static str, hit: Range<usize>) {
    let blanks = skip(scan, hit.end, |b| matches!(b, b' ' | b'\t'));
    let start = if scan.rest(blanks).starts_with(b"%20") { blanks + 3 } else { blanks };
    if start == hit.end || scan.covered(start) || !scan.border(hit.start) {
        return;
    }
    if verify::is_opaque(scan, start) {
        note(scan, kind, start);
    }
}

fn skip(scan: &Scan<'_>, at: usize, skipped: fn(u8) -> bool) -> usize {
    at + (0..MAX_BETWEEN).take_while(|i| skipped(scan.byte(at + i))).count()
}

/// Notes the credential that begins at `start`, with whatever odd characters are in it, up to a blank or a quote.
fn note(scan: &mut Scan<'_>, kind: &'static str, start: usize) {
    let judged = credential_end(scan, start, start + JUDGED);
    let bytes = scan.slice(start..judged);
    // `Digest username="…"`, `OAuth realm=films`: parameters; their values are judged.
    let name = bytes.iter().take_while(|b| b.is_ascii_lowercase() || **b == b'_').count();
    let parameter = bytes.get(name) == Some(&b'=') && (bytes.len() > name + 4 || scan.byte(judged) == b'"');
    let bytes = if parameter { scan.slice(start + name + 1..judged) } else { bytes };
    if bytes.is_empty() || !value::is_secret(Value { bytes, quoted: false, prose: true, query: false }, Strength::Secret) {
        return;
    }
    let end = credential_end(scan, judged, usize::MAX);
    let comma = usize::from(matches!(scan.before(end, 1), b',' | b';'));
    scan.found(start..end - comma, kind, Evidence::Context);
}

fn credential_end(scan: &mut Scan<'_>, start: usize, limit: usize) -> usize {
    let mut end = start;
    while end < limit && end < scan.bytes.len() {
        let escape = scan.byte(end) == b'\\' && matches!(scan.byte(end + 1), b'n' | b'r' | b't' | b'"' | b'\'' | b'\\' | b'u');
        if escape || matches!(scan.byte(end), b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b'`' | b'<' | 0x1b) {
            break;
        }
        end += 1;
    }
    while !scan.text.is_char_boundary(end) {
        end += 1;
    }
    scan.tick(end - start);
    end
}
