//! The items of an answer while they are being made.
//!
//! An item is found by its place in the output. Gateways change item ids between two events of one stream, and
//! some servers send no places; only then the id counts.

use crate::model::http::asked::Asked;
use crate::model::http::partial_call::{Ended, PartialCall};
use caret_protocol::content::{Block, ToolCall};
use serde_json::{Value, json};

/// One item so far.
#[derive(Debug)]
pub(super) struct Item {
    place: Option<u64>,
    id: String,
    pub(super) kind: Kind,
    /// The server has sent the whole item.
    closed: bool,
}

/// When the server sends an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// To announce it.
    Begun,
    /// With all that is in it.
    Whole,
}

/// What an item is.
#[derive(Debug)]
pub(super) enum Kind {
    /// Announced by a delta only, so far.
    Unknown,
    /// Words for the user.
    Message { text: String, phase: Option<String> },
    /// Thoughts as shown, and the item that goes back.
    Reasoning { text: String, raw: Option<Value> },
    /// A call.
    Call(PartialCall),
    /// Something of the server's own.
    Other(Value),
}

/// All items of an answer.
#[derive(Debug, Default)]
pub(super) struct Items(Vec<Item>);

impl Items {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The item that an event speaks about; a new one if there is none.
    pub(super) fn of(&mut self, event: &Value) -> &mut Item {
        let place = event["output_index"].as_u64();
        let id = event["item_id"].as_str().or_else(|| event["item"]["id"].as_str()).unwrap_or_default();
        let known = self.0.iter().rposition(|item| match place {
            Some(_) => item.place == place,
            None => !id.is_empty() && item.id == id,
        });
        // Without a place and an id, a delta goes on with the last item; a new item says what it is.
        let last = || {
            (place.is_none() && id.is_empty() && event.get("item").is_none())
                .then(|| self.0.len().checked_sub(1))
        };
        let at = known.or_else(|| last().flatten()).unwrap_or(self.0.len());
        if at == self.0.len() {
            self.0.push(Item { place, id: id.to_owned(), kind: Kind::Unknown, closed: false });
        }
        &mut self.0[at]
    }

    /// The blocks of a reply, in the order of the output.
    pub(super) fn blocks(mut self, asked: &Asked, ended: Ended) -> Vec<Block> {
        // Items without a place stay where they came.
        if self.0.iter().all(|item| item.place.is_some()) {
            self.0.sort_by_key(|item| item.place);
        }
        let last = self.0.len().saturating_sub(1);
        let blocks = self.0.into_iter().enumerate().flat_map(|(at, item)| {
            // The server went on after it, so it was finished.
            let ended = if item.closed && at < last { Ended::Whole } else { ended };
            item.blocks(asked, ended)
        });
        blocks.collect()
    }
}

impl Item {
    /// Takes the item as the server sends it, at its beginning or at its end. Gives the words that no delta had.
    pub(super) fn take(&mut self, item: &Value, stage: Stage) -> String {
        let whole = stage == Stage::Whole;
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut unsaid = String::new();
        match item["type"].as_str().unwrap_or_default() {
            "message" => {
                let words = message_text(item);
                let heard = match &mut self.kind {
                    Kind::Message { text, .. } => std::mem::take(text),
                    _ => String::new(),
                };
                unsaid = words.strip_prefix(heard.as_str()).unwrap_or_default().to_owned();
                let phase = item["phase"].as_str().map(str::to_owned);
                // A gateway may close a message without repeating it.
                self.kind = Kind::Message { text: if words.is_empty() { heard } else { words }, phase };
            }
            "reasoning" => {
                let heard = match &mut self.kind {
                    Kind::Reasoning { text, .. } => std::mem::take(text),
                    _ => String::new(),
                };
                let shown = if heard.is_empty() { reasoning_text(item) } else { heard };
                self.kind = Kind::Reasoning { text: shown, raw: whole.then(|| item.clone()) };
            }
            "function_call" => {
                let mut call = match std::mem::replace(&mut self.kind, Kind::Unknown) {
                    Kind::Call(call) => call,
                    _ => PartialCall::default(),
                };
                call.introduce(&text(&item["call_id"]), &text(&item["name"]));
                match &item["arguments"] {
                    Value::String(arguments) if arguments.is_empty() => {}
                    Value::Null => {}
                    Value::String(arguments) => call.replace(arguments.clone()),
                    object => call.replace(object.to_string()),
                }
                self.kind = Kind::Call(call);
            }
            "" => {}
            _ => self.kind = Kind::Other(item.clone()),
        }
        self.closed = whole && item["status"] != "incomplete";
        unsaid
    }

