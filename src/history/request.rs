//! What a history asks for, checked key by key.

use std::ops::RangeInclusive;

use crate::error::{Error, Result};
use crate::options;
use crate::visibility::Policy;

/// Messages that one call may ask for.
const LIMITS: RangeInclusive<i64> = 1..=200;
const DEFAULT_LIMIT: usize = 20;

/// Which messages of a transcript.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Those around the message with this id.
    Around(String),
    /// The last ones before a seq, or of all.
    Before(Option<i64>),
    /// The first ones after a seq.
    After(i64),
}

/// A history, ready to be read.
#[derive(Debug)]
pub(crate) struct Request {
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

impl Request {
    /// `options` is JSON text; `None` stands for `{}`.
    pub(crate) fn new(session_key: &str, caller: Option<&str>, options: Option<&str>) -> Result<Self> {
        const KEYS: &str = "sessionId, messageId, before, after, limit, includeTools, policy";
        let mut this = Self {
            session_key: session_key.to_owned(),
            caller: caller.unwrap_or_default().to_owned(),
            session_id: None,
            place: Place::Before(None),
            limit: DEFAULT_LIMIT,
            tools: false,
            policy: Policy::default(),
        };
        let mut placed = None;
        for (key, value) in &options::object(options)? {
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
                        _ => return Err(options::unknown(key, KEYS)),
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
}
