//! The connection handle: a second, non-owning view of the caller's connection, which every function and table of ours shares,
//! and the wrapper that turns plain data into table functions.
//!
//! `unsafe` is allowed here, for three reasons, so that few other rooms need it:
//! - The handle does not own the connection. SQLite drops it together with the last function registered from it, before the connection is freed.
//! - Open statements would keep `sqlite3_close()` from closing. The statement cache is therefore on only while a table of ours is
//!   connected: SQLite disconnects eponymous tables before it looks for open statements, and their `Drop` empties the cache.
//! - SQLite calls table functions without a panic guard of its own; ours has one around every callback.
//!
//! Tested below, by `tests/functions.rs` (registering) and `tests/loadable` (closing, loading twice).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_int};
use std::hash::{BuildHasher, RandomState};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use rusqlite::types::{Null, Value, ValueRef};
use rusqlite::vtab::{
    Context, Filters, IndexConstraintOp, IndexInfo, Module, VTab, VTabConfig, VTabConnection, VTabCursor, sqlite3_vtab, sqlite3_vtab_cursor,
};
use rusqlite::{Connection, ffi};

use crate::error::{Error, Result};
use crate::index::Attached;

/// Statements kept ready for each connection.
const CACHED_STATEMENTS: usize = 64;

/// Connections that have our functions already, by address: SQLite refuses to replace a function while a statement runs, and
/// `SELECT load_extension()` is such a statement.
static REGISTERED: Mutex<BTreeMap<usize, Weak<Handle>>> = Mutex::new(BTreeMap::new());

fn registered() -> MutexGuard<'static, BTreeMap<usize, Weak<Handle>>> {
    REGISTERED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a transaction of the caller's connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TransactionState {
    /// Neither reading nor writing.
    None,
    /// Reading.
    Read,
    /// Writing: a write statement is running or a write transaction is open.
    Write,
}

/// The caller's connection and what this library knows about it.
pub(crate) struct Handle {
    connection: Connection,
    attached: Mutex<Option<Attached>>,
    address: usize,
    /// Secrets that the caller has told this connection. In memory only.
    known_secrets: Mutex<Arc<Vec<String>>>,
    /// A random number: triggers of this connection call us with it.
    token: i64,
}

// SAFETY: SQLite serialises all callbacks of one connection, and the handle is used in callbacks of its own connection, or by the client that
// owns the connection and is not `Sync`.
unsafe impl Sync for Handle {}

impl Handle {
    /// The handle on `connection` whose functions have been registered.
    pub(crate) fn of(connection: &Connection) -> Option<Arc<Self>> {
        // SAFETY: only looked at as an address.
        let address = unsafe { connection.handle() } as usize;
        registered().get(&address).and_then(Weak::upgrade)
    }

    /// A new handle on `connection`.
    pub(crate) fn new(connection: &Connection) -> Result<Arc<Self>> {
        // SAFETY: only looked at as an address and handed to `from_handle` below.
        let raw = unsafe { connection.handle() };
        let address = raw as usize;
        // SAFETY: the pointer belongs to a live connection; the new view does not own it and goes before it does (see the module text).
        let own = unsafe { Connection::from_handle(raw) };
        let own = own.map_err(|e| Error::sqlite("taking hold of the connection", e))?;
        own.set_prepared_statement_cache_capacity(0);
        let token = RandomState::new().hash_one(address).cast_signed();
        Ok(Arc::new(Self { connection: own, attached: Mutex::new(None), address, known_secrets: Mutex::default(), token }))
    }

    /// Notes that everything has been registered: doing it again has nothing to do.
    pub(crate) fn set_registered(self: &Arc<Self>) {
        registered().insert(self.address, Arc::downgrade(self));
    }

    /// The caller's connection. Its main database holds the index.
    pub(crate) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The host database that this connection searches, if any. Fails when called from inside a search of the same connection.
    pub(crate) fn attached(&self) -> Result<MutexGuard<'_, Option<Attached>>> {
        match self.attached.try_lock() {
            Ok(guard) => Ok(guard),
            Err(std::sync::TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(std::sync::TryLockError::WouldBlock) => {
                Err(Error::state("session_search is at work on this connection already: it cannot be called from inside itself"))
            }
        }
    }

