//! FTS5: the tokenizer `session_search` and the auxiliary functions, as FTS5's C interface wants them.
//!
//! Every callback checks what it got, makes slices of it and runs safe code behind a panic guard (`on_token` runs inside the one of its
//! caller and cannot panic). FTS5 may hand over a null text of length 0. Tested by `tests/fts5.rs` and `tests/loadable`.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::{ptr, slice};

use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, ffi};

use crate::error::{Error, Result};
use crate::excerpt::excerpt;
use crate::redact::Redacted;
use crate::tokenizer::{Purpose, Term, Tokenizer};

/// The name of the tokenizer.
pub(crate) const TOKENIZER: &CStr = c"session_search";
type XFunction = unsafe extern "C" fn(
    *const ffi::Fts5ExtensionApi,
    *mut ffi::Fts5Context,
    *mut ffi::sqlite3_context,
    c_int,
    *mut *mut ffi::sqlite3_value,
);

/// The auxiliary functions. FTS5 takes a name for every arity, so it must not be that of a scalar function.
const FUNCTIONS: [(&CStr, XFunction); 2] = [(c"session_search_excerpt", x_excerpt), (c"session_search_bm25", x_bm25)];

/// FTS5's interface on one connection.
pub(crate) struct Api(*mut ffi::fts5_api);

impl Api {
    /// Asks FTS5 for its interface, without reading a page of the database where SQLite allows it.
    pub(crate) fn find(conn: &Connection) -> Result<Self> {
        let mut api: *mut ffi::fts5_api = ptr::null_mut();
        let asked = conn.query_row("SELECT fts5(?1)", [pointer(&mut api)], |_| Ok(()));
        if asked.is_err() {
            // Newer SQLite reads the schema before any SELECT, which fails on a locked or encrypted file. VACUUM INTO evaluates its
            // argument first, and then refuses the NULL that fts5() returns before it touches anything.
            let _ = conn.execute("VACUUM INTO fts5(?1)", [pointer(&mut api)]);
        }
        if api.is_null() {
            return Err(Error::state("session_search needs a SQLite with FTS5, this one has none"));
        }
        Ok(Self(api))
    }

    /// Registers the tokenizer and the auxiliary functions.
    pub(crate) fn register(&self) -> Result<()> {
        // SAFETY: the pointer came from FTS5 on this connection and lives as long as it.
        let api = unsafe { &*self.0 };
        let (Some(create_tokenizer), Some(create_function)) = (api.xCreateTokenizer, api.xCreateFunction) else {
            return Err(Error::state("session_search needs FTS5 version 2 or newer, this one is older"));
        };
        let mut tokenizer = ffi::fts5_tokenizer { xCreate: Some(x_create), xDelete: Some(x_delete), xTokenize: Some(x_tokenize) };
        // SAFETY: FTS5 copies the name and the struct; there is no user data.
        let code = unsafe { create_tokenizer(self.0, TOKENIZER.as_ptr(), ptr::null_mut(), &raw mut tokenizer, None) };
        if code != ffi::SQLITE_OK {
            return Err(Error::state(format!("session_search: FTS5 refused the tokenizer (SQLite error {code})")));
        }
        for (name, function) in FUNCTIONS {
            // SAFETY: FTS5 copies the name; there is no user data.
            let code = unsafe { create_function(self.0, name.as_ptr(), ptr::null_mut(), Some(function), None) };
            if code != ffi::SQLITE_OK {
                return Err(Error::state(format!("session_search: FTS5 refused an auxiliary function (SQLite error {code})")));
            }
        }
        Ok(())
    }
}

/// The place for FTS5's answer, as the pointer value that `fts5()` expects.
fn pointer(api: &mut *mut ffi::fts5_api) -> ToSqlOutput<'_> {
    ToSqlOutput::Pointer((ptr::from_mut(api).cast(), c"fts5_api_ptr", None))
}

/// The bytes of a text from C. `None` where a length comes without a text.
///
/// # Safety
/// `text` is null or points to `length` bytes that live and stay unchanged for `'a`.
unsafe fn bytes<'a>(text: *const c_char, length: c_int) -> Option<&'a [u8]> {
    match usize::try_from(length) {
        Ok(0) => Some(&[]),
        // SAFETY: not null, and the caller vouches for the length.
        Ok(length) if !text.is_null() => Some(unsafe { slice::from_raw_parts(text.cast(), length) }),
        _ => None,
    }
}

/// The panic guard of the callbacks that answer with a result code.
fn guarded(work: impl FnOnce() -> c_int) -> c_int {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(ffi::SQLITE_ERROR)
}

