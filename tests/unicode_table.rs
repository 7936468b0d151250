//! Generates `src/tokenizer/table.rs` from the Unicode crates and proves the committed file equal to them for every code point.
//!
//! After a deliberate change of rules or crates: `UPDATE_UNICODE_TABLE=1 cargo test --test unicode_table`, and raise
//! `tokenizer::VERSION`. Everything that the tokenizer believes of a character is decided here, in [`class`] and [`sequence`].

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::RangeInclusive;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, compose, decompose_canonical};
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};
use unicode_script::{Script, UnicodeScript};
use unicode_segmentation::UnicodeSegmentation;

#[allow(dead_code)] // the half that only the tokenizer calls
#[path = "../src/tokenizer/fold.rs"]
mod fold;
#[path = "../src/tokenizer/table.rs"]
mod table;

use fold::{CLASS_SHIFT, CYRILLIC, Class, Entry, MARKED};

const TABLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/tokenizer/table.rs");
/// Equal pages are stored once. Pages of 32, 64 or 256 characters, with their index, would together not be much smaller than of 128.
const PAGE_BITS: usize = 7;

/// Scripts written without spaces: the East Asian ones, and those of line breaking class SA (UAX #14), where words are found by dictionary.
const WITHOUT_SPACES: [Script; 18] = [
    Script::Han,
    Script::Hiragana,
    Script::Katakana,
    Script::Hangul,
    Script::Bopomofo,
    Script::Yi,
    Script::Tangut,
    Script::Nushu,
    Script::Khitan_Small_Script,
    Script::Thai,
    Script::Lao,
    Script::Khmer,
    Script::Myanmar,
    Script::Tai_Le,
    Script::New_Tai_Lue,
    Script::Tai_Tham,
    Script::Tai_Viet,
    Script::Ahom,
];

/// Scripts whose marks are diacritics: reading aids, accents and vowel points that people leave out when they type. `Inherited` and
/// `Common` hold the accents of Latin, Greek and Cyrillic, the harakat, Vedic accents and enclosing marks.
const WITH_DIACRITICS: [Script; 7] =
    [Script::Inherited, Script::Common, Script::Latin, Script::Greek, Script::Cyrillic, Script::Arabic, Script::Hebrew];

/// Letters that Unicode does not decompose but people type without the stroke, the dot or the ligature.
const LETTERS: [(char, &str); 14] = [
    ('ø', "o"),
    ('đ', "d"),
    ('ð', "d"),
    ('ħ', "h"),
    ('ı', "i"),
    ('ł', "l"),
    ('ŋ', "n"),
    ('ŧ', "t"),
    ('æ', "ae"),
    ('œ', "oe"),
    ('þ', "th"),
    // Alef with wasla, with wavy hamza above and below: the alefs with madda and hamza do decompose.
    ('\u{671}', "\u{627}"),
    ('\u{672}', "\u{627}"),
    ('\u{673}', "\u{627}"),
];

/// What vanishes beside the format characters.
const IGNORED: [RangeInclusive<char>; 9] = [
    '\u{34F}'..='\u{34F}',     // combining grapheme joiner
    '\u{640}'..='\u{640}',     // tatweel
    '\u{115F}'..='\u{1160}',   // Hangul fillers
    '\u{17B4}'..='\u{17B5}',   // Khmer inherent vowels
    '\u{180B}'..='\u{180D}',   // variation selectors
    '\u{180F}'..='\u{180F}',   // another
    '\u{FE00}'..='\u{FE0F}',   // more
    '\u{E0100}'..='\u{E01EF}', // more
    '\u{1F3FB}'..='\u{1F3FF}', // skin tones
];

/// Not part of the word before them, as the decomposition of two of them would be, and no emoji to search for.
const SIGNS: [char; 4] = ['©', '®', '℠', '™'];

const KANA_VOICING: [char; 2] = ['\u{3099}', '\u{309A}'];

/// What `of`, a character of a folded NFKD text, is to the tokenizer.
fn class(of: char) -> Class {
    use GeneralCategory as Category;
    let category = of.general_category();
    match of {
        // Inside ½ = 1⁄2, so that both are one token.
        '\u{2044}' => return Class::Letter,
        '\'' | '\u{2019}' | '\u{2BC}' => return Class::Apostrophe,
        '\u{200B}' => return Class::Separator,
        _ if IGNORED.iter().any(|range| range.contains(&of)) => return Class::Ignored,
        '\u{1F1E6}'..='\u{1F1FF}' => return Class::Flag,
        '\u{1161}'..='\u{11FF}' | '\u{D7B0}'..='\u{D7FF}' if category == Category::OtherLetter => return Class::Jamo,
        _ => {}
    }
    match of.general_category_group() {
        GeneralCategoryGroup::Letter | GeneralCategoryGroup::Number => {
            let extensions = of.script_extension();
            let spaceless = match of.script() {
                Script::Common | Script::Inherited => {
                    extensions != Script::Common.into() && WITHOUT_SPACES.iter().any(|&script| extensions.contains_script(script))
                }
                script => WITHOUT_SPACES.contains(&script),
            };
            if spaceless && category != Category::DecimalNumber { Class::Single } else { Class::Letter }
        }
        GeneralCategoryGroup::Mark if WITH_DIACRITICS.contains(&of.script()) && !KANA_VOICING.contains(&of) => Class::Diacritic,
        GeneralCategoryGroup::Mark => Class::Mark,
        _ if category == Category::Format => Class::Ignored,
        _ if is_pictographic(of) => Class::Single,
        _ => Class::Separator,
    }
}

