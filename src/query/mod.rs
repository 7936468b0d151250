//! What a user typed, made into something that can be searched: an FTS5 expression, and a finder for the same phrases in a text.
//!
//! The language: words separated by white space are all required. Quotes make a phrase. A star at the end of a word or phrase lets its last
//! token be the beginning of a longer one. `OR` in capitals joins what stands on its two sides. Everything else is just words: `AND`, `NOT`,
//! `NEAR`, `-`, `^`, `:` and brackets mean nothing. A word with punctuation inside (`config.json`) is the phrase of its tokens, a word without
//! any token (`--`) is dropped, and so is an `OR` that has nothing to join.
//!
//! Invariant: what [`Query::parse`] accepts, FTS5 accepts. Tested in `tests.rs`, with the rows of `tests/data/queries.jsonl`.

mod find;
mod lexer;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::str::FromStr;

use find::Finder;
pub(crate) use find::Tokens;
use lexer::Piece;

use crate::error::{Error, Result, shortened};
use crate::tokenizer::{Purpose, Tokenizer};

/// The longest query, in characters.
pub(crate) const MAX_CHARS: usize = 4096;
/// At most this many phrases are searched, the first ones: FTS5 ranks in time quadratic in the phrases that a row has.
const MAX_PHRASES: usize = 256;
/// A phrase is searched by at most this many of its tokens, the first ones: this bounds the work per token of a text.
const MAX_PHRASE_TOKENS: usize = 64;

/// How the words of a query combine: the option `match`.
///
/// ```
/// use session_search::{MatchMode, SearchRequest};
/// let any_of_them = SearchRequest::new("proxy nginx jenkins", "agent:main:main").match_mode(MatchMode::Any);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchMode {
    /// Every word is required.
    #[default]
    All,
    /// One word is enough.
    Any,
    /// Every word is required, the last one at least as the beginning of a longer word.
    Prefix,
}

impl MatchMode {
    /// The words for the modes.
    pub(crate) const WORDS: &str = r#"one of "all", "any", "prefix""#;
}

impl FromStr for MatchMode {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        match word {
            "all" => Ok(Self::All),
            "any" => Ok(Self::Any),
            "prefix" => Ok(Self::Prefix),
            _ => Err(Error::option("match", r#"one of "all", "any", "prefix""#, &shortened(&format!("{word:?}")))),
        }
    }
}

/// A query that has something to search for.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    /// All of these are required, of each any phrase is enough. Neither level is empty.
    clauses: Vec<Vec<Phrase>>,
    is_cut: bool,
    finder: Finder,
}

/// Tokens that must follow each other. Two phrases are equal if they find the same.
#[derive(Clone, Debug)]
struct Phrase {
    tokens: Vec<String>,
    /// The last token may be the beginning of a longer one.
    is_prefix: bool,
    /// The part of the query that FTS5 is to tokenize into `tokens`.
    text: String,
    /// The user gave more tokens.
    is_cut: bool,
}

impl Query {
    /// Reads what a user typed. The tokenizer must be the one of the index.
    ///
    /// Errors: more than 4,096 characters, or no token to search for.
    pub(crate) fn parse(text: &str, mode: MatchMode, tokenizer: Tokenizer) -> Result<Self> {
        let chars = text.chars().count();
        if chars > MAX_CHARS {
            return Err(Error::input(format!("query must be at most {MAX_CHARS} characters, got {chars}")));
        }
        let mut pieces = lexer::split(text);
        if let (MatchMode::Prefix, Some(Piece::Text { quoted: false, starred, .. })) = (mode, pieces.last_mut()) {
            *starred = true;
        }
        let mut clauses = combine(&pieces, mode, tokenizer);
        if clauses.is_empty() && pieces.contains(&Piece::Or) {
            // Nothing that it could join: then it is itself what is searched for.
            let word = Piece::Text { text: "OR", quoted: false, starred: mode == MatchMode::Prefix };
            clauses = combine(&[word], mode, tokenizer);
        }
        if clauses.is_empty() {
            let found = if pieces.is_empty() { "it is empty" } else { "it holds only punctuation" };
            return Err(Error::input(format!("query has nothing to search for: {found}, give at least one word or number")));
        }
        let mut left = MAX_PHRASES;
        let mut is_cut = clauses.iter().flatten().any(|phrase| phrase.is_cut);
        clauses.retain_mut(|clause| {
            is_cut |= clause.len() > left;
            clause.truncate(left);
            left -= clause.len();
            !clause.is_empty()
        });
        let finder = Finder::new(clauses.iter().flatten());
        Ok(Self { clauses, is_cut, finder })
    }

