//! The blocks of an answer while they are being made.

use crate::model::http::asked::Asked;
use crate::model::http::partial_call::{Ended, PartialCall};
use caret_protocol::content::Block;
use caret_protocol::event::DeltaKind;
use serde_json::Value;
use std::collections::BTreeMap;

/// One block so far.
#[derive(Debug)]
pub(super) struct Part {
    kind: Kind,
    /// The server has said that it is whole.
    closed: bool,
}

#[derive(Debug)]
enum Kind {
    Text(String),
    Thinking {
        text: String,
        signature: String,
    },
    Call(PartialCall),
    /// A block of the server's own, and its input if that comes in pieces.
    Other {
        raw: Value,
        input: String,
    },
}

/// All blocks, by their index.
#[derive(Debug, Default)]
pub(super) struct Parts(BTreeMap<u64, Part>);

impl Parts {
    /// A block begins. Gives the words that came with it.
    pub(super) fn begin(&mut self, index: Option<u64>, block: &Value) -> Option<(DeltaKind, String)> {
        let text = |key: &str| block[key].as_str().unwrap_or_default().to_owned();
        let kind = match block["type"].as_str().unwrap_or_default() {
            "text" => Kind::Text(text("text")),
            "thinking" => Kind::Thinking { text: text("thinking"), signature: text("signature") },
            "tool_use" => {
                let mut call = PartialCall::default();
                call.introduce(&text("id"), &text("name"));
                // Some servers send the whole input here and no pieces.
                if block["input"].as_object().is_some_and(|input| !input.is_empty()) {
                    call.replace(block["input"].to_string());
                }
                Kind::Call(call)
            }
            _ => Kind::Other { raw: block.clone(), input: String::new() },
        };
        let said = match &kind {
            Kind::Text(text) => Some((DeltaKind::Text, text.clone())),
            Kind::Thinking { text, .. } => Some((DeltaKind::Thinking, text.clone())),
            Kind::Call(_) | Kind::Other { .. } => None,
        };
        let next = self.0.last_key_value().map_or(0, |(last, _)| last.saturating_add(1));
        self.0.insert(index.unwrap_or(next), Part { kind, closed: false });
        said.filter(|(_, text)| !text.is_empty())
    }

    /// More of a block. Gives the words in it.
    pub(super) fn add(&mut self, index: Option<u64>, delta: &Value) -> Option<(DeltaKind, String)> {
        let text = |key: &str| delta[key].as_str().unwrap_or_default();
        match (delta["type"].as_str()?, &mut self.part(index)?.kind) {
            ("text_delta", Kind::Text(words)) => {
                words.push_str(text("text"));
                Some((DeltaKind::Text, text("text").to_owned()))
            }
            ("thinking_delta", Kind::Thinking { text: words, .. }) => {
                words.push_str(text("thinking"));
                Some((DeltaKind::Thinking, text("thinking").to_owned()))
            }
            ("signature_delta", Kind::Thinking { signature, .. }) => {
                signature.push_str(text("signature"));
                None
            }
            ("input_json_delta", Kind::Call(call)) => {
                call.add(text("partial_json"));
                None
            }
            ("input_json_delta", Kind::Other { input, .. }) => {
                input.push_str(text("partial_json"));
                None
            }
            _ => None,
        }
        .filter(|(_, text)| !text.is_empty())
    }

    /// A block is whole.
    pub(super) fn close(&mut self, index: Option<u64>) {
        if let Some(part) = self.part(index) {
            part.closed = true;
        }
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn has_words(&self) -> bool {
        self.0.values().any(|part| matches!(&part.kind, Kind::Text(text) if !text.is_empty()))
    }

    /// The blocks of a reply, in order.
    pub(super) fn blocks(self, asked: &Asked, ended: Ended) -> Vec<Block> {
        let last = self.0.last_key_value().map(|(last, _)| *last);
        let blocks = self.0.into_iter().filter_map(|(index, part)| {
            // The server went on after it, so it was finished.
            let finished = part.closed && (ended == Ended::Whole || Some(index) != last);
            part.block(asked, if finished { Ended::Whole } else { Ended::Cut })
        });
        blocks.collect()
    }

    fn part(&mut self, index: Option<u64>) -> Option<&mut Part> {
        match index {
            Some(index) => self.0.get_mut(&index),
            None => self.0.values_mut().next_back(),
        }
    }
}

impl Part {
    fn block(self, asked: &Asked, ended: Ended) -> Option<Block> {
        match self.kind {
            Kind::Text(text) => (!text.is_empty()).then_some(Block::Text { text }),
            Kind::Thinking { text, signature } => {
                let signature = Some(signature).filter(|signature| self.closed && !signature.is_empty());
                (!text.is_empty() || signature.is_some()).then_some(Block::Thinking { text, signature })
            }
            Kind::Call(call) => call.finish(ended).map(|call| Block::Call { call }),
            Kind::Other { mut raw, input } => {
                if !input.is_empty() {
                    raw.as_object_mut()?.insert("input".into(), serde_json::from_str(&input).ok()?);
                }
                self.closed.then(|| asked.origin.opaque(raw))
            }
        }
    }
}
