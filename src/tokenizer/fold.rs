//! What a character is to the tokenizer and what it folds to: one lookup in the generated [`table`](super::table).
//!
//! Everything that is said here of a character was decided by `tests/unicode_table.rs`, which compares [`lookup`] with the Unicode
//! crates for every code point.

use super::table::{COMPOSE, ENTRIES, EXPANSION_ENDS, EXPANSIONS, KEPT, PAGE_BITS, PAGES, SPELLED};

/// How a character takes part in tokens. The discriminants are stored in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// Ends a token.
    Separator = 0,
    /// Vanishes and separates nothing: soft hyphen, joiners, variation selectors, skin tones.
    Ignored = 1,
    /// Forms words: letters and numbers of the scripts that put spaces between words.
    Letter = 2,
    /// A token of its own: an ideograph, kana, syllable or letter of a script without spaces, or an emoji.
    Single = 3,
    /// Half a flag: two in a row are one token.
    Flag = 4,
    /// A mark that belongs to the word, such as an Indic vowel sign.
    Mark = 5,
    /// A mark that is removed unless diacritics are kept.
    Diacritic = 6,
    /// A Hangul vowel or final: joins the syllable before it, else it is a token of its own.
    Jamo = 7,
    /// Separates, but not two Cyrillic letters: п'ять is one word.
    Apostrophe = 8,
    /// Stands for several characters.
    Expansion = 9,
}

/// One entry of the table: bits 0 to 20 the payload, 21 to 24 the class, then the flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry(pub(crate) u32);

pub(crate) const CLASS_SHIFT: u32 = 21;
/// A Cyrillic letter.
pub(crate) const CYRILLIC: u32 = 1 << 25;
/// Folds to something else when diacritics are kept: see [`kept`].
pub(crate) const MARKED: u32 = 1 << 26;

impl Entry {
    pub(crate) fn class(self) -> Class {
        match (self.0 >> CLASS_SHIFT) & 0xF {
            1 => Class::Ignored,
            2 => Class::Letter,
            3 => Class::Single,
            4 => Class::Flag,
            5 => Class::Mark,
            6 => Class::Diacritic,
            7 => Class::Jamo,
            8 => Class::Apostrophe,
            9 => Class::Expansion,
            _ => Class::Separator,
        }
    }

    /// What `of`, the character of this entry, folds to. Most fold to themselves, stored as 0 so that their pages are shared.
    pub(crate) fn folded(self, of: char) -> char {
        match (self.class(), self.payload()) {
            (Class::Separator | Class::Mark | Class::Diacritic, _) | (_, 0) => of,
            (_, code) => char::from_u32(code).unwrap_or(of),
        }
    }

    /// Canonical combining class of a [`Class::Mark`] or [`Class::Diacritic`].
    pub(crate) fn combining_class(self) -> u8 {
        self.payload().to_le_bytes()[0]
    }

    /// Whether a [`Class::Separator`] is punctuation or a symbol, which no phrase of single characters reaches across.
    pub(crate) fn breaks(self) -> bool {
        self.payload() != 0
    }

    /// The characters of a [`Class::Expansion`]: folded, none an expansion itself, a comma or a space for whatever separates.
    pub(crate) fn expansion(self) -> &'static str {
        expansion(self.payload() as usize)
    }

    /// A [`Class::Single`] that folds to itself and has no diacritics.
    #[inline]
    pub(crate) fn is_plain_single(self) -> bool {
        self.0 == (Class::Single as u32) << CLASS_SHIFT
    }

    /// Whether the character can become part of the single character before it.
    #[inline]
    pub(crate) fn may_join(self) -> bool {
        matches!(self.class(), Class::Ignored | Class::Mark | Class::Diacritic | Class::Jamo | Class::Expansion)
    }

    pub(crate) fn is_cyrillic(self) -> bool {
        self.0 & CYRILLIC != 0
    }

    pub(crate) fn is_marked(self) -> bool {
        self.0 & MARKED != 0
    }

    fn payload(self) -> u32 {
        self.0 & ((1 << CLASS_SHIFT) - 1)
    }
}

/// The entry of a character.
#[inline]
pub(crate) fn lookup(of: char) -> Entry {
    let code = of as usize;
    let page = PAGES.get(code >> PAGE_BITS).copied().unwrap_or(0);
    let at = (usize::from(page) << PAGE_BITS) | (code & ((1 << PAGE_BITS) - 1));
    Entry(ENTRIES.get(at).copied().unwrap_or(0))
}

/// What a marked character folds to when diacritics are kept: its characters in the order of NFKD.
pub(crate) fn kept(of: char) -> &'static str {
    expansion_in(&KEPT, of).unwrap_or("")
}

/// A character that stands for punctuation, alone or with letters, with all of it: `⑴` is `(1)`, `…` is `...`.
pub(crate) fn spelled(of: char) -> Option<&'static str> {
    expansion_in(&SPELLED, of)
}

fn expansion_in(list: &[(char, u16)], of: char) -> Option<&'static str> {
    let at = list.binary_search_by_key(&of, |&(listed, _)| listed).ok()?;
    list.get(at).map(|&(_, index)| expansion(usize::from(index)))
}

fn expansion(index: usize) -> &'static str {
    let end = |index: usize| EXPANSION_ENDS.get(index).copied().map_or(0, usize::from);
    let start = index.checked_sub(1).map_or(0, end);
    EXPANSIONS.get(start..end(index)).unwrap_or("")
}

/// The one character for a base and the mark after it, where the mark is one that words keep: か with voicing, a Hangul syllable, й.
pub(crate) fn compose(base: char, mark: char) -> Option<char> {
    if let Some(syllable) = compose_hangul(base as u32, mark as u32) {
        return Some(syllable);
    }
    let at = COMPOSE.binary_search_by_key(&(base, mark), |&(base, mark, _)| (base, mark)).ok()?;
    COMPOSE.get(at).map(|&(_, _, composed)| composed)
}

/// The Unicode Standard, section 3.12.
fn compose_hangul(base: u32, jamo: u32) -> Option<char> {
    const LEADING: std::ops::Range<u32> = 0x1100..0x1113;
    const VOWELS: std::ops::Range<u32> = 0x1161..0x1176;
    const FINALS: std::ops::Range<u32> = 0x11A8..0x11C3;
    const SYLLABLES: std::ops::Range<u32> = 0xAC00..0xD7A4;
    const FINAL_COUNT: u32 = 28;
    if LEADING.contains(&base) && VOWELS.contains(&jamo) {
        let index = (base - LEADING.start) * 21 + (jamo - VOWELS.start);
        return char::from_u32(SYLLABLES.start + index * FINAL_COUNT);
    }
    let open = SYLLABLES.contains(&base) && (base - SYLLABLES.start).is_multiple_of(FINAL_COUNT);
    if open && FINALS.contains(&jamo) {
        return char::from_u32(base + 1 + jamo - FINALS.start);
    }
    None
}
