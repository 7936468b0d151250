//! Cases and credential kinds as data, near misses included. What is a secret and what is none, row by
//! row, is in `rows`; properties on random texts and the number of steps are in `properties`.
//!
//! In the data files and below a `⟂` stands inside every token: the reader takes it out, so that no forge mistakes the files for a leak.

mod clean;
mod custom;
mod documented;
mod keys;
mod mutations;
mod places;
mod properties;
mod rows;
mod tokens;
mod vectors;
mod wording;

use std::convert::Infallible;

use serde_json::Value;

use super::{Detector, Redacted, Rules, redact, value};
use crate::tokenizer::{Token, Tokenizer};
pub(crate) use properties::{Random, random_texts};

pub(crate) const CASES: &str = include_str!("../../tests/data/redact-cases.jsonl");
pub(crate) const KINDS: &str = include_str!("../../tests/data/redact-kinds.jsonl");

/// The rows of a data file, each with its id for the message of a failure.
pub(crate) fn rows(data: &str) -> Vec<Value> {
    let rows: Vec<Value> = whole(data).lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert!(rows.len() > 50, "the data file has lost its rows");
    rows
}

/// A text with its tokens put together.
pub(crate) fn whole(text: &str) -> String {
    text.replace('⟂', "")
}

pub(crate) fn strings(row: &Value, key: &str) -> Vec<String> {
    row[key].as_array().into_iter().flatten().map(|s| s.as_str().expect(key).to_owned()).collect()
}

/// All runs of `n` characters of a secret.
pub(crate) fn runs(secret: &str, n: usize) -> Vec<String> {
    let chars: Vec<char> = secret.chars().collect();
    chars.windows(n).map(|run| run.iter().collect()).collect()
}

fn assert_hidden(id: &Value, masked: &str, secret: &str) {
    assert!(!masked.contains(secret), "{id}: the whole secret shows in {masked:?}");
    let left = runs(secret, 8).into_iter().find(|run| masked.contains(run));
    assert_eq!(left, None, "{id}: part of the secret shows in {masked:?}");
}

#[test]
fn every_case_hides_its_secrets_and_keeps_the_rest() {
    for row in rows(CASES) {
        let id = &row["id"];
        let masked = redact(row["text"].as_str().expect("text")).into_owned();
        let secrets = strings(&row, "must_mask");
        if row["limit"].is_string() {
            assert!(secrets.iter().any(|secret| masked.contains(secret)), "{id} is no limit any more");
        }
        for secret in secrets.iter().filter(|_| row["limit"].is_null()) {
            assert_hidden(id, &masked, secret);
        }
        for kept in strings(&row, "must_keep") {
            assert!(masked.contains(&kept), "{id}: {kept:?} is gone from {masked:?}");
        }
        assert_eq!(redact(&masked), masked, "{id}: a second run changes something");
    }
}

#[test]
fn every_kind_is_hidden_and_its_near_miss_is_not() {
    let with_personal_data = Rules::default().personal_data(true).compile();
    for row in rows(KINDS) {
        let id = &row["id"];
        let optional = row["optional"] == true;
        let detector = if optional { &with_personal_data } else { Detector::standard() };
        let redact = |text: &str| Redacted::with(detector, text).masked().into_owned();
        let positive = row["positive"].as_str().expect("positive");
        let masked = redact(positive);
        assert_hidden(id, &masked, row["secret"].as_str().expect("secret"));
        assert_eq!(redact(&masked), masked, "{id}: a second run changes something");
        let near_miss = row["near_miss"].as_str().expect("near_miss");
        assert_eq!(redact(near_miss), near_miss, "{id}");
        assert!(!optional || super::redact(positive) == positive, "{id} is masked though nobody asked for it");
    }
}

#[test]
fn a_mask_names_what_it_hides() {
    let rows = [
        ("use gh⟂p_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8 now", "use [redacted:github-token] now"),
        ("GITHUB_TOKEN=gh⟂p_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8", "GITHUB_TOKEN=[redacted:github-token]"),
        ("https://x:gl⟂pat-A1b2C3d4E5f6G7h8I9j0@h/p.git", "https://x:[redacted:gitlab-token]@h/p.git"),
        ("postgres://app:s3cret!@db/app", "postgres://app:[redacted:url-password]@db/app"),
        ("mysql://u:p@ss1@h/d", "mysql://u:[redacted:url-password]@h/d"),
        ("?a=1&authorization=A1b2C3d4E5f6G7h8I9j0K1&b=2", "?a=1&authorization=[redacted:authorization]&b=2"),
        ("password = \"hunter2\"", "password = \"[redacted:password]\""),
        ("api_key: a1b2c3d4e5", "api_key: [redacted:api-key]"),
        ("client_secret='s-123456'", "client_secret='[redacted:secret]'"),
        ("?access_token=a1b2c3&x=1", "?access_token=[redacted:token]&x=1"),
        ("Authorization: Basic dTpGYWtlLTE=", "Authorization: Basic [redacted:authorization]"),
        ("4111-1427-8347-5009", "4111-1427-8347-5009"),
        ("4113 1427 8347 5003", "[redacted:payment-card]"),
        (
            "--⟂---BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\nab1=\nend",
            "--⟂---BEGIN PRIVATE KEY-----\n[redacted:private-key]\nend",
        ),
    ];
    for (text, masked) in rows {
        assert_eq!(redact(&whole(text)), whole(masked));
    }
}

