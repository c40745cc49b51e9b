//! An answer as Responses streams it: items that are added, filled and done.

use super::wire::{Wire, named, whole_input};
use caret_protocol::content::{Reply, Stop, ToolCall, Usage};
use serde_json::{Value, json};

/// The items so far, and the text that is being written.
#[derive(Debug, Default)]
pub(super) struct Responses {
    sequence: u64,
    items: Vec<Value>,
    text: Option<String>,
}

impl Responses {
    fn event(&mut self, kind: &str, mut fields: Value) -> String {
        let mut event = json!({"type": kind, "sequence_number": self.sequence});
        self.sequence += 1;
        if let (Some(event), Some(fields)) = (event.as_object_mut(), fields.as_object_mut()) {
            event.append(fields);
        }
        named(&event)
    }

    fn added(&mut self, item: &Value) -> String {
        let index = self.items.len();
        self.event("response.output_item.added", json!({"output_index": index, "item": item}))
    }

    fn done(&mut self, item: Value) -> String {
        let index = self.items.len();
        let event = self.event("response.output_item.done", json!({"output_index": index, "item": item}));
        self.items.push(item);
        event
    }

    /// Fields that say which item an event belongs to.
    fn of(&self, prefix: &str) -> Value {
        let index = self.items.len();
        json!({"item_id": format!("{prefix}_{index}"), "output_index": index})
    }

    fn close_text(&mut self) -> String {
        let Some(text) = self.text.take() else { return String::new() };
        let id = format!("msg_{}", self.items.len());
        let part = json!({"type": "output_text", "text": text, "annotations": []});
        let mut fields = self.of("msg");
        fields["content_index"] = 0.into();
        fields["text"] = text.into();
        let mut events = self.event("response.output_text.done", fields);
        events.push_str(&self.done(json!({"type": "message", "id": id, "role": "assistant",
            "status": "completed", "content": [part]})));
        events
    }

    fn response(&self, status: &str) -> Value {
        json!({"id": "resp_script", "object": "response", "model": "script", "status": status, "error": null,
            "incomplete_details": null, "output": self.items})
    }
}

impl Wire for Responses {
    fn begin(&mut self, _: Usage) -> String {
        let response = self.response("in_progress");
        self.event("response.created", json!({"response": response}))
    }

    fn thinking(&mut self, text: &str, signature: Option<&str>) -> String {
        let mut events = self.close_text();
        let id = format!("rs_{}", self.items.len());
        events.push_str(&self.added(&json!({"type": "reasoning", "id": id, "summary": []})));
        let mut fields = self.of("rs");
        fields["summary_index"] = 0.into();
        fields["delta"] = text.into();
        events.push_str(&self.event("response.reasoning_summary_text.delta", fields));
        let mut item =
            json!({"type": "reasoning", "id": id, "summary": [{"type": "summary_text", "text": text}]});
        if let Some(signature) = signature {
            item["encrypted_content"] = signature.into();
        }
        events.push_str(&self.done(item));
        events
    }

    fn text(&mut self, text: &str) -> String {
        let mut events = String::new();
        if self.text.is_none() {
            let id = format!("msg_{}", self.items.len());
            events = self.added(&json!({"type": "message", "id": id, "role": "assistant",
                "status": "in_progress", "content": []}));
            let mut fields = self.of("msg");
            fields["content_index"] = 0.into();
            fields["part"] = json!({"type": "output_text", "text": "", "annotations": []});
            events.push_str(&self.event("response.content_part.added", fields));
        }
        self.text.get_or_insert_default().push_str(text);
        let mut fields = self.of("msg");
        fields["content_index"] = 0.into();
        fields["delta"] = text.into();
        events.push_str(&self.event("response.output_text.delta", fields));
        events
    }

    fn call(&mut self, call: &ToolCall, arguments: &[String]) -> Vec<String> {
        let mut first = self.close_text();
        let id = format!("fc_{}", self.items.len());
        let item = |arguments: &str, status: &str| {
            json!({"type": "function_call", "id": id, "call_id": call.id, "name": call.name,
                "arguments": arguments, "status": status})
        };
        first.push_str(&self.added(&item("", "in_progress")));
        let mut events = vec![first];
        for part in arguments {
            let mut fields = self.of("fc");
            fields["delta"] = part.as_str().into();
            events.push(self.event("response.function_call_arguments.delta", fields));
        }
        let whole = arguments.concat();
        let mut fields = self.of("fc");
        fields["arguments"] = whole.as_str().into();
        let mut last = self.event("response.function_call_arguments.done", fields);
        last.push_str(&self.done(item(&whole, "completed")));
        events.push(last);
        events
    }

    fn end(&mut self, reply: &Reply) -> String {
        let mut events = self.close_text();
        let (kind, status, reason) = match reply.stop {
            Stop::EndTurn | Stop::ToolCalls => ("response.completed", "completed", None),
            Stop::MaxTokens => ("response.incomplete", "incomplete", Some("max_output_tokens")),
            Stop::Refusal => ("response.incomplete", "incomplete", Some("content_filter")),
        };
        let Usage { output, cache_read, cache_write, .. } = reply.usage;
        let input = whole_input(reply.usage);
        let mut response = self.response(status);
        if let Some(reason) = reason {
            response["incomplete_details"] = json!({"reason": reason});
        }
        response["usage"] = json!({"input_tokens": input, "output_tokens": output,
            "input_tokens_details": {"cached_tokens": cache_read, "cache_write_tokens": cache_write},
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": input.saturating_add(output)});
        events.push_str(&self.event(kind, json!({"response": response})));
        events
    }

    fn error(&mut self, body: &Value) -> String {
        let mut response = self.response("failed");
        response["error"] = json!({"code": body["error"]["type"], "message": body["error"]["message"]});
        self.event("response.failed", json!({"response": response}))
    }
}