    pub(crate) fn known_secrets(&self) -> MutexGuard<'_, Arc<Vec<String>>> {
        self.known_secrets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number that tells the triggers of this connection from a call by hand.
    pub(crate) fn token(&self) -> i64 {
        self.token
    }

    /// What the transaction is doing, whichever database it is on.
    pub(crate) fn transaction_state(&self) -> TransactionState {
        // SAFETY: reading the pointer of a live connection.
        let raw = unsafe { self.connection.handle() };
        // SAFETY: the connection is live while one of its callbacks runs.
        match unsafe { ffi::sqlite3_txn_state(raw, ptr::null()) } {
            ffi::SQLITE_TXN_WRITE => TransactionState::Write,
            ffi::SQLITE_TXN_READ => TransactionState::Read,
            _ => TransactionState::None,
        }
    }

    /// What `last_insert_rowid()` says from now on.
    pub(crate) fn set_last_insert_rowid(&self, rowid: i64) {
        // SAFETY: reading the pointer of a live connection.
        let raw = unsafe { self.connection.handle() };
        // SAFETY: the connection is live while one of its callbacks runs.
        unsafe { ffi::sqlite3_set_last_insert_rowid(raw, rowid) };
    }

    fn keep_statements(&self, keep: bool) {
        self.connection.set_prepared_statement_cache_capacity(if keep { CACHED_STATEMENTS } else { 0 });
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        registered().remove(&self.address);
    }
}

/// The rows of a table function, a value for each visible column.
pub(crate) type Rows = Vec<Vec<Value>>;

/// One table function, as data: `SELECT columns FROM name(arguments)`.
pub(crate) struct TableFunction {
    /// The name in SQL.
    pub(crate) name: &'static CStr,
    /// The visible columns.
    pub(crate) columns: &'static [&'static str],
    /// The arguments in order: name, and whether it has to be given.
    pub(crate) arguments: &'static [(&'static str, bool)],
    /// All rows for the given arguments (one value each, `NULL` where left out).
    pub(crate) rows: fn(&Handle, &[Value]) -> Result<Rows>,
}

impl TableFunction {
    /// The declaration that SQLite asks for.
    fn declaration(&self) -> String {
        let hidden = self.arguments.iter().map(|(name, _)| format!("{name} HIDDEN"));
        let all: Vec<_> = self.columns.iter().map(|&c| c.to_owned()).chain(hidden).collect();
        format!("CREATE TABLE x({})", all.join(", "))
    }
}

/// Registers `tables` and connects the last of them, so that the statement cache is on from the start.
pub(crate) fn register_tables(handle: &Arc<Handle>, connection: &Connection, tables: &'static [TableFunction]) -> Result<()> {
    const MODULE: Module<'static, Table> = Module::eponymous_only_module();
    for table in tables {
        let aux = (Arc::clone(handle), table);
        connection.create_module(table.name, &MODULE, Some(aux)).map_err(|e| Error::sqlite("registering the table functions", e))?;
    }
    if let Some(name) = tables.last().and_then(|t| t.name.to_str().ok()) {
        // Needs a readable schema; on a locked or encrypted file the cache simply stays off until the table is first used.
        let _ = connection.prepare(&format!("SELECT 1 FROM {name}"));
    }
    Ok(())
}

fn failed(error: &Error) -> rusqlite::Error {
    rusqlite::Error::ModuleError(error.to_string())
}

/// The panic guard of the table callbacks.
fn guard<T>(work: impl FnOnce() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(rusqlite::Error::ModuleError("session_search: internal error (a panic was caught)".into())))
}

#[repr(C)]
struct Table {
    base: sqlite3_vtab,
    handle: Arc<Handle>,
    function: &'static TableFunction,
}

impl Drop for Table {
    fn drop(&mut self) {
        self.handle.keep_statements(false);
    }
}

