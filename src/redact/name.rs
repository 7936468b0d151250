//! What a name says before its value is looked at: whether it is one of a secret, and whether it stands in a command line, in XML or in
//! a URL. Each looks at no more than [`MAX_NAME`] bytes before the literal. Tested through `tests.rs`.

use super::scan::Scan;

/// How long a name may be.
pub(super) const MAX_NAME: usize = 48;

/// The name up to the literal, as far as it is looked at.
pub(super) fn before<'t>(scan: &Scan<'t>, start: usize) -> &'t [u8] {
    let part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.');
    let len = (1..=MAX_NAME).take_while(|back| part(scan.before(start, *back))).count();
    scan.slice(start - len..start)
}

/// Whether the name is one of a secret: `next_page_token` and `public_key` are not.
pub(super) fn names_a_secret(scan: &Scan<'_>, start: usize) -> bool {
    #[rustfmt::skip]
    const HARMLESS: [&str; 15] = [
        "public", "pub", "page", "continuation", "cancellation", "primary", "foreign", "sort", "cache", "partition", "pad",
        "eos", "bos", "unk", "stop",
    ];
    let name = before(scan, start);
    let name = name.strip_suffix(b"_").or_else(|| name.strip_suffix(b"-")).unwrap_or(name);
    // A resource of a cloud: `arn:aws:secretsmanager:eu-central-1:1234:secret:db`.
    let resource = scan.before(start, 1) == b':' && scan.before(start, 2).is_ascii_digit();
    // `htpasswd` is a program.
    !resource
        && !name.eq_ignore_ascii_case(b"ht")
        && !HARMLESS.iter().any(|word| name.len() >= word.len() && name[name.len() - word.len()..].eq_ignore_ascii_case(word.as_bytes()))
}

/// Whether the name is a flag of a command line: `--token`, `-Password`.
pub(super) fn is_flag(scan: &Scan<'_>, start: usize) -> bool {
    before(scan, start).first() == Some(&b'-') || (scan.before(start, 1) == b'-' && !scan.before(start, 2).is_ascii_alphanumeric())
}

/// Whether the name is that of an XML element, a prefix included: `<password>`, `<c:password>`.
pub(super) fn opens_element(scan: &Scan<'_>, start: usize) -> bool {
    let name = before(scan, start).len();
    matches!(scan.before(start, name + 1), b'<' | b':')
}

/// Whether the name that begins before the literal at `start` is one of the query of a URL: behind `?`, `&` or `#`, encoded or not.
pub(super) fn in_query(scan: &Scan<'_>, start: usize) -> bool {
    let name = before(scan, start);
    let opens = |back: usize| matches!(scan.before(start, back), b'?' | b'&' | b'#');
    let entity = scan.before(start, name.len() + 1) == b';' && scan.slice(0..start - name.len()).ends_with(b"&amp;");
    let encoded = scan.before(start, name.len() + 1) == b'%' && matches!(name, [b'2', b'3' | b'6', ..] | [b'3', b'F' | b'f', ..]);
    opens(name.len() + 1) || entity || encoded
}
