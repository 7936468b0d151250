//! Tokenizers behind one face: those that FTS5 has, by name, and one as it is usually written with crates.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;

use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, ffi};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

pub(crate) struct Peer {
    pub(crate) name: String,
    /// `None` is the plain one.
    fts5: Option<(ffi::fts5_tokenizer, *mut ffi::Fts5Tokenizer)>,
}

impl Peer {
    /// The tokenizer that `tokenize='<arguments>'` would give a table of this connection. It is never closed.
    pub(crate) fn fts5(conn: &Connection, arguments: &str) -> Self {
        let words: Vec<CString> = arguments.split(' ').map(|word| CString::new(word).expect("no NUL")).collect();
        let mut api: *mut ffi::fts5_api = ptr::null_mut();
        let place = ToSqlOutput::Pointer((ptr::from_mut(&mut api).cast(), c"fts5_api_ptr", None));
        conn.query_row("SELECT fts5(?1)", [place], |_| Ok(())).expect("FTS5");
        let mut tokenizer = ffi::fts5_tokenizer { xCreate: None, xDelete: None, xTokenize: None };
        let mut data: *mut c_void = ptr::null_mut();
        // SAFETY: FTS5's own pointer, good as long as the connection.
        let find = unsafe { (*api).xFindTokenizer }.expect("FTS5 version 2");
        // SAFETY: a C string and two places to write to.
        let code = unsafe { find(api, words[0].as_ptr(), &raw mut data, &raw mut tokenizer) };
        assert_eq!(code, ffi::SQLITE_OK, "{arguments}");
        let mut rest: Vec<*const c_char> = words[1..].iter().map(|word| word.as_ptr()).collect();
        let mut made: *mut ffi::Fts5Tokenizer = ptr::null_mut();
        let create = tokenizer.xCreate.expect("FTS5 gives all three");
        // SAFETY: as many C strings as said, and a place to write to.
        let code = unsafe { create(data, rest.as_mut_ptr(), c_int::try_from(rest.len()).expect("few"), &raw mut made) };
        assert_eq!(code, ffi::SQLITE_OK, "{arguments}");
        Self { name: arguments.to_owned(), fts5: Some((tokenizer, made)) }
    }

    /// UAX #29 words, NFKD, marks removed, lower case.
    pub(crate) fn plain() -> Self {
        Self { name: "unicode-segmentation + NFKD".to_owned(), fts5: None }
    }

    /// How many tokens a text has.
    pub(crate) fn count(&self, text: &str) -> usize {
        let mut count = 0_usize;
        let place = ptr::from_mut(&mut count).cast();
        let Some((tokenizer, made)) = &self.fts5 else {
            plain_tokens(text, |token, start, end| {
                // SAFETY: a place for the count, a token that lives for the call.
                unsafe { count_token(place, 0, token.as_ptr().cast(), length(token), start, end) };
            });
            return count;
        };
        let tokenize = tokenizer.xTokenize.expect("FTS5 gives all three");
        // SAFETY: the tokenizer that was made, a text that lives for the call, and a callback that gets its count.
        let code = unsafe { tokenize(*made, place, ffi::FTS5_TOKENIZE_DOCUMENT, text.as_ptr().cast(), length(text), Some(count_token)) };
        assert_eq!(code, ffi::SQLITE_OK, "{}", self.name);
        count
    }
}

fn plain_tokens(text: &str, mut emit: impl FnMut(&str, c_int, c_int)) {
    for (start, word) in text.unicode_word_indices() {
        let folded: String = word.nfkd().filter(|&c| !is_combining_mark(c)).flat_map(char::to_lowercase).collect();
        let start = c_int::try_from(start).expect("short texts");
        emit(&folded, start, start + length(word));
    }
}

fn length(text: &str) -> c_int {
    c_int::try_from(text.len()).expect("short texts")
}

unsafe extern "C" fn count_token(count: *mut c_void, flags: c_int, _: *const c_char, _: c_int, _: c_int, _: c_int) -> c_int {
    if flags & ffi::FTS5_TOKEN_COLOCATED == 0 {
        // SAFETY: every caller passes its count.
        unsafe { *count.cast::<usize>() += 1 };
    }
    ffi::SQLITE_OK
}
