//! A bounded piece of a message around what was searched for, secrets masked.
//!
//! Secrets are known for the whole message before anything is cut ([`Redacted`]), so a border can only fall on whole masks: an excerpt
//! shows no part of a secret and no part of a mask. It is cut between grapheme clusters, at the border of a word where one is near, and
//! never has more than the asked number of characters. Tested below.

use std::borrow::Cow;
use std::collections::HashMap;
use std::convert::Infallible;
use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use crate::redact::Redacted;
use crate::tokenizer::Tokenizer;

/// Text was left out before.
const LEFT_OUT_BEFORE: &str = "… ";
/// Text was left out behind.
const LEFT_OUT_BEHIND: &str = " …";
/// Characters of either mark.
const MARK: usize = 2;
/// Excerpts shorter than this carry no marks: the text needs the room.
const MIN_FOR_MARKS: usize = 12;
/// So many characters are given up at most to end at the border of a word.
const MAX_WORD: usize = 20;
/// So far back a blank is looked for, at which grapheme clusters surely begin.
const MAX_CLUSTER: usize = 64;

/// A piece of the message of at most `max_chars` characters (Unicode scalar values, masks and the marks of omission included).
///
/// `matches` are sorted byte ranges of [`Redacted::text`]; the piece shows the place where the most different of them are close
/// together, the first such place. Without matches it is the beginning of the text. White space is kept as it is, but for the blanks at a cut.
pub(crate) fn excerpt(message: &Redacted<'_>, matches: &[Range<usize>], max_chars: usize) -> String {
    let bytes = message.text().len();
    if bytes / 4 <= max_chars && Ruler::new(message).shown(bytes) <= max_chars {
        return message.masked().into_owned(); // all of it fits
    }
    let marks = max_chars >= MIN_FOR_MARKS;
    let room = if marks { max_chars - 2 * MARK } else { max_chars };
    let place = best_place(message, matches, room);
    let units = units_around(message, &place, max_chars);
    Window::around(&units, message.text().len(), &place, max_chars, if marks { MARK } else { 0 }).show(&units, marks)
}

/// The stretch from the first to the last of those matches that fit into `room` characters together and show the most different terms,
/// among those the most matches, among those the first.
fn best_place(message: &Redacted<'_>, matches: &[Range<usize>], room: usize) -> Range<usize> {
    let mut ruler = Ruler::new(message);
    let mut terms = Terms::default();
    let places: Vec<(Range<usize>, Range<usize>, usize)> = matches
        .iter()
        .filter(|range| range.start < range.end && range.end <= message.text().len())
        .map(|range| (range.clone(), ruler.shown(range.start)..ruler.shown(range.end), terms.number(message.text(), range)))
        .collect();
    let mut seen = vec![0_usize; terms.numbers.len()];
    let mut best = 0..0;
    let mut most = (0, 0);
    let (mut first, mut different) = (0, 0);
    for (last, (bytes, shown, term)) in places.iter().enumerate() {
        different += usize::from(seen[*term] == 0);
        seen[*term] += 1;
        while first < last && places[first].1.start.saturating_add(room) < shown.end {
            let left_behind = places[first].2;
            seen[left_behind] -= 1;
            different -= usize::from(seen[left_behind] == 0);
            first += 1;
        }
        let all = (different, last + 1 - first);
        if all > most {
            most = all;
            best = places[first].0.start..bytes.end.max(places[first].0.start);
        }
    }
    best
}

/// Which matches are of the same term: those whose text is the same when it is folded, `Résumé` and `resume`.
#[derive(Default)]
struct Terms {
    numbers: HashMap<String, usize>,
}

impl Terms {
    fn number(&mut self, text: &str, range: &Range<usize>) -> usize {
        let mut term = String::new();
        let bytes = text.as_bytes().get(range.clone()).unwrap_or_default();
        let Ok(()) = Tokenizer::default().tokenize(bytes, |token| {
            term.push_str(token.text);
            Ok::<_, Infallible>(())
        });
        let next = self.numbers.len();
        *self.numbers.entry(term).or_insert(next)
    }
}

/// Measures how many characters are shown before a byte of the text. Asked in rising order it walks over the text once.
struct Ruler<'m, 't> {
    message: &'m Redacted<'t>,
    /// The next secret.
    span: usize,
    at: usize,
    chars: usize,
}

impl<'m, 't> Ruler<'m, 't> {
    fn new(message: &'m Redacted<'t>) -> Self {
        Self { message, span: 0, at: 0, chars: 0 }
    }

