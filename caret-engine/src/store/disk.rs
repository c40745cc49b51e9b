//! Chats on disk: one folder each, with our events, the documented store and the files that lists read.
//!
//! Our events are written first and survive power loss; everything else is made from them at the end of a
//! turn. Files are opened when they are needed, so a chat that is only listed or created costs no database.
//!
//! Invariant: whoever is inside a turn has the lock of the chat's folder, and dying gives it back.

use super::blobs::{self, Blobs};
use super::events::{Entry, Journal, Survives};
use super::layout::{self, Roots, make_folder, open_private, refused};
use super::meta::{Meta, title_of};
use super::nodes::reference_of;
use super::recovery::CatchUp;
use super::sqlite::Make;
use super::turn_end::Base;
use super::{Chat, ChatState, Hold, Store, StoreError, Which, listing, message_bytes, messages};
use caret_protocol::agent::SessionSummary;
use caret_protocol::content::plain;
use caret_protocol::event::{Change, Event, Stamped};
use caret_protocol::ids::SessionId;
use caret_protocol::projection::Projection as _;
use caret_protocol::transcript::{Message, Transcript};
use caret_protocol::workspace::{ShellState, Stamp};
use rustix::fs::{FlockOperation, flock};
use serde_json::Value;
use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{SystemTime, UNIX_EPOCH};

/// Where chats are kept, and what is said of whoever keeps them.
#[derive(Clone, Debug)]
pub struct StoreSettings {
    /// `chats/` is below it.
    pub config_root: PathBuf,
    /// `projects/` is below it.
    pub data_root: PathBuf,
    /// What the documented store calls the program.
    pub client: &'static str,
    /// The name of the time zone, for the documented store.
    pub time_zone: String,
    /// Whether the documented store is brought up to date at the end of every turn, however long the chat;
    /// for folders that another program looks into.
    pub exact_root: bool,
}

/// Chats on disk.
#[derive(Clone, Debug)]
pub struct DiskStore {
    pub(super) roots: Roots,
    pub(super) settings: Arc<StoreSettings>,
}

impl DiskStore {
    /// Chats below these roots. Nothing is read or written yet.
    pub fn new(settings: StoreSettings) -> Self {
        let roots = Roots { config: settings.config_root.clone(), data: settings.data_root.clone() };
        Self { roots, settings: Arc::new(settings) }
    }

    /// Leaves an empty chat that is listed and can be resumed.
    pub fn create(&self, cwd: &Path, session: &SessionId, title: Option<&str>) -> Result<(), StoreError> {
        let chat = self.chat(cwd, session)?;
        make_folder(&chat.folder)?;
        if Meta::read(&chat.folder).is_none() {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let mut meta = Meta::new(cwd, u64::try_from(now.as_millis()).unwrap_or_default());
            meta.title = title.map(str::to_owned);
            meta.write(&chat.folder)?;
        }
        Ok(())
    }

    /// Brings the documented store of a chat up to date, whatever it costs.
    pub fn fold(&self, cwd: &Path, session: &SessionId) -> Result<(), StoreError> {
        self.chat(cwd, session)?.fold()
    }

    pub(super) fn chat(&self, cwd: &Path, session: &SessionId) -> Result<DiskChat, StoreError> {
        if !layout::is_safe(session) {
            return Err(StoreError::BadId(session.clone()));
        }
        let ours = self.roots.project(cwd).join(session.as_str());
        let theirs = self.roots.editor_sessions().join(session.as_str());
        let folder = if !ours.is_dir() && theirs.is_dir() { theirs } else { ours };
        Ok(DiskChat {
            transcripts: self.roots.transcripts(cwd, session),
            settings: Arc::clone(&self.settings),
            session: session.clone(),
            cwd: cwd.to_owned(),
            open: Mutex::new(OpenFiles { folder: folder.clone(), ..OpenFiles::default() }),
            folder,
        })
    }
}

impl Store for DiskStore {
    fn open(&self, cwd: &Path, session: &SessionId) -> Result<Arc<dyn Chat>, StoreError> {
        Ok(Arc::new(self.chat(cwd, session)?))
    }

    fn list(&self, which: Which<'_>, most: usize) -> Result<Vec<SessionSummary>, StoreError> {
        listing::list(&self.roots, which, most)
    }
}

/// One chat on disk.
pub(super) struct DiskChat {
    pub(super) settings: Arc<StoreSettings>,
    pub(super) session: SessionId,
    pub(super) cwd: PathBuf,
    pub(super) folder: PathBuf,
    pub(super) transcripts: PathBuf,
    open: Mutex<OpenFiles>,
}

