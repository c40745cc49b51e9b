//! Our own file of a chat: everything that happened, in order, and what a session needs to go on.
//!
//! This is what survives power loss; the documented store beside it is made from it.
//!
//! Invariant: events are added and never changed.

use super::StoreError;
use super::nodes::Ref;
use super::sqlite::{Database, Format, Make};
use caret_protocol::event::{Event, Stamped};
use caret_protocol::ids::{CallId, SessionId};
use caret_protocol::workspace::Stamp;
use rusqlite::{OptionalExtension as _, Row, Transaction, params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// The name of the file in a chat's folder.
pub(super) const NAME: &str = "caret.db";

const FORMAT: Format = Format {
    name: NAME,
    application_id: 0x4361_7274,
    version: 1,
    schema: "
        CREATE TABLE events (seq INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, kind TEXT NOT NULL,
                             under TEXT, raw TEXT, body TEXT NOT NULL);
        CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE seen (path TEXT PRIMARY KEY, stamp TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE roots (seq INTEGER PRIMARY KEY, root BLOB NOT NULL);
    ",
    synchronous: "FULL",
};

/// The events of one chat.
pub(super) struct Journal {
    database: Database,
    session: SessionId,
}

/// What is written in one transaction.
#[derive(Default)]
pub(super) struct Entry<'a> {
    /// What happened.
    pub(super) events: &'a [Stamped],
    /// Rows of the state, as JSON.
    pub(super) state: Vec<(&'static str, String)>,
    /// Files that were read since the last entry, as they were.
    pub(super) seen: Vec<(&'a Path, Stamp)>,
    /// Files that are not known any more.
    pub(super) forgotten: Vec<&'a Path>,
    /// A root of the documented store that is about to be written, and the last event in it.
    pub(super) root: Option<(u64, Ref)>,
}

/// What an entry has to survive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Survives {
    /// Power loss.
    PowerLoss,
    /// The death of the process; it can be worked out again from what survives power loss.
    Death,
}

impl Journal {
    /// Opens the file of a chat.
    pub(super) fn open(folder: &Path, session: &SessionId, make: Make) -> Result<Option<Self>, StoreError> {
        let database = Database::open(folder, &FORMAT, make)?;
        Ok(database.map(|database| Self { database, session: session.clone() }))
    }

    /// Writes an entry.
    pub(super) fn write(&self, entry: &Entry<'_>, survives: Survives) -> Result<(), StoreError> {
        if survives == Survives::Death {
            self.database.synchronous("NORMAL")?;
        }
        let written = self.write_all(entry);
        if survives == Survives::Death {
            self.database.synchronous("FULL")?;
        }
        written
    }

    fn write_all(&self, entry: &Entry<'_>) -> Result<(), StoreError> {
        let transaction = self.database.begin()?;
        for event in entry.events.iter().filter(|event| event.event.is_durable()) {
            self.add(&transaction, event)?;
        }
        let rows = || -> rusqlite::Result<()> {
            for (key, value) in &entry.state {
                transaction.execute("INSERT OR REPLACE INTO state VALUES (?1, ?2)", params![key, value])?;
            }
            for (path, stamp) in &entry.seen {
                // A path that is no text cannot be kept; its file is then simply read again.
                let (Some(path), Ok(stamp)) = (path.to_str(), serde_json::to_string(stamp)) else { continue };
                transaction.execute("INSERT OR REPLACE INTO seen VALUES (?1, ?2)", params![path, stamp])?;
            }
            for path in entry.forgotten.iter().filter_map(|path| path.to_str()) {
                transaction.execute("DELETE FROM seen WHERE path = ?1", [path])?;
            }
            if let Some((seq, root)) = &entry.root {
                let row = params![seq.cast_signed(), root];
                transaction.execute("INSERT OR REPLACE INTO roots VALUES (?1, ?2)", row)?;
            }
            Ok(())
        };
        rows().and_then(|()| transaction.commit()).map_err(|error| self.database.failed(error))
    }

    fn add(&self, transaction: &Transaction<'_>, event: &Stamped) -> Result<(), StoreError> {
        let body = self.json(&event.event)?;
        let raw = event.raw.as_ref().map(|raw| self.json(raw)).transpose()?;
        let insert = "INSERT INTO events VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let under = event.under.as_ref().map(CallId::as_str);
        let row = params![event.seq.cast_signed(), event.at_ms.cast_signed(), kind(&body), under, raw, body];
        let added = transaction.prepare(insert).and_then(|mut statement| statement.execute(row));
        added.map(|_| ()).map_err(|error| self.database.failed(error))
    }

    /// Something as JSON.
    pub(super) fn json(&self, value: &impl Serialize) -> Result<String, StoreError> {
        serde_json::to_string(value).map_err(|error| self.database.damaged(error.to_string()))
    }

    /// Goes through the events with a number above `after`, up to `upto`.
    pub(super) fn each(
        &self,
        after: u64,
        upto: u64,
        mut take: impl FnMut(Stamped) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let select =
            "SELECT seq, at_ms, under, raw, body FROM events WHERE seq > ?1 AND seq <= ?2 ORDER BY seq";
        let range = [clamped(after), clamped(upto)];
        let failed = |error| self.database.failed(error);
        let mut statement = self.database.patiently(|| self.database.reader().prepare(select))?;
        let mut rows = statement.query(range).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            take(self.event(row)?)?;
        }
        Ok(())
    }

    /// Goes through what was said by the user and the model until told to stop: the number, and the event.
    pub(super) fn each_said(
        &self,
        after: u64,
        mut take: impl FnMut(u64, Event) -> Result<ControlFlow<()>, StoreError>,
    ) -> Result<(), StoreError> {
        let select = "SELECT seq, body FROM events
            WHERE seq > ?1 AND kind IN ('prompted', 'replied') AND under IS NULL ORDER BY seq";
        let failed = |error| self.database.failed(error);
        let mut statement = self.database.patiently(|| self.database.reader().prepare(select))?;
        let mut rows = statement.query([clamped(after)]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let seq = row.get::<_, i64>(0).map_err(failed)?.cast_unsigned();
            if take(seq, self.parsed(row, 1)?)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn event(&self, row: &Row<'_>) -> Result<Stamped, StoreError> {
        let read = || -> rusqlite::Result<_> {
            let under: Option<String> = row.get(2)?;
            let raw: Option<String> = row.get(3)?;
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, under, raw))
        };
        let (seq, at_ms, under, raw) = read().map_err(|error| self.database.failed(error))?;
        Ok(Stamped {
            seq: seq.cast_unsigned(),
            at_ms: at_ms.cast_unsigned(),
            session: self.session.clone(),
            under: under.map(CallId),
            event: self.parsed(row, 4)?,
            raw: raw.map(|raw| self.parse(raw.as_bytes())).transpose()?,
        })
    }

    fn parsed<T: DeserializeOwned>(&self, row: &Row<'_>, column: usize) -> Result<T, StoreError> {
        let value = row.get_ref(column).map_err(|error| self.database.failed(error))?;
        let bytes = value.as_bytes().map_err(|error| self.database.damaged(error.to_string()))?;
        self.parse(bytes)
    }

    fn parse<T: DeserializeOwned>(&self, bytes: &[u8]) -> Result<T, StoreError> {
        serde_json::from_slice(bytes).map_err(|error| self.database.damaged(error.to_string()))
    }

    /// The number of the last event.
    pub(super) fn last_seq(&self) -> Result<u64, StoreError> {
        Ok(self.number("SELECT max(seq) FROM events", [])?.unwrap_or(0))
    }

    /// The number of the last event that is not inside a turn that goes on.
    pub(super) fn last_settled(&self, after: u64) -> Result<u64, StoreError> {
        let last = "SELECT max(seq) FROM events WHERE seq > ?1 AND under IS NULL AND kind = ?2";
        let last_of = |kind: &str| self.number(last, params![clamped(after), kind]);
        match (last_of("turn_started")?, last_of("turn_ended")?) {
            (Some(started), ended) if ended < Some(started) => Ok(started - 1),
            _ => self.last_seq(),
        }
    }

    /// The last event in a root of the documented store, if it is one that we wrote.
    pub(super) fn folded(&self, root: &Ref) -> Result<Option<u64>, StoreError> {
        self.number("SELECT max(seq) FROM roots WHERE root = ?1", [root])
    }

    /// The last event in any root that we wrote.
    pub(super) fn last_folded(&self) -> Result<u64, StoreError> {
        Ok(self.number("SELECT max(seq) FROM roots", [])?.unwrap_or(0))
    }

    fn number(&self, query: &str, values: impl rusqlite::Params + Clone) -> Result<Option<u64>, StoreError> {
        let number: Option<i64> = self
            .database
            .patiently(|| self.database.reader().query_row(query, values.clone(), |row| row.get(0)))?;
        Ok(number.map(i64::cast_unsigned))
    }

    /// A row of the state.
    pub(super) fn get<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, StoreError> {
        let select = "SELECT value FROM state WHERE key = ?1";
        let value: Option<String> = self
            .database
            .patiently(|| self.database.reader().query_row(select, [key], |row| row.get(0)).optional())?;
        value.map(|value| self.parse(value.as_bytes())).transpose()
    }

    /// The files that were read, as they were.
    pub(super) fn seen(&self) -> Result<Vec<(PathBuf, Stamp)>, StoreError> {
        let failed = |error| self.database.failed(error);
        let select = "SELECT path, stamp FROM seen";
        let mut statement = self.database.patiently(|| self.database.reader().prepare(select))?;
        let mut rows = statement.query([]).map_err(failed)?;
        let mut seen = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            let path: String = row.get(0).map_err(failed)?;
            seen.push((PathBuf::from(path), self.parsed(row, 1)?));
        }
        Ok(seen)
    }

    /// Lets the file grow to so many pages only.
    #[cfg(test)]
    pub(super) fn limit_pages(&self, pages: i64) {
        self.database.reader().pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())).unwrap();
    }
}

fn clamped(seq: u64) -> i64 {
    i64::try_from(seq).unwrap_or(i64::MAX)
}

/// The kind of an event, from its JSON: the tag comes first.
fn kind(body: &str) -> &str {
    let tag = body.strip_prefix(r#"{"type":""#).unwrap_or_default();
    tag.split('"').next().unwrap_or_default()
}
