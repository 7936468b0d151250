//! Whether what stands behind a name such as `password=` is a secret, or a word, a reference, a type, a path, a placeholder.
//!
//! A name alone never masks. All functions look at no more than they are given; callers give at most [`JUDGED`] bytes.

use super::card;
use super::rules::Strength;
use super::scan::Alphabet;

/// So many bytes of a value are enough to judge it.
pub(super) const JUDGED: usize = 128;

/// A value and how it was written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Value<'t> {
    pub(super) bytes: &'t [u8],
    /// It stands in quotes.
    pub(super) quoted: bool,
    /// It follows a colon and a blank, without quotes, as in YAML, in a form and in prose.
    pub(super) prose: bool,
    /// It stands in a URL or a form, where words are rare.
    pub(super) query: bool,
}

/// Whether `value` is to be masked behind a name of this `strength`.
pub(super) fn is_secret(value: Value<'_>, strength: Strength) -> bool {
    let bytes = value.bytes;
    // The cheapest question first: hostile texts ask it for every few bytes.
    has_form(value, strength) && !is_stand_in(bytes) && !is_published_example(bytes) && !is_address(bytes) && !is_readable(value, strength)
}

/// Whether `value` has the length and the characters that a secret with a name of this `strength` has.
fn has_form(value: Value<'_>, strength: Strength) -> bool {
    let bytes = value.bytes;
    let digits = bytes.iter().filter(|b| b.is_ascii_digit()).count();
    let number = bytes.iter().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b',' | b'%'));
    match strength {
        Strength::Password if number => digits >= 4 && digits == bytes.len(),
        Strength::Password => bytes.len() >= 4,
        Strength::Secret if number => digits >= 16,
        // A token has no blanks; a sentence about it has.
        Strength::Secret if memchr::memchr_iter(b' ', bytes).count() >= 3 => false,
        Strength::Secret => bytes.len() >= if value.prose { 8 } else { 6 },
        Strength::Weak => is_random(bytes),
        Strength::Mixed => is_random(bytes) || is_random_short(bytes),
        // Blanks in it, as a playground's link has them: a program, not an authorization code.
        Strength::Query => value.query && is_random(bytes) && !bytes.contains(&b'+') && memchr::memmem::find(bytes, b"%20").is_none(),
        Strength::Card => card::is_labelled_number(bytes) || is_random(bytes),
        Strength::CardCode => (matches!(bytes.len(), 3 | 4) && digits == bytes.len()) || is_random(bytes),
    }
}

/// Whether `value` is words, code or an id, which people read and a thief does not want.
fn is_readable(value: Value<'_>, strength: Strength) -> bool {
    let bytes = value.bytes;
    let opaque = value.query && bytes.len() >= 12 && !names_itself(bytes);
    let phrase = value.quoted && strength == Strength::Password && is_phrase(bytes);
    (!value.quoted && is_code(bytes)) || (!opaque && !phrase && (is_uuid(bytes) || is_wordy(bytes)))
}

/// Twenty characters and more of upper case, lower case and digits: no word, no path, no date, no hex digest.
pub(super) fn is_random(bytes: &[u8]) -> bool {
    let has = |class: fn(&u8) -> bool, n| bytes.iter().filter(|b| class(b)).take(n).count() == n;
    bytes.len() >= 20
        && bytes.iter().all(|b| Alphabet::Token68.has(*b))
        && has(u8::is_ascii_uppercase, 2)
        && has(u8::is_ascii_lowercase, 2)
        && has(u8::is_ascii_digit, 2)
}

/// Eight characters and more with digits among short pieces, or letters in turning case, as random ones have them: no word, no words with
/// a number. Capital and small letters together are one piece, as in `Word`.
pub(super) fn is_scrambled(bytes: &[u8]) -> bool {
    let (characters, pieces) = pieces(bytes);
    let digits = bytes.iter().any(u8::is_ascii_digit);
    if digits {
        characters >= 8 && pieces >= 4 && characters <= pieces * 4
    } else {
        characters >= 12 && alternates(bytes, 3) || characters >= 8 && alternates(bytes, 2)
    }
}

