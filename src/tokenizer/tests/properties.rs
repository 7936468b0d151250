//! What holds for every text: over all characters, over random texts and bytes, over long inputs.

use unicode_normalization::UnicodeNormalization;

use super::super::fold::{self, Class};
use super::rows::normal_forms;
use super::*;

const ALL: [Tokenizer; 5] = [REMOVE, REMOVE_SINGLE, KEEP, TRIGRAM, TRIGRAM_KEEP];
/// With the others the form makes a difference on purpose: a character with two diacritics keeps them only if it is one.
const SAME_IN_NORMAL_FORMS: [Tokenizer; 4] = [REMOVE, KEEP, TRIGRAM, TRIGRAM_KEEP];

/// What holds for every text.
fn assert_sound(tokenizer: Tokenizer, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut boundaries = vec![0];
    for chunk in bytes.utf8_chunks() {
        let lengths = chunk.valid().chars().map(char::len_utf8).chain([chunk.invalid().len()]);
        boundaries.extend(lengths.scan(boundaries[boundaries.len() - 1], |at, length| {
            *at += length;
            Some(*at)
        }));
    }
    let is_boundary = |at: usize| boundaries.binary_search(&at).is_ok();
    let mut last = (0, 0);
    for (token, start, end) in tokens(tokenizer, bytes) {
        let from = if tokenizer.mode == Mode::Words { last.1 } else { last.0 };
        assert!(from <= start && last.1 <= end && start <= end && end <= bytes.len(), "{token:?} at {start}..{end} of {text:?}");
        assert!(is_boundary(start) && is_boundary(end), "{token:?} at {start}..{end} of {text:?}");
        assert!(token.split(READING_END).all(|reading| !reading.is_empty()), "{text:?}");
        // A word is itself; punctuation between single characters is not, nor is what only one character could keep.
        let token = first(&token);
        if matches!(tokenizer, REMOVE | KEEP) && token != "。" {
            assert_eq!(texts(tokenizer, token), [token], "of {text:?}");
        }
        last = (start, end);
    }
    assert_query_finds(tokenizer, &text);
}

/// A text is found by itself: what it asks for stands in it, one token behind the other.
fn assert_query_finds(tokenizer: Tokenizer, text: &str) {
    let wanted = query_texts(tokenizer, text);
    let tokens = tokens(tokenizer, text.as_bytes());
    assert!(wanted.len() <= tokens.len() && wanted.is_empty() == tokens.is_empty(), "{text:?}");
    for (wanted, (readings, _, _)) in wanted.iter().zip(&tokens) {
        assert!(readings.split(READING_END).any(|reading| reading == wanted), "{wanted:?} of {readings:?} in {text:?}");
    }
}

fn assert_same_in_normal_forms(tokenizer: Tokenizer, text: &str) {
    let expected = texts(tokenizer, text);
    for form in normal_forms(text) {
        assert_eq!(texts(tokenizer, &form), expected, "{form:?} of {text:?}");
    }
}

#[test]
fn every_character_is_sound_and_the_same_in_all_normal_forms() {
    for of in (0..=0x0010_FFFF).filter_map(char::from_u32) {
        if fold::lookup(of).class() == Class::Separator && (of.is_ascii() || [of].into_iter().nfkd().eq([of])) {
            // Most code points; no form of them is anything else.
            assert_eq!(texts(REMOVE, &format!("{of}a{of}b")), ["a", "b"], "{of:?}");
            continue;
        }
        // Alone, inside a word, and among what composes, reorders and joins.
        let text = format!("{of} a{of}b{of}\u{301} и{of}\u{306} か{of}\u{3099} {of}\u{11A8}");
        for tokenizer in ALL {
            assert_sound(tokenizer, text.as_bytes());
        }
        for tokenizer in SAME_IN_NORMAL_FORMS {
            // The exceptions: the sign of a trade or service mark is not part of the word, but its decomposition would be.
            if !matches!(of, '℠' | '™') || tokenizer.mode == Mode::Trigram {
                assert_same_in_normal_forms(tokenizer, &text);
            }
        }
    }
}

/// Numbers that are the same in every run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }
}

/// One of each kind of character that the tokenizer tells apart, and those that compose or reorder with them.
const KINDS: &str = "aZ7_'’ .-ßéǭøæıİσςкиЙӣ'ёᾳא\u{5B7}أ\u{627}\u{654}\u{64E}ـहि\u{94D}\u{93C}न\u{9C7}\u{9BE}\u{9D7}\u{DD9}\u{DCF}\u{DCA}\
    น้ำกខ្មမြ漢字かガｶﾞゝ゛한ᄒ\u{1161}\u{11AB}\u{1160}㍿½ﬁ㏂ﷺ①™👍🏽👩\u{200D}💻❤\u{FE0F}🇩🇪\u{FFFD}\u{0}\u{AD}\u{200B}\u{200C}\u{34F}\
    \u{300}\u{301}\u{304}\u{306}\u{308}\u{323}\u{345}\u{334}\u{3099}\u{309A}\u{302E}\u{F71}\u{F72}\u{F74}\u{F73}\u{344}\u{20E3}\u{E0061}";

