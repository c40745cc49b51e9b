//! What a script looks at in a request.
//!
//! The same script answers inside the process and over a wire, so it must not care where a request comes from.

use crate::model::{ModelError, Request};
use caret_protocol::content::{Content, plain};
use caret_protocol::transcript::Message;

/// A request, as a script sees it.
pub(crate) trait Asked {
    /// The newest words of the user.
    fn user(&self) -> String;
    /// Whether these words are new, and not answered by a call already.
    fn is_fresh(&self) -> bool;
    /// The workspace.
    fn cwd(&self) -> String;
    /// The names of the tools that are offered.
    fn tools(&self) -> Vec<&str>;
    /// What the newest tool result says.
    fn last_result(&self) -> Option<String>;
    /// What the newest call with this id gave back.
    ///
    /// # Errors
    /// When the stored conversation cannot be read.
    fn result(&self, id: &str) -> Result<Option<String>, ModelError>;
}

impl Asked for Request<'_> {
    fn user(&self) -> String {
        let said = self.messages.iter().rev().find_map(|message| match message {
            Message::User { content, .. } => Some(content.as_slice()),
            _ => None,
        });
        plain(said.unwrap_or(&[] as &[Content]))
    }

    fn is_fresh(&self) -> bool {
        matches!(self.messages.last(), Some(Message::User { .. }))
    }

    fn cwd(&self) -> String {
        self.cwd.to_string_lossy().into_owned()
    }

    fn tools(&self) -> Vec<&str> {
        self.tools.iter().map(|tool| tool.name).collect()
    }

    fn last_result(&self) -> Option<String> {
        self.messages.iter().rev().find_map(|message| match message {
            Message::Tool { text, .. } => Some(text.clone()),
            _ => None,
        })
    }

    fn result(&self, id: &str) -> Result<Option<String>, ModelError> {
        match result_of(self.messages, id) {
            Some(text) => Ok(Some(text)),
            // Only a result of an earlier turn is worth loading the past for.
            None => Ok(result_of(self.past.messages()?, id)),
        }
    }
}

fn result_of(messages: &[Message], id: &str) -> Option<String> {
    messages.iter().rev().find_map(|message| match message {
        Message::Tool { call, text, .. } => is_call(call.as_str(), id).then(|| text.clone()),
        _ => None,
    })
}

/// Whether a call has the id that a script wrote; repetitions have it with a number behind.
pub(crate) fn is_call(call: &str, id: &str) -> bool {
    let Some(rest) = call.strip_prefix(id) else { return false };
    let counted = rest.split('_').skip(1).all(|part| {
        let digits = part.strip_prefix("lap").unwrap_or(part);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    });
    rest.is_empty() || rest.starts_with('_') && counted
}