    /// The words of a message, to add to.
    pub(super) fn message(&mut self) -> Option<&mut String> {
        if matches!(self.kind, Kind::Unknown) {
            self.kind = Kind::Message { text: String::new(), phase: None };
        }
        match &mut self.kind {
            Kind::Message { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The thoughts as shown, to add to.
    pub(super) fn reasoning(&mut self) -> Option<&mut String> {
        if matches!(self.kind, Kind::Unknown) {
            self.kind = Kind::Reasoning { text: String::new(), raw: None };
        }
        match &mut self.kind {
            Kind::Reasoning { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The call, to add to.
    pub(super) fn call(&mut self) -> Option<&mut PartialCall> {
        if matches!(self.kind, Kind::Unknown) {
            self.kind = Kind::Call(PartialCall::default());
        }
        match &mut self.kind {
            Kind::Call(call) => Some(call),
            _ => None,
        }
    }

    fn blocks(self, asked: &Asked, ended: Ended) -> Vec<Block> {
        match self.kind {
            Kind::Unknown => Vec::new(),
            Kind::Message { text, .. } if text.is_empty() => Vec::new(),
            Kind::Message { text, phase } => {
                let envelope = |phase| json!({"type": "message", "role": "assistant", "phase": phase});
                let mut blocks = Vec::new();
                blocks.extend(phase.map(|phase| asked.origin.opaque(envelope(phase))));
                blocks.push(Block::Text { text });
                blocks
            }
            Kind::Reasoning { text, raw } => {
                let mut blocks = Vec::new();
                if !text.is_empty() {
                    blocks.push(Block::Thinking { text, signature: None });
                }
                // Without its encrypted form the server cannot know it again.
                let kept =
                    raw.filter(|raw| raw["encrypted_content"].as_str().is_some_and(|text| !text.is_empty()));
                blocks.extend(kept.map(|raw| asked.origin.opaque(raw)));
                blocks
            }
            Kind::Call(call) => {
                let calls = call.finish(ended).map(|call| unwrapped(call, asked)).unwrap_or_default();
                calls.into_iter().map(|call| Block::Call { call }).collect()
            }
            Kind::Other(raw) if self.closed => vec![asked.origin.opaque(raw)],
            Kind::Other(_) => Vec::new(),
        }
    }
}

fn message_text(item: &Value) -> String {
    let parts = item["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    parts.iter().filter_map(|part| part["text"].as_str().or_else(|| part["refusal"].as_str())).collect()
}

fn reasoning_text(item: &Value) -> String {
    let texts = |key: &str| {
        let parts = item[key].as_array().map(Vec::as_slice).unwrap_or_default();
        let texts: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
        texts.join("\n\n")
    };
    let summary = texts("summary");
    if summary.is_empty() { texts("content") } else { summary }
}

/// Some models put several calls into one that is named `parallel`.
fn unwrapped(call: ToolCall, asked: &Asked) -> Vec<ToolCall> {
    let wraps = matches!(call.name.as_str(), "parallel" | "multi_tool_use.parallel");
    let uses = call.input["tool_uses"].as_array().filter(|uses| !uses.is_empty());
    let (true, Some(uses)) = (wraps && !asked.offered.contains(&call.name), uses) else { return vec![call] };
    let inner = |(number, one): (usize, &Value)| {
        let name = one["recipient_name"].as_str().unwrap_or_default();
        let name = name.strip_prefix("functions.").unwrap_or(name);
        let input = if one["parameters"].is_object() { one["parameters"].clone() } else { json!({}) };
        ToolCall::new(format!("{}_{number}", call.id), name, input)
    };
    uses.iter().enumerate().map(inner).collect()
}
