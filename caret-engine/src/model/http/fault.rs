//! An error that a server tells in the middle of an answer, as one of ours.
//!
//! Vendors put the kind into a number, a code, a type or a status, and sometimes only into the words. What
//! may pass by itself must not be told as final, and what is final must not be tried again.

use super::retry_hint;
use crate::model::ModelError;
use serde_json::Value;

/// As much of a server's words as people get to see.
const LONGEST: usize = 500;

const TOO_LONG: [&str; 7] = [
    "context_length_exceeded",
    "exceed_context_size_error",
    "model_context_window_exceeded",
    "prompt is too long",
    "maximum context length",
    "exceeds the context window",
    "exceeds the maximum number of tokens",
];
const NO_MONEY: [&str; 4] =
    ["insufficient_quota", "credit_balance_exhausted", "billing_error", "billing_hard_limit"];
const SIGNED_OUT: [&str; 6] = [
    "authentication_error",
    "invalid_api_key",
    "permission_error",
    "unauthenticated",
    "permission_denied",
    "invalid_authentication",
];
const BUSY: [&str; 9] = [
    "rate_limit",
    "overloaded",
    "too_many_requests",
    "resource_exhausted",
    "unavailable",
    "deadline_exceeded",
    "timeout",
    "slow_down",
    "server_is_overloaded",
];
const FAILED: [&str; 5] = ["server_error", "api_error", "internal", "processing_error", "aborted"];
const REFUSED: [&str; 6] = [
    "invalid_request",
    "invalid_argument",
    "not_found",
    "invalid_prompt",
    "request_too_large",
    "failed_precondition",
];

/// What an error object means. `model` is named when the conversation is too long for it.
pub(super) fn fault(error: &Value, model: &str) -> ModelError {
    let error = unwrapped(error);
    let message = message(error);
    let status = status(error);
    let kinds = kinds(error);
    let says = |words: &[&str]| words.iter().any(|word| kinds.contains(word));
    let said = message.to_lowercase();
    let counted = said.contains("input token count") && said.contains("exceeds");
    if counted || says(&TOO_LONG) || TOO_LONG.iter().any(|words| said.contains(words)) {
        return ModelError::TooLong(model.into());
    }
    if says(&NO_MONEY) || status == Some(402) {
        return ModelError::Refused(format!(
            "the account has no credit left: {message}; add some or choose another model"
        ));
    }
    if says(&SIGNED_OUT) || matches!(status, Some(401 | 403)) {
        return ModelError::Unauthorized(message);
    }
    if says(&BUSY) || matches!(status, Some(408 | 409 | 429 | 502 | 503 | 504 | 529)) {
        return ModelError::Busy { retry_after: retry_hint::in_error(error), message };
    }
    if says(&FAILED) || status.is_some_and(|status| status >= 500) {
        return ModelError::Broken(format!("the server says: {message}"));
    }
    if says(&REFUSED) || status.is_some_and(|status| (400..500).contains(&status)) {
        return ModelError::Refused(format!(
            "the server refused the request: {message}; check the model's id and its options"
        ));
    }
    ModelError::Broken(format!("the server says: {message}"))
}

/// The error in a text that is nothing but an error body, with or without the list that some put around it.
/// For stray lines of a stream and for bodies that should have been streams.
pub fn fault_in_text(text: &str, model: &str) -> Option<ModelError> {
    let value: Value = serde_json::from_str(text.trim()).ok()?;
    let value = value.as_array().and_then(|list| list.first()).unwrap_or(&value);
    Some(fault(value.get("error").filter(|error| !error.is_null())?, model))
}

/// Text without anything that could move a cursor, and not too much of it.
pub(super) fn shown(text: &str) -> String {
    let clean = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    let mut shown: String = clean.take(LONGEST).collect();
    shown.truncate(shown.trim_end().len());
    shown
}

/// Some gateways put the vendor's error into their own.
fn unwrapped(error: &Value) -> &Value {
    error.get("error").filter(|inner| inner.is_object()).unwrap_or(error)
}

fn message(error: &Value) -> String {
    let text = error.as_str().or_else(|| error["message"].as_str()).filter(|text| !text.is_empty());
    shown(&text.map_or_else(|| error.to_string(), |text| text.trim().trim_end_matches('.').to_owned()))
}

