//! Our messages as the documented message JSON, and back.
//!
//! Writing is exact, reading is lenient: other programs wrote some of these, in several versions. What a
//! provider wants back untouched ([`Block::Opaque`]) has no place in the documented form and is left out; it
//! is in our events.
//!
//! Invariant: reading never fails. What cannot be understood is skipped.

use caret_protocol::content::{Block, Content, Failure, Outcome, Reply, Stop, ToolCall, Usage};
use caret_protocol::details::Details;
use caret_protocol::ids::{CallId, TurnId};
use caret_protocol::transcript::Message;
use serde_json::{Map, Value, json};

const OPENING: &str = "<user_query>\n";
const CLOSING: &str = "\n</user_query>";

/// A user's words as the documented files have them.
pub(super) fn wrapped(text: &str) -> String {
    format!("{OPENING}{text}{CLOSING}")
}

/// A user's words without what the documented files put around them.
pub(super) fn unwrapped(text: &str) -> &str {
    let trimmed = text.trim();
    let Some(start) = trimmed.find(OPENING.trim_end()) else { return text };
    let inner = &trimmed[start + OPENING.trim_end().len()..];
    let Some(end) = inner.rfind(CLOSING.trim_start()) else { return text };
    let inner = &inner[..end];
    let inner = inner.strip_prefix('\n').unwrap_or(inner);
    inner.strip_suffix('\n').unwrap_or(inner)
}

/// What the user said, as message JSON.
pub(super) fn user(content: &[Content], turn: &TurnId) -> Value {
    let parts: Vec<Value> = content.iter().map(user_part).collect();
    json!({
        "role": "user",
        "content": parts,
        "providerOptions": {"cursor": {"requestId": turn.as_str()}},
    })
}

fn user_part(content: &Content) -> Value {
    match content {
        Content::Image { mime, data } => json!({"type": "image", "image": data, "mimeType": mime}),
        Content::Resource { uri, text } => json!({
            "type": "text", "text": text, "providerOptions": {"caret": {"resource": uri}},
        }),
        Content::Link { uri, name } => json!({
            "type": "text", "text": uri, "providerOptions": {"caret": {"link": name}},
        }),
        other => json!({"type": "text", "text": wrapped(other.plain())}),
    }
}

/// One reply, as message JSON.
pub(super) fn assistant(reply: &Reply, model: &str) -> Value {
    let parts: Vec<Value> = reply.blocks.iter().filter_map(|block| assistant_part(block, model)).collect();
    json!({
        "role": "assistant",
        "content": parts,
        "id": reply.id,
        "providerOptions": {"cursor": {"modelProviderMessageId": reply.id}},
    })
}

fn assistant_part(block: &Block, model: &str) -> Option<Value> {
    match block {
        Block::Text { text } => Some(json!({"type": "text", "text": text})),
        Block::Thinking { text, signature } => {
            let mut part = json!({"type": "reasoning", "text": text});
            if !model.is_empty() {
                part["providerOptions"] = json!({"cursor": {"modelName": model}});
            }
            if let Some(signature) = signature {
                part["signature"] = json!(signature);
            }
            Some(part)
        }
        Block::Call { call } => Some(json!({
            "type": "tool-call", "toolCallId": call.id.as_str(), "toolName": call.name, "args": call.input,
        })),
        _ => None,
    }
}

/// What a tool gave back, as message JSON.
pub(super) fn tool(call: &ToolCall, outcome: &Outcome) -> Value {
    json!({
        "role": "tool",
        "content": [{
            "type": "tool-result",
            "toolCallId": call.id.as_str(),
            "toolName": call.name,
            "result": outcome.for_model(),
        }],
        "id": call.id.as_str(),
        "providerOptions": {"cursor": {"highLevelToolCallResult": {
            "output": result(outcome),
            "isError": outcome.is_error(),
        }}},
    })
}

/// What stands for older messages, as message JSON.
pub(super) fn summary(text: &str) -> Value {
    json!({
        "role": "user",
        "content": [{"type": "text", "text": text}],
        "providerOptions": {"cursor": {"isSummary": true}},
    })
}

/// How a call ended, in the documented shape of results.
fn result(outcome: &Outcome) -> Value {
    match outcome {
        Outcome::Done { output } => {
            let key = match &output.details {
                Details::Backgrounded(_) => "backgrounded",
                details if details.is_failure() => "failure",
                _ => "success",
            };
            json!({key: details(&output.details)})
        }
        Outcome::Rejected { reason } => json!({"rejected": {"reason": reason}}),
        Outcome::Denied { reason } => json!({"permissionDenied": {"error": reason}}),
        Outcome::Failed { failure: Failure::Timeout { timeout_ms } } => {
            json!({"timeout": {"timeoutMs": timeout_ms}})
        }
        Outcome::Failed { failure: Failure::Spawn { message } } => json!({"spawnError": {"error": message}}),
        other => json!({"error": {"errorMessage": other.for_model()}}),
    }
}

