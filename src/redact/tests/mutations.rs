//! Random mutations of the cases: nothing panics, spans stay sorted and on borders, a second run changes nothing, and a secret whose own
//! text and surroundings were left alone stays hidden.
//!
//! `SESSION_SEARCH_MUTATIONS` asks for more than a test run has time for.

use std::ops::Range;

use super::properties::Random;
use super::{CASES, KINDS, rows, runs, strings};
use crate::redact::{Redacted, redact};

/// So far around a secret nothing is changed where it has to stay hidden: names, headers, the marker of a key.
const NEAR: usize = 64;
/// What is put into a text, besides pieces of other texts.
const PIECES: [&str; 24] = [
    " ",
    "\n",
    "\r\n",
    "\"",
    "'",
    "\\",
    "\\n",
    "=",
    ":",
    "%3D",
    "%",
    "\\u003d",
    "&",
    ";",
    "-----",
    "\u{200b}",
    "\u{1b}[0m",
    "é",
    "密",
    "🔑",
    "＝",
    "[redacted:",
    "]",
    "\u{0}",
];

struct Message {
    text: String,
    secrets: Vec<String>,
}

fn messages() -> Vec<Message> {
    let text = |row: &serde_json::Value, key: &str| row[key].as_str().expect(key).to_owned();
    let cases = rows(CASES)
        .into_iter()
        .filter(|row| row["limit"].is_null())
        .map(|row| Message { text: text(&row, "text"), secrets: strings(&row, "must_mask") });
    let kinds = rows(KINDS).into_iter().filter(|row| row["optional"].is_null());
    let kinds = kinds.map(|row| Message { text: text(&row, "positive"), secrets: vec![text(&row, "secret")] });
    cases.chain(kinds).filter(|message| message.text.len() < 4_000).collect()
}

fn border(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Puts something in, takes something out or doubles it, in one place.
fn mutate(random: &mut Random, text: &mut String, other: &str) {
    let at = border(text, random.below(text.len() + 1));
    let piece = |random: &mut Random, text: &str| -> Range<usize> {
        let start = border(text, random.below(text.len() + 1));
        start..border(text, start + random.below(40)).max(start)
    };
    match random.below(4) {
        0 => text.insert_str(at, PIECES[random.below(PIECES.len())]),
        1 => text.insert_str(at, &other[piece(random, other)]),
        2 => drop(text.drain(piece(random, text))),
        _ => {
            let again = text[piece(random, text)].to_owned();
            text.insert_str(at, &again);
        }
    }
}

fn assert_sound(text: &str) -> String {
    let redacted = Redacted::new(text);
    let mut end = 0;
    for span in redacted.spans() {
        assert!(span.start >= end && span.start < span.end && span.end <= text.len(), "{text:?}: {:?}", redacted.spans());
        assert!(text.is_char_boundary(span.start) && text.is_char_boundary(span.end), "{text:?}");
        end = span.end;
    }
    let masked = redacted.masked().into_owned();
    assert_eq!(redact(&masked), masked, "a second run changes something, from {text:?}");
    masked
}

#[test]
fn mutations_of_the_cases_are_masked_soundly() {
    let count = std::env::var("SESSION_SEARCH_MUTATIONS").map_or(40_000, |count| count.parse().expect("a number"));
    let messages = messages();
    let mut random = Random(21);
    for _ in 0..count {
        let mut text = messages[random.below(messages.len())].text.clone();
        for _ in 0..=random.below(4) {
            let other = &messages[random.below(messages.len())].text;
            mutate(&mut random, &mut text, other);
        }
        assert_sound(&text);
    }
}

#[test]
fn a_secret_stays_hidden_whatever_stands_far_from_it() {
    let messages = messages();
    let mut random = Random(22);
    for message in &messages {
        for secret in &message.secrets {
            for _ in 0..12 {
                let far = &messages[random.below(messages.len())].text;
                let (before, behind) = (&far[..border(far, random.below(far.len()))], &far[border(far, random.below(far.len()))..]);
                let neutral = "and nothing else. ".repeat(NEAR / 16);
                let text = format!("{before}\n\n{neutral}\n\n{}\n\n{neutral}\n\n{behind}", message.text);
                let masked = assert_sound(&text);
                // What another part of the text shows is no leak.
                let shown_anyway = |run: &String| far.contains(run) || redact(&message.text).contains(run);
                let part = runs(secret, 8).into_iter().find(|run| masked.contains(run) && !shown_anyway(run));
                assert_eq!(part, None, "{text:?} as {masked:?}");
            }
        }
    }
}