/// The property `Extended_Pictographic`, told by rule GB11 of UAX #29: only such a character is joined to an emoji by a ZWJ.
fn is_pictographic(of: char) -> bool {
    format!("{of}\u{200D}\u{1F469}").graphemes(true).count() == 1
}

/// Case folding of the NFKD of `of`, the marks left as they are, in NFKD again.
fn folded_decomposition(of: char) -> Vec<char> {
    if SIGNS.contains(&of) {
        return vec![' '];
    }
    let fold = |part: char| match part.general_category_group() {
        GeneralCategoryGroup::Mark => part.to_string(),
        _ => caseless::default_case_fold_str(part.encode_utf8(&mut [0; 4])),
    };
    of.nfkd().map(fold).collect::<String>().nfkd().collect()
}

/// Punctuation and symbols keep the characters on their two sides from being a phrase, spaces and controls do not.
fn breaks(of: char) -> bool {
    matches!(of.general_category_group(), GeneralCategoryGroup::Punctuation | GeneralCategoryGroup::Symbol)
}

/// What `of` folds to, with or without its diacritics: no ignored characters, a comma or space for whatever separates.
fn sequence(of: char, keep_diacritics: bool) -> Vec<char> {
    let mut parts = folded_decomposition(of);
    if !keep_diacritics {
        let letter = |part: char| LETTERS.iter().find(|(letter, _)| *letter == part).map(|(_, plain)| *plain);
        parts = parts.iter().flat_map(|&part| letter(part).map_or(vec![part], |plain| plain.chars().collect())).collect();
    }
    let only_marks = parts.iter().all(|&part| class(part) == Class::Diacritic);
    // The tokenizer composes the parts of such a mark itself: the first can compose with what stands before it.
    let begins_with_mark = parts.first().is_some_and(|&part| class(part) == Class::Mark);
    let mut sequence: Vec<char> = Vec::new();
    for part in parts {
        let last = sequence.last().copied();
        let composed = last.filter(|_| !begins_with_mark).and_then(|last| fold_compose(last, part));
        match class(part) {
            Class::Ignored => {}
            Class::Separator => {
                let separator = if breaks(part) || last == Some(',') { ',' } else { ' ' };
                if matches!(last, Some(',' | ' ')) {
                    sequence.pop();
                }
                sequence.push(separator);
            }
            _ if composed.is_some() => {
                sequence.pop();
                sequence.extend(composed);
            }
            Class::Diacritic if !only_marks && !keep_diacritics => {}
            _ => sequence.push(part),
        }
    }
    sequence
}

/// `of` with all its punctuation, where [`sequence`] has left some of it out. No diacritics here: they are removed or follow.
fn spelled(of: char) -> Option<Vec<char>> {
    let parts: Vec<char> = if SIGNS.contains(&of) { of.nfkd().flat_map(char::to_lowercase).collect() } else { folded_decomposition(of) };
    let separates = SIGNS.contains(&of) || parts.iter().any(|&part| class(part) == Class::Separator);
    let kept = |part: char| if part.is_whitespace() || part.is_control() { ' ' } else { part };
    let spelled: Vec<char> = parts.into_iter().filter(|&part| class(part) != Class::Ignored).map(kept).collect();
    (separates && spelled != [of] && spelled != [' ']).then_some(spelled)
}

/// The pairs that the tokenizer composes: those of NFC whose mark stays, and й.
fn fold_compose(base: char, mark: char) -> Option<char> {
    let stays = matches!(class(mark), Class::Mark | Class::Jamo) || (base, mark) == ('и', '\u{306}');
    if stays { compose(base, mark) } else { None }
}

/// All characters that are not surrogates.
fn characters() -> impl Iterator<Item = char> {
    (0..=0x0010_FFFF).filter_map(char::from_u32)
}

/// Strings that entries point to by number.
#[derive(Default)]
struct Expansions {
    numbers: BTreeMap<String, u32>,
    text: String,
    ends: Vec<usize>,
}

