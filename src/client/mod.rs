//! The typed Rust API: what the SQL surface does, for hosts that embed the library. Nothing here decides anything: requests go to the
//! same rooms as those of the SQL functions.
//!
//! Invariant: the JSON of an answer is that of `sessions_search_json`. Tested by `tests/client.rs`, `tests/reconciler.rs`, `tests/many.rs`.

mod database;
mod many;
mod reconciler;
mod tool;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;

use crate::error::Result;
use crate::handle::Handle;
use crate::history::{self, HistoryMessage, HistoryRequest};
use crate::index::{self, Status};
use crate::search::{self, SearchRequest, SearchResponse};
use crate::visibility::Policy;

pub use database::Database;
pub use many::{Failure, ManyResponse, search_many};
pub use reconciler::{Activity, Progress, Reconciler};
pub use tool::{SESSIONS_HISTORY_SCHEMA, SESSIONS_SEARCH_SCHEMA};

/// A connection that can search the transcripts of a database.
///
/// As a [`Connection`] it is [`Send`] and not [`Sync`]: threads that search at the same time have one each.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let conn = rusqlite::Connection::open_in_memory()?;
/// # conn.execute_batch(include_str!("../../sql/standalone.sql"))?;
/// use session_search::{SearchRequest, SessionSearch};
///
/// let search = SessionSearch::from_connection(conn)?; // or `SessionSearch::open("application.sqlite")?`
/// search.install()?; // once
/// search.connection().execute_batch(
///     r#"INSERT INTO sessions(session_id, session_key, created_at) VALUES('s1', 'agent:main:main', 1784000000000);
///        INSERT INTO transcript_events(session_id, seq, event_json, created_at) VALUES('s1', 1, '{"type":"message","id":"m1",
///          "parentId":null,"message":{"role":"user","content":"The red kite is in the shed."}}', 1784000000000);"#)?;
/// let answer = search.search(&SearchRequest::new("kite", "agent:main:main"))?;
/// assert_eq!(answer.results[0].excerpt, "The red kite is in the shed.");
/// # Ok(())
/// # }
/// ```
///
/// ```compile_fail
/// fn shared<T: Sync>() {}
/// shared::<session_search::SessionSearch>();
/// ```
pub struct SessionSearch {
    reconciler: Option<Reconciler>,
    handle: Arc<Handle>,
    connection: Connection,
}

impl SessionSearch {
    /// Opens a database of your own that holds its transcripts and their index (a path), or one beside which the index is
    /// ([`Database::beside`]). What is behind is worked off in the background from the next search on, by a [`Reconciler`].
    ///
    /// # Errors
    /// A file that is not there or holds no transcripts; an index file that is somebody else's database; what SQLite refuses.
    ///
    /// ```no_run
    /// use session_search::{Database, SessionSearch};
    /// let own = SessionSearch::open("application.sqlite")?;
    /// let openclaw = SessionSearch::open(Database::beside("agents/main/agent/openclaw-agent.sqlite"))?;
    /// # Ok::<(), session_search::Error>(())
    /// ```
    pub fn open(database: impl Into<Database>) -> Result<Self> {
        let database = database.into();
        let mut search = Self::connect(&database)?;
        search.reconciler = Some(Reconciler::new(database)?);
        Ok(search)
    }

    /// The same, without a reconciler.
    fn connect(database: &Database) -> Result<Self> {
        let search = Self::from_connection(database.connect()?)?;
        if let Some(host) = database.host() {
            index::open(&search.handle, host)?;
        }
        Ok(search)
    }

    /// Takes over a connection, whose main database holds the transcripts or, after `session_search_open(path)`, the index. What a search does not
    /// get to index stays behind until somebody calls [`reconcile`](Self::reconcile) or gives it a [`Reconciler`].
    ///
    /// # Errors
    /// As [`register`](crate::register).
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let search = session_search::SessionSearch::from_connection(rusqlite::Connection::open_in_memory()?)?;
    /// assert!(search.status()?.host.is_none());
    /// # Ok(())
    /// # }
    /// ```
    pub fn from_connection(connection: Connection) -> Result<Self> {
        Ok(Self { reconciler: None, handle: crate::registered(&connection)?, connection })
    }