    /// The query is too long to be searched whole: more than 256 different phrases, or a phrase of more than 64 tokens. The first are searched.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// The query as an FTS5 MATCH expression: quoted strings with `*`, `OR`, `AND` and brackets between them, nothing else.
    pub(crate) fn to_match(&self) -> String {
        let clauses = self.clauses.iter().map(|phrases| {
            let strings: Vec<String> = phrases.iter().map(Phrase::to_match).collect();
            let joined = strings.join(" OR ");
            if strings.len() > 1 && self.clauses.len() > 1 { format!("({joined})") } else { joined }
        });
        clauses.collect::<Vec<_>>().join(" AND ")
    }

    /// Each phrase as a MATCH expression, in the order in which FTS5 numbers them in [`to_match`](Self::to_match).
    pub(crate) fn phrases(&self) -> impl Iterator<Item = String> {
        self.clauses.iter().flatten().map(Phrase::to_match)
    }

    /// Where phrases of the query stand in a text: byte ranges, sorted by start. They may overlap; each token begins at most one, the longest.
    pub(crate) fn find(&self, tokens: &Tokens) -> Vec<Range<usize>> {
        self.finder.find(tokens)
    }
}

/// The clauses of a query, none twice: repeating a word would repeat the work.
fn combine(pieces: &[Piece<'_>], mode: MatchMode, tokenizer: Tokenizer) -> Vec<Vec<Phrase>> {
    let mut clauses: Vec<Vec<Phrase>> = Vec::new();
    let mut joins = false;
    for piece in pieces {
        match *piece {
            Piece::Or => joins = true,
            Piece::Text { text, starred, .. } => {
                let Some(phrase) = Phrase::new(text, starred, tokenizer) else {
                    continue;
                };
                match clauses.last_mut() {
                    Some(clause) if joins || mode == MatchMode::Any => clause.push(phrase),
                    _ => clauses.push(vec![phrase]),
                }
                joins = false;
            }
        }
    }
    clauses.iter_mut().for_each(remove_repeated);
    remove_repeated(&mut clauses);
    clauses
}

/// Keeps the first of equal items.
fn remove_repeated<T: Clone + Eq + Hash>(items: &mut Vec<T>) {
    let mut seen = HashSet::new();
    items.retain(|item| seen.insert(item.clone()));
}

impl Phrase {
    /// The phrase of a word or quoted text; `None` if it has no token.
    fn new(text: &str, starred: bool, tokenizer: Tokenizer) -> Option<Self> {
        let mut tokens = Vec::new();
        let mut range: Option<Range<usize>> = None;
        // Stopping early is the only way to fail here.
        let stopped = tokenizer.terms(text.as_bytes(), Purpose::Query, |token| {
            if tokens.len() == MAX_PHRASE_TOKENS {
                return Err(());
            }
            tokens.push(token.text.to_owned());
            range = Some(range.as_ref().map_or(token.start, |range| range.start)..token.end);
            Ok(())
        });
        let range = range?;
        let is_cut = stopped.is_err();
        // The star belongs to the last token only if it touches it: `c--*` does not ask for everything that begins with c.
        let touches = starred && range.end == text.len();
        let is_prefix = !is_cut && (touches || (tokens.len() == 1 && tokenizer.has_fixed_size()));
        // NUL would end the expression, and it separates tokens as a space does.
        let text = text.get(range).unwrap_or(text).replace('\0', " ");
        Some(Self { tokens, is_prefix, text, is_cut })
    }

    fn to_match(&self) -> String {
        let star = if self.is_prefix { " *" } else { "" };
        format!("\"{}\"{star}", self.text.replace('"', "\"\""))
    }
}

impl PartialEq for Phrase {
    fn eq(&self, other: &Self) -> bool {
        (&self.tokens, self.is_prefix) == (&other.tokens, other.is_prefix)
    }
}

impl Eq for Phrase {}

impl Hash for Phrase {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.tokens, self.is_prefix).hash(state);
    }
}