impl Expansions {
    fn number(&mut self, sequence: &[char]) -> u32 {
        let text: String = sequence.iter().collect();
        let next = u32::try_from(self.ends.len()).unwrap();
        *self.numbers.entry(text).or_insert_with_key(|text| {
            self.text.push_str(text);
            self.ends.push(self.text.len());
            next
        })
    }
}

struct Table {
    entries: BTreeMap<char, Entry>,
    expansions: Expansions,
    kept: Vec<(char, u32)>,
    compose: Vec<(char, char, char)>,
    spelled: Vec<(char, u32)>,
}

fn build() -> Table {
    let mut table =
        Table { entries: BTreeMap::new(), expansions: Expansions::default(), kept: Vec::new(), compose: Vec::new(), spelled: Vec::new() };
    for of in characters() {
        let plain = sequence(of, false);
        let kept = sequence(of, true);
        let (class, payload) = match plain[..] {
            [] => (Class::Ignored, 0),
            [' '] => (Class::Separator, 0),
            [','] => (Class::Separator, 1),
            [part] => match class(part) {
                class @ (Class::Mark | Class::Diacritic) if part == of => (class, u32::from(canonical_combining_class(of))),
                Class::Mark | Class::Diacritic => (Class::Expansion, table.expansions.number(&plain)),
                class => (class, if part == of { 0 } else { part as u32 }),
            },
            _ => (Class::Expansion, table.expansions.number(&plain)),
        };
        let cyrillic = class == Class::Letter && plain[0].script() == Script::Cyrillic;
        let marked = plain != kept;
        if marked {
            table.kept.push((of, table.expansions.number(&kept)));
        }
        if let Some(spelled) = spelled(of) {
            table.spelled.push((of, table.expansions.number(&spelled)));
        }
        let flags = if cyrillic { CYRILLIC } else { 0 } | if marked { MARKED } else { 0 };
        table.entries.insert(of, Entry(payload | (class as u32) << CLASS_SHIFT | flags));

        let mut canonical = Vec::new();
        decompose_canonical(of, |part| canonical.push(part));
        if let (Some(mark), false) = (canonical.pop(), ('\u{AC00}'..='\u{D7A3}').contains(&of)) {
            let base: String = canonical.iter().copied().nfc().collect();
            let mut base = base.chars();
            if let (Some(base), None) = (base.next(), base.next())
                && fold_compose(base, mark) == Some(of)
            {
                table.compose.push((base, mark, of));
            }
        }
    }
    table.compose.sort_unstable();
    table
}

