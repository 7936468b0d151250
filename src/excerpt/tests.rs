//! Rows for what is shown, windows over every credential kind, and the choice of the place against a naive one.

use std::convert::Infallible;
use std::slice::from_ref;

use unicode_segmentation::UnicodeSegmentation;

use super::*;
use crate::redact::tests::{CASES, KINDS, Random, random_texts, rows, runs, strings, whole};
use crate::tokenizer::{Token, Tokenizer};

/// The excerpt around the first occurrence of each of `words`.
fn around(text: &str, words: &[&str], max_chars: usize) -> String {
    let mut matches: Vec<Range<usize>> = words.iter().filter_map(|word| text.find(word).map(|at| at..at + word.len())).collect();
    assert_eq!(matches.len(), words.len(), "a word is not in the text");
    matches.sort_by_key(|range| range.start);
    excerpt(&Redacted::new(text), &matches, max_chars)
}

#[test]
fn an_excerpt_shows_the_match_and_marks_what_is_left_out() {
    let long = "one two three four five six seven eight nine ten eleven twelve";
    let rows: [(&str, &[&str], usize, &str); 17] = [
        ("short", &["short"], 300, "short"),
        (" short\n", &[], 8, " short\n"),
        ("", &[], 300, ""),
        (long, &[], 20, "one two three four …"),
        (long, &["one"], 20, "one two three four …"),
        (long, &["seven"], 20, "… seven eight nine …"),
        (long, &["twelve"], 20, "… ten eleven twelve"),
        (long, &["two", "ten", "twelve"], 24, "… nine ten eleven twelve"),
        (long, &["seven"], 11, "seven eight"),
        (long, &["seven"], 5, "seven"),
        (long, &["seven"], 3, "sev"),
        (long, &["seven"], 0, ""),
        ("a\n\nb\n\nneedle\n\nc", &["needle"], 300, "a\n\nb\n\nneedle\n\nc"),
        ("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxneedlexxxxxxxxxxxxxxxxxxxxxxxxxxxx", &["needle"], 16, "… xxneedlexxxx …"),
        ("before password=hunter2 needle behind and a good deal more of it", &["needle"], 44, "… needle behind and a good deal more of it"),
        ("before password=hunter2 needle behind and a good deal more of it", &["needle"], 30, "… needle behind and a good …"),
        ("token=a1b2c3d4e5", &[], 12, "token= …"),
    ];
    for (text, words, max_chars, expected) in rows {
        assert_eq!(around(text, words, max_chars), expected, "{text:?} around {words:?} in {max_chars}");
    }
}

#[test]
fn cyrillic_is_cut_on_characters() {
    // https://github.com/quickwit-oss/tantivy/issues/2029
    let text = format!("{}игла {}", "мама мыла раму ".repeat(150), "рама мыла маму ".repeat(150));
    for max_chars in 0..80 {
        let shown = around(&text, &["игла"], max_chars);
        assert!(shown.chars().count() <= max_chars);
        assert!(max_chars < 4 || shown.contains("игла"), "{shown:?}");
    }
}

#[test]
fn the_window_is_where_the_match_is_said_to_be() {
    // https://github.com/mksglu/context-mode/pull/18: the word found is not the word asked for.
    let text = format!("{}and my résumé is attached", "nothing to see here, ".repeat(60));
    assert!(around(&text, &["résumé"], 100).contains("my résumé is"));
}

#[test]
fn an_emoji_is_shown_whole_or_not_at_all() {
    // https://github.com/coddingtonbear/obsidian-local-rest-api/issues/330, https://github.com/vertesia/llumiverse/pull/462
    for text in ["🔌xneedle", "👩‍👩‍👧‍👦xneedle", "🇩🇪🇫🇷needle🇩🇪", "e\u{301}e\u{301}needlee\u{301}", "x\r\nneedle\r\ny"]
    {
        for max_chars in 0..20 {
            let shown = around(text, &["needle"], max_chars);
            assert!(shown.chars().count() <= max_chars);
            let bare = shown.trim_start_matches(LEFT_OUT_BEFORE).trim_end_matches(LEFT_OUT_BEHIND);
            let clusters: Vec<&str> = text.graphemes(true).collect();
            assert!(bare.graphemes(true).all(|cluster| clusters.contains(&cluster)), "{text:?} in {max_chars}: {shown:?}");
        }
    }
}

