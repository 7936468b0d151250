//! From single finds to the spans of a text.
//!
//! A mask can free its neighbour: what was the middle of a longer word begins one now. So the masked text is looked over again until
//! nothing new is found in it, in at most [`MAX_ROUNDS`] rounds, and masking twice changes nothing. A clean text is looked over once.

use std::cmp::Reverse;

use super::Span;
use super::detector::Detector;
use super::scan::Scan;
use super::visible::Visible;

/// More rounds than random texts ever needed, and few enough to stay linear.
const MAX_ROUNDS: usize = 8;

/// How much a find says about its kind: where two overlap, the more telling one names the mask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evidence {
    /// The secret itself shows what it is, as `ghp_` does.
    Shape,
    /// Only the place says so: behind `password=`, in a URL.
    Context,
}

/// One find; several may overlap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) span: Span,
    pub(super) evidence: Evidence,
}

/// The secrets of `text`: sorted, disjoint, not empty, on character boundaries.
pub(super) fn secrets(detector: &Detector, text: &str) -> Vec<Span> {
    let mut found = find_once(detector, text);
    for _ in 0..MAX_ROUNDS {
        if found.is_empty() {
            break;
        }
        let masked = Masked::new(text, &found);
        let new: Vec<Found> = find_once(detector, &masked.text).into_iter().map(|new| masked.in_original(new)).collect();
        if new.is_empty() {
            break;
        }
        drop(masked);
        found.extend(new);
        found = merged(found);
    }
    found.into_iter().map(|found| found.span).collect()
}

/// What one look finds in `text`, and in the text as it is meant.
fn find_once(detector: &Detector, text: &str) -> Vec<Found> {
    let mut found = scanned(detector, text);
    if let Some(visible) = Visible::of(text) {
        found.extend(scanned(detector, &visible.text).into_iter().map(|found| {
            let range = visible.in_original(found.span.start..found.span.end);
            Found { span: Span { start: range.start, end: range.end, ..found.span }, ..found }
        }));
    }
    merged(found)
}

fn scanned(detector: &Detector, text: &str) -> Vec<Found> {
    let mut scan = Scan::new(text);
    detector.run(&mut scan);
    scan.found
}

/// The finds in order; where some overlap, one covers them all. In place: a text can be full of them.
fn merged(mut found: Vec<Found>) -> Vec<Found> {
    found.sort_unstable_by_key(|found| (found.span.start, Reverse(found.span.end), found.evidence as u8, found.span.kind));
    found.dedup_by(|next, last| {
        let overlaps = next.span.start < last.span.end;
        if overlaps {
            last.span.end = last.span.end.max(next.span.end);
            if last.evidence == Evidence::Context && next.evidence == Evidence::Shape {
                last.span.kind = next.span.kind;
                last.evidence = next.evidence;
            }
        }
        overlaps
    });
    found
}

/// A masked text that knows where its places are in the original.
struct Masked<'f> {
    text: String,
    found: &'f [Found],
    /// Where each mask begins in `text`.
    masks: Vec<usize>,
}

impl<'f> Masked<'f> {
    fn new(original: &str, found: &'f [Found]) -> Self {
        let mut text = String::with_capacity(original.len());
        let mut masks = Vec::with_capacity(found.len());
        let mut copied = 0;
        for Found { span, .. } in found {
            text.push_str(&original[copied..span.start]);
            masks.push(text.len());
            text.push_str(&span.mask());
            copied = span.end;
        }
        text.push_str(&original[copied..]);
        Self { text, found, masks }
    }

    fn in_original(&self, new: Found) -> Found {
        let Span { start, end, kind } = new.span;
        let before = self.masks.partition_point(|mask| *mask <= start);
        let span = Span { start: self.place(before, start, |span| span.start), end: self.place(before, end, |span| span.end), kind };
        Found { span, ..new }
    }

    /// The original of place `at`; `inside` says what a place inside a mask stands for. `from` masks are known to begin before it.
    fn place(&self, from: usize, at: usize, inside: fn(&Span) -> usize) -> usize {
        let before = from + self.masks.iter().skip(from).take_while(|mask| **mask < at).count();
        let Some((Found { span, .. }, mask)) = before.checked_sub(1).and_then(|i| self.found.get(i).zip(self.masks.get(i))) else {
            return at;
        };
        match at.checked_sub(mask + span.mask_len()) {
            Some(behind) => span.end + behind,
            None => inside(span),
        }
    }
}
