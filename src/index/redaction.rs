//! What is masked in this database: the rules of the library, those that the database holds, and the secrets that the caller has told this
//! connection. What is masked enters no index, so the rules of a database are part of its index format.

use std::sync::Arc;

use super::{attached, not_open};
use crate::error::{Error, Result, shortened};
use crate::handle::Handle;
use crate::redact::{Detector, Rules};
use crate::schema;

/// The rules as of one state of the database and of the connection.
#[derive(Clone, Default)]
pub(crate) struct Redaction {
    /// `None`: the library's own.
    own: Option<Arc<Detector>>,
    /// The token of the index, which a change of rules replaces and a rollback brings back, and the secrets that the connection knew.
    known_at: Option<(Option<String>, Arc<Vec<String>>)>,
}

impl Redaction {
    pub(crate) fn detector(&self) -> &Detector {
        self.own.as_deref().unwrap_or(Detector::standard())
    }

    /// Reads the rules again if they can have changed.
    pub(super) fn refresh(&mut self, handle: &Handle) -> Result<()> {
        let known = Arc::clone(&handle.known_secrets());
        let made = schema::made(handle.connection())?;
        let is_same = |(then, secrets): &(Option<String>, Arc<Vec<String>>)| *then == made && Arc::ptr_eq(secrets, &known);
        if made.is_none() || !self.known_at.as_ref().is_some_and(is_same) {
            let stored = schema::rules(handle.connection())?;
            let custom = !stored.is_empty() || !known.is_empty();
            self.own = if custom { Some(Arc::new(rules(&stored, &known)?.compile())) } else { None };
            self.known_at = Some((made, known));
        }
        Ok(())
    }
}

fn rules(stored: &[(String, String)], known: &[String]) -> Result<Rules> {
    let stored = stored.iter().try_fold(Rules::default(), |rules, (kind, value)| with(rules, kind, value))?;
    known.iter().try_fold(stored, |rules, secret| with(rules, "known", secret))
}

fn with(rules: Rules, kind: &str, value: &str) -> Result<Rules> {
    let added = match kind {
        "prefix" => rules.prefix(value),
        "name" => rules.name(value),
        "known" => rules.known(value),
        "personal" => Ok(rules.personal_data(true)),
        _ => {
            return Err(Error::argument(
                FUNCTION,
                1,
                "kind",
                r#""prefix", "name", "personal" or "known""#,
                &format!("{:?}", shortened(kind)),
            ));
        }
    };
    added.map_err(|refused| Error::input(format!("{FUNCTION}: argument 2 (value) is refused: {refused}")))
}

const FUNCTION: &str = "session_search_redact_rule";

/// `session_search_redact_rule(kind, value, on)`: adds or removes a rule. Where that changes what is masked in the database, its index is made
/// anew. Returns how many rules there are, known secrets included.
pub(crate) fn redact_rule(handle: &Handle, kind: &str, value: &str, on: bool) -> Result<usize> {
    let conn = handle.connection();
    let mut slot = attached(handle)?;
    let attached = slot.as_mut().ok_or_else(not_open)?;
    let mut stored = schema::rules(conn)?;
    let mut known = handle.known_secrets().to_vec();
    if kind == "known" {
        known.retain(|secret| secret != value);
        known.extend(on.then(|| value.to_owned()));
        rules(&stored, &known)?; // refused before anything changes
        let count = stored.len() + known.len();
        *handle.known_secrets() = Arc::new(known);
        return Ok(count);
    }
    let rule = (kind.to_owned(), value.to_owned());
    let before = stored.clone();
    stored.retain(|other| *other != rule);
    stored.extend(on.then_some(rule));
    rules(&stored, &known)?;
    stored.sort_unstable();
    if stored != before {
        attached.make_anew(handle, || schema::set_rules(conn, &stored))?;
    }
    Ok(stored.len() + known.len())
}
