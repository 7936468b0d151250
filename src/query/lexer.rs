//! Splits query text into words and quoted phrases. Knows quotes, white space, `*` and `OR`; knows nothing of tokens.
//!
//! Invariant: one pass, no input is refused. Tested in `tests.rs`.

/// A part of the query text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'q> {
    /// The word `OR`.
    Or,
    /// A word, or what stands between two quotes.
    Text { text: &'q str, quoted: bool, starred: bool },
}

/// Any quote of a set opens a phrase and any of the same set closes it: languages disagree on the direction, keyboards on the shape.
const QUOTES: [&[char]; 2] = [&['"', '“', '”', '„'], &['«', '»']];

/// Splits at white space, at control characters (NUL too) and at the quotes that make a phrase.
///
/// A quote opens a phrase unless a letter or digit stands right before it (`pel"ican`, `27"`). One that is never closed is punctuation.
pub(super) fn split(query: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = query;
    while let Some((at, symbol)) = rest.char_indices().find(|&(at, symbol)| is_separator(symbol) || opens_phrase(rest, at, symbol)) {
        let (word, tail) = rest.split_at(at);
        pieces.extend(word_piece(word));
        let tail = &tail[symbol.len_utf8()..];
        rest = match closing(tail, symbol) {
            Some((inner, after)) => {
                let unstarred = after.trim_start_matches('*');
                pieces.push(Piece::Text { text: inner, quoted: true, starred: unstarred.len() < after.len() });
                unstarred
            }
            None => tail,
        };
    }
    pieces.extend(word_piece(rest));
    pieces
}

fn is_separator(symbol: char) -> bool {
    symbol.is_whitespace() || symbol.is_control()
}

/// Does `symbol`, which stands at `at`, begin a quoted phrase?
fn opens_phrase(text: &str, at: usize, symbol: char) -> bool {
    let Some((before, rest)) = text.split_at_checked(at) else {
        return false;
    };
    !before.ends_with(char::is_alphanumeric) && closing(rest.strip_prefix(symbol).unwrap_or(rest), symbol).is_some()
}

/// What stands before and after the quote that closes the phrase opened by `symbol`. `None` too if `symbol` is no quote.
fn closing(rest: &str, symbol: char) -> Option<(&str, &str)> {
    let quotes = QUOTES.iter().find(|quotes| quotes.contains(&symbol))?;
    rest.split_once(*quotes)
}

fn word_piece(word: &str) -> Option<Piece<'_>> {
    let text = word.trim_end_matches('*');
    match word {
        "" => None,
        "OR" => Some(Piece::Or),
        _ => Some(Piece::Text { text, quoted: false, starred: text.len() < word.len() }),
    }
}
