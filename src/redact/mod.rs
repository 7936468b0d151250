//! Finding secrets in a text and showing the text without them.
//!
//! Secrets are found in the *whole* text, before anything is cut out of it: [`Redacted::new`] runs one Aho-Corasick pass over the
//! literals of `rules/` and, where one occurs, the verifier that its row names. What a person reads is [`Redacted::masked`], what an
//! index may hold is [`Redacted::indexed`].
//!
//! Invariants: spans are sorted, disjoint, not empty and on character boundaries; masking twice changes nothing; every byte is looked
//! at a bounded number of times, whatever the text. Tested in `tests.rs` (cases, credential kinds, windows, step counts).

mod assign;
mod bare;
mod card;
mod command;
mod cookie;
mod custom;
mod detector;
mod find;
mod header;
mod iban;
mod jwk;
mod lines;
mod name;
mod pem;
mod personal;
mod position;
mod rules;
mod scan;
mod shapes;
mod url;
mod value;
mod verify;
mod visible;
mod wording;

#[cfg(test)]
pub(crate) mod tests;

use std::borrow::Cow;

pub(crate) use self::custom::Rules;
pub(crate) use self::detector::Detector;
use crate::tokenizer::{Token, Tokenizer};

/// Version of the rules. What is masked never enters an index, so this number is part of the index format.
pub(crate) const VERSION: u32 = 2;

/// What an index sees in place of a secret: one character that is part of no token.
const INDEX_MARK: char = '\u{1f}';

/// Start of every mask; the kind and `]` follow.
const MASK_OPEN: &str = "[redacted:";

/// One secret in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// First byte of the secret in the text.
    pub(crate) start: usize,
    /// First byte behind it.
    pub(crate) end: usize,
    /// What it is, as the mask names it: `github-token`, `password`.
    pub(crate) kind: &'static str,
}

impl Span {
    /// The characters that stand for this secret in a masked text.
    pub(crate) fn mask(&self) -> String {
        format!("{MASK_OPEN}{}]", self.kind)
    }

    /// Length of the mask in bytes, which are its characters too.
    pub(crate) fn mask_len(&self) -> usize {
        MASK_OPEN.len() + self.kind.len() + "]".len()
    }
}

/// A text with its secrets found.
#[derive(Clone, Debug)]
pub(crate) struct Redacted<'t> {
    text: &'t str,
    spans: Vec<Span>,
}

impl<'t> Redacted<'t> {
    /// Finds the secrets of `text` that this library knows, in time linear in its length.
    pub(crate) fn new(text: &'t str) -> Self {
        Self::with(Detector::standard(), text)
    }

    /// Finds the secrets of `text` that `detector` knows, in time linear in its length.
    pub(crate) fn with(detector: &Detector, text: &'t str) -> Self {
        Self { text, spans: find::secrets(detector, text) }
    }

    /// The secrets, in order.
    pub(crate) fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// The text as it was given, secrets included.
    pub(crate) fn text(&self) -> &'t str {
        self.text
    }

    /// The text with `[redacted:<kind>]` in place of each secret.
    pub(crate) fn masked(&self) -> Cow<'t, str> {
        self.replaced(|out, span| out.push_str(&span.mask()))
    }

    /// The text with one character in place of each secret that is part of no token: what goes into an index.
    pub(crate) fn indexed(&self) -> Cow<'t, str> {
        self.replaced(|out, _| out.push(INDEX_MARK))
    }

    /// The tokens of [`indexed`](Self::indexed) in order, with byte ranges of the original text, none of them inside a secret.
    ///
    /// An error of `emit` ends it and is handed back.
    pub(crate) fn tokens<E>(&self, tokenizer: Tokenizer, mut emit: impl FnMut(Token<'_>) -> Result<(), E>) -> Result<(), E> {
        for (start, gap) in self.gaps() {
            tokenizer
                .tokenize(gap.as_bytes(), |token| emit(Token { text: token.text, start: start + token.start, end: start + token.end }))?;
        }
        Ok(())
    }

    /// The pieces of the text between the secrets, each with its offset.
    pub(crate) fn gaps(&self) -> impl Iterator<Item = (usize, &'t str)> {
        let starts = std::iter::once(0).chain(self.spans.iter().map(|span| span.end));
        let ends = self.spans.iter().map(|span| span.start).chain(std::iter::once(self.text.len()));
        starts.zip(ends).map(|(start, end)| (start, &self.text[start..end]))
    }

    fn replaced(&self, mut replace: impl FnMut(&mut String, &Span)) -> Cow<'t, str> {
        if self.spans.is_empty() {
            return Cow::Borrowed(self.text);
        }
        let mut out = String::with_capacity(self.text.len());
        let mut spans = self.spans.iter();
        for (_, gap) in self.gaps() {
            out.push_str(gap);
            if let Some(span) = spans.next() {
                replace(&mut out, span);
            }
        }
        Cow::Owned(out)
    }
}

/// `text` with its secrets masked: `Redacted::new(text).masked()`.
pub(crate) fn redact(text: &str) -> Cow<'_, str> {
    Redacted::new(text).masked()
}
