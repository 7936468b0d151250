//! Which files a search is about.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use crate::error::{Error, Result};

/// The name of an index file beside a database: `OpenClaw`'s doctor, backup and deletion of an agent treat it well there.
const INDEX_NAME: &str = "session-search.sqlite";

/// A database of transcripts, and where its index is.
///
/// A path alone means a database that holds its own index:
///
/// ```
/// use session_search::Database;
/// assert_eq!(Database::from("application.sqlite"), Database::in_place("application.sqlite"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Database {
    /// The main database of a connection, which holds the index.
    main: PathBuf,
    /// Beside: the database that is searched.
    host: Option<PathBuf>,
}

impl Database {
    /// A database of your own, which holds its index.
    ///
    /// ```
    /// let database = session_search::Database::in_place("application.sqlite");
    /// ```
    pub fn in_place(path: impl Into<PathBuf>) -> Self {
        Self { main: path.into(), host: None }
    }

    /// A database that belongs to somebody else and is only read, with its index in a file next to it, `session-search.sqlite`.
    ///
    /// ```
    /// let database = session_search::Database::beside("agents/main/agent/openclaw-agent.sqlite");
    /// assert_eq!(database, database.clone().index("agents/main/agent/session-search.sqlite"));
    /// ```
    pub fn beside(path: impl Into<PathBuf>) -> Self {
        let host = path.into();
        Self { main: host.with_file_name(INDEX_NAME), host: Some(host) }
    }

    /// Beside: another place for the index file. Has no meaning in place.
    ///
    /// ```
    /// use session_search::Database;
    /// let database = Database::beside("openclaw-agent.sqlite").index("/var/cache/session-search/main.sqlite");
    /// ```
    #[must_use]
    pub fn index(mut self, path: impl Into<PathBuf>) -> Self {
        if self.host.is_some() {
            self.main = path.into();
        }
        self
    }

    /// The file with the index.
    pub(super) fn main(&self) -> &Path {
        &self.main
    }

    /// The database that is opened beside the index.
    pub(super) fn host(&self) -> Option<&Path> {
        self.host.as_deref()
    }

    /// A connection to the file with the index. Only an index file of its own is created where there is none.
    pub(super) fn connect(&self) -> Result<Connection> {
        let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        if self.host.is_some() {
            flags |= OpenFlags::SQLITE_OPEN_CREATE;
        } else if !self.main.is_file() {
            return Err(Error::input(format!("database must be an existing file, got '{}'", crate::source::shown(&self.main))));
        }
        Connection::open_with_flags(&self.main, flags).map_err(|e| Error::sqlite("opening the database", e))
    }
}

impl<P: AsRef<Path>> From<P> for Database {
    fn from(path: P) -> Self {
        Self::in_place(path.as_ref())
    }
}
