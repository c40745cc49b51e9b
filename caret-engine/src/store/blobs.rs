//! The documented file of a chat: blobs by content, and one row that names the newest root.
//!
//! Other programs read and write it. Blobs are added and never changed or deleted, so nothing that another
//! program wrote is lost; the fields of the row that are not ours are kept.

use super::StoreError;
use super::nodes::{Ref, Root, address, hex, reference_of, unhex};
use super::sqlite::{Database, Format, Make};
use rusqlite::{OptionalExtension as _, Transaction, params};
use serde_json::{Map, Value};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

/// The name of the file in a chat's folder.
pub(super) const NAME: &str = "store.db";

/// What the documented store calls a chat without a title.
pub(super) const UNNAMED: &str = "New Agent";

const FORMAT: Format = Format {
    name: NAME,
    application_id: 0,
    version: 1,
    schema: "
        CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB);
        CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT);
    ",
    // Everything in it can be made again from our events.
    synchronous: "NORMAL",
};

/// Tells whether anybody wrote to the file since; `None` when it is not there. Looking at this is much cheaper
/// than opening the file.
pub(super) fn fingerprint(folder: &Path) -> Option<String> {
    let of = |name: &str| {
        let file = std::fs::metadata(folder.join(name)).ok()?;
        Some(format!("{} {}.{} {}", file.len(), file.mtime(), file.mtime_nsec(), file.ino()))
    };
    let log = of(&format!("{NAME}-wal")).unwrap_or_default();
    Some(format!("{}, {log}", of(NAME)?))
}

/// The documented file of one chat.
pub(super) struct Blobs {
    database: Database,
}

impl Blobs {
    /// Opens the file of a chat.
    pub(super) fn open(folder: &Path, make: Make) -> Result<Option<Self>, StoreError> {
        Ok(Database::open(folder, &FORMAT, make)?.map(|database| Self { database }))
    }

    /// The row about the chat.
    pub(super) fn about(&self) -> Result<Option<Map<String, Value>>, StoreError> {
        let select = "SELECT value FROM meta WHERE key = '0'";
        let read = || self.database.reader().query_row(select, [], |row| row.get::<_, String>(0)).optional();
        let Some(value) = self.database.patiently(read)? else { return Ok(None) };
        let json = unhex(&value).and_then(|json| serde_json::from_slice(&json).ok());
        json.map(Some).ok_or_else(|| self.database.damaged("its description cannot be read"))
    }

    /// The address of the newest root.
    pub(super) fn latest(&self) -> Result<Option<Ref>, StoreError> {
        let Some(about) = self.about()? else { return Ok(None) };
        match about.get("latestRootBlobId").and_then(Value::as_str) {
            None | Some("") => Ok(None),
            Some(id) => {
                reference_of(id).map(Some).ok_or_else(|| self.database.damaged("its root has no address"))
            }
        }
    }

    /// The title, if there is one.
    pub(super) fn name(&self) -> Result<Option<String>, StoreError> {
        let about = self.about()?.unwrap_or_default();
        let name = about.get("name").and_then(Value::as_str);
        Ok(name.filter(|name| !name.is_empty() && *name != UNNAMED).map(str::to_owned))
    }

    /// A root.
    pub(super) fn root(&self, reference: &Ref) -> Result<Root, StoreError> {
        let bytes = self.get(reference)?.ok_or_else(|| self.database.damaged("its root is missing"))?;
        Root::decode(&bytes).map_err(|error| self.database.damaged(error.to_string()))
    }

    /// A blob.
    pub(super) fn get(&self, reference: &Ref) -> Result<Option<Vec<u8>>, StoreError> {
        let select = "SELECT data FROM blobs WHERE id = ?1";
        let id = hex(reference);
        self.database
            .patiently(|| self.database.reader().query_row(select, [&id], |row| row.get(0)).optional())
    }

    /// Begins to write; nobody else writes until it is finished or dropped.
    pub(super) fn begin(&self) -> Result<Writing<'_>, StoreError> {
        Ok(Writing { blobs: self, transaction: self.database.begin()? })
    }

    /// Adds all blobs of another chat.
    pub(super) fn copy_from(&self, other: &Self) -> Result<(), StoreError> {
        let writing = self.begin()?;
        let failed = |error| other.database.failed(error);
        let mut statement = other.database.reader().prepare("SELECT data FROM blobs").map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let data: Vec<u8> = row.get(0).map_err(failed)?;
            writing.put(&data)?;
        }
        writing.commit()
    }
}

/// A transaction on the documented file.
pub(super) struct Writing<'a> {
    blobs: &'a Blobs,
    transaction: Transaction<'a>,
}

impl Writing<'_> {
    /// Reads what was there and what was written so far.
    pub(super) fn blobs(&self) -> &Blobs {
        self.blobs
    }

    /// Adds a blob, unless it is there.
    pub(super) fn put(&self, data: &[u8]) -> Result<Ref, StoreError> {
        let reference = address(data);
        let insert = "INSERT OR IGNORE INTO blobs VALUES (?1, ?2)";
        let added = self.transaction.execute(insert, params![hex(&reference), data]);
        added.map_err(|error| self.blobs.database.failed(error))?;
        Ok(reference)
    }

    /// Writes the row about the chat.
    pub(super) fn describe(&self, about: &Map<String, Value>) -> Result<(), StoreError> {
        let json = serde_json::to_vec(about);
        let json = json.map_err(|error| self.blobs.database.damaged(error.to_string()))?;
        let insert = "INSERT OR REPLACE INTO meta VALUES ('0', ?1)";
        let written = self.transaction.execute(insert, [hex(&json)]);
        written.map(|_| ()).map_err(|error| self.blobs.database.failed(error))
    }

    /// Keeps everything.
    pub(super) fn commit(self) -> Result<(), StoreError> {
        self.transaction.commit().map_err(|error| self.blobs.database.failed(error))
    }
}
