//! Words of ASCII letters and digits, which are found a byte at a time and mostly need no copy.

use std::ops::Range;

use super::super::MAX_TOKEN_BYTES;
use super::super::names::{self, Written};
use super::fold::{self, Class};
use super::{Found, Last, Words};

impl<F, E> Words<F>
where
    F: FnMut(Found<'_>) -> Result<(), E>,
{
    /// Emits the ASCII word at `start`, or hands it over if it goes on in other letters. Returns the end.
    #[inline]
    pub(super) fn ascii_word(&mut self, text: &str, start: usize, offset: usize) -> Result<usize, E> {
        let bytes = text.as_bytes();
        let Scanned { end, has_upper, has_inner_upper } = scan(bytes, start);
        let after = bytes.get(end).copied().unwrap_or(b' ');
        if !after.is_ascii() && continues_word(&text[end..]) {
            return self.characters(text, start, offset);
        }
        self.last = Last::Other;
        // All ASCII: every byte is a character boundary.
        let word = &text[start..end.min(start + MAX_TOKEN_BYTES)];
        if !has_upper && !matches!(after, b'+' | b'#') && word != "net" {
            self.end = offset + end;
            return (self.emit)(Found { word, more: None, start: offset + start, end: self.end }).map(|()| end);
        }
        self.text.push_str(word);
        self.text.make_ascii_lowercase();
        let name = names::with_symbol(bytes, start, end);
        let Range { start, end } = name.clone().unwrap_or(start..end);
        let name = name.map(|name| &text[name]);
        let written = Written { word, name };
        let more = (has_inner_upper || written.name.is_some()).then_some(&written);
        (self.start, self.end) = (offset + start, offset + end);
        self.emit_text(more)?;
        Ok(end)
    }
}

/// Where an ASCII word ends, and whether it has capitals, and others than the first letter.
struct Scanned {
    end: usize,
    has_upper: bool,
    has_inner_upper: bool,
}

/// Reads the word at `start`, eight bytes at a time: a loop over single bytes would guess the length of every word wrong.
#[inline]
fn scan(bytes: &[u8], start: usize) -> Scanned {
    let mut scanned = Scanned { end: start, has_upper: false, has_inner_upper: false };
    let mut rest = bytes.get(start..).unwrap_or_default();
    while let Some((eight, behind)) = rest.split_first_chunk() {
        let Eight { word, upper } = Eight::of(u64::from_le_bytes(*eight));
        let stop = !word & HIGH;
        // The bits below the first byte that is not of the word.
        let upper = upper & stop.wrapping_sub(1) & !stop;
        if upper != 0 {
            scanned.has_inner_upper |= scanned.end > start || upper > 0xFF;
            scanned.has_upper = true;
        }
        if stop != 0 {
            scanned.end += stop.trailing_zeros() as usize / 8;
            return scanned;
        }
        scanned.end += 8;
        rest = behind;
    }
    while let Some(&byte) = bytes.get(scanned.end).filter(|byte| byte.is_ascii_alphanumeric()) {
        scanned.has_inner_upper |= byte.is_ascii_uppercase() && scanned.end > start;
        scanned.has_upper |= byte.is_ascii_uppercase();
        scanned.end += 1;
    }
    scanned
}

/// Eight bytes, looked at together: the highest bit of each says that it is a letter or digit, or a capital.
struct Eight {
    word: u64,
    upper: u64,
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x80 * ONES;

impl Eight {
    #[inline]
    fn of(bytes: u64) -> Self {
        let low = bytes & !HIGH;
        // Adding reaches the highest bit from `first` on, and from behind `last` on.
        let within = |low: u64, first: u8, last: u8| (low + ONES * u64::from(0x80 - first)) & !(low + ONES * u64::from(0x7F - last));
        let letters = within(low | (0x20 * ONES), b'a', b'z');
        let word = (letters | within(low, b'0', b'9')) & !bytes & HIGH;
        // Capitals are letters without the bit 0x20, which digits have.
        Self { word, upper: word & !(bytes << 2) }
    }
}

/// Does the word before this text go on in it?
fn continues_word(text: &str) -> bool {
    let class = text.chars().next().map_or(Class::Separator, |next| fold::lookup(next).class());
    !matches!(class, Class::Separator | Class::Single | Class::Flag)
}

/// Is this byte neither of an ASCII word nor of a character beyond ASCII? The apostrophe separates too, it is never inside a word of ASCII.
#[inline]
pub(super) fn separates(byte: u8) -> bool {
    SEPARATES[usize::from(byte)]
}

const SEPARATES: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 0x80 {
        table[byte as usize] = !byte.is_ascii_alphanumeric();
        byte += 1;
    }
    table
};