    /// Characters shown before byte `to`; of a place already passed, those before the last one.
    fn shown(&mut self, to: usize) -> usize {
        while let Some(span) = self.message.spans().get(self.span).filter(|span| span.start < to) {
            self.count(span.start);
            self.chars += span.mask_len();
            self.at = span.end;
            self.span += 1;
        }
        self.count(to);
        self.chars
    }

    fn count(&mut self, to: usize) {
        if to > self.at {
            // Every byte that does not continue a character begins one.
            self.chars += self.message.text().as_bytes()[self.at..to].iter().filter(|b| **b & 0xc0 != 0x80).count();
            self.at = to;
        }
    }
}

/// What is shown whole or not at all: a grapheme cluster or a mask.
struct Unit<'t> {
    text: Cow<'t, str>,
    /// Bytes of the message that it stands for.
    bytes: Range<usize>,
    chars: usize,
    /// Part of a word, as far as cutting goes.
    word: bool,
}

impl Unit<'_> {
    fn is_blank(&self) -> bool {
        self.text.trim_start().is_empty()
    }
}

/// All units that can be shown with `place`: `max_chars` characters to either side, and some more.
fn units_around<'t>(message: &Redacted<'t>, place: &Range<usize>, max_chars: usize) -> Vec<Unit<'t>> {
    let text = message.text();
    let from = bytes_before(message, place.start, max_chars);
    let to = bytes_behind(message, place.start, max_chars.saturating_add(MAX_CLUSTER));
    let mut units = Vec::new();
    let clusters = |gap: Range<usize>, units: &mut Vec<Unit<'t>>| {
        units.extend(text[gap.clone()].grapheme_indices(true).map(|(at, cluster)| Unit {
            text: Cow::Borrowed(cluster),
            bytes: gap.start + at..gap.start + at + cluster.len(),
            chars: cluster.chars().count(),
            word: cluster.starts_with(|c: char| c.is_alphanumeric() || c == '_'),
        }));
    };
    let mut at = from;
    let next = message.spans().partition_point(|span| span.end <= from);
    for span in message.spans().iter().skip(next).take_while(|span| span.start < to) {
        clusters(at..span.start, &mut units);
        units.push(Unit { chars: span.mask_len(), text: Cow::Owned(span.mask()), bytes: span.start..span.end, word: false });
        at = span.end;
    }
    if at < to {
        clusters(at..to, &mut units);
    }
    units
}

/// A place about `chars` shown characters before byte `at`, or the beginning: never inside a secret, at a blank if one is near.
fn bytes_before(message: &Redacted<'_>, at: usize, mut chars: usize) -> usize {
    let text = message.text();
    let mut at = floor(text, at);
    let known = message.spans().partition_point(|span| span.start < at);
    let mut spans = message.spans().iter().take(known).rev().peekable();
    if let Some(span) = spans.next_if(|span| span.end > at) {
        at = span.start;
    }
    loop {
        let span = spans.next();
        let gap = &text[span.map_or(0, |span| span.end)..at];
        if let Some((cut, _)) = gap.char_indices().rev().nth(chars) {
            let near = gap[..cut].char_indices().rev().take(MAX_CLUSTER).find(|(_, c)| c.is_ascii_whitespace());
            return at - gap.len() + near.map_or(cut, |(blank, _)| blank);
        }
        let Some(span) = span else { return 0 };
        chars = chars.saturating_sub(gap.chars().count()).saturating_sub(span.mask_len());
        at = span.start;
        if chars == 0 {
            return at;
        }
    }
}

/// A place about `chars` shown characters behind byte `at`, or the end: never inside a secret.
fn bytes_behind(message: &Redacted<'_>, at: usize, mut chars: usize) -> usize {
    let text = message.text();
    let mut at = floor(text, at);
    for span in message.spans().iter().skip(message.spans().partition_point(|span| span.end <= at)) {
        let gap = &text[at.min(span.start)..span.start];
        if let Some((cut, _)) = gap.char_indices().nth(chars) {
            return at + cut;
        }
        chars = chars.saturating_sub(gap.chars().count()).saturating_sub(span.mask_len());
        at = span.end;
        if chars == 0 {
            return at;
        }
    }
    text[at..].char_indices().nth(chars).map_or(text.len(), |(cut, _)| at + cut)
}

