//! Text to tokens: the words of every script, folded so that a person finds them however they type them.
//!
//! A token is one position of a text: its folded text, further readings of the same word (`getUserName` by its parts, `C++` by its
//! name) and the bytes of the original that it came from. Invariants, for any input bytes: tokens are non-empty, their ranges are
//! monotone and on character boundaries, in `words` mode also disjoint, and the four Unicode normal forms of a text have the same words.
//! Time is linear, no input is refused.
//!
//! The rules, with examples that run, are in `docs/tokenizer.md`. [`words`] finds the words, [`names`] their further readings,
//! [`trigram`] cuts texts into triples instead; [`fold`] looks characters up in [`table`], which `tests/unicode_table.rs` generates and
//! proves. Tested in `tests` beside this file with the rows of `tests/data/tokens*.txt`.

mod fold;
mod names;
mod options;
mod table;
#[cfg(test)]
mod tests;
mod trigram;
mod words;

use std::ops::Range;

use names::{Known, Parts, Written};
use trigram::Trigrams;
use words::{Found, Words};

/// Version of the token rules. It is part of the index format: any change of tokens, a new Unicode version included, raises it.
pub(crate) const VERSION: u32 = 2;

/// FTS5 cuts longer tokens at this byte; done here, the cut is between characters.
const MAX_TOKEN_BYTES: usize = 32_768;

/// Stands between the readings of a token. No reading contains it.
pub(crate) const READING_END: char = '\0';

/// One token of a text: everything that stands at one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    /// The folded text, then any further readings, each behind a [`READING_END`].
    pub text: &'a str,
    /// First byte of the token in the original text.
    pub start: usize,
    /// The byte after its last one. One character can be several tokens (`㍿` is 株 式 会 社): all but the first are then
    /// empty ranges behind it.
    pub end: usize,
}

/// One reading of a token: what the index holds. Never empty, at most 32,768 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Term<'a> {
    pub text: &'a str,
    pub start: usize,
    pub end: usize,
    /// A further reading of the term before it, at the same position.
    pub colocated: bool,
}

/// What a text is tokenized for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To be found: every reading of every token.
    Text,
    /// To find something: one reading, the most exact one.
    Query,
}

/// What the tokens are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Mode {
    #[default]
    Words,
    /// Every three characters in a row.
    Trigram,
}

/// What becomes of diacritics: `remove_diacritics`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
enum Diacritics {
    /// 0
    Keep,
    /// 1: they stay where one character has several of them, as in unicode61.
    RemoveSingle,
    /// 2
    #[default]
    Remove,
}

/// Cuts texts into tokens. The default finds words and removes diacritics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Tokenizer {
    mode: Mode,
    diacritics: Diacritics,
}

impl Tokenizer {
    /// Calls `emit` for each token of `text`, in order. Any bytes are accepted: invalid UTF-8 and NUL separate words.
    ///
    /// Stops at the first error of `emit` and returns it.
    pub(crate) fn tokenize<E>(self, text: &[u8], mut emit: impl FnMut(Token<'_>) -> Result<(), E>) -> Result<(), E> {
        let mut readings = String::new();
        self.find(text, Purpose::Text, |Found { word, more, start, end }| {
            let Some(written) = more else { return emit(Token { text: word, start, end }) };
            readings.clear();
            readings.push_str(word);
            if let Some(name) = written.name {
                readings.push(READING_END);
                readings.extend(name.chars().map(|c| c.to_ascii_lowercase()));
            }
            Parts::of(written.word).try_for_each(|part| {
                readings.push(READING_END);
                readings.push_str(&word[part]);
                Ok(())
            })?;
            emit(Token { text: &readings, start, end })
        })
    }

    /// Calls `emit` for each term of `text`: as [`tokenize`](Self::tokenize), but one reading at a time, and only those for `purpose`.
    ///
    /// The part of a name is given once for a text, where it comes first: code repeats its names, and this halves what they add to an index.
    pub(crate) fn terms<E>(self, text: &[u8], purpose: Purpose, mut emit: impl FnMut(Term<'_>) -> Result<(), E>) -> Result<(), E> {
        let mut known = Known::default();
        self.find(text, purpose, |Found { word, more, start, end }| {
            let term = Term { text: word, start, end, colocated: false };
            match more {
                None => emit(term),
                Some(Written { name, .. }) if purpose == Purpose::Query => {
                    let name = name.map(str::to_ascii_lowercase);
                    emit(Term { text: name.as_deref().unwrap_or(word), ..term })
                }
                Some(written) => {
                    let is_new = |part: Range<usize>| known.is_new(text, start + part.start..start + part.end);
                    emit_readings(term, written, is_new, &mut emit)
                }
            }
        })
    }

    /// Tokens are a number of characters: fewer of them are found as the beginning of a token only.
    pub(crate) fn has_fixed_size(self) -> bool {
        self.mode == Mode::Trigram
    }

    fn find<E>(self, text: &[u8], purpose: Purpose, emit: impl FnMut(Found<'_>) -> Result<(), E>) -> Result<(), E> {
        match self.mode {
            Mode::Words => {
                let mut words = Words::new(self.diacritics, emit);
                pieces(text, |piece, offset| words.run(piece, offset))
            }
            Mode::Trigram => {
                let mut trigrams = Trigrams::new(purpose, emit);
                let mut characters = Words::new(self.diacritics, |unit: Found<'_>| trigrams.push(&unit));
                pieces(text, |piece, offset| characters.run_characters(piece, offset))?;
                trigrams.finish()
            }
        }
    }
}

/// Emits a term and its further readings, but no part that is known. Kept apart from the many words that have no more.
#[cold]
fn emit_readings<E>(
    term: Term<'_>,
    written: &Written<'_>,
    mut is_new: impl FnMut(Range<usize>) -> bool,
    emit: &mut impl FnMut(Term<'_>) -> Result<(), E>,
) -> Result<(), E> {
    emit(term)?;
    if let Some(name) = written.name {
        emit(Term { text: &name.to_ascii_lowercase(), colocated: true, ..term })?;
    }
    let parts = Parts::of(written.word);
    if parts.is_empty() || !is_new(0..term.text.len()) {
        return Ok(()); // a name that was here before had all its parts
    }
    parts.try_for_each(|part| if is_new(part.clone()) { emit(Term { text: &term.text[part], colocated: true, ..term }) } else { Ok(()) })
}

/// The valid pieces of a text with their offsets.
fn pieces<E>(text: &[u8], mut run: impl FnMut(&str, usize) -> Result<(), E>) -> Result<(), E> {
    if let Ok(text) = std::str::from_utf8(text) {
        return run(text, 0);
    }
    let mut start = 0;
    for chunk in text.utf8_chunks() {
        run(chunk.valid(), start)?;
        start += chunk.valid().len() + chunk.invalid().len();
    }
    Ok(())
}
