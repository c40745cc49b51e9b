//! A request as Messages want it.

use super::cache::{mark_last, mark_messages};
use crate::model::http::call_ids::IdShape;
use crate::model::http::history::{Answer, Entry, Part, Rules, entries};
use crate::model::http::origin::Origin;
use crate::model::http::said::{Said, Sight};
use crate::model::http::{Target, body as shared};
use crate::model::{ModelError, Request};
use crate::tools::ToolSpec;
use serde_json::{Map, Value, json};

/// Every request must name a cap; this one is taken when nobody knows better.
const MAX_TOKENS: u64 = 4096;

pub(super) fn body(target: &Target, request: &Request<'_>) -> Result<Value, ModelError> {
    let rules = Rules {
        origin: Origin { family: super::NAME, model: target.model.clone() },
        shape: IdShape::Word,
        sight: if target.images { Sight::Seeing } else { Sight::Blind },
    };
    let mut messages = Vec::new();
    // Results and words between two replies are one message, the results first.
    let mut user = Vec::new();
    for entry in entries(&rules, request)? {
        match entry {
            Entry::User(pieces) => user.extend(pieces.into_iter().map(piece)),
            Entry::Results(answers) => user.extend(answers.into_iter().map(result)),
            Entry::Model(parts) => {
                let content = assistant(parts);
                if !content.is_empty() {
                    flush(&mut user, &mut messages);
                    messages.push(json!({"role": "assistant", "content": content}));
                }
            }
        }
    }
    flush(&mut user, &mut messages);
    mark_messages(&mut messages);
    Ok(shared::complete(head(target, request), &target.extra_body, "messages", messages))
}

fn head(target: &Target, request: &Request<'_>) -> Map<String, Value> {
    let mut head = Map::new();
    head.insert("model".into(), json!(target.model));
    head.insert(
        "max_tokens".into(),
        json!(if target.max_output > 0 { target.max_output } else { MAX_TOKENS }),
    );
    head.insert("stream".into(), json!(true));
    if target.thinking {
        head.insert("thinking".into(), json!({"type": "adaptive", "display": "summarized"}));
    }
    if let Some(effort) = &target.effort {
        head.insert("output_config".into(), json!({"effort": effort}));
    }
    if !request.tools.is_empty() {
        let mut tools: Vec<Value> = request.tools.iter().map(tool).collect();
        mark_last(&mut tools);
        head.insert("tools".into(), tools.into());
        head.insert("tool_choice".into(), json!({"type": "auto"}));
    }
    if !request.system.is_empty() {
        let mut system = vec![json!({"type": "text", "text": request.system})];
        mark_last(&mut system);
        head.insert("system".into(), system.into());
    }
    head
}

fn tool(spec: &ToolSpec) -> Value {
    json!({"name": spec.name, "description": spec.description, "input_schema": spec.input})
}

fn flush(user: &mut Vec<Value>, messages: &mut Vec<Value>) {
    if !user.is_empty() {
        messages.push(json!({"role": "user", "content": std::mem::take(user)}));
    }
}

fn piece(piece: Said<'_>) -> Value {
    match piece {
        Said::Text(text) => json!({"type": "text", "text": text}),
        Said::Picture { mime, data } => {
            json!({"type": "image", "source": {"type": "base64", "media_type": mime, "data": data}})
        }
    }
}

fn result(answer: Answer<'_>) -> Value {
    let mut block = Map::new();
    block.insert("type".into(), json!("tool_result"));
    block.insert("tool_use_id".into(), json!(answer.id));
    if !answer.text.is_empty() {
        // Empty text is refused; no content at all is not.
        block.insert("content".into(), json!([{"type": "text", "text": answer.text}]));
    }
    block.insert("is_error".into(), json!(answer.is_error));
    block.into()
}

/// The blocks of one reply. Thoughts that led to nothing (the answer was cut) may not stand last.
fn assistant(parts: Vec<Part<'_>>) -> Vec<Value> {
    let mut content: Vec<Value> = parts.into_iter().filter_map(block).collect();
    while content.last().is_some_and(|block| is_thought(&block["type"])) {
        content.pop();
    }
    content
}

fn is_thought(kind: &Value) -> bool {
    kind == "thinking" || kind == "redacted_thinking"
}

fn block(part: Part<'_>) -> Option<Value> {
    match part {
        Part::Text(text) => Some(json!({"type": "text", "text": text})),
        // Thoughts without a signature are not believed.
        Part::Thinking { text, signature } => {
            signature.map(|signature| json!({"type": "thinking", "thinking": text, "signature": signature}))
        }
        Part::Opaque(raw) => Some(raw.clone()),
        Part::Call { id, name, input, .. } => {
            Some(json!({"type": "tool_use", "id": id, "name": name, "input": input}))
        }
    }
}
