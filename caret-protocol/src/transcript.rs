//! The fold of events into the conversation that a model sees.

use crate::content::{Block, Content, Reply};
use crate::event::{Event, Stamped};
use crate::ids::{CallId, TurnId};
use crate::projection::Projection;
use serde::{Deserialize, Serialize};

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Message {
    /// What the user said.
    User {
        /// The words.
        content: Vec<Content>,
        /// The turn they were said in.
        turn: TurnId,
    },
    /// What the model said.
    Assistant {
        /// One reply.
        reply: Reply,
    },
    /// What a tool gave back.
    Tool {
        /// The call it belongs to.
        call: CallId,
        /// The tool's name.
        name: String,
        /// What the model reads.
        text: String,
        /// Whether the model should take it as an error.
        is_error: bool,
    },
    /// What stands for older messages.
    Summary {
        /// The summary.
        text: String,
    },
}

/// Folds events into messages.
#[derive(Debug, Default)]
pub struct Transcript {
    turn: Option<TurnId>,
}

impl Projection for Transcript {
    type Out = Message;

    fn apply(&mut self, event: &Stamped, out: &mut Vec<Message>) {
        if event.under.is_some() {
            return;
        }
        match &event.event {
            Event::TurnStarted { turn } => self.turn = Some(turn.clone()),
            Event::Prompted { content } => out.push(Message::User {
                content: content.clone(),
                turn: self.turn.clone().unwrap_or_else(|| TurnId::new("")),
            }),
            Event::Replied { reply } => out.push(Message::Assistant { reply: reply.clone() }),
            Event::ToolEnded { call, outcome, .. } => out.push(Message::Tool {
                call: call.id.clone(),
                name: call.name.clone(),
                text: outcome.for_model(),
                is_error: outcome.is_error(),
            }),
            Event::Compacted { summary } => {
                out.clear();
                out.push(Message::Summary { text: summary.clone() });
            }
            Event::Rewound { turns } => rewind(out, *turns),
            _ => {}
        }
    }
}

/// Takes the last `turns` turns off a list of messages.
fn rewind(messages: &mut Vec<Message>, turns: usize) {
    let mut taken: Vec<&TurnId> = Vec::new();
    let mut cut = messages.len();
    for (index, message) in messages.iter().enumerate().rev() {
        let Message::User { turn, .. } = message else { continue };
        if !taken.contains(&turn) {
            if taken.len() == turns {
                break;
            }
            taken.push(turn);
        }
        cut = index;
    }
    messages.truncate(cut);
}

/// The words and calls of a message, as one line of text for searching and titles.
pub fn plain(message: &Message) -> String {
    match message {
        Message::User { content, .. } => crate::content::plain(content),
        Message::Assistant { reply } => reply
            .blocks
            .iter()
            .filter_map(|block| match block {
                Block::Text { text } => Some(text.as_str()),
                _ => None,
            })
            .collect(),
        Message::Tool { text, .. } | Message::Summary { text } => text.clone(),
    }
}
