//! Who talks to whom: a host prompts an agent, the agent answers with events and asks.
//!
//! The shape is ACP's own without the wire. Our engine and another agent's process are both an [`Agent`];
//! a front end cannot tell which, and does not need to.

use crate::ask::{Answer, Ask};
use crate::claim::CommandLine;
use crate::content::Content;
use crate::event::{Change, Stamped, TurnEnd};
use crate::ids::{SessionId, TurnId};
use async_trait::async_trait;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Somebody who can be prompted: our engine, or another agent's process.
#[async_trait]
pub trait Agent: Send + Sync {
    /// What it calls itself.
    fn about(&self) -> &About;
    /// Opens a session, new or again.
    async fn open(&self, open: Open, host: Arc<dyn Host>) -> Result<Box<dyn Session>, AgentError>;
    /// The sessions of a folder, newest first.
    async fn list(&self, cwd: &Path) -> Result<Vec<SessionSummary>, AgentError>;
}

/// One conversation with an [`Agent`]. One turn at a time: `prompt` borrows it.
#[async_trait]
pub trait Session: Send {
    /// Its id.
    fn id(&self) -> &SessionId;
    /// Runs one turn to its end, whatever that is.
    async fn prompt(&mut self, prompt: Prompt, control: TurnControl) -> TurnEnd;
    /// Changes mode, model or title for the turns to come.
    async fn configure(&mut self, change: Change) -> Result<(), AgentError>;
    /// Forgets the last turns. Many agents cannot.
    async fn rewind(&mut self, _turns: usize) -> Result<(), AgentError> {
        Err(AgentError::Unsupported("rewind"))
    }
    /// Ends what the session left running. No event comes after it returns.
    async fn close(&mut self) {}
}

/// Whoever prompts an [`Agent`]: it hears events, answers asks, lends a workspace.
///
/// Calls arrive in order and are awaited, so a slow host slows the agent and
/// an ask never overtakes the event that announced its call.
#[async_trait]
pub trait Host: Send + Sync {
    /// Something happened.
    async fn event(&self, event: &Stamped);
    /// Something has to be decided.
    async fn ask(&self, ask: &Ask) -> Answer;
    /// Where files are and commands run.
    fn workspace(&self) -> Arc<dyn Workspace>;
}

/// Files and processes, wherever they are: here, in a sandbox, or in the editor.
#[async_trait]
pub trait Workspace: Send + Sync {
    /// The physical root folder.
    fn root(&self) -> &Path;
    /// Some lines of a text file, in bounded memory.
    async fn read(&self, path: &Path, lines: Lines) -> io::Result<Excerpt>;
    /// A whole file, to be changed.
    async fn load(&self, path: &Path) -> io::Result<Loaded>;
    /// Replaces or creates a file in one step, with its folders; what was there keeps its mode.
    ///
    /// With `expected`, nothing is written unless the file still has that stamp.
    async fn save(&self, path: &Path, bytes: &[u8], expected: Option<Stamp>) -> io::Result<Stamp>;
    /// Deletes a file; says how long it was.
    async fn remove(&self, path: &Path) -> io::Result<u64>;
    /// Runs a command until it ends, moves to the background, or is cancelled.
    async fn run(&self, run: Run<'_>, cancel: &CancellationToken) -> io::Result<Ran>;
    /// Ends what commands left running.
    async fn close(&self) {}
}

/// Which lines of a file are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    /// The first, from 1; a negative number counts from the end.
    pub start: i64,
    /// How many at the most.
    pub count: u64,
    /// How many bytes at the most.
    pub bytes: usize,
}

/// A part of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Excerpt {
    /// The bytes of the lines, with their line endings.
    pub bytes: Vec<u8>,
    /// The first line, from 1.
    pub start_line: u64,
    /// The last line.
    pub end_line: u64,
    /// The pieces of a split at `\n`.
    pub total_lines: u64,
    /// In bytes.
    pub file_size: u64,
    /// Cut at `Lines::bytes`.
    pub cut: bool,
    /// The file has NUL bytes near its beginning.
    pub binary: bool,
    /// The file as it was.
    pub stamp: Stamp,
}

/// A whole file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loaded {
    /// All of it.
    pub bytes: Vec<u8>,
    /// The file as it was.
    pub stamp: Stamp,
}

