//! Who answers: a language model behind one wire format.
//!
//! A model is a pure translation of a request into a stream of chunks. Putting a reply together is the
//! provider's work, so the loop never sees half a tool call.

pub mod http;
pub mod offline;
pub mod price;
pub mod record;
pub mod scripted;

use crate::tools::ToolSpec;
use caret_protocol::content::Reply;
use caret_protocol::event::{DeltaKind, FailureClass, Mode};
use caret_protocol::ids::{SessionId, TurnId};
use caret_protocol::transcript::Message;
use futures_util::stream::BoxStream;
use price::Price;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// A language model behind one wire format.
pub trait Model: Send + Sync {
    /// The id that `--model` takes, such as `offline`.
    fn id(&self) -> &str;
    /// The name that people read.
    fn name(&self) -> &str;
    /// What it costs, if that is known.
    fn price(&self) -> Option<Price> {
        None
    }
    /// How many tokens a conversation may have, if that is known.
    fn context_window(&self) -> Option<u64> {
        None
    }
    /// Streams a reply; the last chunk is `Done`. Dropping the stream cancels it.
    fn stream<'a>(&'a self, request: Request<'a>) -> BoxStream<'a, Result<Chunk, ModelError>>;
}

/// One piece of a reply that is being made.
#[derive(Clone, Debug, PartialEq)]
pub enum Chunk {
    /// More words.
    Delta(DeltaKind, String),
    /// The whole reply. Its `id` is set by the loop.
    Done(Reply),
}

/// What a model is asked.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The session, for ids that are stable over runs.
    pub session: &'a SessionId,
    /// The turn.
    pub turn: &'a TurnId,
    /// Which turn of the session this is, from 0.
    pub turn_number: u64,
    /// Which model call of this turn this is, from 0.
    pub step: u32,
    /// The workspace.
    pub cwd: &'a Path,
    /// What the session may do.
    pub mode: Mode,
    /// The instructions.
    pub system: &'a str,
    /// What can be called.
    pub tools: &'a [ToolSpec],
    /// The conversation before this turn; read only by models that need it.
    pub past: &'a dyn Past,
    /// This turn so far: the prompt first, then replies and results.
    pub messages: &'a [Message],
}

/// The conversation before this turn. Loading it costs time that grows with the chat.
pub trait Past: Send + Sync {
    /// All messages, oldest first; loaded at the first call and kept.
    fn messages(&self) -> Result<&[Message], ModelError>;
    /// About how many bytes the messages have, without loading them.
    fn bytes(&self) -> u64;
}

/// Which models there are.
pub trait Catalogue: Send + Sync {
    /// A model by the id that `--model` takes.
    ///
    /// # Errors
    /// Names near matches when there is no such model.
    fn find(&self, id: &str) -> Result<Arc<dyn Model>, ModelError>;
}

/// Why a model did not answer.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// It asks us to come back later.
    #[error("the model is busy: {message}")]
    Busy {
        /// When, if it said so.
        retry_after: Option<Duration>,
        /// What it said.
        message: String,
    },
    /// The connection died or the stream ended too early.
    #[error("the connection to the model broke: {0}")]
    Broken(String),
    /// The request was refused.
    #[error("{0}")]
    Refused(String),
    /// The conversation does not fit.
    #[error("the conversation is too long for `{0}`")]
    TooLong(String),
    /// Credentials are missing or wrong.
    #[error("not signed in: {0}")]
    Unauthorized(String),
    /// The stored conversation could not be read.
    #[error("{0}")]
    Store(String),
}

impl ModelError {
    /// What callers treat differently.
    pub fn class(&self) -> FailureClass {
        match self {
            Self::Busy { .. } | Self::Broken(_) => FailureClass::Unavailable,
            Self::Refused(_) | Self::TooLong(_) => FailureClass::Model,
            Self::Unauthorized(_) => FailureClass::Unauthorized,
            Self::Store(_) => FailureClass::Store,
        }
    }

    /// Whether the same request may work in a moment.
    pub fn is_passing(&self) -> bool {
        matches!(self, Self::Busy { .. } | Self::Broken(_))
    }
}
