//! The tokenizer against `unicode61 remove_diacritics 2`: every assigned character between two letters, and the texts of many languages.
//!
//! `tests/data/unicode61.txt` lists each class of difference with its number and why it is meant to be. After a deliberate change:
//! `UPDATE_UNICODE61=1 cargo test --test unicode61`, then look at the lines that changed; a class without a reason fails.

mod support;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rusqlite::Connection;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

const LIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/unicode61.txt");

/// The tokens of each text.
fn tokens(tokenizer: &str, texts: &[String]) -> Vec<Vec<String>> {
    let conn = Connection::open_in_memory().unwrap();
    session_search::register(&conn).unwrap();
    let create = format!(
        "CREATE VIRTUAL TABLE t USING fts5(text, content='', tokenize='{tokenizer}'); CREATE VIRTUAL TABLE v USING fts5vocab(t, instance); BEGIN"
    );
    conn.execute_batch(&create).unwrap();
    let mut insert = conn.prepare("INSERT INTO t(rowid, text) VALUES(?1, ?2)").unwrap();
    for (row, text) in texts.iter().enumerate() {
        insert.execute((i64::try_from(row).unwrap(), text)).unwrap();
    }
    let mut found: Vec<Vec<(usize, String)>> = vec![Vec::new(); texts.len()];
    let mut select = conn.prepare("SELECT doc, offset, term FROM v").unwrap();
    let mut rows = select.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let (doc, offset): (i64, i64) = (row.get(0).unwrap(), row.get(1).unwrap());
        found[usize::try_from(doc).unwrap()].push((usize::try_from(offset).unwrap(), row.get(2).unwrap()));
    }
    let sorted = |mut tokens: Vec<(usize, String)>| {
        tokens.sort();
        tokens.into_iter().map(|(_, token)| token).collect()
    };
    found.into_iter().map(sorted).collect()
}

/// What becomes of a character between two é, and its folded form.
fn outcome(tokens: &[String]) -> (&'static str, String) {
    match tokens {
        [a, b] if a == "e" && b == "e" => ("separates", String::new()),
        [word] if word == "ee" => ("vanishes", String::new()),
        [word] => ("joins", word.strip_prefix('e').and_then(|word| word.strip_suffix('e')).unwrap_or(word).to_owned()),
        [a, single, b] if a == "e" && b == "e" => ("alone", single.clone()),
        several => ("several", several.join(" ")),
    }
}

/// Class of difference -> how many, an example.
fn characters() -> BTreeMap<String, (usize, char)> {
    let is_assigned = |of: &char| {
        use GeneralCategory as Category;
        !matches!(of.general_category(), Category::Unassigned | Category::PrivateUse | Category::Surrogate | Category::Control)
    };
    let characters: Vec<char> = ('\u{0}'..=char::MAX).filter(is_assigned).collect();
    let texts: Vec<String> = characters.iter().map(|of| format!("é{of}é")).collect();
    let (theirs, ours) = (tokens("unicode61 remove_diacritics 2", &texts), tokens("session_search", &texts));
    let mut classes = BTreeMap::new();
    for ((of, theirs), ours) in characters.iter().zip(theirs).zip(ours) {
        let ((their_kind, their_form), (our_kind, our_form)) = (outcome(&theirs), outcome(&ours));
        if theirs == ours || (their_kind == our_kind && their_form == our_form) {
            continue;
        }
        let folds = if their_kind == "separates" || our_kind == "separates" || our_kind == "vanishes" {
            ""
        } else if their_form == our_form {
            ", same form"
        } else {
            ", other form"
        };
        let group = format!("{:?}", of.general_category_group());
        let class = format!("{group}: {their_kind} -> {our_kind}{folds}");
        classes.entry(class).or_insert((0, *of)).0 += 1;
    }
    classes
}

/// Language -> words of theirs, tokens of ours, how many of their different words are tokens of ours too.
fn languages() -> BTreeMap<String, String> {
    let text = String::from_utf8(support::decompressed("data/languages.txt.zst")).unwrap();
    let mut languages = Vec::new();
    for part in text.split("\n# ").skip(1) {
        let (name, text) = part.split_once('\n').unwrap();
        languages.push((name.to_owned(), text.to_owned()));
    }
    assert!(languages.len() > 30);
    let texts: Vec<String> = languages.iter().map(|(_, text)| text.clone()).collect();
    let (theirs, ours) = (tokens("unicode61 remove_diacritics 2", &texts), tokens("session_search", &texts));
    let mut lines = BTreeMap::new();
    for (((name, _), theirs), ours) in languages.iter().zip(theirs).zip(ours) {
        let kept: std::collections::BTreeSet<&String> = theirs.iter().filter(|token| ours.contains(token)).collect();
        let different: std::collections::BTreeSet<&String> = theirs.iter().collect();
        let line =
            format!("{} words, {} tokens here, {} of {} different words the same", theirs.len(), ours.len(), kept.len(), different.len());
        lines.insert(name.clone(), line);
    }
    lines
}

#[test]
fn every_difference_from_unicode61_is_listed_with_its_reason() {
    let committed = std::fs::read_to_string(LIST).unwrap_or_default();
    let mut reasons: BTreeMap<&str, &str> = BTreeMap::new();
    for line in committed.lines().filter(|line| !line.starts_with('#')) {
        let (facts, reason) = line.split_once(" | ").unwrap();
        reasons.insert(facts.split_once(" = ").unwrap().0, reason);
    }
    let mut list =
        String::from("# Class of characters = how many, the first of them | why. Written by tests/unicode61.rs, but for the reasons.\n");
    for (class, (count, example)) in characters() {
        let _ = writeln!(list, "{class} = {count}, U+{:04X} | {}", u32::from(example), reasons.get(class.as_str()).unwrap_or(&""));
    }
    list.push_str("# Language = tokens of its text | why\n");
    for (language, line) in languages() {
        let _ = writeln!(list, "{language} = {line} | {}", reasons.get(language.as_str()).unwrap_or(&""));
    }
    if std::env::var_os("UPDATE_UNICODE61").is_some() {
        std::fs::write(LIST, &list).unwrap();
    }
    for (new, old) in list.lines().zip(committed.lines()) {
        assert_eq!(new, old);
        assert!(new.starts_with('#') || !new.ends_with("| "), "no reason: {new}");
    }
    assert_eq!(list, committed);
}
