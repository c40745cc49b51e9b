//! What is said: by the user, by the model, and by the tools to the model.

use crate::claim::Claim;
use crate::details::Details;
use crate::ids::CallId;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One piece of a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Content {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// An image, base64-encoded.
    Image {
        /// Its MIME type.
        mime: String,
        /// Its bytes in base64.
        data: String,
    },
    /// A file or other resource whose text came with the prompt.
    Resource {
        /// Where it is.
        uri: String,
        /// Its text.
        text: String,
    },
    /// A pointer to a resource that the agent may read.
    Link {
        /// Where it is.
        uri: String,
        /// What to call it.
        name: String,
    },
}

impl Content {
    /// Plain text content.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// What a reader of plain text would see.
    pub fn plain(&self) -> &str {
        match self {
            Self::Text { text } | Self::Resource { text, .. } => text,
            Self::Image { .. } => "[image]",
            Self::Link { uri, .. } => uri,
        }
    }
}

/// The text of several pieces, in order, without separators.
pub fn plain(content: &[Content]) -> String {
    content.iter().map(Content::plain).collect()
}

/// One block of a model's reply, in the order the model made it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Block {
    /// Words for the user.
    Text {
        /// The words.
        text: String,
    },
    /// The model's own thoughts.
    Thinking {
        /// The words, if it showed them.
        text: String,
        /// What the provider wants back with them, untouched.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// A tool call.
    Call {
        /// The call.
        call: ToolCall,
    },
    /// A provider's own block, kept byte for byte so that it can be sent again.
    Opaque {
        /// Which wire format it belongs to.
        family: String,
        /// The block.
        raw: Value,
    },
}

/// Everything the model said in one step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reply {
    /// Identifies the model call; the documented `model_call_id`.
    pub id: String,
    /// What was said, in order.
    pub blocks: Vec<Block>,
    /// Why the model stopped.
    pub stop: Stop,
    /// What the call cost.
    #[serde(default)]
    pub usage: Usage,
}

impl Reply {
    /// The words for the user, joined.
    pub fn text(&self) -> String {
        self.blocks
            .iter()
            .filter_map(|block| match block {
                Block::Text { text } => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    /// The tool calls, in order.
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Call { call } => Some(call),
            _ => None,
        })
    }
}

/// Why a model stopped talking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    /// It said all it wanted to.
    #[default]
    EndTurn,
    /// It wants tools to be run.
    ToolCalls,
    /// It ran out of output tokens.
    MaxTokens,
    /// It would not answer.
    Refusal,
}

/// Something the model wants done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique inside the session.
    pub id: CallId,
    /// The name that the model used.
    pub name: String,
    /// The arguments, as the model gave them.
    pub input: Value,
    /// What the call would touch, resolved; absent when the input made no sense.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// Set when the provider sent arguments that are no JSON: what it sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub malformed: Option<String>,
}

impl ToolCall {
    /// A call as a model makes it: nothing resolved yet.
    pub fn new(id: impl Into<String>, name: impl Into<String>, input: Value) -> Self {
        Self { id: CallId::new(id), name: name.into(), input, claim: None, malformed: None }
    }
}

/// What a tool gives back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolOutput {
    /// What the model reads.
    pub for_model: String,
    /// What people and programs see.
    pub details: Details,
}

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Outcome {
    /// It was done; a command with a non-zero exit code was done too.
    Done {
        /// What came of it.
        output: ToolOutput,
    },
    /// It could not be done.
    Failed {
        /// Why.
        failure: Failure,
    },
    /// Nobody allowed it.
    Rejected {
        /// Why, for the model and for people. May be empty.
        reason: String,
    },
    /// A rule or the mode forbids it.
    Denied {
        /// Which.
        reason: String,
    },
    /// The turn was cancelled first.
    Cancelled,
    /// The process died while it ran; nobody knows.
    Unknown,
}

impl Outcome {
    /// What the model reads.
    pub fn for_model(&self) -> String {
        match self {
            Self::Done { output } => output.for_model.clone(),
            Self::Failed { failure } => format!("Error: {}", failure.message()),
            Self::Rejected { reason } if reason.is_empty() => {
                "The user rejected this call. It was not run.".into()
            }
            Self::Rejected { reason } => format!("This call was rejected and not run: {reason}"),
            Self::Denied { reason } => format!("This call is not permitted and was not run: {reason}"),
            Self::Cancelled => "This call was cancelled.".into(),
            Self::Unknown => {
                "The program ended while this call ran; its outcome is unknown. Check before you repeat it."
                    .into()
            }
        }
    }

    /// Why nobody allowed the call, if that is how it ended. A question that nobody answered is not meant.
    pub fn denial(&self, call: &ToolCall) -> Option<&str> {
        match self {
            Self::Rejected { reason } if !matches!(call.claim, Some(Claim::Ask { .. })) => Some(reason),
            Self::Denied { reason } => Some(reason),
            _ => None,
        }
    }

    /// Whether the model should take it as an error.
    pub fn is_error(&self) -> bool {
        match self {
            Self::Done { output } => output.details.is_failure(),
            _ => true,
        }
    }
}

/// Why a call could not be done, in the cases the documented results tell apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Failure {
    /// Any other reason.
    Error {
        /// What happened and what to do.
        message: String,
    },
    /// The file is not there.
    FileNotFound {
        /// Which file.
        path: String,
    },
    /// The file is of a kind that the tool cannot handle.
    InvalidFile {
        /// Why.
        message: String,
    },
    /// The system refused.
    PermissionDenied {
        /// What it said.
        message: String,
    },
    /// It took too long.
    Timeout {
        /// How long it was allowed.
        timeout_ms: u64,
    },
    /// The command could not be started.
    Spawn {
        /// What the system said.
        message: String,
    },
}

impl Failure {
    /// One sentence for the model and for people.
    pub fn message(&self) -> String {
        match self {
            Self::Error { message }
            | Self::InvalidFile { message }
            | Self::PermissionDenied { message }
            | Self::Spawn { message } => message.clone(),
            Self::FileNotFound { .. } => "File not found".into(),
            Self::Timeout { timeout_ms } => format!("timed out after {timeout_ms} ms"),
        }
    }
}

/// Tokens used; the sum over calls is again a usage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read that were not cached.
    pub input: u64,
    /// Tokens written.
    pub output: u64,
    /// Tokens read from the provider's cache.
    pub cache_read: u64,
    /// Tokens written to the provider's cache.
    pub cache_write: u64,
    /// Whether some of it was guessed from the number of bytes, as the provider did not say.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.estimated = self.estimated || other.estimated;
    }
}

impl Usage {
    /// All tokens together.
    pub fn total(&self) -> u64 {
        self.input
            .saturating_add(self.output)
            .saturating_add(self.cache_read)
            .saturating_add(self.cache_write)
    }
}
