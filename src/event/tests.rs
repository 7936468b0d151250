//! Rows told by the rule, rows recorded from JavaScript, and frames in every state of damage.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{Event, Message, Role, Stored, Unreadable, parse, trim};
use crate::branch::{AppendMode, Entry, Kind, Reference};

/// One JSON row per line: `event` as it is, with its `message` if it has one, or a text that is `unreadable`.
const TOLD: &str = include_str!("../../tests/data/events.jsonl");

/// What JavaScript made of random event texts; made by `events-javascript.mjs`.
const RECORDED: &[u8] = include_bytes!("../../tests/data/events-javascript.jsonl.zst");

/// One frame as `OpenClaw` writes them: level 1, size stated, checksum.
const FRAME: &[u8] = include_bytes!("../../tests/data/events-frame.zst");

#[derive(Deserialize)]
struct Told<'a> {
    name: String,
    #[serde(borrow)]
    event: Option<&'a RawValue>,
    message: Option<(String, String, String, Option<i64>)>,
    unreadable: Option<String>,
}

fn row(message: Message) -> (String, String, String, Option<i64>) {
    (message.id, message.role.to_string(), message.text, message.timestamp)
}

#[test]
fn told_events_have_the_told_message() {
    let mut rows = 0;
    for line in TOLD.lines() {
        let told: Told<'_> = serde_json::from_str(line).expect(line);
        if let Some(text) = &told.unreadable {
            assert_eq!(parse(text.as_bytes()), Err(Unreadable::Json), "{}", told.name);
        } else {
            // `null` is an event too, but arrives as no event
            let json = told.event.map_or("null", RawValue::get);
            assert_eq!(parse(json.as_bytes()).map(|event| event.message.map(row)), Ok(told.message), "{}", told.name);
        }
        rows += 1;
    }
    assert_eq!(rows, 76);
}

#[test]
fn recorded_events_are_read_as_javascript_reads_them() {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Line {
        Refused(String, ()),
        Read(String, Box<RecordedEntry>, Option<(String, String, String, Option<String>)>),
    }
    #[derive(Deserialize)]
    struct RecordedEntry(Option<String>, Option<String>, RecordedReference, RecordedReference, RecordedReference, Option<String>, bool);
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum RecordedReference {
        Id(String),
        Null(()),
        Absent { absent: bool },
        Unusable { unusable: bool },
    }
    fn reference(recorded: RecordedReference) -> Reference {
        match recorded {
            RecordedReference::Id(id) => Reference::Id(id),
            RecordedReference::Null(()) => Reference::Null,
            RecordedReference::Absent { absent } => {
                assert!(absent);
                Reference::Absent
            }
            RecordedReference::Unusable { unusable } => {
                assert!(unusable);
                Reference::Unusable
            }
        }
    }

    let lines = Stored::Zstd(RECORDED).json().expect("one frame");
    let (mut refused, mut messages) = (0, 0);
    for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        match serde_json::from_slice(line).expect("a line") {
            Line::Refused(text, ()) => {
                assert_eq!(parse(text.as_bytes()), Err(Unreadable::Json), "{text}");
                refused += 1;
            }
            Line::Read(text, entry, message) => {
                let RecordedEntry(kind, id, parent_id, target_id, append_parent_id, append_mode, has_message) = *entry;
                let entry = Entry {
                    kind: kind.as_deref().map_or(Kind::Other, Kind::of),
                    id,
                    parent_id: reference(parent_id),
                    target_id: reference(target_id),
                    append_parent_id: reference(append_parent_id),
                    append_mode: match append_mode.as_deref() {
                        None => AppendMode::Absent,
                        Some("side") => AppendMode::Side,
                        Some(_) => AppendMode::Unusable,
                    },
                    has_message,
                };
                let event = parse(text.as_bytes()).expect(&text);
                assert_eq!(event.entry, entry, "{text}");
                let message = message.map(|(id, role, text, timestamp)| {
                    (id, role, text, timestamp.and_then(|digits| digits.parse().ok())) // digits, because a double would round them
                });
                messages += usize::from(message.is_some());
                assert_eq!(event.message.map(row), message, "{text}");
            }
        }
    }
    assert!(refused > 300 && messages > 300, "{refused} refused, {messages} messages");
}

