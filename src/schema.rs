//! The index tables, and in place the triggers: made when they are missing, made again when they belong to another host or another format.
//!
//! The index is a cache of the transcripts, so making it again loses nothing but time.

use rusqlite::{Connection, OptionalExtension};
use twox_hash::XxHash64;

use crate::error::{Error, Result, is_of_the_moment};
use crate::{event, redact, tokenizer};

const CREATE_TABLES: &str = include_str!("../sql/index.sql");
const CREATE_FTS: &str = include_str!("../sql/fts_plain.sql");
const CREATE_FTS_CONTENTLESS: &str = include_str!("../sql/fts_contentless.sql");
const DROP: &str = include_str!("../sql/drop_index.sql");
const CREATE_RULES: &str = include_str!("../sql/rules.sql");
const MEND_FTS: &str = include_str!("../sql/mend_fts.sql");
/// Tables for the check: see the file.
pub(crate) const CREATE_VOCABULARY: &str = include_str!("../sql/vocabulary.sql");
pub(crate) const DROP_VOCABULARY: &str = "DROP TABLE temp.session_search_vocabulary";
const TRIGGERS: &str = include_str!("../sql/in_place/triggers.sql");
const DROP_TRIGGERS: &str = include_str!("../sql/in_place/drop_triggers.sql");
const TEMP_TRIGGERS: &str = include_str!("../sql/in_place/temp_triggers.sql");
const DROP_TEMP_TRIGGERS: &str = include_str!("../sql/in_place/drop_temp_triggers.sql");

/// How the identity of an index in place begins.
pub(crate) const IN_PLACE: &str = "in place ";

/// The version of the tables themselves.
pub(crate) const SCHEMA_VERSION: u32 = 2;

/// The first SQLite whose FTS5 can delete from a contentless table.
const CONTENTLESS_DELETE: i32 = 3_043_000;

/// What decides the content of an index. Newer versions of any part make another index.
const FORMAT: [u32; 4] = [SCHEMA_VERSION, tokenizer::VERSION, event::VERSION, redact::VERSION];

/// The versions that decide the content of an index: tables, tokenizer, extractor, redaction rules.
pub(crate) fn format_text() -> String {
    FORMAT.map(|part| part.to_string()).join(".")
}

/// The format that an index in the main database of `conn` has to have: also the rules of redaction of the database decide its content.
fn format(conn: &Connection) -> Result<String> {
    let rules = rules(conn)?;
    if rules.is_empty() {
        return Ok(format_text());
    }
    let rules: String = rules.into_iter().flat_map(|(kind, value)| [kind, " ".to_owned(), value, "\n".to_owned()]).collect();
    Ok(format!("{} rules {:016x}", format_text(), XxHash64::oneshot(0, rules.as_bytes())))
}

/// The rules of redaction that the main database of `conn` holds, kind and value, sorted.
pub(crate) fn rules(conn: &Connection) -> Result<Vec<(String, String)>> {
    if !has_tables(conn, &["session_search_rule"])? {
        return Ok(Vec::new());
    }
    let mut statement = conn.prepare_cached("SELECT kind, value FROM main.session_search_rule ORDER BY kind, value").map_err(looking)?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    rows.and_then(Iterator::collect).map_err(looking)
}

/// Makes these the rules. The caller has opened a transaction or savepoint.
pub(crate) fn set_rules(conn: &Connection, rules: &[(String, String)]) -> Result<()> {
    let setting = |e| Error::index("storing the rules", e);
    conn.execute_batch(CREATE_RULES).map_err(setting)?;
    execute(conn, "DELETE FROM main.session_search_rule", []).map_err(setting)?;
    for (kind, value) in rules {
        execute(conn, "INSERT INTO main.session_search_rule(kind, value) VALUES(?1, ?2)", [kind, value]).map_err(setting)?;
    }
    Ok(())
}

/// Which state of the index. Equal versions: neither its tables nor their rows have changed in between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexVersion {
    /// The main database's `schema_version`.
    schema: i64,
    /// A random token that every transaction of ours replaces.
    pub(crate) state: String,
}

/// Moves on with every change of the tables in the main database of `conn`.
pub(crate) fn schema_version(conn: &Connection) -> Result<i64> {
    let version = conn.prepare_cached("PRAGMA main.schema_version").and_then(|mut s| s.query_row([], |row| row.get(0)));
    version.map_err(|e| Error::sqlite("reading the database", e))
}

