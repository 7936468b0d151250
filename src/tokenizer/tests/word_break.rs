//! The official `WordBreakTest` of Unicode 17, as the crate unicode-segmentation carries it: texts cut at the boundaries of UAX #29.
//!
//! Tokens are meant for search and differ from those segments in the ways listed in [`DEVIATIONS`], and in no other.

use std::collections::BTreeMap;
use std::io::Read;

use super::super::fold::{self, Class};
use super::*;

/// How a row can differ, in how many places of the test it does, and why.
const DEVIATIONS: [(&str, usize, &str); 3] = [
    ("split at an apostrophe", 42, "l'été is found by été; two Cyrillic letters are not split"),
    ("split at punctuation", 113, "config.json, foo_bar, 3.14 and 1,000 are found by their parts and as a phrase"),
    ("split into single characters", 6, "Katakana is searched by the character, and an emoji is a token whatever a joiner says"),
];

/// Segments of each row.
fn rows() -> Vec<Vec<String>> {
    let packed: &[u8] = include_bytes!("../../../tests/data/word-break.txt.zst");
    let mut text = String::new();
    ruzstd::decoding::StreamingDecoder::new(packed).unwrap().read_to_string(&mut text).unwrap();
    let character = |code: &str| char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap();
    let segments = |line: &str| line.split(" ÷ ").map(|codes| codes.split(' ').map(character).collect()).collect();
    text.lines().map(segments).collect()
}

/// The differences between the tokens and the segments of one text.
fn differences(segments: &[String]) -> Vec<&'static str> {
    let text = segments.concat();
    let tokens = tokens(REMOVE, text.as_bytes());
    let mut found = Vec::new();
    let mut start = 0;
    for segment in segments {
        let end = start + segment.len();
        if tokens.iter().any(|&(_, from, to)| from < end && end < to) {
            found.push("joined");
        }
        let inside = tokens.iter().filter(|&&(_, from, to)| start <= from && to <= end && from < to).count();
        if inside > 1 {
            let has = |class: Class| segment.chars().any(|character| fold::lookup(character).class() == class);
            found.push(match () {
                () if has(Class::Apostrophe) => DEVIATIONS[0].0,
                () if has(Class::Separator) => DEVIATIONS[1].0,
                () if has(Class::Single) => DEVIATIONS[2].0,
                () => "split",
            });
        }
        start = end;
    }
    found
}

#[test]
fn tokens_are_the_words_of_uax_29_but_for_the_listed_ways() {
    let rows = rows();
    assert_eq!(rows.len(), 1944);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &rows {
        for difference in differences(row) {
            *counts.entry(difference).or_default() += 1;
        }
    }
    assert_eq!(counts, DEVIATIONS.iter().map(|&(way, count, _)| (way, count)).collect());
}