#[test]
fn navigation_facts_are_read() {
    let json = br#"{"type":"leaf","id":" l1","parentId":"b","targetId":null,"appendParentId":"x","appendMode":"side"}"#;
    let entry = Entry {
        kind: Kind::Leaf,
        id: Some(" l1".to_owned()),
        parent_id: Reference::Id("b".to_owned()),
        target_id: Reference::Null,
        append_parent_id: Reference::Id("x".to_owned()),
        append_mode: AppendMode::Side,
        has_message: false,
    };
    assert_eq!(parse(json), Ok(Event { entry, message: None }));
}

fn text_of(json: &[u8]) -> Option<String> {
    parse(json).expect("readable").message.map(|message| message.text)
}

#[test]
fn bad_utf8_does_not_hide_the_message() {
    let json = b"{\"bad\":\"\xff\",\"type\":\"message\",\"id\":\"a\",\"message\":{\"role\":\"user\",\"content\":\"x\xffy\xf0\x9f\x9a z\xed\xa0\xbd\"}}";
    let text = text_of(json).expect("a message");
    assert!(text.starts_with("x\u{fffd}y\u{fffd} z\u{fffd}"), "{text:?}");
    assert_eq!(parse(b"{\"a\":\xff}"), Err(Unreadable::Json));
}