/// What is scrambled, and a little less: behind a beginning that nothing but a token has.
pub(super) fn is_nearly_scrambled(bytes: &[u8]) -> bool {
    let (characters, pieces) = pieces(bytes);
    let count = |class: fn(&u8) -> bool| bytes.iter().filter(|b| class(b)).count();
    let capitals = count(u8::is_ascii_uppercase) * 2 >= bytes.len() && count(u8::is_ascii_lowercase) * 4 >= bytes.len();
    let digits = bytes.iter().any(u8::is_ascii_digit);
    is_scrambled(bytes)
        || (characters >= 10 && if digits { pieces >= 3 && characters <= pieces * 4 } else { capitals || alternates(bytes, 3) })
}

/// Eight characters and more with all three of small letters, capitals and digits, in shorter pieces than those of a name.
pub(super) fn is_random_short(bytes: &[u8]) -> bool {
    has_short_pieces(bytes, 3)
}

/// Eight characters and more with all three of small letters, capitals and digits, in pieces of less than `piece` characters.
pub(super) fn has_short_pieces(bytes: &[u8], piece: usize) -> bool {
    let (characters, pieces) = pieces(bytes);
    let has = |class: fn(&u8) -> bool| bytes.iter().any(class);
    characters >= 8 && characters < pieces * piece && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_digit)
}

/// How many letters and digits there are, and in how many pieces of one class.
pub(super) fn pieces(bytes: &[u8]) -> (usize, usize) {
    let class = |b: u8| (b.is_ascii_digit(), b.is_ascii_uppercase());
    let (mut characters, mut pieces, mut last) = (0, 0, None);
    for b in bytes.iter().copied().filter(u8::is_ascii_alphanumeric) {
        let goes_on = last.is_some_and(|last: u8| class(last) == class(b) || (last.is_ascii_uppercase() && b.is_ascii_lowercase()));
        characters += 1;
        pieces += usize::from(!goes_on);
        last = Some(b);
    }
    (characters, pieces)
}

/// Example values of vendors' documentation, exact: they stay readable.
pub(super) fn is_published_example(bytes: &[u8]) -> bool {
    const EXAMPLES: [&str; 2] = [concat!("AKIA", "IOSFODNN7EXAMPLE"), concat!("wJalrXUtnFEMI/", "K7MDENG/bPxRfiCYEXAMPLEKEY")];
    EXAMPLES.iter().any(|example| example.as_bytes() == bytes)
}

/// Something that stands in for a value: a mask, a reference, a placeholder.
pub(super) fn is_stand_in(bytes: &[u8]) -> bool {
    #[rustfmt::skip]
    const OPENINGS: [&[u8]; 15] = [
        b"<", b"{{", b"%{", b"#{", b"@{", b"[redacted", b"[REDACTED", b"(redacted", b"process.env", b"os.environ",
        b"import.meta", b"env.", b"secrets.", b"your", b"YOUR",
    ];
    // What no secret has in it.
    const INSIDE: [&[u8]; 12] =
        [b"\\*(", b"<<", b"%s", b"...", "…".as_bytes(), "•".as_bytes(), b"***", b"xxxx", b"XXXX", b"${", b"{{", b"[redacted:"];
    // `$2b$…` is a hash, `$NAME` and `$(…)` are references.
    let variable = matches!(bytes, [b'$', next, ..] if !next.is_ascii_digit());
    let percent = bytes.len() > 2 && bytes.first() == Some(&b'%') && bytes.last() == Some(&b'%');
    let field = bytes.iter().skip(1).take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.' | b'!' | b':')).count();
    let braces = bytes.first() == Some(&b'{') && bytes.get(field + 1) == Some(&b'}');
    // A manual page in its source: `\\fR`, `\\-`, `\\*(Aq`.
    let troff = matches!(bytes, [b'\\', b'f' | b'-' | b'*' | b'&' | b'(', ..]);
    // The end of one string of a program and the beginning of another: `"Token: "', $x, "`.
    let between = matches!(bytes, [b'"' | b'\'', b',' | b';' | b'.' | b'`', ..] | [b',' | b';', b' ', ..]);
    bytes.iter().all(|b| bytes.first() == Some(b))
        || variable
        || percent
        || braces
        || troff
        || between
        || OPENINGS.iter().any(|opening| bytes.starts_with(opening))
        || INSIDE.iter().any(|inside| memchr::memmem::find(bytes, inside).is_some())
}

