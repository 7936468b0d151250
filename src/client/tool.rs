//! The tools that a model calls: arguments checked as their schemas say, answers as JSON.

use serde::Serialize;
use serde_json::{Map, Value};

use super::SessionSearch;
use crate::error::{Error, Result};
use crate::history::{self, HistoryRequest};
use crate::options::{self, shown};
use crate::search::{self, SearchRequest};
use crate::visibility::{Caller, Policy};

/// The parameters of the tool `sessions_search` as a JSON schema: what [`SessionSearch::handle_tool_call`] accepts.
///
/// ```
/// let schema: serde_json::Value = serde_json::from_str(session_search::SESSIONS_SEARCH_SCHEMA)?;
/// assert_eq!(schema["required"], serde_json::json!(["query"]));
/// # Ok::<(), serde_json::Error>(())
/// ```
pub const SESSIONS_SEARCH_SCHEMA: &str = include_str!("sessions_search.schema.json");

/// The parameters of the tool `sessions_history` as a JSON schema: what [`SessionSearch::handle_history_call`] accepts.
///
/// ```
/// let schema: serde_json::Value = serde_json::from_str(session_search::SESSIONS_HISTORY_SCHEMA)?;
/// assert_eq!(schema["required"], serde_json::json!(["sessionKey"]));
/// # Ok::<(), serde_json::Error>(())
/// ```
pub const SESSIONS_HISTORY_SCHEMA: &str = include_str!("sessions_history.schema.json");

/// Why a call has no results.
enum Refusal {
    Error(Error),
    /// The caller sees no such session, whether or not there is one.
    Forbidden(String),
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl SessionSearch {
    /// Answers a call of the tool `sessions_search`. `arguments` is what the model wrote, the JSON object that [`SESSIONS_SEARCH_SCHEMA`] describes;
    /// caller and policy come from the application. `sessionKey` may also be `current` (the caller's own) or `main`.
    ///
    /// Returns the JSON of [`SearchResponse`](crate::SearchResponse), or `{"status":"error","error":"…"}`, or `{"status":"forbidden","error":"…"}` where
    /// `sessionKey` names a session that the caller may not see or that does not exist.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let conn = rusqlite::Connection::open_in_memory()?;
    /// # conn.execute_batch(include_str!("../../sql/standalone.sql"))?;
    /// # let search = session_search::SessionSearch::from_connection(conn)?;
    /// # search.install()?;
    /// use session_search::Policy;
    /// let answer = search.handle_tool_call(r#"{"query":"kite"}"#, "agent:main:main", &Policy::new());
    /// assert_eq!(answer, r#"{"results":[]}"#);
    /// let answer = search.handle_tool_call(r#"{"query":"kite","limit":99}"#, "agent:main:main", &Policy::new());
    /// assert_eq!(answer, r#"{"status":"error","error":"option limit must be an integer from 1 to 25, got 99"}"#);
    /// # Ok(())
    /// # }
    /// ```
    pub fn handle_tool_call(&self, arguments: &str, caller: &str, policy: &Policy) -> String {
        let answered = || -> Result<_, Refusal> {
            let mut given = arguments_of(arguments, &["query", "sessionKey", "limit"])?;
            let query = given.remove("query").ok_or_else(|| missing("query"))?;
            let mut request = SearchRequest::new(options::text("query", &query)?, caller).policy(policy.clone());
            if let Some(limit) = given.get("limit") {
                request = request.limit(options::count("limit", search::LIMITS, limit)?);
            }
            if let Some(key) = given.get("sessionKey") {
                request = request.session_key(self.session_of(options::text("sessionKey", key)?, caller, policy)?);
            }
            Ok(self.search(&request)?)
        };
        answer(answered())
    }

    /// Answers a call of the tool `sessions_history` in the same way, with the arguments that [`SESSIONS_HISTORY_SCHEMA`] describes.
    ///
    /// Returns `{"sessionKey":"…","messages":[…]}`, or an error as [`handle_tool_call`](Self::handle_tool_call) does.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let conn = rusqlite::Connection::open_in_memory()?;
    /// # conn.execute_batch(include_str!("../../sql/standalone.sql"))?;
    /// # let search = session_search::SessionSearch::from_connection(conn)?;
    /// # search.install()?;
    /// use session_search::Policy;
    /// let answer = search.handle_history_call(r#"{"sessionKey":"agent:main:main"}"#, "agent:main:main", &Policy::new());
    /// assert_eq!(answer, r#"{"status":"forbidden","error":"no session \"agent:main:main\" that may be seen from here: take a sessionKey of a result"}"#);
    /// # Ok(())
    /// # }
    /// ```
    pub fn handle_history_call(&self, arguments: &str, caller: &str, policy: &Policy) -> String {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct History {
            session_key: String,
            messages: Vec<history::HistoryMessage>,
        }
        let answered = || -> Result<_, Refusal> {
            let keys = ["sessionKey", "messageId", "sessionId", "before", "after", "limit", "includeTools"];
            let mut given = arguments_of(arguments, &keys)?;
            let key = given.remove("sessionKey").ok_or_else(|| missing("sessionKey"))?;
            let session_key = self.session_of(options::text("sessionKey", &key)?, caller, policy)?;
            let options = Value::Object(given).to_string();
            let request = HistoryRequest::from_json(&session_key, Some(caller), Some(&options))?.policy(policy.clone());
            Ok(History { messages: self.history(&request)?, session_key })
        };
        answer(answered())
    }

    /// The session that a model names, if the caller may see it.
    fn session_of(&self, key: &str, caller: &str, policy: &Policy) -> Result<String, Refusal> {
        let who = Caller::new(caller, policy);
        let session_key = match key.trim() {
            "current" => who.session_key(),
            "main" => who.main_session_key().unwrap_or("main"),
            key => key,
        };
        if self.visible(session_key, caller, policy)? {
            Ok(session_key.to_owned())
        } else {
            let named = shown(&Value::from(key));
            Err(Refusal::Forbidden(format!("no session {named} that may be seen from here: take a sessionKey of a result")))
        }
    }
}

/// The arguments of a call, which must have no other keys. A policy is none of a model's business.
fn arguments_of(arguments: &str, keys: &[&str]) -> Result<Map<String, Value>> {
    let given = options::object("arguments", arguments)?;
    match given.keys().find(|key| !keys.contains(&key.as_str())) {
        Some(key) => Err(options::unknown("arguments", key, &keys.join(", "))),
        None => Ok(given),
    }
}

fn missing(key: &str) -> Refusal {
    Refusal::Error(Error::input(format!("arguments must have the key {key}")))
}

fn answer(answered: Result<impl Serialize, Refusal>) -> String {
    #[derive(Serialize)]
    struct Refused<'e> {
        status: &'e str,
        error: &'e str,
    }
    let refused = |status, error: &str| serde_json::to_string(&Refused { status, error }).unwrap_or_default();
    match answered {
        Ok(answer) => serde_json::to_string(&answer).unwrap_or_else(|error| refused("error", &error.to_string())),
        Err(Refusal::Error(error)) => refused("error", &error.to_string()),
        Err(Refusal::Forbidden(text)) => refused("forbidden", &text),
    }
}
