//! Working off what is behind, in the background.
//!
//! A [`Reconciler`] is a handle. What it starts, a worker thread with a connection of its own, begins when it is woken, ends when nothing is
//! behind any more, and is stopped and waited for when the last handle of its file goes. In between it writes in transactions of some 30 ms and rests as
//! long after each, so that whoever else writes gets his turn.
//!
//! Invariants: one worker at a time per index file in a process; a worker knows the secrets that its wakers know, so that it indexes none of
//! them; nothing of ours is locked while a callback runs. Tested by `tests/reconciler.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::{Database, SessionSearch};
use crate::error::{Error, Result};
use crate::index;

/// Rest after a transaction: as long as it took, within these bounds.
const REST: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(100));
/// Rest while a database is locked by others, doubled each time.
const BACK_OFF: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(500));
/// After it had to give up, a reconciler is not woken for so long.
const GIVEN_UP: Duration = Duration::from_secs(10);

/// What a reconciler is doing.
///
/// ```no_run
/// # let search = session_search::SessionSearch::open("application.sqlite")?;
/// use session_search::Activity;
/// if let Some(Activity::Stopped(why)) = search.reconciler().map(|reconciler| reconciler.progress().activity) {
///     eprintln!("indexing has stopped: {why}");
/// }
/// # Ok::<(), session_search::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Activity {
    /// Nothing: it waits to be woken.
    #[default]
    Idle,
    /// It indexes.
    Working,
    /// The database is locked by somebody else; it tries again by itself.
    Waiting,
    /// It could not go on, and tries again when it is woken after 10 seconds.
    Stopped(String),
}

/// How far a reconciler has got since it was last woken from rest.
///
/// ```
/// let progress = session_search::Progress::default();
/// assert_eq!((progress.done, progress.total, progress.bytes_per_second()), (0, 0, 0.0));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// What it is doing.
    pub activity: Activity,
    /// Transcripts that were brought in step.
    pub done: usize,
    /// Those and the ones that are still behind. Grows while others write.
    pub total: usize,
    /// Messages that were indexed.
    pub messages: u64,
    /// Bytes of their texts.
    pub bytes: u64,
    /// Since it began, until its last transaction.
    pub elapsed: Duration,
}

impl Progress {
    /// Bytes of text indexed in a second, rests included.
    ///
    /// ```no_run
    /// # let search = session_search::SessionSearch::open("application.sqlite")?;
    /// # let reconciler = search.reconciler().unwrap();
    /// println!("{:.1} MB/s", reconciler.progress().bytes_per_second() / 1e6);
    /// # Ok::<(), session_search::Error>(())
    /// ```
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    pub fn bytes_per_second(&self) -> f64 {
        let seconds = self.elapsed.as_secs_f64();
        if seconds > 0.0 { self.bytes as f64 / seconds } else { 0.0 }
    }

    /// Whether the worker is at it.
    ///
    /// ```
    /// assert!(!session_search::Progress::default().is_running());
    /// ```
    pub fn is_running(&self) -> bool {
        matches!(self.activity, Activity::Working | Activity::Waiting)
    }
}

type Callback = Arc<dyn Fn(&Progress) + Send + Sync>;

/// Brings the index of a database in step in the background, on a thread and a connection of its own.
///
/// [`SessionSearch::open`] makes one and wakes it with the first search that sees something behind. Clones, and reconcilers of one index file, share
/// their worker: there is one per file in a process. When the last of them is dropped, the worker is stopped within a transaction of some 30 ms, and
/// what it has written stays; the next one goes on from there. It is [`Send`] and [`Sync`].
///
/// ```no_run
/// use session_search::{Database, Reconciler};
/// let reconciler = Reconciler::new(Database::beside("openclaw-agent.sqlite"))?;
/// reconciler.on_progress(|progress| println!("{} of {} transcripts", progress.done, progress.total));
/// reconciler.wake();
/// # Ok::<(), session_search::Error>(())
/// ```
#[derive(Clone)]
pub struct Reconciler(Arc<Owner>);

impl Reconciler {
    /// A reconciler of this database, at rest.
    ///
    /// # Errors
    /// An index file that a reconciler of another database in this process has.
    ///
    /// ```no_run
    /// let reconciler = session_search::Reconciler::new("application.sqlite")?;
    /// # Ok::<(), session_search::Error>(())
    /// ```
    pub fn new(database: impl Into<Database>) -> Result<Self> {
        static OWNERS: Mutex<BTreeMap<PathBuf, Weak<Owner>>> = Mutex::new(BTreeMap::new());
        let database = database.into();
        let file = file_of(database.main());
        let mut owners = lock(&OWNERS);
        owners.retain(|_, owner| owner.strong_count() > 0);
        if let Some(owner) = owners.get(&file).and_then(Weak::upgrade) {
            let (there, here) = (owner.0.database.host().map(file_of), database.host().map(file_of));
            if there != here {
                return Err(Error::state(format!(
                    "the index file '{}' serves another database in this process",
                    crate::source::shown(&file)
                )));
            }
            return Ok(Self(owner));
        }
        let owner = Arc::new(Owner(Arc::new(Worker { database, file: file.clone(), state: Mutex::default(), changed: Condvar::new() })));
        owners.insert(file, Arc::downgrade(&owner));
        Ok(Self(owner))
    }

