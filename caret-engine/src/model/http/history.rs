//! The conversation as every family needs it: calls answered, ids in shape, foreign thoughts left out.
//!
//! Vendors refuse a call without its result, a result without its call, and thoughts that another model
//! signed. Histories have all three: turns are cancelled, models are switched, processes die. This is the one
//! place that puts it right, so that a family only has to write down what it is given.
//!
//! Invariant: entries are only ever added at the end as the conversation grows, so a request begins with the
//! bytes of the one before.

use super::call_ids::{CallIds, IdShape, tool_name};
use super::origin::{Origin, is_mark};
use super::said::{Said, Sight, said};
use crate::model::{ModelError, Request};
use caret_protocol::content::{Block, Reply};
use caret_protocol::transcript::Message;
use serde_json::{Map, Value};
use std::borrow::Cow;

const INTERRUPTED: &str = "This call was interrupted and has no result. Check before you repeat it.";

/// One stretch of the conversation.
#[derive(Debug, PartialEq)]
pub(super) enum Entry<'a> {
    /// What the user said. Two of these may follow each other.
    User(Vec<Said<'a>>),
    /// What the model said; never empty.
    Model(Vec<Part<'a>>),
    /// One answer for each call of the entry before, in the order of the calls.
    Results(Vec<Answer<'a>>),
}

/// One piece of what the model said.
#[derive(Debug, PartialEq)]
pub(super) enum Part<'a> {
    /// Words; never only spaces.
    Text(&'a str),
    /// Thoughts, when the target itself made them.
    Thinking { text: &'a str, signature: Option<&'a str> },
    /// A vendor's own block, when the target itself made it.
    Opaque(&'a Value),
    /// A call, with an id that the target accepts.
    Call { id: String, name: Cow<'a, str>, input: Map<String, Value>, maker: Maker },
}

/// Who made a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Maker {
    /// The model that is asked now.
    Target,
    /// Another model, or nobody knows.
    Foreign,
}

/// What a call came to.
#[derive(Debug, PartialEq)]
pub(super) struct Answer<'a> {
    pub(super) id: String,
    pub(super) name: Cow<'a, str>,
    pub(super) text: &'a str,
    pub(super) is_error: bool,
}

/// How a family wants its history.
pub(super) struct Rules {
    pub(super) origin: Origin,
    pub(super) shape: IdShape,
    pub(super) sight: Sight,
}

/// The whole conversation, past and this turn.
pub(super) fn entries<'a>(rules: &Rules, request: &Request<'a>) -> Result<Vec<Entry<'a>>, ModelError> {
    let mut history = History {
        rules,
        ids: CallIds::new(rules.shape),
        done: Vec::new(),
        open: Vec::new(),
        waiting: Vec::new(),
    };
    for message in request.past.messages()?.iter().chain(request.messages) {
        history.take(message);
    }
    history.close();
    Ok(history.done)
}

/// A call that waits for its answer.
struct Open<'a> {
    /// The id in the stored conversation.
    stored: &'a str,
    answer: Answer<'a>,
    answered: bool,
}

struct History<'a, 'r> {
    rules: &'r Rules,
    ids: CallIds,
    done: Vec<Entry<'a>>,
    /// The calls of the last reply.
    open: Vec<Open<'a>>,
    /// What the user said while calls were open; it goes behind the results.
    waiting: Vec<Entry<'a>>,
}

impl<'a> History<'a, '_> {
    fn take(&mut self, message: &'a Message) {
        match message {
            Message::User { content, .. } => self.user(said(content, self.rules.sight)),
            Message::Summary { text } => self.user(vec![Said::Text(Cow::Borrowed(text))]),
            Message::Assistant { reply } => {
                self.close();
                self.model(reply);
            }
            Message::Tool { call, text, is_error, .. } => self.result(call.as_str(), text, *is_error),
            _ => {}
        }
    }

    fn user(&mut self, pieces: Vec<Said<'a>>) {
        if !pieces.is_empty() {
            self.waiting.push(Entry::User(pieces));
        }
        if self.open.iter().all(|call| call.answered) {
            self.close();
        }
    }

    fn result(&mut self, id: &str, text: &'a str, is_error: bool) {
        // A result whose call is not there is left out: servers refuse it.
        if let Some(open) = self.open.iter_mut().find(|open| open.stored == id && !open.answered) {
            open.answered = true;
            open.answer.text = text;
            open.answer.is_error = is_error;
        }
    }

    fn model(&mut self, reply: &'a Reply) {
        let maker = if self.rules.origin.made(reply) { Maker::Target } else { Maker::Foreign };
        let mut parts = Vec::new();
        for block in &reply.blocks {
            match (block, maker) {
                (Block::Text { text }, _) if text.trim().is_empty() => {}
                (Block::Text { text }, _) => parts.push(Part::Text(text)),
                (Block::Thinking { text, signature }, Maker::Target) => {
                    parts.push(Part::Thinking { text, signature: signature.as_deref() });
                }
                (Block::Opaque { family, raw }, Maker::Target)
                    if family == self.rules.origin.family && !is_mark(raw) =>
                {
                    parts.push(Part::Opaque(raw));
                }
                (Block::Call { call }, _) => {
                    let id = self.ids.assign(call.id.as_str());
                    let name = tool_name(&call.name);
                    let answer =
                        Answer { id: id.clone(), name: name.clone(), text: INTERRUPTED, is_error: true };
                    self.open.push(Open { stored: call.id.as_str(), answer, answered: false });
                    // Arguments that were no object cannot be sent again; the result says what they were.
                    let input = call.input.as_object().cloned().unwrap_or_default();
                    parts.push(Part::Call { id, name, input, maker });
                }
                _ => {}
            }
        }
        if !parts.is_empty() {
            self.done.push(Entry::Model(parts));
        }
    }

    fn close(&mut self) {
        if !self.open.is_empty() {
            self.done.push(Entry::Results(self.open.drain(..).map(|open| open.answer).collect()));
        }
        self.done.append(&mut self.waiting);
    }
}
