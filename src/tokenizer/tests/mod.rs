//! Rows of data in `rows`, what holds for every text in `properties`, Unicode's own rows in `normalization` and `word_break`.

mod normalization;
mod properties;
mod rows;
mod word_break;

use std::convert::Infallible;

use super::{Diacritics, Mode, Purpose, READING_END, Token, Tokenizer};

const REMOVE: Tokenizer = Tokenizer { mode: Mode::Words, diacritics: Diacritics::Remove };
const REMOVE_SINGLE: Tokenizer = Tokenizer { mode: Mode::Words, diacritics: Diacritics::RemoveSingle };
const KEEP: Tokenizer = Tokenizer { mode: Mode::Words, diacritics: Diacritics::Keep };
const TRIGRAM: Tokenizer = Tokenizer { mode: Mode::Trigram, diacritics: Diacritics::Remove };
const TRIGRAM_KEEP: Tokenizer = Tokenizer { mode: Mode::Trigram, diacritics: Diacritics::Keep };

/// The tokens of a text with their ranges.
fn tokens(tokenizer: Tokenizer, text: &[u8]) -> Vec<(String, usize, usize)> {
    let mut tokens = Vec::new();
    let Ok(()) = tokenizer.tokenize(text, |Token { text, start, end }| {
        tokens.push((text.to_owned(), start, end));
        Ok::<_, Infallible>(())
    });
    tokens
}

/// The first reading of each token.
fn texts(tokenizer: Tokenizer, text: &str) -> Vec<String> {
    tokens(tokenizer, text.as_bytes()).into_iter().map(|(text, _, _)| first(&text).to_owned()).collect()
}

/// The tokens that a query asks for.
fn query_texts(tokenizer: Tokenizer, text: &str) -> Vec<String> {
    let mut terms = Vec::new();
    let Ok(()) = tokenizer.terms(text.as_bytes(), Purpose::Query, |term| {
        assert!(!term.colocated, "{text:?}");
        terms.push(term.text.to_owned());
        Ok::<_, Infallible>(())
    });
    terms
}

fn first(readings: &str) -> &str {
    readings.split_once(READING_END).map_or(readings, |(first, _)| first)
}
