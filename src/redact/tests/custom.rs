//! Rules of a host: beginnings of tokens, names, known secrets, personal data.

use crate::redact::custom::{Refused, Rules};
use crate::redact::{Redacted, redact};

fn masked(rules: &Rules, text: &str) -> String {
    Redacted::with(&rules.compile(), text).masked().into_owned()
}

#[test]
fn a_custom_beginning_and_a_custom_name_are_rules_as_the_others() {
    let rules = Rules::default().prefix("acme_").and_then(|rules| rules.name("zugangswort")).expect("good rules");
    let shown = ["acme_client is the package", "acme_widget_factory", "das Zugangswort: erforderlich", "zugangswort = getWord()"];
    for text in shown {
        assert_eq!(masked(&rules, text), text);
    }
    let hidden = [
        ("use acme_9x8w7v6u5t now", "use [redacted:custom-token] now"),
        ("zugangswort=x9Yz+w8Q", "zugangswort=[redacted:custom-secret]"),
        ("\"DB_ZUGANGSWORT\": \"x9Yz+w8Q\"", "\"DB_ZUGANGSWORT\": \"[redacted:custom-secret]\""),
        ("password=hunter2", "password=[redacted:password]"),
    ];
    for (text, expected) in hidden {
        assert_eq!(masked(&rules, text), expected);
        assert_eq!(masked(&rules, expected), expected, "a second run");
    }
    assert_eq!(redact("use acme_9x8w7v6u5t now"), "use acme_9x8w7v6u5t now");
}

#[test]
fn a_known_secret_is_hidden_in_every_dress_and_everywhere() {
    let rules = Rules::default().known("tüv \"7/9\"\n").and_then(|rules| rules.known("plainword")).expect("good secrets");
    for text in ["tüv \"7/9\"\n", "t%C3%BCv%20%227%2F9%22%0A", "tüv \\\"7/9\\\"\\n", "plainword", "xplainwordx"] {
        let masked = masked(&rules, &format!("a {text} b"));
        assert!(masked.contains("[redacted:known-secret]") && !masked.contains("7/9") && !masked.contains("plainword"), "{masked:?}");
    }
    assert_eq!(masked(&rules, "a Plainword is no plain word"), "a Plainword is no plain word");
    // Each `a` but the first five ends one: they are one find.
    let rules = Rules::default().known("aaaaaa").and_then(|rules| rules.known("aaaaaaaaab")).expect("good secrets");
    assert_eq!(masked(&rules, &format!("x{}by", "a".repeat(100_000))), "x[redacted:known-secret]y");
}

#[test]
fn bad_rules_are_refused_in_words_that_do_not_quote_them() {
    let rules = Rules::default();
    let refused = [
        (rules.clone().prefix("ab"), Refused::TooShort),
        (rules.clone().prefix("schlüssel_"), Refused::NotAscii),
        (rules.clone().prefix("two words"), Refused::NotAscii),
        (rules.clone().prefix(&"a".repeat(49)), Refused::TooLong),
        (rules.clone().name(""), Refused::TooShort),
        (rules.clone().known("ünïcö"), Refused::TooShort),
        (rules.clone().known(&"a".repeat(4_097)), Refused::TooLong),
        ((0..257).try_fold(rules.clone(), |rules, i| rules.prefix(&format!("p{i}_"))), Refused::TooMany),
        ((0..513).try_fold(rules, |rules, i| rules.known(&format!("secret{i}"))), Refused::TooMany),
    ];
    for (result, expected) in refused {
        let refused = result.err().expect("it is refused");
        assert_eq!(refused, expected);
        assert!(["too short: it would match too much", "too long", "must be visible ASCII", "too many"].contains(&&*refused.to_string()));
    }
}

#[test]
fn personal_data_is_hidden_only_where_it_is_asked_for() {
    let rules = Rules::default().personal_data(true);
    let hidden = [
        ("mail bob.b+x@mail.example.com.", "mail [redacted:email]."),
        ("<a_b@example.org>", "<[redacted:email]>"),
        ("call +49 (30) 5550-0199, please", "call [redacted:phone], please"),
        ("tel:+12025550143", "tel:[redacted:phone]"),
    ];
    for (text, expected) in hidden {
        assert_eq!(masked(&rules, text), expected);
        assert_eq!(redact(text), text);
    }
    for text in
        ["left-pad@1.3.0", "git@github.com:o/r.git", "user@localhost", "@scope/pkg", "a+123456789", "+1 2 3", "x += 12345678", "1e+10"]
    {
        assert_eq!(masked(&rules, text), text);
    }
}
