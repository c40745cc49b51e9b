//! An answer as Anthropic Messages streams it: numbered blocks that are opened, filled and closed.

use super::wire::{Wire, named};
use caret_protocol::content::{Reply, Stop, ToolCall, Usage};
use serde_json::{Value, json};

/// Which block is being written.
#[derive(Debug, Default)]
pub(super) struct Messages {
    index: usize,
    text_is_open: bool,
}

impl Messages {
    fn start(&mut self, block: &Value) -> String {
        named(&json!({"type": "content_block_start", "index": self.index, "content_block": block}))
    }

    fn delta(&self, delta: &Value) -> String {
        named(&json!({"type": "content_block_delta", "index": self.index, "delta": delta}))
    }

    fn stop(&mut self) -> String {
        let event = named(&json!({"type": "content_block_stop", "index": self.index}));
        self.index += 1;
        event
    }

    fn close_text(&mut self) -> String {
        if std::mem::take(&mut self.text_is_open) { self.stop() } else { String::new() }
    }
}

impl Wire for Messages {
    fn begin(&mut self, usage: Usage) -> String {
        named(&json!({"type": "message_start", "message": {"id": "msg_script", "type": "message",
            "role": "assistant", "model": "script", "content": [], "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": usage.input, "cache_read_input_tokens": usage.cache_read,
                "cache_creation_input_tokens": usage.cache_write, "output_tokens": 1}}}))
    }

    fn thinking(&mut self, text: &str, signature: Option<&str>) -> String {
        let mut events = self.close_text();
        events.push_str(&self.start(&json!({"type": "thinking", "thinking": "", "signature": ""})));
        events.push_str(&self.delta(&json!({"type": "thinking_delta", "thinking": text})));
        if let Some(signature) = signature {
            events.push_str(&self.delta(&json!({"type": "signature_delta", "signature": signature})));
        }
        events.push_str(&self.stop());
        events
    }

    fn text(&mut self, text: &str) -> String {
        let mut events = String::new();
        if !std::mem::replace(&mut self.text_is_open, true) {
            events = self.start(&json!({"type": "text", "text": ""}));
        }
        events.push_str(&self.delta(&json!({"type": "text_delta", "text": text})));
        events
    }

    fn call(&mut self, call: &ToolCall, arguments: &[String]) -> Vec<String> {
        let mut first = self.close_text();
        let block = json!({"type": "tool_use", "id": call.id, "name": call.name, "input": {}});
        first.push_str(&self.start(&block));
        let mut events = vec![first];
        for part in arguments {
            events.push(self.delta(&json!({"type": "input_json_delta", "partial_json": part})));
        }
        events.push(self.stop());
        events
    }

    fn end(&mut self, reply: &Reply) -> String {
        let stop = match reply.stop {
            Stop::EndTurn => "end_turn",
            Stop::ToolCalls => "tool_use",
            Stop::MaxTokens => "max_tokens",
            Stop::Refusal => "refusal",
        };
        let mut events = self.close_text();
        events.push_str(&named(&json!({"type": "message_delta",
            "delta": {"stop_reason": stop, "stop_sequence": null},
            "usage": {"output_tokens": reply.usage.output}})));
        events.push_str(&named(&json!({"type": "message_stop"})));
        events
    }

    fn error(&mut self, body: &Value) -> String {
        named(body)
    }
}
