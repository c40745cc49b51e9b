//! Who talks to whom: a host prompts an agent, the agent answers with events and asks.
//!
//! The shape is ACP's own without the wire. Our engine and another agent's process are both an [`Agent`];
//! a front end cannot tell which, and does not need to.

use crate::ask::{Answer, Ask};
use crate::content::Content;
use crate::event::{Change, Stamped, TurnEnd};
use crate::ids::{SessionId, TurnId};
use crate::workspace::Workspace;
use async_trait::async_trait;
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
