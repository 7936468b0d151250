//! Finds the words of a text: a fast path over ASCII ([`ascii`]), and a machine that is fed one character at a time.
//!
//! The machine works as if the text were in NFKD, whatever its form: a character's [`Entry`] is what its decomposition would have come
//! to, so that all normal forms of a text take the same path. Tested in `tests` beside this file.

use super::fold::{self, Class, Entry};
use super::names::Written;
use super::{Diacritics, MAX_TOKEN_BYTES};

mod ascii;
mod marks;

/// The token for punctuation between two characters that are a token each: it keeps them from being one phrase.
const BREAK: &str = "。";

/// A token.
pub(super) struct Found<'a> {
    /// The folded text.
    pub(super) word: &'a str,
    /// Where further readings come from.
    pub(super) more: Option<&'a Written<'a>>,
    pub(super) start: usize,
    pub(super) end: usize,
}

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

/// What the last token was, the open one included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    /// A word, or none.
    Other,
    /// A single character.
    Single,
    /// A single character, and punctuation since.
    Broken,
}

/// Builds the tokens of one text, which can come in pieces: each piece ends its last token.
pub(super) struct Words<F> {
    diacritics: Diacritics,
    emit: F,
    /// Every character is a token, punctuation too.
    each_character: bool,
    open: Open,
    /// The open token, folded, without `marks`.
    text: String,
    /// Marks after the last character of `text`, with their combining classes, in the order of the input.
    marks: Vec<(u8, char)>,
    /// The last letter of the open word is Cyrillic.
    cyrillic: bool,
    last: Last,
    start: usize,
    end: usize,
}

