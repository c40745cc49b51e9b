//! The marks that ask the server to keep what it has read so far.
//!
//! Four are allowed: the last tool, the last system block and the last two user messages. The older of the two
//! stands where the request before had its newest, so the server finds what it kept however many blocks came
//! in between.
//!
//! Marks move, so two bodies of a session are never prefixes of each other as text. The server matches what is
//! marked, not the marks: here "the same beginning" means the bytes of the body without its marks.

use serde_json::{Value, json};

const MARK: &str = "cache_control";
const MARKED_MESSAGES: usize = 2;

/// Marks the last element of a list of tools, system blocks or content.
pub(super) fn mark_last(list: &mut [Value]) {
    if let Some(Value::Object(last)) = list.last_mut() {
        last.insert(MARK.into(), json!({"type": "ephemeral"}));
    }
}

/// Marks the newest user messages.
pub(super) fn mark_messages(messages: &mut [Value]) {
    let users = messages.iter_mut().rev().filter(|message| message["role"] == "user");
    for message in users.take(MARKED_MESSAGES) {
        if let Some(content) = message["content"].as_array_mut() {
            mark_last(content);
        }
    }
}

/// A body as the server compares it with the one before.
#[cfg(test)]
pub(in crate::model::http) fn without_marks(body: &Value) -> Value {
    let mut body = body.clone();
    let strip = |list: Option<&mut Vec<Value>>| {
        for element in list.into_iter().flatten() {
            element.as_object_mut().map(|element| element.shift_remove(MARK));
        }
    };
    strip(body["tools"].as_array_mut());
    strip(body["system"].as_array_mut());
    for message in body["messages"].as_array_mut().into_iter().flatten() {
        strip(message["content"].as_array_mut());
    }
    body
}
