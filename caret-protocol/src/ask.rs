//! What an agent may ask its host, and the answers.

use crate::content::ToolCall;
use crate::details::QuestionAnswer;
use serde::{Deserialize, Serialize};

/// A question that holds up the call it belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Ask {
    /// May this call run?
    Permission {
        /// The call, with its claim.
        call: ToolCall,
        /// Why it is asked, in one sentence.
        reason: String,
        /// The rule that "always" would store; absent when there is none that is narrow enough.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        always: Option<String>,
    },
    /// A question of the model to the user.
    Question {
        /// The call that asks.
        call: ToolCall,
        /// What it is about.
        title: String,
        /// The questions.
        questions: Vec<Question>,
    },
}

/// One question with its options.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Question {
    /// Names the question in the answer.
    pub id: String,
    /// The question.
    pub prompt: String,
    /// What can be chosen.
    pub options: Vec<Choice>,
    /// Whether several options may be chosen.
    #[serde(default)]
    pub allow_multiple: bool,
}

/// One option of a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Choice {
    /// Names the option in the answer.
    pub id: String,
    /// What the user sees.
    pub label: String,
}

/// The answer to an [`Ask`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Answer {
    /// Run it this time.
    AllowOnce,
    /// Run it, and store the rule that was offered.
    AllowAlways,
    /// Do not run it.
    Reject {
        /// Why; may be empty.
        reason: String,
    },
    /// The chosen options, by question.
    Chosen {
        /// By question.
        answers: Vec<QuestionAnswer>,
    },
    /// Nobody is there to answer.
    Skipped {
        /// What the model is told.
        reason: String,
    },
    /// The turn was cancelled first.
    Cancelled,
}