/// The last character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// The units that are shown, and whether there is text before and behind them.
struct Window {
    units: Range<usize>,
    cut_before: bool,
    cut_behind: bool,
}

impl Window {
    /// Grows from `place` to both sides, a third of what is left before it and the rest behind it.
    fn around(units: &[Unit<'_>], text_len: usize, place: &Range<usize>, max_chars: usize, mark: usize) -> Self {
        let begins = units.first().is_none_or(|unit| unit.bytes.start == 0);
        let ends = units.last().is_none_or(|unit| unit.bytes.end == text_len);
        let fits_whole = begins && ends && units.iter().map(|unit| unit.chars).sum::<usize>() <= max_chars;
        if fits_whole {
            return Self { units: 0..units.len(), cut_before: false, cut_behind: false };
        }
        let first = units.partition_point(|unit| unit.bytes.end <= place.start);
        let last = units.partition_point(|unit| unit.bytes.start < place.end).max(first);
        let give_up = MAX_WORD.min(max_chars / 5);
        let mut window = Self { units: first..first, cut_before: !begins || first > 0, cut_behind: true };
        let mut left = max_chars - 2 * mark;
        window.grow_right(units, last, &mut left);
        let mut before = left / 3;
        left -= before;
        window.grow_left(units, begins, &mut before);
        before += window.withdraw_left(units, first, give_up);
        left += before;
        // Where nothing is left out no mark is needed.
        if !window.cut_before {
            left += mark;
        }
        window.grow_right(units, units.len(), &mut left);
        window.cut_behind = !ends || window.units.end < units.len();
        if !window.cut_behind {
            left += mark;
            window.grow_left(units, begins, &mut left);
            window.withdraw_left(units, first, give_up);
        }
        window.withdraw_right(units, last, give_up);
        window
    }

    fn grow_right(&mut self, units: &[Unit<'_>], limit: usize, left: &mut usize) {
        while let Some(unit) = units.get(self.units.end).filter(|unit| self.units.end < limit && unit.chars <= *left) {
            *left -= unit.chars;
            self.units.end += 1;
        }
    }

    fn grow_left(&mut self, units: &[Unit<'_>], begins: bool, left: &mut usize) {
        while let Some(unit) = units.iter().take(self.units.start).next_back().filter(|unit| unit.chars <= *left) {
            *left -= unit.chars;
            self.units.start -= 1;
        }
        self.cut_before = !begins || self.units.start > 0;
    }

    /// Moves the left border out of a word and off blanks, at most to `place`. Gives back how many characters that frees.
    fn withdraw_left(&mut self, units: &[Unit<'_>], place: usize, give_up: usize) -> usize {
        if !self.cut_before {
            return 0;
        }
        let start = self.units.start;
        let word_end = (start..place.min(start + give_up)).find(|border| !splits_word(units, *border)).unwrap_or(start);
        let blanks = units.iter().take(place).skip(word_end).take_while(|unit| unit.is_blank()).count();
        self.units.start = word_end + blanks;
        units.iter().take(self.units.start).skip(start).map(|unit| unit.chars).sum()
    }

    /// Moves the right border out of a word and off blanks, at most to `place`.
    fn withdraw_right(&mut self, units: &[Unit<'_>], place: usize, give_up: usize) {
        if !self.cut_behind {
            return;
        }
        let Range { start, end } = self.units;
        let word_start = (place.max(end.saturating_sub(give_up))..=end).rev().find(|border| !splits_word(units, *border)).unwrap_or(end);
        let blanks = units.iter().take(word_start).skip(place.max(start)).rev().take_while(|unit| unit.is_blank()).count();
        self.units.end = word_start - blanks;
    }

    fn show(&self, units: &[Unit<'_>], marks: bool) -> String {
        let mut out = String::new();
        for unit in units.get(self.units.clone()).unwrap_or_default() {
            out.push_str(&unit.text);
        }
        if marks && !out.is_empty() {
            if self.cut_before {
                out.insert_str(0, LEFT_OUT_BEFORE);
            }
            if self.cut_behind {
                out.push_str(LEFT_OUT_BEHIND);
            }
        }
        out
    }
}

/// Whether a border between units falls into a word.
fn splits_word(units: &[Unit<'_>], border: usize) -> bool {
    let before = border.checked_sub(1).and_then(|before| units.get(before));
    before.is_some_and(|unit| unit.word) && units.get(border).is_some_and(|unit| unit.word)
}

#[cfg(test)]
mod tests;