/// A URL, a path, a digest with its name, a colour, a constant, a date, a version: things that are named, not kept.
fn is_address(bytes: &[u8]) -> bool {
    #[rustfmt::skip]
    const OPENINGS: [&[u8]; 14] = [
        b"arn:", b"data:", b"file:", b"sha1", b"sha256", b"sha384", b"sha512", b"SHA256:", b"md5:", b"h1:", b"./", b"../",
        b"-----BEGIN", b"---- BEGIN",
    ];
    let scheme = bytes.iter().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.')).count();
    let url = scheme > 1 && bytes.get(scheme..).is_some_and(|rest| rest.starts_with(b"://"));
    let colour = bytes.first() == Some(&b'#') && bytes.len() <= 9 && bytes.iter().skip(1).all(u8::is_ascii_hexdigit);
    let numbers = |separator: u8| {
        let bytes = if separator == b'.' { bytes.strip_prefix(b"v").unwrap_or(bytes) } else { bytes };
        bytes.split(|b| *b == separator).take(3).map(|part| part.iter().take_while(|b| b.is_ascii_digit()).count()).collect::<Vec<_>>()
    };
    let date = numbers(b'-') == [4, 2, 2];
    let constant = bytes.len() <= 18 && bytes.starts_with(b"0x") && bytes.iter().skip(2).all(u8::is_ascii_hexdigit);
    let version = bytes.len() <= 16 && matches!(numbers(b'.')[..], [1..=3, 1..=3, 1..=5]);
    url || colour || constant || date || version || is_path(bytes) || OPENINGS.iter().any(|opening| bytes.starts_with(opening))
}

/// A path from the root, from home or from a drive. A random value may begin with a slash too; its parts are no names.
fn is_path(bytes: &[u8]) -> bool {
    let drive = matches!(bytes, [letter, b':', b'\\' | b'/', ..] if letter.is_ascii_alphabetic());
    let from_root = bytes.first() == Some(&b'/') || bytes.starts_with(b"~/");
    let is_name = |part: &[u8]| !is_random(part) && (part.len() < 20 || !part.iter().any(u8::is_ascii_digit));
    (drive || from_root) && bytes.split(|b| matches!(b, b'/' | b'\\')).all(is_name)
}

fn is_uuid(bytes: &[u8]) -> bool {
    bytes.len() == 36
        && bytes.iter().enumerate().all(|(i, b)| if matches!(i, 8 | 13 | 18 | 23) { *b == b'-' } else { b.is_ascii_hexdigit() })
}

/// Nothing but words: a label, a sentence, an identifier, a type. Letters without any order are none.
fn is_wordy(bytes: &[u8]) -> bool {
    const TYPES: [&[u8]; 8] = [b"uint256", b"bytes32", b"Uint8Array", b"base64", b"sha256", b"oauth2", b"utf8", b"md5"];
    const SENTENCE: [&[u8]; 4] = [b"haracters", b"must ", b"Must ", b" least "];
    let word = |b: &u8| {
        b.is_ascii_alphabetic()
            || *b >= 0x80
            || matches!(b, b'_' | b'-' | b'.' | b',' | b':' | b'<' | b'>' | b'[' | b']' | b'?' | b'/' | b'|' | b' ' | b'\'')
    };
    let exclaims = bytes.strip_suffix(b"!").filter(|rest| rest.contains(&b' ')).unwrap_or(bytes);
    let reference = exclaims.strip_prefix(b"&").or_else(|| exclaims.strip_prefix(b"*")).unwrap_or(exclaims);
    (reference.iter().all(word) && !is_shuffled(reference) && !is_long_run(reference))
        || TYPES.contains(&bytes)
        || (bytes.contains(&b' ') && SENTENCE.iter().any(|part| memchr::memmem::find(bytes, part).is_some()))
}

