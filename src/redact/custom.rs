//! Rules of a host beside those of this library: beginnings of its tokens, names of its secrets, secrets that it knows, and whether
//! addresses of mail and telephone numbers count.
//!
//! Known secrets are kept as they are, in memory only, and never written or shown: a hash of a short password can be guessed from a list
//! of words, and one that a text is searched for costs a pass per length. The host that knows a secret has it in memory anyway.

use std::borrow::Cow;
use std::fmt;

use super::detector::Detector;
use super::name::MAX_NAME;
use super::rules::{PERSONAL, Rule, Start, Strength, Verify};
use super::scan::Alphabet::Url64;

/// Shortest beginning of a token and shortest name.
const MIN_LITERAL: usize = 3;
/// Shortest body of a token with a custom beginning.
const MIN_TOKEN: usize = 8;
/// Shortest and longest known secret: shorter ones are words, longer ones files.
const MIN_KNOWN: usize = 6;
const MAX_KNOWN: usize = 4_096;
/// Most literals and most known secrets: together with their length they bound the automata.
const MAX_LITERALS: usize = 256;
const MAX_KNOWNS: usize = 512;

/// What is looked for. The default is what this library knows, without personal data.
#[derive(Clone, Default)]
pub(crate) struct Rules {
    custom: Vec<Rule>,
    known: Vec<String>,
    personal: bool,
}

/// Why a rule is refused. Never quotes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It would match too much.
    TooShort,
    /// No token, name or secret is so long.
    TooLong,
    /// Beginnings of tokens are visible ASCII.
    NotAscii,
    /// There are too many already.
    TooMany,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooShort => "too short: it would match too much",
            Self::TooLong => "too long",
            Self::NotAscii => "must be visible ASCII",
            Self::TooMany => "too many",
        })
    }
}

impl Rules {
    /// Masks tokens that begin with `literal`: eight characters and more of base64url behind it that are no word.
    pub(crate) fn prefix(self, literal: &str) -> Result<Self, Refused> {
        if !literal.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(Refused::NotAscii);
        }
        self.rule(literal, "custom-token", Verify::Token { body: Url64, full: MIN_TOKEN, start: Start::Border })
    }

    /// Masks the value of what is called `literal` or ends so, as that of `token`.
    pub(crate) fn name(self, literal: &str) -> Result<Self, Refused> {
        self.rule(literal, "custom-secret", Verify::Value(Strength::Secret))
    }

    /// Masks `secret` wherever it stands: as it is, in percent-encoding, or escaped as in JSON.
    pub(crate) fn known(mut self, secret: &str) -> Result<Self, Refused> {
        match secret.chars().count() {
            ..MIN_KNOWN => return Err(Refused::TooShort),
            _ if secret.len() > MAX_KNOWN => return Err(Refused::TooLong),
            _ if self.known.len() >= MAX_KNOWNS => return Err(Refused::TooMany),
            _ => {}
        }
        for form in [secret.to_owned(), percent_encoded(secret), json_escaped(secret)] {
            if !self.known.contains(&form) {
                self.known.push(form);
            }
        }
        Ok(self)
    }

    /// Whether addresses of mail and telephone numbers are masked.
    pub(crate) fn personal_data(self, masked: bool) -> Self {
        Self { personal: masked, ..self }
    }

    fn rule(mut self, literal: &str, kind: &'static str, verify: Verify) -> Result<Self, Refused> {
        match literal.len() {
            ..MIN_LITERAL => return Err(Refused::TooShort),
            len if len > MAX_NAME => return Err(Refused::TooLong),
            _ if self.custom.len() >= MAX_LITERALS => return Err(Refused::TooMany),
            _ => {}
        }
        self.custom.push(Rule { literal: Cow::Owned(literal.to_owned()), kind, verify });
        Ok(self)
    }
}

impl Rules {
    /// The rules ready for use.
    pub(crate) fn compile(&self) -> Detector {
        let personal = if self.personal { PERSONAL } else { &[] };
        Detector::new(self.custom.iter().chain(personal).cloned().collect(), &self.known)
    }
}

/// As a URL carries it: all but what RFC 3986 calls unreserved in percent-encoding.
fn percent_encoded(secret: &str) -> String {
    let mut out = String::new();
    for b in secret.bytes() {
        if b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~') {
            out.push(b.into());
        } else {
            let digit = |half: u8| char::from_digit(half.into(), 16).map_or('0', |digit| digit.to_ascii_uppercase());
            out.extend(['%', digit(b >> 4), digit(b & 15)]);
        }
    }
    out
}

/// As it stands between the quotes of JSON.
fn json_escaped(secret: &str) -> String {
    let quoted = serde_json::Value::from(secret).to_string();
    quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
}
