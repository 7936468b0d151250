//! The table layouts that are understood. An adapter is a few SELECTs (in `sql/`) and the columns that they need;
//! it is picked by the columns that a database has, never by a version number.

use rusqlite::Connection;

use crate::error::{Error, Result};
use crate::schema;

/// One table layout.
#[derive(Debug)]
pub(crate) struct Adapter {
    /// The name that status shows.
    pub(crate) name: &'static str,
    /// What must be there: tables with their columns.
    needs: &'static [(&'static str, &'static [&'static str])],
    /// `SELECT session_id, session_key, agent_id, parent_session_key, spawned_by, owner_session_key, superseded, previous_session_id,
    /// current, generation, updated_at, events, last_seq, changed`, one row for each transcript. From a host that is only read: `events`,
    /// `last_seq`, `changed` and `generation` together change whenever the transcript's rows do, and of one generation (where it is not
    /// NULL) they do so by appended events only.
    pub(crate) sessions: &'static str,
    /// The same where the index is in place: `changed` is the stamp that the triggers give.
    pub(crate) sessions_in_place: &'static str,
    /// `SELECT` of the session key of the transcript ?1.
    pub(crate) session_key: &'static str,
    /// `SELECT seq, event, created_at` of the events ?2 to ?3 of the transcript ?1, in order.
    pub(crate) events: &'static str,
    /// `SELECT` of a row if the transcript ?1 has an event with the id ?2, where a transcript can carry on another one.
    pub(crate) has_event: Option<&'static str>,
    /// `SELECT` of one text that another database under the same path would not give.
    pub(crate) identity: &'static str,
    /// Whether an application of its own lives in such a database, which does not expect tables of ours in it.
    pub(crate) foreign: bool,
}

/// A SELECT of the transcripts (`s`) as the source of another one.
macro_rules! with_sessions {
    ($sessions:literal, $state:literal) => {
        concat!("WITH s AS (\n", include_str!(concat!("../../sql/", $sessions)), ")\n", include_str!(concat!("../../sql/", $state)))
    };
}

/// The first that fits is taken.
static ADAPTERS: [Adapter; 3] = [
    Adapter {
        name: "openclaw-2026-09",
        needs: &[
            ("session_windows", &["session_id", "session_key", "previous_session_id", "reason", "transcript_updated_at"]),
            ("session_nodes", &["session_key", "current_session_id", "entry_json", "parent_session_key", "spawned_by"]),
            ("transcript_events", &["session_id", "seq", "event_json", "event_zstd", "created_at"]),
            ("transcript_event_identities", &["session_id", "event_id"]),
            ("transcript_rewrite_watermarks", &["session_id", "generation"]),
            ("schema_meta", &["meta_key", "agent_id", "created_at"]),
        ],
        sessions: with_sessions!("openclaw-2026-09/sessions.sql", "beside/state.sql"),
        sessions_in_place: with_sessions!("openclaw-2026-09/sessions.sql", "in_place/state.sql"),
        session_key: "SELECT session_key FROM main.session_windows WHERE session_id = ?1",
        events: include_str!("../../sql/openclaw-2026-09/events.sql"),
        has_event: Some("SELECT 1 FROM main.transcript_event_identities WHERE session_id = ?1 AND event_id = ?2"),
        identity: OPENCLAW_IDENTITY,
        foreign: true,
    },
    Adapter {
        name: "openclaw-2026-07",
        needs: &[
            ("sessions", &["session_id", "session_key", "parent_session_key", "spawned_by", "transcript_updated_at"]),
            ("session_entries", &["session_key", "entry_json"]),
            ("transcript_events", &["session_id", "seq", "event_json", "created_at"]),
            ("schema_meta", &["meta_key", "agent_id", "created_at"]),
        ],
        sessions: with_sessions!("openclaw-2026-07/sessions.sql", "beside/state.sql"),
        sessions_in_place: with_sessions!("openclaw-2026-07/sessions.sql", "in_place/state.sql"),
        session_key: "SELECT session_key FROM main.sessions WHERE session_id = ?1",
        events: include_str!("../../sql/openclaw-2026-07/events.sql"),
        has_event: None,
        identity: OPENCLAW_IDENTITY,
        foreign: true,
    },
    Adapter {
        name: "standalone",
        needs: &[
            ("sessions", &["session_id", "session_key", "agent_id", "parent_session_key", "spawned_by", "owner_session_key"]),
            ("transcript_events", &["session_id", "seq", "event_json", "created_at"]),
        ],
        sessions: with_sessions!("standalone/sessions.sql", "standalone/state.sql"),
        sessions_in_place: with_sessions!("standalone/sessions.sql", "in_place/state.sql"),
        session_key: "SELECT session_key FROM main.sessions WHERE session_id = ?1",
        events: include_str!("../../sql/standalone/events.sql"),
        has_event: None,
        identity: "SELECT 'standalone'",
        foreign: false,
    },
];

const OPENCLAW_IDENTITY: &str =
    "SELECT 'openclaw ' || ifnull(agent_id, '') || ' ' || ifnull(created_at, '') FROM main.schema_meta WHERE meta_key = 'primary'";

impl Adapter {
    /// The adapter for the database behind `conn`, or `None` if its tables are of no known layout.
    pub(crate) fn find(conn: &Connection) -> Result<Option<&'static Self>> {
        for adapter in &ADAPTERS {
            if adapter.fits(conn)? {
                return Ok(Some(adapter));
            }
        }
        Ok(None)
    }

    fn fits(&self, conn: &Connection) -> Result<bool> {
        let failed = |e| Error::sqlite("looking for transcripts in a database", e);
        let mut has = conn.prepare_cached("SELECT 1 FROM pragma_table_info(?1, 'main') WHERE name = ?2 COLLATE NOCASE").map_err(failed)?;
        for (table, columns) in self.needs {
            for column in *columns {
                if !has.exists([table, column]).map_err(failed)? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// The identity of an index in the very database that it indexes.
    pub(crate) fn identity_in_place(&self) -> String {
        format!("{}{}", schema::IN_PLACE, self.name)
    }

    /// All layouts in words, for an error message.
    pub(crate) fn known() -> String {
        let one = |a: &Adapter| {
            let tables: Vec<_> = a.needs.iter().map(|(table, _)| *table).collect();
            format!("{} ({})", a.name, tables.join(", "))
        };
        ADAPTERS.iter().map(one).collect::<Vec<_>>().join(" or ")
    }
}
