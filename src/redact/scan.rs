//! A text while its secrets are looked for: what a verifier may ask of it, and what it remembers.
//!
//! Invariant: no verifier walks over the same bytes again and again. Runs of an alphabet are remembered ([`Scan::run`]), everything else
//! looks a fixed number of bytes far. Tests count the steps.

use std::ops::Range;

use super::find::{Evidence, Found};
use super::pem::OpenKey;
use super::rules::Rule;
use super::{MASK_OPEN, Span};

/// Characters that a token is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alphabet {
    /// `A-Z a-z 0-9`
    Alnum,
    /// alphanumeric and `_`
    Word,
    /// base64url: alphanumeric, `_` and `-`
    Url64,
    /// base64url and `.`
    Dotted,
    /// base64 with its padding: alphanumeric, `+`, `/` and `=`
    Base64,
    /// token68 of HTTP and what is percent-encoded in it
    Token68,
    /// hexadecimal digits
    Hex,
    /// `0-9`
    Digit,
    /// what secrets of Entra applications are made of: alphanumeric, `_`, `~`, `.` and `-`
    Entra,
    /// hashes of `crypt(3)` with their parameters
    Crypt,
}

const ALPHABETS: usize = 10;

impl Alphabet {
    pub(super) fn has(self, byte: u8) -> bool {
        match self {
            Self::Hex => return byte.is_ascii_hexdigit(),
            Self::Digit => return byte.is_ascii_digit(),
            _ => {}
        }
        byte.is_ascii_alphanumeric()
            || match self {
                Self::Alnum | Self::Hex | Self::Digit => false,
                Self::Entra => matches!(byte, b'_' | b'~' | b'.' | b'-'),
                Self::Crypt => matches!(byte, b'$' | b'.' | b'/' | b'+' | b'=' | b',' | b'-' | b'*'),
                Self::Word => byte == b'_',
                Self::Url64 => matches!(byte, b'_' | b'-'),
                Self::Dotted => matches!(byte, b'_' | b'-' | b'.'),
                Self::Base64 => matches!(byte, b'+' | b'/' | b'='),
                Self::Token68 => matches!(byte, b'_' | b'-' | b'.' | b'~' | b'+' | b'/' | b'=' | b'%'),
            }
    }
}

/// A text while its secrets are looked for.
pub(super) struct Scan<'t> {
    pub(super) text: &'t str,
    pub(super) bytes: &'t [u8],
    pub(super) found: Vec<Found>,
    /// The last run of each alphabet.
    runs: [Range<usize>; ALPHABETS],
    /// The last run of URL characters and the last `@` in it.
    pub(super) url: (Range<usize>, Option<usize>),
    /// Up to here `eyJ` can begin no token: the first part is known to stand alone.
    pub(super) no_jwt_before: usize,
    /// The last BEGIN of a private key, until its END comes.
    pub(super) open_key: Option<OpenKey>,
    /// End of the last marker of a private key: what stands before it belongs to no later END.
    pub(super) no_key_before: usize,
    /// Up to here the members of a JSON Web Key have been looked for.
    pub(super) jwk_end: usize,
    /// End of the last command line, and of the last header with cookies, that has been read.
    pub(super) command_end: usize,
    pub(super) cookie_end: usize,
    /// End of the last mask that the text came with.
    mask_end: usize,
    /// End of the last find that rests on context.
    context_end: usize,
    #[cfg(test)]
    pub(super) steps: usize,
}

