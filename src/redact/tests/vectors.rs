//! What OpenClaw 2026.9.6 and 2026.7.2 mask, recorded from its redactor: all of it is masked here too, but for a table of differences.

use std::io::Read;

use serde_json::Value;

use crate::redact::redact;

const VECTORS: &[u8] = include_bytes!("../../../tests/data/redact-vectors.jsonl.zst");

/// What OpenClaw masks and is no secret, or none by the rules here: beginnings of inputs, and why.
const KEPT: &[(&str, &str)] = &[
    ("API_KEY=${", "a reference whose default is a word"),
    ("X_SECRET=${", "a reference whose default is a word"),
    ("PASSWD=${", "a reference whose default is a word"),
    ("CARD_NUMBER=${", "a reference whose default is a word"),
    ("CVV=${", "a reference whose default is a word"),
    ("KEY=${", "a reference whose default is a word"),
    ("MONKEY=${", "a reference whose default is a word, and no key"),
    ("PAYMENT_CREDENTIAL=${", "a reference whose default is a word"),
    ("API_KEY='two words here'", "words, as a label has them; four that make no sentence would be a passphrase"),
    ("PAYMENT_CREDENTIAL='two words here'", "words"),
    ("password=\"two words here\"", "words"),
    ("passwd=\"two words here\"", "words"),
    ("passphrase=\"two words here\"", "words"),
    ("db_password=\"two words here\"", "words"),
    ("secret=\"two words here\"", "words"),
    ("token=\"two words here\"", "words"),
    ("my.token=\"two words here\"", "words"),
    ("api_key=\"two words here\"", "words"),
    ("api-key=\"two words here\"", "words"),
    ("private_key=\"two words here\"", "words"),
    ("authorization=\"two words here\"", "words"),
    ("card_number=\"two words here\"", "words"),
    ("cvc=\"two words here\"", "words"),
    ("HOTKEY=bmTAg39Drp", "no name of a secret: a `key` needs a long random value"),
    ("CARD_NUMBER=bmTAg39Drp", "no number of a card"),
    ("card_number=bmTAg39Drp", "no number of a card"),
    ("token: the unit of text", "prose"),
    ("const token = getToken();", "a call"),
    ("API_KEY=os.environ[", "a reference"),
    ("123456:EGGmm", "no bot token: one has 35 characters behind the colon, from AA on"),
    ("xAIza", "the middle of a word: base64 has such beginnings in it"),
    ("xAKID", "the middle of a word: base64 has such beginnings in it"),
    ("x1//0", "the middle of a word: base64 has such beginnings in it"),
    ("xfc-", "the middle of a word, and too short a beginning for one there"),
    ("xhf_", "the middle of a word, and too short a beginning for one there"),
    ("xr8_", "the middle of a word, and too short a beginning for one there"),
];

#[test]
fn what_openclaw_masks_is_masked_but_for_the_table() {
    let mut text = String::new();
    ruzstd::decoding::StreamingDecoder::new(VECTORS).expect("a frame").read_to_string(&mut text).expect("one frame");
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert_eq!(rows.len(), 627, "the file has lost its rows");
    let mut used = vec![false; KEPT.len()];
    for row in rows.iter().filter(|row| row["masked"] == true) {
        let input = row["input"].as_str().expect("input");
        let masked = redact(input);
        match KEPT.iter().position(|(beginning, _)| input.starts_with(beginning)) {
            Some(row) => {
                assert_eq!(masked, input, "the table says why this is shown");
                used[row] = true;
            }
            None => assert!(masked.contains("[redacted:"), "{input:?} is shown"),
        }
    }
    let unused: Vec<_> = KEPT.iter().zip(&used).filter(|(_, used)| !**used).collect();
    assert!(unused.is_empty(), "{unused:?}");
}
