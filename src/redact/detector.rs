//! Rules compiled for one pass over a text, and the known secrets beside them.

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use super::custom::Rules;
use super::find::Evidence;
use super::rules::{self, Rule};
use super::scan::Scan;
use super::{bare, card, verify};

/// What finds secrets: an automaton over the literals of all rules, and one over the known secrets.
pub(crate) struct Detector {
    /// The literals, ASCII letters in either case.
    literals: AhoCorasick,
    /// The rule of each literal.
    rules: Vec<Rule>,
    /// The known secrets as they are: not for `Debug`.
    known: Option<AhoCorasick>,
}

impl Detector {
    /// The rules of this library. Compiled once per process.
    pub(crate) fn standard() -> &'static Self {
        static STANDARD: OnceLock<Detector> = OnceLock::new();
        STANDARD.get_or_init(|| Rules::default().compile())
    }

    /// The rules of this library and those of `custom`.
    pub(super) fn new(custom: Vec<Rule>, known: &[String]) -> Self {
        let rules: Vec<Rule> = rules::standard().cloned().chain(custom).collect();
        let literals = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .kind(Some(AhoCorasickKind::DFA))
            .build(rules.iter().map(|rule| rule.literal.as_bytes()))
            .expect("the literals are few and short, whatever the text");
        let exact = |known: &[String]| {
            let builder = AhoCorasick::builder().kind(Some(AhoCorasickKind::ContiguousNFA)).build(known);
            builder.expect("known secrets are few and bounded, whatever the text")
        };
        Self { literals, rules, known: (!known.is_empty()).then(|| exact(known)) }
    }

    /// Runs over `scan`'s text and notes what it finds.
    pub(super) fn run(&self, scan: &mut Scan<'_>) {
        for hit in self.literals.find_overlapping_iter(scan.text) {
            let Some(rule) = self.rules.get(hit.pattern().as_usize()) else { continue };
            let range = hit.start()..hit.end();
            if !scan.in_mask(rule, &range) {
                verify::check(scan, rule, range);
            }
        }
        bare::discord_tokens(scan);
        bare::aws_secret_keys(scan);
        card::numbers(scan);
        let text = scan.text;
        // Finds that overlap are one: `aaaaaa` is at every place of many `a`.
        let mut last = 0..0;
        for hit in self.known.iter().flat_map(|known| known.find_overlapping_iter(text)) {
            if hit.start() > last.end {
                scan.found(last, "known-secret", Evidence::Shape);
                last = hit.range();
            }
            last = last.start.min(hit.start())..hit.end();
        }
        scan.found(last, "known-secret", Evidence::Shape);
    }
}