/// The version of the index in the main database of `conn`. `None` if there is none.
pub(crate) fn version(conn: &Connection) -> Result<Option<IndexVersion>> {
    let schema = schema_version(conn)?;
    let sql = "SELECT value FROM main.session_search_meta WHERE key = 'state'";
    let state = match conn.prepare_cached(sql).and_then(|mut s| s.query_row([], |row| row.get(0)).optional()) {
        Ok(state) => state,
        Err(_) if !has_tables(conn, &["session_search_meta"])? => None,
        Err(error) => return Err(looking(error)),
    };
    Ok(state.map(|state| IndexVersion { schema, state }))
}

/// What made the host's table of events. A table that is made anew, filled and renamed has its name in quotes.
const EVENTS_TABLE: &str = "SELECT sql FROM main.sqlite_schema WHERE type = 'table' AND name = 'transcript_events' COLLATE NOCASE";

fn has_same_table(conn: &Connection) -> Result<bool> {
    let sql = format!("SELECT 1 FROM main.session_search_meta WHERE key = 'events' AND value = ({EVENTS_TABLE})");
    conn.prepare_cached(&sql).and_then(|mut s| s.exists([])).map_err(looking)
}

/// The token that the index in the main database of `conn` got when it was made. `None` if there is none.
pub(crate) fn made(conn: &Connection) -> Result<Option<String>> {
    let sql = "SELECT value FROM main.session_search_meta WHERE key = 'made'";
    match conn.prepare_cached(sql).and_then(|mut s| s.query_row([], |row| row.get(0)).optional()) {
        Err(_) if !has_tables(conn, &["session_search_meta"])? => Ok(None),
        made => made.map_err(looking),
    }
}

/// What the main database holds of an index for a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    /// Nothing, not all of it, or one for another host or of another format.
    Nothing,
    /// The tables, but not all triggers, or the table of events was altered or made anew: changes may have been missed.
    Unguarded,
    /// All that there should be.
    Ready,
}

/// What the main database of `conn` holds of an index of this format for the host `identity`. Writes nothing.
///
/// # Errors
/// When the index was made by a newer version of this library or needs a newer SQLite.
pub(crate) fn readiness(conn: &Connection, identity: &str) -> Result<Readiness> {
    if !has_tables(conn, &["session_search_meta"])? {
        return Ok(Readiness::Nothing);
    }
    let sql =
        "SELECT f.value, i.value FROM main.session_search_meta f, main.session_search_meta i WHERE f.key = 'format' AND i.key = 'identity'";
    let stored = conn.query_row(sql, [], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))).optional().map_err(looking)?;
    let Some((format, held)) = stored else { return Ok(Readiness::Nothing) };
    refuse_newer(&format)?;
    refuse_contentless(conn)?;
    if format != self::format(conn)? || held != identity || !has_tables(conn, &TABLES)? {
        return Ok(Readiness::Nothing);
    }
    let guarded = !identity.starts_with(IN_PLACE) || has_triggers(conn)? && has_same_table(conn)?;
    Ok(if guarded { Readiness::Ready } else { Readiness::Unguarded })
}

/// Whether the main database of `conn` says that it holds its own index.
pub(crate) fn is_in_place(conn: &Connection) -> Result<bool> {
    if !has_tables(conn, &["session_search_meta"])? {
        return Ok(false);
    }
    let sql = "SELECT value FROM main.session_search_meta WHERE key = 'identity'";
    let identity = conn.prepare_cached(sql).and_then(|mut s| s.query_row([], |row| row.get::<_, String>(0)).optional());
    Ok(identity.map_err(looking)?.is_some_and(|identity| identity.starts_with(IN_PLACE)))
}

/// The statements of one of our files of triggers, without the comments before them.
fn triggers(file: &str) -> impl Iterator<Item = &str> {
    file.split_inclusive("\nEND;").filter_map(|part| Some(part.get(part.find("CREATE")?..)?.trim_end_matches(';')))
}

