//! Rows of queries, hostile text against a reader of the expression grammar, and the finder against comparing at every place.

use std::convert::Infallible;
use std::ops::Range;

use serde_json::Value;

use super::{MAX_CHARS, MAX_PHRASE_TOKENS, MAX_PHRASES, MatchMode, Phrase, Query, Tokens};
use crate::tokenizer::{READING_END, Tokenizer};

/// One row a line: `query`, `mode` (absent: all), and `match` or `error`; `origin` = the report that it comes from.
const ROWS: &str = include_str!("../../tests/data/queries.jsonl");
/// One JSON string a line: text that is syntax somewhere, broken quotes, odd Unicode, and random mixes of them.
const HOSTILE: &str = include_str!("../../tests/data/queries-hostile.jsonl");

const MODES: [MatchMode; 3] = [MatchMode::All, MatchMode::Any, MatchMode::Prefix];

fn parse(text: &str, mode: MatchMode) -> Result<Query, String> {
    Query::parse(text, mode, Tokenizer::default()).map_err(|error| error.to_string())
}

fn hostile() -> Vec<String> {
    let texts: Vec<String> = HOSTILE.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(texts.len(), 739);
    texts
}

fn tokens(text: &str) -> Tokens {
    let mut tokens = Tokens::default();
    let Ok(()) = Tokenizer::default().tokenize::<Infallible>(text.as_bytes(), |token| {
        tokens.push(token.text, token.start..token.end);
        Ok(())
    });
    tokens
}

fn tokens_of(text: &str) -> Vec<(String, Range<usize>)> {
    let joined = |readings: std::str::Split<'_, char>| readings.collect::<Vec<_>>().join("\0");
    tokens(text).iter().map(|(readings, range)| (joined(readings), range)).collect()
}

/// Does the phrase stand at the first of these tokens? Written for clarity, compared with the finder.
fn stands_at(phrase: &Phrase, tokens: &[(String, Range<usize>)]) -> bool {
    phrase.tokens.len() <= tokens.len()
        && phrase.tokens.iter().zip(tokens).enumerate().all(|(at, (wanted, (folded, _)))| {
            let may_go_on = phrase.is_prefix && at + 1 == phrase.tokens.len();
            folded.split(READING_END).any(|reading| reading == wanted || (may_go_on && reading.starts_with(wanted.as_str())))
        })
}

fn find_naively(query: &Query, tokens: &[(String, Range<usize>)]) -> Vec<Range<usize>> {
    let longest = |at: usize| {
        let lengths = query.clauses.iter().flatten().filter(|phrase| stands_at(phrase, &tokens[at..])).map(|phrase| phrase.tokens.len());
        lengths.max().map(|length| tokens[at].1.start..tokens[at + length - 1].1.end)
    };
    (0..tokens.len()).filter_map(longest).collect()
}

/// Numbers that look random and are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % limit
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.below(from.len())]
    }
}

/// Reads an expression as FTS5 does, as far as this crate uses its grammar: strings with an optional star, `OR` above `AND`, flat brackets.
fn is_expression(expression: &str) -> bool {
    let mut words = Vec::new();
    let mut rest = expression;
    while !rest.is_empty() {
        let (word, length) = match rest.as_bytes()[0] {
            b'"' => {
                let inner = rest[1..].replace("\"\"", "xx");
                let Some(end) = inner.find('"') else { return false };
                if rest[..end + 2].contains('\0') {
                    return false;
                }
                ("string", end + 2)
            }
            b' ' => ("", 1),
            b'*' => ("*", 1),
            b'(' => ("(", 1),
            b')' => (")", 1),
            _ if rest.starts_with("AND ") => ("AND", 3),
            _ if rest.starts_with("OR ") => ("OR", 2),
            _ => return false,
        };
        rest = &rest[length..];
        if !word.is_empty() {
            words.push(word);
        }
    }
    let text = words.join(" ").replace("string *", "string");
    let group = |text: &str, separator: &str| text.split(separator).all(|word| word == "string");
    if !text.contains(" AND ") {
        return group(&text, " OR ");
    }
    text.split(" AND ").all(|clause| match clause.strip_prefix("( ").and_then(|clause| clause.strip_suffix(" )")) {
        Some(inner) => group(inner, " OR "),
        None => clause == "string",
    })
}