#[test]
fn random_texts_are_sound_and_the_same_in_all_normal_forms() {
    let kinds: Vec<char> = KINDS.chars().collect();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for _ in 0..40_000 {
        let text: String = (0..random.below(12)).map(|_| kinds[random.below(kinds.len())]).collect();
        for tokenizer in ALL {
            assert_sound(tokenizer, text.as_bytes());
        }
        for tokenizer in SAME_IN_NORMAL_FORMS {
            if !text.contains('™') || tokenizer.mode == Mode::Trigram {
                assert_same_in_normal_forms(tokenizer, &text);
            }
        }
    }
}

#[test]
fn ascii_words_are_runs_of_letters_and_digits_in_lower_case() {
    let mut random = Random(0x6A09_E667_F3BC_C909);
    for _ in 0..20_000 {
        let text: String = (0..random.below(20)).map(|_| char::from(u8::try_from(random.below(128)).unwrap())).collect();
        let text = text.replace(['+', '#'], " "); // those can be part of a name
        let words = text.split(|byte: char| !byte.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
        let expected: Vec<_> = words
            .map(|word| {
                let start = word.as_ptr() as usize - text.as_ptr() as usize;
                (word.to_ascii_lowercase(), start, start + word.len())
            })
            .collect();
        let found: Vec<_> =
            tokens(REMOVE, text.as_bytes()).into_iter().map(|(token, start, end)| (first(&token).to_owned(), start, end)).collect();
        assert_eq!(found, expected, "{text:?}");
        // The same words by way of the character machine: ё keeps it from handing back.
        let joined: Vec<_> = expected.iter().map(|(word, _, _)| format!("{word}ё")).collect();
        let with_letter: Vec<_> = expected.iter().map(|(word, _, _)| format!("{word}е")).collect();
        assert_eq!(texts(REMOVE, &joined.join(" ")), with_letter, "{text:?}");
    }
}

#[test]
fn random_bytes_are_sound() {
    let kinds: Vec<char> = KINDS.chars().collect();
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    for _ in 0..40_000 {
        let mut bytes: Vec<u8> = (0..random.below(8)).map(|_| kinds[random.below(kinds.len())]).collect::<String>().into_bytes();
        for _ in 0..random.below(4) {
            let at = random.below(bytes.len() + 1);
            bytes.insert(at, u8::try_from(random.below(256)).unwrap());
        }
        for tokenizer in ALL {
            assert_sound(tokenizer, &bytes);
        }
    }
}

#[test]
fn bytes_that_are_no_text_separate_and_the_rest_goes_on() {
    for bad in [&b"\0"[..], b"\xFF", b"\xC3", b"\xED\xA0\x80", b"\xF0\x9F", b"\0\0\0\xFF\xFE"] {
        let bytes = [b"before", bad, "\u{301}caf\u{e9}".as_bytes()].concat();
        let start = 6 + bad.len() + 2;
        assert_eq!(tokens(REMOVE, &bytes), [("before".to_owned(), 0, 6), ("cafe".to_owned(), start, start + 5)], "{bad:?}");
    }
}

#[test]
fn ten_thousand_nul_bytes_hide_nothing() {
    let bytes = [&b"before "[..], &[0; 10_291], b" after"].concat();
    assert_eq!(tokens(REMOVE, &bytes), [("before".to_owned(), 0, 6), ("after".to_owned(), 10_299, 10_304)]);
}

#[test]
fn an_error_of_emit_stops_the_work() {
    for text in ["one two three", "一二三", "één twee drie", "one\u{0}two", "ONE two"] {
        let mut calls = 0;
        let result = REMOVE.tokenize(text.as_bytes(), |_| {
            calls += 1;
            Err(calls)
        });
        assert_eq!((result, calls), (Err(1), 1), "{text}");
    }
}

#[test]
fn a_long_token_is_cut_between_characters_where_fts5_would_cut_it() {
    for (unit, kept) in [("a", 32_768), ("A", 32_768), ("й", 32_768), ("हि", 32_766), ("𐐷", 32_768)] {
        let text = unit.repeat(40_000);
        let found = tokens(REMOVE, text.as_bytes());
        assert_eq!(found.len(), 1, "{unit}");
        assert_eq!((found[0].0.len(), found[0].1, found[0].2), (kept, 0, text.len()), "{unit}");
        assert_sound(REMOVE, text.as_bytes());
    }
}

#[test]
fn a_megabyte_of_anything_is_tokenized() {
    // That the time is linear is measured by `make bench-tokenizer`; quadratic work would keep this test from ending.
    let units = [
        "a",
        "Fox. ",
        "fooBar",
        "e\u{301}",
        "漢a",
        "漢,",
        "ｶﾞ",
        "น้ำ",
        "к'",
        "\u{200D}",
        "🇩",
        "\u{FDFA}",
        "\u{94D}\u{3099}\u{93C}",
        "\u{9BE}",
        "C++",
    ];
    for unit in units.map(str::as_bytes).into_iter().chain([&b"\xFF"[..], b"a\xFF"]) {
        let bytes = ["か".as_bytes(), &unit.repeat(1_000_000 / unit.len())].concat();
        for tokenizer in ALL {
            let mut last = 0;
            let Ok(()) = tokenizer.tokenize(&bytes, |token| {
                assert!(last <= token.end, "{unit:?}");
                last = token.end;
                Ok::<_, Infallible>(())
            });
            assert!(last > 0, "{unit:?}");
        }
    }
}
