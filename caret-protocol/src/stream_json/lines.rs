//! The lines of `stream-json`, one JSON object each.

use super::tool_calls::ToolCallBody;
use crate::content::Usage;
use crate::details::{QuestionAnswer, Todo};
use serde::{Deserialize, Serialize};

/// One line of output.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Line {
    /// The first line of a run.
    System(SystemLine),
    /// The prompt as typed.
    User(UserLine),
    /// The model's own thoughts.
    Thinking(ThinkingLine),
    /// The model's words.
    Assistant(AssistantLine),
    /// A tool call began or ended.
    ToolCall(Box<ToolCallLine>),
    /// Something had to be decided.
    InteractionQuery(Box<QueryLine>),
    /// Only with `--events extended`: what a model call used.
    Usage(UsageLine),
    /// Only with `--events extended`: the task list changed.
    Todos(TodosLine),
    /// Only with `--events extended`: something worth telling.
    Notice(NoticeLine),
    /// Only with `--events extended`: a command wrote more.
    ToolOutput(ToolOutputLine),
    /// The last line of a turn.
    Result(ResultLine),
}

/// The first line of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct SystemLine {
    pub subtype: Init,
    /// `login`, `env` or `flag`.
    #[serde(rename = "apiKeySource")]
    pub api_key_source: String,
    pub cwd: String,
    pub session_id: String,
    /// The display name.
    pub model: String,
    /// `default` or `force`.
    #[serde(rename = "permissionMode")]
    pub permission_mode: String,
    /// Only with `--events extended`: the version of this protocol.
    #[serde(rename = "schemaVersion", default, skip_serializing_if = "Option::is_none")]
    pub schema_version: Option<u32>,
}

/// The word `init`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Init {
    /// The only subtype we write.
    Init,
}

/// The prompt as typed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct UserLine {
    pub message: Spoken,
    pub session_id: String,
}

/// A message with its role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spoken {
    /// `user` or `assistant`.
    pub role: String,
    /// What was said.
    pub content: Vec<Piece>,
}

impl Spoken {
    /// A message of one text.
    pub fn text(role: &str, text: impl Into<String>) -> Self {
        Self { role: role.into(), content: vec![Piece::Text { text: text.into() }] }
    }
}

/// A piece of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub enum Piece {
    /// Text.
    Text { text: String },
    /// An image, base64-encoded.
    Image {
        data: String,
        #[serde(rename = "mimeType")]
        mime_type: String,
    },
}

/// The model's own thoughts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct ThinkingLine {
    pub subtype: ThinkingStep,
    /// The new words; absent when completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    pub session_id: String,
    pub timestamp_ms: u64,
}

/// How far a thought is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ThinkingStep {
    /// More of it.
    Delta,
    /// The end of it.
    Completed,
}

/// The model's words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct AssistantLine {
    pub message: Spoken,
    pub session_id: String,
    /// On a segment before a tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_call_id: Option<String>,
    /// On a delta and on a segment before a tool call; not on the last segment of a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp_ms: Option<u64>,
}

/// A tool call began or ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct ToolCallLine {
    pub subtype: CallStep,
    pub call_id: String,
    pub tool_call: ToolCallBody,
    pub model_call_id: String,
    pub session_id: String,
    pub timestamp_ms: u64,
}

/// How far a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CallStep {
    /// It is about to run.
    Started,
    /// It ended.
    Completed,
}

/// Something had to be decided: the request, or the answer it got.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct QueryLine {
    pub subtype: QueryStep,
    pub query_type: QueryKind,
    /// With a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<Query>,
    /// With a response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response: Option<QueryResponse>,
    pub session_id: String,
    pub timestamp_ms: u64,
}

/// Which half of a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum QueryStep {
    /// The question.
    Request,
    /// The answer.
    Response,
}

/// What has to be decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum QueryKind {
    /// A question of the model.
    AskQuestionInteractionQuery,
    /// May a call run? Only written when a driver can answer (`--input-format stream-json`).
    PermissionRequestQuery,
}

/// A question, numbered from 0 per run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct Query {
    pub id: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask_question_interaction_query: Option<AskQuestionQuery>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_request_query: Option<PermissionQuery>,
}

/// A question of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct AskQuestionQuery {
    pub args: super::tool_calls::AskArgs,
    pub tool_call_id: String,
}

/// May a call run?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PermissionQuery {
    /// The call that waits; its `tool_call` line says what it would do.
    pub tool_call_id: String,
    /// The tool's name.
    pub tool_name: String,
    /// What it was called with.
    pub input: serde_json::Value,
    /// Why it is asked.
    pub reason: String,
    /// The rule that `approvedAlways` would store; absent when that is not offered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub always_rule: Option<String>,
}

/// The answer to a [`Query`], by its number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct QueryResponse {
    pub id: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ask_question_interaction_response: Option<AskQuestionResponse>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_request_response: Option<Decision>,
}

/// The user's choices, or none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AskQuestionResponse {
    /// What came of it.
    pub result: AskQuestionResult,
}

/// What came of a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub enum AskQuestionResult {
    /// Somebody chose.
    Success { answers: Vec<QuestionAnswer> },
    /// Nobody did.
    Rejected { reason: String },
}

/// Whether a call may run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub enum Decision {
    /// This time.
    Approved {},
    /// From now on.
    ApprovedAlways {},
    /// No.
    Rejected {
        #[serde(default)]
        reason: String,
    },
}

/// What a model call used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct UsageLine {
    pub usage: Tokens,
    pub session_id: String,
    pub timestamp_ms: u64,
}

/// The task list changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct TodosLine {
    pub todos: Vec<Todo>,
    pub session_id: String,
    pub timestamp_ms: u64,
}

/// Something worth telling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct NoticeLine {
    /// Who says so.
    pub subtype: String,
    pub text: String,
    pub session_id: String,
    pub timestamp_ms: u64,
}

/// A command wrote more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct ToolOutputLine {
    pub call_id: String,
    pub text: String,
    pub session_id: String,
    pub timestamp_ms: u64,
}

/// The last line of a turn, and the whole of `--output-format json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct ResultLine {
    pub subtype: Verdict,
    pub duration_ms: u64,
    pub duration_api_ms: u64,
    pub is_error: bool,
    pub result: String,
    pub session_id: String,
    pub request_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Tokens>,
    /// What the turn cost in US dollars; absent when the price of the model is not known.
    #[serde(rename = "costUsd", default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// The calls that nobody allowed; absent when there were none.
    #[serde(rename = "permissionDenials", default, skip_serializing_if = "Vec::is_empty")]
    pub permission_denials: Vec<Denial>,
}

/// Whether a turn went well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Verdict {
    /// It ended by itself.
    Success,
    /// It did not.
    Error,
}

/// A call that nobody allowed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct Denial {
    pub tool_call_id: String,
    pub tool_name: String,
    pub input: serde_json::Value,
    pub reason: String,
}

/// Tokens; `inputTokens` leaves out what was cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct Tokens {
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub cache_read_tokens: u64,
    pub cache_write_tokens: u64,
    /// Only with `--events extended` or `--output-format json`: some of it was guessed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
}

impl From<Usage> for Tokens {
    fn from(usage: Usage) -> Self {
        Self {
            input_tokens: usage.input,
            output_tokens: usage.output,
            cache_read_tokens: usage.cache_read,
            cache_write_tokens: usage.cache_write,
            estimated: usage.estimated,
        }
    }
}
