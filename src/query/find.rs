//! Finds the phrases of a query in a tokenized text.
//!
//! All phrases are kept in one tree by their tokens. Every token of the text is looked at as the beginning of a phrase once, and a phrase has
//! a bounded number of tokens: the time is linear in the text. Tested in `tests.rs` against comparing every phrase at every place.

use std::collections::HashMap;
use std::ops::Range;

use super::Phrase;

/// The tokens of a text with their places, in two allocations however many there are.
#[derive(Debug, Default)]
pub(crate) struct Tokens {
    /// The folded texts of all tokens, one behind the other.
    folded: String,
    places: Vec<Place>,
}

#[derive(Debug)]
struct Place {
    /// Where the token ends in `folded`; it begins where the one before it ends.
    folded_end: usize,
    /// Where it stands in the text, in bytes.
    range: Range<usize>,
}

impl Tokens {
    /// Adds a token: its folded text and its bytes in the original text.
    pub(crate) fn push(&mut self, folded: &str, range: Range<usize>) {
        self.folded.push_str(folded);
        // An empty range is a further token of the character before it: it stands where that one stands.
        let shared = self.places.last().filter(|_| range.is_empty()).map(|place| place.range.clone());
        let range = shared.unwrap_or(range);
        self.places.push(Place { folded_end: self.folded.len(), range });
    }

    /// Folded text and place of each token, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        let mut start = 0;
        self.places.iter().map(move |place| {
            let folded = self.folded.get(start..place.folded_end).unwrap_or_default();
            start = place.folded_end;
            (folded, place.range.clone())
        })
    }
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
        let known: Vec<_> = tokens.iter().map(|(folded, range)| (folded, range, self.numbers.get(folded))).collect();
        let mut found = Vec::new();
        for (first, (_, Range { start, .. }, _)) in known.iter().enumerate() {
            let mut longest = None;
            let mut at = self.nodes.first();
            for (folded, Range { end, .. }, number) in known.iter().skip(first) {
                let Some(node) = at else { break };
                at = number.and_then(|&number| node.next(number)).and_then(|next| self.nodes.get(next));
                if node.ends_with_prefix_of(folded) || at.is_some_and(|node| node.ends_phrase) {
                    longest = Some(*end);
                }
            }
            found.extend(longest.map(|end| *start..end));
        }
        found
    }
}

impl Node {
    fn next(&self, number: usize) -> Option<usize> {
        let found = self.edges.binary_search_by_key(&number, |&(number, _)| number).ok()?;
        self.edges.get(found).map(|&(_, next)| next)
    }

    /// Does a phrase that began here end with a prefix of this token?
    fn ends_with_prefix_of(&self, folded: &str) -> bool {
        // No prefix begins with another, so only the last one that does not sort behind the token can be the token's beginning.
        let behind = self.prefixes.partition_point(|prefix| prefix.as_str() <= folded);
        behind.checked_sub(1).and_then(|last| self.prefixes.get(last)).is_some_and(|prefix| folded.starts_with(prefix.as_str()))
    }
}
