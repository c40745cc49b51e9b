//! A request as Chat Completions want it.

use super::dialect::{Dialect, OutputCap};
use crate::model::http::history::{Answer, Entry, Part, Rules, entries};
use crate::model::http::origin::Origin;
use crate::model::http::said::{Said, Sight};
use crate::model::http::{Target, body as shared};
use crate::model::{ModelError, Request};
use crate::tools::ToolSpec;
use serde_json::{Map, Value, json};

pub(super) fn body(dialect: &Dialect, target: &Target, request: &Request<'_>) -> Result<Value, ModelError> {
    let rules = Rules {
        origin: Origin { family: super::NAME, model: target.model.clone() },
        shape: dialect.call_ids,
        sight: if target.images { Sight::Seeing } else { Sight::Blind },
    };
    let mut messages = Vec::new();
    if !request.system.is_empty() {
        messages.push(json!({"role": dialect.system_role, "content": request.system}));
    }
    let mut user = Vec::new();
    for entry in entries(&rules, request)? {
        if let Entry::User(pieces) = entry {
            // Many templates refuse two user messages in a row.
            user.extend(pieces);
            continue;
        }
        flush(&mut user, &mut messages);
        match entry {
            Entry::Model(parts) => messages.extend(assistant(parts)),
            Entry::Results(answers) => messages.extend(answers.into_iter().map(result)),
            Entry::User(_) => {}
        }
    }
    flush(&mut user, &mut messages);
    Ok(shared::complete(head(dialect, target, request), &target.extra_body, "messages", messages))
}

fn head(dialect: &Dialect, target: &Target, request: &Request<'_>) -> Map<String, Value> {
    let mut head = Map::new();
    head.insert("model".into(), json!(target.model));
    head.insert("stream".into(), json!(true));
    if dialect.stream_options {
        head.insert("stream_options".into(), json!({"include_usage": true}));
    }
    if target.max_output > 0 {
        let cap = match dialect.output_cap {
            OutputCap::MaxTokens => "max_tokens",
            OutputCap::MaxCompletionTokens => "max_completion_tokens",
        };
        head.insert(cap.into(), json!(target.max_output));
    }
    if let Some(effort) = &target.effort {
        head.insert("reasoning_effort".into(), json!(effort));
    }
    if dialect.openai_members {
        head.insert("prompt_cache_key".into(), json!(request.session));
    }
    if !request.tools.is_empty() {
        if dialect.openai_members {
            head.insert("parallel_tool_calls".into(), json!(true));
        }
        head.insert("tools".into(), request.tools.iter().map(tool).collect());
        head.insert("tool_choice".into(), json!("auto"));
    }
    head
}

fn tool(spec: &ToolSpec) -> Value {
    json!({"type": "function", "function": {
        "name": spec.name, "description": spec.description, "parameters": spec.input,
    }})
}

/// One message of all that the user said since the model spoke: plain text, or parts when there are pictures.
fn flush(pieces: &mut Vec<Said<'_>>, messages: &mut Vec<Value>) {
    if pieces.is_empty() {
        return;
    }
    let seen = pieces.iter().any(|piece| matches!(piece, Said::Picture { .. }));
    let content = if seen {
        pieces.drain(..).map(part).collect()
    } else {
        let texts: Vec<String> = pieces.drain(..).filter_map(text).collect();
        json!(texts.join("\n\n"))
    };
    messages.push(json!({"role": "user", "content": content}));
}

fn part(piece: Said<'_>) -> Value {
    match piece {
        Said::Text(text) => json!({"type": "text", "text": text}),
        Said::Picture { mime, data } => {
            json!({"type": "image_url", "image_url": {"url": format!("data:{mime};base64,{data}"), "detail": "auto"}})
        }
    }
}

fn text(piece: Said<'_>) -> Option<String> {
    match piece {
        Said::Text(text) => Some(text.into_owned()),
        Said::Picture { .. } => None,
    }
}

/// What the model said; nothing when it only thought.
fn assistant(parts: Vec<Part<'_>>) -> Option<Value> {
    let mut words = String::new();
    let mut calls = Vec::new();
    // What came beside the words and goes back as it was, such as `reasoning_details`.
    let mut beside = Map::new();
    for part in parts {
        match part {
            Part::Text(text) => words.push_str(text),
            Part::Opaque(Value::Object(members)) => beside.extend(members.clone()),
            Part::Opaque(_) | Part::Thinking { .. } => {}
            Part::Call { id, name, input, .. } => calls.push(json!({
                "id": id, "type": "function",
                "function": {"name": name, "arguments": Value::from(input).to_string()},
            })),
        }
    }
    if words.is_empty() && calls.is_empty() {
        return None;
    }
    let mut message = Map::new();
    message.insert("role".into(), json!("assistant"));
    message.insert("content".into(), if words.is_empty() { Value::Null } else { json!(words) });
    if calls.is_empty() {
        // Only asked for with the calls that it led to; older models refuse it elsewhere.
        beside.shift_remove("reasoning_content");
    }
    message.extend(beside);
    if !calls.is_empty() {
        message.insert("tool_calls".into(), calls.into());
    }
    Some(message.into())
}

fn result(answer: Answer<'_>) -> Value {
    json!({"role": "tool", "tool_call_id": answer.id, "content": answer.text})
}
