//! Marks: which of them stay in a token, in which order, and what they compose to.
//!
//! As canonical equivalence wants it, so that composed and decomposed texts end in the same tokens.

use super::{Found, Open, Words, fold};

/// The one diacritic that is looked at before it is removed: й is a letter of its own, и with U+0306.
const BREVE: char = '\u{306}';

impl<F, E> Words<F>
where
    F: FnMut(Found<'_>) -> Result<(), E>,
{
    /// A mark that stays. Without anything before it, it is a token of its own.
    pub(super) fn mark(&mut self, mark: char, combining_class: u8, start: usize, end: usize) -> Result<(), E> {
        if matches!(self.open, Open::Nothing | Open::Apostrophe) {
            self.close()?;
            self.open_at(Open::Single, start)?;
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
    pub(super) fn removed_mark(&mut self, mark: char, end: usize) -> Result<(), E> {
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
    pub(super) fn settle_marks(&mut self) {
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
    pub(super) fn compose_last(&mut self, mark: char) -> bool {
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
}
