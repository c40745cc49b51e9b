//! An answer of Responses, put together from its events.
//!
//! Deltas are for show; the item that `output_item.done` brings is the truth, and without it what the deltas
//! said. The end is the event that closes the response; there is no `[DONE]`.

use super::items::{Items, Stage};
use crate::model::http::Reader;
use crate::model::http::asked::Asked;
use crate::model::http::fault::fault;
use crate::model::http::partial_call::Ended;
use crate::model::{Chunk, ModelError};
use caret_protocol::content::{Reply, Stop, Usage};
use caret_protocol::event::DeltaKind;
use serde_json::Value;

pub(super) struct ResponsesReader {
    asked: Asked,
    items: Items,
    refused: bool,
    usage: Usage,
    /// How the response ended, once it did.
    stop: Option<Stop>,
    garbled: Option<String>,
}

impl ResponsesReader {
    pub(super) fn new(asked: Asked) -> Self {
        let usage = Usage::default();
        Self { asked, items: Items::default(), refused: false, usage, stop: None, garbled: None }
    }

    fn take(&mut self, kind: &str, event: &Value) -> Result<Vec<Chunk>, ModelError> {
        let piece = event["delta"].as_str().unwrap_or_default();
        Ok(match kind {
            "response.output_item.added" => self.item(event, Stage::Begun),
            "response.output_item.done" => self.item(event, Stage::Whole),
            "response.output_text.delta" => self.words(event, piece),
            "response.refusal.delta" => {
                self.refused = true;
                self.words(event, piece)
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.thoughts(event, piece)
            }
            "response.reasoning_summary_part.added" => self.next_thought(event),
            "response.function_call_arguments.delta" => {
                if let Some(call) = self.items.of(event).call() {
                    call.add(piece);
                }
                Vec::new()
            }
            "response.function_call_arguments.done" => {
                let arguments = event["arguments"].as_str().filter(|arguments| !arguments.is_empty());
                if let (Some(call), Some(arguments)) = (self.items.of(event).call(), arguments) {
                    call.replace(arguments.to_owned());
                }
                Vec::new()
            }
            "response.completed" | "response.incomplete" | "response.failed" | "response.done" => {
                return self.end(&event["response"], kind);
            }
            "error" | "response.error" => {
                let error = event.get("error").filter(|error| !error.is_null()).unwrap_or(event);
                return Err(fault(error, &self.asked.origin.model));
            }
            _ => Vec::new(),
        })
    }

    fn item(&mut self, event: &Value, stage: Stage) -> Vec<Chunk> {
        let item = &event["item"];
        let refusal = |part: &Value| part["type"] == "refusal";
        self.refused |= item["content"].as_array().is_some_and(|parts| parts.iter().any(refusal));
        let unsaid = self.items.of(event).take(item, stage);
        delta(DeltaKind::Text, &unsaid)
    }

    fn words(&mut self, event: &Value, piece: &str) -> Vec<Chunk> {
        let Some(text) = self.items.of(event).message() else { return Vec::new() };
        text.push_str(piece);
        delta(DeltaKind::Text, piece)
    }

    fn thoughts(&mut self, event: &Value, piece: &str) -> Vec<Chunk> {
        let Some(text) = self.items.of(event).reasoning() else { return Vec::new() };
        text.push_str(piece);
        delta(DeltaKind::Thinking, piece)
    }

    /// Thoughts come in parts; a blank line stands between two.
    fn next_thought(&mut self, event: &Value) -> Vec<Chunk> {
        match self.items.of(event).reasoning() {
            Some(text) if !text.is_empty() => self.thoughts(event, "\n\n"),
            _ => Vec::new(),
        }
    }

    fn end(&mut self, response: &Value, kind: &str) -> Result<Vec<Chunk>, ModelError> {
        let status = response["status"].as_str().unwrap_or_else(|| kind.trim_start_matches("response."));
        if status == "failed" || status == "cancelled" {
            return Err(fault(&response["error"], &self.asked.origin.model));
        }
        let reason = &response["incomplete_details"]["reason"];
        self.stop = Some(match (status, reason.as_str()) {
            ("incomplete", Some("content_filter")) => Stop::Refusal,
            ("incomplete", _) => Stop::MaxTokens,
            _ => Stop::EndTurn,
        });
        self.usage = usage(&response["usage"]).unwrap_or(self.usage);
        let mut chunks = Vec::new();
        if self.items.is_empty() {
            // An answer that was not streamed has everything here.
            let output = response["output"].as_array().map(Vec::as_slice).unwrap_or_default();
            for (place, item) in output.iter().enumerate() {
                chunks.extend(
                    self.item(&serde_json::json!({"output_index": place, "item": item}), Stage::Whole),
                );
            }
        }
        Ok(chunks)
    }
}

impl Reader for ResponsesReader {
    fn event(&mut self, name: &str, data: &str) -> Result<Vec<Chunk>, ModelError> {
        if data.trim() == "[DONE]" || self.stop.is_some() {
            return Ok(Vec::new());
        }
        let Ok(event) = serde_json::from_str::<Value>(data) else {
            self.garbled = Some(data.to_owned());
            return Ok(Vec::new());
        };
        self.garbled = None;
        if event["object"] == "response" {
            return self.end(&event, "response.completed");
        }
        let error = event.get("error").filter(|error| !error.is_null());
        if let (Some(error), None) = (error, event.get("type")) {
            return Err(fault(error, &self.asked.origin.model));
        }
        let kind = event["type"].as_str().unwrap_or(name);
        self.take(kind, &event)
    }

    fn finish(self: Box<Self>) -> Result<Reply, ModelError> {
        let Some(stop) = self.stop else { return Err(self.asked.cut(self.garbled.as_deref())) };
        let stop = if self.refused { Stop::Refusal } else { stop };
        let ended = if stop == Stop::MaxTokens { Ended::Cut } else { Ended::Whole };
        let blocks = self.items.blocks(&self.asked, ended);
        Ok(self.asked.reply(blocks, stop, self.usage))
    }

    fn is_done(&self) -> bool {
        self.stop.is_some()
    }
}

fn delta(kind: DeltaKind, words: &str) -> Vec<Chunk> {
    if words.is_empty() { Vec::new() } else { vec![Chunk::Delta(kind, words.to_owned())] }
}

/// `input_tokens` includes what was cached; ours does not.
fn usage(usage: &Value) -> Option<Usage> {
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let input = usage["input_tokens"].as_u64()?;
    let details = &usage["input_tokens_details"];
    let cache_read = number(&details["cached_tokens"]);
    let cache_write = number(&details["cache_write_tokens"]);
    Some(Usage {
        input: input.saturating_sub(cache_read).saturating_sub(cache_write),
        output: number(&usage["output_tokens"]),
        cache_read,
        cache_write,
        estimated: false,
    })
}
