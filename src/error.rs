//! The one error type. Every wording that a person can meet is made here or passed through here.
//!
//! Texts are lower case, have no full stop, say what was expected and what came, and never quote a message or a secret.

use std::fmt;

use rusqlite::types::ValueRef;

/// Why a call failed. The text is complete: it names the function and says what to do.
#[derive(Debug)]
pub struct Error(Kind);

/// What kind of thing went wrong, for programs; the text of the [`Error`] is for people.
///
/// ```
/// use session_search::{ErrorKind, Policy};
/// let error = Policy::from_json(&serde_json::json!({"sandbox": true})).unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Input);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The caller gave something that cannot be used: the text says what was expected and what came.
    Input,
    /// What is needed is not there: no transcripts to search, an index of another format.
    State,
    /// A database is locked by somebody else: the same may go well later.
    Busy,
    /// SQLite refused.
    Sqlite,
    /// The index is damaged: rebuild makes it anew.
    Damage,
}

/// What a call of this crate gives.
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug)]
enum Kind {
    /// The caller gave something that cannot be used.
    Input(String),
    /// What is needed is not there: no host opened, a file that is not a transcript database, an index of another format.
    State(String),
    /// SQLite refused.
    Sqlite { doing: &'static str, source: rusqlite::Error },
    /// SQLite found the index damaged.
    Damage { doing: &'static str, source: rusqlite::Error },
}

impl Error {
    /// What kind of thing went wrong.
    ///
    /// ```no_run
    /// # use session_search::{ErrorKind, SearchRequest, SessionSearch};
    /// # let search = SessionSearch::open("application.sqlite")?;
    /// match search.search(&SearchRequest::new("--", "agent:main:main")) {
    ///     Err(error) if error.kind() == ErrorKind::Input => println!("{error}"),
    ///     answer => println!("{:?}", answer?),
    /// }
    /// # Ok::<(), session_search::Error>(())
    /// ```
    pub fn kind(&self) -> ErrorKind {
        match &self.0 {
            Kind::Input(_) => ErrorKind::Input,
            Kind::State(_) => ErrorKind::State,
            Kind::Sqlite { .. } if self.is_busy() => ErrorKind::Busy,
            Kind::Sqlite { .. } => ErrorKind::Sqlite,
            Kind::Damage { .. } => ErrorKind::Damage,
        }
    }

    /// The caller gave something that cannot be used: `text` says what was expected and what came.
    pub(crate) fn input(text: impl Into<String>) -> Self {
        Self(Kind::Input(text.into()))
    }

    /// What is needed is not there: `text` says what is missing and how to get it.
    pub(crate) fn state(text: impl Into<String>) -> Self {
        Self(Kind::State(text.into()))
    }

    /// Argument `n` (from 1) of `function` has the wrong type or value.
    pub(crate) fn argument(function: &str, n: usize, name: &str, expected: &str, got: &str) -> Self {
        Self::input(format!("{function}: argument {n} ({name}) must be {expected}, got {got}"))
    }

    /// Key `key` of an options object has the wrong type or value.
    pub(crate) fn option(key: &str, expected: &str, got: &str) -> Self {
        Self::input(format!("option {key} must be {expected}, got {got}"))
    }

    /// SQLite refused while we were `doing` something (a present participle with its object: `reading the host database`).
    pub(crate) fn sqlite(doing: &'static str, source: rusqlite::Error) -> Self {
        Self(Kind::Sqlite { doing, source })
    }

    /// Whether a text was longer than SQLite takes.
    pub(crate) fn is_too_big(&self) -> bool {
        self.code() == Some(rusqlite::ErrorCode::TooBig)
    }

    /// Whether the database was locked.
    pub(crate) fn is_busy(&self) -> bool {
        use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
        matches!(self.code(), Some(DatabaseBusy | DatabaseLocked))
    }

    /// Whether SQLite found the index damaged.
    pub(crate) fn is_damage(&self) -> bool {
        matches!(self.0, Kind::Damage { .. })
    }

    /// Whether the same may go well another time or on another connection: nothing is wrong with what was worked on.
    pub(crate) fn is_of_the_moment(&self) -> bool {
        self.code().is_some_and(is_of_the_moment)
    }

    fn code(&self) -> Option<rusqlite::ErrorCode> {
        match &self.0 {
            Kind::Sqlite { source, .. } | Kind::Damage { source, .. } => source.sqlite_error_code(),
            Kind::Input(_) | Kind::State(_) => None,
        }
    }

    /// SQLite has rolled the caller's transaction back because of this error.
    pub(crate) fn lost_transaction(self) -> Self {
        Self::state(format!("{self}; SQLite has rolled back the whole transaction that this was called in"))
    }

    /// SQLite refused something in the index, which can be made again if it is damaged.
    pub(crate) fn index(doing: &'static str, source: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode::{ConstraintViolation, DatabaseCorrupt};
        // No statement of ours violates a constraint by itself (but one, which is meant to fail: see `index/apply.rs`).
        let corrupt = matches!(source.sqlite_error_code(), Some(DatabaseCorrupt | ConstraintViolation));
        let unreadable = ["vtable constructor failed", "invalid fts5 file format"];
        if corrupt || unreadable.iter().any(|text| source.to_string().contains(text)) {
            Self(Kind::Damage { doing, source })
        } else {
            Self::sqlite(doing, source)
        }
    }
}

/// Whether an error speaks of the moment, not of what was worked on.
pub(crate) fn is_of_the_moment(code: rusqlite::ErrorCode) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked, DiskFull, OperationInterrupted, OutOfMemory, ReadOnly, SystemIoFailure};
    [DatabaseBusy, DatabaseLocked, DiskFull, OperationInterrupted, OutOfMemory, ReadOnly, SystemIoFailure].contains(&code)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Input(text) | Kind::State(text) => f.write_str(text),
            Kind::Sqlite { doing, source } => write!(f, "session_search: {source} while {doing}"),
            Kind::Damage { doing, source } => {
                write!(
                    f,
                    "session_search: {source} while {doing}: if this comes again the index is damaged: session_search_rebuild() makes it anew, and so does removing an index file of its own"
                )
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0 {
            Kind::Sqlite { source, .. } | Kind::Damage { source, .. } => Some(source),
            Kind::Input(_) | Kind::State(_) => None,
        }
    }
}

/// A given value as an error shows it: the first 60 characters.
pub(crate) fn shortened(value: &str) -> String {
    match value.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", value.get(..end).unwrap_or_default()),
        None => value.to_owned(),
    }
}

/// SQLite's name of the value's type.
pub(crate) fn type_name(value: ValueRef<'_>) -> &'static str {
    match value {
        ValueRef::Null => "NULL",
        ValueRef::Integer(_) => "INTEGER",
        ValueRef::Real(_) => "REAL",
        ValueRef::Text(_) => "TEXT",
        ValueRef::Blob(_) => "BLOB",
    }
}
