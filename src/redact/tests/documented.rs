//! The page on redaction names every kind with what it is found by, and its examples are run.

use std::collections::BTreeMap;

use super::whole;
use crate::redact::redact;
use crate::redact::rules::{PERSONAL, Rule, Strength, Verify, standard};

const PAGE: &str = include_str!("../../../docs/redaction.md");

/// What finds a rule's secrets, as the page has it.
fn found_by(rule: &Rule) -> String {
    let literal = format!("`{}`", rule.literal);
    match rule.verify {
        Verify::Inside { .. } => format!("…{literal}…"),
        Verify::Value(Strength::Weak | Strength::Mixed | Strength::Query) => format!("{literal} (random values)"),
        Verify::Value(_) => format!("{literal} (name)"),
        Verify::Command(_) => format!("`{}` (command)", rule.literal.trim_end()),
        _ => literal,
    }
}

/// Kinds without a literal of their own.
const WITHOUT_LITERAL: [(&str, &str); 5] = [
    ("aws-secret-key", "40 characters, alone or near a key id"),
    ("discord-token", "three parts, the first a number"),
    ("iban", "country, length, check digits"),
    ("payment-card", "issuer, length, check digit"),
    ("url-token", "a random user in a URL"),
];

/// The rows of the table, by kind.
fn table() -> BTreeMap<&'static str, String> {
    let mut table: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for rule in standard().chain(PERSONAL).filter(|rule| !rule.kind.is_empty()) {
        table.entry(rule.kind).or_default().push(found_by(rule));
    }
    for (kind, found) in WITHOUT_LITERAL {
        table.entry(kind).or_default().push(found.to_owned());
    }
    table.into_iter().map(|(kind, found)| (kind, found.join(", "))).collect()
}

#[test]
fn every_kind_is_in_the_table_of_the_page() {
    let expected: Vec<String> = table().iter().map(|(kind, found)| format!("| `{kind}` | {found} |")).collect();
    let (_, behind) = PAGE.split_once("| kind | found by |\n|---|---|\n").expect("a table of kinds");
    let rows: Vec<&str> = behind.lines().take_while(|line| line.starts_with('|')).collect();
    assert_eq!(rows, expected, "the table should be:\n{}", expected.join("\n"));
}

#[test]
fn every_example_of_the_page_is_true() {
    let mut examples = 0;
    for row in PAGE.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix("` |")).filter_map(|row| row.split_once("` | `")) {
        let (text, shown) = row;
        if shown == "stays" || shown.contains("[redacted:") {
            let expected = if shown == "stays" { text } else { shown };
            assert_eq!(redact(&whole(text)), whole(expected));
            examples += 1;
        }
    }
    assert!(examples >= 30, "the page has lost its examples: {examples}");
}