fn status(error: &Value) -> Option<u64> {
    [&error["code"], &error["status"], &error["http_code"], &error["type"]]
        .into_iter()
        .find_map(|value| value.as_u64().or_else(|| value.as_str()?.parse().ok()))
}

fn kinds(error: &Value) -> String {
    let words = [&error["type"], &error["code"], &error["status"], &error["details"]["error_code"]];
    let words: Vec<&str> = words.into_iter().filter_map(Value::as_str).collect();
    words.join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::{fault, fault_in_text};
    use expect_test::expect;
    use serde_json::json;

    #[test]
    fn the_vendors_errors_become_ours() {
        let errors = [
            json!({"message": "m", "type": "invalid_request_error", "param": "messages", "code": "context_length_exceeded"}),
            json!({"message": "the request exceeds the available context size", "type": "exceed_context_size_error", "code": 400, "n_ctx": 8}),
            json!({"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8 maximum"}),
            json!({"code": 400, "status": "INVALID_ARGUMENT", "message": "The input token count (9) exceeds the maximum (8)."}),
            json!({"type": "overloaded_error", "message": "Overloaded"}),
            json!({"type": "rate_limit_error", "message": "slow down"}),
            json!({"code": "rate_limit_exceeded", "message": "Rate limit reached. Please try again in 11.054s. Visit the page."}),
            json!({"code": 429, "message": "quota", "status": "RESOURCE_EXHAUSTED", "details": [{"@type": "t.RetryInfo", "retryDelay": "34.4s"}]}),
            json!({"code": 429, "message": "try again in 1m30s", "type": "requests"}),
            json!({"code": "429", "message": "try again in 120ms"}),
            json!({"message": "Loading model", "type": "unavailable_error", "code": 503}),
            json!({"type": "insufficient_quota", "code": "insufficient_quota", "message": "no money"}),
            json!({"type": "authentication_error", "message": "invalid x-api-key"}),
            json!({"code": 403, "status": "PERMISSION_DENIED", "message": "not here"}),
            json!({"type": "api_error", "message": "Internal server error"}),
            json!({"code": 500, "message": "does not parse", "type": "server_error"}),
            json!({"type": "not_found_error", "message": "model: m"}),
            json!({"code": 400, "message": "bad\u{1b}[31m\nthing"}),
            json!({"error": {"type": "overloaded_error", "message": "inside"}}),
            json!("only words"),
            json!({"odd": 1}),
        ];
        let lines: Vec<String> = errors.iter().map(|error| format!("{:?}", fault(error, "small"))).collect();
        expect![[r#"
            TooLong("small")
            TooLong("small")
            TooLong("small")
            TooLong("small")
            Busy { retry_after: None, message: "Overloaded" }
            Busy { retry_after: None, message: "slow down" }
            Busy { retry_after: Some(11.054s), message: "Rate limit reached. Please try again in 11.054s. Visit the page" }
            Busy { retry_after: Some(34.4s), message: "quota" }
            Busy { retry_after: Some(90s), message: "try again in 1m30s" }
            Busy { retry_after: Some(120ms), message: "try again in 120ms" }
            Busy { retry_after: None, message: "Loading model" }
            Refused("the account has no credit left: no money; add some or choose another model")
            Unauthorized("invalid x-api-key")
            Unauthorized("not here")
            Broken("the server says: Internal server error")
            Broken("the server says: does not parse")
            Refused("the server refused the request: model: m; check the model's id and its options")
            Refused("the server refused the request: bad [31m thing; check the model's id and its options")
            Busy { retry_after: None, message: "inside" }
            Broken("the server says: only words")
            Broken("the server says: {\"odd\":1}")"#]].assert_eq(&lines.join("\n"));
    }

    #[test]
    fn a_bare_body_is_read_with_and_without_a_list_around_it() {
        let body = r#"{"error":{"code":503,"message":"later","status":"UNAVAILABLE"}}"#;
        let one = fault_in_text(body, "m");
        assert_eq!(one, fault_in_text(&format!("[{body}\n]"), "m"));
        assert!(one.is_some_and(|error| error.is_passing()));
        assert_eq!(fault_in_text("<html>", "m"), None);
        assert_eq!(fault_in_text(r#"{"error":null}"#, "m"), None);
    }
}
