//! Folds events into the documented store: message blobs, turn nodes and a new root on top of the last one.
//!
//! The last root is the beginning of the new one, whoever wrote it, so folding costs what is new plus the
//! root itself. Going back may reach into that beginning; only then are older blobs read.
//!
//! Invariant: the messages of a root are those that [`Transcript`](caret_protocol::transcript::Transcript)
//! makes of the same events.

use super::StoreError;
use super::blobs::Writing;
use super::messages;
use super::nodes::{self, ReadStep, Ref, Root, Span, Step, Turn};
use caret_protocol::content::{Block, Content, Outcome, Reply, ToolCall, plain};
use caret_protocol::details::Details;
use caret_protocol::event::{Change, Event, Stamped};
use caret_protocol::ids::TurnId;
use serde_json::Value;

/// A root in the making.
pub(super) struct Fold<'a> {
    writing: &'a Writing<'a>,
    root: Root,
    messages: Vec<Item>,
    turns: Vec<Item>,
    turn: TurnId,
    node: Turn,
    model: String,
    last_ms: u64,
}

/// A blob in a list of the root.
#[derive(Clone, Debug, PartialEq)]
enum Item {
    /// From the last root; nobody looked into it.
    Unread(Ref),
    /// Belongs to a turn: a user's message, or a turn's node.
    Of(Ref, TurnId),
    /// Any other message.
    Other(Ref),
}

impl Item {
    fn reference(&self) -> Ref {
        match self {
            Self::Unread(reference) | Self::Of(reference, _) | Self::Other(reference) => *reference,
        }
    }
}

impl<'a> Fold<'a> {
    /// Begins on top of the last root. `model` is the model in use at that time.
    pub(super) fn new(writing: &'a Writing<'a>, last: Root, model: String) -> Result<Self, StoreError> {
        let mut root = last;
        let messages = std::mem::take(&mut root.messages).into_iter().map(Item::Unread).collect();
        let mut turns: Vec<Item> = Vec::new();
        let old = std::mem::take(&mut root.old_turns);
        if root.turns.is_empty() {
            // Readers take the new form alone when there is any, so old turns are written again in it.
            for reference in old {
                turns.push(Item::Unread(renewed(writing, reference)?));
            }
        }
        turns.extend(std::mem::take(&mut root.turns).into_iter().map(Item::Unread));
        // A message in flight, and what the context held at that time: no longer true.
        root.others.retain(|(number, _)| !matches!(number, 4 | 5));
        let turn = TurnId::new("");
        Ok(Self { writing, root, messages, turns, turn, node: Turn::default(), model, last_ms: 0 })
    }

    /// Takes one more event.
    pub(super) fn apply(&mut self, stamped: &Stamped) -> Result<(), StoreError> {
        if stamped.under.is_some() {
            return Ok(());
        }
        match &stamped.event {
            Event::Opened { opened } => self.model.clone_from(&opened.model),
            Event::Configured { change: Change::Model { id, .. } } => self.model.clone_from(id),
            Event::TurnStarted { turn } => {
                self.close()?;
                self.turn = turn.clone();
            }
            Event::Prompted { content } => self.prompted(content, stamped.at_ms)?,
            Event::Replied { reply } => self.replied(reply, stamped.at_ms)?,
            Event::ToolEnded { call, outcome, started_ms } => {
                let span = Span { start_ms: *started_ms, end_ms: stamped.at_ms };
                self.called(call, outcome, span)?;
            }
            Event::Compacted { summary } => {
                let reference = self.put_json(&messages::summary(summary))?;
                self.messages.clear();
                self.messages.push(Item::Other(reference));
            }
            Event::Rewound { turns } => self.rewind(*turns)?,
            Event::TurnEnded { .. } => self.close()?,
            _ => {}
        }
        self.last_ms = stamped.at_ms;
        Ok(())
    }

    /// The root.
    pub(super) fn finish(mut self) -> Result<Root, StoreError> {
        self.close()?;
        self.root.messages = self.messages.iter().map(Item::reference).collect();
        self.root.turns = self.turns.iter().map(Item::reference).collect();
        Ok(self.root)
    }

    fn prompted(&mut self, content: &[Content], at_ms: u64) -> Result<(), StoreError> {
        let reference = self.put_json(&messages::user(content, &self.turn))?;
        self.messages.push(Item::Of(reference, self.turn.clone()));
        self.close()?;
        let user = self.writing.put(&nodes::user(&plain(content), at_ms))?;
        self.node = Turn { user: Some(user), steps: Vec::new(), request: Some(self.turn.0.clone()) };
        Ok(())
    }