    /// The connection, for SQL of your own. In place, what it stores is indexed in the same transaction.
    ///
    /// ```no_run
    /// # let search = session_search::SessionSearch::open("application.sqlite")?;
    /// let sessions: i64 = search.connection().query_row("SELECT count(*) FROM sessions", [], |row| row.get(0))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Gives the connection back, with the SQL functions registered on it.
    ///
    /// ```no_run
    /// # let search = session_search::SessionSearch::open("application.sqlite")?;
    /// let connection: rusqlite::Connection = search.into_connection();
    /// # Ok::<(), session_search::Error>(())
    /// ```
    pub fn into_connection(self) -> Connection {
        self.connection
    }

    /// What works off what is behind, if there is one.
    ///
    /// ```no_run
    /// # let search = session_search::SessionSearch::open("application.sqlite")?;
    /// if let Some(reconciler) = search.reconciler() {
    ///     println!("{:?}", reconciler.progress());
    /// }
    /// # Ok::<(), session_search::Error>(())
    /// ```
    pub fn reconciler(&self) -> Option<&Reconciler> {
        self.reconciler.as_ref()
    }

    /// Has what is behind worked off by this one from the next search on, or by none.
    ///
    /// ```no_run
    /// # let mut search = session_search::SessionSearch::open("application.sqlite")?;
    /// search.set_reconciler(None); // this program calls `reconcile` where it has the time
    /// # Ok::<(), session_search::Error>(())
    /// ```
    pub fn set_reconciler(&mut self, reconciler: Option<Reconciler>) {
        self.reconciler = reconciler;
    }

