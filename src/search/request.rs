//! What a search asks for: the query, the caller and the options object, checked key by key.

use std::ops::RangeInclusive;

use serde_json::Value;

use crate::error::{Error, Result};
use crate::event::Role;
use crate::options::{self, shown};
use crate::query::{Mode, Query};
use crate::tokenizer::Tokenizer;
use crate::visibility::Policy;

/// Results that one search may ask for.
const LIMITS: RangeInclusive<i64> = 1..=25;
const DEFAULT_LIMIT: usize = 10;

/// In which order the results come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Order {
    /// Best match first, then newest.
    #[default]
    Relevance,
    /// Newest first.
    Recent,
}

/// A search, ready to run.
#[derive(Debug)]
pub(crate) struct Request {
    pub(super) query: Query,
    /// The session key of whoever asks. Blank: sees nothing.
    pub(super) caller: String,
    pub(super) options: Options,
}

impl Request {
    /// Reads a query and an options object (JSON text; `None` stands for `{}`). No caller is one who sees nothing.
    pub(crate) fn new(query: &str, caller: Option<&str>, options: Option<&str>) -> Result<Self> {
        let options = Options::from_json(options)?;
        let query = Query::parse(query, options.mode, Tokenizer::default())?;
        Ok(Self { query, caller: caller.unwrap_or_default().to_owned(), options })
    }
}

/// The options object.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) session_key: Option<String>,
    pub(super) limit: usize,
    mode: Mode,
    pub(super) order: Order,
    /// `None`: any role.
    pub(super) role: Option<Role>,
    /// First and last timestamp that count, in milliseconds since 1970.
    pub(super) since: i64,
    pub(super) until: i64,
    pub(super) policy: Policy,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            session_key: None,
            limit: DEFAULT_LIMIT,
            mode: Mode::default(),
            order: Order::default(),
            role: None,
            since: i64::MIN,
            until: i64::MAX,
            policy: Policy::default(),
        }
    }
}

impl Options {
    fn from_json(options: Option<&str>) -> Result<Self> {
        const KEYS: &str = "sessionKey, limit, match, order, roles, since, until, policy";
        let mut this = Self::default();
        for (key, value) in &options::object(options)? {
            match key.as_str() {
                "sessionKey" => this.session_key = Some(options::text(key, value)?.to_owned()),
                "limit" => this.limit = options::count(key, LIMITS, value)?,
                "match" => this.mode = options::text(key, value)?.parse()?,
                "order" => this.order = order(value)?,
                "roles" => this.role = roles(value)?,
                "since" => this.since = options::milliseconds(key, value)?,
                "until" => this.until = options::milliseconds(key, value)?,
                "policy" => this.policy = Policy::from_json(value)?,
                _ => return Err(options::unknown(key, KEYS)),
            }
        }
        Ok(this)
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

/// One role to filter by, or `None` where both count.
fn roles(value: &Value) -> Result<Option<Role>> {
    let wrong = || Error::option("roles", r#"an array of "user" and "assistant", not empty"#, &shown(value));
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
