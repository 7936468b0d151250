//! The policy object: what the host allows a caller to see, in the host's own words.
//!
//! Invariant: nothing is guessed. A key or word that this module does not know is an error, and every default is the narrow choice.
//! Tested in `tests.rs`.

use serde_json::{Map, Value};

use super::pattern::Pattern;
use crate::error::{Error, Result};
use crate::options::{boolean, shown};

/// What a caller may see. Made from JSON by [`Policy::from_json`]; the default is the view of one session on its own tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Policy {
    pub(super) visibility: Visibility,
    pub(super) sandboxed: bool,
    pub(super) session_tools: SessionTools,
    pub(super) agent_to_agent: AgentToAgent,
    pub(super) agent_id: Option<String>,
    pub(super) main_session_key: Option<String>,
}

/// How far a caller sees, from narrow to wide: the order is used to take the narrower of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Visibility {
    /// Its own session.
    Own,
    /// Its own session and those that it started or owns; the main session of an agent sees all of that agent.
    #[default]
    Tree,
    /// All sessions of its agent.
    Agent,
    /// All sessions, of other agents too where agent-to-agent access allows it.
    All,
}

/// What a sandboxed caller may reach with session tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SessionTools {
    /// What it spawned itself.
    #[default]
    Spawned,
    /// Whatever its visibility allows.
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
const SESSION_TOOLS: [(&str, SessionTools); 2] = [("spawned", SessionTools::Spawned), ("all", SessionTools::All)];

impl Policy {
    /// Reads a policy object: `visibility` (`self`, `tree`, `agent`, `all`), `sandboxed`, `sessionToolsVisibility` (`spawned`, `all`),
    /// `agentToAgent` (`enabled`, `allow`: a list of agent id patterns), `agentId`, `mainSessionKey`. All keys may be absent.
    ///
    /// Errors name the key that is unknown or has the wrong type or word.
    pub(crate) fn from_json(value: &Value) -> Result<Self> {
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
}

impl AgentToAgent {
    fn from_json(value: &Value) -> Result<Self> {
        let mut access = Self::default();
        for (key, value) in object("policy.agentToAgent", value)? {
            match key.as_str() {
                "enabled" => access.enabled = boolean("policy.agentToAgent.enabled", value)?,
                "allow" => access.allow = allowed(value)?,
                _ => return Err(unknown_key("policy.agentToAgent", "enabled, allow", key)),
            }
        }
        Ok(access)
    }

    /// Does the list name this agent? Both sides of an access must be named.
    pub(super) fn names(&self, agent: &str) -> bool {
        self.allow.as_ref().is_none_or(|patterns| patterns.iter().any(|pattern| pattern.matches(agent)))
    }
}

/// An empty list means every agent, as at the host; a list of blank patterns means none.
fn allowed(value: &Value) -> Result<Option<Vec<Pattern>>> {
    const KEY: &str = "policy.agentToAgent.allow";
    let wrong = || Error::option(KEY, "an array of strings", &shown(value));
    let items = value.as_array().ok_or_else(wrong)?;
    let patterns = items.iter().map(|item| item.as_str().map(Pattern::new).ok_or_else(wrong)).collect::<Result<Vec<_>>>()?;
    Ok((!patterns.is_empty()).then_some(patterns))
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