// SAFETY: `#[repr(C)]` with the base class first.
unsafe impl<'vtab> VTab<'vtab> for Table {
    type Aux = (Arc<Handle>, &'static TableFunction);
    type Cursor = Cursor<'vtab>;

    fn connect(
        db: &mut VTabConnection,
        aux: Option<&Self::Aux>,
        _module: &[u8],
        _database: &[u8],
        _table: &[u8],
        _arguments: &[&[u8]],
    ) -> rusqlite::Result<(Cow<'static, CStr>, Self)> {
        guard(|| {
            db.config(VTabConfig::DirectOnly)?;
            let (handle, function) = aux.ok_or(rusqlite::Error::InvalidQuery)?;
            let declaration = CString::new(function.declaration()).map_err(|_| rusqlite::Error::InvalidQuery)?;
            handle.keep_statements(true);
            Ok((Cow::Owned(declaration), Self { base: sqlite3_vtab::default(), handle: Arc::clone(handle), function }))
        })
    }

    /// Hands every argument that the query gives to `filter`; bit `k` of the index number says that argument `k` is among them.
    fn best_index(&self, info: &mut IndexInfo) -> rusqlite::Result<bool> {
        guard(|| {
            let first = self.function.columns.len();
            let arguments = self.function.arguments;
            let mut given = vec![None; arguments.len()];
            let mut waiting = vec![false; arguments.len()];
            for (i, constraint) in info.constraints().enumerate() {
                let argument = usize::try_from(constraint.column()).ok().and_then(|column| column.checked_sub(first));
                let Some(k) = argument.filter(|&k| k < arguments.len()) else { continue };
                if constraint.operator() != IndexConstraintOp::SQLITE_INDEX_CONSTRAINT_EQ {
                    continue;
                }
                if constraint.is_usable() {
                    given[k] = Some(i);
                } else {
                    waiting[k] = true;
                }
            }
            let (mut number, mut position) = (0, 0);
            for (k, (name, required)) in arguments.iter().enumerate() {
                if let Some(i) = given[k] {
                    position += 1;
                    number |= 1 << k;
                    let mut usage = info.constraint_usage(i);
                    usage.set_argv_index(position);
                    usage.set_omit(true);
                } else if waiting[k] {
                    return Ok(false); // another join order gives it
                } else if *required {
                    let text = format!("{}: argument {} ({name}) is missing", self.function.name.to_string_lossy(), k + 1);
                    return Err(rusqlite::Error::ModuleError(text));
                }
            }
            info.set_idx_num(number);
            info.set_estimated_cost(1_000.0);
            info.set_estimated_rows(10);
            Ok(true)
        })
    }

    fn open(&'vtab mut self) -> rusqlite::Result<Cursor<'vtab>> {
        let (handle, function) = (Arc::clone(&self.handle), self.function);
        Ok(Cursor { base: sqlite3_vtab_cursor::default(), handle, function, rows: Vec::new(), at: 0, table: PhantomData })
    }
}

#[repr(C)]
struct Cursor<'vtab> {
    base: sqlite3_vtab_cursor,
    handle: Arc<Handle>,
    function: &'static TableFunction,
    rows: Rows,
    at: usize,
    table: PhantomData<&'vtab Table>,
}

// SAFETY: `#[repr(C)]` with the base class first.
unsafe impl VTabCursor for Cursor<'_> {
    fn filter(&mut self, number: c_int, _: Option<&str>, given: &Filters<'_>) -> rusqlite::Result<()> {
        guard(|| {
            self.rows = Vec::new();
            self.at = 0;
            let mut given = given.iter();
            let arguments: Vec<Value> = (0..self.function.arguments.len())
                .map(|k| if number & 1 << k == 0 { Value::Null } else { given.next().map_or(Value::Null, owned) })
                .collect();
            self.rows = (self.function.rows)(&self.handle, &arguments).map_err(|e| failed(&e))?;
            Ok(())
        })
    }

    fn next(&mut self) -> rusqlite::Result<()> {
        self.at += 1;
        Ok(())
    }

    fn eof(&self) -> bool {
        self.at >= self.rows.len()
    }

    fn column(&self, context: &mut Context, i: c_int) -> rusqlite::Result<()> {
        guard(|| {
            let value = self.rows.get(self.at).zip(usize::try_from(i).ok()).and_then(|(row, i)| row.get(i));
            match value {
                Some(value) => context.set_result(value),
                None => context.set_result(&Null),
            }
        })
    }

