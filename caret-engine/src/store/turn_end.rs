//! What is written when a turn has ended: the state, the documented store, the transcript, `meta.json`.
//!
//! A root lists every message, so writing one at every turn would make long chats slow. In a long chat it
//! waits until it is worth it; what is not in a root yet is in our events.
//!
//! Invariant: the root that is about to be written is named in our file before the documented store has it.
//! So a root that is not named there was written by another program, whenever the power went.

use super::blobs::{self, Blobs, UNNAMED, Writing};
use super::disk::{DiskChat, OpenFiles, guarded};
use super::events::{Entry, Survives};
use super::fold::Fold;
use super::meta::{Meta, title_of};
use super::nodes::{Ref, Root, hex};
use super::sqlite::Make;
use super::transcripts::{self, Lines};
use super::{ChatState, StoreError, layout};
use caret_protocol::content::plain;
use caret_protocol::event::{Change, Event, Mode, Stamped};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// Up to so many messages the documented store is brought up to date at every turn.
const SHORT: u64 = 256;
/// In a longer chat, when one message of so many is not in it yet.
const SHARE: u64 = 16;

/// How far the files beside our events are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Marks {
    /// The last event that the transcript has.
    pub(super) written: u64,
    /// How many messages the last root has, about.
    pub(super) folded: u64,
    /// How many messages are not in it, about.
    pub(super) unfolded: u64,
    /// How many prompts the list of prompts has.
    pub(super) prompts: u64,
    /// The title, given or made.
    pub(super) title: String,
    /// The model in use.
    pub(super) model: String,
    /// The model in use when the last root was written.
    pub(super) folded_model: String,
    /// The mode.
    pub(super) mode: Mode,
    /// When the first and the last event happened.
    pub(super) created_ms: u64,
    pub(super) updated_ms: u64,
}

/// What another program wrote: a root that is not made of our events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Base {
    /// Its address, in hexadecimal digits.
    pub(super) root: String,
    /// The events up to this one are not needed beside it.
    pub(super) seq: u64,
}

impl Base {
    pub(super) fn new(root: &Ref, seq: u64) -> Self {
        Self { root: hex(root), seq }
    }
}

impl Marks {
    fn apply(&mut self, stamped: &Stamped) {
        if self.created_ms == 0 {
            self.created_ms = stamped.at_ms;
        }
        self.updated_ms = stamped.at_ms;
        if stamped.under.is_some() {
            return;
        }
        match &stamped.event {
            Event::Opened { opened } => {
                self.model.clone_from(&opened.model);
                self.mode = opened.mode;
            }
            Event::Prompted { content } if self.title.is_empty() => self.title = title_of(&plain(content)),
            Event::Configured { change: Change::Title { title } } => self.title.clone_from(title),
            Event::Configured { change: Change::Model { id, .. } } => self.model.clone_from(id),
            Event::Configured { change: Change::Mode { mode } } => self.mode = *mode,
            _ => {}
        }
    }

    fn is_due(&self) -> bool {
        let all = self.folded + self.unfolded;
        all <= SHORT || self.unfolded * SHARE >= all
    }
}

impl DiskChat {
    /// Writes everything that the end of a turn changes.
    pub(super) fn finish(&self, files: &mut OpenFiles, state: &ChatState) -> Result<(), StoreError> {
        let Some(journal) = files.journal(&self.session, Make::IfMissing)? else { return Ok(()) };
        let mut marks: Marks = journal.get("marks")?.unwrap_or_default();
        let known = Meta::read(&self.folder);
        if marks.title.is_empty() {
            marks.title = known.as_ref().and_then(|meta| meta.title.clone()).unwrap_or_default();
        }
        if marks.title.is_empty() {
            marks.title = files.blobs(Make::Never)?.map_or(Ok(None), Blobs::name)?.unwrap_or_default();
        }
        let Some(journal) = files.journal(&self.session, Make::Never)? else { return Ok(()) };
        let mut lines = Lines::default();
        journal.each(marks.written, u64::MAX, |event| {
            lines.apply(&event);
            marks.apply(&event);
            Ok(())
        })?;
        if !state.title.is_empty() {
            marks.title.clone_from(&state.title);
        }
        marks.written = journal.last_seq()?;
        marks.unfolded += lines.messages;
        marks.prompts = transcripts::remember(&self.folder, &lines.prompts, marks.prompts)?;
        transcripts::append(&self.transcripts, self.session.as_str(), &lines.transcript)?;
        self.keep(files, state, &mut marks)?;
        self.describe(known, &marks, lines.prompts.is_empty())
    }

    /// Brings the documented store up to date.
    pub(super) fn fold(&self) -> Result<(), StoreError> {
        guarded(self, |files| {
            let Some(journal) = files.journal(&self.session, Make::Never)? else { return Ok(()) };
            let mut marks: Marks = journal.get("marks")?.unwrap_or_default();
            if marks.created_ms == 0 {
                journal.each(0, 1, |event| {
                    marks.created_ms = event.at_ms;
                    Ok(())
                })?;
            }
            self.write_root(files, Entry::default(), &mut marks)
        })
    }

