//! What a search asks for: the query, the caller and the options, checked key by key.

use std::ops::RangeInclusive;

use serde_json::Value;

use crate::error::{Error, Result};
use crate::event::Role;
use crate::options::{self, shown};
use crate::query::{MatchMode, Query};
use crate::tokenizer::Tokenizer;
use crate::visibility::Policy;

/// Results that one search may ask for.
pub(crate) const LIMITS: RangeInclusive<i64> = 1..=25;
const DEFAULT_LIMIT: usize = 10;

/// In which order the results come: the option `order`.
///
/// ```
/// use session_search::{Order, SearchRequest};
/// let newest = SearchRequest::new("proxy", "agent:main:main").order(Order::Recent);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Best match first, then newest.
    #[default]
    Relevance,
    /// Newest first.
    Recent,
}

/// What to search for, who asks, and how: the arguments of `sessions_search`.
///
/// The caller and the policy are for the application to set; the query may be anything that a person or a model types.
///
/// ```
/// use session_search::{MatchMode, Order, Policy, Role, SearchRequest, Visibility};
/// let request = SearchRequest::new("reverse proxy", "agent:main:main")
///     .limit(5)
///     .match_mode(MatchMode::Any)
///     .order(Order::Recent)
///     .role(Role::User)
///     .since(1_784_000_000_000)
///     .policy(Policy::new().visibility(Visibility::Agent));
/// ```
#[derive(Clone, Debug)]
pub struct SearchRequest {
    pub(super) query: String,
    /// The session key of whoever asks. Blank: sees nothing.
    pub(super) caller: String,
    pub(super) session_key: Option<String>,
    pub(super) limit: usize,
    pub(super) mode: MatchMode,
    pub(super) order: Order,
    /// `None`: any role.
    pub(super) role: Option<Role>,
    /// First and last timestamp that count, in milliseconds since 1970.
    pub(super) since: i64,
    pub(super) until: i64,
    pub(super) policy: Policy,
}

