//! Writing in a host database the way its own application does, for every layout that is understood.

use rusqlite::{Connection, params};

use super::{Host, leaf, message};

/// A layout of the host's tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    Standalone,
    July,
    September,
}

pub const LAYOUTS: [Layout; 3] = [Layout::Standalone, Layout::July, Layout::September];

/// A host and its application's connection.
pub struct World {
    pub layout: Layout,
    pub host: Host,
    pub app: Connection,
    clock: i64,
}

impl World {
    pub fn new(layout: Layout) -> Self {
        let host = match layout {
            Layout::Standalone => Host::standalone(),
            Layout::July => Host::fixture("jul-2026.7.2-beta.1-small-main"),
            Layout::September => Host::fixture("sep-2026.9.6-small-main"),
        };
        let app = host.writer();
        let sessions = if layout == Layout::September { "session_nodes" } else { "sessions" };
        app.execute_batch(&format!("DELETE FROM {sessions}")).unwrap();
        Self { layout, host, app, clock: 1_800_000_000_000 }
    }

    /// The same with the index in the host's own database, and its application's connection with the extension.
    pub fn in_place(layout: Layout) -> Self {
        let mut world = Self::new(layout);
        world.app = world.host.with_extension();
        world.app.query_row("SELECT session_search_install('{\"adopt\":true}')", [], |_| Ok(())).unwrap();
        world
    }

    /// A new transcript of the conversation `key`, perhaps in the place of another.
    pub fn session(&mut self, id: &str, key: &str, previous: Option<(&str, Option<&str>)>) {
        self.session_with(id, key, None, previous);
    }

    pub fn session_with(&mut self, id: &str, key: &str, spawned_by: Option<&str>, previous: Option<(&str, Option<&str>)>) {
        self.clock += 1;
        let now = self.clock;
        match self.layout {
            Layout::Standalone => {
                let sql = "INSERT INTO sessions(session_id, session_key, spawned_by, created_at) VALUES(?1, ?2, ?3, ?4)";
                self.app.execute(sql, params![id, key, spawned_by, now]).unwrap();
            }
            Layout::July => {
                let sql = "INSERT INTO sessions(session_id, session_key, spawned_by, created_at, updated_at) VALUES(?1, ?2, ?3, ?4, ?4)";
                self.app.execute(sql, params![id, key, spawned_by, now]).unwrap();
                let entry = serde_json::json!({"sessionId": id, "spawnedBy": spawned_by}).to_string();
                let sql = "INSERT OR REPLACE INTO session_entries(session_key, session_id, entry_json, updated_at) VALUES(?1, ?2, ?3, ?4)";
                self.app.execute(sql, params![key, id, entry, now]).unwrap();
            }
            Layout::September => {
                let entry = serde_json::json!({"sessionId": id, "updatedAt": now}).to_string();
                let sql = "INSERT INTO session_nodes(session_key, current_session_id, entry_json, updated_at, spawned_by) VALUES(?1, ?2, ?3, ?4, ?5)
                    ON CONFLICT(session_key) DO UPDATE SET current_session_id = excluded.current_session_id, updated_at = excluded.updated_at";
                self.app.execute(sql, params![key, id, entry, now, spawned_by]).unwrap();
                let (previous, reason) = previous.map_or((None, None), |(id, reason)| (Some(id), reason));
                let sql = "INSERT INTO session_windows(session_id, session_key, previous_session_id, reason, created_at, updated_at)
                    VALUES(?1, ?2, ?3, ?4, ?5, ?5)";
                self.app.execute(sql, params![id, key, previous, reason, now]).unwrap();
                self.rewrite(id);
            }
        }
    }

