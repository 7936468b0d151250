//! The policy object: what the host allows a caller to see, in the host's own words.
//!
//! Invariant: nothing is guessed. A key or word that this module does not know is an error, and every default is the narrow choice.
//! Tested in `tests.rs`.

use serde_json::{Map, Value};

use super::pattern::Pattern;
use crate::error::{Error, Result};
use crate::options::{boolean, shown};

/// What a caller may see: the `policy` object of the functions. The default is the narrow one: its own session and those that it started.
///
/// It is for the application to set, never for a model.
///
/// ```
/// use session_search::{Policy, Visibility};
/// let policy = Policy::new().visibility(Visibility::All).agent_to_agent(true).agent_to_agent_allow(["main", "ops*"]);
/// assert_eq!(policy, Policy::from_json(&serde_json::json!(
///     {"visibility": "all", "agentToAgent": {"enabled": true, "allow": ["main", "ops*"]}}))?);
/// # Ok::<(), session_search::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    pub(super) visibility: Visibility,
    pub(super) sandboxed: bool,
    pub(super) session_tools: SessionToolsVisibility,
    pub(super) agent_to_agent: AgentToAgent,
    pub(super) agent_id: Option<String>,
    pub(super) main_session_key: Option<String>,
}

/// How far a caller sees, from narrow to wide.
///
/// ```
/// use session_search::{Policy, Visibility};
/// let policy = Policy::new().visibility(Visibility::Agent);
/// ```
// The order is used to take the narrower of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Visibility {
    /// `self`: its own session.
    Own,
    /// `tree`: its own session and those that it started or owns; the main session of an agent sees all of that agent.
    #[default]
    Tree,
    /// `agent`: all sessions of its agent.
    Agent,
    /// `all`: all sessions, of other agents too where agent-to-agent access allows it.
    All,
}

/// What a sandboxed caller may reach with session tools.
///
/// ```
/// use session_search::{Policy, SessionToolsVisibility};
/// let policy = Policy::new().sandboxed(true).session_tools_visibility(SessionToolsVisibility::All);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SessionToolsVisibility {
    /// `spawned`: itself and what it started.
    #[default]
    Spawned,
    /// `all`: whatever its visibility allows.
    All,
}

/// Which agents may look into each other's sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AgentToAgent {
    pub(super) enabled: bool,
    /// `None`: every agent. `Some` without a pattern that can match: none.
    allow: Option<Vec<Pattern>>,
}

const VISIBILITY: [(&str, Visibility); 4] =
    [("self", Visibility::Own), ("tree", Visibility::Tree), ("agent", Visibility::Agent), ("all", Visibility::All)];
const SESSION_TOOLS: [(&str, SessionToolsVisibility); 2] =
    [("spawned", SessionToolsVisibility::Spawned), ("all", SessionToolsVisibility::All)];

impl Policy {
    /// The narrow one: see [`Policy`].
    ///
    /// ```
    /// assert_eq!(session_search::Policy::new(), session_search::Policy::default());
    /// ```
    pub fn new() -> Self {
        Self::default()
    }

    /// How far the caller sees.
    ///
    /// ```
    /// # use session_search::{Policy, Visibility};
    /// let policy = Policy::new().visibility(Visibility::Own);
    /// ```
    #[must_use]
    pub fn visibility(mut self, visibility: Visibility) -> Self {
        self.visibility = visibility;
        self
    }

    /// Whether the caller runs in a sandbox: then it sees itself and the sessions that it started.
    ///
    /// ```
    /// # use session_search::Policy;
    /// let policy = Policy::new().sandboxed(true);
    /// ```
    #[must_use]
    pub fn sandboxed(mut self, sandboxed: bool) -> Self {
        self.sandboxed = sandboxed;
        self
    }

    /// Whether a sandbox narrows what the caller sees.
    ///
    /// ```
    /// # use session_search::{Policy, SessionToolsVisibility};
    /// let policy = Policy::new().sandboxed(true).session_tools_visibility(SessionToolsVisibility::All);
    /// ```
    #[must_use]
    pub fn session_tools_visibility(mut self, visibility: SessionToolsVisibility) -> Self {
        self.session_tools = visibility;
        self
    }

    /// Whether agents may look into each other's sessions (`agentToAgent.enabled`); off by default.
    ///
    /// ```
    /// # use session_search::{Policy, Visibility};
    /// let policy = Policy::new().visibility(Visibility::All).agent_to_agent(true);
    /// ```
    #[must_use]
    pub fn agent_to_agent(mut self, enabled: bool) -> Self {
        self.agent_to_agent.enabled = enabled;
        self
    }

    /// Which agents those are (`agentToAgent.allow`): both must match one of the patterns, where `*` stands for anything. An empty list means every agent,
    /// as at OpenClaw.
    ///
    /// ```
    /// # use session_search::{Policy, Visibility};
    /// let policy = Policy::new().visibility(Visibility::All).agent_to_agent(true).agent_to_agent_allow(["main", "ops*"]);
    /// ```
    #[must_use]
    pub fn agent_to_agent_allow<P: AsRef<str>>(mut self, patterns: impl IntoIterator<Item = P>) -> Self {
        self.agent_to_agent.allow_only(patterns.into_iter().map(|pattern| Pattern::new(pattern.as_ref())).collect());
        self
    }