/// The report of a tool without the tag that tells the tools apart.
fn details(details: &Details) -> Value {
    match serde_json::to_value(details) {
        Ok(Value::Object(mut fields)) => {
            fields.shift_remove("tool");
            match (details, fields.shift_remove("value")) {
                (Details::Other { .. }, Some(value)) => value,
                (_, Some(value)) => {
                    fields.insert("value".into(), value);
                    Value::Object(fields)
                }
                (_, None) => Value::Object(fields),
            }
        }
        // A report that is no JSON object has nothing to show; what the model read is beside it.
        _ => Value::Object(Map::new()),
    }
}

/// The messages that a message blob stands for. `place` is its place in the list, from 0: it names the turn
/// of a message that does not.
pub(super) fn decode(bytes: &[u8], place: usize) -> Vec<Message> {
    let Ok(message) = serde_json::from_slice::<Value>(bytes) else { return Vec::new() };
    match message["role"].as_str() {
        Some("user") if cursor(&message)["isSummary"] == true => {
            vec![Message::Summary { text: plain_parts(&message["content"]) }]
        }
        Some("user") => vec![Message::User {
            content: parts(&message["content"]).filter_map(|part| content_of(&part)).collect(),
            turn: turn_of(&message, place),
        }],
        Some("assistant") => vec![Message::Assistant { reply: reply_of(&message) }],
        Some("tool") => {
            let is_error = cursor(&message)["highLevelToolCallResult"]["isError"] == true;
            parts(&message["content"]).filter_map(|part| result_of(&part, is_error)).collect()
        }
        _ => Vec::new(),
    }
}

/// The turn of a user's message blob; `None` for every other message.
pub(super) fn user_turn(bytes: &[u8], place: usize) -> Option<TurnId> {
    match decode(bytes, place).into_iter().next() {
        Some(Message::User { turn, .. }) => Some(turn),
        _ => None,
    }
}

fn turn_of(message: &Value, place: usize) -> TurnId {
    match cursor(message)["requestId"].as_str() {
        Some(request) if !request.is_empty() => TurnId::new(request),
        _ => TurnId::new(format!("message-{place}")),
    }
}

fn cursor(message: &Value) -> &Value {
    &message["providerOptions"]["cursor"]
}

/// The parts of a content, which may also be bare text.
fn parts(content: &Value) -> impl Iterator<Item = Value> {
    let parts = match content {
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        Value::Array(parts) => parts.clone(),
        _ => Vec::new(),
    };
    parts.into_iter()
}

fn plain_parts(content: &Value) -> String {
    parts(content).filter_map(|part| part["text"].as_str().map(str::to_owned)).collect()
}

fn text_at(value: &Value, key: &str) -> Option<String> {
    value[key].as_str().map(str::to_owned)
}

fn content_of(part: &Value) -> Option<Content> {
    let ours = &part["providerOptions"]["caret"];
    match part["type"].as_str()? {
        "text" => {
            let text = text_at(part, "text")?;
            if let Some(uri) = text_at(ours, "resource") {
                return Some(Content::Resource { uri, text });
            }
            if let Some(name) = text_at(ours, "link") {
                return Some(Content::Link { uri: text, name });
            }
            Some(Content::text(unwrapped(&text)))
        }
        "image" => Some(Content::Image {
            mime: text_at(part, "mimeType").or_else(|| text_at(part, "mediaType"))?,
            data: text_at(part, "image")?,
        }),
        _ => None,
    }
}

fn reply_of(message: &Value) -> Reply {
    let blocks: Vec<Block> = parts(&message["content"]).filter_map(|part| block_of(&part)).collect();
    let calls = blocks.iter().any(|block| matches!(block, Block::Call { .. }));
    let stop = if calls { Stop::ToolCalls } else { Stop::EndTurn };
    let id = text_at(message, "id").unwrap_or_default();
    Reply { id, blocks, stop, usage: Usage::default() }
}

fn block_of(part: &Value) -> Option<Block> {
    match part["type"].as_str()? {
        "text" => Some(Block::Text { text: text_at(part, "text")? }),
        "reasoning" => Some(Block::Thinking {
            text: text_at(part, "text").unwrap_or_default(),
            signature: text_at(part, "signature"),
        }),
        "tool-call" => {
            let input = part.get("args").or_else(|| part.get("input")).cloned().unwrap_or_else(|| json!({}));
            let call = ToolCall::new(text_at(part, "toolCallId")?, text_at(part, "toolName")?, input);
            Some(Block::Call { call })
        }
        _ => None,
    }
}

fn result_of(part: &Value, is_error: bool) -> Option<Message> {
    if part["type"] != "tool-result" {
        return None;
    }
    let text = match part.get("result").or_else(|| part.get("output")) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => plain_parts(&part["experimental_content"]),
        Some(other) => other.to_string(),
    };
    Some(Message::Tool {
        call: CallId::new(text_at(part, "toolCallId")?),
        name: text_at(part, "toolName").unwrap_or_default(),
        text,
        is_error: is_error || part["isError"] == true,
    })
}
