//! The rules as data: which literal is looked for, what it means, and which verifier decides.
//!
//! A literal is matched in either case; verifiers of tokens then insist on the case that is written here. Adding a credential kind is
//! adding a row to `tokens.rs` or `names.rs`, and a case to `tests/data/redact-kinds.jsonl`.

mod names;
mod tokens;

use std::borrow::Cow;

use super::MASK_OPEN;
use super::scan::Alphabet;
use names::NAMES;
pub(super) use names::PERSONAL;
use tokens::TOKENS;

/// One literal and what to do where it occurs.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) literal: Cow<'static, str>,
    /// The word in the mask.
    pub(super) kind: &'static str,
    pub(super) verify: Verify,
}

/// Who decides whether a literal is part of a secret.
#[derive(Clone, Copy, Debug)]
pub(super) enum Verify {
    /// The literal begins a token of `body`. From `full` characters on it only has to be no word, a shorter one has to look random.
    Token { body: Alphabet, full: usize, start: Start },
    /// The literal begins a token of between `min` and `max` characters of `body` that looks random; anything else is a name.
    Exact { body: Alphabet, min: usize, max: usize },
    /// The literal stands inside of a token.
    Inside { before: Part, after: Part },
    /// The literal ends the name of something, its value follows.
    Value(Strength),
    /// The literal is the name of an HTTP header; scheme and credential follow.
    Authorization,
    /// The literal is an authentication scheme outside of its header.
    Bearer,
    /// The literal is the name of a header with cookies.
    Cookies,
    /// The literal is a program that takes a password on its command line.
    Command(Command),
    /// The literal begins an AWS access key id.
    AwsKeyId,
    /// `SG.` and two parts with a dot between, 22 and 43 long
    SendGrid,
    /// Bot id, `:AA` and 33 more, or fewer that look random
    Telegram,
    /// In the path of a URL: bot id, `:` and 20 more that look random
    TelegramPath,
    /// Environment, merchant and 32 hexadecimal digits with `$` between
    Braintree,
    /// base64url parts with dots between, the first of them a JSON object
    Jwt,
    /// The literal is a member of a JSON Web Key; those with the private numbers are near.
    Jwk,
    /// The literal begins a hash of `crypt(3)`: parameters, salt and hash follow, with `$` between.
    Crypt,
    /// The literal ends the label of a PEM block.
    Pem,
    /// The literal stands before the number of lines of a key of `PuTTY`, and those lines.
    Putty,
    /// The literal is a port between host and database of a line of `.pgpass`.
    PgPass,
    /// The literal begins the fields of a wireless network, one of them its password.
    Wifi,
    /// The literal stands between scheme and authority of a URL.
    Url,
    /// The literal is the beginning of a path that is itself the secret.
    Webhook,
    /// The literal names a list of words that is a wallet's key.
    Mnemonic,
    /// The `@` of an address of mail.
    Mail,
    /// The `+` of a telephone number.
    Phone,
    /// The literal opens a mask: what follows has been redacted before.
    Mask,
}

/// Where a token may begin, and what else its beginning is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// At a border.
    Border,
    /// At a border, and nothing but tokens begins so.
    Rare,
    /// Anywhere: the beginning is so rare that it is one in the middle of a word, too.
    Anywhere,
    /// At a border, and names in code begin so too: a short body needs capitals, small letters and digits.
    Name,
}

/// How many characters of which alphabet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) body: Alphabet,
    pub(super) min: usize,
    pub(super) max: usize,
}

/// How a program takes its password.
#[derive(Clone, Copy, Debug)]
pub(super) enum Command {
    /// Behind one of these flags, a blank between or not: `-p x`, `-px`.
    Flags(&'static [&'static str]),
    /// Behind `user:` behind one of these flags: `-u bob:x`.
    Login(&'static [&'static str]),
    /// Glued to the flag: `-px`; with a blank between it is something else.
    Glued(&'static str),
    /// The last of so many arguments that are no flags: `htpasswd -b file bob x`.
    Argument(usize),
    /// In the first argument, between `/` and `@`: `sqlplus bob/x@host`.
    Slash,
}

/// How much the name alone says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strength {
    /// `password`: short values and numbers count too.
    Password,
    /// `token`, `api_key`: values of six characters that are no words.
    Secret,
    /// `key`, `auth`: only long values that look random.
    Weak,
    /// `pass`, `jwt`: values of eight characters that look random.
    Mixed,
    /// `session`, `code`: only in a URL or a form, and only long values that look random.
    Query,
    /// `card_number`: any number of the right length.
    Card,
    /// `cvc`: three or four digits.
    CardCode,
}

/// Every rule that comes with the library.
pub(super) fn standard() -> impl Iterator<Item = &'static Rule> {
    TOKENS.iter().chain(NAMES)
}

/// A token at a border.
const fn token(literal: &'static str, kind: &'static str, body: Alphabet, full: usize) -> Rule {
    rule(literal, kind, Verify::Token { body, full, start: Start::Border })
}

/// A token at a border whose beginning no name has.
const fn rare(literal: &'static str, kind: &'static str, body: Alphabet, full: usize) -> Rule {
    rule(literal, kind, Verify::Token { body, full, start: Start::Rare })
}

/// A token anywhere.
const fn glued(literal: &'static str, kind: &'static str, body: Alphabet, full: usize) -> Rule {
    rule(literal, kind, Verify::Token { body, full, start: Start::Anywhere })
}

/// A token whose beginning is one of names in code, too.
const fn name(literal: &'static str, kind: &'static str, body: Alphabet, full: usize) -> Rule {
    rule(literal, kind, Verify::Token { body, full, start: Start::Name })
}

const fn exact(literal: &'static str, kind: &'static str, body: Alphabet, min: usize, max: usize) -> Rule {
    rule(literal, kind, Verify::Exact { body, min, max })
}

const fn inside(literal: &'static str, kind: &'static str, before: Part, after: Part) -> Rule {
    rule(literal, kind, Verify::Inside { before, after })
}

const fn part(body: Alphabet, min: usize, max: usize) -> Part {
    Part { body, min, max }
}

/// The value of a name.
const fn value(literal: &'static str, kind: &'static str, strength: Strength) -> Rule {
    rule(literal, kind, Verify::Value(strength))
}

const fn command(literal: &'static str, command: Command) -> Rule {
    rule(literal, "password", Verify::Command(command))
}

const fn rule(literal: &'static str, kind: &'static str, verify: Verify) -> Rule {
    Rule { literal: Cow::Borrowed(literal), kind, verify }
}
