//! One search over several databases.
//!
//! Scores of two databases can be compared only if they are made from the same statistics, so there are two rounds: first every database
//! says how much the caller sees in it and how many messages hold each phrase, then all of them rank with the sums. What comes out is what one
//! database with all of these sessions would have answered.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::SessionSearch;
use crate::error::{Error, Result};
use crate::search::{self, Collection, Found, SearchRequest, SearchResponse};

/// The answer of several databases.
///
/// ```no_run
/// # use session_search::{Database, SearchRequest, SessionSearch, search_many};
/// # let mut agents = vec![SessionSearch::open(Database::beside("agents/main/agent/openclaw-agent.sqlite"))?];
/// let answer = search_many(&mut agents, &SearchRequest::new("reverse proxy", "agent:main:main"))?;
/// for failure in &answer.failures {
///     eprintln!("agent {} was not searched: {}", failure.position, failure.error);
/// }
/// # Ok::<(), session_search::Error>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct ManyResponse {
    /// One answer, within the limits of one. Where a database could not be searched, its `warning` says that results may be missing.
    pub response: SearchResponse,
    /// Why a database could not be searched, for the application: a text can name files.
    pub failures: Vec<Failure>,
}

/// A database that could not be searched.
///
/// ```no_run
/// # fn tell(failure: &session_search::Failure) {
/// eprintln!("database {}: {}", failure.position, failure.error);
/// # }
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Failure {
    /// Which one, counted from 0.
    pub position: usize,
    /// Why.
    pub error: Error,
}

/// Searches several databases, say one for each agent, in parallel on as many threads as the machine has cores, each under the caller and the policy
/// of the request. The answer, scores included, is the one that a single database with all of their sessions would give; a message that several
/// hold counts once.
///
/// # Errors
/// What is wrong with the request. If no database could be searched, why the first could not.
///
/// ```no_run
/// use session_search::{Database, Policy, SearchRequest, SessionSearch, Visibility, search_many};
/// let mut agents = Vec::new();
/// for agent in ["main", "ops"] {
///     agents.push(SessionSearch::open(Database::beside(format!("agents/{agent}/agent/openclaw-agent.sqlite")))?);
/// }
/// let policy = Policy::new().visibility(Visibility::All).agent_to_agent(true);
/// let answer = search_many(&mut agents, &SearchRequest::new("reverse proxy", "agent:main:main").policy(policy))?;
/// # Ok::<(), session_search::Error>(())
/// ```
pub fn search_many(searches: &mut [SessionSearch], request: &SearchRequest) -> Result<ManyResponse> {
    let query = request.query()?;
    let mut failures = Vec::new();
    let mut collection = Collection::default();
    let mut asked: Vec<(usize, &mut SessionSearch)> = searches.iter_mut().enumerate().collect();
    let collections = in_parallel(&mut asked, |search| search::collection(&search.handle, request, &query));
    let mut keep = collections.into_iter().map(|counted| counted.map(|counted| collection.add(&counted)));
    let mut answered = Vec::new();
    for ((position, search), counted) in asked.into_iter().zip(&mut keep) {
        match counted {
            Ok(()) => answered.push((position, search)),
            Err(error) => failures.push(Failure { position, error }),
        }
    }
    drop(keep);
    let found = in_parallel(&mut answered, |search| {
        let found = search::find(&search.handle, request, &query, Some(&collection))?;
        search.wake_if_behind()?;
        Ok(found)
    });
    let mut merged = Found::default();
    for ((position, _), found) in answered.iter().zip(found) {
        match found {
            Ok(found) => merged.merge(found, request),
            Err(error) => failures.push(Failure { position: *position, error }),
        }
    }
    failures.sort_by_key(|failure| failure.position);
    if !searches.is_empty() && failures.len() == searches.len() {
        return Err(failures.swap_remove(0).error);
    }
    merged.incomplete = !failures.is_empty();
    Ok(ManyResponse { response: merged.bounded(request), failures })
}

/// Runs `work` on each of them, on a few threads. The results come in their order.
fn in_parallel<T: Send>(searches: &mut [(usize, &mut SessionSearch)], work: impl Fn(&SessionSearch) -> Result<T> + Sync) -> Vec<Result<T>> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(searches.len());
    let mut results: Vec<Option<Result<T>>> = searches.iter().map(|_| None).collect();
    let next = Mutex::new(searches.iter_mut().zip(&mut results));
    thread::scope(|scope| {
        let worker = || {
            loop {
                let task = next.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some(((_, search), result)) = task else { break };
                *result = Some(work(search));
            }
        };
        // This thread is one of them.
        for _ in 1..threads {
            scope.spawn(worker);
        }
        worker();
    });
    results.into_iter().map(|result| result.unwrap_or_else(|| Err(Error::state("a search was not run")))).collect()
}
