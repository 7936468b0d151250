//! Texts cut into every three characters in a row, for finding any part of a word in any script.
//!
//! A character is a letter with the marks that it keeps, folded as in `words` mode; punctuation stays, white space and controls are a
//! space. The last two characters of a text begin shorter tokens of their own, so that one or two characters are found anywhere as the
//! beginning of a token. A query has no such tails: it is the phrase of its triples, or one short token. Tested in `tests` beside it.

use super::words::Found;
use super::{MAX_TOKEN_BYTES, Purpose};

const SIZE: usize = 3;

/// Builds the triples of one text from its characters.
pub(super) struct Trigrams<F> {
    purpose: Purpose,
    emit: F,
    /// The characters of `window`, one behind the other.
    text: String,
    window: Vec<Unit>,
    emitted: bool,
}

struct Unit {
    bytes: usize,
    start: usize,
    end: usize,
}

impl<F, E> Trigrams<F>
where
    F: FnMut(Found<'_>) -> Result<(), E>,
{
    pub(super) fn new(purpose: Purpose, emit: F) -> Self {
        Self { purpose, emit, text: String::new(), window: Vec::with_capacity(SIZE), emitted: false }
    }

    /// Takes the next character.
    pub(super) fn push(&mut self, unit: &Found<'_>) -> Result<(), E> {
        // A letter can have any number of marks.
        let bytes = unit.word.floor_char_boundary(MAX_TOKEN_BYTES / SIZE);
        self.text.push_str(&unit.word[..bytes]);
        self.window.push(Unit { bytes, start: unit.start, end: unit.end });
        if self.window.len() < SIZE { Ok(()) } else { self.shift() }
    }

    /// Emits what is shorter than three characters.
    pub(super) fn finish(&mut self) -> Result<(), E> {
        let has_tails = self.purpose == Purpose::Text;
        while !self.window.is_empty() && (has_tails || !self.emitted) {
            self.shift()?;
        }
        Ok(())
    }

    /// Emits the characters in the window and drops the first.
    fn shift(&mut self) -> Result<(), E> {
        self.emitted = true;
        let (Some(first), Some(last)) = (self.window.first(), self.window.last()) else { return Ok(()) };
        let found = Found { word: &self.text, more: None, start: first.start, end: last.end };
        (self.emit)(found)?;
        self.text.drain(..first.bytes);
        self.window.remove(0);
        Ok(())
    }
}