/// The text of `table.rs`.
fn source(table: &Table) -> String {
    let page = |number: usize| -> Vec<u32> {
        let codes = number << PAGE_BITS..(number + 1) << PAGE_BITS;
        codes.map(|code| char::from_u32(u32::try_from(code).unwrap()).map_or(0, |of| table.entries[&of].0)).collect()
    };
    let mut numbers: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
    let mut entries: Vec<u32> = Vec::new();
    let mut pages: Vec<usize> = Vec::new();
    for number in 0..0x11_0000 >> PAGE_BITS {
        let next = numbers.len();
        let page = page(number);
        pages.push(*numbers.entry(page).or_insert_with_key(|page| {
            entries.extend(page);
            next
        }));
    }
    let mut out = String::from(
        "//! What the tokenizer knows of every character. Generated and proved by `tests/unicode_table.rs`: don't edit.\n//!\n",
    );
    let version = |(major, minor, update): (u64, u64, u64)| format!("{major}.{minor}.{update}");
    let (major, minor, update) = unicode_normalization::UNICODE_VERSION;
    let _ = writeln!(
        out,
        "//! Unicode {} (normalization), {} (categories), {} (scripts), {} (emoji), {} (case folding).\n",
        version((major.into(), minor.into(), update.into())),
        version(unicode_properties::UNICODE_VERSION),
        version(unicode_script::UNICODE_VERSION),
        version(unicode_segmentation::UNICODE_VERSION),
        version(caseless::UNICODE_VERSION),
    );
    out.push_str("#![allow(clippy::unreadable_literal)] // bit fields, not quantities\n\n");
    let _ = writeln!(out, "/// A page is `1 << PAGE_BITS` characters.\npub(super) const PAGE_BITS: usize = {PAGE_BITS};\n");
    numbers_of(&mut out, "The page of [`ENTRIES`] for each run of characters.", "PAGES", "u16", &pages, usize::to_string);
    numbers_of(&mut out, "See `fold::Entry`.", "ENTRIES", "u32", &entries, |entry| match entry {
        0 => "0".into(),
        _ => format!("0x{entry:x}"),
    });
    let escaped: String = table.expansions.text.escape_unicode().collect();
    let _ = writeln!(out, "/// The expansions, one after the other.\n#[rustfmt::skip]\npub(super) static EXPANSIONS: &str = \"\\");
    for line in escaped.split_inclusive('}').collect::<Vec<_>>().chunks(16) {
        let _ = writeln!(out, "{}\\", line.concat());
    }
    out.push_str("\";\n\n");
    numbers_of(&mut out, "Where each expansion ends in [`EXPANSIONS`].", "EXPANSION_ENDS", "u16", &table.expansions.ends, usize::to_string);
    numbers_of(&mut out, "The expansion of each marked character when diacritics are kept.", "KEPT", "(char, u16)", &table.kept, |entry| {
        format!("('{}', {})", entry.0.escape_unicode(), entry.1)
    });
    let doc = "How characters are spelled that stand for punctuation, where it counts.";
    numbers_of(&mut out, doc, "SPELLED", "(char, u16)", &table.spelled, |entry| format!("('{}', {})", entry.0.escape_unicode(), entry.1));
    numbers_of(&mut out, "Base, mark and what they compose to.", "COMPOSE", "(char, char, char)", &table.compose, |triple| {
        format!("('{}', '{}', '{}')", triple.0.escape_unicode(), triple.1.escape_unicode(), triple.2.escape_unicode())
    });
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn numbers_of<T>(out: &mut String, doc: &str, name: &str, kind: &str, values: &[T], show: impl Fn(&T) -> String) {
    let _ = writeln!(out, "/// {doc}\n#[rustfmt::skip]\npub(super) static {name}: [{kind}; {}] = [", values.len());
    let mut line = String::new();
    for value in values {
        let value = show(value);
        if line.len() + value.len() > 135 {
            let _ = writeln!(out, "   {line}");
            line.clear();
        }
        let _ = write!(line, " {value},");
    }
    let _ = writeln!(out, "   {line}\n];\n");
}

#[test]
fn committed_table_is_what_the_unicode_crates_say() {
    let built = build();
    let expected = source(&built);
    if std::env::var_os("UPDATE_UNICODE_TABLE").is_some() {
        std::fs::write(TABLE, &expected).unwrap();
        return; // the lookups below are compiled from the old file
    }
    let committed = std::fs::read_to_string(TABLE).unwrap();
    assert!(committed == expected, "table.rs differs: run with UPDATE_UNICODE_TABLE=1 and raise tokenizer::VERSION");
    for of in characters() {
        let entry = fold::lookup(of);
        assert_eq!(entry, built.entries[&of], "{of:?}");
        let as_stored: String = sequence(of, false).into_iter().collect();
        match entry.class() {
            Class::Expansion => assert_eq!(entry.expansion(), as_stored, "{of:?}"),
            Class::Letter | Class::Single | Class::Flag | Class::Jamo => {
                assert_eq!(entry.folded(of).to_string(), as_stored, "{of:?}");
            }
            _ => {}
        }
        if entry.is_marked() {
            assert_eq!(fold::kept(of), sequence(of, true).into_iter().collect::<String>(), "{of:?}");
        }
        assert_eq!(fold::spelled(of).map(|text| text.chars().collect()), spelled(of), "{of:?}");
        assert_eq!(entry.class() == Class::Separator && entry.breaks(), sequence(of, false) == [','], "{of:?}");
    }
}

#[test]
fn what_the_table_folds_to_folds_to_itself() {
    let assert_final = |part: char, of: char| {
        let entry = fold::lookup(part);
        assert_eq!(entry.class(), if matches!(part, ' ' | ',') { Class::Separator } else { class(part) }, "{part:?} of {of:?}");
        assert_eq!(entry.folded(part), part, "{part:?} of {of:?}");
    };
    for of in characters() {
        let entry = fold::lookup(of);
        match entry.class() {
            Class::Expansion => entry.expansion().chars().for_each(|part| assert_final(part, of)),
            Class::Letter | Class::Single | Class::Flag | Class::Jamo => assert_final(entry.folded(of), of),
            _ => {}
        }
    }
}

#[test]
fn pairs_compose_as_nfc_does() {
    for (base, mark, composed) in table::COMPOSE {
        assert_eq!(fold::compose(base, mark), compose(base, mark), "{base:?} {mark:?}");
        let entry = fold::lookup(composed);
        if entry.class() == Class::Expansion {
            let mut parts = entry.expansion().chars();
            let first = parts.next().unwrap();
            assert_eq!(parts.try_fold(first, fold::compose), Some(composed));
        } else {
            assert_eq!(entry.folded(composed), composed);
        }
    }
    for syllable in '\u{AC00}'..='\u{D7A3}' {
        let jamo: Vec<char> = std::iter::once(syllable).nfd().collect();
        assert_eq!(jamo[1..].iter().try_fold(jamo[0], |base, &next| fold::compose(base, next)), Some(syllable));
    }
}
