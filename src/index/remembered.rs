//! The transcripts that were read last: half read, or to be gone on with at the next message.

use std::collections::HashMap;

use super::transcript::Transcript;

/// How much they may take together, in events (some 150 bytes each). The transcript in use is kept whatever its size.
const MOST_EVENTS: usize = 100_000;

#[derive(Default)]
pub(super) struct Remembered {
    /// By session id, with the time of the last use.
    transcripts: HashMap<String, (u64, Transcript)>,
    now: u64,
    events: usize,
}

impl Remembered {
    /// What is known of a transcript; it is no longer remembered.
    pub(super) fn take(&mut self, session_id: &str) -> Transcript {
        let (_, transcript) = self.transcripts.remove(session_id).unwrap_or_default();
        self.events -= transcript.size();
        transcript
    }

    /// Where there is no room for all, one that has been read to its end goes, the longest unused first, so that the others finish;
    /// else the longest unused.
    pub(super) fn keep(&mut self, session_id: &str, transcript: Transcript) {
        self.now += 1;
        self.events += transcript.size();
        if let Some((_, before)) = self.transcripts.insert(session_id.to_owned(), (self.now, transcript)) {
            self.events -= before.size();
        }
        while self.events > MOST_EVENTS {
            let others = self.transcripts.iter().filter(|(_, (used, _))| *used != self.now);
            let Some((oldest, _)) = others.min_by_key(|(_, (used, transcript))| (!transcript.is_complete(), *used)) else { break };
            let oldest = oldest.clone();
            self.take(&oldest);
        }
    }

    pub(super) fn forget_all(&mut self) {
        *self = Self::default();
    }
}