    /// Starts it if it is at rest. Returns at once.
    ///
    /// ```no_run
    /// let reconciler = session_search::Reconciler::new("application.sqlite")?;
    /// reconciler.wake();
    /// # Ok::<(), session_search::Error>(())
    /// ```
    pub fn wake(&self) {
        self.wake_knowing(&[]);
    }

    /// The same by somebody who knows secrets that must not be indexed.
    pub(super) fn wake_knowing(&self, secrets: &[String]) {
        let worker = &self.0.0;
        let mut state = worker.state();
        let new: Vec<String> = secrets.iter().filter(|secret| !state.secrets.contains(secret)).cloned().collect();
        if !new.is_empty() {
            state.secrets = Arc::new(state.secrets.iter().cloned().chain(new).collect());
        }
        state.is_wanted = true;
        if state.is_running || state.is_stopped || state.is_resting() {
            return;
        }
        // One that has ended by itself takes no lock any more.
        if let Some(ended) = state.thread.take() {
            let _ = ended.join();
        }
        let running = Arc::clone(worker);
        match thread::Builder::new().name("session-search".into()).spawn(move || running.work()) {
            Ok(thread) => {
                state.thread = Some(thread);
                state.is_running = true;
                state.progress = Progress { activity: Activity::Working, ..Progress::default() };
            }
            Err(error) => state.give_up(format!("no thread could be started: {error}")),
        }
        worker.changed.notify_all();
    }

    /// How far it has got.
    ///
    /// ```no_run
    /// let reconciler = session_search::Reconciler::new("application.sqlite")?;
    /// let progress = reconciler.progress();
    /// println!("{} of {} transcripts, {} bytes", progress.done, progress.total, progress.bytes);
    /// # Ok::<(), session_search::Error>(())
    /// ```
    pub fn progress(&self) -> Progress {
        self.0.0.state().progress.clone()
    }

    /// Waits until its progress is another one than `seen`, for at most `time`. Returns what it is then.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// let reconciler = session_search::Reconciler::new("application.sqlite")?;
    /// reconciler.wake();
    /// let mut progress = reconciler.progress();
    /// while progress.is_running() {
    ///     println!("{} of {}", progress.done, progress.total);
    ///     progress = reconciler.changed(&progress, Duration::from_secs(1));
    /// }
    /// # Ok::<(), session_search::Error>(())
    /// ```
    pub fn changed(&self, seen: &Progress, time: Duration) -> Progress {
        self.0.0.wait(time, |state| state.progress != *seen).progress.clone()
    }

    /// Waits until it is at rest, for at most `time`. Returns how far it got.
    ///
    /// ```no_run
    /// # use std::time::Duration;
    /// let reconciler = session_search::Reconciler::new("application.sqlite")?;
    /// reconciler.wake();
    /// assert!(!reconciler.wait(Duration::from_secs(60)).is_running());
    /// # Ok::<(), session_search::Error>(())
    /// ```
    pub fn wait(&self, time: Duration) -> Progress {
        self.0.0.wait(time, |state| !state.is_running).progress.clone()
    }

    /// Has this called after every transaction and when the activity changes, on the worker's thread, as long as any reconciler of the file lives. What
    /// it does holds the worker up; a panic in it is caught.
    ///
    /// ```no_run
    /// let reconciler = session_search::Reconciler::new("application.sqlite")?;
    /// reconciler.on_progress(|progress| println!("{} of {}", progress.done, progress.total));
    /// # Ok::<(), session_search::Error>(())
    /// ```
    pub fn on_progress(&self, callback: impl Fn(&Progress) + Send + Sync + 'static) {
        self.0.0.state().callbacks.push(Arc::new(callback));
    }
}

impl fmt::Debug for Reconciler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reconciler").field("database", &self.0.0.database).field("progress", &self.progress()).finish()
    }
}

/// What the handles of a file share. The worker's thread has no part in it: it would never go.
struct Owner(Arc<Worker>);

impl Drop for Owner {
    fn drop(&mut self) {
        let thread = {
            let mut state = self.0.state();
            state.is_stopped = true;
            state.thread.take()
        };
        self.0.changed.notify_all();
        // Dropped in a callback it is the worker itself that gets here.
        if let Some(thread) = thread.filter(|thread| thread.thread().id() != thread::current().id()) {
            let _ = thread.join();
        }
    }
}

#[derive(Default)]
struct State {
    progress: Progress,
    /// What must not be indexed, beside the rules.
    secrets: Arc<Vec<String>>,
    callbacks: Vec<Callback>,
    /// Woken since the worker last began.
    is_wanted: bool,
    is_running: bool,
    is_stopped: bool,
    rests_until: Option<Instant>,
    thread: Option<JoinHandle<()>>,
}

impl State {
    fn is_resting(&self) -> bool {
        self.rests_until.is_some_and(|until| Instant::now() < until)
    }

    fn give_up(&mut self, why: String) {
        self.progress.activity = Activity::Stopped(why);
        self.rests_until = Some(Instant::now() + GIVEN_UP);
    }
}