/// Sixteen characters and more that change between upper and lower case as often as not: no name is written so.
fn is_shuffled(bytes: &[u8]) -> bool {
    bytes.len() >= 16 && !bytes.contains(&b' ') && alternates(bytes, 3)
}

/// Whether every `nth` character changes the case, and every third is a capital.
fn alternates(bytes: &[u8], nth: usize) -> bool {
    let changes = bytes.windows(2).filter(|pair| matches!(pair, [a, b] if a.is_ascii_uppercase() != b.is_ascii_uppercase())).count();
    let upper = bytes.iter().filter(|b| b.is_ascii_uppercase()).count();
    changes * nth >= bytes.len() && upper * 3 >= bytes.len()
}

/// More small letters in a row than a word has, and no blank.
fn is_long_run(bytes: &[u8]) -> bool {
    !bytes.contains(&b' ') && bytes.split(|b| !b.is_ascii_lowercase()).any(|run| run.len() >= 20)
}

/// Four words and more of small letters, none of which makes a sentence: a passphrase.
fn is_phrase(bytes: &[u8]) -> bool {
    #[rustfmt::skip]
    const OF_SENTENCES: [&[u8]; 36] = [
        b"a", b"an", b"and", b"are", b"at", b"be", b"by", b"can", b"do", b"does", b"enter", b"for", b"from", b"has", b"here", b"if",
        b"in", b"is", b"it", b"must", b"no", b"not", b"of", b"on", b"or", b"password", b"should", b"that", b"the", b"this", b"to",
        b"user", b"was", b"with", b"you", b"your",
    ];
    let mut words = bytes.split(|b| *b == b' ');
    let plain = words.all(|word| !word.is_empty() && word.iter().all(u8::is_ascii_lowercase) && !OF_SENTENCES.contains(&word));
    plain && memchr::memchr_iter(b' ', bytes).count() >= 3
}

/// Whether a word behind `is` or behind a flag is none of a sentence.
pub(super) fn stands_out(bytes: &[u8]) -> bool {
    let has = |class: fn(&u8) -> bool| bytes.iter().any(class);
    let classes = has_inner_symbol(bytes) && bytes.len() >= 8 && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    has(u8::is_ascii_digit) || classes || is_long_run(bytes) || is_shuffled(bytes) || is_phrase(bytes)
}

/// A symbol that words do not have, but as an emphasis around them.
fn has_inner_symbol(bytes: &[u8]) -> bool {
    let inner = bytes.get(1..bytes.len().saturating_sub(1)).unwrap_or_default();
    inner.iter().any(|b| matches!(b, b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'*' | b'+' | b'=' | b'~'))
}