#[test]
fn the_limit_holds_for_every_length_and_text() {
    // https://github.com/UKGovernmentBEIS/inspect_ai/pull/4658
    let mut random = Random(5);
    for text in random_texts(3_000).chain(["ééééééé".to_owned()]) {
        let message = Redacted::new(&text);
        let whole = message.masked().chars().count();
        for max_chars in (0..16).chain([17, 40, 90, whole.saturating_sub(1), whole, whole + 1, usize::MAX]) {
            let start = random.below(text.len() + 1);
            // Ranges off the borders and behind the end, too: nothing may panic.
            let place = start..start + random.below(9);
            let shown = excerpt(&message, from_ref(&place), max_chars);
            assert!(shown.chars().count() <= max_chars, "{text:?} {place:?} in {max_chars}: {shown:?}");
            if max_chars >= whole {
                assert_eq!(shown, message.masked(), "{text:?}");
            }
        }
    }
}

#[test]
fn the_case_windows_hide_their_secrets_and_show_what_they_must() {
    let mut windows = 0;
    for row in rows(CASES).iter().filter(|row| row["window"].is_array()) {
        let id = &row["id"];
        let text = row["text"].as_str().expect("text");
        let border = |i: usize| usize::try_from(row["window"][i].as_u64().expect("a byte")).expect("a byte");
        let max_chars = text[border(0)..border(1)].chars().count();
        let message = Redacted::new(text);
        let kept = strings(row, "window_keep");
        let start = kept.first().and_then(|kept| text.find(kept.as_str())).unwrap_or(border(0));
        let place = start..start + kept.first().map_or(1, String::len);
        let shown = excerpt(&message, from_ref(&place), max_chars);
        for secret in strings(row, "must_mask") {
            // What the mask says is no leak: the word `github`.
            let part = runs(&secret, 6).into_iter().find(|run| shown.contains(run) && !message.masked().contains(run));
            assert_eq!(part, None, "{id}: {shown:?}");
        }
        for kept in kept {
            assert!(shown.contains(&kept), "{id}: {kept:?} is not in {shown:?}");
        }
        windows += 1;
    }
    assert!(windows > 5, "the cases have lost their windows");
}

#[test]
fn no_window_over_any_kind_shows_part_of_a_secret_or_of_a_mask() {
    let before = "Here is what I did this morning before the build broke, in full. ".repeat(4);
    let behind = "\nAfter that the deploy job went green, and I closed the ticket. ".repeat(4);
    let sizes = if std::env::var_os("SESSION_SEARCH_ALL_WINDOWS").is_some() { 361 } else { 3 };
    let mut windows = 0;
    for row in rows(KINDS).iter().filter(|row| row["optional"].is_null()) {
        let text = format!("{before}\n{}{behind}", row["positive"].as_str().expect("positive"));
        let message = Redacted::new(&text);
        let masked = message.masked();
        let secret = row["secret"].as_str().expect("secret");
        // What the rest of the text says anyway is no leak: the word `secret` in the name of a key.
        let parts: Vec<String> = runs(secret, 6).into_iter().filter(|run| !masked.contains(run)).collect();
        assert!(parts.len() >= secret.chars().count() / 2 - 4, "{}: hidden in name only", row["id"]);
        for (start, size) in (0..text.len()).filter(|at| text.is_char_boundary(*at)).flat_map(|start| {
            // All starts; the sizes 40 to 400 in turn, three for each start, or all of them where there is time.
            (0..sizes).map(move |turn| (start, 40 + (start * 3 + turn) * 7 % 361))
        }) {
            let shown = excerpt(&message, from_ref(&(start..start + 1)), size);
            assert!(shown.chars().count() <= size);
            let part = parts.iter().find(|part| shown.contains(*part));
            assert_eq!(part, None, "{} at {start} in {size}: {shown:?}", row["id"]);
            let rest = message.spans().iter().fold(shown.clone(), |shown, span| shown.replace(&span.mask(), ""));
            assert!(!rest.contains("redacted") && !rest.contains(":]"), "{} at {start} in {size}: {shown:?}", row["id"]);
            windows += 1;
        }
    }
    assert!(windows > 50_000, "too few windows: {windows}");
}

