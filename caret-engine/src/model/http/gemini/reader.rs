//! An answer of Gemini, put together from its chunks, each of which is a whole response.
//!
//! The end is a `finishReason` and then the end of the stream. Every chunk may have one already, so only the
//! end of the stream shows which was the last.

use super::signature_of_next;
use crate::model::http::Reader;
use crate::model::http::asked::Asked;
use crate::model::http::fault::{fault, shown};
use crate::model::{Chunk, ModelError};
use caret_protocol::content::{Block, Reply, Stop, ToolCall, Usage};
use caret_protocol::event::DeltaKind;
use serde_json::{Map, Value};

pub(super) struct GeminiReader {
    asked: Asked,
    blocks: Vec<Block>,
    /// The last block was signed, so nothing more may be added to it.
    sealed: bool,
    usage: Usage,
    reason: Option<String>,
    message: String,
    /// Nothing of the answer came after the reason.
    settled: bool,
    garbled: Option<String>,
}

impl GeminiReader {
    pub(super) fn new(asked: Asked) -> Self {
        Self {
            asked,
            blocks: Vec::new(),
            sealed: false,
            usage: Usage::default(),
            reason: None,
            message: String::new(),
            settled: false,
            garbled: None,
        }
    }

    fn candidate(&mut self, candidate: &Value, chunks: &mut Vec<Chunk>) {
        let parts = candidate["content"]["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
        for part in parts {
            self.part(part, chunks);
        }
        if !parts.is_empty() {
            self.settled = false;
        }
        if let Some(reason) = candidate["finishReason"].as_str() {
            self.reason = Some(reason.to_owned());
            self.message = candidate["finishMessage"].as_str().map(shown).unwrap_or_default();
            self.settled = true;
        }
    }

    fn part(&mut self, part: &Value, chunks: &mut Vec<Chunk>) {
        let signature = part["thoughtSignature"].as_str().filter(|signature| !signature.is_empty());
        let text = part["text"].as_str();
        // Blank words may be lost, their signature may not.
        let says = |text: &&str| !text.trim().is_empty() || (signature.is_none() && !text.is_empty());
        if let Some(call) = part.get("functionCall").filter(|call| call.is_object()) {
            self.call(call, signature);
        } else if let Some(text) = text.filter(says) {
            let kind = if part["thought"] == true { DeltaKind::Thinking } else { DeltaKind::Text };
            self.words(kind, text, signature);
            chunks.push(Chunk::Delta(kind, text.to_owned()));
        } else if signature.is_some() || (text.is_none() && is_content(part)) {
            // Only a signature, or something of the server's own: it goes back as it is.
            self.blocks.push(self.asked.origin.opaque(part.clone()));
            self.sealed = true;
        }
    }

    fn call(&mut self, call: &Value, signature: Option<&str>) {
        if call["willContinue"] == true || call.get("partialArgs").is_some() {
            // Pieces of arguments, which we do not ask for: never half a call.
            return;
        }
        let text = |key: &str| call[key].as_str().unwrap_or_default();
        let mut made = ToolCall::new(text("id"), text("name"), Map::new().into());
        match &call["args"] {
            Value::Object(input) => made.input = input.clone().into(),
            Value::Null => {}
            // Text instead of an object: perhaps an object in it, else what the model wrote.
            Value::String(text) => match serde_json::from_str::<Map<String, Value>>(text) {
                Ok(input) => made.input = input.into(),
                Err(_) => made.malformed = Some(text.clone()),
            },
            other => made.malformed = Some(other.to_string()),
        }
        self.sign(signature);
        self.blocks.push(Block::Call { call: made });
        self.sealed = true;
    }

    fn words(&mut self, kind: DeltaKind, words: &str, signature: Option<&str>) {
        let goes_on = signature.is_none() && !self.sealed;
        match (self.blocks.last_mut(), kind) {
            (Some(Block::Text { text }), DeltaKind::Text)
            | (Some(Block::Thinking { text, .. }), DeltaKind::Thinking)
                if goes_on =>
            {
                text.push_str(words);
                return;
            }
            _ => {}
        }
        if kind == DeltaKind::Thinking {
            let signature = signature.map(str::to_owned);
            self.blocks.push(Block::Thinking { text: words.to_owned(), signature });
        } else {
            self.sign(signature);
            self.blocks.push(Block::Text { text: words.to_owned() });
        }
        self.sealed = signature.is_some();
    }

    fn sign(&mut self, signature: Option<&str>) {
        let block = signature.map(|signature| self.asked.origin.opaque(signature_of_next(signature)));
        self.blocks.extend(block);
    }

    fn has_calls(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, Block::Call { .. }))
    }
}

