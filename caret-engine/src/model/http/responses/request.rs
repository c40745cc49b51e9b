//! A request as Responses want it.

use crate::model::http::call_ids::IdShape;
use crate::model::http::history::{Answer, Entry, Part, Rules, entries};
use crate::model::http::origin::Origin;
use crate::model::http::said::{Said, Sight};
use crate::model::http::{Target, body as shared};
use crate::model::{ModelError, Request};
use crate::tools::ToolSpec;
use serde_json::{Map, Value, json};

pub(super) fn body(target: &Target, request: &Request<'_>) -> Result<Value, ModelError> {
    let rules = Rules {
        origin: Origin { family: super::NAME, model: target.model.clone() },
        shape: IdShape::Visible,
        sight: if target.images { Sight::Seeing } else { Sight::Blind },
    };
    let mut input = Vec::new();
    for entry in entries(&rules, request)? {
        match entry {
            Entry::User(pieces) => {
                let content: Vec<Value> = pieces.into_iter().map(part).collect();
                input.push(json!({"role": "user", "content": content}));
            }
            Entry::Model(parts) => assistant(parts, &mut input),
            Entry::Results(answers) => input.extend(answers.into_iter().map(output)),
        }
    }
    Ok(shared::complete(head(target, request), &target.extra_body, "input", input))
}

fn head(target: &Target, request: &Request<'_>) -> Map<String, Value> {
    let mut head = Map::new();
    head.insert("model".into(), json!(target.model));
    head.insert("stream".into(), json!(true));
    head.insert("store".into(), json!(false));
    if target.thinking || target.effort.is_some() {
        // Models that do not reason refuse both.
        head.insert("include".into(), json!(["reasoning.encrypted_content"]));
        let mut reasoning = Map::new();
        if let Some(effort) = &target.effort {
            reasoning.insert("effort".into(), json!(effort));
        }
        if target.thinking {
            reasoning.insert("summary".into(), json!("auto"));
        }
        head.insert("reasoning".into(), reasoning.into());
    }
    if target.max_output > 0 {
        head.insert("max_output_tokens".into(), json!(target.max_output));
    }
    head.insert("prompt_cache_key".into(), json!(request.session));
    if !request.system.is_empty() {
        head.insert("instructions".into(), json!(request.system));
    }
    if !request.tools.is_empty() {
        head.insert("tools".into(), request.tools.iter().map(tool).collect());
        head.insert("tool_choice".into(), json!("auto"));
        head.insert("parallel_tool_calls".into(), json!(true));
    }
    head
}

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "type": "function", "name": spec.name, "description": spec.description,
        "strict": false, "parameters": spec.input,
    })
}

fn part(piece: Said<'_>) -> Value {
    match piece {
        Said::Text(text) => json!({"type": "input_text", "text": text}),
        Said::Picture { mime, data } => {
            json!({"type": "input_image", "image_url": format!("data:{mime};base64,{data}"), "detail": "auto"})
        }
    }
}

/// The items of one reply. Reasoning is refused without the item that it led to, so it waits for one.
fn assistant(parts: Vec<Part<'_>>, input: &mut Vec<Value>) {
    let mut reasoning = Vec::new();
    let mut phase = None;
    for part in parts {
        match part {
            Part::Thinking { .. } => {}
            Part::Opaque(raw) if raw["type"] == "reasoning" => reasoning.push(raw.clone()),
            // Only the envelope of a message is kept; its words are the text that follows.
            Part::Opaque(raw) if raw["type"] == "message" => phase = raw["phase"].as_str(),
            Part::Opaque(raw) => {
                input.append(&mut reasoning);
                input.push(raw.clone());
            }
            Part::Text(text) => {
                input.append(&mut reasoning);
                input.push(message(text, phase.take()));
            }
            Part::Call { id, name, input: arguments, .. } => {
                input.append(&mut reasoning);
                input.push(json!({
                    "type": "function_call", "call_id": id, "name": name,
                    "arguments": Value::from(arguments).to_string(),
                }));
            }
        }
    }
}

fn message(text: &str, phase: Option<&str>) -> Value {
    let content = json!([{"type": "output_text", "text": text}]);
    match phase {
        Some(phase) => json!({"type": "message", "role": "assistant", "phase": phase, "content": content}),
        None => json!({"type": "message", "role": "assistant", "content": content}),
    }
}

fn output(answer: Answer<'_>) -> Value {
    json!({"type": "function_call_output", "call_id": answer.id, "output": answer.text})
}