/// Secrets as they stand in a message: name, before, secret, behind.
const NEIGHBOURS: [(&str, &str, &str, &str); 14] = [
    ("bearer", "Authorization: Bearer ", "Kd8sLf3gHj6k⟂Lp1oIu4yTr7eWq0zXcVb", ""),
    ("cliflag", "--api-key ", "Gh7jKl0zXc3v⟂Bn6mQw9eRt", ""),
    ("dsn", "postgres://svcuser:", "Qw8rTy2uIo5p⟂Lk7jHgFd", "@db.example:5432/prod"),
    ("env", "SERVICE_TOKEN=", "Ax7mNq4pRt9v⟂Wy2zBd6fGh", ""),
    ("glpat", "", "gl⟂pat-Bn5mQw8eRt1yUi4oPa7sDf", ""),
    ("httpuserinfo", "https://deploy:", "Mn3bVc6xZl9k⟂Jh2gFd5s", "@git.example/repo.git"),
    ("json", "{\"client_secret\":\"", "Rt6yUi9oPa2s⟂Df5gHj8kLz", "\"}"),
    ("jwt", "", "ey⟂JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6Ikpv.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV", ""),
    (
        "pem",
        "--⟂---BEGIN EC PRIVATE KEY-----\n",
        "MHcCAQEEIInventedKeyMaterialAAAA0123456789abcdefGHIJKLMNOPQR\nAoGCCqGSM49AwEHoUQDQgAEInventedKeyMaterialBBBB01",
        "\n-----END EC PRIVATE KEY-----",
    ),
    ("quotedenv", "DB_PASSWORD=\"", "correct horse battery staple nine", "\""),
    ("skproj", "", "s⟂k-proj-Tz5yUx8wVq1rSn4mPk7j_Lh0gFd3sAa6-Zx9cVb2nMq5w", ""),
    ("slack", "", "xo⟂xb-123456789012-345678901234-AbCdEfGhIjKlMnOpQrStUvWx", ""),
    ("telegram", "", "123456789:A⟂AHk5Lm8Np1Qr4St7Uv0Wx3Yz6Ab9Cd2Ef5", ""),
    ("urltoken", "https://api.example/v1/x?token=", "Vb4nMq7wEr0t⟂Yu3iOp6aSd", ""),
];

#[test]
fn no_secret_near_a_match_shows_in_an_excerpt_or_in_the_index() {
    let words = |name: &str, count: usize| (0..count).map(|i| format!("{name}{i}")).collect::<Vec<_>>().join(" ");
    let collect = |tokens: &mut Vec<String>, token: Token<'_>| {
        tokens.push(token.text.to_owned());
        Ok::<_, Infallible>(())
    };
    for (name, before, secret, behind) in NEIGHBOURS {
        let secret = whole(secret);
        let written = whole(&format!("{before}{secret}{behind}"));
        let parts = runs(&secret, 6);
        let mut own = Vec::new();
        let Ok(()) = Tokenizer::default().tokenize(secret.as_bytes(), |token| collect(&mut own, token));
        own.retain(|token| token.len() > 5);
        for distance in 0..45 {
            let (far, near) = (words("wa", 60), words("wb", distance));
            for (order, text) in [
                ("before", format!("{far} {written} {near} needle {}", words("wc", 60))),
                ("behind", format!("{far} needle {near} {written} {}", words("wc", 60))),
            ] {
                let message = Redacted::new(&text);
                let at = text.find("needle").expect("it is there");
                for size in [60, 120, 300] {
                    let shown = excerpt(&message, from_ref(&(at..at + "needle".len())), size);
                    let part = parts.iter().find(|part| shown.contains(*part));
                    assert_eq!(part, None, "{name} {distance} {order} in {size}: {shown:?}");
                    assert!(shown.contains("needle") && shown.chars().count() <= size, "{name} {distance} {order} in {size}: {shown:?}");
                }
                let indexed = message.indexed();
                let part = parts.iter().find(|part| indexed.contains(*part));
                assert_eq!(part, None, "{name} {distance} {order}: {indexed:?}");
                let mut tokens = Vec::new();
                let Ok(()) = message.tokens(Tokenizer::default(), |token| collect(&mut tokens, token));
                let token = tokens.iter().find(|token| own.contains(token));
                assert_eq!(token, None, "{name} {distance} {order}");
                assert!(tokens.len() > 120 + distance, "{name} {distance} {order}: the rest of the text is searchable");
            }
        }
    }
}