unsafe extern "C" fn x_create(_: *mut c_void, arguments: *mut *const c_char, count: c_int, out: *mut *mut ffi::Fts5Tokenizer) -> c_int {
    let Ok(count) = usize::try_from(count) else { return ffi::SQLITE_MISUSE };
    if out.is_null() || (count > 0 && arguments.is_null()) {
        return ffi::SQLITE_MISUSE;
    }
    let arguments: &[*const c_char] = if count == 0 {
        &[]
    } else {
        // SAFETY: FTS5 gives `count` arguments.
        unsafe { slice::from_raw_parts(arguments, count) }
    };
    guarded(|| {
        let texts = arguments.iter().map(|&argument| {
            // SAFETY: each argument is a C string of FTS5's.
            let text = if argument.is_null() { c"" } else { unsafe { CStr::from_ptr(argument) } };
            text.to_string_lossy()
        });
        let texts: Vec<_> = texts.collect();
        match Tokenizer::from_args(texts.iter().map(AsRef::as_ref)) {
            Ok(tokenizer) => {
                let tokenizer = Box::into_raw(Box::new(tokenizer)).cast();
                // SAFETY: checked for null above.
                unsafe { out.write(tokenizer) };
                ffi::SQLITE_OK
            }
            // FTS5 has no way to pass on a text ("error in tokenizer constructor"); SQLite's log has.
            Err(error) => {
                rusqlite::trace::log(ffi::SQLITE_ERROR, &error.to_string().replace('\0', " "));
                ffi::SQLITE_ERROR
            }
        }
    })
}

unsafe extern "C" fn x_delete(tokenizer: *mut ffi::Fts5Tokenizer) {
    if !tokenizer.is_null() {
        // SAFETY: made by `x_create`, deleted once.
        drop(unsafe { Box::from_raw(tokenizer.cast::<Tokenizer>()) });
    }
}

type XToken = unsafe extern "C" fn(*mut c_void, c_int, *const c_char, c_int, c_int, c_int) -> c_int;

unsafe extern "C" fn x_tokenize(
    tokenizer: *mut ffi::Fts5Tokenizer,
    context: *mut c_void,
    flags: c_int,
    text: *const c_char,
    length: c_int,
    x_token: Option<XToken>,
) -> c_int {
    // SAFETY: null or made by `x_create`, and not deleted while it is in use.
    let tokenizer = unsafe { tokenizer.cast::<Tokenizer>().as_ref() };
    // SAFETY: FTS5's text lives for the call.
    let text = unsafe { bytes(text, length) };
    let (Some(tokenizer), Some(text), Some(x_token)) = (tokenizer, text, x_token) else { return ffi::SQLITE_MISUSE };
    let purpose = if flags & ffi::FTS5_TOKENIZE_QUERY == 0 { Purpose::Text } else { Purpose::Query };
    let emit = |term: Term<'_>| {
        let (Ok(size), Ok(start), Ok(end)) = (c_int::try_from(term.text.len()), c_int::try_from(term.start), c_int::try_from(term.end))
        else {
            return Err(ffi::SQLITE_TOOBIG);
        };
        let flags = if term.colocated { ffi::FTS5_TOKEN_COLOCATED } else { 0 };
        // SAFETY: FTS5's own callback with FTS5's own context; it copies the term.
        let code = unsafe { x_token(context, flags, term.text.as_ptr().cast(), size, start, end) };
        if code == ffi::SQLITE_OK { Ok(()) } else { Err(code) }
    };
    guarded(|| tokenizer.terms(text, purpose, emit).err().unwrap_or(ffi::SQLITE_OK))
}

/// The query and the row that FTS5 is at, for the time of one call.
struct Row {
    api: *const ffi::Fts5ExtensionApi,
    context: *mut ffi::Fts5Context,
}

/// A match of a phrase: its number, the column, and the positions of its tokens.
struct Instance {
    phrase: usize,
    column: c_int,
    tokens: Range<usize>,
}

impl Row {
    fn api(&self) -> &ffi::Fts5ExtensionApi {
        // SAFETY: valid for the time of the call; `Row` does not outlive it.
        unsafe { &*self.api }
    }

    /// How many phrases the query has.
    fn phrase_count(&self) -> usize {
        // SAFETY: FTS5's own function and context.
        let count = self.api().xPhraseCount.map_or(0, |count| unsafe { count(self.context) });
        usize::try_from(count).unwrap_or(0)
    }

    /// How many matches the row has.
    fn instance_count(&self) -> Result<c_int, c_int> {
        let count = self.api().xInstCount.ok_or(ffi::SQLITE_ERROR)?;
        let mut n = 0;
        // SAFETY: FTS5's own function and context.
        ok(unsafe { count(self.context, &raw mut n) })?;
        Ok(n)
    }

