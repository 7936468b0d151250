//! `session_search_check()`: proves the index. Everything that it should hold is derived once more from the events of the host, and compared with
//! what it holds: message rows, the terms of every message with their positions, sums. FTS5 checks its own pages.
//!
//! Transcripts that are behind are no fault. Reads one state of the host and of the index; writes nothing but a temporary table.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hasher;

use twox_hash::XxHash64;

use super::transcript::Transcript;
use super::write::indexed_terms;
use super::{Catalog, Entry, attached, not_open, transcript_and_seq};
use crate::error::{Error, Result};
use crate::event::Message;
use crate::handle::Handle;
use crate::redact::{Detector, Redacted};
use crate::schema::{self, Readiness};
use crate::source::Snapshot;

/// So many faults are told, the others counted.
const TOLD: usize = 50;

/// One line for each fault; none if the index is right.
pub(crate) fn check(handle: &Handle) -> Result<Vec<String>> {
    let mut slot = attached(handle)?;
    let attached = slot.as_mut().ok_or_else(not_open)?;
    attached.catalog = None; // it is checked, too
    let redaction = attached.redaction(handle)?;
    let ready = attached.source.snapshot(handle, |snapshot| schema::readiness(handle.connection(), &snapshot.identity()?))?;
    match ready {
        Readiness::Ready => {}
        Readiness::Unguarded => {
            return Ok(vec![
                "its triggers are missing or changed, or the table of events is: the next search looks at all events again".to_owned(),
            ]);
        }
        Readiness::Nothing => return Ok(vec!["tables of it are missing, or of another format: the next search makes it anew".to_owned()]),
    }
    attached.look(handle, None, &[], |snapshot, catalog| {
        let mut faults = Faults::default();
        let mut held = Held::messages(handle)?;
        match held.add_terms(handle) {
            Ok(()) => {}
            Err(error) if error.is_of_the_moment() => return Err(error),
            Err(error) => {
                // Each message would be a fault of its own.
                faults.add(format!("full text: {error}"));
                return Ok(faults.into_lines());
            }
        }
        compare(snapshot, redaction.detector(), catalog, &mut held, &mut faults)?;
        Ok(faults.into_lines())
    })
}

fn compare(snapshot: &Snapshot<'_>, detector: &Detector, catalog: &Catalog, held: &mut Held, faults: &mut Faults) -> Result<()> {
    for entry in &catalog.entries {
        let Some(id) = entry.transcript else { continue };
        let held = held.transcripts.remove(&id).unwrap_or_default();
        if entry.in_step {
            let expected = if entry.searchable { expected(snapshot, detector, entry)? } else { HeldTranscript::default() };
            let name = &entry.session.session_id;
            expected.compare(&held, |seq, what| faults.add(format!("transcript {name}, event {seq}: {what}")));
            let tokens: i64 = held.messages.values().map(|row| row.tokens).sum();
            if (i64::try_from(held.messages.len()), tokens) != (Ok(entry.messages), entry.tokens) {
                faults.add(format!("transcript {name}: its sums do not agree with its messages"));
            }
        }
    }
    for id in &catalog.orphans {
        held.transcripts.remove(id); // to be removed by reconcile
    }
    for id in held.transcripts.keys() {
        faults.add(format!("there are messages of a transcript {id} that is not listed"));
    }
    Ok(())
}

/// What the index should hold of a transcript.
fn expected(snapshot: &Snapshot<'_>, detector: &Detector, entry: &Entry) -> Result<HeldTranscript> {
    let mut transcript = Transcript::default();
    let mut messages: BTreeMap<i64, Message> = BTreeMap::new();
    let session = &entry.session;
    transcript.read(snapshot, &session.session_id, &session.state, |seq, message| {
        messages.extend(message.map(|message| (seq, message)));
        true
    })?;
    let mut expected = HeldTranscript::default();
    for (seq, found) in transcript.active() {
        let Some(message) = messages.remove(&seq) else { continue };
        let terms = Terms::of(&Redacted::with(detector, &message.text));
        let row = MessageRow {
            timestamp: found.timestamp,
            message_id: message.id,
            role: message.role.as_str().to_owned(),
            source_hash: found.hash,
            tokens: terms.positions,
        };
        expected.messages.insert(seq, row);
        expected.terms.insert(seq, terms);
    }
    Ok(expected)
}

#[derive(Default)]
struct Faults {
    lines: Vec<String>,
    untold: usize,
}

impl Faults {
    fn add(&mut self, line: String) {
        if self.lines.len() < TOLD {
            self.lines.push(line);
        } else {
            self.untold += 1;
        }
    }

    fn into_lines(mut self) -> Vec<String> {
        if self.untold > 0 {
            self.lines.push(format!("and {} more", self.untold));
        }
        self.lines
    }
}

/// A row of `session_search_message`.
#[derive(PartialEq, Eq)]
struct MessageRow {
    message_id: String,
    role: String,
    timestamp: i64,
    source_hash: i64,
    tokens: i64,
}

/// The terms of one FTS5 row: a sum over them and their positions that does not depend on their order.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Terms {
    count: u64,
    sum: u64,
    /// How many positions there are; not known of what FTS5 holds.
    positions: i64,
}

