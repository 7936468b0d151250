//! Verifiers of tokens with a form of their own: parts, a number, a path.
//!
//! Each looks a fixed number of bytes far or asks [`Scan::run`], which remembers.

use std::ops::Range;

use super::find::Evidence;
use super::rules::Start;
use super::scan::Alphabet::{Alnum, Crypt, Url64, Word};
use super::scan::Scan;
use super::value;
use super::verify::{self, SAMPLE, SHORTEST};

/// Four letters and sixteen more of `A-Z2-7`, or something very like it; a secret key is often on the same or the next line.
pub(super) fn aws_key_id(scan: &mut Scan<'_>, kind: &'static str, start: usize) {
    const LENGTH: usize = 20;
    /// How far behind the id its secret is looked for.
    const NEAR: usize = 200;
    let end = scan.run(Word, start);
    let id = scan.slice(start..end.min(start + 2 * LENGTH));
    if end - start < LENGTH || end - start > 2 * LENGTH || !scan.border(start) || scan.in_base64(start) || value::is_published_example(id) {
        return;
    }
    let exact = id.len() == LENGTH && id.iter().all(|b| matches!(b, b'A'..=b'Z' | b'2'..=b'7'));
    // Made up ones have other digits and lengths.
    let similar = id.iter().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit()) && value::is_scrambled(id);
    if !exact && !similar {
        return;
    }
    scan.found(start..end, kind, Evidence::Shape);
    let near = scan.slice(end..scan.bytes.len().min(end + NEAR));
    scan.tick(near.len());
    let part_of_key = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/');
    let mut at = end;
    for piece in near.split(|b| !part_of_key(b)) {
        let whole = at + piece.len() < end + NEAR;
        if piece.len() == 40 && whole && value::is_random(piece) && !value::is_published_example(piece) {
            scan.found(at..at + piece.len(), "aws-secret-key", Evidence::Shape);
            return;
        }
        at += piece.len() + 1;
    }
}

pub(super) fn sendgrid(scan: &mut Scan<'_>, kind: &'static str, hit: Range<usize>) {
    let dot = scan.run(Url64, hit.end);
    if !(SHORTEST..=32).contains(&(dot - hit.end)) || scan.byte(dot) != b'.' || !scan.border(hit.start) {
        return;
    }
    let end = scan.run(Url64, dot + 1);
    let full = dot - hit.end >= 16 && end - dot > 30 && verify::is_mixed(scan, hit.end..end);
    if full || (end - dot > SHORTEST && verify::looks_random(scan, hit.end..end, Start::Name)) {
        scan.found(hit.start..end, kind, Evidence::Shape);
    }
}

/// `:AA` between the number of a bot and the rest of its key. The number often follows `bot` without a break.
pub(super) fn telegram(scan: &mut Scan<'_>, kind: &'static str, hit: Range<usize>) {
    let digits = (1..=13).take_while(|back| scan.before(hit.start, *back).is_ascii_digit()).count();
    if !(8..=12).contains(&digits) {
        return;
    }
    let end = scan.run(Url64, hit.end);
    let len = end - hit.end;
    if (len >= 33 && verify::is_mixed(scan, hit.end..end)) || (len >= 18 && verify::looks_random(scan, hit.end..end, Start::Border)) {
        scan.found(hit.start - digits..end, kind, Evidence::Shape);
    }
}

/// `https://host/bot123456789:…/getMe`
pub(super) fn telegram_path(scan: &mut Scan<'_>, kind: &'static str, start: usize) {
    let colon = start + (0..13).take_while(|i| scan.byte(start + i).is_ascii_digit()).count();
    if !(6..=12).contains(&(colon - start)) || scan.byte(colon) != b':' {
        return;
    }
    let end = scan.run(Url64, colon + 1);
    if end - colon > 20 && verify::looks_random(scan, colon + 1..end, Start::Border) {
        scan.found(start..end, kind, Evidence::Shape);
    }
}

/// Two to five parts of base64url with dots between, each of the first two a JSON object, or three and more if only the first is.
pub(super) fn jwt(scan: &mut Scan<'_>, kind: &'static str, start: usize) {
    if start < scan.no_jwt_before || !scan.border(start) {
        return;
    }
    let header = scan.run(Url64, start);
    let mut end = header;
    let mut parts = 1;
    while parts < 5 && scan.byte(end) == b'.' {
        let next = scan.run(Url64, end + 1);
        // The second part of an encrypted token may be empty.
        if next == end + 1 && scan.byte(next) != b'.' {
            break;
        }
        end = next;
        parts += 1;
    }
    let signed = parts >= 2 && scan.rest(header + 1).starts_with(b"eyJ");
    if header - start >= 12 && end - header > 16 && (signed || parts >= 3) {
        scan.found(start..end, kind, Evidence::Shape);
        scan.no_jwt_before = end;
    } else {
        // What a later `eyJ` of the same first part would see is the same or less.
        scan.no_jwt_before = header;
    }
}

/// The path of a webhook: the host stays readable.
pub(super) fn webhook(scan: &mut Scan<'_>, kind: &'static str, hit: Range<usize>) {
    const LONGEST: usize = 512;
    const PATHS: [&[u8]; 3] = [b"services/", b"workflows/", b"triggers/"];
    let rest = scan.rest(hit.end);
    let start = hit.end + PATHS.iter().find(|path| rest.starts_with(path)).map_or(0, |path| path.len());
    let mut end = scan.run(Url64, start);
    while scan.byte(end) == b'/' {
        let next = scan.run(Url64, end + 1);
        if next == end + 1 {
            break;
        }
        end = next;
        if end - start > LONGEST {
            break;
        }
    }
    if end - start >= 20 && verify::is_mixed(scan, start..end) {
        scan.found(start..end, kind, Evidence::Shape);
    }
}

/// `access_token$production$`, the merchant, `$` and 32 hexadecimal digits.
pub(super) fn braintree(scan: &mut Scan<'_>, kind: &'static str, hit: Range<usize>) {
    let merchant =
        [&b"production$"[..], b"sandbox$"].iter().find(|name| scan.rest(hit.end).starts_with(name)).map(|name| hit.end + name.len());
    let Some(merchant) = merchant else { return };
    let dollar = scan.run(Alnum, merchant);
    let end = scan.run(Alnum, dollar + 1);
    if scan.byte(dollar) == b'$' && end - dollar > 32 {
        scan.found(hit.start..end, kind, Evidence::Shape);
    }
}

/// `$id$`, parameters, salt and hash: the hash is long, and nothing but its alphabet follows up to the end.
pub(super) fn crypt(scan: &mut Scan<'_>, kind: &'static str, start: usize) {
    const SHORTEST_HASH: usize = 20;
    let end = scan.run(Crypt, start);
    let whole = scan.slice(start..end);
    // Of the last part a sample is enough.
    let hash = whole.iter().rev().take(SAMPLE).take_while(|b| **b != b'$').count();
    scan.tick(hash);
    if hash >= SHORTEST_HASH && verify::is_mixed(scan, end - hash..end) {
        scan.found(start..end, kind, Evidence::Shape);
    }
}