impl<'t> Scan<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            found: Vec::new(),
            runs: [const { 0..0 }; ALPHABETS],
            url: (0..0, None),
            no_jwt_before: 0,
            open_key: None,
            no_key_before: 0,
            jwk_end: 0,
            command_end: 0,
            cookie_end: 0,
            mask_end: 0,
            context_end: 0,
            #[cfg(test)]
            steps: 0,
        }
    }

    /// The byte at `at`; behind the end a zero, which no alphabet has.
    pub(super) fn byte(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    /// The byte `back` bytes before `at`; before the beginning a zero.
    pub(super) fn before(&self, at: usize, back: usize) -> u8 {
        at.checked_sub(back).map_or(0, |i| self.byte(i))
    }

    /// The text from `at` on, or nothing where `at` is no place in it.
    pub(super) fn rest(&self, at: usize) -> &'t [u8] {
        self.bytes.get(at..).unwrap_or_default()
    }

    /// The bytes of a range, or nothing where it is none of the text.
    pub(super) fn slice(&self, range: Range<usize>) -> &'t [u8] {
        self.bytes.get(range).unwrap_or_default()
    }

    /// Counts `n` bytes as looked at.
    #[cfg(test)]
    pub(super) fn tick(&mut self, n: usize) {
        self.steps += n;
    }

    /// Only tests count.
    #[cfg(not(test))]
    #[expect(clippy::unused_self)]
    pub(super) fn tick(&mut self, _: usize) {}

    /// End of the run of `alphabet` that begins at `from` (`from` itself if there is none).
    ///
    /// The last run is remembered: asking for every position of one run costs one walk.
    pub(super) fn run(&mut self, alphabet: Alphabet, from: usize) -> usize {
        let known = self.runs[alphabet as usize].clone();
        if known.contains(&from) {
            return known.end;
        }
        let mut end = from;
        while alphabet.has(self.byte(end)) {
            if end == known.start && !known.is_empty() {
                end = known.end;
                break;
            }
            end += 1;
            self.tick(1);
        }
        self.runs[alphabet as usize] = from..end;
        end
    }

    /// Whether a token may begin at `at`: not in the middle of a word, but right behind an escape that ends in a letter.
    pub(super) fn border(&self, at: usize) -> bool {
        let last = self.before(at, 1);
        if !(last.is_ascii_alphanumeric() || last == b'_') {
            return true;
        }
        let hex = |back: usize| self.before(at, back).is_ascii_hexdigit();
        let escaped_char = matches!(last, b'n' | b't' | b'r') && self.before(at, 2) == b'\\';
        let percent = self.before(at, 3) == b'%' && hex(1) && hex(2);
        let unicode = self.before(at, 6) == b'\\' && self.before(at, 5) == b'u' && (1..=4).all(hex);
        escaped_char || percent || unicode || self.colour_ends(at)
    }

    /// Whether `at` lies in a block of base64, as far as the bytes before it tell: a picture has every beginning of a token in it.
    pub(super) fn in_base64(&self, at: usize) -> bool {
        // On the same line so much of it, on the line above a line of the usual width.
        let (line, enough) = match (self.before(at, 1), self.before(at, 2)) {
            (b'/' | b'+', _) => (at, 40),
            (b'\n', b'\r') => (at - 2, 60),
            (b'\n', _) => (at - 1, 60),
            _ => return false,
        };
        let start = |line: usize| self.before(line, 1) == b'\n';
        let before = line - (1..=enough).take_while(|back| Alphabet::Base64.has(self.before(line, *back))).count();
        // A line that has just begun goes on with the one above.
        line - before == enough || (line == at && start(before) && self.in_base64(before))
    }

    /// Whether a terminal's colour code (`ESC [ 1 ; 31 m`, the ESC in any dress) ends at `at`.
    fn colour_ends(&self, at: usize) -> bool {
        let parameters = |back: &usize| matches!(self.before(at, *back), b'0'..=b'9' | b';');
        self.before(at, 1) == b'm' && self.before(at, (2..12).find(|back| !parameters(back)).unwrap_or(12)) == b'['
    }

    /// Notes a secret. An empty range is none.
    pub(super) fn found(&mut self, range: Range<usize>, kind: &'static str, evidence: Evidence) {
        if range.is_empty() {
            return;
        }
        if evidence == Evidence::Context {
            self.context_end = self.context_end.max(range.end);
        }
        self.found.push(Found { span: Span { start: range.start, end: range.end, kind }, evidence });
    }

    /// Whether `at` lies in or before what context has already shown to be secret.
    pub(super) fn covered(&self, at: usize) -> bool {
        at < self.context_end
    }

    /// End of the last mask that the text came with, before the literal that is being looked at.
    pub(super) fn mask_end(&self) -> usize {
        self.mask_end
    }

    /// Whether `at` lies in a mask that the text came with; notes such a mask where one begins.
    pub(super) fn in_mask(&mut self, rule: &Rule, hit: &Range<usize>) -> bool {
        if rule.literal == MASK_OPEN {
            let kind = self.rest(hit.end).iter().take(40).take_while(|b| b.is_ascii_alphanumeric() || **b == b'-').count();
            if kind > 0 && self.byte(hit.end + kind) == b']' {
                self.mask_end = hit.end + kind + 1;
            }
        }
        hit.start < self.mask_end
    }
}