    fn rowid(&self) -> rusqlite::Result<i64> {
        Ok(i64::try_from(self.at).unwrap_or(i64::MAX))
    }
}

/// An owned copy of an argument; bytes of a text that are not UTF-8 become U+FFFD.
fn owned(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(i) => Value::Integer(i),
        ValueRef::Real(r) => Value::Real(r),
        ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text).into_owned()),
        ValueRef::Blob(blob) => Value::Blob(blob.to_vec()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static TABLES: [TableFunction; 2] = [
        TableFunction { name: c"panics", columns: &["a"], arguments: &[("b", false)], rows: |_, _| panic!("in a table function") },
        TableFunction {
            name: c"echo",
            columns: &["a", "b"],
            arguments: &[("first", true), ("second", false)],
            rows: |_, given| Ok(vec![given.to_vec()]),
        },
    ];

    fn connection() -> Connection {
        let conn = Connection::open_in_memory().unwrap();
        let handle = Handle::new(&conn).unwrap();
        register_tables(&handle, &conn, &TABLES).unwrap();
        conn
    }

    #[test]
    fn a_panic_in_a_table_function_is_an_sql_error() {
        let conn = connection();
        let error = conn.query_row("SELECT a FROM panics", [], |_| Ok(())).unwrap_err();
        assert!(error.to_string().contains("a panic was caught"), "{error}");
        assert_eq!(conn.query_row("SELECT 1", [], |row| row.get::<_, i64>(0)).unwrap(), 1, "the connection lives");
    }

    #[test]
    fn a_panic_in_a_scalar_function_is_an_sql_error() {
        // Ours are registered the same way; rusqlite has the guard.
        let conn = connection();
        let flags = rusqlite::functions::FunctionFlags::SQLITE_UTF8;
        conn.create_scalar_function("panics", 0, flags, |_| -> rusqlite::Result<i64> { panic!("in a function") }).unwrap();
        assert!(conn.query_row("SELECT panics()", [], |_| Ok(())).is_err());
        assert_eq!(conn.query_row("SELECT 1", [], |row| row.get::<_, i64>(0)).unwrap(), 1, "the connection lives");
    }

    #[test]
    fn arguments_come_in_order_whatever_the_join() {
        let conn = connection();
        conn.execute_batch("CREATE TABLE t(x, y); INSERT INTO t VALUES(1, 2), (3, 4)").unwrap();
        let rows = |sql: &str| -> Vec<(Value, Value)> {
            let mut statement = conn.prepare(sql).unwrap();
            statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(std::result::Result::unwrap).collect()
        };
        let (one, two) = (Value::Integer(1), Value::Integer(2));
        assert_eq!(rows("SELECT a, b FROM echo(1)"), [(one.clone(), Value::Null)]);
        assert_eq!(rows("SELECT a, b FROM echo WHERE second = 2 AND first = 1"), [(one.clone(), two.clone())]);
        assert_eq!(rows("SELECT a, b FROM t, echo(t.x, t.y) WHERE t.x = 1"), [(one.clone(), two.clone())]);
        assert_eq!(rows("SELECT a, b FROM echo, t WHERE first = t.x AND second = t.y AND t.x = 1"), [(one, two)]);
        let error = conn.prepare("SELECT a FROM echo WHERE second = 1").unwrap_err().to_string();
        assert!(error.contains("echo: argument 1 (first) is missing"), "{error}");
    }

    #[test]
    fn a_connection_has_one_handle_and_closes_with_cached_statements() {
        let conn = connection();
        let other = Connection::open_in_memory().unwrap();
        let handle = Handle::new(&other).unwrap();
        assert!(Handle::of(&other).is_none(), "nothing has been registered");
        handle.set_registered();
        assert!(Handle::of(&other).is_some_and(|known| Arc::ptr_eq(&known, &handle)));
        drop(handle);
        assert!(Handle::of(&other).is_none(), "gone with its functions");
        conn.query_row("SELECT a FROM echo(1)", [], |_| Ok(())).unwrap();
        conn.close().map_err(|(_, e)| e).unwrap();
        connection().close().map_err(|(_, e)| e).unwrap();
    }
}
