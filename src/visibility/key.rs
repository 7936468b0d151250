//! The grammar of session keys: `agent:<agent id>:<rest>`, or a key without an agent such as `global` or `cron:daily`.
//!
//! Words of the grammar are compared without regard to ASCII case, because hosts lower-case keys; whole keys are compared exactly elsewhere.
//! Tested in `tests.rs`.

/// A session key taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key<'k> {
    /// `agent:<agent>:<rest>`.
    Scoped { agent: &'k str, rest: &'k str },
    /// A key that names no agent.
    Unscoped { rest: &'k str },
    /// Blank, or it begins with `agent:` and does not go on as it must: nobody can say whose it is.
    Malformed,
}

/// The kinds of session that can be incognito, with the prefix that makes them so.
const INCOGNITO: [&str; 3] = ["dashboard:incognito-", "subagent:incognito-", "internal-session-effects:incognito-"];

impl<'k> Key<'k> {
    pub(super) fn parse(key: &'k str) -> Self {
        let key = key.trim();
        if key.is_empty() {
            return Self::Malformed;
        }
        let Some(scoped) = strip_prefix(key, "agent:") else {
            return Self::Unscoped { rest: key };
        };
        match scoped.split_once(':') {
            Some((agent, rest)) if !agent.trim().is_empty() && !rest.is_empty() && !rest.starts_with(':') => Self::Scoped { agent, rest },
            _ => Self::Malformed,
        }
    }

    /// Lives in memory only at the host; whatever of it reached a database is nobody's to see.
    pub(super) fn is_incognito(self) -> bool {
        self.has_kind(&INCOGNITO)
    }

    /// A subagent's own session.
    pub(super) fn is_subagent(self) -> bool {
        self.has_kind(&["subagent:"])
    }

    /// A session that its parent made to work for it: such a one is seen by its parent also across agents.
    pub(super) fn is_delegated(self) -> bool {
        self.has_kind(&["subagent:", "acp:"])
    }

    fn has_kind(self, prefixes: &[&str]) -> bool {
        match self {
            Self::Scoped { rest, .. } | Self::Unscoped { rest } => prefixes.iter().any(|prefix| strip_prefix(rest, prefix).is_some()),
            Self::Malformed => false,
        }
    }
}

/// `str::strip_prefix` without regard to ASCII case.
fn strip_prefix<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    let (head, tail) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix).then_some(tail)
}
