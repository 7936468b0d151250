//! The arguments of `tokenize = 'session_search ...'`: key, value pairs.
//!
//! Keys and words are compared without ASCII case and the last of two equal keys wins, as in FTS5's own unicode61. An unknown key or
//! value is refused: a misspelt option must not give another index silently.

use super::{Diacritics, Mode, Tokenizer};
use crate::error::{Error, Result, shortened};

impl Tokenizer {
    /// Reads FTS5 tokenizer arguments such as `["remove_diacritics", "0"]`.
    ///
    /// `mode` is `words` (the default) or `trigram`. `remove_diacritics` is 0 (keep), 2 (remove, the default) or 1 (remove, but not where one
    /// character has several), as unicode61's documentation has them.
    pub(crate) fn from_args<'a>(args: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let mut tokenizer = Self::default();
        let mut args = args.into_iter();
        while let Some(key) = args.next() {
            let value = args.next();
            if key.eq_ignore_ascii_case("mode") {
                tokenizer.mode = mode(value)?;
            } else if key.eq_ignore_ascii_case("remove_diacritics") {
                tokenizer.diacritics = match value {
                    Some("0") => Diacritics::Keep,
                    Some("1") => Diacritics::RemoveSingle,
                    Some("2") => Diacritics::Remove,
                    _ => return Err(refused("remove_diacritics", "0, 1 or 2", value)),
                };
            } else {
                let got = shortened(key);
                return Err(Error::input(format!("tokenizer session_search: option must be mode or remove_diacritics, got {got}")));
            }
        }
        Ok(tokenizer)
    }
}

fn mode(value: Option<&str>) -> Result<Mode> {
    match value {
        Some(mode) if mode.eq_ignore_ascii_case("words") => Ok(Mode::Words),
        Some(mode) if mode.eq_ignore_ascii_case("trigram") => Ok(Mode::Trigram),
        _ => Err(refused("mode", "words or trigram", value)),
    }
}

fn refused(key: &str, expected: &str, value: Option<&str>) -> Error {
    let got = value.map_or_else(|| "nothing".to_owned(), shortened);
    Error::input(format!("tokenizer session_search: option {key} must be {expected}, got {got}"))
}

#[cfg(test)]
mod tests {
    use super::{Diacritics, Mode, Tokenizer};

    #[test]
    fn arguments_are_read_as_fts5_gives_them() {
        let words = |diacritics| Tokenizer { mode: Mode::Words, diacritics };
        let trigram = |diacritics| Tokenizer { mode: Mode::Trigram, diacritics };
        for (args, expected) in [
            (&[][..], words(Diacritics::Remove)),
            (&["mode", "words"], words(Diacritics::Remove)),
            (&["MODE", "Words"], words(Diacritics::Remove)),
            (&["mode", "Trigram"], trigram(Diacritics::Remove)),
            (&["mode", "trigram", "mode", "words"], words(Diacritics::Remove)),
            (&["remove_diacritics", "0"], words(Diacritics::Keep)),
            (&["remove_diacritics", "1"], words(Diacritics::RemoveSingle)),
            (&["Remove_Diacritics", "2"], words(Diacritics::Remove)),
            (&["mode", "trigram", "remove_diacritics", "0"], trigram(Diacritics::Keep)),
            (&["remove_diacritics", "0", "remove_diacritics", "2"], words(Diacritics::Remove)),
        ] {
            assert_eq!(Tokenizer::from_args(args.iter().copied()).unwrap(), expected, "{args:?}");
        }
    }

    #[test]
    fn unknown_arguments_are_refused_by_name() {
        for (args, text) in [
            (&["mode", "word"][..], "option mode must be words or trigram, got word"),
            (&["mode"], "option mode must be words or trigram, got nothing"),
            (&["remove_diacritics", "3"], "option remove_diacritics must be 0, 1 or 2, got 3"),
            (&["remove_diacritics", "01"], "option remove_diacritics must be 0, 1 or 2, got 01"),
            (&["remove_diacritics"], "option remove_diacritics must be 0, 1 or 2, got nothing"),
            (&["tokenchars", "-"], "option must be mode or remove_diacritics, got tokenchars"),
            (&["case_sensitive", "1"], "option must be mode or remove_diacritics, got case_sensitive"),
            (&["unicode61"], "option must be mode or remove_diacritics, got unicode61"),
            (&["", ""], "option must be mode or remove_diacritics, got "),
        ] {
            let error = Tokenizer::from_args(args.iter().copied()).unwrap_err();
            assert_eq!(error.to_string(), format!("tokenizer session_search: {text}"), "{args:?}");
        }
    }
}