/// The databases of a chat, once they were needed, and what they are known to hold.
#[derive(Default)]
pub(super) struct OpenFiles {
    folder: PathBuf,
    journal: Option<Journal>,
    blobs: Option<Blobs>,
    /// The state that was kept last, as far as it is written in parts.
    pub(super) seen: HashMap<PathBuf, Stamp>,
    pub(super) shell: Option<ShellState>,
    /// `meta.json` says that there is a conversation.
    named: bool,
    /// Alive while we hold the chat.
    held: Weak<()>,
}

impl OpenFiles {
    pub(super) fn journal(
        &mut self,
        session: &SessionId,
        make: Make,
    ) -> Result<Option<&Journal>, StoreError> {
        if self.journal.is_none() {
            self.journal = Journal::open(&self.folder, session, make)?;
        }
        Ok(self.journal.as_ref())
    }

    pub(super) fn blobs(&mut self, make: Make) -> Result<Option<&Blobs>, StoreError> {
        if self.blobs.is_none() {
            self.blobs = Blobs::open(&self.folder, make)?;
        }
        Ok(self.blobs.as_ref())
    }

    /// Both databases, which have to be open.
    pub(super) fn both(&self) -> Option<(&Journal, &Blobs)> {
        Some((self.journal.as_ref()?, self.blobs.as_ref()?))
    }

    /// Lets go of the databases: after an error nobody knows what a connection still holds.
    pub(super) fn close(&mut self) {
        self.journal = None;
        self.blobs = None;
    }
}

impl DiskChat {
    /// The same chat in a folder that is known already.
    pub(super) fn at(mut self, folder: &Path) -> Self {
        self.folder = folder.to_owned();
        self.files().folder = folder.to_owned();
        self
    }

    pub(super) fn files(&self) -> MutexGuard<'_, OpenFiles> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the conversation begins: a root of another program, if there is one that is not made of our
    /// events, and the last event before it. `true` if nobody noticed it before.
    fn base(&self, files: &mut OpenFiles) -> Result<(Option<Base>, bool), StoreError> {
        if let Some(journal) = files.journal(&self.session, Make::Never)? {
            let known: Option<String> = journal.get("fingerprint")?;
            if known.is_some() && known == blobs::fingerprint(&self.folder) {
                return Ok((journal.get::<Option<Base>>("base")?.flatten(), false));
            }
        }
        let Some(blobs) = files.blobs(Make::Never)? else { return Ok((None, false)) };
        let Some(latest) = blobs.latest()? else { return Ok((None, false)) };
        let Some(journal) = files.journal(&self.session, Make::Never)? else {
            return Ok((Some(Base::new(&latest, 0)), true));
        };
        if journal.folded(&latest)?.is_some() {
            return Ok((journal.get::<Option<Base>>("base")?.flatten(), false));
        }
        Ok((Some(Base::new(&latest, journal.last_folded()?)), true))
    }

    fn read_messages(&self, files: &mut OpenFiles, upto: u64) -> Result<Vec<Message>, StoreError> {
        let (base, _) = self.base(files)?;
        let base = base.filter(|base| upto >= base.seq);
        let mut list = Vec::new();
        if let (Some(base), Some(blobs)) = (&base, files.blobs(Make::Never)?)
            && let Some(root) = reference_of(&base.root)
        {
            for (place, reference) in blobs.root(&root)?.messages.iter().enumerate() {
                let bytes = blobs.get(reference)?.unwrap_or_default();
                list.extend(messages::decode(&bytes, place));
            }
        }
        if let Some(journal) = files.journal(&self.session, Make::Never)? {
            let mut transcript = Transcript::default();
            journal.each(base.map_or(0, |base| base.seq), upto, |event| {
                transcript.apply(&event, &mut list);
                Ok(())
            })?;
        }
        Ok(list)
    }

    fn count(&self, files: &mut OpenFiles, state: &mut ChatState) -> Result<(), StoreError> {
        let messages = self.read_messages(files, u64::MAX)?;
        state.bytes = messages.iter().map(message_bytes).sum();
        Ok(())
    }

    fn caught_up(&self, files: &mut OpenFiles) -> Result<ChatState, StoreError> {
        let is_held = files.held.strong_count() > 0;
        let (_, is_new) = self.base(files)?;
        let title = Meta::read(&self.folder).and_then(|meta| meta.title).unwrap_or_default();
        let Some(journal) = files.journal(&self.session, Make::Never)? else {
            let mut state = ChatState { title, ..ChatState::default() };
            if is_new {
                self.count(files, &mut state)?;
            }
            return Ok(state);
        };
        let mut kept: ChatState = journal.get("state")?.unwrap_or_default();
        kept.shell = journal.get("shell")?.unwrap_or_default();
        kept.seen = journal.seen()?.into_iter().collect();
        let (shell, seen) = (kept.shell.clone(), kept.seen.clone());
        let mut catch_up = CatchUp::new(kept);
        let after = catch_up.state.last_seq;
        journal.each(after, u64::MAX, |event| {
            catch_up.apply(&event);
            Ok(())
        })?;
        // Without the hold, the turn that has no end may be another process's, and go on.
        let closing = if is_held { catch_up.closing(&self.session) } else { Vec::new() };
        closing.iter().for_each(|event| catch_up.apply(event));
        if !closing.is_empty() {
            journal.write(&Entry { events: &closing, ..Entry::default() }, Survives::PowerLoss)?;
        }
        (files.shell, files.seen) = (shell, seen);
        let mut state = catch_up.state;
        if state.title.is_empty() {
            state.title = title;
        }
        if catch_up.recount || is_new {
            self.count(files, &mut state)?;
        }
        if !closing.is_empty() {
            self.finish(files, &state)?;
        }
        Ok(state)
    }

