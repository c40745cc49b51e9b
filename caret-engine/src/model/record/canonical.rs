//! A request as text that is the same in every run that asks the same.
//!
//! The text is for people too: a request that was not recorded is shown as a difference of two such texts.

use crate::model::{ModelError, Request};
use caret_protocol::content::{Block, Content};
use caret_protocol::ids::CallId;
use caret_protocol::transcript::Message;
use serde_json::Value;
use std::collections::HashMap;

/// Stands for the path of the workspace.
pub(super) const WORKSPACE: &str = "{{caret:workspace}}";
/// Stands for the id of the session.
const SESSION: &str = "{{caret:session}}";
/// Stands for the id of the turn.
const TURN: &str = "{{caret:turn}}";

/// What the model would read, without what differs from run to run.
pub(super) fn canonical(request: &Request<'_>) -> Result<String, ModelError> {
    let names: Vec<&str> = request.tools.iter().map(|tool| tool.name).collect();
    let mut text = format!("# system\n{}\n# tools\n{}\n", request.system.trim_end(), names.join("\n"));
    let mut calls = Calls::default();
    // Calls that ran together ended in any order.
    let mut results: Vec<(usize, String)> = Vec::new();
    for message in request.past.messages()?.iter().chain(request.messages) {
        let shown = message_text(message, &mut calls);
        if let Message::Tool { call, .. } = message {
            results.push((calls.number(call), shown));
            continue;
        }
        text.push_str(&in_order(&mut results));
        text.push_str(&shown);
    }
    text.push_str(&in_order(&mut results));
    Ok(neutral(text, request))
}

fn in_order(results: &mut Vec<(usize, String)>) -> String {
    results.sort();
    results.drain(..).map(|(_, text)| text).collect()
}

/// Takes the names of this run out of a text.
fn neutral(mut text: String, request: &Request<'_>) -> String {
    // A short id may be an ordinary word.
    for (id, name) in [(request.session.as_str(), SESSION), (request.turn.as_str(), TURN)] {
        if id.len() >= 8 {
            text = text.replace(id, name);
        }
    }
    outward(text, request)
}

/// Puts a name in the place of the workspace's path.
pub(super) fn outward(text: String, request: &Request<'_>) -> String {
    match request.cwd.to_str() {
        Some(path) if path.len() > 1 => text.replace(path, WORKSPACE),
        _ => text,
    }
}

/// Puts the workspace's path back.
pub(super) fn homeward(text: String, request: &Request<'_>) -> String {
    if text.contains(WORKSPACE) { text.replace(WORKSPACE, &request.cwd.to_string_lossy()) } else { text }
}

/// Changes all texts inside a value.
pub(super) fn each_text(value: Value, change: &dyn Fn(String) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(change(text)),
        Value::Array(values) => values.into_iter().map(|value| each_text(value, change)).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(key, value)| (change(key), each_text(value, change))).collect()
        }
        other => other,
    }
}

/// Numbers for the ids of calls, in the order of their appearance.
#[derive(Default)]
struct Calls(HashMap<CallId, usize>);

impl Calls {
    fn number(&mut self, id: &CallId) -> usize {
        let next = self.0.len() + 1;
        *self.0.entry(id.clone()).or_insert(next)
    }
}

fn message_text(message: &Message, calls: &mut Calls) -> String {
    match message {
        Message::User { content, .. } => {
            format!("# user\n{}", content.iter().map(content_text).collect::<String>())
        }
        Message::Assistant { reply } => {
            let blocks: String = reply.blocks.iter().map(|block| block_text(block, calls)).collect();
            format!("# assistant\n{blocks}")
        }
        Message::Tool { call, name, text, is_error } => {
            let kind = if *is_error { "error" } else { "result" };
            format!("# {kind} of {name} {}\n{}\n", calls.number(call), text.trim_end())
        }
        Message::Summary { text } => format!("# summary\n{}\n", text.trim_end()),
        other => format!("# other\n{}\n", serde_json::json!(other)),
    }
}

fn content_text(content: &Content) -> String {
    match content {
        Content::Text { text } => format!("{}\n", text.trim_end()),
        other => format!("{}\n", serde_json::json!(other)),
    }
}

fn block_text(block: &Block, calls: &mut Calls) -> String {
    match block {
        Block::Text { text } => format!("{}\n", text.trim_end()),
        Block::Thinking { text, .. } => format!("(thinking) {}\n", text.trim_end()),
        Block::Call { call } => {
            let input = call.malformed.clone().unwrap_or_else(|| call.input.to_string());
            format!("(call {}) {} {input}\n", calls.number(&call.id), call.name)
        }
        // Only its maker understands it, and it need not be the same twice.
        Block::Opaque { family, .. } => format!("({family})\n"),
        other => format!("{}\n", serde_json::json!(other)),
    }
}