    /// All matches of the row, in order of position.
    fn instances(&self) -> Result<Vec<Instance>, c_int> {
        let api = self.api();
        let (Some(instance), Some(phrase_size)) = (api.xInst, api.xPhraseSize) else {
            return Err(ffi::SQLITE_ERROR);
        };
        let mut all = Vec::new();
        for i in 0..self.instance_count()? {
            let (mut phrase, mut column, mut position) = (0, 0, 0);
            // SAFETY: `i` is below the count; three places to write to.
            ok(unsafe { instance(self.context, i, &raw mut phrase, &raw mut column, &raw mut position) })?;
            // SAFETY: a phrase number that FTS5 gave.
            let size = unsafe { phrase_size(self.context, phrase) };
            if let (Ok(start), Ok(size), Ok(phrase)) = (usize::try_from(position), usize::try_from(size), usize::try_from(phrase)) {
                all.push(Instance { phrase, column, tokens: start..start + size });
            }
        }
        Ok(all)
    }

    /// How many tokens the row has in a column, or (-1) in all of them.
    fn column_size(&self, column: c_int) -> Result<usize, c_int> {
        let size = self.api().xColumnSize.ok_or(ffi::SQLITE_ERROR)?;
        let mut tokens = 0;
        // SAFETY: FTS5's own function and context; FTS5 checks the column.
        ok(unsafe { size(self.context, column, &raw mut tokens) })?;
        Ok(usize::try_from(tokens).unwrap_or(0))
    }

    /// The byte ranges of the tokens of `text`, by the tokenizer of the table.
    fn tokens(&self, text: &str, offset: usize, into: &mut Vec<Range<usize>>) -> Result<(), c_int> {
        let tokenize = self.api().xTokenize.ok_or(ffi::SQLITE_ERROR)?;
        let length = c_int::try_from(text.len()).map_err(|_| ffi::SQLITE_TOOBIG)?;
        let mut found = Found { offset, tokens: into };
        // SAFETY: the text lives for the call, and `on_token` gets the `Found` that it expects.
        ok(unsafe { tokenize(self.context, text.as_ptr().cast(), length, ptr::from_mut(&mut found).cast(), Some(on_token)) })
    }
}

fn ok(code: c_int) -> Result<(), c_int> {
    if code == ffi::SQLITE_OK { Ok(()) } else { Err(code) }
}

struct Found<'v> {
    offset: usize,
    tokens: &'v mut Vec<Range<usize>>,
}

