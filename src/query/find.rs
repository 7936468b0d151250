//! Finds the phrases of a query in a tokenized text.
//!
//! All phrases are kept in one tree by their tokens. Every token of the text is looked at as the beginning of a phrase once, and a phrase has
//! a bounded number of tokens: the time is linear in the text. Tested in `tests.rs` against comparing every phrase at every place.

use std::collections::HashMap;
use std::ops::Range;
use std::str::Split;

use super::Phrase;
use crate::tokenizer::READING_END;

/// The tokens of a text with their places, in two allocations however many there are.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    /// The readings of all tokens, one token behind the other.
    readings: String,
    places: Vec<Place>,
}

#[derive(Debug)]
struct Place {
    /// Where the token ends in `readings`; it begins where the one before it ends.
    readings_end: usize,
    /// Where it stands in the text, in bytes.
    range: Range<usize>,
}

impl Tokens {
    /// Adds a token: its readings, as a [`Token`](crate::tokenizer::Token) has them, and its bytes in the original text.
    pub(crate) fn push(&mut self, readings: &str, range: Range<usize>) {
        self.readings.push_str(readings);
        // An empty range is a further token of the character before it: it stands where that one stands.
        let shared = self.places.last().filter(|_| range.is_empty()).map(|place| place.range.clone());
        let range = shared.unwrap_or(range);
        self.places.push(Place { readings_end: self.readings.len(), range });
    }

    /// The readings and the place of each token, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Split<'_, char>, Range<usize>)> {
        let mut start = 0;
        self.places.iter().map(move |place| {
            let readings = self.readings.get(start..place.readings_end).unwrap_or_default();
            start = place.readings_end;
            (readings.split(READING_END), place.range.clone())
        })
    }
}

/// A token of a text as the finder sees it.
struct Known<'t> {
    readings: Split<'t, char>,
    /// The numbers of those readings that some phrase contains.
    numbers: Vec<usize>,
    range: Range<usize>,
}

/// The phrases as a tree: an edge is a token, a node is a beginning that one or more phrases share. Node 0 is the root.
#[derive(Clone, Debug)]
pub(super) struct Finder {
    /// Distinct tokens, numbered: a token of a text is looked up once, however many beginnings it is tried behind.
    numbers: HashMap<String, usize>,
    nodes: Vec<Node>,
}

#[derive(Clone, Debug, Default)]
struct Node {
    /// Edges: number of the token and node that it leads to, sorted by number.
    edges: Vec<(usize, usize)>,
    /// A phrase ends here.
    ends_phrase: bool,
    /// Phrases that end with the next token, which only has to begin so. Sorted, and none begins with another.
    prefixes: Vec<String>,
}

impl Finder {
    pub(super) fn new<'p>(phrases: impl Iterator<Item = &'p Phrase>) -> Self {
        let mut finder = Self { numbers: HashMap::new(), nodes: vec![Node::default()] };
        for phrase in phrases {
            finder.add(phrase);
        }
        for node in &mut finder.nodes {
            node.prefixes.sort_unstable();
            node.prefixes.dedup_by(|next, kept| next.starts_with(kept.as_str()));
        }
        finder
    }

    fn add(&mut self, phrase: &Phrase) {
        let (exact, prefix) = match phrase.tokens.split_last() {
            Some((last, before)) if phrase.is_prefix => (before, Some(last)),
            _ => (phrase.tokens.as_slice(), None),
        };
        let mut at = 0;
        for token in exact {
            let fresh = self.numbers.len();
            let number = *self.numbers.entry(token.clone()).or_insert(fresh);
            at = self.follow_or_grow(at, number);
        }
        if let Some(node) = self.nodes.get_mut(at) {
            match prefix {
                Some(prefix) => node.prefixes.push(prefix.clone()),
                None => node.ends_phrase = true,
            }
        }
    }

    fn follow_or_grow(&mut self, at: usize, number: usize) -> usize {
        let fresh = self.nodes.len();
        let Some(node) = self.nodes.get_mut(at) else { return at };
        match node.edges.binary_search_by_key(&number, |&(number, _)| number) {
            Ok(found) => node.edges.get(found).map_or(at, |&(_, next)| next),
            Err(place) => {
                node.edges.insert(place, (number, fresh));
                self.nodes.push(Node::default());
                fresh
            }
        }
    }

    /// For each token at which a phrase begins, the bytes of the longest such phrase.
    pub(super) fn find(&self, tokens: &Tokens) -> Vec<Range<usize>> {
        let known: Vec<_> = tokens.iter().map(|(readings, range)| self.look_up(readings, range)).collect();
        let mut found = Vec::new();
        for (first, token) in known.iter().enumerate() {
            found.extend(self.longest(&known[first..]).map(|end| token.range.start..end));
        }
        found
    }

    fn look_up<'t>(&self, readings: Split<'t, char>, range: Range<usize>) -> Known<'t> {
        let numbers = readings.clone().filter_map(|reading| self.numbers.get(reading).copied()).collect();
        Known { readings, numbers, range }
    }

    /// The end of the longest phrase that begins with the first of these tokens.
    fn longest(&self, tokens: &[Known<'_>]) -> Option<usize> {
        let (first, root) = (tokens.first()?, self.nodes.first()?);
        if first.numbers.is_empty() && !root.ends_with_prefix_of_any(first) {
            return None; // most tokens of most texts
        }
        let mut longest = None;
        // A token can be read in several ways, so several beginnings can be under way.
        let mut at = vec![root];
        for token in tokens {
            let ends_with_prefix = at.iter().any(|node| node.ends_with_prefix_of_any(token));
            let next = at.iter().flat_map(|node| token.numbers.iter().filter_map(|&number| node.next(number)));
            at = next.filter_map(|next| self.nodes.get(next)).collect();
            if ends_with_prefix || at.iter().any(|node| node.ends_phrase) {
                longest = Some(token.range.end);
            }
            if at.is_empty() {
                break;
            }
        }
        longest
    }
}

impl Node {
    fn next(&self, number: usize) -> Option<usize> {
        let found = self.edges.binary_search_by_key(&number, |&(number, _)| number).ok()?;
        self.edges.get(found).map(|&(_, next)| next)
    }

    fn ends_with_prefix_of_any(&self, token: &Known<'_>) -> bool {
        !self.prefixes.is_empty() && token.readings.clone().any(|reading| self.ends_with_prefix_of(reading))
    }

    /// Does a phrase that began here end with a prefix of this reading?
    fn ends_with_prefix_of(&self, reading: &str) -> bool {
        // No prefix begins with another, so only the last one that does not sort behind the reading can be its beginning.
        let behind = self.prefixes.partition_point(|prefix| prefix.as_str() <= reading);
        behind.checked_sub(1).and_then(|last| self.prefixes.get(last)).is_some_and(|prefix| reading.starts_with(prefix.as_str()))
    }
}
