//! Finds the words of a text: a fast path over ASCII, and a machine that is fed one character at a time.
//!
//! The machine works as if the text were in NFKD, whatever its form: a character's [`Entry`] is what its decomposition would have come
//! to, so that all normal forms of a text take the same path. Tested in `tests.rs` beside this file.

use super::Token;
use super::fold::{self, Class, Entry};

/// FTS5 cuts longer tokens at this byte; done here, the cut is between characters.
const MAX_TOKEN_BYTES: usize = 32_768;

/// The one diacritic that is looked at before it is removed: й is a letter of its own, и with U+0306.
const BREVE: char = '\u{306}';

/// What the token being built can still take in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    /// There is no token.
    Nothing,
    /// Letters and marks.
    Word,
    /// A Cyrillic letter, after a Cyrillic letter and an apostrophe.
    Apostrophe,
    /// Marks.
    Single,
    /// The other half of a flag.
    Flag,
}

/// Builds the tokens of one text, which can come in pieces: each piece ends its last token.
pub(super) struct Words<F> {
    keep_diacritics: bool,
    emit: F,
    open: Open,
    /// The open token, folded, without `marks`.
    text: String,
    /// Marks after the last character of `text`, with their combining classes, in the order of the input.
    marks: Vec<(u8, char)>,
    /// The last letter of the open word is Cyrillic.
    cyrillic: bool,
    start: usize,
    end: usize,
}