#[test]
fn the_place_with_the_most_matches_is_the_one_that_a_naive_search_finds() {
    let mut random = Random(9);
    for _ in 0..2_000 {
        let words: Vec<&str> = (0..80).map(|_| ["a", "needle", "password=hunter2x", "ö", "word"][random.below(5)]).collect();
        let text = words.join(" ");
        let message = Redacted::new(&text);
        let matches: Vec<Range<usize>> = text.match_indices("needle").map(|(at, word)| at..at + word.len()).collect();
        let room = 6 + random.below(90);
        let shown_len = |range: Range<usize>| Redacted::new(&text[range]).masked().chars().count();
        let naive = (0..matches.len())
            .flat_map(|first| (first..matches.len()).map(move |last| (first, last)))
            .filter(|(first, last)| shown_len(matches[*first].start..matches[*last].end) <= room)
            .max_by_key(|(first, last)| (last - first, usize::MAX - first));
        let expected = naive.map_or(0..0, |(first, last)| matches[first].start..matches[last].end);
        assert_eq!(best_place(&message, &matches, room), expected, "{text:?} in {room}");
    }
}

#[test]
fn the_place_with_the_most_different_terms_wins() {
    let filler = "one two three four five six seven eight nine ten ".repeat(8);
    let text = format!("needle needle needle {filler} Résumé hay needle {filler} resume Resume résumé {filler}");
    let mut matches: Vec<Range<usize>> = ["needle", "Résumé", "hay", "resume", "Resume", "résumé"]
        .iter()
        .flat_map(|word| text.match_indices(word).map(|(at, word)| at..at + word.len()))
        .collect();
    matches.sort_by_key(|range| range.start);
    let shown = excerpt(&Redacted::new(&text), &matches, 60);
    assert!(shown.contains("Résumé hay needle"), "{shown:?}");
    // One after another, with ever less room: the naive count of different words in every window agrees.
    let message = Redacted::new(&text);
    for room in 1..120 {
        let place = best_place(&message, &matches, room);
        let chars = |range: Range<usize>| text[range].chars().count();
        let fold = |range: &Range<usize>| text[range.clone()].to_lowercase().replace('é', "e");
        let count = |range: &Range<usize>| {
            let inside: Vec<String> = matches.iter().filter(|m| m.start >= range.start && m.end <= range.end).map(fold).collect();
            (inside.iter().collect::<std::collections::BTreeSet<_>>().len(), inside.len())
        };
        let windows = matches.iter().flat_map(|first| matches.iter().map(move |last| first.start..last.end));
        let best = windows.filter(|range| range.start < range.end && chars(range.clone()) <= room).map(|range| count(&range)).max();
        assert_eq!(best.unwrap_or((0, 0)).max((1, 1)), count(&place).max((1, 1)), "in {room}");
    }
}

#[test]
fn a_token_split_in_the_data_is_whole_for_the_reader() {
    assert_eq!(whole("gh⟂p_x"), "ghp_x");
}
