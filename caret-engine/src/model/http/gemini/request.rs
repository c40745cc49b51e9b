//! A request as Gemini wants it.

use super::is_signature_of_next;
use crate::model::http::call_ids::{IdShape, MADE_UP};
use crate::model::http::history::{Answer, Entry, Maker, Part, Rules, entries};
use crate::model::http::origin::Origin;
use crate::model::http::said::{Said, Sight};
use crate::model::http::{Target, body as shared};
use crate::model::{ModelError, Request};
use crate::tools::ToolSpec;
use serde_json::{Map, Value, json};

/// Stands for the signature of a call that another model made.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

pub(super) fn body(target: &Target, request: &Request<'_>) -> Result<Value, ModelError> {
    let rules = Rules {
        origin: Origin { family: super::NAME, model: target.model.clone() },
        shape: IdShape::Visible,
        sight: if target.images { Sight::Seeing } else { Sight::Blind },
    };
    let mut contents = Vec::new();
    let mut user = Vec::new();
    for entry in entries(&rules, request)? {
        match entry {
            Entry::User(pieces) => user.extend(pieces.into_iter().map(piece)),
            Entry::Results(answers) => user.extend(answers.into_iter().map(response)),
            Entry::Model(parts) => {
                let parts = model(parts);
                if !parts.is_empty() {
                    flush(&mut user, &mut contents);
                    contents.push(json!({"role": "model", "parts": parts}));
                }
            }
        }
    }
    flush(&mut user, &mut contents);
    Ok(shared::complete(head(target, request), &target.extra_body, "contents", contents))
}

fn head(target: &Target, request: &Request<'_>) -> Map<String, Value> {
    let mut head = Map::new();
    if !request.tools.is_empty() {
        let tools: Vec<Value> = request.tools.iter().map(tool).collect();
        head.insert("tools".into(), json!([{"functionDeclarations": tools}]));
        head.insert("toolConfig".into(), json!({"functionCallingConfig": {"mode": "AUTO"}}));
    }
    if !request.system.is_empty() {
        head.insert("systemInstruction".into(), json!({"parts": [{"text": request.system}]}));
    }
    let mut config = Map::new();
    if target.max_output > 0 {
        config.insert("maxOutputTokens".into(), json!(target.max_output));
    }
    let thinking = thinking(target);
    if !thinking.is_empty() {
        config.insert("thinkingConfig".into(), thinking.into());
    }
    if !config.is_empty() {
        head.insert("generationConfig".into(), config.into());
    }
    head
}

/// The second generation counts thinking in tokens, the later ones have levels.
fn thinking(target: &Target) -> Map<String, Value> {
    let mut config = Map::new();
    if target.thinking {
        config.insert("includeThoughts".into(), json!(true));
    }
    let Some(effort) = &target.effort else { return config };
    if target.model.contains("gemini-2") {
        let budget = match effort.as_str() {
            "none" => 0,
            "minimal" => 512,
            "low" => 2_048,
            "medium" => 8_192,
            "high" | "xhigh" | "max" => 24_576,
            // The server decides.
            _ => -1,
        };
        config.insert("thinkingBudget".into(), json!(budget));
    } else {
        let level = match effort.as_str() {
            "none" | "minimal" => "MINIMAL".to_owned(),
            "xhigh" | "max" => "HIGH".to_owned(),
            other => other.to_uppercase(),
        };
        config.insert("thinkingLevel".into(), json!(level));
    }
    config
}

fn tool(spec: &ToolSpec) -> Value {
    json!({"name": spec.name, "description": spec.description, "parametersJsonSchema": spec.input})
}

fn flush(user: &mut Vec<Value>, contents: &mut Vec<Value>) {
    if !user.is_empty() {
        contents.push(json!({"role": "user", "parts": std::mem::take(user)}));
    }
}

fn piece(piece: Said<'_>) -> Value {
    match piece {
        Said::Text(text) => json!({"text": text}),
        Said::Picture { mime, data } => json!({"inlineData": {"mimeType": mime, "data": data}}),
    }
}

fn response(answer: Answer<'_>) -> Value {
    let key = if answer.is_error { "error" } else { "output" };
    let mut response = identified(&answer.id);
    response.insert("name".into(), json!(answer.name));
    response.insert("response".into(), json!({key: answer.text}));
    json!({"functionResponse": response})
}

/// The id goes back only when the server gave one.
fn identified(id: &str) -> Map<String, Value> {
    let given = Some(id).filter(|id| !id.starts_with(MADE_UP));
    given.map(|id| ("id".to_owned(), json!(id))).into_iter().collect()
}

/// The parts of one reply. Thoughts go back only when they are signed.
fn model(parts: Vec<Part<'_>>) -> Vec<Value> {
    let mut out = Vec::new();
    let mut signature: Option<Value> = None;
    let mut calls = 0;
    for part in parts {
        let mut wire = Map::new();
        match part {
            Part::Opaque(raw) => {
                match is_signature_of_next(raw) {
                    Some(next) => signature = Some(next.clone()),
                    None => out.push(raw.clone()),
                }
                continue;
            }
            Part::Thinking { signature: None, .. } => continue,
            Part::Thinking { text, signature: Some(own) } => {
                wire.insert("text".into(), json!(text));
                wire.insert("thought".into(), json!(true));
                signature = Some(json!(own));
            }
            Part::Text(text) => {
                wire.insert("text".into(), json!(text));
            }
            Part::Call { id, name, input, maker } => {
                let mut call = identified(&id);
                call.insert("name".into(), json!(name));
                call.insert("args".into(), input.into());
                wire.insert("functionCall".into(), call.into());
                if calls == 0 && maker == Maker::Foreign {
                    signature = Some(json!(NO_SIGNATURE));
                }
                calls += 1;
            }
        }
        if let Some(signature) = signature.take() {
            wire.insert("thoughtSignature".into(), signature);
        }
        out.push(wire.into());
    }
    out
}
