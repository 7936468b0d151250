//! The rows of `tests/data/tokens*.txt` and of the tables in `docs/tokenizer.md`.

use unicode_normalization::UnicodeNormalization;

use super::*;

/// A line of a data file with its `\u{...}` resolved.
fn unescape(line: &str) -> String {
    let mut text = String::new();
    let mut parts = line.split("\\u{");
    text.push_str(parts.next().unwrap());
    for part in parts {
        let (code, rest) = part.split_once('}').unwrap();
        text.push(char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap());
        text.push_str(rest);
    }
    text
}

/// What stands before the `>` of a row.
fn tokenizer(options: &str) -> Option<Tokenizer> {
    Some(match options {
        "" => REMOVE,
        "1" => REMOVE_SINGLE,
        "0" => KEEP,
        "trigram" => TRIGRAM,
        "trigram0" => TRIGRAM_KEEP,
        _ => return None,
    })
}

/// `> text` (or with options: `0> text`), then `= token:start..end ...`, or for a query `? token ...`.
#[test]
fn rows_give_these_tokens_at_these_bytes() {
    let mut rows = 0;
    let mut row = None;
    for line in include_str!("../../../tests/data/tokens.txt").lines() {
        let start = line.split_once("> ").and_then(|(options, text)| Some((tokenizer(options)?, unescape(text))));
        if start.is_some() {
            row = start;
        } else if let Some(expected) = line.strip_prefix('=') {
            let (tokenizer, text) = row.as_ref().unwrap();
            let found: Vec<String> = tokens(*tokenizer, text.as_bytes())
                .iter()
                .map(|(token, start, end)| format!("{}:{start}..{end}", token.replace(READING_END, ",")))
                .collect();
            assert_eq!(found.join(" "), unescape(expected.trim_start()), "{text:?}");
            rows += 1;
        } else if let Some(expected) = line.strip_prefix("? ") {
            let (tokenizer, text) = row.as_ref().unwrap();
            assert_eq!(query_texts(*tokenizer, text).join(" "), unescape(expected), "{text:?}");
            rows += 1;
        } else {
            assert!(line.is_empty() || line.starts_with('#'), "{line:?}");
        }
    }
    assert!(rows > 80, "{rows}");
}

/// Does every word of `query` stand in `text`, as the phrase of its tokens?
fn finds(text: &str, query: &str) -> bool {
    let text = tokens(REMOVE, text.as_bytes());
    let words: Vec<_> = query.split_whitespace().map(|word| query_texts(REMOVE, word)).filter(|word| !word.is_empty()).collect();
    let stands = |wanted: &String, (readings, _, _): &(String, usize, usize)| readings.split(READING_END).any(|reading| reading == wanted);
    let is_phrase =
        |word: &[String], window: &[(String, usize, usize)]| word.iter().zip(window).all(|(wanted, token)| stands(wanted, token));
    !words.is_empty() && words.iter().all(|word| text.windows(word.len()).any(|window| is_phrase(word, window)))
}

/// `> text`, then `+ query | query` that find it and `- query | query` that don't, each text and query in all four normal forms.
#[test]
fn reported_queries_find_their_rows() {
    let mut queries = 0;
    let mut row = String::new();
    for line in include_str!("../../../tests/data/tokens-queries.txt").lines() {
        if let Some(text) = line.strip_prefix("> ") {
            row = unescape(text);
        } else if let Some((sign @ ("+" | "-"), list)) = line.split_once(' ') {
            for query in list.split(" | ") {
                let query = unescape(query);
                for text in normal_forms(&row) {
                    for query in normal_forms(&query) {
                        assert_eq!(finds(&text, &query), sign == "+", "{query:?} in {text:?}");
                    }
                }
                queries += 1;
            }
        } else {
            assert!(line.is_empty() || line.starts_with('#'), "{line:?}");
        }
    }
    assert!(queries > 60);
}

pub(super) fn normal_forms(text: &str) -> [String; 4] {
    [text.nfc().collect(), text.nfd().collect(), text.nfkc().collect(), text.nfkd().collect()]
}

/// Rows of the tables: text, tokens (their readings behind commas), and the tokens with diacritics kept where they differ.
#[test]
fn documented_examples_are_true() {
    let mut rows = 0;
    let mut table = "";
    for line in include_str!("../../../docs/tokenizer.md").lines() {
        if line.starts_with("| text |") || line.starts_with("| query |") {
            table = line;
        }
        if !line.starts_with("| `") || table.starts_with("| query |") {
            continue; // those are run beside the query
        }
        let cells: Vec<Vec<&str>> = line.split('|').map(|cell| cell.split('`').skip(1).step_by(2).collect()).collect();
        let [_, text, expected, other, _] = &cells[..] else { panic!("{line}") };
        let text = unescape(text[0]);
        // An editor may compose what the tokenizer leaves decomposed.
        let unescaped = |tokens: &[&str]| -> Vec<String> { tokens.iter().map(|token| unescape(token).nfc().collect()).collect() };
        let found = |tokenizer: Tokenizer| -> Vec<String> {
            let tokens = tokens(tokenizer, text.as_bytes()).into_iter();
            tokens.map(|(token, _, _)| token.replace(READING_END, ", ").nfc().collect()).collect()
        };
        match table {
            "| text | tokens | kept |" => {
                assert_eq!(found(REMOVE), unescaped(expected), "{line}");
                assert_eq!(found(KEEP), unescaped(if other.is_empty() { expected } else { other }), "{line}");
            }
            "| text | tokens | as a query |" => {
                assert_eq!(found(REMOVE), unescaped(expected), "{line}");
                assert_eq!(query_texts(REMOVE, &text), unescaped(other), "{line}");
            }
            "| text | triples | as a query |" => {
                assert_eq!(found(TRIGRAM), unescaped(expected), "{line}");
                assert_eq!(query_texts(TRIGRAM, &text), unescaped(other), "{line}");
            }
            _ => panic!("{line} under {table}"),
        }
        rows += 1;
    }
    assert!(rows > 35, "{rows}");
}