unsafe extern "C" fn on_token(found: *mut c_void, flags: c_int, _: *const c_char, _: c_int, start: c_int, end: c_int) -> c_int {
    // SAFETY: `Row::tokens` passes a `Found` and nobody else has it meanwhile.
    let Some(found) = (unsafe { found.cast::<Found<'_>>().as_mut() }) else { return ffi::SQLITE_MISUSE };
    // A colocated token is another reading of the one before, at the same position.
    if flags & ffi::FTS5_TOKEN_COLOCATED == 0 {
        let (Ok(start), Ok(end)) = (usize::try_from(start), usize::try_from(end)) else { return ffi::SQLITE_ERROR };
        found.tokens.push(found.offset + start..found.offset + end);
    }
    ffi::SQLITE_OK
}

/// `session_search_excerpt(table, text, max_chars)`: the row's message, masked, cut around the matches of the running query.
///
/// `text` is the message whose text was indexed, with its secrets replaced (as the index of this library has it) or as it is (as a
/// table of somebody's own may have it): the number of its tokens tells.
fn row_excerpt(row: &Row, text: &str, max_chars: usize) -> Result<String, c_int> {
    let message = Redacted::new(text);
    let mut masked = Vec::new();
    for (start, gap) in message.gaps() {
        row.tokens(gap, start, &mut masked)?;
    }
    let mut whole = Vec::new();
    let mut matches: Vec<Range<usize>> = Vec::new();
    for instance in row.instances()? {
        let size = row.column_size(instance.column)?;
        if size != masked.len() && whole.is_empty() {
            row.tokens(text, 0, &mut whole)?;
        }
        let tokens = if size == masked.len() { &masked } else { &whole };
        // Another text than the indexed one: no place in it is known.
        if size != tokens.len() {
            continue;
        }
        if let Some(found @ [first, ..]) = tokens.get(instance.tokens) {
            let end = found.last().map_or(first.end, |last| last.end);
            matches.push(first.start..end);
        }
    }
    matches.sort_by_key(|m| (m.start, m.end));
    Ok(excerpt(&message, &matches, max_chars))
}

/// bm25 of the row, as FTS5's own but with statistics that are given: the average number of tokens of a row, then the idf of each phrase.
fn row_bm25(row: &Row, statistics: &[[u8; 8]]) -> Result<f64, c_int> {
    const K1: f64 = 1.2;
    const B: f64 = 0.75;
    let (average, idf) = statistics.split_first().ok_or(ffi::SQLITE_ERROR)?;
    if idf.len() != row.phrase_count() {
        return Err(ffi::SQLITE_ERROR);
    }
    #[expect(clippy::cast_precision_loss, reason = "a number of tokens")]
    let length = row.column_size(-1)? as f64;
    let norm = K1 * (1.0 - B + B * length / f64::from_le_bytes(*average));
    let score = |frequency: f64, idf: &[u8; 8]| f64::from_le_bytes(*idf) * frequency * (K1 + 1.0) / (frequency + norm);
    if let [only] = idf {
        return Ok(score(f64::from(row.instance_count()?), only)); // all matches are of the one phrase
    }
    let mut frequencies = vec![0.0; idf.len()];
    for instance in row.instances()? {
        *frequencies.get_mut(instance.phrase).ok_or(ffi::SQLITE_ERROR)? += 1.0;
    }
    Ok(frequencies.into_iter().zip(idf).map(|(frequency, idf)| score(frequency, idf)).sum())
}

/// The arguments of an auxiliary function, behind the table.
///
/// # Safety
/// FTS5's: `count` values, good for the time of the call.
unsafe fn arguments<'a>(count: c_int, values: *mut *mut ffi::sqlite3_value) -> &'a [*mut ffi::sqlite3_value] {
    match usize::try_from(count) {
        // SAFETY: the caller vouches for the count.
        Ok(count) if count > 0 && !values.is_null() => unsafe { slice::from_raw_parts(values, count) },
        _ => &[],
    }
}

/// An argument that is a text or a blob, and whether it is a text. `None` for everything else.
///
/// # Safety
/// A value of FTS5's, good for the time of the call and not converted in it.
unsafe fn argument_bytes<'a>(value: *mut ffi::sqlite3_value) -> Option<(&'a [u8], bool)> {
    // SAFETY: the caller vouches for the value.
    let kind = unsafe { ffi::sqlite3_value_type(value) };
    if kind != ffi::SQLITE_TEXT && kind != ffi::SQLITE_BLOB {
        return None;
    }
    // SAFETY: a text or blob as it is: nothing is converted.
    let start = unsafe { ffi::sqlite3_value_blob(value) };
    // SAFETY: the same value.
    let length = unsafe { ffi::sqlite3_value_bytes(value) };
    // SAFETY: SQLite's pointer and length of one value.
    Some((unsafe { bytes(start.cast(), length) }.unwrap_or_default(), kind == ffi::SQLITE_TEXT))
}

/// An argument that is a whole number. Some hosts bind every number as REAL.
///
/// # Safety
/// A value of FTS5's, good for the time of the call.
unsafe fn argument_integer(value: *mut ffi::sqlite3_value) -> Option<i64> {
    // SAFETY: the caller vouches for the value.
    let kind = unsafe { ffi::sqlite3_value_type(value) };
    // SAFETY: the same value.
    let number = unsafe { ffi::sqlite3_value_double(value) };
    // SAFETY: the same value.
    let integer = unsafe { ffi::sqlite3_value_int64(value) };
    (kind == ffi::SQLITE_INTEGER || kind == ffi::SQLITE_FLOAT && number.fract() == 0.0).then_some(integer)
}

/// Why an auxiliary function fails.
enum Failure {
    Text(String),
    /// SQLite's own code, handed on: an interrupt stays an interrupt.
    Code(c_int),
}

impl From<&str> for Failure {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// What an auxiliary function gives.
enum Outcome {
    Null,
    Text(String),
    Real(f64),
}

/// Runs an auxiliary function behind the panic guard and hands its outcome to SQLite.
///
/// # Safety
/// `result` is the one of the call.
unsafe fn answer(result: *mut ffi::sqlite3_context, name: &str, run: impl FnOnce() -> Result<Outcome, Failure>) {
    let error = match catch_unwind(AssertUnwindSafe(run)) {
        // SAFETY: the result of this call.
        Ok(Ok(Outcome::Null)) => return unsafe { ffi::sqlite3_result_null(result) },
        // SAFETY: the result of this call.
        Ok(Ok(Outcome::Real(value))) => return unsafe { ffi::sqlite3_result_double(result, value) },
        Ok(Ok(Outcome::Text(text))) => match c_int::try_from(text.len()) {
            // SAFETY: the result of this call; SQLite copies the text.
            Ok(length) => return unsafe { ffi::sqlite3_result_text(result, text.as_ptr().cast(), length, ffi::SQLITE_TRANSIENT()) },
            Err(_) => "text is too long".to_owned(),
        },
        // SAFETY: the result of this call.
        Ok(Err(Failure::Code(code))) => return unsafe { ffi::sqlite3_result_error_code(result, code) },
        Ok(Err(Failure::Text(text))) => text,
        Err(_) => "internal error (a panic was caught)".to_owned(),
    };
    let text = format!("{name}: {error}");
    let length = c_int::try_from(text.len()).unwrap_or(0);
    // SAFETY: the result of this call; SQLite copies the text.
    unsafe { ffi::sqlite3_result_error(result, text.as_ptr().cast(), length) };
}

unsafe extern "C" fn x_excerpt(
    api: *const ffi::Fts5ExtensionApi,
    context: *mut ffi::Fts5Context,
    result: *mut ffi::sqlite3_context,
    count: c_int,
    values: *mut *mut ffi::sqlite3_value,
) {
    let run = || {
        // SAFETY: FTS5's own.
        let &[text, max_chars] = (unsafe { arguments(count, values) }) else {
            return Err(Failure::Text(format!("expected 3 arguments (table, text, max_chars), got {}", i64::from(count) + 1)));
        };
        // SAFETY: a value that FTS5 gave.
        let max_chars = unsafe { argument_integer(max_chars) }.and_then(|max| usize::try_from(max).ok()).filter(|&max| max > 0);
        let max_chars = max_chars.ok_or("argument 3 (max_chars) must be an integer of at least 1")?;
        // SAFETY: a value that FTS5 gave.
        if unsafe { ffi::sqlite3_value_type(text) } == ffi::SQLITE_NULL {
            return Ok(Outcome::Null);
        }
        // SAFETY: a value that FTS5 gave.
        let Some((text, true)) = (unsafe { argument_bytes(text) }) else { return Err("argument 2 (text) must be TEXT".into()) };
        let excerpt = row_excerpt(&Row { api, context }, &String::from_utf8_lossy(text), max_chars);
        excerpt.map(Outcome::Text).map_err(Failure::Code)
    };
    // SAFETY: the result of this call.
    unsafe { answer(result, "session_search_excerpt", run) }
}

/// `session_search_bm25(table, statistics)`: `statistics` is a blob of little-endian doubles.
unsafe extern "C" fn x_bm25(
    api: *const ffi::Fts5ExtensionApi,
    context: *mut ffi::Fts5Context,
    result: *mut ffi::sqlite3_context,
    count: c_int,
    values: *mut *mut ffi::sqlite3_value,
) {
    let run = || {
        const WRONG: &str = "argument 2 (statistics) must be a BLOB of little-endian doubles: average tokens of a row, idf of each phrase";
        // SAFETY: FTS5's own.
        let &[statistics] = (unsafe { arguments(count, values) }) else {
            return Err(Failure::Text(format!("expected 2 arguments (table, statistics), got {}", i64::from(count) + 1)));
        };
        // SAFETY: a value that FTS5 gave.
        let Some((statistics, false)) = (unsafe { argument_bytes(statistics) }) else { return Err(WRONG.into()) };
        row_bm25(&Row { api, context }, statistics.as_chunks().0).map(Outcome::Real).map_err(|code| match code {
            ffi::SQLITE_ERROR => WRONG.into(),
            code => Failure::Code(code),
        })
    };
    // SAFETY: the result of this call.
    unsafe { answer(result, "session_search_bm25", run) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_in_a_callback_is_an_error_code() {
        assert_eq!(guarded(|| panic!("in a callback")), ffi::SQLITE_ERROR);
        assert_eq!(guarded(|| ffi::SQLITE_OK), ffi::SQLITE_OK);
    }

    #[test]
    fn a_text_from_c_may_be_null_when_it_is_empty() {
        // SAFETY: no byte is claimed.
        assert_eq!(unsafe { bytes(ptr::null(), 0) }, Some(&[][..]));
        // SAFETY: refused before anything is read.
        assert_eq!(unsafe { bytes(ptr::null(), 5) }, None);
        // SAFETY: refused before anything is read.
        assert_eq!(unsafe { bytes(c"abc".as_ptr(), -1) }, None);
        // SAFETY: three bytes of a C string.
        assert_eq!(unsafe { bytes(c"abc".as_ptr(), 3) }, Some(&b"abc"[..]));
    }
}
