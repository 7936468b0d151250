//! The C entry point of the loadable extension. Only this build has it, and it exports nothing else.
//!
//! Everything that can fail for a reason outside comes before the first registration, and the library is never unloaded (`build.rs`):
//! a failed load leaves the host as it was. Tested by `tests/loadable`.

use std::ffi::{c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use rusqlite::{Connection, ffi};

/// SQLite 3.40, the oldest that is supported.
const FLOOR: c_int = 3_040_000;

/// The routine table of the SQLite that owns this copy of the library. rusqlite keeps one set of API pointers for the process,
/// so a second copy of SQLite must not come in by the same file.
static OWNER: AtomicPtr<ffi::sqlite3_api_routines> = AtomicPtr::new(ptr::null_mut());

/// Called by SQLite when the library is loaded.
///
/// # Safety
/// SQLite gives a live connection, a place for a message and its routine table.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn sqlite3_sessionsearch_init(
    db: *mut ffi::sqlite3,
    message: *mut *mut c_char,
    api: *mut ffi::sqlite3_api_routines,
) -> c_int {
    if db.is_null() || api.is_null() {
        return ffi::SQLITE_ERROR;
    }
    let load = || {
        // SAFETY: SQLite's own routine table; its first entries are the same in every version.
        let version = unsafe { (*api).libversion_number };
        let version = version.map_or(0, |libversion_number| {
            // SAFETY: takes no arguments and touches nothing.
            unsafe { libversion_number() }
        });
        if version < FLOOR {
            let dotted = format!("{}.{}.{}", version / 1_000_000, version / 1_000 % 1_000, version % 1_000);
            return Err(format!("session_search needs SQLite 3.40 or newer, this is {dotted}"));
        }
        let owner = OWNER.compare_exchange(ptr::null_mut(), api, Ordering::AcqRel, Ordering::Acquire);
        if owner.is_err_and(|owner| owner != api) {
            return Err("session_search is in use by another copy of SQLite in this process: load a copy of the library file".to_owned());
        }
        let init =
            |connection: Connection| crate::register(&connection).map(|()| false).map_err(|e| rusqlite::Error::UserFunctionError(e.into()));
        // SAFETY: the three pointers are the ones that SQLite gave for this call.
        Ok(unsafe { Connection::extension_init2(db, message, api, init) })
    };
    match catch_unwind(AssertUnwindSafe(load)) {
        Ok(Ok(code)) => code,
        // SAFETY: the pointers are the ones that SQLite gave for this call.
        Ok(Err(text)) => unsafe { fail(api, message, &text) },
        // SAFETY: the same.
        Err(_) => unsafe { fail(api, message, "session_search: internal error (a panic was caught)") },
    }
}

/// Hands `text` to SQLite, in memory from its own allocator, without going through rusqlite.
///
/// # Safety
/// SQLite's routine table, and its place for a message or null.
unsafe fn fail(api: *mut ffi::sqlite3_api_routines, message: *mut *mut c_char, text: &str) -> c_int {
    // SAFETY: SQLite's own routine table.
    let malloc = unsafe { (*api).malloc };
    if let (false, Some(malloc), Ok(size)) = (message.is_null(), malloc, c_int::try_from(text.len() + 1)) {
        // SAFETY: SQLite's allocator takes any size.
        let copy = unsafe { malloc(size) }.cast::<u8>();
        if !copy.is_null() {
            // SAFETY: `copy` has room for the text and its end, and cannot overlap it.
            unsafe { ptr::copy_nonoverlapping(text.as_ptr(), copy, text.len()) };
            // SAFETY: still inside the allocation.
            let end = unsafe { copy.add(text.len()) };
            // SAFETY: the last byte of the allocation.
            unsafe { end.write(0) };
            // SAFETY: checked for null above; SQLite frees what it finds there.
            unsafe { message.write(copy.cast()) };
        }
    }
    ffi::SQLITE_ERROR
}
