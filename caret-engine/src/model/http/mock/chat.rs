//! An answer as Chat Completions streams it.

use super::wire::{Wire, data, whole_input};
use caret_protocol::content::{Reply, Stop, ToolCall, Usage};
use serde_json::{Value, json};

/// Counts the calls.
#[derive(Debug, Default)]
pub(super) struct Chat {
    calls: usize,
}

fn chunk(delta: &Value, finish: Option<&str>) -> String {
    data(&json!({"id": "chatcmpl-script", "object": "chat.completion.chunk", "created": 0, "model": "script",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}))
}

impl Wire for Chat {
    fn begin(&mut self, _: Usage) -> String {
        chunk(&json!({"role": "assistant", "content": null}), None)
    }

    fn thinking(&mut self, text: &str, _: Option<&str>) -> String {
        chunk(&json!({"reasoning_content": text}), None)
    }

    fn text(&mut self, text: &str) -> String {
        chunk(&json!({"content": text}), None)
    }

    fn call(&mut self, call: &ToolCall, arguments: &[String]) -> Vec<String> {
        let index = self.calls;
        self.calls += 1;
        let first = json!({"tool_calls": [{"index": index, "id": call.id, "type": "function",
            "function": {"name": call.name, "arguments": ""}}]});
        let part = |part: &String| {
            chunk(&json!({"tool_calls": [{"index": index, "function": {"arguments": part}}]}), None)
        };
        std::iter::once(chunk(&first, None)).chain(arguments.iter().map(part)).collect()
    }

    fn end(&mut self, reply: &Reply) -> String {
        let finish = match reply.stop {
            Stop::EndTurn => "stop",
            Stop::ToolCalls => "tool_calls",
            Stop::MaxTokens => "length",
            Stop::Refusal => "content_filter",
        };
        let Usage { output, cache_read, cache_write, .. } = reply.usage;
        let input = whole_input(reply.usage);
        let usage = data(&json!({"id": "chatcmpl-script", "object": "chat.completion.chunk", "created": 0,
            "model": "script", "choices": [], "usage": {"prompt_tokens": input, "completion_tokens": output,
                "total_tokens": input.saturating_add(output),
                "prompt_tokens_details": {"cached_tokens": cache_read, "cache_write_tokens": cache_write},
                "completion_tokens_details": {"reasoning_tokens": 0}}}));
        format!("{}{usage}data: [DONE]\n\n", chunk(&json!({}), Some(finish)))
    }

    fn error(&mut self, body: &Value) -> String {
        data(body)
    }
}
