//! Properties on texts put together at random, and the number of steps on hostile ones.

use super::whole;
use crate::redact::scan::Scan;
use crate::redact::{Detector, Redacted, redact, rules};

/// A small generator, the same on every machine.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % n as u64).expect("less than n")
    }
}

/// Texts put together at random from what the rules react to.
pub(crate) fn random_texts(count: usize) -> impl Iterator<Item = String> {
    const PIECES: [&str; 60] = [
        " ",
        "\n",
        "\r\n",
        "\t",
        "\"",
        "'",
        "`",
        "\\",
        "\\n",
        "\\\"",
        "=",
        ":",
        ": ",
        "=>",
        "&",
        ";",
        ",",
        ".",
        "@",
        "/",
        "//",
        "?",
        "#",
        "<",
        ">",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        "-",
        "_",
        "%3D",
        "é",
        "密",
        "🔑",
        "\u{301}",
        "\u{200b}",
        "a",
        "Z9",
        "word",
        "hunter2",
        "A1b2C3d4E5f6G7h8I9j0",
        "4113142783475003",
        "MIIEvQIBADANBgkqhkiG9w0BAQ",
        "[redacted:token]",
        "…",
        "-----BEGIN ",
        "-----END ",
        "–––––",
        "-----\n",
        "\u{1b}[0m",
        "\u{1b}]",
        "\u{2060}",
        " - ",
        "| ",
        "for bob is ",
        "x9Yz+w8Q",
        "<br>",
    ];
    let literals: Vec<&str> = rules::standard().map(|rule| rule.literal.as_ref()).collect();
    let mut random = Random(1);
    (0..count).map(move |_| {
        let len = 1 + random.below(24);
        (0..len)
            .map(|_| match random.below(3) {
                0 => literals[random.below(literals.len())],
                _ => PIECES[random.below(PIECES.len())],
            })
            .collect()
    })
}

#[test]
fn spans_of_random_texts_are_sorted_disjoint_and_on_borders() {
    let mut spans_seen = 0;
    for text in random_texts(60_000) {
        let redacted = Redacted::new(&text);
        let mut end = 0;
        for span in redacted.spans() {
            assert!(span.start >= end && span.start < span.end && span.end <= text.len(), "{text:?}: {:?}", redacted.spans());
            assert!(text.is_char_boundary(span.start) && text.is_char_boundary(span.end), "{text:?}");
            assert!(!span.kind.is_empty(), "{text:?}");
            end = span.end;
        }
        spans_seen += redacted.spans().len();
    }
    assert!(spans_seen > 5_000, "the texts hold too few secrets: {spans_seen}");
}

#[test]
fn masking_twice_changes_nothing_on_random_texts() {
    for text in random_texts(60_000) {
        let once = redact(&text).into_owned();
        assert_eq!(redact(&once), once, "from {text:?}");
    }
}

#[test]
fn masking_twice_changes_nothing_on_hostile_texts() {
    let units = hostile_units();
    for first in &units {
        for second in &units {
            let once = redact(&(first.repeat(6) + &second.repeat(14))).into_owned();
            assert_eq!(redact(&once), once, "{first:?}, {second:?}");
        }
    }
}

/// What hostile texts are made of.
fn hostile_units() -> Vec<String> {
    let units = include_str!("../../../tests/data/redact-hostile.txt");
    let units: Vec<String> = units.lines().map(|line| serde_json::from_str(&whole(line)).expect(line)).collect();
    assert!(units.len() > 80, "the file has lost its lines");
    units
}

#[test]
fn the_steps_grow_no_faster_than_the_text() {
    let units = hostile_units();
    let repeated = |unit: &str, len: usize| unit.repeat(len.div_ceil(unit.len()));
    let steps = |text: &str| {
        let mut scan = Scan::new(text);
        Detector::standard().run(&mut scan);
        scan.steps
    };
    // Each unit alone, and the many of one before the many of another.
    for first in &units {
        for second in &units {
            let text = |len: usize| repeated(first, len) + &repeated(second, len);
            let (small, large) = (text(1_500), text(6_000));
            let (few, many) = (steps(&small), steps(&large));
            assert!(few <= 80 * small.len(), "{first:?}, {second:?}: {few} steps for {} bytes", small.len());
            assert!(many <= 5 * few.max(small.len()), "{first:?}, {second:?}: {few} steps, then {many} for four times the text");
        }
    }
}
