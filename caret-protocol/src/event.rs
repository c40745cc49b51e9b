//! What can happen in a session.
//!
//! Every output of the program is a projection of these events. Durable ones are recorded before anybody
//! sees them, so what was shown can be resumed. A new variant needs a reason in its commit: what differs
//! between tools is in `Details`, a sub-agent's events stand `under` its call, and anything that changes
//! nothing is a `Noticed`.

use crate::ask::{Answer, Ask};
use crate::content::{Content, Outcome, Reply, Stop, ToolCall, Usage};
use crate::details::Todo;
use crate::ids::{AskId, CallId, SessionId, TurnId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One thing that happened in a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
#[expect(missing_docs, reason = "the variants' own words say what their fields are")]
pub enum Event {
    /// A session was opened, new or again.
    Opened { opened: Opened },
    /// A turn began.
    TurnStarted { turn: TurnId },
    /// What the user said: at the start of a turn, or in the middle of one.
    Prompted { content: Vec<Content> },
    /// For show only. Deltas are not stored: `Replied` holds the whole.
    Delta { kind: DeltaKind, text: String },
    /// The model's reply of one step, whole.
    Replied { reply: Reply },
    /// A call is about to run, or to be refused.
    ToolStarted { call: ToolCall },
    /// More of a call: output so far.
    ToolUpdated { id: CallId, update: CallUpdate },
    /// The call as it finally was, and how it ended.
    ToolEnded { call: ToolCall, outcome: Outcome, started_ms: u64 },
    /// The agent asked its host something.
    Asked { id: AskId, ask: Ask },
    /// And was answered.
    Answered { id: AskId, answer: Answer },
    /// The task list changed.
    Planned { steps: Vec<Todo> },
    /// The session's mode or model changed.
    Configured { change: Change },
    /// What a model call used. For show only: `Replied` holds it too.
    Measured { usage: Usage },
    /// Older messages were replaced by a summary.
    Compacted { summary: String },
    /// The last turns were taken back.
    Rewound { turns: usize },
    /// Anything worth telling that changes nothing: a retry, a hook, a server that came up.
    Noticed { notice: Notice },
    /// A turn ended, however it did.
    TurnEnded { turn: TurnId, end: TurnEnd },
    /// The session is over; nothing comes after this.
    Closed { reason: String, recoverable: bool },
}

impl Event {
    /// Whether it must be in the store before anybody sees it.
    pub fn is_durable(&self) -> bool {
        !matches!(self, Self::Delta { .. } | Self::ToolUpdated { .. } | Self::Measured { .. })
    }
}

/// An event with its place in the session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stamped {
    /// Counts the durable events of a session from 1; a delta carries the number of the event before it.
    pub seq: u64,
    /// Milliseconds since 1970.
    pub at_ms: u64,
    /// The session it belongs to.
    pub session: SessionId,
    /// The call this happened under, when a sub-agent did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub under: Option<CallId>,
    /// What happened.
    pub event: Event,
    /// A foreign agent's own words, untouched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<Value>,
}

/// What a session is, said when it is opened.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    /// The physical workspace path.
    pub cwd: String,
    /// The id that `--model` takes.
    pub model: String,
    /// The name that people read.
    pub model_name: String,
    /// What the session may do.
    pub mode: Mode,
    /// Whether everything runs that is not denied.
    pub force: bool,
    /// Where the credential came from: `login`, `env` or `flag`.
    pub key_source: String,
    /// Whether the session existed before.
    pub resumed: bool,
}

/// What a session may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Everything that is permitted.
    #[default]
    Agent,
    /// Reads, and writes a plan.
    Plan,
    /// Reads, and answers.
    Ask,
}

/// Which stream of a reply a delta belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DeltaKind {
    /// Words for the user.
    Text,
    /// The model's own thoughts.
    Thinking,
}

/// More of a running call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
#[expect(missing_docs, reason = "the variants' own words say what their fields are")]
pub enum CallUpdate {
    /// A command wrote more.
    Output { text: String },
}

/// A change of a session's settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
#[expect(missing_docs, reason = "the variants' own words say what their fields are")]
pub enum Change {
    /// Another mode.
    Mode { mode: Mode },
    /// Another model.
    Model { id: String, name: String },
    /// Another title.
    Title { title: String },
}

/// Something worth telling that changes nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Notice {
    /// Who says so: `retry`, `loop_guard`, `store` and so on.
    pub source: String,
    /// One sentence.
    pub text: String,
}

/// How a turn ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TurnEnd {
    /// Why.
    pub reason: EndReason,
    /// What all its model calls used.
    pub usage: Usage,
    /// How long it took, by a clock that does not jump.
    #[serde(default)]
    pub duration_ms: u64,
    /// What it cost in US dollars; absent when the price is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}

/// Why a turn ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
#[expect(missing_docs, reason = "the variants' own words say what their fields are")]
pub enum EndReason {
    /// The model stopped by itself.
    Stopped { stop: Stop },
    /// Somebody cancelled it.
    Cancelled,
    /// A limit that the user set was reached.
    Limit { limit: Limit, message: String },
    /// It could not go on.
    Failed { class: FailureClass, message: String },
    /// The process died in the middle; found out when the session was opened again.
    Interrupted,
}

/// The limits that end a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Limit {
    /// Model calls in one turn.
    Turns,
    /// Tokens in one run.
    Tokens,
    /// Money in one run.
    Cost,
    /// Wall time of the run.
    Time,
    /// The model repeated the same call and did not listen.
    Loop,
}

/// Kinds of failures, as far as callers treat them differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureClass {
    /// The network or the provider; trying again may help.
    Unavailable,
    /// Credentials are missing or refused.
    Unauthorized,
    /// The request itself was refused.
    Model,
    /// The session could not be recorded.
    Store,
    /// A fault of ours.
    Internal,
}
