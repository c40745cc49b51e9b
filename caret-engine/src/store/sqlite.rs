//! One SQLite file, opened so that many processes may use it and nobody hears of its locks.
//!
//! Files are made under a lock on their folder, so that ten programs may start on nothing. Every writing
//! transaction is immediate: one that begins by reading fails when another writer was faster.
//!
//! Invariant: a file that is not what it should be is reported and left alone.

use super::layout::{open_private, refused};
use super::{StoreError, layout};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use rustix::fs::{FlockOperation, flock};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long SQLite itself waits for a lock.
const WAIT: Duration = Duration::from_secs(10);
/// How long we go on trying after that.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a file has to be.
#[derive(Debug)]
pub(super) struct Format {
    /// Its name in the chat's folder.
    pub(super) name: &'static str,
    /// Marks our own files; 0 for a file that others write too.
    pub(super) application_id: i32,
    /// The newest version that we understand, and the one that we make.
    pub(super) version: i64,
    /// Makes its tables.
    pub(super) schema: &'static str,
    /// `FULL` survives power loss, `NORMAL` only the death of the process.
    pub(super) synchronous: &'static str,
}

/// Whether a file that is not there is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Make {
    /// It is made, with its folder.
    IfMissing,
    /// It is not.
    Never,
}

/// An open file.
pub(super) struct Database {
    connection: Connection,
    path: PathBuf,
}

impl Database {
    /// Opens a file; `None` when it is not there and is not to be made.
    pub(super) fn open(folder: &Path, format: &Format, make: Make) -> Result<Option<Self>, StoreError> {
        let path = folder.join(format.name);
        if !is_there(&path) {
            if make == Make::Never {
                return Ok(None);
            }
            make_file(folder, &path, format)?;
        }
        let database = Self { connection: connect(&path)?, path };
        database.check(format)?;
        database.prepare(format).map_err(|error| database.failed(error))?;
        Ok(Some(database))
    }

    /// The connection, for reading.
    pub(super) fn reader(&self) -> &Connection {
        &self.connection
    }

    /// Begins a writing transaction; waits for its turn.
    pub(super) fn begin(&self) -> Result<Transaction<'_>, StoreError> {
        self.patiently(|| Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate))
    }

    /// Lets the following transactions survive power loss, or only the death of the process.
    pub(super) fn synchronous(&self, level: &'static str) -> Result<(), StoreError> {
        let set = self.connection.pragma_update(None, "synchronous", level);
        set.map_err(|error| self.failed(error))
    }

    /// What SQLite said, as our callers treat it.
    pub(super) fn failed(&self, error: rusqlite::Error) -> StoreError {
        failure(&self.path, error)
    }

    /// Something in the file makes no sense.
    pub(super) fn damaged(&self, message: impl Into<String>) -> StoreError {
        StoreError::Damaged { path: self.path.display().to_string(), message: message.into() }
    }

    /// Does something again while another process is in the way.
    pub(super) fn patiently<T>(&self, work: impl FnMut() -> rusqlite::Result<T>) -> Result<T, StoreError> {
        patiently(&self.path, work)
    }

    fn check(&self, format: &Format) -> Result<(), StoreError> {
        let read = |name| {
            self.patiently(|| self.connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)))
        };
        let version = read("user_version")?;
        if version > format.version {
            let path = self.path.display().to_string();
            return Err(StoreError::TooNew { path, found: version });
        }
        if format.application_id != 0 && read("application_id")? != i64::from(format.application_id) {
            return Err(self.damaged("it belongs to another program"));
        }
        Ok(())
    }

    fn prepare(&self, format: &Format) -> rusqlite::Result<()> {
        self.connection.pragma_update(None, "synchronous", format.synchronous)?;
        self.connection.pragma_update(None, "cache_size", -256)?;
        // The log is copied into the file when it has grown, not each time a program ends.
        self.connection.pragma_update_and_check(None, "wal_autocheckpoint", LOG_PAGES, |_| Ok(()))?;
        self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        Ok(())
    }
}