impl<F, E> Words<F>
where
    F: FnMut(Token<'_>) -> Result<(), E>,
{
    pub(super) fn new(keep_diacritics: bool, emit: F) -> Self {
        Self { keep_diacritics, emit, open: Open::Nothing, text: String::new(), marks: Vec::new(), cyrillic: false, start: 0, end: 0 }
    }

    /// Emits the tokens of `text`, which stands at byte `offset` of the whole.
    pub(super) fn run(&mut self, text: &str, offset: usize) -> Result<(), E> {
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let kind = BYTES[usize::from(byte)];
            if kind == 0 {
                at += 1;
            } else if kind == NOT_ASCII {
                at = self.characters(text, at, offset)?;
            } else {
                at = self.ascii_word(text, at, offset)?;
            }
        }
        self.close()
    }

    /// Emits the ASCII word at `start`, or hands it over if it goes on in other letters. Returns the end.
    fn ascii_word(&mut self, text: &str, start: usize, offset: usize) -> Result<usize, E> {
        let bytes = text.as_bytes();
        let mut end = start;
        let mut seen = 0;
        let after = loop {
            let kind = bytes.get(end).map_or(0, |&byte| BYTES[usize::from(byte)]);
            if kind & WORD == 0 {
                break kind;
            }
            seen |= kind;
            end += 1;
        };
        if after == NOT_ASCII {
            return self.characters(text, start, offset);
        }
        // All ASCII: every byte is a character boundary.
        let mut word = &text[start..end.min(start + MAX_TOKEN_BYTES)];
        if seen & UPPER != 0 {
            self.text.clear();
            self.text.push_str(word);
            self.text.make_ascii_lowercase();
            word = &self.text;
        }
        self.end = offset + end;
        let result = (self.emit)(Token { text: word, start: offset + start, end: self.end });
        self.text.clear();
        result.map(|()| end)
    }

    /// Feeds characters from `start` on until the fast path can take over. Returns where.
    fn characters(&mut self, text: &str, start: usize, offset: usize) -> Result<usize, E> {
        // A boundary: `start` is 0 or follows whole characters.
        for (at, character) in text[start..].char_indices() {
            // Nothing in ASCII continues these.
            if at > 0 && character.is_ascii() && matches!(self.open, Open::Nothing | Open::Single | Open::Flag) {
                self.close()?;
                return Ok(start + at);
            }
            let from = offset + start + at;
            self.feed(character, from, from + character.len_utf8())?;
        }
        Ok(text.len())
    }

    /// Takes one character of the input, of bytes `start..end`.
    #[inline]
    fn feed(&mut self, character: char, start: usize, end: usize) -> Result<(), E> {
        let entry = fold::lookup(character);
        let parts = if self.keep_diacritics && entry.is_marked() {
            fold::kept(character)
        } else if entry.class() == Class::Expansion {
            entry.expansion()
        } else {
            return self.push(entry.folded(character), entry, start, end);
        };
        for part in parts.chars() {
            self.push(part, fold::lookup(part), start, end)?;
        }
        Ok(())
    }

    /// Takes one folded character that came of bytes `start..end`.
    #[inline]
    fn push(&mut self, character: char, entry: Entry, start: usize, end: usize) -> Result<(), E> {
        match entry.class() {
            Class::Separator => return self.close(),
            Class::Ignored => self.extend(end),
            // An expansion comes here only as æ, œ or þ, kept whole.
            Class::Letter | Class::Expansion => {
                if self.open == Open::Word || (self.open == Open::Apostrophe && entry.is_cyrillic()) {
                    self.open = Open::Word;
                    self.append(character, end);
                } else {
                    self.begin(Open::Word, character, start, end)?;
                }
                self.cyrillic = entry.is_cyrillic();
            }
            Class::Single => self.begin(Open::Single, character, start, end)?,
            Class::Flag => {
                if self.open == Open::Flag {
                    self.open = Open::Single;
                    self.append(character, end);
                } else {
                    self.begin(Open::Flag, character, start, end)?;
                }
            }
            Class::Diacritic if !self.keep_diacritics => self.removed_mark(character, end)?,
            Class::Mark | Class::Diacritic => self.mark(character, entry.combining_class(), start, end)?,
            Class::Jamo => {
                if self.compose_last(character) {
                    self.extend(end);
                } else {
                    self.begin(Open::Single, character, start, end)?;
                }
            }
            Class::Apostrophe => {
                if self.open == Open::Word && self.cyrillic {
                    self.open = Open::Apostrophe;
                } else {
                    return self.close();
                }
            }
        }
        Ok(())
    }

    /// A mark that stays. Without anything before it, it is a token of its own.
    fn mark(&mut self, mark: char, combining_class: u8, start: usize, end: usize) -> Result<(), E> {
        if matches!(self.open, Open::Nothing | Open::Apostrophe) {
            self.close()?;
            self.open_at(Open::Single, start);
        }
        if combining_class > 0 {
            self.marks.push((combining_class, mark));
        } else if !self.compose_last(mark) {
            self.text.push(mark);
        }
        self.extend(end);
        Ok(())
    }

    /// A mark that goes: only its bytes belong to the token.
    fn removed_mark(&mut self, mark: char, end: usize) -> Result<(), E> {
        if self.open == Open::Apostrophe {
            self.close()?;
        }
        if mark == BREVE {
            self.replace_last(mark);
        }
        self.extend(end);
        Ok(())
    }

    #[inline]
    fn settle_marks(&mut self) {
        if !self.marks.is_empty() {
            self.append_marks();
        }
    }

    /// Sorts the waiting marks as canonical equivalence wants it, composes what can be and appends the rest.
    fn append_marks(&mut self) {
        self.marks.sort_by_key(|&(class, _)| class);
        if let Some(mut base) = self.text.pop() {
            // A mark before it of its own class keeps a mark from composing.
            let mut blocked = 0;
            self.marks.retain(|&(class, mark)| match fold::compose(base, mark) {
                Some(composed) if class != blocked => {
                    base = composed;
                    false
                }
                _ => {
                    blocked = class;
                    true
                }
            });
            self.text.push(base);
        }
        self.text.extend(self.marks.drain(..).map(|(_, mark)| mark));
    }

    /// Composes `mark` with the end of the open token; false if they don't.
    fn compose_last(&mut self, mark: char) -> bool {
        self.settle_marks();
        self.replace_last(mark)
    }

    /// Composes `mark` with the character before any waiting marks; false if they don't.
    fn replace_last(&mut self, mark: char) -> bool {
        let Some(composed) = self.text.chars().next_back().and_then(|last| fold::compose(last, mark)) else {
            return false;
        };
        self.text.pop();
        self.text.push(composed);
        true
    }

    #[inline]
    fn begin(&mut self, open: Open, character: char, start: usize, end: usize) -> Result<(), E> {
        self.close()?;
        self.open_at(open, start);
        self.append(character, end);
        Ok(())
    }

    #[inline]
    fn open_at(&mut self, open: Open, start: usize) {
        self.open = open;
        // A character that stands for several tokens gives its bytes to the first.
        self.start = start.max(self.end);
        self.end = self.start;
    }

    #[inline]
    fn append(&mut self, character: char, end: usize) {
        self.settle_marks();
        self.text.push(character);
        self.end = end;
    }

    /// The open token, if any, reaches to `end`.
    fn extend(&mut self, end: usize) {
        if !matches!(self.open, Open::Nothing | Open::Apostrophe) {
            self.end = end;
        }
    }

    /// Emits the open token, if any.
    #[inline]
    fn close(&mut self) -> Result<(), E> {
        if self.open == Open::Nothing {
            return Ok(());
        }
        self.open = Open::Nothing;
        self.settle_marks();
        while self.text.len() > MAX_TOKEN_BYTES {
            self.text.pop();
        }
        let result = (self.emit)(Token { text: &self.text, start: self.start, end: self.end });
        self.text.clear();
        result
    }
}

/// What a byte is to the fast path: 0 separates. The apostrophe does too, it is never inside a word of ASCII.
const BYTES: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < table.len() {
        table[byte] = match byte {
            0x80.. => NOT_ASCII,
            0x41..=0x5A => WORD | UPPER,
            0x30..=0x39 | 0x61..=0x7A => WORD,
            _ => 0,
        };
        byte += 1;
    }
    table
};
const WORD: u8 = 1;
const UPPER: u8 = 2;
const NOT_ASCII: u8 = 4;
