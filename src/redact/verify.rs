//! The one place that sends a literal to its verifier, and the verifiers of tokens that are a literal and a run of characters.
//!
//! Each looks a fixed number of bytes far or asks [`Scan::run`], which remembers.

use std::ops::Range;

use super::find::Evidence;
use super::rules::{Part, Rule, Start, Verify};
use super::scan::Alphabet::Token68;
use super::scan::{Alphabet, Scan};
use super::{MASK_OPEN, assign, command, cookie, header, jwk, pem, personal, position, shapes, url, value};

/// How many bytes of a token are looked at to see whether it is random enough.
pub(super) const SAMPLE: usize = 64;
/// Shortest body that is a token, however random: cut off, old or made up ones are as short.
pub(super) const SHORTEST: usize = 8;
/// Shortest body of a token that begins in the middle of a word or in another case, and shortest literal of the former.
const SHORTEST_ODD: usize = 14;
const SHORTEST_LITERAL: usize = 4;

/// Notes the secret that `rule`'s literal at `hit` belongs to, if any.
pub(super) fn check(scan: &mut Scan<'_>, rule: &Rule, hit: Range<usize>) {
    scan.tick(1);
    let kind = rule.kind;
    match rule.verify {
        Verify::Value(strength) => assign::value_of(scan, kind, strength, hit),
        Verify::Authorization => header::authorization(scan, kind, hit),
        Verify::Bearer => header::bearer(scan, kind, hit),
        Verify::Cookies => cookie::cookies(scan, kind, hit.end),
        Verify::Command(command) => command::password(scan, kind, command, hit),
        Verify::Url => url::userinfo(scan, kind, hit),
        Verify::Webhook => shapes::webhook(scan, kind, hit),
        Verify::Pem => pem::private_key(scan, kind, &hit),
        Verify::Putty => pem::putty(scan, kind, hit.end),
        Verify::PgPass => position::pgpass(scan, kind, hit),
        Verify::Wifi => position::wifi(scan, kind, hit.end),
        Verify::Mnemonic => position::mnemonic(scan, kind, hit.end),
        Verify::Mail => personal::mail(scan, kind, hit),
        Verify::Phone => personal::phone(scan, kind, hit),
        Verify::Mask => {}
        Verify::Token { body, full, start } => token(scan, rule, hit, body, full, start),
        // From here on the case of the literal counts.
        _ if scan.slice(hit.clone()) != rule.literal.as_bytes() => {}
        Verify::Exact { body, min, max } => exact(scan, kind, hit, Part { body, min, max }),
        Verify::Inside { before, after } => inside(scan, kind, hit, before, after),
        Verify::AwsKeyId => shapes::aws_key_id(scan, kind, hit.start),
        Verify::SendGrid => shapes::sendgrid(scan, kind, hit),
        Verify::Telegram => shapes::telegram(scan, kind, hit),
        Verify::TelegramPath => shapes::telegram_path(scan, kind, hit.end),
        Verify::Braintree => shapes::braintree(scan, kind, hit),
        Verify::Jwt => shapes::jwt(scan, kind, hit.start),
        Verify::Jwk => jwk::private_numbers(scan, kind, hit.start),
        Verify::Crypt => shapes::crypt(scan, kind, hit.start),
    }
}

/// A literal and a run of characters behind it.
fn token(scan: &mut Scan<'_>, rule: &Rule, hit: Range<usize>, body: Alphabet, full: usize, start: Start) {
    let run = scan.run(body, hit.end);
    // A full stop behind a token ends the sentence.
    let end = run - scan.slice(hit.end..run).iter().rev().take(3).take_while(|b| **b == b'.').count();
    let (len, body) = (end - hit.end, hit.end..end);
    if len < SHORTEST {
        return;
    }
    // Base64 has no such literal in it.
    let marked = rule.literal.bytes().any(|b| b.is_ascii_punctuation() && b != b'/');
    let border = scan.border(hit.start) && (marked || !scan.in_base64(hit.start));
    let as_written = scan.slice(hit.clone()) == rule.literal.as_bytes();
    let found = if as_written && (border || start == Start::Anywhere) {
        (len >= full && is_mixed(scan, body.clone())) || looks_random(scan, body, start)
    } else if border {
        // In another case: a text in capitals, or a name. Only a body that nobody would call a name decides.
        (len >= full && looks_random(scan, body.clone(), Start::Border)) || (len >= SHORTEST_ODD && is_no_name(scan, body))
    } else {
        as_written && marked && rule.literal.len() >= SHORTEST_LITERAL && len >= SHORTEST_ODD && is_no_name(scan, body)
    };
    if found {
        scan.found(hit.start..end, rule.kind, Evidence::Shape);
    }
}