/// In bytes; for files that we make.
const PAGE_SIZE: i64 = 1024;
/// How long the log of a file may get before it is copied into the file.
const LOG_PAGES: i64 = 1000;

/// SQLite takes an empty file for one that is not there, and so do we.
fn is_there(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|file| file.len() > 0)
}

/// Makes a file, unless another process does so meanwhile: whole, beside its place, and moved there.
///
/// Letting SQLite make it in place takes seven waits for the disk; this takes one, or none for a file that
/// can be made again.
fn make_file(folder: &Path, path: &Path, format: &Format) -> Result<(), StoreError> {
    layout::make_folder(folder)?;
    let guard = File::open(folder).map_err(|error| refused(folder, &error))?;
    flock(&guard, FlockOperation::LockExclusive).map_err(|error| refused(folder, &error.into()))?;
    if is_there(path) {
        return Ok(());
    }
    // A log without its file says nothing any more, and must not be taken for the log of the new one.
    let beside = |end: &str| folder.join(format!("{}{end}", format.name));
    for end in ["-wal", "-shm", "-journal", ".new", ".new-wal", ".new-shm"] {
        remove_if_there(&beside(end))?;
    }
    let new = beside(".new");
    // SQLite gives the files beside it the same mode.
    let file = open_private(&new)?;
    let connection = connect(&new)?;
    fill(&connection, format).map_err(|error| failure(&new, error))?;
    drop(connection);
    let synced = if format.synchronous == "FULL" { file.sync_all() } else { Ok(()) };
    synced.and_then(|()| std::fs::rename(&new, path)).map_err(|error| refused(path, &error))
}

fn fill(connection: &Connection, format: &Format) -> rusqlite::Result<()> {
    // Content-addressed keys touch a page each, wherever they fall: small pages keep that cheap.
    connection.pragma_update(None, "page_size", PAGE_SIZE)?;
    connection.pragma_update(None, "synchronous", "OFF")?;
    connection.execute_batch(format.schema)?;
    connection.pragma_update(None, "application_id", format.application_id)?;
    connection.pragma_update(None, "user_version", format.version)?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))
}

fn remove_if_there(path: &Path) -> Result<(), StoreError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(refused(path, &error)),
        _ => Ok(()),
    }
}

fn connect(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = Connection::open_with_flags(path, flags).and_then(|connection| {
        connection.busy_timeout(WAIT)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        Ok(connection)
    });
    opened.map_err(|error| failure(path, error))
}

fn patiently<T>(path: &Path, mut work: impl FnMut() -> rusqlite::Result<T>) -> Result<T, StoreError> {
    let started = Instant::now();
    loop {
        match work() {
            Err(error) if is_busy(&error) && started.elapsed() < PATIENCE => {
                // The clock's last digits keep two waiting processes from meeting again and again.
                let jitter = started.elapsed().subsec_nanos() % 40;
                std::thread::sleep(Duration::from_millis(10 + u64::from(jitter)));
            }
            result => return result.map_err(|error| failure(path, error)),
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

fn failure(path: &Path, error: rusqlite::Error) -> StoreError {
    let shown = path.display().to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full { path: shown },
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Io {
            path: shown,
            message: "another program has used it for a minute without a pause; end that program".into(),
        },
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            // SQLite does not say why; the system does.
            match File::options().read(true).write(true).open(path) {
                Err(reason) => refused(path, &reason),
                Ok(_) => StoreError::Io { path: shown, message: error.to_string() },
            }
        }
        Some(ErrorCode::ConstraintViolation) => StoreError::Io {
            path: shown,
            message: "another program wrote to this chat at the same time; resume it to go on".into(),
        },
        Some(ErrorCode::SystemIoFailure | ErrorCode::FileLockingProtocolFailed | ErrorCode::OutOfMemory) => {
            StoreError::Io { path: shown, message: error.to_string() }
        }
        _ => StoreError::Damaged { path: shown, message: error.to_string() },
    }
}