#[test]
fn every_row_gives_its_expression_or_error() {
    let mut count = 0;
    for line in ROWS.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let mode = row["mode"].as_str().map_or(MatchMode::All, |word| word.parse().unwrap());
        match parse(row["query"].as_str().unwrap(), mode) {
            Ok(query) => assert_eq!(row["match"], query.to_match(), "{line}"),
            Err(error) => assert_eq!(row["error"], error, "{line}"),
        }
        count += 1;
    }
    assert_eq!(count, 167);
}

/// Rows of the table: query, mode, and the expression, or the error without backticks.
#[test]
fn documented_queries_are_true() {
    let page = include_str!("../../docs/tokenizer.md");
    let (_, table) = page.split_once("| query | mode | expression |").unwrap();
    let mut rows = 0;
    for line in table.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [query, mode, expected] = cells[..] else { panic!("{line}") };
        let query = query.trim_matches('`').replace("\\u{0}", "\0");
        match parse(&query, mode.trim_matches('`').parse().unwrap()) {
            Ok(query) => assert_eq!(format!("`{}`", query.to_match()), expected, "{line}"),
            Err(error) => assert_eq!(error, expected, "{line}"),
        }
        rows += 1;
    }
    assert!(rows > 10, "{rows}");
}

#[test]
fn whatever_is_accepted_gives_an_expression() {
    for text in hostile() {
        for mode in MODES {
            match parse(&text, mode) {
                Ok(query) => assert!(is_expression(&query.to_match()), "{text:?} {}", query.to_match()),
                Err(error) => assert!(error.starts_with("query has nothing to search for: "), "{text:?} {error}"),
            }
        }
    }
}

#[test]
fn reader_of_expressions_refuses_what_is_none() {
    for expression in [r#""a" AND"#, r#""a" "b""#, r#"("a""#, "a", r#""a"" AND "b""#, r#""a" OR "b" AND "c""#, "\"a\0\"", "", r#"* "a""#] {
        assert!(!is_expression(expression), "{expression:?}");
    }
}

#[test]
fn query_finds_every_phrase_in_its_own_text() {
    for text in hostile() {
        let tokens = tokens_of(&text);
        for mode in MODES {
            let Ok(query) = parse(&text, mode) else {
                assert!(tokens.is_empty(), "{text:?}");
                continue;
            };
            for phrase in query.clauses.iter().flatten() {
                assert!((0..tokens.len()).any(|at| stands_at(phrase, &tokens[at..])), "{text:?} {phrase:?}");
                assert!(stands_at(&Phrase { is_prefix: false, ..phrase.clone() }, &tokens_of(&phrase.text)), "{text:?}");
            }
        }
    }
}

#[test]
fn finder_agrees_with_comparing_at_every_place() {
    let mut random = Random(1);
    let words = [
        "a", "b", "ab", "abc", "b-a", "a.a", "a.a.b", "a*", "ab*", "b-a*", "aB", "abB", "abBC", "B-abBC", "ab++", "\"a b\"", "\"b a\"*",
        "é", "東京", "京*", "OR",
    ];
    let texts = ["a", "b", "ab", "abc", "abd", "É", "東", "京", "c", "B", "A.", "abBC", "abB", "ab++"];
    let mut found = 0;
    for _ in 0..5000 {
        let query: Vec<&str> = (0..=random.below(5)).map(|_| random.pick(&words)).collect();
        let text: Vec<&str> = (0..random.below(20)).map(|_| random.pick(&texts)).collect();
        let (query, text, mode) = (query.join(" "), text.join(" "), MODES[random.below(3)]);
        let parsed = parse(&query, mode).unwrap();
        let ranges = parsed.find(&tokens(&text));
        assert_eq!(ranges, find_naively(&parsed, &tokens_of(&text)), "{query:?} {text:?}");
        found += ranges.len();
    }
    assert!(found > 10_000, "{found}");
}

#[test]
fn places_are_bytes_of_the_original_text() {
    let text = "Ein PELIKAN, zwei pelikane: config.JSON (東京タワー) ㍿";
    for (query, mode, expected) in [
        ("pelikan", MatchMode::All, vec!["PELIKAN"]),
        ("pelikan*", MatchMode::All, vec!["PELIKAN", "pelikane"]),
        ("zwei pel", MatchMode::Prefix, vec!["PELIKAN", "zwei", "pelikane"]),
        ("config.json", MatchMode::All, vec!["config.JSON"]),
        ("json 東京", MatchMode::All, vec!["JSON", "東京"]),
        ("\"zwei pelikane\" pelikane", MatchMode::Any, vec!["zwei pelikane", "pelikane"]),
        ("nothing OR ein", MatchMode::All, vec!["Ein"]),
        ("京タ", MatchMode::All, vec!["京タ"]),
        ("会社", MatchMode::All, vec!["㍿"]),
        ("株式 会社", MatchMode::All, vec!["㍿", "㍿"]),
        ("absent", MatchMode::All, vec![]),
    ] {
        let ranges = parse(query, mode).unwrap().find(&tokens(text));
        assert_eq!(ranges.into_iter().map(|range| &text[range]).collect::<Vec<_>>(), expected, "{query}");
    }
}

