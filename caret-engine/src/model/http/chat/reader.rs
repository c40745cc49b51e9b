//! An answer of Chat Completions, put together from its chunks.
//!
//! The end is `[DONE]`. Servers without it are believed when a `finish_reason` was the last thing that came
//! about the answer; anything else is a cut.

use super::pieces::{Calls, add_detail};
use super::think::Thinker;
use crate::model::http::Reader;
use crate::model::http::asked::Asked;
use crate::model::http::fault::fault;
use crate::model::http::partial_call::{Ended, finish_all};
use crate::model::{Chunk, ModelError};
use caret_protocol::content::{Block, Reply, Stop, Usage};
use caret_protocol::event::DeltaKind;
use serde_json::{Map, Value, json};

pub(super) struct ChatReader {
    asked: Asked,
    returns_reasoning: bool,
    thinker: Thinker,
    thinking: String,
    text: String,
    calls: Calls,
    details: Vec<Value>,
    refused: bool,
    usage: Usage,
    /// The last reason to stop that came.
    finish: Option<String>,
    /// Nothing of the answer came after that reason.
    settled: bool,
    done: bool,
    garbled: Option<String>,
}

impl ChatReader {
    pub(super) fn new(asked: Asked, returns_reasoning: bool) -> Self {
        Self {
            asked,
            returns_reasoning,
            thinker: Thinker::default(),
            thinking: String::new(),
            text: String::new(),
            calls: Calls::default(),
            details: Vec::new(),
            refused: false,
            usage: Usage::default(),
            finish: None,
            settled: false,
            done: false,
            garbled: None,
        }
    }

    fn choice(&mut self, choice: &Value, chunks: &mut Vec<Chunk>) {
        // A server that does not stream sends `message` once.
        let delta = choice.get("delta").filter(|delta| !delta.is_null()).unwrap_or(&choice["message"]);
        let before = chunks.len();
        self.reasoning(delta, chunks);
        self.content(&delta["content"], chunks);
        if let Some(words) = delta["refusal"].as_str().filter(|words| !words.is_empty()) {
            self.refused = true;
            self.say(DeltaKind::Text, words, chunks);
        }
        let pieces = delta["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        pieces.iter().for_each(|piece| self.calls.add(piece));
        if chunks.len() > before || !pieces.is_empty() {
            self.settled = false;
        }
        if let Some(reason) = choice["finish_reason"].as_str().filter(|reason| !reason.is_empty()) {
            self.finish = Some(reason.to_owned());
            self.settled = true;
            if let Some((kind, words)) = self.thinker.end() {
                self.say(kind, &words, chunks);
            }
        }
    }

    fn reasoning(&mut self, delta: &Value, chunks: &mut Vec<Chunk>) {
        let details = delta["reasoning_details"].as_array().map(Vec::as_slice).unwrap_or_default();
        details.iter().for_each(|detail| add_detail(&mut self.details, detail));
        // The same words may come under several names; one is enough.
        let plain = ["reasoning_content", "reasoning"].into_iter().find_map(|key| delta[key].as_str());
        if let Some(words) = plain {
            self.say(DeltaKind::Thinking, words, chunks);
            return;
        }
        for detail in details {
            let words = detail["text"].as_str().or_else(|| detail["summary"].as_str());
            self.say(DeltaKind::Thinking, words.unwrap_or_default(), chunks);
        }
    }

    fn content(&mut self, content: &Value, chunks: &mut Vec<Chunk>) {
        match content {
            Value::String(words) => self.words(words, chunks),
            Value::Array(parts) => {
                for part in parts {
                    match part["type"].as_str() {
                        Some("thinking" | "reasoning") => self.thoughts(part, chunks),
                        _ => self.words(part["text"].as_str().unwrap_or_default(), chunks),
                    }
                }
            }
            _ => {}
        }
    }

    /// A typed part of thoughts: text, or a list of texts.
    fn thoughts(&mut self, part: &Value, chunks: &mut Vec<Chunk>) {
        match part.get("thinking").or_else(|| part.get("text")) {
            Some(Value::String(words)) => self.say(DeltaKind::Thinking, words, chunks),
            Some(Value::Array(texts)) => {
                for text in texts {
                    self.say(DeltaKind::Thinking, text["text"].as_str().unwrap_or_default(), chunks);
                }
            }
            _ => {}
        }
    }

    fn words(&mut self, words: &str, chunks: &mut Vec<Chunk>) {
        for (kind, words) in self.thinker.add(words) {
            self.say(kind, &words, chunks);
        }
    }

    fn say(&mut self, kind: DeltaKind, words: &str, chunks: &mut Vec<Chunk>) {
        if words.is_empty() {
            return;
        }
        match kind {
            DeltaKind::Text => self.text.push_str(words),
            DeltaKind::Thinking => self.thinking.push_str(words),
        }
        chunks.push(Chunk::Delta(kind, words.to_owned()));
    }

    fn stop(&self) -> Stop {
        match self.finish.as_deref() {
            _ if self.refused => Stop::Refusal,
            Some("length") => Stop::MaxTokens,
            Some("content_filter") => Stop::Refusal,
            _ => Stop::EndTurn,
        }
    }

    /// What goes back beside the words, in the members that it came in.
    fn beside(&mut self) -> Option<Block> {
        let mut members = Map::new();
        if self.returns_reasoning && !self.thinking.is_empty() {
            members.insert("reasoning_content".into(), json!(self.thinking));
        }
        if !self.details.is_empty() {
            members.insert("reasoning_details".into(), std::mem::take(&mut self.details).into());
        }
        (!members.is_empty()).then(|| self.asked.origin.opaque(members.into()))
    }
}

impl Reader for ChatReader {
    fn event(&mut self, _: &str, data: &str) -> Result<Vec<Chunk>, ModelError> {
        if data.trim() == "[DONE]" {
            self.done = true;
            return Ok(Vec::new());
        }
        let Ok(chunk) = serde_json::from_str::<Value>(data) else {
            self.garbled = Some(data.to_owned());
            return Ok(Vec::new());
        };
        self.garbled = None;
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            return Err(fault(error, &self.asked.origin.model));
        }
        let mut chunks = Vec::new();
        // We ask for one answer; some servers number it from 1.
        if let Some(choice) = chunk["choices"].as_array().and_then(|choices| choices.first()) {
            self.choice(choice, &mut chunks);
            self.usage = usage(&choice["usage"]).unwrap_or(self.usage);
        }
        let told = usage(&chunk["usage"]).or_else(|| usage(&chunk["x_groq"]["usage"]));
        self.usage = told.unwrap_or(self.usage);
        Ok(chunks)
    }