    /// Writes the state, with a new root if it is time.
    fn keep(&self, files: &mut OpenFiles, state: &ChatState, marks: &mut Marks) -> Result<(), StoreError> {
        let seen = std::mem::take(&mut files.seen);
        let shell = files.shell.take();
        let Some(journal) = files.journal(&self.session, Make::Never)? else { return Ok(()) };
        let mut entry = Entry::default();
        let changed = |(path, stamp): &(_, _)| seen.get(*path) != Some(*stamp);
        entry.seen =
            state.seen.iter().filter(changed).map(|(path, stamp)| (path.as_path(), *stamp)).collect();
        let gone = seen.keys().filter(|path| !state.seen.contains_key(*path));
        entry.forgotten = gone.map(std::path::PathBuf::as_path).collect();
        if shell != state.shell {
            entry.state.push(("shell", journal.json(&state.shell)?));
        }
        // The two large parts are written by themselves, when they change.
        let small = ChatState {
            last_seq: state.last_seq,
            turns: state.turns,
            bytes: state.bytes,
            title: state.title.clone(),
            todos: state.todos.clone(),
            model: state.model.clone(),
            cost_usd: state.cost_usd,
            unpriced_turns: state.unpriced_turns,
            ..ChatState::default()
        };
        entry.state.push(("state", journal.json(&small)?));
        if self.settings.exact_root || marks.is_due() {
            self.write_root(files, entry, marks)?;
        } else {
            entry.state.push(("marks", journal.json(marks)?));
            journal.write(&entry, Survives::Death)?;
        }
        files.seen.clone_from(&state.seen);
        files.shell.clone_from(&state.shell);
        Ok(())
    }

    fn write_root(
        &self,
        files: &mut OpenFiles,
        mut entry: Entry<'_>,
        marks: &mut Marks,
    ) -> Result<(), StoreError> {
        files.blobs(Make::IfMissing)?;
        let Some((journal, store)) = files.both() else { return Ok(()) };
        let writing = store.begin()?;
        let latest = store.latest()?;
        let (last, after) = match &latest {
            None => {
                entry.state.push(("base", journal.json(&None::<Base>)?));
                (Root::default(), 0)
            }
            Some(latest) => match journal.folded(latest)? {
                Some(seq) => (store.root(latest)?, seq),
                None => {
                    let seq = journal.last_folded()?;
                    entry.state.push(("base", journal.json(&Some(Base::new(latest, seq)))?));
                    (store.root(latest)?, seq)
                }
            },
        };
        let upto = journal.last_settled(after)?;
        if upto > after {
            let model = std::mem::replace(&mut marks.folded_model, marks.model.clone());
            let mut fold = Fold::new(&writing, last, model)?;
            journal.each(after, upto, |event| fold.apply(&event))?;
            let root = self.completed(fold.finish()?, marks);
            marks.folded = root.messages.len() as u64;
            marks.unfolded = 0;
            let reference = writing.put(&root.encode())?;
            self.name_root(&writing, &reference, marks)?;
            entry.root = Some((upto, reference));
        }
        entry.state.push(("marks", journal.json(marks)?));
        journal.write(&entry, Survives::PowerLoss)?;
        writing.commit()?;
        let fingerprint = journal.json(&blobs::fingerprint(&self.folder))?;
        let entry = Entry { state: vec![("fingerprint", fingerprint)], ..Entry::default() };
        journal.write(&entry, Survives::Death)
    }

    /// A root with everything but its lists.
    fn completed(&self, mut root: Root, marks: &Marks) -> Root {
        let workspace = layout::uri(&self.cwd);
        if !root.workspaces.contains(&workspace) {
            root.workspaces.push(workspace);
        }
        root.client.get_or_insert_with(|| self.settings.client.to_owned());
        root.created_ms.get_or_insert(marks.created_ms);
        root.time_zone.get_or_insert_with(|| self.settings.time_zone.clone());
        root
    }

    /// Makes a root the newest one.
    fn name_root(&self, writing: &Writing<'_>, root: &Ref, marks: &Marks) -> Result<(), StoreError> {
        let mut about = writing.blobs().about()?.unwrap_or_default();
        let name = if marks.title.is_empty() { UNNAMED } else { &marks.title };
        default(&mut about, "agentId", json!(self.session.as_str()));
        about.insert("latestRootBlobId".into(), json!(hex(root)));
        about.insert("name".into(), json!(name));
        if marks.mode == Mode::Plan {
            about.insert("mode".into(), json!("plan"));
        } else if matches!(about.get("mode").and_then(Value::as_str), None | Some("plan")) {
            about.insert("mode".into(), json!("default"));
        }
        default(&mut about, "createdAt", json!(marks.created_ms));
        if !marks.model.is_empty() {
            about.insert("lastUsedModel".into(), json!(marks.model));
        }
        default(&mut about, "isRunEverything", json!(false));
        writing.describe(&about)
    }

    fn describe(&self, known: Option<Meta>, marks: &Marks, is_silent: bool) -> Result<(), StoreError> {
        let mut meta = known.unwrap_or_else(|| Meta::new(&self.cwd, marks.created_ms));
        meta.updated_at_ms = marks.updated_ms;
        if !is_silent {
            meta.has_conversation = Some(true);
        }
        if !marks.title.is_empty() {
            meta.title = Some(marks.title.clone());
        }
        meta.write(&self.folder)
    }
}

fn default(about: &mut Map<String, Value>, key: &str, value: Value) {
    about.entry(key).or_insert(value);
}
