//! Makes a second chat with the same history, and takes a chat away.
//!
//! Invariant: taking a chat away touches its folder and its transcripts and nothing else, and never while
//! somebody is inside a turn of it.

use super::blobs::Blobs;
use super::disk::{DiskChat, DiskStore, guarded};
use super::events::{Entry, Journal, Survives};
use super::layout::refused;
use super::listing::{Folder, chats, summary};
use super::meta::Meta;
use super::sqlite::Make;
use super::turn_end::{Base, Marks};
use super::{Chat as _, ChatState, StoreError, Which, layout};
use caret_protocol::agent::SessionSummary;
use caret_protocol::event::Stamped;
use caret_protocol::ids::SessionId;
use serde_json::json;
use std::io;
use std::path::Path;

/// How many events are copied in one transaction.
const BATCH: usize = 256;

impl DiskStore {
    /// Takes a chat and its transcripts away.
    pub fn remove(&self, session: &SessionId) -> Result<(), StoreError> {
        let (folder, about) = self.known(session)?;
        let chat = self.chat_at(&folder, &about)?;
        let Some(hold) = chat.hold()? else { return Err(StoreError::Busy(session.clone())) };
        remove_folder(&folder.path)?;
        drop(hold);
        if about.cwd.as_os_str().is_empty() {
            return Ok(());
        }
        remove_folder(&chat.transcripts)?;
        let outputs = self.roots.data.join("projects").join(layout::slug(&about.cwd)).join("terminals");
        remove_outputs(&outputs, session)
    }

    /// Makes a new chat with the history of another one, up to its last turn that ended.
    pub fn fork(&self, session: &SessionId, new: &SessionId) -> Result<(), StoreError> {
        let (folder, about) = self.known(session)?;
        let source = self.chat_at(&folder, &about)?;
        let target = self.chat(&about.cwd, new)?;
        if target.folder.exists() {
            return Err(StoreError::Exists(new.clone()));
        }
        let copied = copy(&source, &target);
        if copied.is_err() {
            // Half a copy is worth nothing, and the reason for it is what the caller has to hear.
            std::fs::remove_dir_all(&target.folder).ok();
        }
        copied
    }

    fn known(&self, session: &SessionId) -> Result<(Folder, SessionSummary), StoreError> {
        if !layout::is_safe(session) {
            return Err(StoreError::BadId(session.clone()));
        }
        let all = chats(&self.roots, Which::All)?;
        let folder = all.into_iter().find(|chat| chat.session == *session);
        let found = folder.and_then(|folder| summary(&folder, Which::All).map(|about| (folder, about)));
        found.ok_or_else(|| StoreError::Missing(session.clone()))
    }

    fn chat_at(&self, folder: &Folder, about: &SessionSummary) -> Result<DiskChat, StoreError> {
        Ok(self.chat(&about.cwd, &about.session)?.at(&folder.path))
    }
}

/// Takes away what a chat's commands wrote.
fn remove_outputs(folder: &Path, session: &SessionId) -> Result<(), StoreError> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
    let beginning = format!("{session}-");
    for entry in entries.flatten() {
        if entry.file_name().to_string_lossy().starts_with(&beginning) {
            std::fs::remove_file(entry.path()).map_err(|error| refused(&entry.path(), &error))?;
        }
    }
    Ok(())
}

fn copy(source: &DiskChat, target: &DiskChat) -> Result<(), StoreError> {
    let mut state = ChatState::default();
    guarded(source, |files| {
        files.blobs(Make::Never)?;
        let Some(journal) = files.journal(&source.session, Make::Never)? else {
            return copy_foreign(&source.folder, target);
        };
        let base: Option<Base> = journal.get("base")?.flatten();
        let upto = journal.last_settled(0)?;
        state = journal.get("state")?.unwrap_or_default();
        state.shell = journal.get("shell")?.unwrap_or_default();
        state.seen = journal.seen()?.into_iter().collect();
        state.last_seq = state.last_seq.min(upto);
        guarded(target, |made| {
            let Some(into) = made.journal(&target.session, Make::IfMissing)? else { return Ok(()) };
            copy_events(journal, into, upto)?;
            let Some(base) = &base else { return Ok(()) };
            copy_blobs(&source.folder, target, &base.root)?;
            let marks = Marks { written: base.seq, ..Marks::default() };
            let root = super::nodes::reference_of(&base.root).map(|root| (base.seq, root));
            let rows = vec![("marks", into.json(&marks)?), ("base", into.json(&Some(base))?)];
            into.write(&Entry { state: rows, root, ..Entry::default() }, Survives::PowerLoss)
        })
    })?;
    if let Some(mut meta) = Meta::read(&source.folder) {
        meta.cwd = target.cwd.to_string_lossy().into_owned();
        // A chat in which nothing was said has no database that would have made the folder.
        layout::make_folder(&target.folder)?;
        meta.write(&target.folder)?;
    }
    if state.last_seq == 0 {
        return Ok(());
    }
    target.end_turn(&state)?;
    target.fold()
}

fn copy_events(from: &Journal, into: &Journal, upto: u64) -> Result<(), StoreError> {
    let mut batch: Vec<Stamped> = Vec::with_capacity(BATCH);
    let write = |events: &[Stamped]| into.write(&Entry { events, ..Entry::default() }, Survives::Death);
    from.each(0, upto, |event| {
        batch.push(event);
        if batch.len() == BATCH {
            write(&batch)?;
            batch.clear();
        }
        Ok(())
    })?;
    write(&batch)
}

/// Copies a chat that only another program wrote.
fn copy_foreign(source: &Path, target: &DiskChat) -> Result<(), StoreError> {
    let Some(blobs) = Blobs::open(source, Make::Never)? else { return Ok(()) };
    match blobs.latest()? {
        Some(latest) => copy_blobs(source, target, &super::nodes::hex(&latest)),
        None => Ok(()),
    }
}

/// Copies the documented store, with `root` as its newest root.
fn copy_blobs(source: &Path, target: &DiskChat, root: &str) -> Result<(), StoreError> {
    let Some(from) = Blobs::open(source, Make::Never)? else { return Ok(()) };
    let Some(into) = Blobs::open(&target.folder, Make::IfMissing)? else { return Ok(()) };
    into.copy_from(&from)?;
    let mut about = from.about()?.unwrap_or_default();
    about.insert("agentId".into(), json!(target.session.as_str()));
    about.insert("latestRootBlobId".into(), json!(root));
    let writing = into.begin()?;
    writing.describe(&about)?;
    writing.commit()
}

/// Takes a folder away with everything in it; a link is not followed.
fn remove_folder(folder: &Path) -> Result<(), StoreError> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(refused(folder, &error)),
        _ => Ok(()),
    }
}