    /// In place: puts the index and its triggers into the main database, if they are not there, and connects. Returns the name of the table layout.
    ///
    /// # Errors
    /// A database without transcripts, or one that belongs to `OpenClaw` (see [`adopt`](Self::adopt)); what SQLite refuses.
    ///
    /// ```no_run
    /// # let search = session_search::SessionSearch::open("application.sqlite")?;
    /// assert_eq!(search.install()?, "standalone");
    /// # Ok::<(), session_search::Error>(())
    /// ```
    pub fn install(&self) -> Result<&'static str> {
        index::install(&self.handle, false)
    }

    /// The same in a database that was `OpenClaw`'s and that no `OpenClaw` will use any more: it would refuse to start.
    ///
    /// # Errors
    /// As [`install`](Self::install).
    ///
    /// ```no_run
    /// # let search = session_search::SessionSearch::open("openclaw-agent.sqlite")?;
    /// assert_eq!(search.adopt()?, "openclaw-2026-09");
    /// # Ok::<(), session_search::Error>(())
    /// ```
    pub fn adopt(&self) -> Result<&'static str> {
        index::install(&self.handle, true)
    }

    /// Takes everything of ours out of the main database; says whether there was anything.
    ///
    /// # Errors
    /// What SQLite refuses.
    ///
    /// ```no_run
    /// # let search = session_search::SessionSearch::open("application.sqlite")?;
    /// search.uninstall()?;
    /// # Ok::<(), session_search::Error>(())
    /// ```
    pub fn uninstall(&self) -> Result<bool> {
        index::uninstall(&self.handle)
    }

    /// Searches. What has changed is indexed first, for about 50 ms; where that is not enough, the answer says `indexing`.
    ///
    /// # Errors
    /// A query without a word, or an option out of range ([`Input`](crate::ErrorKind::Input)); no transcripts to search; what SQLite refuses.
    ///
    /// ```no_run
    /// use session_search::SearchRequest;
    /// # let search = session_search::SessionSearch::open("application.sqlite")?;
    /// for hit in search.search(&SearchRequest::new("reverse proxy", "agent:main:main"))?.results {
    ///     println!("{} {}: {}", hit.session_key, hit.role, hit.excerpt);
    /// }
    /// # Ok::<(), session_search::Error>(())
    /// ```
    pub fn search(&self, request: &SearchRequest) -> Result<SearchResponse> {
        let response = search::search(&self.handle, request)?;
        self.wake_if_behind()?;
        Ok(response)
    }

    /// The reconciler starts with the search that sees something behind.
    fn wake_if_behind(&self) -> Result<()> {
        if let Some(reconciler) = &self.reconciler
            && index::behind(&self.handle)? > 0
        {
            reconciler.wake_knowing(&self.handle.known_secrets());
        }
        Ok(())
    }

    /// The messages of a session, oldest first: around a hit, page by page, or the last ones. Only what the caller may see, only the active
    /// branch, masked; all together at most 32,768 bytes of JSON. A session that the caller may not see has no messages, as one that does not exist.
    ///
    /// # Errors
    /// An option out of range; no transcripts to search; what SQLite refuses.
    ///
    /// ```no_run
    /// use session_search::HistoryRequest;
    /// # let search = session_search::SessionSearch::open("application.sqlite")?;
    /// for message in search.history(&HistoryRequest::new("agent:main:main", "agent:main:main"))? {
    ///     println!("{}: {}", message.role, message.text);
    /// }
    /// # Ok::<(), session_search::Error>(())
    /// ```
    pub fn history(&self, request: &HistoryRequest) -> Result<Vec<HistoryMessage>> {
        history::history(&self.handle, request)
    }

    /// Whether the database holds such a session and the caller may see it.
    ///
    /// # Errors
    /// A blank text in the policy; no transcripts to search; what SQLite refuses.
    ///
    /// ```no_run
    /// use session_search::Policy;
    /// # let search = session_search::SessionSearch::open("application.sqlite")?;
    /// let may = search.visible("agent:main:main", "agent:main:telegram:direct:4242", &Policy::new())?;
    /// # Ok::<(), session_search::Error>(())
    /// ```
    pub fn visible(&self, session_key: &str, caller: &str, policy: &Policy) -> Result<bool> {
        search::session_visible(&self.handle, session_key, caller, policy)
    }

    /// What there is to know about the index.
    ///
    /// # Errors
    /// When the transaction that it is called in is lost.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let search = session_search::SessionSearch::from_connection(rusqlite::Connection::open_in_memory()?)?;
    /// assert_eq!(search.status()?.version, env!("CARGO_PKG_VERSION"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn status(&self) -> Result<Status> {
        index::status(&self.handle)
    }

    /// Proves the index against the events and FTS5's own pages. Returns a line for each fault; none where all is well.
    ///
    /// # Errors
    /// No transcripts to search; what SQLite refuses.
    ///
    /// ```no_run
    /// # let search = session_search::SessionSearch::open("application.sqlite")?;
    /// for fault in search.check()? {
    ///     eprintln!("{fault}");
    /// }
    /// # Ok::<(), session_search::Error>(())
    /// ```
    pub fn check(&self) -> Result<Vec<String>> {
        index::check(&self.handle)
    }

    /// Indexes what is behind, in short transactions, until all is done or the time is over. Returns how many transcripts remain.
    ///
    /// # Errors
    /// No transcripts to search; what SQLite refuses.
    ///
    /// ```no_run
    /// use std::time::Duration;
    /// # let search = session_search::SessionSearch::open("application.sqlite")?;
    /// while search.reconcile(Some(Duration::from_millis(200)))? > 0 {
    ///     // other work
    /// }
    /// # Ok::<(), session_search::Error>(())
    /// ```
    pub fn reconcile(&self, budget: Option<Duration>) -> Result<usize> {
        index::reconcile(&self.handle, budget)
    }

    /// Makes the index anew, and then works as [`reconcile`](Self::reconcile) does.
    ///
    /// # Errors
    /// No transcripts to search; what SQLite refuses.
    ///
    /// ```no_run
    /// # let search = session_search::SessionSearch::open("application.sqlite")?;
    /// assert_eq!(search.rebuild(None)?, 0);
    /// # Ok::<(), session_search::Error>(())
    /// ```
    pub fn rebuild(&self, budget: Option<Duration>) -> Result<usize> {
        index::rebuild(&self.handle, budget)
    }

    /// The index in one piece, deleted words overwritten.
    ///
    /// # Errors
    /// No transcripts to search; what SQLite refuses.
    ///
    /// ```no_run
    /// # let search = session_search::SessionSearch::open("application.sqlite")?;
    /// search.optimize()?;
    /// # Ok::<(), session_search::Error>(())
    /// ```
    pub fn optimize(&self) -> Result<()> {
        index::optimize(&self.handle)
    }
}

impl fmt::Debug for SessionSearch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionSearch").field("connection", &self.connection).field("reconciler", &self.reconciler).finish_non_exhaustive()
    }
}
