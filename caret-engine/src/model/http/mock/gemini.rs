//! An answer as Gemini streams it: every event is a whole response object.

use super::wire::{Wire, data, whole_input};
use caret_protocol::content::{Reply, Stop, ToolCall, Usage};
use serde_json::{Value, json};

/// Keeps nothing: the events are independent.
#[derive(Debug)]
pub(super) struct Gemini;

fn part(part: &Value) -> String {
    data(&json!({"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}],
        "modelVersion": "script", "responseId": "script"}))
}

impl Wire for Gemini {
    fn begin(&mut self, _: Usage) -> String {
        String::new()
    }

    fn thinking(&mut self, text: &str, signature: Option<&str>) -> String {
        let mut thought = json!({"text": text, "thought": true});
        if let Some(signature) = signature {
            thought["thoughtSignature"] = signature.into();
        }
        part(&thought)
    }

    fn text(&mut self, text: &str) -> String {
        part(&json!({"text": text}))
    }

    /// Calls arrive whole here; arguments that are no JSON can only be sent as a text.
    fn call(&mut self, call: &ToolCall, _: &[String]) -> Vec<String> {
        let args = call.malformed.as_ref().map_or_else(|| call.input.clone(), |raw| raw.as_str().into());
        vec![part(&json!({"functionCall": {"id": call.id, "name": call.name, "args": args}}))]
    }

    fn end(&mut self, reply: &Reply) -> String {
        let finish = match reply.stop {
            Stop::EndTurn | Stop::ToolCalls => "STOP",
            Stop::MaxTokens => "MAX_TOKENS",
            Stop::Refusal => "SAFETY",
        };
        let Usage { output, cache_read, .. } = reply.usage;
        let input = whole_input(reply.usage);
        data(&json!({"candidates": [{"content": {"role": "model", "parts": [{"text": ""}]},
                "finishReason": finish, "index": 0}],
            "usageMetadata": {"promptTokenCount": input, "candidatesTokenCount": output, "thoughtsTokenCount": 0,
                "cachedContentTokenCount": cache_read, "totalTokenCount": input.saturating_add(output)},
            "modelVersion": "script", "responseId": "script"}))
    }

    /// Gemini writes the bare object into the stream.
    fn error(&mut self, body: &Value) -> String {
        format!("{body:#}\n")
    }
}
