//! What the four formats have in common when an answer is written.

use super::{chat, gemini, messages, responses};
use crate::model::http::endpoint::Api;
use caret_protocol::content::{Reply, ToolCall, Usage};
use serde_json::{Value, json};
use std::time::Duration;

/// Writes one answer in one format. Each function gives events as text.
pub(super) trait Wire: Send {
    /// What comes before everything else.
    fn begin(&mut self, usage: Usage) -> String;
    /// Thoughts, whole.
    fn thinking(&mut self, text: &str, signature: Option<&str>) -> String;
    /// Some words.
    fn text(&mut self, text: &str) -> String;
    /// A call whose arguments come in parts, each with its own event where the format has that.
    fn call(&mut self, call: &ToolCall, arguments: &[String]) -> Vec<String>;
    /// The end of a whole answer.
    fn end(&mut self, reply: &Reply) -> String;
    /// An error in the middle of an answer.
    fn error(&mut self, body: &Value) -> String;
}

/// A writer for one answer.
pub(super) fn wire(api: Api) -> Box<dyn Wire> {
    match api {
        Api::Chat => Box::<chat::Chat>::default(),
        Api::Responses => Box::<responses::Responses>::default(),
        Api::Messages => Box::<messages::Messages>::default(),
        Api::Gemini => Box::new(gemini::Gemini),
    }
}

/// Where calls go, for people.
pub(super) fn call_path(api: Api) -> &'static str {
    match api {
        Api::Chat => "/v1/chat/completions",
        Api::Responses => "/v1/responses",
        Api::Messages => "/v1/messages",
        Api::Gemini => "/v1beta/models/MODEL:streamGenerateContent?alt=sse",
    }
}

/// Whether a path is that of a call.
pub(super) fn is_call(api: Api, path: &str) -> bool {
    match api {
        Api::Chat => path.ends_with("/chat/completions"),
        Api::Responses => path.ends_with("/responses"),
        Api::Messages => path.ends_with("/messages"),
        Api::Gemini => path.ends_with(":streamGenerateContent"),
    }
}

/// An event without a name.
pub(super) fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

/// An event that is named like its `type`.
pub(super) fn named(value: &Value) -> String {
    format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap_or_default())
}

/// An error as the format's servers write it.
pub(super) fn error_body(api: Api, status: u16, message: &str, wait: Option<Duration>) -> Value {
    let message = if message.is_empty() { format!("status {status}") } else { message.to_owned() };
    let kind = match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        503 | 529 => "overloaded_error",
        500..=599 => "api_error",
        _ => "invalid_request_error",
    };
    match api {
        Api::Chat | Api::Responses => {
            let code = if status == 429 { json!("rate_limit_exceeded") } else { Value::Null };
            json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
        }
        Api::Messages => {
            json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_script"})
        }
        Api::Gemini => {
            let name = match status {
                401 => "UNAUTHENTICATED",
                403 => "PERMISSION_DENIED",
                404 => "NOT_FOUND",
                429 => "RESOURCE_EXHAUSTED",
                503 | 529 => "UNAVAILABLE",
                500..=599 => "INTERNAL",
                _ => "INVALID_ARGUMENT",
            };
            let hint = wait.map(|wait| {
                json!({"@type": "type.googleapis.com/google.rpc.RetryInfo",
                    "retryDelay": format!("{}s", wait.as_secs_f64())})
            });
            let details: Vec<Value> = hint.into_iter().collect();
            json!({"error": {"code": status, "message": message, "status": name, "details": details}})
        }
    }
}

/// The headers that say when to come back; Gemini says it in the body.
pub(super) fn wait_headers(api: Api, wait: Option<Duration>) -> Vec<(String, String)> {
    let Some(wait) = wait else { return Vec::new() };
    match api {
        Api::Chat | Api::Responses => vec![("retry-after-ms".into(), wait.as_millis().to_string())],
        Api::Messages => vec![("retry-after".into(), wait.as_secs_f64().to_string())],
        Api::Gemini => Vec::new(),
    }
}

/// Everything that was read, cached or not: most formats count it together.
pub(super) fn whole_input(usage: Usage) -> u64 {
    usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write)
}
