//! What the model can call: one file per tool, its description beside it as `.md`.
//!
//! A tool sees a workspace, what it may remember between calls, and a cancel token; never the session,
//! the host or the model. Its failure is data for the model and never ends the turn.

mod apply_patch;
mod ask_question;
mod delete;
mod edit;
mod glob;
mod grep;
mod input;
mod ls;
mod multi_str_replace;
mod place;
mod read;
mod read_report;
mod read_todos;
mod search;
mod shell;
mod str_replace;
#[cfg(test)]
mod test_support;
#[cfg(test)]
mod tests;
mod text;
mod tiny;
mod todo_write;
mod walk;
mod write;

use crate::mutex::lock;
use crate::permission::{Grant, Hidden};
use async_trait::async_trait;
use caret_protocol::claim::Claim;
use caret_protocol::content::{Failure, ToolOutput};
use caret_protocol::details::Todo;
use caret_protocol::event::Mode;
use caret_protocol::ids::{CallId, SessionId};
use caret_protocol::workspace::{ShellState, Stamp, Workspace};
use serde_json::Value;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

/// The tools for files and for the task list, sorted by name.
pub fn all() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(apply_patch::ApplyPatch::default()),
        Arc::new(ask_question::AskQuestion::default()),
        Arc::new(delete::Delete::default()),
        Arc::new(glob::Glob::default()),
        Arc::new(grep::Grep::default()),
        Arc::new(ls::Ls::default()),
        Arc::new(multi_str_replace::MultiStrReplace::default()),
        Arc::new(read::Read::default()),
        Arc::new(read_todos::ReadTodos::default()),
        Arc::new(shell::Shell::default()),
        Arc::new(str_replace::StrReplace::default()),
        Arc::new(todo_write::TodoWrite::default()),
        Arc::new(write::Write::default()),
    ]
}

/// Something the model can call.
#[async_trait]
pub trait Tool: Send + Sync {
    /// Its name, description and input schema.
    fn spec(&self) -> &ToolSpec;
    /// Says what `input` would touch. Pure: no files, no processes.
    fn claim(&self, input: &Value, place: &Place) -> Result<Claim, ToolError>;
    /// Does it.
    async fn run(&self, input: Value, grant: Grant, cx: ToolCx<'_>) -> Result<ToolOutput, ToolError>;
}

/// A tool as the model sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// `Read`, `Shell` and so on.
    pub name: &'static str,
    /// Prose from the tool's `.md` file.
    pub description: &'static str,
    /// A JSON schema of the input.
    pub input: Value,
    /// Whether it may be offered in read-only modes.
    pub read_only: bool,
}

/// How much a model is told about its tools and its work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Everything.
    #[default]
    Full,
    /// Five tools in few words, for models with a small context.
    Tiny,
}

/// The tools of a session.
pub struct Toolbox {
    tools: Vec<Arc<dyn Tool>>,
    full: Offer,
    tiny: Offer,
}

/// What a model is offered.
struct Offer {
    all: Vec<ToolSpec>,
    reading: Vec<ToolSpec>,
}

impl Offer {
    fn new(all: Vec<ToolSpec>) -> Self {
        let reading = all.iter().filter(|spec| spec.read_only).cloned().collect();
        Self { all, reading }
    }
}

impl Toolbox {
    /// These tools, in a fixed order, so that a request's beginning stays the same.
    pub fn new(mut tools: Vec<Arc<dyn Tool>>) -> Self {
        tools.sort_by_key(|tool| tool.spec().name);
        let full = Offer::new(tools.iter().map(|tool| tool.spec().clone()).collect());
        let tiny = Offer::new(tools.iter().filter_map(|tool| tiny::spec(tool.spec())).collect());
        Self { tools, full, tiny }
    }

    /// What the model is offered in a mode.
    pub fn specs(&self, mode: Mode, profile: Profile) -> &[ToolSpec] {
        let offer = match profile {
            Profile::Full => &self.full,
            Profile::Tiny => &self.tiny,
        };
        if mode == Mode::Agent { &offer.all } else { &offer.reading }
    }

