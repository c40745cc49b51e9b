//! What was said before.
//!
//! This is the only place of the offline model that loads the conversation before the turn, since loading
//! it takes time that grows with the chat.

use super::step::Recall;
use crate::model::{ModelError, Past};
use caret_protocol::transcript::{Message, plain};

/// Answers a question about the conversation; `earlier` are prompts of this turn, before the question.
pub(super) fn answer(what: Recall, earlier: &[&str], past: &dyn Past) -> Result<String, ModelError> {
    let messages = past.messages()?;
    let mut prompts: Vec<String> =
        messages.iter().filter(|message| matches!(message, Message::User { .. })).map(plain).collect();
    prompts.extend(earlier.iter().map(|prompt| (*prompt).to_owned()));
    let prompts: Vec<&str> = prompts.iter().map(|prompt| prompt.trim()).collect();
    let nothing = "This is the first message of this chat; there is nothing before it.".to_owned();
    let last_answer = messages
        .iter()
        .rev()
        .filter(|message| matches!(message, Message::Assistant { .. }))
        .map(plain)
        .find(|text| !text.is_empty());
    let (Some(first), Some(last)) = (prompts.first(), prompts.last()) else {
        return Ok(nothing);
    };
    Ok(match what {
        Recall::LastPrompt => format!("Your last {} was \"{last}\"", kind(last)),
        Recall::FirstPrompt => format!("Your first {} was \"{first}\"", kind(first)),
        Recall::AllPrompts => {
            let lines: Vec<String> =
                prompts.iter().enumerate().map(|(at, prompt)| format!("{}. {prompt}", at + 1)).collect();
            format!("You said so far:\n{}", lines.join("\n"))
        }
        Recall::LastAnswer => last_answer.unwrap_or(nothing),
        Recall::Continue => format!(
            "Nothing is under way. Your last {} was \"{last}\"; say it again to have it done again.",
            kind(last)
        ),
    })
}

fn kind(prompt: &str) -> &'static str {
    if prompt.ends_with('?') { "question" } else { "message" }
}
