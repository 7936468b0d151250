//! Agent id patterns of the agent-to-agent list.
//!
//! Blank never matches, `*` always does, a pattern without a star matches exactly that id, one with stars is a glob without regard to case.
//! Ids count as lower case, as the host keeps them. Matching never goes back over a star, so it cannot explode. Tested in `tests.rs`.

/// One pattern, prepared so that matching allocates nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    Never,
    Exact(String),
    Glob {
        prefix: String,
        /// Parts that must follow each other between prefix and suffix; none is empty.
        middle: Vec<String>,
        suffix: String,
    },
}

impl Pattern {
    pub(super) fn new(text: &str) -> Self {
        let text = text.trim();
        let Some((prefix, rest)) = text.split_once('*') else {
            return if text.is_empty() { Self::Never } else { Self::Exact(text.to_owned()) };
        };
        let (middle, suffix) = rest.rsplit_once('*').unwrap_or(("", rest));
        let middle = middle.split('*').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        Self::Glob { prefix: prefix.to_owned(), middle, suffix: suffix.to_owned() }
    }

    pub(super) fn matches(&self, agent: &str) -> bool {
        match self {
            Self::Never => false,
            Self::Exact(id) => agent.bytes().map(|byte| byte.to_ascii_lowercase()).eq(id.bytes()),
            Self::Glob { prefix, middle, suffix } => {
                // The first place of each part leaves the most room for those after it: no other place has to be tried.
                let inner = strip_prefix(agent.as_bytes(), prefix).and_then(|rest| strip_suffix(rest, suffix));
                let end = inner.and_then(|inner| middle.iter().try_fold(inner, |rest, part| after(rest, part)));
                end.is_some()
            }
        }
    }
}

fn strip_prefix<'t>(text: &'t [u8], prefix: &str) -> Option<&'t [u8]> {
    let (head, tail) = text.split_at_checked(prefix.len())?;
    head.eq_ignore_ascii_case(prefix.as_bytes()).then_some(tail)
}

fn strip_suffix<'t>(text: &'t [u8], suffix: &str) -> Option<&'t [u8]> {
    let (head, tail) = text.split_at_checked(text.len().checked_sub(suffix.len())?)?;
    tail.eq_ignore_ascii_case(suffix.as_bytes()).then_some(head)
}

/// What follows the first occurrence of `part`, which is not empty.
fn after<'t>(text: &'t [u8], part: &str) -> Option<&'t [u8]> {
    let at = text.windows(part.len()).position(|window| window.eq_ignore_ascii_case(part.as_bytes()))?;
    text.get(at + part.len()..)
}
