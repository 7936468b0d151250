//! Verifiers of tokens that show by their shape what they are, and the one place that sends a literal to its verifier.
//!
//! Each looks a fixed number of bytes far or asks [`Scan::run`], which remembers.

use std::ops::Range;

use super::find::Evidence;
use super::rules::{Rule, Start, Verify};
use super::scan::Alphabet::{Alnum, Token68, Url64, Word};
use super::scan::{Alphabet, Scan};
use super::{assign, header, pem, url, value};

/// How many bytes of a token are looked at to see whether it is random enough.
const SAMPLE: usize = 64;
/// Shortest body that is a token, however random: cut off, old or made up ones are as short.
const SHORTEST: usize = 8;

/// Notes the secret that `rule`'s literal at `hit` belongs to, if any.
pub(super) fn check(scan: &mut Scan<'_>, rule: &Rule, hit: Range<usize>) {
    scan.tick(1);
    match rule.verify {
        Verify::Value(strength) => assign::value_of(scan, rule.kind, strength, hit),
        Verify::Authorization => header::authorization(scan, rule.kind, hit),
        Verify::Bearer => header::bearer(scan, rule.kind, hit),
        Verify::Url => url::userinfo(scan, rule.kind, hit),
        Verify::Webhook => webhook(scan, rule.kind, hit),
        Verify::Pem => pem::private_key(scan, rule.kind, &hit),
        Verify::Mask => {}
        // From here on the case of the literal counts.
        _ if scan.slice(hit.clone()) != rule.literal.as_bytes() => {}
        Verify::Token { body, full, start } => {
            if start == Start::Anywhere || scan.border(hit.start) {
                token(scan, rule.kind, hit, body, full, start);
            }
        }
        Verify::AwsKeyId => aws_key_id(scan, rule.kind, hit.start),
        Verify::SendGrid => sendgrid(scan, rule.kind, hit),
        Verify::Telegram => telegram(scan, rule.kind, hit),
        Verify::TelegramPath => telegram_path(scan, rule.kind, hit.end),
        Verify::Jwt => jwt(scan, rule.kind, hit.start),
    }
}

/// A literal and a run of characters behind it.
fn token(scan: &mut Scan<'_>, kind: &'static str, hit: Range<usize>, body: Alphabet, full: usize, start: Start) {
    let run = scan.run(body, hit.end);
    // A full stop behind a token ends the sentence.
    let end = run - scan.slice(hit.end..run).iter().rev().take(3).take_while(|b| **b == b'.').count();
    let (len, body) = (end - hit.end, hit.end..end);
    if (len >= full && is_mixed(scan, body.clone())) || (len >= SHORTEST && looks_random(scan, body, start)) {
        scan.found(hit.start..end, kind, Evidence::Shape);
    }
}

/// Whether the beginning of `range` is no word, no words with a number, no placeholder.
fn looks_random(scan: &mut Scan<'_>, range: Range<usize>, start: Start) -> bool {
    let sample = scan.slice(range.start..range.end.min(range.start + SAMPLE));
    scan.tick(sample.len());
    let shaped = if start == Start::Name { value::is_random_short(sample) } else { value::is_scrambled(sample) };
    shaped && !value::is_stand_in(sample)
}

/// Whether the beginning of `range` has characters of two of the three classes upper case, lower case and digits: words have not.
fn is_mixed(scan: &mut Scan<'_>, range: Range<usize>) -> bool {
    let sample = scan.slice(range.start..range.end.min(range.start + SAMPLE));
    scan.tick(sample.len());
    let has = |class: fn(&u8) -> bool| usize::from(sample.iter().any(class));
    has(u8::is_ascii_uppercase) + has(u8::is_ascii_lowercase) + has(u8::is_ascii_digit) >= 2
}

