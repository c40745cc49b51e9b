//! Models behind HTTP: one file per wire format, on one transport and one event-stream reader.
//!
//! A family is a pure translation in two directions: a request becomes a body, and the events of the
//! answer become chunks. Connecting, waiting, statuses and faults are the transport's work, above the
//! families, so that every family has the same manners.

mod asked;
mod body;
mod call_ids;
pub mod chat;
pub mod endpoint;
mod errors;
mod estimate;
mod fault;
pub mod gemini;
mod history;
pub mod messages;
pub mod mock;
pub mod models;
mod origin;
mod partial_call;
pub mod provider;
pub mod proxies;
mod rescue;
pub mod responses;
mod retry_hint;
mod said;
pub mod secret;
mod site;
mod sse;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_families;
pub mod transport;

pub use asked::PrintedCalls;
pub use call_ids::IdShape;
pub use fault::fault_in_text;

use super::price::Price;
use super::{Chunk, ModelError, Request};
use caret_protocol::content::Reply;
use chat::{Chat, Dialect};
use gemini::Gemini;
use messages::Messages;
use responses::Responses;
use serde_json::Value;

/// What a family is told about the model it speaks to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Target {
    /// The id that the server knows.
    pub model: String,
    /// The most tokens of one answer.
    pub max_output: u64,
    /// `low`, `medium`, `high` and so on, if the user or the catalogue says.
    pub effort: Option<String>,
    /// Whether the model takes pictures.
    pub images: bool,
    /// Whether thinking may be asked for and shown.
    pub thinking: bool,
    /// Merged into the body last, over everything else.
    pub extra_body: serde_json::Map<String, Value>,
    /// What it costs, if the catalogue knows.
    pub price: Option<Price>,
    /// How many tokens a conversation may have, if the catalogue or the server says.
    pub context_window: Option<u64>,
}

/// One wire format.
pub trait Family: Send + Sync {
    /// Its name in `Block::Opaque::family`: `chat`, `responses`, `messages` or `gemini`.
    fn name(&self) -> &'static str;
    /// The path below the base address, with its query.
    fn path(&self, target: &Target) -> String;
    /// The body. Keys in a fixed order; the body of step n+1 begins like that of step n wherever the
    /// format allows it.
    ///
    /// # Errors
    /// When the stored conversation cannot be read.
    fn body(&self, target: &Target, request: &Request<'_>) -> Result<Value, ModelError>;
    /// A reader for the answer to one request.
    fn reader(&self, target: &Target, request: &Request<'_>) -> Box<dyn Reader>;
}

/// The names that [`family`] knows.
pub const FAMILIES: [&str; 9] = [
    "chat",
    "chat-openai",
    "chat-mistral",
    "chat-deepseek",
    "responses",
    "responses-local",
    "messages",
    "messages-local",
    "gemini",
];

/// A wire format by its name in a configuration.
///
/// `chat` suits servers that nobody knows; `chat-openai` and the like suit these vendors. The `-local` ones
/// also read calls that a small model prints as text.
pub fn family(name: &str) -> Option<Box<dyn Family>> {
    let printed_calls = PrintedCalls::Read;
    Some(match name {
        "chat" => Box::new(Chat::default()),
        "chat-openai" => Box::new(Chat { dialect: Dialect::openai() }),
        "chat-mistral" => Box::new(Chat { dialect: Dialect::mistral() }),
        "chat-deepseek" => Box::new(Chat { dialect: Dialect::deepseek() }),
        "responses" => Box::new(Responses::default()),
        "responses-local" => Box::new(Responses { printed_calls }),
        "messages" => Box::new(Messages::default()),
        "messages-local" => Box::new(Messages { printed_calls }),
        "gemini" => Box::new(Gemini),
        _ => return None,
    })
}

/// Puts one answer together.
pub trait Reader: Send {
    /// Takes one event of the stream: its name (often empty) and its data.
    ///
    /// # Errors
    /// When the event says that the answer failed.
    fn event(&mut self, name: &str, data: &str) -> Result<Vec<Chunk>, ModelError>;
    /// The stream has ended: the whole reply, or why there is none. A stream without its end marker was cut.
    ///
    /// # Errors
    /// `Broken` when the end marker is missing.
    fn finish(self: Box<Self>) -> Result<Reply, ModelError>;
    /// Whether the end marker was seen, so that nothing more needs to be read.
    fn is_done(&self) -> bool;
}
