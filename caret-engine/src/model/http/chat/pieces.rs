//! Which call a piece of a call belongs to, and which thought a piece of a thought.
//!
//! The rule is to go by `index`. Relatives start it at 1, leave it out, or give the same one to every call,
//! so an id that is new together with a name begins a call of its own.

use crate::model::http::partial_call::PartialCall;
use serde_json::{Map, Value};

/// The calls of one answer so far.
#[derive(Debug, Default)]
pub(super) struct Calls {
    calls: Vec<(Option<u64>, PartialCall)>,
}

impl Calls {
    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    /// Takes one element of `tool_calls`.
    pub(super) fn add(&mut self, piece: &Value) {
        let function = &piece["function"];
        let id = piece["id"].as_str().unwrap_or_default();
        let name = function["name"].as_str().unwrap_or_default();
        let at = self.place(piece["index"].as_u64(), id, name);
        let Some((_, call)) = self.calls.get_mut(at) else { return };
        call.introduce(id, name);
        match &function["arguments"] {
            Value::String(text) => call.add(text),
            Value::Null => {}
            whole => call.replace(whole.to_string()),
        }
    }

    pub(super) fn finished(self) -> Vec<PartialCall> {
        self.calls.into_iter().map(|(_, call)| call).collect()
    }

    /// Whether every call has come to its end.
    pub(super) fn are_whole(&self) -> bool {
        self.calls.iter().all(|(_, call)| call.is_whole())
    }

    fn place(&mut self, index: Option<u64>, id: &str, name: &str) -> usize {
        let known = match index {
            Some(_) => self.calls.iter().rposition(|(at, _)| *at == index),
            None if !id.is_empty() => self.calls.iter().rposition(|(_, call)| call.id == id),
            None => self.calls.len().checked_sub(1),
        };
        let begins = |call: &PartialCall| {
            let other = !id.is_empty() && !call.id.is_empty() && call.id != id && !name.is_empty();
            // Without an index and an id, only a name behind a whole call can begin the next one.
            let next = index.is_none() && id.is_empty() && !name.is_empty() && call.is_whole();
            other || next
        };
        match known.filter(|at| self.calls.get(*at).is_some_and(|(_, call)| !begins(call))) {
            Some(at) => at,
            None => {
                self.calls.push((index, PartialCall::default()));
                self.calls.len() - 1
            }
        }
    }
}

/// Joins `reasoning_details`: pieces of the same detail follow each other with the same type and index.
pub(super) fn add_detail(details: &mut Vec<Value>, piece: &Value) {
    let Value::Object(piece) = piece else { return };
    if let Some(Value::Object(last)) = details.last_mut() {
        let same = |key: &str| last.get(key) == piece.get(key);
        if piece.contains_key("index") && same("index") && same("type") {
            join(last, piece);
            return;
        }
    }
    details.push(Value::Object(piece.clone()));
}

fn join(last: &mut Map<String, Value>, piece: &Map<String, Value>) {
    for (key, value) in piece {
        match (last.get_mut(key), value) {
            (Some(Value::String(text)), Value::String(more))
                if matches!(key.as_str(), "text" | "summary" | "data") =>
            {
                text.push_str(more);
            }
            (Some(old), Value::Null) if !old.is_null() => {}
            _ => {
                last.insert(key.clone(), value.clone());
            }
        }
    }
}
