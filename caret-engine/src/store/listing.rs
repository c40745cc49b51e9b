//! Lists chats and finds one by what a person types.
//!
//! There is no index: a list is a scan of folders, ordered by the time of one small file in each. Only the
//! files of the chats that are asked for are read, so a list costs little however many chats there are.

use super::blobs::{self, Blobs};
use super::disk::DiskStore;
use super::layout::{Roots, is_safe, path_of, refused};
use super::meta::{self, Meta};
use super::sqlite::Make;
use super::{StoreError, Which, events};
use caret_protocol::agent::SessionSummary;
use caret_protocol::ids::SessionId;
use serde_json::Value;
use std::fs::ReadDir;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Why no single chat was found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FindError {
    /// Nothing fits.
    #[error("no chat has the id or title `{0}`; `caret ls` shows all")]
    None(String),
    /// Several fit.
    #[error("{} chats fit; give more of the id", .0.len())]
    Ambiguous(Vec<SessionSummary>),
    /// The chats could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl DiskStore {
    /// The chat that somebody means: by its id, the beginning of its id, or its title or a part of it; of one
    /// workspace, or of all.
    pub fn find(&self, cwd: Option<&Path>, wanted: &str) -> Result<SessionSummary, FindError> {
        let which = cwd.map_or(Which::All, Which::Of);
        let found = chats(&self.roots, which)?;
        let exact = found.iter().find(|chat| chat.session.as_str() == wanted);
        if let Some(summary) = exact.and_then(|chat| summary(chat, which)) {
            return Ok(summary);
        }
        let begins =
            found.iter().filter(|chat| !wanted.is_empty() && chat.session.as_str().starts_with(wanted));
        let fitting: Vec<_> = begins.filter_map(|chat| summary(chat, which)).collect();
        if !fitting.is_empty() {
            return only(fitting, wanted);
        }
        let lower = wanted.to_lowercase();
        let titled = found.iter().filter_map(|chat| summary(chat, which));
        let titled = titled.filter(|chat| !lower.is_empty() && chat.title.to_lowercase().contains(&lower));
        let titled: Vec<_> = titled.collect();
        let same: Vec<_> = titled.iter().filter(|chat| chat.title.to_lowercase() == lower).cloned().collect();
        only(if same.is_empty() { titled } else { same }, wanted)
    }
}

fn only(mut fitting: Vec<SessionSummary>, wanted: &str) -> Result<SessionSummary, FindError> {
    if fitting.len() > 1 {
        return Err(FindError::Ambiguous(fitting));
    }
    fitting.pop().ok_or_else(|| FindError::None(wanted.to_owned()))
}

/// Chats, newest first.
pub(super) fn list(roots: &Roots, which: Which<'_>, most: usize) -> Result<Vec<SessionSummary>, StoreError> {
    let chats = chats(roots, which)?;
    Ok(chats.iter().filter_map(|chat| summary(chat, which)).take(most).collect())
}

/// A chat's folder.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Folder {
    /// Its chat.
    pub(super) session: SessionId,
    /// Where it is.
    pub(super) path: PathBuf,
    /// When it was changed last.
    changed: SystemTime,
    /// Kept where the reference program keeps an editor's sessions, which are not apart by workspace.
    is_shared: bool,
}

/// The folders of chats, newest first.
pub(super) fn chats(roots: &Roots, which: Which<'_>) -> Result<Vec<Folder>, StoreError> {
    let mut found = Vec::new();
    match which {
        Which::Of(workspace) => scan(&roots.project(workspace), false, &mut found)?,
        Which::All => {
            for project in entries(&roots.chats())? {
                scan(&project, false, &mut found)?;
            }
        }
    }
    scan(&roots.editor_sessions(), true, &mut found)?;
    found.sort_by(|one, other| other.changed.cmp(&one.changed).then_with(|| one.session.cmp(&other.session)));
    Ok(found)
}

fn scan(parent: &Path, is_shared: bool, found: &mut Vec<Folder>) -> Result<(), StoreError> {
    for path in entries(parent)? {
        let Some(session) = path.file_name().and_then(|name| name.to_str()).map(SessionId::new) else {
            continue;
        };
        let times = [meta::NAME, blobs::NAME, events::NAME].map(|name| path.join(name));
        let changed = times.iter().find_map(|file| std::fs::metadata(file).ok()?.modified().ok());
        if let Some(changed) = changed.filter(|_| is_safe(&session)) {
            found.push(Folder { session, path, changed, is_shared });
        }
    }
    Ok(())
}

/// What is in a folder; nothing when it is not there.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let paths = |entries: ReadDir| entries.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>();
    match std::fs::read_dir(folder).and_then(paths) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        result => result.map_err(|error| refused(folder, &error)),
    }
}

/// One line of a list; `None` for a chat of another workspace.
pub(super) fn summary(chat: &Folder, which: Which<'_>) -> Option<SessionSummary> {
    let told = match which {
        Which::Of(workspace) => Some(workspace),
        Which::All => None,
    };
    let mut summary = match Meta::read(&chat.path) {
        Some(meta) => meta.summary(chat.session.clone(), &chat.path),
        None => foreign(chat),
    };
    if chat.is_shared {
        return Some(summary).filter(|summary| told.is_none_or(|told| told == summary.cwd));
    }
    if let Some(told) = told {
        // The folder's name says which workspace it is, whatever the file says.
        summary.cwd = told.to_owned();
    }
    if summary.updated_ms == 0 {
        summary.updated_ms = milliseconds(chat.changed);
    }
    Some(summary)
}

/// A chat without the file for lists: what its documented store says. One that cannot be read is listed too.
fn foreign(chat: &Folder) -> SessionSummary {
    let updated_ms = milliseconds(chat.changed);
    let mut summary = SessionSummary {
        session: chat.session.clone(),
        cwd: PathBuf::new(),
        title: String::new(),
        created_ms: updated_ms,
        updated_ms,
        has_conversation: chat.path.join(events::NAME).exists(),
    };
    let Ok(Some(blobs)) = Blobs::open(&chat.path, Make::Never) else { return summary };
    if let Ok(Some(about)) = blobs.about() {
        summary.title = about.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        summary.created_ms = about.get("createdAt").and_then(Value::as_u64).unwrap_or(updated_ms);
    }
    if let Ok(Some(latest)) = blobs.latest()
        && let Ok(root) = blobs.root(&latest)
    {
        summary.has_conversation |= !root.messages.is_empty();
        summary.cwd = root.workspaces.first().and_then(|uri| path_of(uri)).unwrap_or_default();
    }
    summary
}

fn milliseconds(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
