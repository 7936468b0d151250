//! Every row of the table of tokens against tokens made by it: an oracle of its own, so that no row is dead.

use super::properties::Random;
use crate::redact::rules::{self, Start, Verify};
use crate::redact::scan::Alphabet;
use crate::redact::{Redacted, redact};

/// `len` random characters of `body`, of as many classes as it has.
fn random_body(random: &mut Random, body: Alphabet, len: usize) -> String {
    let characters: Vec<char> =
        (b'!'..=b'~').filter(|b| body.has(*b) && !matches!(b, b'.' | b'=' | b'%' | b'*' | b'$')).map(char::from).collect();
    (0..len).map(|_| characters[random.below(characters.len())]).collect()
}

/// A token of every row that is a literal and characters of an alphabet, with its kind.
fn tokens(random: &mut Random) -> Vec<(String, &'static str, bool)> {
    let mut tokens = Vec::new();
    for rule in rules::standard() {
        let literal = rule.literal.as_ref();
        match rule.verify {
            Verify::Token { body, full, start } => {
                let token = literal.to_owned() + &random_body(random, body, full.max(24));
                tokens.push((token, rule.kind, start == Start::Anywhere));
            }
            Verify::Exact { body, min, max } => {
                for len in [min, max] {
                    tokens.push((literal.to_owned() + &random_body(random, body, len), rule.kind, false));
                }
            }
            Verify::Inside { before, after } => {
                for (head, tail) in [(before.min, after.min), (before.max, after.max)] {
                    let token = random_body(random, before.body, head) + literal + &random_body(random, after.body, tail);
                    tokens.push((token, rule.kind, false));
                }
            }
            _ => {}
        }
    }
    tokens
}

#[test]
fn every_row_finds_its_tokens_whole_wherever_they_may_begin() {
    let mut random = Random(11);
    let mut seen = 0;
    for _ in 0..20 {
        for (token, kind, anywhere) in tokens(&mut random) {
            let frames =
                [("see ", " ok"), ("=\"", "\""), ("\\n", "\\n"), ("(", ")"), ("\u{1b}[32m", "\u{1b}[0m"), ("key%3D", " "), ("密", "码")];
            for (before, behind) in frames.into_iter().chain(anywhere.then_some(("deploy_token_", " "))) {
                let text = format!("{before}{token}{behind}");
                let redacted = Redacted::new(&text);
                let [span] = redacted.spans() else { panic!("{kind}: {:?} in {text:?}", redacted.spans()) };
                assert!(span.start <= before.len() && span.end >= before.len() + token.len(), "{kind}: {span:?} in {text:?}");
                seen += 1;
            }
        }
    }
    assert!(seen > 10_000, "the table has lost its rows: {seen}");
}

#[test]
fn no_row_fires_on_its_literal_alone_or_on_words_behind_it() {
    for rule in rules::standard() {
        if !matches!(
            rule.verify,
            Verify::Token { .. } | Verify::Exact { .. } | Verify::Inside { .. } | Verify::Crypt | Verify::Jwt | Verify::Command(_)
        ) {
            continue;
        }
        for words in ["", "client", "client_library_helpers", "-prefix", " tokens are secret", "example.com", "handler2", "..."] {
            let text = format!("the {}{words} is", rule.literal);
            assert_eq!(redact(&text), text);
        }
    }
}