    fn replied(&mut self, reply: &Reply, at_ms: u64) -> Result<(), StoreError> {
        let reference = self.put_json(&messages::assistant(reply, &self.model))?;
        self.messages.push(Item::Other(reference));
        let span = Span { start_ms: self.last_ms.min(at_ms), end_ms: at_ms };
        for block in &reply.blocks {
            let step = match block {
                Block::Text { text } => Step::Said { text },
                Block::Thinking { text, .. } => Step::Thought { text },
                _ => continue,
            };
            self.node.steps.push(self.writing.put(&nodes::step(&step, span))?);
        }
        Ok(())
    }

    fn called(&mut self, call: &ToolCall, outcome: &Outcome, span: Span) -> Result<(), StoreError> {
        let reference = self.put_json(&messages::tool(call, outcome))?;
        self.messages.push(Item::Other(reference));
        let step = Step::Called { call: call.id.as_str(), read: read_step(call, outcome) };
        self.node.steps.push(self.writing.put(&nodes::step(&step, span))?);
        Ok(())
    }

    /// Ends the turn's node that is being made, if somebody said something in it.
    fn close(&mut self) -> Result<(), StoreError> {
        let node = std::mem::take(&mut self.node);
        if node.user.is_some() {
            let reference = self.writing.put(&node.encode())?;
            self.turns.push(Item::Of(reference, self.turn.clone()));
        }
        Ok(())
    }

    /// Takes the last turns off both lists.
    fn rewind(&mut self, turns: usize) -> Result<(), StoreError> {
        self.close()?;
        let mut taken: Vec<TurnId> = Vec::new();
        let mut cut = self.messages.len();
        for index in (0..self.messages.len()).rev() {
            let Some(turn) = self.message_turn(index)? else { continue };
            if !taken.contains(&turn) {
                if taken.len() == turns {
                    break;
                }
                taken.push(turn);
            }
            cut = index;
        }
        self.messages.truncate(cut);
        for turn in taken {
            // Something said in the middle of a turn has a node of its own.
            while self.turns.len() > 1 && self.node_turn(self.turns.len() - 2)?.as_ref() == Some(&turn) {
                self.turns.pop();
            }
            self.turns.pop();
        }
        Ok(())
    }

    fn message_turn(&mut self, index: usize) -> Result<Option<TurnId>, StoreError> {
        if let Item::Unread(reference) = self.messages[index] {
            let bytes = self.writing.blobs().get(&reference)?;
            self.messages[index] = match bytes.and_then(|bytes| messages::user_turn(&bytes, index)) {
                Some(turn) => Item::Of(reference, turn),
                None => Item::Other(reference),
            };
        }
        Ok(match &self.messages[index] {
            Item::Of(_, turn) => Some(turn.clone()),
            _ => None,
        })
    }

    fn node_turn(&mut self, index: usize) -> Result<Option<TurnId>, StoreError> {
        if let Item::Unread(reference) = self.turns[index] {
            let bytes = self.writing.blobs().get(&reference)?;
            let request = bytes.and_then(|bytes| Turn::decode(&bytes).ok()).and_then(|turn| turn.request);
            self.turns[index] = match request {
                Some(request) => Item::Of(reference, TurnId(request)),
                None => Item::Other(reference),
            };
        }
        Ok(match &self.turns[index] {
            Item::Of(_, turn) => Some(turn.clone()),
            _ => None,
        })
    }

    fn put_json(&self, message: &Value) -> Result<Ref, StoreError> {
        self.writing.put(message.to_string().as_bytes())
    }
}

/// Writes a turn of the old form again in the new one.
fn renewed(writing: &Writing<'_>, reference: Ref) -> Result<Ref, StoreError> {
    let bytes = writing.blobs().get(&reference)?;
    match bytes.map(|bytes| Turn::decode_old(&bytes)) {
        Some(Ok(turn)) if turn.user.is_some() => writing.put(&turn.encode()),
        _ => Ok(reference),
    }
}

fn read_step<'a>(call: &'a ToolCall, outcome: &'a Outcome) -> Option<ReadStep<'a>> {
    let Outcome::Done { output } = outcome else { return None };
    let Details::Read(done) = &output.details else { return None };
    Some(ReadStep {
        asked: call.input["path"].as_str().unwrap_or(&done.path),
        content: &done.content,
        total_lines: done.total_lines,
        file_size: done.file_size,
        path: &done.path,
        lines: (done.read_range.start_line, done.read_range.end_line),
    })
}