struct Worker {
    database: Database,
    /// The index file.
    file: PathBuf,
    state: Mutex<State>,
    /// Something in the state has changed.
    changed: Condvar,
}

impl Worker {
    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// The life of the thread.
    fn work(&self) {
        let claim = Claim::of(self);
        loop {
            self.state().is_wanted = false;
            let ended = if claim.is_some() { catch_unwind(AssertUnwindSafe(|| self.bring_in_step())) } else { Ok(Ok(())) };
            let ended = ended.unwrap_or_else(|_| Err(Error::state("internal error (a panic was caught)")));
            self.advance(|state| match ended {
                Ok(()) => state.progress.activity = Activity::Idle,
                Err(error) => state.give_up(error.to_string()),
            });
            let mut state = self.state();
            let is_done = state.is_stopped || !state.is_wanted || state.is_resting();
            if is_done {
                drop(claim);
                // Whoever wakes it from here on starts another thread.
                state.is_running = false;
                break;
            }
        }
        self.changed.notify_all();
    }

    /// Opens the database and works until nothing is behind.
    fn bring_in_step(&self) -> Result<()> {
        let begin = Instant::now();
        let Some(search) = self.unless_busy(|| SessionSearch::connect(&self.database))? else { return Ok(()) };
        // Waiting for a lock is done here, where it can be stopped.
        search.connection.busy_timeout(Duration::ZERO).map_err(|e| Error::sqlite("setting the busy timeout", e))?;
        loop {
            let secrets = Arc::clone(&self.state().secrets);
            if !secrets.is_empty() {
                *search.handle.known_secrets() = secrets;
            }
            let Some((step, took)) = self.unless_busy(|| {
                let begin = Instant::now();
                Ok((index::step(&search.handle, None)?, begin.elapsed()))
            })?
            else {
                return Ok(());
            };
            self.advance(|State { progress, .. }| {
                progress.activity = Activity::Working;
                progress.done += step.done;
                progress.total = progress.done + step.remaining;
                progress.messages += step.messages as u64;
                progress.bytes += step.bytes as u64;
                progress.elapsed = begin.elapsed();
            });
            if step.remaining == 0 {
                return Ok(());
            }
            if !step.any {
                let why = search.status()?.broken;
                return Err(Error::state(why.unwrap_or_else(|| "some transcripts cannot be read".to_owned())));
            }
            if self.rest(took.clamp(REST.0, REST.1)) {
                return Ok(());
            }
        }
    }

    /// Tries again while a database is locked. `None` if it is to stop.
    fn unless_busy<T>(&self, mut work: impl FnMut() -> Result<T>) -> Result<Option<T>> {
        let mut pause = BACK_OFF.0;
        while !self.state().is_stopped {
            match work() {
                Err(error) if error.is_busy() => {
                    self.advance(|state| state.progress.activity = Activity::Waiting);
                    self.rest(pause);
                    pause = (pause * 2).min(BACK_OFF.1);
                }
                done => return done.map(Some),
            }
        }
        Ok(None)
    }

    /// Changes the progress and tells everybody.
    fn advance(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state();
        let before = state.progress.clone();
        change(&mut state);
        if state.progress == before {
            return;
        }
        let (progress, callbacks) = (state.progress.clone(), state.callbacks.clone());
        drop(state);
        self.changed.notify_all();
        tell(&callbacks, &progress);
    }

    /// Rests for so long, and says whether it is to stop.
    fn rest(&self, time: Duration) -> bool {
        self.wait(time, |state| state.is_stopped).is_stopped
    }

    fn wait(&self, time: Duration, until: impl Fn(&State) -> bool) -> MutexGuard<'_, State> {
        let waited = self.changed.wait_timeout_while(self.state(), time, |state| !until(state));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

fn tell(callbacks: &[Callback], progress: &Progress) {
    for callback in callbacks {
        let _ = catch_unwind(AssertUnwindSafe(|| callback(progress)));
    }
}

/// The right to work on an index file, which one worker of the process has at a time: one that is being dropped may not have ended yet.
struct Claim<'w>(&'w Path);

static CLAIMED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
static RELEASED: Condvar = Condvar::new();

impl<'w> Claim<'w> {
    /// Waits for it. `None` if the worker is to stop.
    fn of(worker: &'w Worker) -> Option<Self> {
        const LOOK: Duration = Duration::from_millis(10);
        let mut claimed = lock(&CLAIMED);
        loop {
            if claimed.insert(worker.file.clone()) {
                return Some(Self(&worker.file));
            }
            claimed = RELEASED.wait_timeout(claimed, LOOK).unwrap_or_else(PoisonError::into_inner).0;
            if worker.state().is_stopped {
                return None;
            }
        }
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        lock(&CLAIMED).remove(self.0);
        RELEASED.notify_all();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One path for every way to write it, also of a file that is not there yet.
fn file_of(path: &Path) -> PathBuf {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let made = || Some(folder.canonicalize().ok()?.join(path.file_name()?));
    path.canonicalize().ok().or_else(made).unwrap_or_else(|| path.to_owned())
}
