//! What is kept: sessions on disk, appended to, listed, read back. Nothing is updated in place.
//!
//! The traits speak of events; how a chat folder encodes them is this folder's own business.

mod blobs;
mod copies;
mod disk;
mod events;
mod fold;
mod layout;
mod listing;
mod memory;
mod messages;
mod meta;
mod nodes;
mod protobuf;
mod recovery;
mod search;
mod sqlite;
mod transcripts;
mod turn_end;

#[cfg(test)]
mod tests;

pub use disk::{DiskStore, StoreSettings};
pub use layout::{project_id, slug};
pub use listing::FindError;
pub use memory::MemoryStore;
pub use search::{Hit, Place};

use caret_protocol::agent::SessionSummary;
use caret_protocol::content::Block;
use caret_protocol::details::Todo;
use caret_protocol::event::Stamped;
use caret_protocol::ids::SessionId;
use caret_protocol::transcript::{Message, plain};
use caret_protocol::workspace::{ShellState, Stamp};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Sessions on disk.
pub trait Store: Send + Sync {
    /// Opens a chat, or makes an empty one under this id.
    fn open(&self, cwd: &Path, session: &SessionId) -> Result<Arc<dyn Chat>, StoreError>;
    /// The chats of one folder, or of all, newest first; at most `most`.
    fn list(&self, which: Which<'_>, most: usize) -> Result<Vec<SessionSummary>, StoreError>;
}

/// Which chats to list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Which<'a> {
    /// Those of one workspace.
    Of(&'a Path),
    /// Those of all workspaces.
    All,
}

/// One chat on disk. Many processes may have it open; only one at a time is inside a turn.
pub trait Chat: Send + Sync {
    /// Takes the chat for one turn, if nobody else has it. Dropping the hold gives it back; so does dying.
    fn hold(&self) -> Result<Option<Hold>, StoreError>;
    /// What is needed to go on, as it is now. While this chat is held, a turn whose process died is ended
    /// first: its running calls as unknown, those that never began as cancelled, the turn as interrupted.
    fn state(&self) -> Result<ChatState, StoreError>;
    /// Records events in one transaction that survives power loss.
    fn append(&self, events: &[Stamped]) -> Result<(), StoreError>;
    /// All recorded events with a larger number than `after`, in order.
    fn events(&self, after: u64) -> Result<Vec<Stamped>, StoreError>;
    /// The conversation as a model sees it, oldest first, up to and including event `upto`.
    fn messages(&self, upto: u64) -> Result<Vec<Message>, StoreError>;
    /// Called after `TurnEnded` was appended: keeps `state`, and writes what other programs read
    /// (the documented store, `meta.json`, the transcript).
    fn end_turn(&self, state: &ChatState) -> Result<(), StoreError>;
    /// The folder of the chat, if it is on disk.
    fn folder(&self) -> Option<&Path>;
}

/// Keeps other processes out of a chat until it is dropped.
pub struct Hold(pub Box<dyn Send + Sync>);

/// What a session needs to go on without reading its whole history.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChatState {
    /// The number of the last event.
    pub last_seq: u64,
    /// How many turns were started.
    pub turns: u64,
    /// About how many bytes the conversation has for a model.
    pub bytes: u64,
    /// The title.
    pub title: String,
    /// The task list.
    pub todos: Vec<Todo>,
    /// The shell's directory and environment; absent until a command ran.
    pub shell: Option<ShellState>,
    /// The files that were read, as they were.
    pub seen: HashMap<PathBuf, Stamp>,
    /// The model last used.
    pub model: String,
    /// What all turns with a known price cost together, in US dollars.
    pub cost_usd: f64,
    /// How many turns have no known cost.
    pub unpriced_turns: u64,
}

impl ChatState {
    /// Counts what a turn cost.
    pub fn spend(&mut self, cost_usd: Option<f64>) {
        match cost_usd {
            Some(cost) => self.cost_usd += cost,
            None => self.unpriced_turns += 1,
        }
    }
}

/// About how many bytes a message has for a model; what [`ChatState::bytes`] is the sum of.
pub fn message_bytes(message: &Message) -> u64 {
    let bytes = match message {
        Message::Assistant { reply } => reply.blocks.iter().map(block_bytes).sum(),
        other => plain(other).len(),
    };
    bytes as u64
}

fn block_bytes(block: &Block) -> usize {
    match block {
        Block::Text { text } | Block::Thinking { text, .. } => text.len(),
        Block::Call { call } => call.name.len() + call.input.to_string().len(),
        Block::Opaque { raw, .. } => raw.to_string().len(),
        _ => 0,
    }
}

/// Why a session could not be kept or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no such chat.
    #[error("there is no chat `{0}` here")]
    Missing(SessionId),
    /// The id cannot name a chat.
    #[error("`{0}` cannot be the id of a chat: use letters, digits and `-`")]
    BadId(SessionId),
    /// There is such a chat already.
    #[error("there is a chat `{0}` already")]
    Exists(SessionId),
    /// Somebody is inside a turn of it.
    #[error("the chat `{0}` is in use; end that session first")]
    Busy(SessionId),
    /// A newer program wrote it.
    #[error("{path} was written by a newer version (format {found}); update caret to open it")]
    TooNew {
        /// Which file.
        path: String,
        /// Its format.
        found: i64,
    },
    /// The file is not what it should be.
    #[error("{path} is damaged: {message}")]
    Damaged {
        /// Which file.
        path: String,
        /// What is wrong.
        message: String,
    },
    /// No space is left.
    #[error("the disk is full: {path} could not be written; free some space and resume, or use --no-save")]
    Full {
        /// Which file.
        path: String,
    },
    /// The system refused.
    #[error("{path}: {message}")]
    Io {
        /// Which file.
        path: String,
        /// What the system said.
        message: String,
    },
}
