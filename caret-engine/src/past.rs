//! The conversation before this turn, loaded only when a model wants it.

use crate::model::{ModelError, Past};
use crate::store::Chat;
use caret_protocol::transcript::Message;
use std::sync::{Arc, OnceLock};

/// A chat's older messages.
pub(crate) struct ChatPast {
    chat: Arc<dyn Chat>,
    /// The last event that belongs to the past.
    upto: u64,
    bytes: u64,
    messages: OnceLock<Result<Vec<Message>, String>>,
}

impl ChatPast {
    pub(crate) fn new(chat: Arc<dyn Chat>, upto: u64, bytes: u64) -> Self {
        Self { chat, upto, bytes, messages: OnceLock::new() }
    }

    /// The past of the next turn, when nobody else was in the chat meanwhile.
    pub(crate) fn after(self, turn: Vec<Message>, upto: u64, bytes: u64) -> Self {
        let next = Self::new(self.chat, upto, bytes);
        if let Some(Ok(mut messages)) = self.messages.into_inner() {
            messages.extend(turn);
            // The cell was made just now.
            next.messages.set(Ok(messages)).ok();
        }
        next
    }

    /// The last event that belongs to the past.
    pub(crate) fn upto(&self) -> u64 {
        self.upto
    }
}

impl Past for ChatPast {
    fn messages(&self) -> Result<&[Message], ModelError> {
        let load = || self.chat.messages(self.upto).map_err(|error| error.to_string());
        match self.messages.get_or_init(load) {
            Ok(messages) => Ok(messages),
            Err(message) => Err(ModelError::Store(message.clone())),
        }
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }
}
