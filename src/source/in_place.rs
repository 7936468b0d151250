//! The caller's own main database as the host: read through the caller's connection, in the caller's transaction.

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::snapshot::{Kind, Snapshot};
use super::{Adapter, changed_adapter};
use crate::error::Result;
use crate::handle::Handle;
use crate::schema::schema_version;
use crate::transaction::reading;

pub(crate) struct InPlace {
    pub(super) adapter: &'static Adapter,
    pub(super) path: PathBuf,
    schema_version: i64,
}

impl InPlace {
    pub(super) fn find(conn: &Connection) -> Result<Option<Self>> {
        let Some(adapter) = Adapter::find(conn)? else { return Ok(None) };
        let path = Path::new(conn.path().unwrap_or_default()).to_owned();
        Ok(Some(Self { adapter, path, schema_version: schema_version(conn)? }))
    }

    /// Runs `read` on one state of the host.
    pub(super) fn snapshot<T>(&mut self, handle: &Handle, read: impl FnOnce(&Snapshot<'_>) -> Result<T>) -> Result<T> {
        reading(handle, || {
            self.look_again(handle.connection())?;
            read(&self.as_is(handle))
        })
    }

    /// Looks at the tables again, if they have changed.
    pub(super) fn look_again(&mut self, conn: &Connection) -> Result<()> {
        let now = schema_version(conn)?;
        if now != self.schema_version {
            self.adapter = changed_adapter(conn)?;
            self.schema_version = now;
        }
        Ok(())
    }

    pub(super) fn as_is<'s>(&'s self, handle: &'s Handle) -> Snapshot<'s> {
        Snapshot { connection: handle.connection(), path: &self.path, adapter: self.adapter, kind: Kind::InPlace(handle) }
    }
}
