//! Text to tokens: the words of every script, folded so that a person finds them however they type them.
//!
//! A token carries its folded text and the bytes of the original that it came from. Invariants, for any input bytes:
//! tokens are non-empty, their ranges are monotone, disjoint and on character boundaries, the tokens of a token's text are that token
//! alone, and the four Unicode normal forms of a text have the same token texts. Time is linear, no input is refused.
//!
//! The rules, with examples that run, are in `docs/tokenizer.md`. [`words`] finds the tokens, [`fold`] looks characters up in
//! [`table`], which `tests/unicode_table.rs` generates and proves. Tested in `tests.rs` beside this file with `tests/data/tokens.txt`.

mod fold;
mod options;
mod table;
#[cfg(test)]
mod tests;
mod words;

use words::Words;

/// Version of the token rules. It is part of the index format: any change of tokens, a new Unicode version included, raises it.
pub(crate) const VERSION: u32 = 1;

/// One token of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    /// The folded text: what the index holds. Never empty, at most 32,768 bytes, as FTS5 cuts longer ones.
    pub text: &'a str,
    /// First byte of the token in the original text.
    pub start: usize,
    /// The byte after its last one. One character can be several tokens (`㍿` is 株 式 会 社): all but the first are then
    /// empty ranges behind it.
    pub end: usize,
}

/// Cuts texts into tokens. The default finds words and removes diacritics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) struct Tokenizer {
    keep_diacritics: bool,
}

impl Tokenizer {
    /// Calls `emit` for each token of `text`, in order. Any bytes are accepted: invalid UTF-8 and NUL separate words.
    ///
    /// Stops at the first error of `emit` and returns it.
    pub(crate) fn tokenize<E>(self, text: &[u8], emit: impl FnMut(Token<'_>) -> Result<(), E>) -> Result<(), E> {
        let mut words = Words::new(self.keep_diacritics, emit);
        if let Ok(text) = std::str::from_utf8(text) {
            return words.run(text, 0);
        }
        let mut start = 0;
        for chunk in text.utf8_chunks() {
            words.run(chunk.valid(), start)?;
            start += chunk.valid().len() + chunk.invalid().len();
        }
        Ok(())
    }
}