#[test]
fn a_value_is_hidden_up_to_its_last_character() {
    let secrets = [
        "password=it's5ecret ",
        "password=P@ss!w0rd ",
        "password=a&b;c,d1 ",
        "password={a1;b2};",
        "password=\"a\\\"b1\"",
        "password='a\"b1'",
        "pwd = ünïcödé1 ",
        "passwd: 密码1x，",
        "PASSWORD=\"a1\\\\\" ",
        "password=\"a 1 b 2\"",
        "secret: `b4ckt1ck`",
        "password=a1)b ",
    ];
    for text in secrets {
        let masked = redact(text).into_owned();
        let (_, tail) = masked.split_once("[redacted:").unwrap_or_else(|| panic!("{text} is shown"));
        let tail = tail.split_once(']').map(|(_, tail)| tail.to_owned());
        let tail = tail.expect("a mask is whole");
        assert!(tail.len() <= "，".len() && !tail.contains(char::is_alphanumeric), "{text} leaves {tail:?}");
    }
}

#[test]
fn a_value_of_any_length_is_hidden_whole() {
    for unit in ["a1", "a1é", "密1", "a1 "] {
        for count in [1, 40, 63, 64, 65, 200, 5000] {
            let secret = unit.repeat(count);
            let secret = secret.trim_end();
            if secret.len() < 6 {
                continue;
            }
            let text = format!("x password=\"{secret}\" y");
            assert_eq!(redact(&text), "x password=\"[redacted:password]\" y", "{unit} times {count}");
            if !unit.contains(' ') {
                assert_eq!(redact(&format!("x token={secret} y")), "x token=[redacted:token] y", "{unit} times {count}");
            }
        }
    }
}

#[test]
fn a_token_is_found_across_any_piece_of_a_long_message() {
    let token = whole("gh⟂p_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8");
    let filler = "All tests pass on the third machine as well. ".repeat(800);
    for at in (16_350..16_390).chain([0, filler.len() - 1]) {
        let text = format!("{} {token} {}", &filler[..at], &filler[at..]);
        assert_eq!(redact(&text).matches("[redacted:github-token]").count(), 1, "at {at}");
    }
}

#[test]
fn exactly_one_check_digit_makes_a_card() {
    for stem in ["411314278347500", "222100000000000", "37420716105386", "601100099013942"] {
        let cards = (0..10).filter(|digit| redact(&format!("no {stem}{digit}.")).contains("[redacted:payment-card]")).count();
        assert_eq!(cards, 1, "{stem}");
    }
}

#[test]
fn base64_is_told_to_be_digits_exactly_when_it_is() {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let encode = |bytes: &[u8]| -> Vec<u8> {
        let bits: Vec<u8> = bytes.iter().flat_map(|b| (0..8).rev().map(move |i| b >> i & 1)).collect();
        bits.chunks(6).map(|six| ALPHABET[(0..6).fold(0, |n, i| n * 2 + usize::from(six.get(i).copied().unwrap_or(0)))]).collect()
    };
    let mut random = Random(3);
    for _ in 0..20_000 {
        let mut bytes: Vec<u8> = (0..17 + random.below(3)).map(|_| b'0' + u8::try_from(random.below(10)).expect("a digit")).collect();
        if random.below(2) == 0 {
            let at = random.below(bytes.len());
            bytes[at] = u8::try_from(random.below(256)).expect("a byte");
        }
        let digits = bytes.iter().all(u8::is_ascii_digit);
        assert_eq!(super::bare::is_number_in_base64(&encode(&bytes)), digits, "{bytes:?}");
    }
}

#[test]
fn published_examples_stay_readable() {
    for text in ["AK⟂IAIOSFODNN7EXAMPLE", "aws_secret_access_key = wJalr⟂XUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "4242 4242 4242 4242"] {
        assert_eq!(redact(&whole(text)), whole(text));
    }
    assert!(!value::is_published_example(whole("AK⟂IAAAAAAAAAAAAEXAMPLE").as_bytes()));
}

#[test]
fn tokens_are_those_of_the_indexed_text_and_lie_outside_of_secrets() {
    for row in rows(CASES) {
        let text = row["text"].as_str().expect("text");
        let redacted = Redacted::new(text);
        let mut found = Vec::new();
        let collect = |token: Token<'_>| {
            let secret = redacted.spans().iter().any(|span| token.start < span.end && span.start < token.end);
            assert!(!secret, "{}: a token inside a secret", row["id"]);
            assert!(text.is_char_boundary(token.start) && text.is_char_boundary(token.end) && token.start < token.end);
            found.push(token.text.to_owned());
            Ok::<_, Infallible>(())
        };
        let Ok(()) = redacted.tokens(Tokenizer::default(), collect);
        let mut expected = Vec::new();
        let Ok(()) = Tokenizer::default().tokenize(redacted.indexed().as_bytes(), |token| {
            expected.push(token.text.to_owned());
            Ok::<_, Infallible>(())
        });
        assert_eq!(found, expected, "{}", row["id"]);
    }
}

#[test]
fn the_index_sees_one_character_for_a_secret_and_a_clean_text_is_not_copied() {
    assert_eq!(Redacted::new("a password=hunter2 b").indexed(), "a password=\u{1f} b");
    assert!(matches!(Redacted::new("nothing here").masked(), std::borrow::Cow::Borrowed("nothing here")));
    assert_eq!(Redacted::new("").spans(), []);
}