    /// Appends an event; returns its seq.
    pub fn append(&mut self, session: &str, event: &str) -> i64 {
        let sql = "SELECT ifnull(max(seq), -1) + 1 FROM transcript_events WHERE session_id = ?1";
        let seq: i64 = self.app.query_row(sql, [session], |row| row.get(0)).unwrap();
        self.clock += 1;
        let sql = "INSERT INTO transcript_events(session_id, seq, event_json, created_at) VALUES(?1, ?2, ?3, ?4)";
        self.app.execute(sql, params![session, seq, event, self.clock]).unwrap();
        if self.layout == Layout::September
            && let Ok(serde_json::Value::Object(event)) = serde_json::from_str(event)
            && let Some(id) = event.get("id").and_then(|id| id.as_str())
        {
            let sql = "INSERT OR IGNORE INTO transcript_event_identities(session_id, event_id, seq, event_type, created_at)
                VALUES(?1, ?2, ?3, 'message', ?4)";
            self.app.execute(sql, params![session, id, seq, self.clock]).unwrap();
        }
        self.touch(session);
        seq
    }

    pub fn say(&mut self, session: &str, id: &str, parent: Option<&str>, text: &str) -> i64 {
        self.append(session, &message(id, parent, text))
    }

    pub fn rewind(&mut self, session: &str, id: &str, parent: &str, target: &str) -> i64 {
        self.append(session, &leaf(id, parent, target))
    }

    /// Replaces the text of an event.
    pub fn edit(&mut self, session: &str, seq: i64, event: &str) {
        let sql = "UPDATE transcript_events SET event_json = ?3 WHERE session_id = ?1 AND seq = ?2";
        self.app.execute(sql, params![session, seq, event]).unwrap();
        self.rewrite(session);
        self.touch(session);
    }

    pub fn delete_event(&mut self, session: &str, seq: i64) {
        self.app.execute("DELETE FROM transcript_events WHERE session_id = ?1 AND seq = ?2", params![session, seq]).unwrap();
        self.rewrite(session);
        self.touch(session);
    }

    /// Stores an event, perhaps in the place of another one: no delete trigger fires then.
    pub fn replace(&mut self, session: &str, seq: i64, event: &str) {
        self.clock += 1;
        let sql = "INSERT OR REPLACE INTO transcript_events(session_id, seq, event_json, created_at) VALUES(?1, ?2, ?3, ?4)";
        self.app.execute(sql, params![session, seq, event, self.clock]).unwrap();
        self.rewrite(session);
        self.touch(session);
    }

    pub fn delete_all_events(&mut self, session: &str) {
        self.app.execute("DELETE FROM transcript_events WHERE session_id = ?1", [session]).unwrap();
        self.rewrite(session);
        self.touch(session);
    }

    /// Deletes a transcript and, by cascade, its events.
    pub fn delete_session(&mut self, session: &str) {
        let table = if self.layout == Layout::September { "session_windows" } else { "sessions" };
        self.app.execute(&format!("DELETE FROM {table} WHERE session_id = ?1"), [session]).unwrap();
    }

    /// OpenClaw moves this on with every change of a transcript.
    fn touch(&mut self, session: &str) {
        self.clock += 1;
        let table = match self.layout {
            Layout::Standalone => return,
            Layout::July => "sessions",
            Layout::September => "session_windows",
        };
        let sql = format!("UPDATE {table} SET transcript_updated_at = ?2, updated_at = ?2 WHERE session_id = ?1");
        self.app.execute(&sql, params![session, self.clock]).unwrap();
    }

    /// OpenClaw 2026.9 gives a transcript another generation when it changes what was there before.
    fn rewrite(&mut self, session: &str) {
        if self.layout == Layout::September {
            self.clock += 1;
            let sql = "INSERT OR REPLACE INTO transcript_rewrite_watermarks(session_id, generation, updated_at) VALUES(?1, ?2, ?3)";
            self.app.execute(sql, params![session, format!("g{}", self.clock), self.clock]).unwrap();
        }
    }
}

/// Fills a world with more than a search indexes on its way.
pub fn fill(world: &mut World, sessions: usize, messages: usize) {
    world.app.execute_batch("BEGIN").unwrap();
    for s in 0..sessions {
        let session = format!("s{s}");
        world.session(&session, &format!("agent:main:dashboard:{s}"), None);
        let mut parent = None;
        for m in 0..messages {
            let id = format!("m{s}-{m}");
            let text = format!("filler text number {m} of session {s} with some more words to index, as people write them");
            world.say(&session, &id, parent.as_deref(), &text);
            parent = Some(id);
        }
    }
    world.app.execute_batch("COMMIT").unwrap();
}