impl<F, E> Words<F>
where
    F: FnMut(Found<'_>) -> Result<(), E>,
{
    pub(super) fn new(diacritics: Diacritics, emit: F) -> Self {
        Self {
            diacritics,
            emit,
            each_character: false,
            open: Open::Nothing,
            text: String::new(),
            marks: Vec::new(),
            cyrillic: false,
            last: Last::Other,
            start: 0,
            end: 0,
        }
    }

    /// Emits the words of `text`, which stands at byte `offset` of the whole.
    pub(super) fn run(&mut self, text: &str, offset: usize) -> Result<(), E> {
        self.last = Last::Other;
        let bytes = text.as_bytes();
        let mut at = 0;
        loop {
            let gap = at;
            while bytes.get(at).is_some_and(|&byte| ascii::separates(byte)) {
                at += 1;
            }
            if self.last != Last::Other {
                self.look_at_gap(&bytes[gap..at]);
            }
            match bytes.get(at) {
                Some(0x80..) => at = self.characters(text, at, offset)?,
                Some(_) => at = self.ascii_word(text, at, offset)?,
                None => break,
            }
        }
        self.close()
    }

    /// Only behind a single character does it matter what stands there. A control character, such as the one that an index has for a
    /// secret, begins anew.
    fn look_at_gap(&mut self, gap: &[u8]) {
        if gap.iter().any(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace()) {
            self.last = Last::Other;
        } else if gap.iter().any(u8::is_ascii_punctuation) {
            self.last = Last::Broken;
        }
    }

    /// Emits each character of `text`, which stands at byte `offset` of the whole. What is between two pieces is a space.
    pub(super) fn run_characters(&mut self, text: &str, offset: usize) -> Result<(), E> {
        self.each_character = true;
        if offset > 0 {
            self.begin(Open::Single, ' ', offset, offset)?;
        }
        for (at, character) in text.char_indices() {
            self.feed(character, fold::lookup(character), offset + at, offset + at + character.len_utf8())?;
        }
        self.close()
    }

    /// Takes characters from `start` on until the fast path can take over. Returns where.
    fn characters(&mut self, text: &str, start: usize, offset: usize) -> Result<usize, E> {
        let mut at = start;
        let mut next = character_at(text, at);
        while let Some((character, entry)) = next {
            // Nothing in ASCII continues these.
            if at > start && character.is_ascii() && matches!(self.open, Open::Nothing | Open::Single | Open::Flag) {
                self.close()?;
                return Ok(at);
            }
            let end = at + character.len_utf8();
            next = character_at(text, end);
            if entry.is_plain_single() && !next.is_some_and(|(_, next)| next.may_join()) {
                self.single(&text[at..end], offset + at, offset + end)?;
            } else {
                self.feed(character, entry, offset + at, offset + end)?;
            }
            at = end;
        }
        Ok(at)
    }

    /// A character that is a token as it stands: nothing is copied.
    #[inline]
    fn single(&mut self, text: &str, start: usize, end: usize) -> Result<(), E> {
        self.close()?;
        self.open_at(Open::Single, start)?;
        self.open = Open::Nothing;
        self.end = end;
        (self.emit)(Found { word: text, more: None, start: self.start, end })
    }

    /// Takes one character of the input, of bytes `start..end`.
    #[inline]
    fn feed(&mut self, character: char, entry: Entry, start: usize, end: usize) -> Result<(), E> {
        let stands_for_more = matches!(entry.class(), Class::Separator | Class::Expansion);
        let spelled = if self.each_character && stands_for_more { fold::spelled(character) } else { None };
        let keeps = entry.is_marked() && self.keeps_diacritics_of(character);
        let parts = match spelled {
            Some(parts) => parts,
            None if keeps => fold::kept(character),
            None if entry.class() == Class::Expansion => entry.expansion(),
            None => return self.push(entry.folded(character), entry, start, end),
        };
        for part in parts.chars() {
            let entry = fold::lookup(part);
            if keeps && entry.class() == Class::Diacritic {
                self.mark(part, entry.combining_class(), start, end)?;
            } else {
                self.push(part, entry, start, end)?;
            }
        }
        Ok(())
    }

    fn keeps_diacritics_of(&self, character: char) -> bool {
        match self.diacritics {
            Diacritics::Keep => true,
            Diacritics::Remove => false,
            Diacritics::RemoveSingle => {
                fold::kept(character).chars().filter(|&part| fold::lookup(part).class() == Class::Diacritic).count() > 1
            }
        }
    }

    /// Takes one folded character that came of bytes `start..end`.
    #[inline]
    fn push(&mut self, character: char, entry: Entry, start: usize, end: usize) -> Result<(), E> {
        match entry.class() {
            Class::Separator | Class::Apostrophe | Class::Letter | Class::Expansion if self.each_character => {
                let character = match entry.class() {
                    Class::Apostrophe => '\'',
                    Class::Separator if character.is_whitespace() || character.is_control() => ' ',
                    _ => character,
                };
                self.begin(Open::Single, character, start, end)?;
            }
            Class::Separator => {
                self.close()?;
                self.break_phrase(entry.breaks());
            }
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
            Class::Diacritic if self.diacritics != Diacritics::Keep => self.removed_mark(character, end)?,
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
                    self.close()?;
                    self.break_phrase(true);
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn begin(&mut self, open: Open, character: char, start: usize, end: usize) -> Result<(), E> {
        self.close()?;
        self.open_at(open, start)?;
        self.append(character, end);
        Ok(())
    }

    fn break_phrase(&mut self, breaks: bool) {
        if breaks && self.last == Last::Single {
            self.last = Last::Broken;
        }
    }

    #[inline]
    fn open_at(&mut self, open: Open, start: usize) -> Result<(), E> {
        // A character that stands for several tokens gives its bytes to the first.
        let start = start.max(self.end);
        let is_single = matches!(open, Open::Single | Open::Flag);
        if self.last == Last::Broken && is_single {
            self.text.push_str(BREAK);
            (self.start, self.end) = (self.end, start);
            self.emit_text(None)?;
        }
        self.last = if is_single { Last::Single } else { Last::Other };
        self.open = open;
        self.start = start;
        self.end = start;
        Ok(())
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
        self.emit_text(None)
    }

    /// Emits what is in `text`. Not inlined, so that the words that need no copy have the short way.
    #[inline(never)]
    fn emit_text(&mut self, more: Option<&Written<'_>>) -> Result<(), E> {
        let result = (self.emit)(Found { word: &self.text, more, start: self.start, end: self.end });
        self.text.clear();
        result
    }
}

/// The character at a boundary of the text, with its entry.
#[inline]
fn character_at(text: &str, at: usize) -> Option<(char, Entry)> {
    let character = text.get(at..)?.chars().next()?;
    Some((character, fold::lookup(character)))
}
