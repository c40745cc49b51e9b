//! Where a chat is on disk, and how its files come to be.
//!
//! Invariant: every folder that is made here is 0700 and every file 0600, whatever the umask; and a chat's
//! id never leads out of the folder of its project.

use super::StoreError;
use super::nodes::hex;
use caret_protocol::ids::SessionId;
use md5::{Digest, Md5};
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The name of a workspace's folder of chats: the md5 of the physical path.
pub fn project_id(workspace: &Path) -> String {
    hex(&Md5::digest(trimmed(workspace)))
}

/// The name of a workspace's folder of transcripts and the like.
pub fn slug(workspace: &Path) -> String {
    let mut slug = String::new();
    for character in workspace.to_string_lossy().chars() {
        if character.is_ascii_alphanumeric() {
            slug.push(character);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(slug.trim_end_matches('-').len());
    slug
}

/// The path's bytes without slashes at their end.
fn trimmed(path: &Path) -> &[u8] {
    let bytes = path.as_os_str().as_bytes();
    let end = bytes.iter().rposition(|byte| *byte != b'/').map_or(bytes.len().min(1), |last| last + 1);
    &bytes[..end]
}

/// A workspace as a URI.
pub(super) fn uri(workspace: &Path) -> String {
    let mut uri = String::from("file://");
    for byte in trimmed(workspace) {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(byte) {
            uri.push(char::from(*byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

/// The path that a `file:` URI names.
pub(super) fn path_of(uri: &str) -> Option<PathBuf> {
    let mut rest = uri.strip_prefix("file://")?.as_bytes();
    let mut bytes = Vec::with_capacity(rest.len());
    while let Some((&first, tail)) = rest.split_first() {
        let escaped = tail.get(..2).filter(|_| first == b'%');
        let escaped = escaped.and_then(|digits| std::str::from_utf8(digits).ok());
        match escaped.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(&bytes)))
}

/// Whether an id can name a folder.
pub(super) fn is_safe(session: &SessionId) -> bool {
    let text = session.as_str();
    !text.is_empty()
        && text.len() <= 128
        && !text.starts_with('.')
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

/// The roots below which everything is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Roots {
    /// `chats/` and `acp-sessions/` are below it.
    pub(super) config: PathBuf,
    /// `projects/` is below it.
    pub(super) data: PathBuf,
}

impl Roots {
    /// The folder of all workspaces' chats.
    pub(super) fn chats(&self) -> PathBuf {
        self.config.join("chats")
    }

    /// Where the reference program keeps the sessions of editors.
    pub(super) fn editor_sessions(&self) -> PathBuf {
        self.config.join("acp-sessions")
    }

    /// The folder of one workspace's chats.
    pub(super) fn project(&self, workspace: &Path) -> PathBuf {
        self.chats().join(project_id(workspace))
    }

    /// The folder of one chat's transcripts.
    pub(super) fn transcripts(&self, workspace: &Path, session: &SessionId) -> PathBuf {
        let project = self.data.join("projects").join(slug(workspace));
        project.join("agent-transcripts").join(session.as_str())
    }
}

/// Makes a folder and those above it.
pub(super) fn make_folder(path: &Path) -> Result<(), StoreError> {
    if path.is_dir() {
        return Ok(());
    }
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|error| refused(path, &error))
}

/// Opens a file for reading and writing; makes it if it is not there.
pub(super) fn open_private(path: &Path) -> Result<File, StoreError> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    options.open(path).map_err(|error| refused(path, &error))
}

/// Adds to the end of a file; makes it if it is not there.
pub(super) fn append_to(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let mut options = OpenOptions::new();
    options.append(true).create(true).mode(0o600);
    let written = options.open(path).and_then(|mut file| file.write_all(bytes));
    written.map_err(|error| refused(path, &error))
}

/// Replaces a file in one step: readers see the old one or the new one.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}-{}.tmp", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
    let temporary = PathBuf::from(name);
    let written = write_new(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, path));
    if let Err(error) = written {
        // What is in the way of the file matters, not whether its first half could be taken away again.
        std::fs::remove_file(&temporary).ok();
        return Err(refused(path, &error));
    }
    Ok(())
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    let mut file = options.open(path)?;
    file.write_all(bytes)
}

/// What the system said about a path.
pub(super) fn refused(path: &Path, error: &io::Error) -> StoreError {
    let path = path.display().to_string();
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full { path },
        io::ErrorKind::ReadOnlyFilesystem
        | io::ErrorKind::PermissionDenied
        | io::ErrorKind::NotADirectory => {
            let remedy = "see to it that you may write there, or use --no-save to keep nothing on disk";
            StoreError::Io { path, message: format!("{error}; {remedy}") }
        }
        _ => StoreError::Io { path, message: error.to_string() },
    }
}
