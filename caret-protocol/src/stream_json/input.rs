//! What a driver says on stdin under `--input-format stream-json`, one JSON object per line.
//!
//! A `user` line is a prompt; while a turn runs it is said to that turn. An `interaction_query` response
//! answers the request with the same number. `interrupt` ends the running turn. The end of input ends
//! the program after the running turn.

use super::lines::{Decision, Piece, QueryResponse};
use crate::ask::Answer;
use crate::content::Content;
use serde::{Deserialize, Serialize};

/// One line of input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum InputLine {
    /// A prompt, or more words for the running turn.
    User(UserInput),
    /// The answer to a question.
    InteractionQuery(AnswerInput),
    /// Ends the running turn; the program goes on.
    Interrupt {},
}

/// A prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UserInput {
    /// What is said.
    pub message: UserMessage,
}

/// What is said, with or without its role.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UserMessage {
    /// `user`, if given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Text, or pieces.
    pub content: UserContent,
}

/// Text, or pieces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum UserContent {
    /// Just text.
    Text(String),
    /// Text and images.
    Pieces(Vec<Piece>),
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AnswerInput {
    /// The same object that the output's `response` lines carry.
    pub response: QueryResponse,
}

impl UserInput {
    /// The prompt as content.
    pub fn into_content(self) -> Vec<Content> {
        match self.message.content {
            UserContent::Text(text) => vec![Content::text(text)],
            UserContent::Pieces(pieces) => pieces
                .into_iter()
                .map(|piece| match piece {
                    Piece::Text { text } => Content::text(text),
                    Piece::Image { data, mime_type } => Content::Image { mime: mime_type, data },
                })
                .collect(),
        }
    }
}

impl QueryResponse {
    /// The answer that this response means; nothing when it holds none.
    pub fn into_answer(self) -> Option<Answer> {
        use super::lines::AskQuestionResult::{Rejected, Success};
        if let Some(decision) = self.permission_request_response {
            return Some(match decision {
                Decision::Approved {} => Answer::AllowOnce,
                Decision::ApprovedAlways {} => Answer::AllowAlways,
                Decision::Rejected { reason } => Answer::Reject { reason },
            });
        }
        self.ask_question_interaction_response.map(|response| match response.result {
            Success { answers } => Answer::Chosen { answers },
            Rejected { reason } => Answer::Skipped { reason },
        })
    }
}

/// Reads one line.
///
/// # Errors
/// Says what is wrong with the line and what is understood.
pub fn read(line: &str) -> Result<InputLine, String> {
    serde_json::from_str(line).map_err(|error| {
        format!("{error}; a line is a `user`, `interaction_query` or `interrupt` object (see the published schema)")
    })
}