/// Whether the beginning of `range` has small letters, capitals and digits in pieces too short for a name.
fn is_no_name(scan: &mut Scan<'_>, range: Range<usize>) -> bool {
    let sample = scan.slice(range.start..range.end.min(range.start + SAMPLE));
    scan.tick(sample.len());
    value::has_short_pieces(sample, 4) && !value::is_stand_in(sample)
}

/// A literal and a run of a fixed length, nothing of a word on either side.
fn exact(scan: &mut Scan<'_>, kind: &'static str, hit: Range<usize>, body: Part) {
    if !scan.border(hit.start) {
        return;
    }
    let end = scan.run(body.body, hit.end);
    let fits = (body.min..=body.max).contains(&(end - hit.end)) && ends_here(scan, end);
    if fits && looks_random(scan, hit.end..end, Start::Border) {
        scan.found(hit.start..end, kind, Evidence::Shape);
    }
}

/// A literal between two runs of fixed lengths.
fn inside(scan: &mut Scan<'_>, kind: &'static str, hit: Range<usize>, before: Part, after: Part) {
    let head = (1..=before.max + 1).take_while(|back| before.body.has(scan.before(hit.start, *back))).count();
    scan.tick(head);
    // An escape before the token can end in a character of it: a border decides.
    let Some(start) = (before.min..=head.min(before.max)).rev().map(|len| hit.start - len).find(|start| scan.border(*start)) else {
        return;
    };
    let end = scan.run(after.body, hit.end);
    let fits = (after.min..=after.max).contains(&(end - hit.end)) && ends_here(scan, end);
    if fits && looks_random(scan, start..end, Start::Border) {
        scan.found(start..end, kind, Evidence::Shape);
    }
}

/// Whether a run of a fixed length ends at `end`: not in a word, and not before a mask, which may have been more of the run.
fn ends_here(scan: &Scan<'_>, end: usize) -> bool {
    let next = scan.byte(end);
    !next.is_ascii_alphanumeric() && next != b'_' && !scan.rest(end).starts_with(MASK_OPEN.as_bytes())
}

/// Whether the beginning of `range` is no word, no words with a number, no placeholder.
pub(super) fn looks_random(scan: &mut Scan<'_>, range: Range<usize>, start: Start) -> bool {
    let sample = scan.slice(range.start..range.end.min(range.start + SAMPLE));
    scan.tick(sample.len());
    let shaped = match start {
        Start::Name => value::is_random_short(sample),
        Start::Border | Start::Anywhere => value::is_scrambled(sample),
        Start::Rare => value::is_nearly_scrambled(sample),
    };
    shaped && !value::is_stand_in(sample)
}

/// Whether the beginning of `range` has characters of two of the three classes upper case, lower case and digits: words have not.
pub(super) fn is_mixed(scan: &mut Scan<'_>, range: Range<usize>) -> bool {
    let sample = scan.slice(range.start..range.end.min(range.start + SAMPLE));
    scan.tick(sample.len());
    let has = |class: fn(&u8) -> bool| usize::from(sample.iter().any(class));
    has(u8::is_ascii_uppercase) + has(u8::is_ascii_lowercase) + has(u8::is_ascii_digit) >= 2
}

/// Whether a token begins at `start` that needs no name: 16 characters and more of what HTTP allows, of several classes.
pub(super) fn is_opaque(scan: &mut Scan<'_>, start: usize) -> bool {
    let end = scan.run(Token68, start);
    end - start >= 16 && is_mixed(scan, start..end)
}