    /// The caller's agent, where its key does not name one.
    ///
    /// ```
    /// # use session_search::Policy;
    /// let policy = Policy::new().agent_id("main");
    /// ```
    #[must_use]
    pub fn agent_id(mut self, id: impl Into<String>) -> Self {
        self.agent_id = Some(id.into());
        self
    }

    /// The main session of the caller's agent; by default `agent:<agentId>:main`.
    ///
    /// ```
    /// # use session_search::Policy;
    /// let policy = Policy::new().main_session_key("agent:main:dashboard");
    /// ```
    #[must_use]
    pub fn main_session_key(mut self, key: impl Into<String>) -> Self {
        self.main_session_key = Some(key.into());
        self
    }

    /// Reads a policy object: `visibility` (`self`, `tree`, `agent`, `all`), `sandboxed`, `sessionToolsVisibility` (`spawned`, `all`),
    /// `agentToAgent` (`enabled`, `allow`: a list of agent id patterns), `agentId`, `mainSessionKey`. All keys may be absent.
    ///
    /// # Errors
    /// A key that is unknown or has the wrong type or word: the error names it.
    ///
    /// ```
    /// # use session_search::Policy;
    /// let error = Policy::from_json(&serde_json::json!({"visibility": "everything"})).unwrap_err();
    /// assert_eq!(error.to_string(), r#"option policy.visibility must be one of "self", "tree", "agent", "all", got "everything""#);
    /// ```
    pub fn from_json(value: &Value) -> Result<Self> {
        let mut policy = Self::default();
        for (key, value) in object("policy", value)? {
            match key.as_str() {
                "visibility" => policy.visibility = word("policy.visibility", &VISIBILITY, value)?,
                "sandboxed" => policy.sandboxed = boolean("policy.sandboxed", value)?,
                "sessionToolsVisibility" => policy.session_tools = word("policy.sessionToolsVisibility", &SESSION_TOOLS, value)?,
                "agentToAgent" => policy.agent_to_agent = AgentToAgent::from_json(value)?,
                "agentId" => policy.agent_id = Some(text("policy.agentId", value)?),
                "mainSessionKey" => policy.main_session_key = Some(text("policy.mainSessionKey", value)?),
                _ => {
                    let known = "visibility, sandboxed, sessionToolsVisibility, agentToAgent, agentId, mainSessionKey";
                    return Err(unknown_key("policy", known, key));
                }
            }
        }
        Ok(policy)
    }

    /// What a builder cannot refuse.
    pub(crate) fn check(&self) -> Result<()> {
        for (key, text) in [("policy.agentId", &self.agent_id), ("policy.mainSessionKey", &self.main_session_key)] {
            if let Some(text) = text.as_deref().filter(|text| text.trim() != *text || text.is_empty()) {
                return Err(Error::option(key, "a string without white space around it, not empty", &shown(&Value::from(text))));
            }
        }
        Ok(())
    }
}

impl AgentToAgent {
    fn from_json(value: &Value) -> Result<Self> {
        let mut access = Self::default();
        for (key, value) in object("policy.agentToAgent", value)? {
            match key.as_str() {
                "enabled" => access.enabled = boolean("policy.agentToAgent.enabled", value)?,
                "allow" => access.allow_only(patterns(value)?),
                _ => return Err(unknown_key("policy.agentToAgent", "enabled, allow", key)),
            }
        }
        Ok(access)
    }

    /// An empty list means every agent, as at the host; a list of blank patterns means none.
    fn allow_only(&mut self, patterns: Vec<Pattern>) {
        self.allow = (!patterns.is_empty()).then_some(patterns);
    }

    /// Does the list name this agent? Both sides of an access must be named.
    pub(super) fn names(&self, agent: &str) -> bool {
        self.allow.as_ref().is_none_or(|patterns| patterns.iter().any(|pattern| pattern.matches(agent)))
    }
}

fn patterns(value: &Value) -> Result<Vec<Pattern>> {
    let wrong = || Error::option("policy.agentToAgent.allow", "an array of strings", &shown(value));
    let items = value.as_array().ok_or_else(wrong)?;
    items.iter().map(|item| item.as_str().map(Pattern::new).ok_or_else(wrong)).collect()
}

fn object<'v>(key: &str, value: &'v Value) -> Result<&'v Map<String, Value>> {
    value.as_object().ok_or_else(|| Error::option(key, "an object", &shown(value)))
}

fn text(key: &str, value: &Value) -> Result<String> {
    match value.as_str().map(str::trim) {
        Some(text) if !text.is_empty() => Ok(text.to_owned()),
        _ => Err(Error::option(key, "a string that is not blank", &shown(value))),
    }
}

/// A word out of a fixed list; white space around it and its case do not matter.
fn word<T: Copy>(key: &str, words: &[(&str, T)], value: &Value) -> Result<T> {
    let given = value.as_str().map(str::trim);
    let found = words.iter().find(|(name, _)| given.is_some_and(|given| given.eq_ignore_ascii_case(name)));
    found.map(|&(_, meaning)| meaning).ok_or_else(|| {
        let names: Vec<String> = words.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        Error::option(key, &format!("one of {}", names.join(", ")), &shown(value))
    })
}

fn unknown_key(object: &str, known: &str, got: &str) -> Error {
    Error::option(object, &format!("an object with no other keys than {known}"), &format!("key {}", shown(&Value::from(got))))
}