impl Reader for GeminiReader {
    fn event(&mut self, _: &str, data: &str) -> Result<Vec<Chunk>, ModelError> {
        let Ok(chunk) = serde_json::from_str::<Value>(data) else {
            if data.trim() != "[DONE]" {
                self.garbled = Some(data.to_owned());
            }
            return Ok(Vec::new());
        };
        self.garbled = None;
        let chunk = chunk.as_array().and_then(|list| list.first()).unwrap_or(&chunk);
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            return Err(fault(error, &self.asked.origin.model));
        }
        let mut chunks = Vec::new();
        if let Some(candidate) = chunk["candidates"].as_array().and_then(|candidates| candidates.first()) {
            self.candidate(candidate, &mut chunks);
        } else if let Some(reason) = chunk["promptFeedback"]["blockReason"].as_str() {
            self.reason = Some("SAFETY".into());
            self.settled = true;
            let words = format!("The request was blocked by the model's server: {}", shown(reason));
            self.words(DeltaKind::Text, &words, None);
            chunks.push(Chunk::Delta(DeltaKind::Text, words));
        }
        self.usage = usage(&chunk["usageMetadata"]).unwrap_or(self.usage);
        Ok(chunks)
    }

    fn finish(self: Box<Self>) -> Result<Reply, ModelError> {
        if !self.settled {
            return Err(self.asked.cut(self.garbled.as_deref()));
        }
        let reason = self.reason.as_deref().unwrap_or_default();
        let stop = match reason {
            "MAX_TOKENS" => Stop::MaxTokens,
            "SAFETY" | "RECITATION" | "PROHIBITED_CONTENT" | "BLOCKLIST" | "SPII" | "LANGUAGE" => {
                Stop::Refusal
            }
            "MALFORMED_FUNCTION_CALL"
            | "UNEXPECTED_TOOL_CALL"
            | "MALFORMED_RESPONSE"
            | "TOO_MANY_TOOL_CALLS"
                if !self.has_calls() =>
            {
                let why = format!("`{}` made a call that its server could not read", self.asked.origin.model);
                return Err(ModelError::Broken(
                    format!("{why} ({reason}) {}", self.message).trim_end().into(),
                ));
            }
            _ => Stop::EndTurn,
        };
        Ok(self.asked.reply(self.blocks, stop, self.usage))
    }

    fn is_done(&self) -> bool {
        false
    }
}

/// Whether a part has anything besides flags.
fn is_content(part: &Value) -> bool {
    part.as_object().is_some_and(|part| part.keys().any(|key| key != "thought" && key != "partMetadata"))
}

/// Totals so far. The prompt includes what was cached, the answer does not include the thoughts.
fn usage(usage: &Value) -> Option<Usage> {
    let number = |key: &str| usage[key].as_u64().unwrap_or_default();
    usage.as_object()?;
    let cache_read = number("cachedContentTokenCount");
    let prompt = number("promptTokenCount").saturating_add(number("toolUsePromptTokenCount"));
    Some(Usage {
        input: prompt.saturating_sub(cache_read),
        output: number("candidatesTokenCount").saturating_add(number("thoughtsTokenCount")),
        cache_read,
        cache_write: 0,
        estimated: false,
    })
}
