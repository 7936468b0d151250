//! A corpus without secrets: pictures, lock files, logs, prose in five languages, code. Almost nothing of it may change. `benches/redact.rs` does the same with the manual pages and sources of the machine that it runs on.

use super::properties::Random;
use crate::redact::redact;

const SEEDS: &str = include_str!("../../../tests/data/redact-clean.txt");
/// Of a thousand messages so many may be masked.
const ALLOWED: usize = 2;

const HEX: &[u8] = b"0123456789abcdef";
const BASE64: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const WORD: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";

impl Random {
    fn of(&mut self, alphabet: &[u8], len: usize) -> String {
        (0..len).map(|_| char::from(alphabet[self.below(alphabet.len())])).collect()
    }

    fn hex(&mut self, len: usize) -> String {
        self.of(HEX, len)
    }

    fn uuid(&mut self) -> String {
        [8, 4, 4, 4, 12].map(|len| self.hex(len)).join("-")
    }

    fn number(&mut self, below: usize) -> String {
        self.below(below).to_string()
    }
}

/// The lines of a section of the seeds.
fn section(name: &str) -> Vec<&'static str> {
    let section = SEEDS.split("\n\n").find(|section| section.lines().next() == Some(name));
    section.into_iter().flat_map(|section| section.lines().skip(1)).collect()
}

/// Some random lines, with what stands in angles made up: `‹hex40›`, `‹uuid›`, `‹n›`.
fn message(random: &mut Random, lines: &[&str]) -> String {
    let count = 4 + random.below(28);
    let mut text = String::new();
    for _ in 0..count {
        for (i, piece) in lines[random.below(lines.len())].split(['‹', '›']).enumerate() {
            if i % 2 == 0 {
                text.push_str(piece);
                continue;
            }
            let at = piece.find(|c: char| c.is_ascii_digit()).unwrap_or(piece.len());
            let (what, len) = (&piece[..at], piece[at..].parse().unwrap_or(0));
            text.push_str(&match what {
                "hex" => random.hex(len),
                "base" => random.of(BASE64, len),
                "word" => random.of(WORD, len),
                "uuid" => random.uuid(),
                "n" => random.number(10_usize.pow(u32::try_from(len.max(1)).expect("few digits"))),
                _ => panic!("{piece} is nothing to make up"),
            });
        }
        text.push('\n');
    }
    text
}

/// The changed ones of `messages`.
fn changed(messages: &[String]) -> Vec<String> {
    messages
        .iter()
        .map(|message| redact(message))
        .zip(messages)
        .filter(|(masked, message)| masked != *message)
        .map(|(masked, _)| masked.into_owned())
        .collect()
}

#[test]
fn pictures_lock_files_and_logs_stay_as_they_are() {
    let mut random = Random(31);
    let mut messages: Vec<String> = (0..150)
        .flat_map(|_| {
            let len = 2_000 + random.below(40_000);
            let base64 = random.of(BASE64, len);
            let wrapped: Vec<&str> = (0..len / 76).map(|line| &base64[line * 76..line * 76 + 76]).collect();
            [
                format!("{{\"type\":\"image\",\"url\":\"data:image/png;base64,iVBORw0KGgo{base64}=\"}}"),
                format!("Content-Transfer-Encoding: base64\n\n{}\n{}==\n", wrapped.join("\n"), &base64[..40]),
                format!("-----BEGIN CERTIFICATE-----\n{}\n{}\n-----END CERTIFICATE-----\n", wrapped.join("\n"), &base64[..40]),
            ]
        })
        .collect();
    for name in ["locks", "logs", "ids"] {
        let lines = section(name);
        assert!(lines.len() >= 8, "{name} has lost its lines");
        messages.extend((0..700).map(|_| message(&mut random, &lines)));
    }
    messages.push(include_str!("../../../Cargo.lock").to_owned());
    assert_eq!(changed(&messages), Vec::<String>::new());
}

#[test]
fn prose_and_code_about_secrets_stay_as_they_are() {
    let mut random = Random(32);
    let mut messages = Vec::new();
    for name in ["english", "german", "spanish", "french", "chinese", "code", "configuration"] {
        let lines = section(name);
        assert!(lines.len() >= 8, "{name} has lost its lines");
        messages.extend((0..500).map(|_| message(&mut random, &lines)));
        messages.extend(lines.iter().map(|line| (*line).to_owned()));
    }
    let changed = changed(&messages);
    assert!(changed.len() * 1_000 <= messages.len() * ALLOWED, "{} of {}: {changed:?}", changed.len(), messages.len());
}
