//! What a history asks for, checked key by key.

use std::ops::RangeInclusive;

use crate::error::{Error, Result};
use crate::options;
use crate::search::Hit;
use crate::visibility::Policy;

/// Messages that one call may ask for.
const LIMITS: RangeInclusive<i64> = 1..=200;
const DEFAULT_LIMIT: usize = 20;

/// Which messages of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Those around the message with this id.
    Around(String),
    /// The last ones before a seq, or of all.
    Before(Option<i64>),
    /// The first ones after a seq.
    After(i64),
}

/// Which messages of which session to show, and who asks: the arguments of `sessions_history`.
///
/// The caller and the policy are for the application to set. Without a place it is the last messages.
///
/// ```
/// use session_search::HistoryRequest;
/// let last = HistoryRequest::new("agent:main:main", "agent:main:main").limit(50);
/// let older = last.clone().before(1_200);
/// let around_a_hit = last.session_id("s1").around("m1");
/// ```
#[derive(Clone, Debug)]
pub struct HistoryRequest {
    pub(super) session_key: String,
    /// The session key of whoever asks. Blank: sees nothing.
    pub(super) caller: String,
    /// Which transcript of the session; `None`: the one that it stands on.
    pub(super) session_id: Option<String>,
    pub(super) place: Place,
    pub(super) limit: usize,
    pub(super) tools: bool,
    pub(super) policy: Policy,
}

impl HistoryRequest {
    /// The last messages of the session with the key `session_key`, asked for by the session with the key `caller`.
    ///
    /// ```
    /// let request = session_search::HistoryRequest::new("agent:main:telegram:direct:4242", "agent:main:main");
    /// ```
    pub fn new(session_key: impl Into<String>, caller: impl Into<String>) -> Self {
        Self {
            session_key: session_key.into(),
            caller: caller.into(),
            session_id: None,
            place: Place::Before(None),
            limit: DEFAULT_LIMIT,
            tools: false,
            policy: Policy::default(),
        }
    }

    /// The messages around a hit.
    ///
    /// ```no_run
    /// # use session_search::{HistoryRequest, SearchRequest, SessionSearch};
    /// # let search = SessionSearch::open("application.sqlite")?;
    /// let caller = "agent:main:main";
    /// for hit in search.search(&SearchRequest::new("reverse proxy", caller))?.results {
    ///     let conversation = search.history(&HistoryRequest::of(&hit, caller).limit(7))?;
    /// }
    /// # Ok::<(), session_search::Error>(())
    /// ```
    pub fn of(hit: &Hit, caller: impl Into<String>) -> Self {
        Self::new(&hit.session_key, caller).session_id(&hit.session_id).around(&hit.message_id)
    }

    /// The messages around the one with this id, which stands in the middle; none where it is not on the active branch. Takes the place of
    /// [`before`](Self::before) and [`after`](Self::after).
    ///
    /// ```
    /// # use session_search::HistoryRequest;
    /// let request = HistoryRequest::new("agent:main:main", "agent:main:main").around("m1");
    /// ```
    #[must_use]
    pub fn around(mut self, message_id: impl Into<String>) -> Self {
        self.place = Place::Around(message_id.into());
        self
    }

    /// The messages next before this `seq`: the page before the one that begins with it.
    ///
    /// ```
    /// # use session_search::HistoryRequest;
    /// let request = HistoryRequest::new("agent:main:main", "agent:main:main").before(1_200);
    /// ```
    #[must_use]
    pub fn before(mut self, seq: i64) -> Self {
        self.place = Place::Before(Some(seq));
        self
    }

    /// The messages next after this `seq`: the page after the one that ends with it.
    ///
    /// ```
    /// # use session_search::HistoryRequest;
    /// let request = HistoryRequest::new("agent:main:main", "agent:main:main").after(1_200);
    /// ```
    #[must_use]
    pub fn after(mut self, seq: i64) -> Self {
        self.place = Place::After(seq);
        self
    }

    /// Which transcript of the session; without it the one that the session stands on, or the one that holds the message to be shown.
    ///
    /// ```
    /// # use session_search::HistoryRequest;
    /// let request = HistoryRequest::new("agent:main:main", "agent:main:main").session_id("s1");
    /// ```
    #[must_use]
    pub fn session_id(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = Some(session_id.into());
        self
    }

    /// At most so many messages, 1 to 200; 20 by default. Reading fails with another number.
    ///
    /// ```
    /// # use session_search::HistoryRequest;
    /// let request = HistoryRequest::new("agent:main:main", "agent:main:main").limit(200);
    /// ```
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Whether calls of tools and their results are shown too; not by default.
    ///
    /// ```
    /// # use session_search::HistoryRequest;
    /// let request = HistoryRequest::new("agent:main:main", "agent:main:main").include_tools(true);
    /// ```
    #[must_use]
    pub fn include_tools(mut self, include: bool) -> Self {
        self.tools = include;
        self
    }

    /// What the caller may see.
    ///
    /// ```
    /// # use session_search::{HistoryRequest, Policy, Visibility};
    /// let policy = Policy::new().visibility(Visibility::Agent);
    /// let request = HistoryRequest::new("agent:main:telegram:direct:4242", "agent:main:main").policy(policy);
    /// ```
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Reads an options object (JSON text; `None` stands for `{}`). No caller is one who sees nothing.
    pub(crate) fn from_json(session_key: &str, caller: Option<&str>, options: Option<&str>) -> Result<Self> {
        const KEYS: &str = "sessionId, messageId, before, after, limit, includeTools, policy";
        let mut this = Self::new(session_key, caller.unwrap_or_default());
        let mut placed = None;
        for (key, value) in &options::options(options)? {
            let place = match key.as_str() {
                "messageId" => Place::Around(options::text(key, value)?.to_owned()),
                "before" => Place::Before(Some(options::integer(key, value)?)),
                "after" => Place::After(options::integer(key, value)?),
                other => {
                    match other {
                        "sessionId" => this.session_id = Some(options::text(key, value)?.to_owned()),
                        "limit" => this.limit = options::count(key, LIMITS, value)?,
                        "includeTools" => this.tools = options::boolean(key, value)?,
                        "policy" => this.policy = Policy::from_json(value)?,
                        _ => return Err(options::unknown("options", key, KEYS)),
                    }
                    continue;
                }
            };
            if let Some(before) = placed.replace(key) {
                return Err(Error::input(format!("options must have one of messageId, before and after, got {before} and {key}")));
            }
            this.place = place;
        }
        Ok(this)
    }

    /// What a builder cannot refuse.
    pub(super) fn check(&self) -> Result<()> {
        options::in_bounds("limit", LIMITS, self.limit)?;
        self.policy.check()
    }
}