/// Four letters and sixteen more of `A-Z2-7`, or something very like it; a secret key is often on the same or the next line.
fn aws_key_id(scan: &mut Scan<'_>, kind: &'static str, start: usize) {
    const LENGTH: usize = 20;
    /// How far behind the id its secret is looked for.
    const NEAR: usize = 200;
    let end = scan.run(Word, start);
    let id = scan.slice(start..end.min(start + 2 * LENGTH));
    if end - start < LENGTH || end - start > 2 * LENGTH || !scan.border(start) || value::is_published_example(id) {
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

fn sendgrid(scan: &mut Scan<'_>, kind: &'static str, hit: Range<usize>) {
    let dot = scan.run(Url64, hit.end);
    if !(SHORTEST..=32).contains(&(dot - hit.end)) || scan.byte(dot) != b'.' || !scan.border(hit.start) {
        return;
    }
    let end = scan.run(Url64, dot + 1);
    let full = dot - hit.end >= 16 && end - dot > 30 && is_mixed(scan, hit.end..end);
    if full || (end - dot > SHORTEST && looks_random(scan, hit.end..end, Start::Name)) {
        scan.found(hit.start..end, kind, Evidence::Shape);
    }
}

/// `:AA` between the number of a bot and the rest of its key. The number often follows `bot` without a break.
fn telegram(scan: &mut Scan<'_>, kind: &'static str, hit: Range<usize>) {
    let digits = (1..=13).take_while(|back| scan.before(hit.start, *back).is_ascii_digit()).count();
    if !(8..=12).contains(&digits) {
        return;
    }
    let end = scan.run(Url64, hit.end);
    let len = end - hit.end;
    if (len >= 33 && is_mixed(scan, hit.end..end)) || (len >= 18 && looks_random(scan, hit.end..end, Start::Border)) {
        scan.found(hit.start - digits..end, kind, Evidence::Shape);
    }
}

/// `https://host/bot123456789:…/getMe`
fn telegram_path(scan: &mut Scan<'_>, kind: &'static str, start: usize) {
    let colon = start + (0..13).take_while(|i| scan.byte(start + i).is_ascii_digit()).count();
    if !(6..=12).contains(&(colon - start)) || scan.byte(colon) != b':' {
        return;
    }
    let end = scan.run(Url64, colon + 1);
    if end - colon > 20 && looks_random(scan, colon + 1..end, Start::Border) {
        scan.found(start..end, kind, Evidence::Shape);
    }
}

/// Two to five parts of base64url with dots between, each of the first two a JSON object, or three and more if only the first is.
fn jwt(scan: &mut Scan<'_>, kind: &'static str, start: usize) {
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
fn webhook(scan: &mut Scan<'_>, kind: &'static str, hit: Range<usize>) {
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
    if end - start >= 20 && is_mixed(scan, start..end) {
        scan.found(start..end, kind, Evidence::Shape);
    }
}

/// Discord's bot tokens have no literal: base64 of the bot's number, 6 characters, 27 and more, with dots between.
pub(super) fn discord_tokens(scan: &mut Scan<'_>) {
    const MIDDLE: usize = 6;
    for dot in memchr::memchr_iter(b'.', scan.bytes) {
        let second = dot + MIDDLE + 1;
        if scan.byte(second) != b'.' || !scan.slice(dot + 1..second).iter().all(|b| Url64.has(*b)) {
            continue;
        }
        let id = (1..=29).take_while(|back| Alnum.has(scan.before(dot, *back))).count();
        scan.tick(id);
        let start = dot - id;
        if !(23..=28).contains(&id) || !scan.border(start) || !is_number_in_base64(scan.slice(start..dot)) {
            continue;
        }
        let end = scan.run(Url64, second + 1);
        if end - second > 27 {
            scan.found(start..end, "discord-token", Evidence::Shape);
        }
    }
}

/// Whether base64 text stands for decimal digits: in each group of four only certain characters can stand.
pub(super) fn is_number_in_base64(text: &[u8]) -> bool {
    // 0011dddd 0011dddd 0011dddd in groups of six: 0011dd dd0011 dddd00 11dddd.
    text.chunks(4).all(|group| {
        // Behind `9` the next two of the table: no digits.
        let beyond = matches!(group, [b'O', b'j' | b'z' | b'g' | b'w', ..]);
        !beyond
            && group.iter().enumerate().all(|(i, b)| match i {
                0 => matches!(b, b'M' | b'N' | b'O'),
                1 if group.len() == 2 => matches!(b, b'A' | b'Q' | b'g' | b'w'),
                1 => matches!(b, b'D' | b'T' | b'j' | b'z'),
                2 => matches!(b, b'A' | b'E' | b'I' | b'M' | b'Q' | b'U' | b'Y' | b'c' | b'g' | b'k'),
                _ => matches!(b, b'w'..=b'z' | b'0'..=b'5'),
            })
    })
}

/// Whether a token begins at `start` that needs no name: 16 characters and more of what HTTP allows, of several classes.
pub(super) fn is_opaque(scan: &mut Scan<'_>, start: usize) -> bool {
    let end = scan.run(Token68, start);
    end - start >= 16 && is_mixed(scan, start..end)
}