    fn finish(mut self: Box<Self>) -> Result<Reply, ModelError> {
        if !self.done && !self.settled {
            return Err(self.asked.cut(self.garbled.as_deref()));
        }
        if self.finish.as_deref() == Some("error") {
            return Err(ModelError::Broken(format!(
                "`{}` ended its answer with an error",
                self.asked.origin.model
            )));
        }
        if self.finish.is_none() && !self.calls.is_empty() && !self.calls.are_whole() {
            // Nobody says that the model was finished with this call.
            return Err(self.asked.cut(self.garbled.as_deref()));
        }
        if let Some((kind, words)) = self.thinker.end() {
            self.say(kind, &words, &mut Vec::new());
        }
        let stop = self.stop();
        let ended = if stop == Stop::MaxTokens { Ended::Cut } else { Ended::Whole };
        let beside = self.beside();
        let mut blocks = Vec::new();
        if !self.thinking.is_empty() {
            blocks.push(Block::Thinking { text: self.thinking, signature: None });
        }
        blocks.extend(beside);
        blocks.push(Block::Text { text: self.text });
        blocks.extend(finish_all(self.calls.finished(), ended).map(|call| Block::Call { call }));
        Ok(self.asked.reply(blocks, stop, self.usage))
    }

    fn is_done(&self) -> bool {
        self.done
    }
}

/// `prompt_tokens` includes what was cached; ours does not.
fn usage(usage: &Value) -> Option<Usage> {
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    let prompt = usage["prompt_tokens"].as_u64()?;
    let details = &usage["prompt_tokens_details"];
    let cache_read = details["cached_tokens"].as_u64().unwrap_or(number(&usage["prompt_cache_hit_tokens"]));
    let cache_write = number(&details["cache_write_tokens"]);
    Some(Usage {
        input: prompt.saturating_sub(cache_read).saturating_sub(cache_write),
        output: number(&usage["completion_tokens"]),
        cache_read,
        cache_write,
        estimated: false,
    })
}