/// Tells whether a file is still the one that was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Stamp {
    /// In bytes.
    pub size: u64,
    /// Nanoseconds since 1970.
    pub modified_ns: i128,
    /// The inode.
    pub inode: u64,
}

/// A command to run, and who hears its output.
pub struct Run<'a> {
    /// The command.
    pub command: &'a CommandLine,
    /// The shell state of the chat it runs in; changed by the command.
    pub shell: &'a ShellState,
    /// Names and values that are set for the command besides the shell state.
    pub environment: &'a [(String, String)],
    /// Where the output is kept when it is long or goes on in the background.
    pub output_file: PathBuf,
    /// Bytes of output kept in memory.
    pub keep_bytes: usize,
    /// Hears output as it comes.
    pub output: &'a (dyn Fn(&str) + Send + Sync),
}

/// What one command leaves for the next: the directory and the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ShellState {
    /// Where the next command starts.
    pub cwd: PathBuf,
    /// The whole exported environment; absent until a command ran.
    pub environment: Option<Vec<(String, String)>>,
}

/// How a command went.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// How it ended, if it did.
    pub exit: Exit,
    /// What it wrote, cut in the middle if long.
    pub stdout: Vec<u8>,
    /// What it complained, cut in the middle if long.
    pub stderr: Vec<u8>,
    /// Both in the order they came, cut in the middle if long.
    pub interleaved: Vec<u8>,
    /// All bytes it wrote, kept or not.
    pub total_bytes: u64,
    /// Where the whole output is, if it did not fit.
    pub output_file: Option<PathBuf>,
    /// Wall time.
    pub elapsed_ms: u64,
    /// What it leaves for the next command; absent when it did not say.
    pub shell: Option<ShellState>,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// It goes on in the background, as this process group.
    Background(u32),
    /// The turn was cancelled; nothing of it is left.
    Cancelled,
}

/// What a host prompts with.
#[derive(Clone, Debug, PartialEq)]
pub struct Prompt {
    /// Names the turn.
    pub turn: TurnId,
    /// What the user says.
    pub content: Vec<Content>,
}

/// What whoever prompted can do to a running turn.
#[derive(Clone)]
pub struct TurnHandle {
    /// Ends the turn.
    pub cancel: CancellationToken,
    /// Says more to the running turn. Unbounded on purpose: a person types into it.
    pub say: mpsc::UnboundedSender<Vec<Content>>,
}

/// The agent's half of a [`TurnHandle`].
pub struct TurnControl {
    /// Told to end.
    pub cancel: CancellationToken,
    /// What was said meanwhile.
    pub said: mpsc::UnboundedReceiver<Vec<Content>>,
}

/// The two halves of a turn's control.
pub fn turn() -> (TurnHandle, TurnControl) {
    let (say, said) = mpsc::unbounded_channel();
    let cancel = CancellationToken::new();
    (TurnHandle { cancel: cancel.clone(), say }, TurnControl { cancel, said })
}

/// What an agent calls itself.
#[derive(Clone, Debug, PartialEq)]
pub struct About {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// Which session to open.
#[derive(Clone, Debug, PartialEq)]
pub struct Open {
    /// The physical workspace path.
    pub cwd: PathBuf,
    /// The session; a well-formed id that is not there yet starts a new one under it.
    pub session: SessionId,
    /// The title of a new session.
    pub title: Option<String>,
}

/// One line of a list of sessions.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionSummary {
    /// Its id.
    pub session: SessionId,
    /// Its workspace.
    pub cwd: PathBuf,
    /// Its title.
    pub title: String,
    /// Milliseconds since 1970.
    pub created_ms: u64,
    /// Milliseconds since 1970.
    pub updated_ms: u64,
    /// Whether anything was ever said in it.
    pub has_conversation: bool,
}

/// Why an agent cannot do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// It never can.
    #[error("this agent does not support {0}")]
    Unsupported(&'static str),
    /// There is no such session.
    #[error("there is no session `{0}`")]
    NoSession(SessionId),
    /// The session's files cannot be used.
    #[error("{0}")]
    Store(String),
    /// Anything else.
    #[error("{0}")]
    Other(String),
}