#[test]
fn empty_text_holds_nothing() {
    assert_eq!(parse("a b* \"c d\"", MatchMode::All).unwrap().find(&Tokens::default()), Vec::<Range<usize>>::new());
}

#[test]
fn query_longer_than_the_limit_is_refused_with_both_numbers() {
    assert!(parse(&"é".repeat(MAX_CHARS), MatchMode::All).is_ok());
    let error = parse(&"é".repeat(MAX_CHARS + 1), MatchMode::All).unwrap_err();
    assert_eq!(error, "query must be at most 4096 characters, got 4097");
    assert_eq!(parse(&" ".repeat(5000), MatchMode::All).unwrap_err(), "query must be at most 4096 characters, got 5000");
}

#[test]
fn long_phrase_is_searched_by_its_first_tokens() {
    let words = |count: usize| (0..count).map(|n| format!("w{n}")).collect::<Vec<_>>().join("-");
    let exact = words(MAX_PHRASE_TOKENS);
    let whole = parse(&format!("{exact}*"), MatchMode::All).unwrap();
    assert_eq!((whole.to_match(), whole.is_cut()), (format!("\"{exact}\" *"), false));
    let cut = parse(&format!("{}*", words(MAX_PHRASE_TOKENS + 1)), MatchMode::All).unwrap();
    assert_eq!((cut.to_match(), cut.is_cut()), (format!("\"{exact}\""), true));
}

#[test]
fn many_words_are_searched_by_the_first_of_them() {
    let words = |count: usize| (0..count).map(|n| format!("w{n}")).collect::<Vec<_>>();
    let quoted = |words: &[String], separator: &str| words.iter().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(separator);
    let (exact, more) = (words(MAX_PHRASES), words(MAX_PHRASES + 100));
    for (query, mode, expected, is_cut) in [
        (exact.join(" "), MatchMode::All, quoted(&exact, " AND "), false),
        (exact.join(" ") + " w0 w1", MatchMode::All, quoted(&exact, " AND "), false),
        (more.join(" "), MatchMode::All, quoted(&exact, " AND "), true),
        (more.join(" "), MatchMode::Any, quoted(&exact, " OR "), true),
        (more.join(" OR "), MatchMode::All, quoted(&exact, " OR "), true),
        (exact[..255].join(" ") + " w255 OR x y", MatchMode::Prefix, quoted(&exact, " AND "), true),
    ] {
        let query = parse(&query, mode).unwrap();
        assert_eq!((query.to_match(), query.is_cut()), (expected, is_cut));
    }
}

#[test]
fn short_words_are_beginnings_where_tokens_have_a_fixed_size() {
    let trigram = Tokenizer::from_args(["mode", "trigram"]).unwrap();
    for (query, expected) in [
        ("db quick", r#""db" * AND "quick""#),
        ("用户 OR 项目管理", r#""用户" * OR "项目管理""#),
        ("c++ --", r#""c++" * AND "--" *"#),
        ("\"a b\" 1", r#""a b" * AND "1" *"#),
    ] {
        let parsed = Query::parse(query, MatchMode::All, trigram).unwrap();
        assert_eq!(parsed.to_match(), expected);
    }
    let long = "0123456789".repeat(20);
    assert!(Query::parse(&long, MatchMode::All, trigram).unwrap().is_cut());
}

#[test]
fn unknown_mode_is_refused_by_name() {
    for (word, mode) in [("all", MatchMode::All), ("any", MatchMode::Any), ("prefix", MatchMode::Prefix)] {
        assert_eq!(word.parse::<MatchMode>().unwrap(), mode);
    }
    for word in ["", "All", "fuzzy", " all"] {
        let error = word.parse::<MatchMode>().unwrap_err().to_string();
        assert_eq!(error, format!(r#"option match must be one of "all", "any", "prefix", got "{word}""#));
    }
}