/// Whether a word in a sentence, a table or on a line of its own can only be a value: eight characters and more with letters and a digit or
/// a symbol among them, or a long run of letters, and no term, no address of mail.
pub(super) fn stands_out_in_prose(bytes: &[u8]) -> bool {
    #[rustfmt::skip]
    const TERMS: [&[u8]; 16] = [
        b"sha", b"md5", b"base64", b"base32", b"utf", b"oauth", b"aes", b"rsa", b"x509", b"pbkdf", b"argon", b"hs256", b"rs256", b"http",
        b"ipv", b"uint",
    ];
    let has = |class: fn(&u8) -> bool| bytes.iter().any(class);
    let term = |part: &[u8]| TERMS.iter().any(|term| part.get(..term.len()).is_some_and(|start| start.eq_ignore_ascii_case(term)));
    // A pointer of C: `*name`.
    let pointer = bytes.first() == Some(&b'*') && bytes.last() != Some(&b'*');
    let plain = !matches!(bytes.first(), Some(b'-' | b'/' | b'\\' | b'%'))
        && !pointer
        && !bytes.contains(&b',')
        && !bytes.contains(&b' ')
        && !bytes.split(|b| *b == b'-').any(term);
    // `TICKET-42`
    let numbered = bytes.split(|b| *b == b'-').all(|part| part.iter().all(u8::is_ascii_digit) || !part.iter().any(u8::is_ascii_digit));
    let numbered = numbered && bytes.contains(&b'-') && !has_inner_symbol(bytes);
    let mail = bytes.split(|b| *b == b'@').nth(1).is_some_and(|host| host.contains(&b'.'));
    let cases = has_inner_symbol(bytes) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    let mixed = bytes.len() >= 8 && (cases || (has(u8::is_ascii_alphabetic) && has(u8::is_ascii_digit)));
    plain && !mail && !numbered && (mixed || is_long_run(bytes) || is_shuffled(bytes))
}

/// Whether a value only says what belongs in its place: `my-access-token`, `YOUR_KEY`.
fn names_itself(bytes: &[u8]) -> bool {
    #[rustfmt::skip]
    const WORDS: [&[u8]; 20] = [
        b"token", b"key", b"secret", b"pass", b"pwd", b"auth", b"cred", b"sign", b"your", b"example", b"sample", b"placeholder",
        b"value", b"here", b"dummy", b"change", b"redacted", b"removed", b"hidden", b"string",
    ];
    let lower = bytes.to_ascii_lowercase();
    is_wordy(bytes) && WORDS.iter().any(|word| memchr::memmem::find(&lower, word).is_some())
}

/// The name of a constant, such as `FTS5_MAX_TOKEN_SIZE`.
fn is_constant(bytes: &[u8]) -> bool {
    let count = |class: fn(&u8) -> bool| bytes.iter().filter(|b| class(b)).count();
    let (upper, digits, bars) = (count(u8::is_ascii_uppercase), count(u8::is_ascii_digit), count(|b| *b == b'_'));
    upper + digits + bars == bytes.len() && bars >= 2 && digits <= 2
}

/// The path of a member that is called like what it is the value of: `token: node.colon2_token`.
fn is_namesake(bytes: &[u8]) -> bool {
    const NAMES: [&[u8]; 7] = [b"token", b"key", b"secret", b"password", b"passwd", b"pwd", b"signature"];
    let path = bytes.iter().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.')).count();
    let path = bytes.get(..path).unwrap_or_default();
    let named =
        |name: &[u8]| path.len().checked_sub(name.len()).and_then(|at| path.get(at..)).is_some_and(|end| end.eq_ignore_ascii_case(name));
    path.contains(&b'.') && NAMES.iter().any(|name| named(name))
}

/// A call, an operator, an opening bracket, the path of a module: code, not a value.
fn is_code(bytes: &[u8]) -> bool {
    let name = bytes.iter().take_while(|b| Alphabet::Dotted.has(**b) || matches!(b, b':' | b'<' | b'>' | b'!' | b'?')).count();
    let behind = bytes.get(name..).unwrap_or_default();
    let begins_with_letter = bytes.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_');
    let call = begins_with_letter && matches!(behind.first(), Some(b'(' | b'['));
    let module = begins_with_letter && memchr::memmem::find(bytes, b"::").is_some();
    let member = [&b"self."[..], b"this.", b"config.", b"cfg.", b"settings.", b"options.", b"args.", b"params.", b"req.", b"ctx.", b"var."]
        .iter()
        .any(|head| bytes.starts_with(head));
    let opens = matches!(bytes.first(), Some(b'(' | b'{' | b'[' | b'&' | b'!' | b'=' | b'|'));
    call || module || member || opens || is_namesake(bytes) || is_constant(bytes)
}