/// Whether `list`, a schema table, holds the triggers of a file, each word for word.
fn holds_triggers(conn: &Connection, list: &str, file: &str) -> Result<bool> {
    let sql = format!("SELECT 1 FROM {list} WHERE type = 'trigger' AND sql = ?1");
    let mut has = conn.prepare_cached(&sql).map_err(looking)?;
    for trigger in triggers(file) {
        // SQLite keeps neither the word TEMP nor the name of the database.
        let kept = trigger.replacen("CREATE TEMP TRIGGER ", "CREATE TRIGGER ", 1).replacen("CREATE TRIGGER main.", "CREATE TRIGGER ", 1);
        if !has.exists([kept]).map_err(looking)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn has_triggers(conn: &Connection) -> Result<bool> {
    holds_triggers(conn, "main.sqlite_schema", TRIGGERS)
}

/// Whether the host has triggers of its own on its events that can keep ours from firing after a row was stored.
pub(crate) fn has_stopping_triggers(conn: &Connection) -> Result<bool> {
    let sql = "SELECT 1 FROM (SELECT * FROM main.sqlite_schema UNION ALL SELECT * FROM temp.sqlite_schema)
        WHERE type = 'trigger' AND tbl_name = 'transcript_events' COLLATE NOCASE AND name NOT GLOB 'session_search_*'
        AND (lower(sql) LIKE '%raise%ignore%' OR lower(sql) LIKE '%raise%fail%')";
    conn.prepare_cached(sql).and_then(|mut s| s.exists([])).map_err(looking)
}

/// Makes sure of the TEMP triggers of this connection. `token` is the number that they call `session_search_apply` with.
pub(crate) fn connect_triggers(conn: &Connection, token: i64) -> Result<()> {
    let file = TEMP_TRIGGERS.replace("TOKEN", &token.to_string());
    if has_temp_triggers(conn, token)? {
        return Ok(());
    }
    let connecting = |e| Error::index("connecting the triggers", e);
    disconnect_triggers(conn)?;
    conn.execute_batch(&file).map_err(connecting)
}

/// Whether this connection has its TEMP triggers.
pub(crate) fn has_temp_triggers(conn: &Connection, token: i64) -> Result<bool> {
    holds_triggers(conn, "temp.sqlite_schema", &TEMP_TRIGGERS.replace("TOKEN", &token.to_string()))
}

/// Takes the TEMP triggers of this connection away, if there are any.
pub(crate) fn disconnect_triggers(conn: &Connection) -> Result<()> {
    conn.execute_batch(DROP_TEMP_TRIGGERS).map_err(|e| Error::index("disconnecting the triggers", e))
}

/// Takes the index out of the main database, but not the rules. The caller has opened a transaction or savepoint.
pub(crate) fn remove(conn: &Connection) -> Result<()> {
    let drop_all = || conn.execute_batch(DROP_TRIGGERS).and_then(|()| conn.execute_batch(DROP));
    let mend_and_drop_all = || conn.execute_batch(MEND_FTS).and_then(|()| drop_all());
    let mend = |error: rusqlite::Error| {
        // Nothing is missing if the reason is of the moment, and after some of those there is no transaction any more.
        if error.sqlite_error_code().is_some_and(is_of_the_moment) { Err(error) } else { mend_and_drop_all() }
    };
    drop_all().or_else(mend).map_err(removing)
}

fn removing(error: rusqlite::Error) -> Error {
    if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseLocked) {
        return Error::state(
            "the index has to be made anew, which SQLite does not allow while a table is read: call session_search_rebuild() alone",
        );
    }
    if error.to_string().contains("unrecognized option") {
        return Error::state(
            "this SQLite cannot take out an index that SQLite 3.43 or newer has made: use a newer one, or sql/uninstall.sql",
        );
    }
    Error::index("removing the index", error)
}

/// Runs `work` so that what it deletes is overwritten: no word stays in a free page.
pub(crate) fn overwriting(conn: &Connection, work: impl FnOnce() -> Result<()>) -> Result<()> {
    let pragma =
        |sql: &str| conn.query_row(sql, [], |row| row.get::<_, i64>(0)).map_err(|e| Error::index("overwriting what was deleted", e));
    let before = pragma("PRAGMA main.secure_delete")?;
    pragma("PRAGMA main.secure_delete = 1")?;
    let done = work();
    pragma(match before {
        0 => "PRAGMA main.secure_delete = off",
        1 => "PRAGMA main.secure_delete = on",
        _ => "PRAGMA main.secure_delete = fast",
    })?;
    done
}

/// Makes FTS5 write everything that it holds once more, in one piece.
pub(crate) fn optimize(conn: &Connection) -> Result<()> {
    let optimize = "INSERT INTO main.session_search_fts(session_search_fts) VALUES('optimize')";
    execute(conn, optimize, []).map_err(|e| Error::index("optimizing the index", e))
}

/// Refuses a database in which somebody else has a table with a name of ours.
pub(crate) fn refuse_foreign(conn: &Connection) -> Result<()> {
    if has_tables(conn, &["session_search_meta"])? || !has_anything(conn)? {
        return Ok(());
    }
    Err(Error::state(
        "session_search_install: the database holds a table or trigger with a name that begins with session_search_ and is not ours: rename it first",
    ))
}

/// Takes everything of ours out of the main database. The caller has opened a transaction or savepoint.
pub(crate) fn remove_all(conn: &Connection) -> Result<()> {
    remove(conn)?;
    conn.execute_batch("DROP TABLE IF EXISTS main.session_search_rule").map_err(|e| Error::index("removing the rules", e))
}

/// Whether anything of ours is in the main database.
pub(crate) fn has_anything(conn: &Connection) -> Result<bool> {
    let sql = "SELECT 1 FROM main.sqlite_schema WHERE name GLOB 'session_search_*' AND type IN ('table', 'trigger')";
    conn.prepare_cached(sql).and_then(|mut s| s.exists([])).map_err(looking)
}

/// Everything that has to be there, FTS5's own tables included.
const TABLES: [&str; 8] = [
    "session_search_meta",
    "session_search_transcript",
    "session_search_message",
    "session_search_fts",
    "session_search_fts_config",
    "session_search_fts_data",
    "session_search_fts_docsize",
    "session_search_fts_idx",
];

fn has_tables(conn: &Connection, tables: &[&str]) -> Result<bool> {
    let mut has = conn.prepare_cached("SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND name = ?1").map_err(looking)?;
    for table in tables {
        if !has.exists([table]).map_err(looking)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Makes an empty index for the host `identity` in the main database of `conn`, in the place of any other. Where it was only unguarded, the triggers
/// are made again, and all that is indexed has to be looked at once more. The caller has opened a transaction or savepoint.
pub(crate) fn prepare(conn: &Connection, identity: &str) -> Result<()> {
    let preparing = |e| Error::index("preparing the index", e);
    if readiness(conn, identity)? == Readiness::Unguarded {
        conn.execute_batch(DROP_TRIGGERS).and_then(|()| conn.execute_batch(TRIGGERS)).map_err(preparing)?;
        let doubt = "UPDATE main.session_search_transcript SET source_stamp = random(), indexed_stamp = NULL, applied_seq = NULL";
        let unseen = "UPDATE main.session_search_meta SET value = hex(randomblob(16)) WHERE key = 'made'";
        execute(conn, doubt, []).and_then(|()| execute(conn, unseen, [])).map_err(preparing)?;
        return note_table(conn).map_err(preparing);
    }
    make(conn, identity)
}

/// The same from nothing.
pub(crate) fn make(conn: &Connection, identity: &str) -> Result<()> {
    let preparing = |e| Error::index("preparing the index", e);
    remove(conn)?;
    conn.execute_batch(CREATE_TABLES).map_err(preparing)?;
    let fts = if rusqlite::version_number() >= CONTENTLESS_DELETE { CREATE_FTS_CONTENTLESS } else { CREATE_FTS };
    conn.execute_batch(fts).map_err(preparing)?;
    if identity.starts_with(IN_PLACE) {
        conn.execute_batch(TRIGGERS).map_err(preparing)?;
    }
    let meta = "INSERT INTO main.session_search_meta(key, value)
        VALUES('format', ?1), ('identity', ?2), ('state', hex(randomblob(16))), ('made', hex(randomblob(16)))";
    execute(conn, meta, [&format(conn)?, identity]).and_then(|()| note_table(conn)).map_err(preparing)
}

fn note_table(conn: &Connection) -> rusqlite::Result<()> {
    let sql = format!("INSERT OR REPLACE INTO main.session_search_meta(key, value) SELECT 'events', ifnull(({EVENTS_TABLE}), '')");
    execute(conn, &sql, [])
}

/// Runs a statement to its end. Not as one that has no rows: with `PRAGMA count_changes` every statement that writes has one.
pub(crate) fn execute(conn: &Connection, sql: &str, params: impl rusqlite::Params) -> rusqlite::Result<()> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params)?;
    while rows.next()?.is_some() {}
    Ok(())
}

fn refuse_newer(format: &str) -> Result<()> {
    let versions = format.split(' ').next().unwrap_or_default();
    let parts: Option<Vec<u32>> = versions.split('.').map(|part| part.parse().ok()).collect();
    let newer = match parts {
        Some(parts) => parts.len() > FORMAT.len() || parts.iter().zip(FORMAT).any(|(&theirs, ours)| theirs > ours),
        None => true,
    };
    if newer {
        let ours = format_text();
        return Err(Error::state(format!(
            "the index has the format {format}, this version of session_search knows up to {ours}: use a newer session_search"
        )));
    }
    Ok(())
}

fn refuse_contentless(conn: &Connection) -> Result<()> {
    if rusqlite::version_number() >= CONTENTLESS_DELETE {
        return Ok(());
    }
    let sql = "SELECT 1 FROM main.sqlite_schema WHERE name = 'session_search_fts' AND instr(sql, 'contentless_delete')";
    let contentless = conn.query_row(sql, [], |_| Ok(())).optional().map_err(looking)?;
    match contentless {
        Some(()) => Err(Error::state(
            "the index was made by SQLite 3.43 or newer and this is an older one: use a newer SQLite for it; an index file of \
             its own can be removed, one in your database be taken out with sql/uninstall.sql, and be made again by the older one",
        )),
        None => Ok(()),
    }
}

fn looking(error: rusqlite::Error) -> Error {
    Error::index("looking for the index", error)
}