impl Terms {
    /// What FTS5 makes of a message.
    fn of(text: &Redacted<'_>) -> Self {
        let mut terms = Self::default();
        indexed_terms(text, |position, term| {
            terms.add(position, term);
            terms.positions = position + 1;
        });
        terms
    }

    fn add(&mut self, position: i64, term: &[u8]) {
        let mut hasher = XxHash64::with_seed(position.cast_unsigned());
        hasher.write(term);
        self.count += 1;
        self.sum = self.sum.wrapping_add(hasher.finish());
    }

    fn is_same(&self, other: &Self) -> bool {
        (self.count, self.sum) == (other.count, other.sum)
    }
}

/// What the index holds of one transcript, by seq.
#[derive(Default)]
struct HeldTranscript {
    messages: BTreeMap<i64, MessageRow>,
    terms: BTreeMap<i64, Terms>,
}

impl HeldTranscript {
    /// Calls `differs` for every event that is not held as it should be.
    fn compare(&self, held: &Self, mut differs: impl FnMut(i64, &str)) {
        for (seq, row) in &self.messages {
            match held.messages.get(seq) {
                None => differs(*seq, "its message row is missing"),
                Some(held) if held != row => differs(*seq, "its message row is wrong"),
                Some(_) => {}
            }
        }
        for (seq, terms) in &self.terms {
            match held.terms.get(seq) {
                None => differs(*seq, "its text is missing"),
                Some(held) if !held.is_same(terms) => differs(*seq, "its text is wrong"),
                Some(_) => {}
            }
        }
        for seq in held.messages.keys().filter(|seq| !self.messages.contains_key(seq)) {
            differs(*seq, "its message row should not be there");
        }
        for seq in held.terms.keys().filter(|seq| !self.terms.contains_key(seq)) {
            differs(*seq, "its text should not be there");
        }
    }
}

/// What the index holds, by transcript id.
struct Held {
    transcripts: HashMap<i64, HeldTranscript>,
}

impl Held {
    fn of(&mut self, rowid: i64) -> (i64, &mut HeldTranscript) {
        let (id, seq) = transcript_and_seq(rowid);
        (seq, self.transcripts.entry(id).or_default())
    }

    fn messages(handle: &Handle) -> Result<Self> {
        let mut held = Self { transcripts: HashMap::new() };
        let sql = "SELECT id, message_id, role, timestamp, source_hash, tokens FROM main.session_search_message";
        let mut statement = handle.connection().prepare(sql).map_err(checking)?;
        let mut rows = statement.query([]).map_err(checking)?;
        while let Some(row) = rows.next().map_err(checking)? {
            let read = || {
                let (message_id, role, timestamp) = (row.get(1)?, row.get(2)?, row.get(3)?);
                Ok((row.get(0)?, MessageRow { message_id, role, timestamp, source_hash: row.get(4)?, tokens: row.get(5)? }))
            };
            let (rowid, message) = read().map_err(checking)?;
            let (seq, transcript) = held.of(rowid);
            transcript.messages.insert(seq, message);
        }
        Ok(held)
    }

    /// Lets FTS5 check itself, adds everything that it holds, and tries a query that ranks.
    fn add_terms(&mut self, handle: &Handle) -> Result<()> {
        let conn = handle.connection();
        schema::execute(conn, "INSERT INTO main.session_search_fts(session_search_fts) VALUES('integrity-check')", []).map_err(checking)?;
        let mut statement = conn.prepare("SELECT rowid FROM main.session_search_fts").map_err(checking)?;
        let mut rows = statement.query([]).map_err(checking)?;
        while let Some(row) = rows.next().map_err(checking)? {
            let (seq, transcript) = self.of(row.get(0).map_err(checking)?);
            transcript.terms.insert(seq, Terms::default());
        }
        conn.execute_batch(schema::CREATE_VOCABULARY).map_err(checking)?;
        let read = self.add_vocabulary(handle);
        let dropped = conn.execute_batch(schema::DROP_VOCABULARY).map_err(checking);
        let some = read.and_then(|some| dropped.map(|()| some))?;
        if let Some(term) = some {
            let sql = "SELECT rowid FROM main.session_search_fts WHERE session_search_fts MATCH ?1 ORDER BY rank LIMIT 1";
            let phrase = format!("\"{}\"", term.replace('"', "\"\""));
            conn.query_row(sql, [phrase], |_| Ok(())).map_err(checking)?;
        }
        Ok(())
    }

    /// Returns one of the terms.
    fn add_vocabulary(&mut self, handle: &Handle) -> Result<Option<String>> {
        let sql = "SELECT doc, offset, term FROM temp.session_search_vocabulary";
        let mut statement = handle.connection().prepare(sql).map_err(checking)?;
        let mut rows = statement.query([]).map_err(checking)?;
        let mut some = None;
        while let Some(row) = rows.next().map_err(checking)? {
            let (rowid, position) = (row.get(0).map_err(checking)?, row.get(1).map_err(checking)?);
            let term = row.get_ref(2).map_err(checking)?.as_bytes().map_err(|e| checking(e.into()))?;
            let (seq, transcript) = self.of(rowid);
            transcript.terms.entry(seq).or_default().add(position, term);
            some.get_or_insert_with(|| String::from_utf8_lossy(term).into_owned());
        }
        Ok(some)
    }
}

fn checking(error: rusqlite::Error) -> Error {
    Error::index("checking the index", error)
}