#[test]
fn deep_nesting_does_not_hide_the_message() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        for json in [
            format!(r#"{{"deep":{deep},"type":"message","id":"a","message":{{"role":"user","content":"x"}}}}"#),
            format!(r#"{{"type":"message","id":"a","message":{{"deep":{deep},"role":"user","content":"x"}}}}"#),
            format!(
                r#"{{"type":"message","id":"a","message":{{"role":"user","content":[{deep},{{"type":"text","text":"x","deep":{deep}}}]}}}}"#
            ),
        ] {
            assert_eq!(text_of(json.as_bytes()).as_deref(), Some("x"));
        }
        for json in [
            format!(r#"{{"type":"message","id":"a","message":{deep}}}"#),
            format!(r#"{{"type":"message","id":{deep},"message":{{"role":"user","content":{deep},"text":{deep}}}}}"#),
            deep,
        ] {
            assert_eq!(text_of(json.as_bytes()), None);
        }
    }
    assert_eq!(parse("[".repeat(1_000_000).as_bytes()), Err(Unreadable::Json));
}

#[test]
fn a_message_of_10_mb_is_read_whole() {
    let content = "pelican \\ud83d\\n ".repeat(10_000_000 / 16);
    let json = format!(r#"{{"type":"message","id":"a","message":{{"role":"user","content":[{{"type":"text","text":"{content}"}}]}}}}"#);
    let text = text_of(json.as_bytes()).expect("a message");
    assert_eq!(text, "pelican \u{fffd}\n ".repeat(10_000_000 / 16));
}

#[test]
fn a_text_cut_anywhere_is_unreadable() {
    let json = br#"{"type":"message","id":"a","timestamp":5,"message":{"role":"user","content":[{"type":"text","text":"x\ud83d\u00e9"}],"n":[1e5,true]}}"#;
    assert!(text_of(json).is_some());
    for length in 0..json.len() {
        assert_eq!(parse(&json[..length]), Err(Unreadable::Json), "{length}");
    }
}

#[test]
fn trim_takes_what_javascript_calls_white_space() {
    let taken: String = (0..=0x10_FFFF).filter_map(char::from_u32).filter(|c| trim(c.encode_utf8(&mut [0; 4])).is_empty()).collect();
    let space_separators = "\u{20}\u{a0}\u{1680}\u{2000}\u{2001}\u{2002}\u{2003}\u{2004}\u{2005}\u{2006}\u{2007}\u{2008}\u{2009}\u{200a}";
    assert_eq!(taken, format!("\t\n\u{b}\u{c}\r{space_separators}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}"));
}

#[test]
fn roles_have_the_names_of_the_events() {
    assert_eq!([Role::User, Role::Assistant].map(|role| role.to_string()), ["user", "assistant"]);
}

#[test]
fn a_text_is_its_own_json() {
    assert_eq!(Stored::Json(b"{\xff").json().as_deref(), Ok(&b"{\xff"[..]));
}

#[test]
fn a_frame_gives_the_event_that_was_stored() {
    let json = Stored::Zstd(FRAME).json().expect("one frame");
    assert_eq!(json.len(), 1_828);
    let message = parse(&json).expect("an event").message.expect("a message");
    assert_eq!(message.id, "a0cee520");
    assert!(message.text.ends_with("the pelican filed report 59"));
}

#[test]
fn a_frame_cut_at_any_byte_is_unreadable() {
    for length in 0..FRAME.len() {
        assert_eq!(Stored::Zstd(&FRAME[..length]).json(), Err(Unreadable::Zstd), "{length}");
    }
}

#[test]
fn anything_after_the_frame_is_unreadable() {
    for more in [&b"\0"[..], b"x", FRAME, b"\x50\x2a\x4d\x18\0\0\0\0"] {
        assert_eq!(Stored::Zstd(&[FRAME, more].concat()).json(), Err(Unreadable::Zstd));
    }
}

#[test]
fn a_damaged_frame_never_gives_another_event() {
    let whole = Stored::Zstd(FRAME).json().expect("one frame");
    let mut accepted = 0;
    for at in 0..FRAME.len() {
        for change in 1..=u8::MAX {
            let mut damaged = FRAME.to_vec();
            damaged[at] ^= change;
            let json = Stored::Zstd(&damaged).json();
            assert!(json.is_err() || json.as_ref() == Ok(&whole), "byte {at} changed by {change:#x}");
            accepted += usize::from(json.is_ok());
        }
    }
    assert!(accepted < 200, "a few bits of a frame mean nothing, but not {accepted} changes of {}", FRAME.len() * 255);
}

/// A frame of run-length blocks: 16 MiB per 128 * 4 bytes.
fn run_length_frame(header: &[u8], sizes: &[u32]) -> Vec<u8> {
    let mut frame = [&[0x28, 0xb5, 0x2f, 0xfd][..], header].concat();
    for (block, size) in (1..).zip(sizes) {
        let is_last = u32::from(block == sizes.len());
        frame.extend_from_slice(&(size << 3 | 1 << 1 | is_last).to_le_bytes()[..3]);
        frame.push(b' ');
    }
    frame
}

#[test]
fn a_frame_of_more_than_4_mib_is_unreadable() {
    const BLOCK: u32 = 128 << 10;
    let four_mib = [BLOCK; 32];
    let one_more = [&four_mib[..], &[1]].concat();
    let endless = vec![BLOCK; 100_000];
    let small_window = [0, 0];
    let large_window = [0, 13 << 3];
    let too_large_window = [0, 14 << 3];
    let huge_window = [0, 0xff];
    let size_stated = |size: u32| [&[0b1010_0000][..], &size.to_le_bytes()].concat();

    for header in [&small_window[..], &large_window, &size_stated(4 << 20)] {
        let content = Stored::Zstd(&run_length_frame(header, &four_mib)).json().map(|content| content.len());
        assert_eq!(content, Ok(4 << 20), "{header:?}");
    }
    for (header, sizes) in [
        (&small_window[..], &one_more[..]),
        (&small_window, &endless),
        (&large_window, &one_more),
        (&large_window, &endless),
        (&too_large_window, &[1]),
        (&huge_window, &endless),
        (&size_stated((4 << 20) + 1), &one_more),
        (&size_stated(u32::MAX), &endless),
        (&size_stated(4 << 20), &endless),
    ] {
        assert_eq!(Stored::Zstd(&run_length_frame(header, sizes)).json(), Err(Unreadable::TooLarge), "{header:?}");
    }
    for size in [1, BLOCK - 1, BLOCK + 1] {
        assert_eq!(Stored::Zstd(&run_length_frame(&size_stated(size), &[BLOCK])).json(), Err(Unreadable::Zstd), "{size}");
    }
}

#[test]
fn what_is_no_frame_is_unreadable() {
    for blob in [&b""[..], b"{}", b"\x28\xb5\x2f\xfd", b"\x50\x2a\x4d\x18\0\0\0\0", b"\x1f\x8b\x08\0"] {
        assert_eq!(Stored::Zstd(blob).json(), Err(Unreadable::Zstd), "{blob:?}");
    }
}