    /// What `meta.json` says; made from what another program left when there is none.
    fn described(&self, files: &mut OpenFiles, now_ms: u64) -> Result<Meta, StoreError> {
        if let Some(meta) = Meta::read(&self.folder) {
            return Ok(meta);
        }
        let mut meta = Meta::new(&self.cwd, now_ms);
        if let Some(blobs) = files.blobs(Make::Never)? {
            meta.title = blobs.name()?;
            let about = blobs.about()?.unwrap_or_default();
            meta.created_at_ms = about.get("createdAt").and_then(Value::as_u64).unwrap_or(now_ms);
        }
        Ok(meta)
    }

    /// Keeps `meta.json` true between the ends of turns: a first prompt, and another title.
    fn announce(&self, files: &mut OpenFiles, events: &[Stamped]) -> Result<(), StoreError> {
        for stamped in events.iter().filter(|event| event.under.is_none()) {
            let title = match &stamped.event {
                Event::Prompted { content } if !files.named => title_of(&plain(content)),
                Event::Configured { change: Change::Title { title } } => title.clone(),
                _ => continue,
            };
            let mut meta = self.described(files, stamped.at_ms)?;
            let prompted = matches!(stamped.event, Event::Prompted { .. });
            if prompted && meta.has_conversation == Some(true) {
                files.named = true;
                continue;
            }
            if !prompted || meta.title.is_none() {
                meta.title = Some(title).filter(|title| !title.is_empty());
            }
            if prompted {
                meta.has_conversation = Some(true);
            }
            meta.updated_at_ms = stamped.at_ms;
            meta.write(&self.folder)?;
            files.named |= prompted;
        }
        Ok(())
    }
}

/// The lock of a chat's folder.
struct TurnLock {
    file: File,
    _held: Arc<()>,
}

impl Drop for TurnLock {
    fn drop(&mut self) {
        // Closing is not enough: a child that is being started has the file too, until it is another program.
        flock(&self.file, FlockOperation::Unlock).ok();
    }
}

/// Runs `work`; lets go of the databases when it could not be done.
pub(super) fn guarded<T>(
    chat: &DiskChat,
    work: impl FnOnce(&mut OpenFiles) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let mut files = chat.files();
    let done = work(&mut files);
    if done.is_err() {
        files.close();
    }
    done
}

impl Chat for DiskChat {
    fn hold(&self) -> Result<Option<Hold>, StoreError> {
        make_folder(&self.folder)?;
        let path = self.folder.join("turn.lock");
        let file = open_private(&path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {
                let held = Arc::new(());
                self.files().held = Arc::downgrade(&held);
                Ok(Some(Hold(Box::new(TurnLock { file, _held: held }))))
            }
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(refused(&path, &error.into())),
        }
    }

    fn state(&self) -> Result<ChatState, StoreError> {
        guarded(self, |files| self.caught_up(files))
    }

    fn append(&self, events: &[Stamped]) -> Result<(), StoreError> {
        guarded(self, |files| {
            if let Some(journal) = files.journal(&self.session, Make::IfMissing)? {
                journal.write(&Entry { events, ..Entry::default() }, Survives::PowerLoss)?;
            }
            self.announce(files, events)
        })
    }

    fn events(&self, after: u64) -> Result<Vec<Stamped>, StoreError> {
        guarded(self, |files| {
            let mut events = Vec::new();
            if let Some(journal) = files.journal(&self.session, Make::Never)? {
                journal.each(after, u64::MAX, |event| {
                    events.push(event);
                    Ok(())
                })?;
            }
            Ok(events)
        })
    }

    fn messages(&self, upto: u64) -> Result<Vec<Message>, StoreError> {
        guarded(self, |files| self.read_messages(files, upto))
    }

    fn end_turn(&self, state: &ChatState) -> Result<(), StoreError> {
        guarded(self, |files| self.finish(files, state))
    }

    fn folder(&self) -> Option<&Path> {
        Some(&self.folder)
    }
}
