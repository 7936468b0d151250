//! Who may see which session: the one rule that search, history and counts use.
//!
//! The order of the checks and the words of a denial are those of `OpenClaw` 2026.9.6. The deliberate differences all narrow the view, and
//! `tests.rs` names and counts them: a policy word that is not known is an error (`policy.rs`), a sandbox never widens a view, access
//! between agents is off unless it is switched on, visibility is `tree` unless it is set, and a caller without a usable key sees nothing.
//!
//! Invariant: fail closed. Deciding allocates nothing: it runs for every session of a database.

mod key;
mod pattern;
mod policy;
#[cfg(test)]
mod tests;

use key::Key;
use policy::AgentToAgent;
pub use policy::{Policy, SessionToolsVisibility, Visibility};

/// What the rule needs to know of one session. Keys are compared exactly, agent ids without regard to ASCII case.
#[derive(Clone, Copy, Debug, Default)]
#[allow(clippy::struct_field_names, reason = "session_key is what hosts call it")]
pub(crate) struct Session<'s> {
    /// The session's own key.
    pub session_key: &'s str,
    /// The agent that the host stores with the session; without it, or where it is blank, the key names the agent.
    pub agent_id: Option<&'s str>,
    /// The session that this one continues or hangs below.
    pub parent_session_key: Option<&'s str>,
    /// The session that started this one.
    pub spawned_by: Option<&'s str>,
    /// The session that this one works for.
    pub owner_session_key: Option<&'s str>,
}

/// Why a session is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Denial {
    /// The caller's key is blank or malformed.
    CallerUnusable,
    /// The session is incognito.
    Incognito,
    /// The caller is sandboxed and did not start the session.
    Sandbox,
    /// Nothing says which agent the session belongs to.
    AgentUnknown,
    /// Visibility `self`, and it is another session.
    SelfOnly,
    /// Visibility `tree`, and the session is not below the caller.
    Tree,
    /// The session belongs to another agent, and visibility is not `all`.
    CrossAgent,
    /// The session belongs to another agent, and access between agents is off.
    AgentToAgentOff,
    /// The session belongs to another agent, and the list of agents does not name both.
    AgentToAgentNotAllowed,
}

impl Denial {
    /// The word for it, that of OpenClaw where it has one (all but the first and the third).
    #[cfg(test)]
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::CallerUnusable => "caller_session_key_unusable",
            Self::Incognito => "incognito_session",
            Self::Sandbox => "sandbox_visibility_restricted",
            Self::AgentUnknown => "target_agent_ownership_unavailable",
            Self::SelfOnly => "self_visibility_restricted",
            Self::Tree => "tree_visibility_restricted",
            Self::CrossAgent => "cross_agent_visibility_restricted",
            Self::AgentToAgentOff => "agent_to_agent_disabled",
            Self::AgentToAgentNotAllowed => "agent_to_agent_not_allowed",
        }
    }
}

/// The key by which a session tool may call the caller's own session.
const CURRENT: &str = "current";

/// Which sessions stand below a caller, apart from its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tree {
    /// In a sandbox: the sessions that it started, and no others are visible at all.
    Spawned,
    /// Its direct children, not theirs.
    Children,
    /// It is the main session of its agent: under visibility `tree` all of that agent.
    Agent,
}

/// One caller under one policy, with everything worked out that does not depend on the session asked for.
#[derive(Debug)]
pub(crate) struct Caller<'a> {
    key: &'a str,
    /// The key can own and see sessions at all.
    usable: bool,
    /// `None`: the key names no agent and the policy neither. Such a caller meets only sessions without an agent.
    agent: Option<&'a str>,
    /// What remains of the policy's visibility in a sandbox.
    visibility: Visibility,
    /// Sees what it delegated to other agents: not with `self` and, oddly but as at the host, not with `agent`, in a sandbox or not.
    sees_delegated: bool,
    tree: Tree,
    main_session_key: Option<String>,
    agent_to_agent: &'a AgentToAgent,
    /// The caller's half of the agent-to-agent list.
    is_named: bool,
}

