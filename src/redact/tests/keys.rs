//! Private keys in PEM as they are pasted: cut off, quoted, commented, in tables and in the source of programs.

use super::properties::Random;
use super::whole;
use crate::redact::redact;

/// A line of `len` random base64 characters.
fn line(random: &mut Random, len: usize) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    (0..len).map(|_| char::from(ALPHABET[random.below(64)])).collect()
}

fn assert_hidden(text: &str, lines: &[String]) {
    let masked = redact(text).into_owned();
    for line in lines.iter().filter(|line| line.len() >= 6) {
        let shown = (0..=line.len() - 6).find(|at| masked.contains(&line[*at..at + 6]));
        assert_eq!(shown, None, "a part of {line} of {text:?} shows in {masked:?}");
    }
    assert!(masked.contains("[redacted:private-key]"), "{text:?}");
    assert_eq!(redact(&masked), masked);
}

#[test]
fn the_lines_of_a_key_are_hidden_whatever_is_between_them() {
    let between = [
        "\n",
        "\r\n",
        " \n",
        "\t\n",
        "  \t\r\n",
        "\n\n",
        "\n \n\n",
        "\n> ",
        "\n>\n> ",
        "\n    ",
        "\n 12  ",
        "\n 12→",
        "\n+",
        "\n-",
        "\n| ",
        " |\n| ",
        "\n# ",
        "\n * ",
        "\n// ",
        "\n/// ",
        "\n-- ",
        "<br>\n",
        "<br/>\n",
        "<br>",
        "\" +\n  \"",
        "\\n\" +\n  \"",
        "\\n\" \\\n  \"",
        "\" .\n  \"",
        "\",\n  \"",
        "\", \"",
        "',\n'",
        "\\n",
        "\\\\n",
        "\\r\\n",
        " ",
    ];
    let mut random = Random(7);
    for between in between {
        for last in [64, 40, 20] {
            let lines: Vec<String> = [64, 64, 64, last].iter().map(|len| line(&mut random, *len)).collect();
            let body = between.to_owned() + &lines.join(between);
            for (end, rest) in [("--⟂---END PRIVATE KEY-----", "\nbye now"), ("", "\nbye now"), ("", "")] {
                let end = if end.is_empty() { String::new() } else { format!("{between}{end}") };
                assert_hidden(&whole(&format!("key:\n--⟂---BEGIN PRIVATE KEY-----{body}{end}{rest}")), &lines);
            }
        }
    }
}

#[test]
fn every_marker_is_seen() {
    let markers = [
        ("--⟂---BEGIN RSA PRIVATE KEY-----", "--⟂---END RSA PRIVATE KEY-----"),
        ("--⟂---BEGIN OPENSSH PRIVATE KEY----- ", ""),
        ("--⟂---BEGIN PGP PRIVATE KEY BLOCK-----", ""),
        ("--⟂- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----", "--⟂- END SSH2 ENCRYPTED PRIVATE KEY ----"),
        ("----⟂- BEGIN RSA PRIVATE KEY -----", ""),
        ("--⟂--BEGIN PRIVATE KEY----", ""),
        ("--⟂---begin private key-----", "--⟂---end private key-----"),
        ("–––––BEGIN PRIVATE KEY–––––", "–––––END PRIVATE KEY–––––"),
        ("——-BEGIN PRIVATE KEY——-", ""),
        ("BEGIN RSA PRIVATE KEY", "END RSA PRIVATE KEY"),
    ];
    let mut random = Random(8);
    for (begin, end) in markers {
        let lines: Vec<String> = (0..3).map(|_| line(&mut random, 64)).collect();
        let text = whole(&format!("a\n{begin}\n{}\n{end}\nand then prose", lines.join("\n")));
        assert_hidden(&text, &lines);
        let masked = redact(&text).into_owned();
        assert!(masked.starts_with("a\n") && masked.ends_with(&whole(&format!("{end}\nand then prose"))), "{masked:?}");
    }
}

#[test]
fn an_end_without_its_begin_hides_the_lines_before_it() {
    let mut random = Random(9);
    for count in [1, 2, 5, 20, 60] {
        for between in ["\n", "\r\n", "\n> ", "\\n", "\",\n  \"", "\n# "] {
            let lines: Vec<String> = (0..count).map(|_| line(&mut random, 64)).collect();
            let text = whole(&format!("the rest of it:\n{}{between}--⟂---END RSA PRIVATE KEY----- thanks", lines.join(between)));
            assert_hidden(&text, &lines);
            let masked = redact(&text).into_owned();
            assert!(
                masked.starts_with("the rest of it:\n[redacted") && masked.ends_with(&whole("--⟂---END RSA PRIVATE KEY----- thanks")),
                "{masked:?}"
            );
        }
    }
    let kept = ["it ends with\n--⟂---END RSA PRIVATE KEY-----", "AB12CD34EF\nbetween the lines of a note\n--⟂---END PRIVATE KEY-----"];
    for text in kept.map(whole) {
        assert_eq!(redact(&text), text);
    }
}

#[test]
fn a_short_last_line_is_hidden_and_prose_behind_the_key_is_not() {
    let lines = [
        "MIIEowIBAAKCAQEAtestkeymaterial0MIIEowIBAAKCAQEAtestkeymaterial0",
        "sG6JNCek",
        "x4Yz+w==",
        "aB3dE5fG7h",
        "kkqZmmQpw",
        "ab/cdE9f",
        "EYIAua",
    ];
    for last in &lines[1..] {
        for tail in ["", " end", " end of it.", "\n", "\nthanks", " \nthanks"] {
            let text = whole(&format!("--⟂---BEGIN RSA PRIVATE KEY-----\n{0}\n{0}\n{last}{tail}", lines[0]));
            let expected = whole(&format!("--⟂---BEGIN RSA PRIVATE KEY-----\n[redacted:private-key]{tail}"));
            assert_eq!(redact(&text), expected);
        }
    }
    let rests = [
        "\nand then prose",
        "\n\nThanks, that was it.",
        "\nIt was OpenSSH's, version 9",
        "\n\n12345 files were left",
        "\n--⟂---BEGIN CERTIFICATE-----\nMIIBcertificateMIIBcertificateMIIBcertificate0\n-----END CERTIFICATE-----",
        "\",\n  \"client_email\": \"bob@example.com\"",
        "\", \"clientX509\": \"c\"",
        "\n# Rotate it before Friday",
        "\n * @param key2 the key",
        "\n\n| name | value2 |",
    ];
    for rest in rests {
        let text = whole(&format!("--⟂---BEGIN RSA PRIVATE KEY-----\n{0}\n{0}{rest}", lines[0]));
        assert_eq!(redact(&text), whole(&format!("--⟂---BEGIN RSA PRIVATE KEY-----\n[redacted:private-key]{rest}")));
    }
    let kept = [
        "PEM_HEADERS = [\"--⟂---BEGIN PRIVATE KEY-----\", \"--⟂---BEGIN RSA PRIVATE KEY-----\"]",
        "if text.starts_with(\"--⟂---BEGIN PRIVATE KEY-----\",\n    SomeLongIdentifierName)",
        "let us begin with the private key of the old machine",
        "a private key ends here",
    ];
    for text in kept.map(whole) {
        assert_eq!(redact(&text), text);
    }
}
