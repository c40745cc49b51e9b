//! An answer of Messages, put together from its events. The end is `message_stop`.

use super::blocks::Parts;
use crate::model::http::Reader;
use crate::model::http::asked::Asked;
use crate::model::http::fault::fault;
use crate::model::http::partial_call::Ended;
use crate::model::{Chunk, ModelError};
use caret_protocol::content::{Block, Reply, Stop, Usage};
use caret_protocol::event::DeltaKind;
use serde_json::Value;

pub(super) struct MessagesReader {
    asked: Asked,
    message: Option<String>,
    parts: Parts,
    usage: Usage,
    reason: Option<String>,
    done: bool,
    garbled: Option<String>,
}

impl MessagesReader {
    pub(super) fn new(asked: Asked) -> Self {
        Self {
            asked,
            message: None,
            parts: Parts::default(),
            usage: Usage::default(),
            reason: None,
            done: false,
            garbled: None,
        }
    }

    fn take(&mut self, kind: &str, event: &Value) -> Vec<Chunk> {
        let index = event["index"].as_u64();
        match kind {
            "message_start" => {
                self.start(&event["message"]);
                Vec::new()
            }
            "content_block_start" => delta(self.parts.begin(index, &event["content_block"])),
            "content_block_delta" => delta(self.parts.add(index, &event["delta"])),
            "content_block_stop" => {
                self.parts.close(index);
                Vec::new()
            }
            "message_delta" => {
                count(&mut self.usage, &event["usage"]);
                self.stop(&event["delta"])
            }
            "message_stop" => {
                self.done = true;
                Vec::new()
            }
            "message" => self.whole(event),
            _ => Vec::new(),
        }
    }

    /// A gateway may send the same start twice; another id means that the server began anew.
    fn start(&mut self, message: &Value) {
        let id = message["id"].as_str().unwrap_or_default();
        if self.message.as_deref().is_some_and(|known| known != id) {
            self.parts.clear();
            self.usage = Usage::default();
        }
        self.message = Some(id.to_owned());
        count(&mut self.usage, &message["usage"]);
    }

    fn stop(&mut self, delta_of: &Value) -> Vec<Chunk> {
        let Some(reason) = delta_of["stop_reason"].as_str() else { return Vec::new() };
        self.reason = Some(reason.to_owned());
        let why = delta_of["stop_details"]["explanation"].as_str().unwrap_or_default();
        if reason != "refusal" || why.is_empty() || self.parts.has_words() {
            return Vec::new();
        }
        // A refusal without a word would look like an empty answer.
        let said = self.parts.begin(None, &serde_json::json!({"type": "text", "text": why}));
        self.parts.close(None);
        delta(said)
    }

    /// An answer that was not streamed.
    fn whole(&mut self, message: &Value) -> Vec<Chunk> {
        self.start(message);
        let mut chunks = Vec::new();
        for block in message["content"].as_array().into_iter().flatten() {
            chunks.extend(delta(self.parts.begin(None, block)));
            self.parts.close(None);
        }
        chunks.extend(self.stop(message));
        self.done = true;
        chunks
    }
}

impl Reader for MessagesReader {
    fn event(&mut self, name: &str, data: &str) -> Result<Vec<Chunk>, ModelError> {
        if data.trim() == "[DONE]" || self.done {
            return Ok(Vec::new());
        }
        let Ok(event) = serde_json::from_str::<Value>(data) else {
            self.garbled = Some(data.to_owned());
            return Ok(Vec::new());
        };
        self.garbled = None;
        let kind = event["type"].as_str().unwrap_or(name);
        let error = event.get("error").filter(|error| !error.is_null());
        if kind == "error" || (error.is_some() && event.get("type").is_none()) {
            return Err(fault(error.unwrap_or(&event), &self.asked.origin.model));
        }
        Ok(self.take(kind, &event))
    }

    fn finish(self: Box<Self>) -> Result<Reply, ModelError> {
        if !self.done {
            return Err(self.asked.cut(self.garbled.as_deref()));
        }
        let full = self.reason.as_deref() == Some("model_context_window_exceeded");
        let stop = match self.reason.as_deref() {
            Some("refusal") => Stop::Refusal,
            Some("max_tokens") => Stop::MaxTokens,
            _ if full => Stop::MaxTokens,
            _ => Stop::EndTurn,
        };
        let ended = if stop == Stop::MaxTokens { Ended::Cut } else { Ended::Whole };
        let blocks = self.parts.blocks(&self.asked, ended);
        if full && !blocks.iter().any(|block| matches!(block, Block::Call { .. })) {
            return Err(ModelError::TooLong(self.asked.origin.model));
        }
        Ok(self.asked.reply(blocks, stop, self.usage))
    }

    fn is_done(&self) -> bool {
        self.done
    }
}

fn delta(said: Option<(DeltaKind, String)>) -> Vec<Chunk> {
    said.map(|(kind, text)| Chunk::Delta(kind, text)).into_iter().collect()
}

/// Counts are totals so far; a later event may repeat or correct them, and leaves out what it does not know.
fn count(usage: &mut Usage, told: &Value) {
    let members = [
        ("input_tokens", &mut usage.input),
        ("output_tokens", &mut usage.output),
        ("cache_read_input_tokens", &mut usage.cache_read),
        ("cache_creation_input_tokens", &mut usage.cache_write),
    ];
    for (name, into) in members {
        *into = told[name].as_u64().unwrap_or(*into);
    }
}
