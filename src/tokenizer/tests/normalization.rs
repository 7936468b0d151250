//! The official `NormalizationTest` of Unicode, as the crate `icu_normalizer` carries it (most Hangul syllables left out: there are 11,172 of one kind).
//!
//! A row has a text in its five forms: as it is, NFC, NFD, NFKC, NFKD. All of them are the same tokens.

use std::io::Read;

use super::*;

fn forms(line: &str) -> Vec<String> {
    let character = |code: &str| char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap();
    line.split(';').map(|codes| codes.split(' ').map(character).collect()).collect()
}

#[test]
fn all_forms_of_a_text_are_the_same_tokens() {
    let packed: &[u8] = include_bytes!("../../../tests/data/normalization.txt.zst");
    let mut rows = String::new();
    ruzstd::decoding::StreamingDecoder::new(packed).unwrap().read_to_string(&mut rows).unwrap();
    let mut count = 0;
    for line in rows.lines() {
        let forms = forms(line);
        assert_eq!(forms.len(), 5, "{line}");
        for tokenizer in [REMOVE, KEEP, TRIGRAM, TRIGRAM_KEEP] {
            // The signs of a trade and of a service mark are not part of the word before them, as their letters would be.
            if tokenizer.mode == Mode::Words && matches!(&*forms[0], "™" | "℠") {
                continue;
            }
            let expected = texts(tokenizer, &forms[0]);
            for form in &forms[1..] {
                assert_eq!(texts(tokenizer, form), expected, "{line} {tokenizer:?}");
            }
        }
        count += 1;
    }
    assert_eq!(count, 9115);
}