    /// A tool by its name.
    pub fn find(&self, name: &str) -> Option<Arc<dyn Tool>> {
        self.tools.iter().find(|tool| tool.spec().name == name).cloned()
    }

    /// The names of all tools.
    pub fn names(&self) -> Vec<&'static str> {
        self.full.all.iter().map(|spec| spec.name).collect()
    }
}

/// Where a session is, for resolving paths without touching any.
#[derive(Clone, Debug)]
pub struct Place {
    /// The physical workspace root.
    pub root: PathBuf,
    /// Further folders that the user works in; physical.
    pub additional: Vec<PathBuf>,
    /// The shell's current directory.
    pub cwd: PathBuf,
    /// The user's home, for a leading `~/`.
    pub home: Option<PathBuf>,
    /// What searches and listings leave out.
    pub hidden: Hidden,
}

impl Place {
    /// Makes a path absolute against the workspace root and takes `.` and `..` out, without following links.
    pub fn resolve(&self, path: &str) -> PathBuf {
        let joined = match (path.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => self.root.join(path),
        };
        let mut resolved = PathBuf::new();
        for part in joined.components() {
            match part {
                std::path::Component::ParentDir => {
                    resolved.pop();
                }
                std::path::Component::CurDir => {}
                other => resolved.push(other),
            }
        }
        resolved
    }
}

/// What a running tool gets.
pub struct ToolCx<'a> {
    /// The call.
    pub call: &'a CallId,
    /// The session.
    pub session: &'a SessionId,
    /// Where it is.
    pub place: &'a Place,
    /// Files and processes.
    pub workspace: &'a dyn Workspace,
    /// What the session remembers.
    pub memory: &'a Memory,
    /// Names and values that commands get besides the shell's own.
    pub environment: &'a [(String, String)],
    /// Told to end.
    pub cancel: CancellationToken,
    /// Hears output as it comes.
    pub output: &'a (dyn Fn(&str) + Send + Sync),
    /// Milliseconds since 1970.
    pub now_ms: u64,
}

/// What a session's tools remember between calls and between runs.
#[derive(Debug, Default)]
pub struct Memory {
    /// The files that were read, as they were.
    pub seen: Mutex<HashMap<PathBuf, Stamp>>,
    /// What was in those that were read or written whole, so that a mere touch is no change.
    pub contents: Mutex<HashMap<PathBuf, u64>>,
    /// The task list.
    pub todos: Mutex<Vec<Todo>>,
    /// The shell's directory and environment.
    pub shell: Mutex<ShellState>,
    /// Where long outputs are kept.
    pub outputs: PathBuf,
}

impl Memory {
    /// Remembers a file as it was read or written. What was known of its contents is forgotten.
    pub fn saw(&self, path: &Path, stamp: Stamp) {
        let before = lock(&self.seen).insert(path.to_owned(), stamp);
        if before != Some(stamp) {
            lock(&self.contents).remove(path);
        }
    }

    /// Remembers the whole contents of a file that was just seen.
    pub fn knows(&self, path: &Path, bytes: &[u8]) {
        lock(&self.contents).insert(path.to_owned(), digest(bytes));
    }

    /// Whether a file still has the contents it had when it was seen whole.
    pub fn is_known(&self, path: &Path, bytes: &[u8]) -> bool {
        lock(&self.contents).get(path) == Some(&digest(bytes))
    }

    /// Forgets a file that is gone.
    pub fn forget(&self, path: &Path) {
        lock(&self.seen).remove(path);
        lock(&self.contents).remove(path);
    }

    /// A file as it was last read or written.
    pub fn seen(&self, path: &Path) -> Option<Stamp> {
        lock(&self.seen).get(path).copied()
    }
}

/// Tells contents apart that differ by accident; it keeps nobody out.
fn digest(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

/// Why a call could not be done. Goes to the model as data.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", .0.message())]
pub struct ToolError(pub Failure);

impl ToolError {
    /// An error with a message for the model: what happened and what to do.
    pub fn new(message: impl Into<String>) -> Self {
        Self(Failure::Error { message: message.into() })
    }
}
