//! What the relatives of Chat Completions want to be sent.

use crate::model::http::asked::PrintedCalls;
use crate::model::http::call_ids::IdShape;

/// How a server differs in what it accepts. The default suits servers that nobody knows.
#[derive(Clone, Debug, PartialEq)]
pub struct Dialect {
    /// Which member caps the answer.
    pub output_cap: OutputCap,
    /// The role of the instructions: `system` or `developer`.
    pub system_role: &'static str,
    /// Whether `stream_options` is known; without it some servers tell no usage.
    pub stream_options: bool,
    /// Whether `parallel_tool_calls` and `prompt_cache_key` are known.
    pub openai_members: bool,
    /// Whether reasoning text must come back with the calls that it led to.
    pub returns_reasoning: bool,
    /// Whether calls may come as text.
    pub printed_calls: PrintedCalls,
    /// Which call ids are accepted.
    pub call_ids: IdShape,
}

/// The member that caps the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputCap {
    /// `max_tokens`, which nearly all servers know.
    MaxTokens,
    /// `max_completion_tokens`, which OpenAI's reasoning models insist on.
    MaxCompletionTokens,
}

impl Default for Dialect {
    fn default() -> Self {
        Self {
            output_cap: OutputCap::MaxTokens,
            system_role: "system",
            stream_options: true,
            openai_members: false,
            returns_reasoning: false,
            printed_calls: PrintedCalls::Read,
            call_ids: IdShape::Visible,
        }
    }
}

impl Dialect {
    /// OpenAI itself.
    pub fn openai() -> Self {
        Self {
            output_cap: OutputCap::MaxCompletionTokens,
            openai_members: true,
            printed_calls: PrintedCalls::Ignored,
            ..Self::default()
        }
    }

    /// Mistral: call ids of nine characters, and no unknown members.
    pub fn mistral() -> Self {
        Self {
            stream_options: false,
            printed_calls: PrintedCalls::Ignored,
            call_ids: IdShape::Nine,
            ..Self::default()
        }
    }

    /// DeepSeek: the thoughts of a turn with calls go back.
    pub fn deepseek() -> Self {
        Self { returns_reasoning: true, printed_calls: PrintedCalls::Ignored, ..Self::default() }
    }
}