impl SearchRequest {
    /// A search for `query` (at most 4,096 characters) by the session with the key `caller`, with the defaults of all options. A blank caller
    /// sees nothing.
    ///
    /// ```
    /// let request = session_search::SearchRequest::new("\"reverse proxy\" OR jenkins", "agent:main:main");
    /// ```
    pub fn new(query: impl Into<String>, caller: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            caller: caller.into(),
            session_key: None,
            limit: DEFAULT_LIMIT,
            mode: MatchMode::default(),
            order: Order::default(),
            role: None,
            since: i64::MIN,
            until: i64::MAX,
            policy: Policy::default(),
        }
    }

    /// Only in the session with this key.
    ///
    /// ```
    /// # use session_search::SearchRequest;
    /// let request = SearchRequest::new("proxy", "agent:main:main").session_key("agent:main:telegram:direct:4242");
    /// ```
    #[must_use]
    pub fn session_key(mut self, key: impl Into<String>) -> Self {
        self.session_key = Some(key.into());
        self
    }

    /// At most so many results, 1 to 25; 10 by default. The search fails with another number.
    ///
    /// ```
    /// # use session_search::SearchRequest;
    /// let request = SearchRequest::new("proxy", "agent:main:main").limit(25);
    /// ```
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// How the words combine: the option `match`.
    ///
    /// ```
    /// # use session_search::{MatchMode, SearchRequest};
    /// let as_you_type = SearchRequest::new("reverse pro", "agent:main:main").match_mode(MatchMode::Prefix);
    /// ```
    #[must_use]
    pub fn match_mode(mut self, mode: MatchMode) -> Self {
        self.mode = mode;
        self
    }

    /// In which order the results come.
    ///
    /// ```
    /// # use session_search::{Order, SearchRequest};
    /// let request = SearchRequest::new("proxy", "agent:main:main").order(Order::Recent);
    /// ```
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Only messages of this role, [`Role::User`] or [`Role::Assistant`]: others are not indexed.
    ///
    /// ```
    /// # use session_search::{Role, SearchRequest};
    /// let request = SearchRequest::new("proxy", "agent:main:main").role(Role::User);
    /// ```
    #[must_use]
    pub fn role(mut self, role: Role) -> Self {
        self.role = Some(role);
        self
    }

    /// Only messages of this time or later, in milliseconds since 1970.
    ///
    /// ```
    /// # use session_search::SearchRequest;
    /// let request = SearchRequest::new("proxy", "agent:main:main").since(1_784_000_000_000);
    /// ```
    #[must_use]
    pub fn since(mut self, ms: i64) -> Self {
        self.since = ms;
        self
    }

    /// Only messages of this time or earlier, in milliseconds since 1970.
    ///
    /// ```
    /// # use session_search::SearchRequest;
    /// let request = SearchRequest::new("proxy", "agent:main:main").until(1_784_000_000_000);
    /// ```
    #[must_use]
    pub fn until(mut self, ms: i64) -> Self {
        self.until = ms;
        self
    }

    /// What the caller may see.
    ///
    /// ```
    /// # use session_search::{Policy, SearchRequest, Visibility};
    /// let request = SearchRequest::new("proxy", "agent:main:main").policy(Policy::new().visibility(Visibility::Own));
    /// ```
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Reads an options object (JSON text; `None` stands for `{}`). No caller is one who sees nothing.
    pub(crate) fn from_json(query: &str, caller: Option<&str>, options: Option<&str>) -> Result<Self> {
        const KEYS: &str = "sessionKey, limit, match, order, roles, since, until, policy";
        let mut this = Self::new(query, caller.unwrap_or_default());
        for (key, value) in &options::options(options)? {
            match key.as_str() {
                "sessionKey" => this.session_key = Some(options::text(key, value)?.to_owned()),
                "limit" => this.limit = options::count(key, LIMITS, value)?,
                "match" => this.mode = options::text(key, value)?.parse()?,
                "order" => this.order = order(value)?,
                "roles" => this.role = roles(value)?,
                "since" => this.since = options::milliseconds(key, value)?,
                "until" => this.until = options::milliseconds(key, value)?,
                "policy" => this.policy = Policy::from_json(value)?,
                _ => return Err(options::unknown("options", key, KEYS)),
            }
        }
        Ok(this)
    }

    /// The query, after a look at what a builder cannot refuse.
    pub(crate) fn query(&self) -> Result<Query> {
        options::in_bounds("limit", LIMITS, self.limit)?;
        if self.role == Some(Role::ToolResult) {
            return Err(Error::option("roles", ROLES, r#"["toolResult"]"#));
        }
        self.policy.check()?;
        Query::parse(&self.query, self.mode, Tokenizer::default())
    }
}

/// The policy object of a function argument (JSON text; `None` stands for `{}`).
pub(crate) fn parse_policy(policy: Option<&str>) -> Result<Policy> {
    policy.map_or_else(|| Ok(Policy::default()), |text| Policy::from_json(&options::json("policy", text)?))
}

fn order(value: &Value) -> Result<Order> {
    match value.as_str() {
        Some("relevance") => Ok(Order::Relevance),
        Some("recent") => Ok(Order::Recent),
        _ => Err(Error::option("order", r#""relevance" or "recent""#, &shown(value))),
    }
}

const ROLES: &str = r#"an array of "user" and "assistant", not empty"#;

/// One role to filter by, or `None` where both count.
fn roles(value: &Value) -> Result<Option<Role>> {
    let wrong = || Error::option("roles", ROLES, &shown(value));
    let (mut user, mut assistant) = (false, false);
    for item in value.as_array().ok_or_else(wrong)? {
        match item.as_str() {
            Some("user") => user = true,
            Some("assistant") => assistant = true,
            _ => return Err(wrong()),
        }
    }
    match (user, assistant) {
        (true, true) => Ok(None),
        (true, false) => Ok(Some(Role::User)),
        (false, true) => Ok(Some(Role::Assistant)),
        (false, false) => Err(wrong()),
    }
}