impl<'a> Caller<'a> {
    /// The caller with this session key. Never fails: a key that is blank or malformed makes a caller who sees nothing.
    pub(crate) fn new(session_key: &'a str, policy: &'a Policy) -> Self {
        let session_key = session_key.trim();
        let key = Key::parse(session_key);
        let agent = match key {
            Key::Scoped { agent, .. } => Some(agent),
            Key::Unscoped { .. } => policy.agent_id.as_deref(),
            Key::Malformed => None,
        };
        let clamped = policy.sandboxed && policy.session_tools == SessionToolsVisibility::Spawned;
        let main_session_key = match (&policy.main_session_key, agent) {
            (Some(main), _) => Some(main.clone()),
            (None, Some(agent)) => Some(format!("agent:{}:main", agent.to_ascii_lowercase())),
            (None, None) => None,
        };
        let is_main = main_session_key.as_deref() == Some(session_key);
        Self {
            key: session_key,
            usable: key != Key::Malformed,
            agent,
            visibility: if clamped { policy.visibility.min(Visibility::Tree) } else { policy.visibility },
            sees_delegated: matches!(policy.visibility, Visibility::Tree | Visibility::All),
            tree: match (clamped, is_main) {
                // A subagent is clamped to its tree, but may know all of it.
                (true, _) if !key.is_subagent() => Tree::Spawned,
                (_, true) => Tree::Agent,
                _ => Tree::Children,
            },
            main_session_key,
            agent_to_agent: &policy.agent_to_agent,
            is_named: agent.is_some_and(|agent| policy.agent_to_agent.names(agent)),
        }
    }

    /// The session key, without white space around it.
    pub(crate) fn session_key(&self) -> &str {
        self.key
    }

    /// The main session of the caller's agent, if it has one.
    pub(crate) fn main_session_key(&self) -> Option<&str> {
        self.main_session_key.as_deref()
    }

    /// Whether the caller may see the session, and if not, why.
    pub(crate) fn decide(&self, session: &Session<'_>) -> Result<(), Denial> {
        if !self.usable {
            return Err(Denial::CallerUnusable);
        }
        let key = Key::parse(session.session_key);
        if key.is_incognito() {
            return Err(Denial::Incognito);
        }
        let is_own = session.session_key == self.key || session.session_key == CURRENT;
        if self.tree == Tree::Spawned && !is_own && session.spawned_by != Some(self.key) {
            return Err(Denial::Sandbox);
        }
        let agent = match (session.agent_id.map(str::trim).filter(|id| !id.is_empty()), key) {
            (Some(id), _) => Some(id),
            (None, Key::Scoped { agent, .. }) => Some(agent),
            (None, Key::Unscoped { .. }) => self.agent,
            (None, Key::Malformed) => return Err(Denial::AgentUnknown),
        };
        let same_agent = match (agent, self.agent) {
            (Some(theirs), Some(ours)) => theirs.eq_ignore_ascii_case(ours),
            (None, None) => true,
            _ => false,
        };
        let is_child = self.owns(session);
        if !same_agent {
            let is_delegated_child = is_child && !is_own && key.is_delegated();
            return if is_delegated_child && self.sees_delegated { Ok(()) } else { self.reaches(agent) };
        }
        match self.visibility {
            Visibility::Own if !is_own => Err(Denial::SelfOnly),
            Visibility::Tree if !is_own && !is_child && self.tree != Tree::Agent => Err(Denial::Tree),
            _ => Ok(()),
        }
    }

    /// [`Caller::decide`] without the reason.
    pub(crate) fn sees(&self, session: &Session<'_>) -> bool {
        self.decide(session).is_ok()
    }

    /// Is the session a direct child of the caller? Grandchildren are not.
    fn owns(&self, session: &Session<'_>) -> bool {
        [session.owner_session_key, session.spawned_by, session.parent_session_key].contains(&Some(self.key))
    }

    /// May the caller look into sessions of this other agent?
    fn reaches(&self, agent: Option<&str>) -> Result<(), Denial> {
        if self.visibility != Visibility::All {
            Err(Denial::CrossAgent)
        } else if !self.agent_to_agent.enabled {
            Err(Denial::AgentToAgentOff)
        } else if self.is_named && agent.is_some_and(|agent| self.agent_to_agent.names(agent)) {
            Ok(())
        } else {
            Err(Denial::AgentToAgentNotAllowed)
        }
    }
}

/// Is this the key of an incognito session? Those are never visible, to no caller.
pub(crate) fn is_incognito(session_key: &str) -> bool {
    Key::parse(session_key).is_incognito()
}
