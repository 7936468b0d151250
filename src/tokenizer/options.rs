//! The arguments of `tokenize = 'session_search ...'`: key, value pairs.
//!
//! Keys and words are compared without ASCII case and the last of two equal keys wins, as in FTS5's own unicode61. An unknown key or
//! value is refused: a misspelt option must not give another index silently.

use super::Tokenizer;
use crate::error::{Error, Result, shortened};

impl Tokenizer {
    /// Reads FTS5 tokenizer arguments such as `["remove_diacritics", "0"]`.
    ///
    /// `mode` is `words` (the default). `remove_diacritics` is 0 (keep), 1 or 2 (remove, the default): unicode61's 1 differs from 2 by
    /// a fault that is kept for old indexes only, so both mean the same here.
    pub(crate) fn from_args<'a>(args: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let mut tokenizer = Self::default();
        let mut args = args.into_iter();
        while let Some(key) = args.next() {
            let value = args.next();
            if key.eq_ignore_ascii_case("mode") {
                check_mode(value)?;
            } else if key.eq_ignore_ascii_case("remove_diacritics") {
                tokenizer.keep_diacritics = match value {
                    Some("0") => true,
                    Some("1" | "2") => false,
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

fn check_mode(value: Option<&str>) -> Result<()> {
    match value {
        Some(mode) if mode.eq_ignore_ascii_case("words") => Ok(()),
        Some(mode) if mode.eq_ignore_ascii_case("trigram") => {
            Err(Error::input("tokenizer session_search: mode trigram is not in this version, use mode words"))
        }
        _ => Err(refused("mode", "words", value)),
    }
}

fn refused(key: &str, expected: &str, value: Option<&str>) -> Error {
    let got = value.map_or_else(|| "nothing".to_owned(), shortened);
    Error::input(format!("tokenizer session_search: option {key} must be {expected}, got {got}"))
}

#[cfg(test)]
mod tests {
    use super::Tokenizer;

    #[test]
    fn arguments_are_read_as_fts5_gives_them() {
        let keep = Tokenizer { keep_diacritics: true };
        let remove = Tokenizer::default();
        for (args, expected) in [
            (&[][..], remove),
            (&["mode", "words"], remove),
            (&["MODE", "Words"], remove),
            (&["remove_diacritics", "0"], keep),
            (&["remove_diacritics", "1"], remove),
            (&["Remove_Diacritics", "2"], remove),
            (&["mode", "words", "remove_diacritics", "0"], keep),
            (&["remove_diacritics", "0", "remove_diacritics", "2"], remove),
        ] {
            assert_eq!(Tokenizer::from_args(args.iter().copied()).unwrap(), expected, "{args:?}");
        }
    }

    #[test]
    fn unknown_arguments_are_refused_by_name() {
        for (args, text) in [
            (&["mode", "trigram"][..], "mode trigram is not in this version, use mode words"),
            (&["mode", "word"], "option mode must be words, got word"),
            (&["mode"], "option mode must be words, got nothing"),
            (&["remove_diacritics", "3"], "option remove_diacritics must be 0, 1 or 2, got 3"),
            (&["remove_diacritics", "01"], "option remove_diacritics must be 0, 1 or 2, got 01"),
            (&["remove_diacritics"], "option remove_diacritics must be 0, 1 or 2, got nothing"),
            (&["tokenchars", "-"], "option must be mode or remove_diacritics, got tokenchars"),
            (&["unicode61"], "option must be mode or remove_diacritics, got unicode61"),
            (&["", ""], "option must be mode or remove_diacritics, got "),
        ] {
            let error = Tokenizer::from_args(args.iter().copied()).unwrap_err();
            assert_eq!(error.to_string(), format!("tokenizer session_search: {text}"), "{args:?}");
        }
    }
}
