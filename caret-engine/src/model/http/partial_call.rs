//! A tool call that arrives in pieces.
//!
//! Invariant: a call leaves here whole, or marked as malformed, or not at all. What was cut off is never run,
//! not even when the part that came would be a call without arguments.

use caret_protocol::content::ToolCall;
use serde_json::{Map, Value};

/// A call so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct PartialCall {
    /// As the server gave it; may be empty.
    pub(super) id: String,
    /// As the model gave it; may be empty.
    pub(super) name: String,
    arguments: String,
}

/// How the answer ended that a call is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// The model said all that it wanted.
    Whole,
    /// The answer was cut while this call may have been unfinished.
    Cut,
}

impl PartialCall {
    /// Takes an id and a name. Some servers repeat them, some send empty ones later: the first counts.
    pub(super) fn introduce(&mut self, id: &str, name: &str) {
        if self.id.is_empty() {
            self.id = id.to_owned();
        }
        if self.name.is_empty() {
            self.name = name.to_owned();
        }
    }

    /// More of the arguments.
    pub(super) fn add(&mut self, piece: &str) {
        self.arguments.push_str(piece);
    }

    /// The arguments as a whole, in place of the pieces.
    pub(super) fn replace(&mut self, arguments: String) {
        self.arguments = arguments;
    }

    /// Whether the arguments are a whole object.
    pub(super) fn is_whole(&self) -> bool {
        matches!(self.read(), Arguments::Object(_))
    }

    /// The call, if it may be taken up.
    pub(super) fn finish(self, ended: Ended) -> Option<ToolCall> {
        match (self.read(), ended) {
            (Arguments::Object(input), _) => Some(ToolCall::new(self.id, self.name, input.into())),
            (Arguments::Empty, Ended::Whole) => Some(ToolCall::new(self.id, self.name, Map::new().into())),
            (Arguments::Other, Ended::Whole) => {
                let call = ToolCall::new(self.id, self.name, Map::new().into());
                Some(ToolCall { malformed: Some(self.arguments), ..call })
            }
            (Arguments::Empty | Arguments::Other, Ended::Cut) => None,
        }
    }

    fn read(&self) -> Arguments {
        if self.arguments.trim().is_empty() {
            return Arguments::Empty;
        }
        match serde_json::from_str(&self.arguments) {
            Ok(Value::Object(input)) => Arguments::Object(input),
            Ok(Value::Null) => Arguments::Empty,
            // Some servers encode the arguments twice.
            Ok(Value::String(inner)) => match serde_json::from_str(&inner) {
                Ok(Value::Object(input)) => Arguments::Object(input),
                _ => Arguments::Other,
            },
            _ => Arguments::Other,
        }
    }
}

enum Arguments {
    Empty,
    Object(Map<String, Value>),
    Other,
}

/// Finishes the calls of one answer, in order. Only the last one of a cut answer can be unfinished without
/// showing it; in the earlier ones the server went on.
pub(super) fn finish_all(calls: Vec<PartialCall>, ended: Ended) -> impl Iterator<Item = ToolCall> {
    let last = calls.len().saturating_sub(1);
    calls.into_iter().enumerate().filter_map(move |(at, call)| {
        let nothing_came = call.arguments.trim().is_empty();
        call.finish(if at < last && nothing_came { Ended::Whole } else { ended })
    })
}

#[cfg(test)]
mod tests {
    use super::{Ended, PartialCall};
    use expect_test::expect;

    #[test]
    fn a_call_is_whole_or_malformed_or_not_there() {
        let cases =
            ["", " ", "{}", r#"{"a":"é"}"#, r#""{\"a\":1}""#, "null", "[1]", r#"{"a":"#, r#"{"a":1}}"#, "x"];
        let show = |arguments: &str, ended| {
            let mut call = PartialCall::default();
            call.introduce("id", "Read");
            call.introduce("other", "");
            call.add(arguments);
            call.finish(ended).map_or("-".into(), |call| match call.malformed {
                Some(raw) => format!("malformed {raw}"),
                None => call.input.to_string(),
            })
        };
        let lines: Vec<String> = cases
            .iter()
            .map(|case| format!("{case} => {} | {}", show(case, Ended::Whole), show(case, Ended::Cut)))
            .collect();
        expect![[r#"
             => {} | -
              => {} | -
            {} => {} | {}
            {"a":"é"} => {"a":"é"} | {"a":"é"}
            "{\"a\":1}" => {"a":1} | {"a":1}
            null => {} | -
            [1] => malformed [1] | -
            {"a": => malformed {"a": | -
            {"a":1}} => malformed {"a":1}} | -
            x => malformed x | -"#]]
        .assert_eq(&lines.join("\n"));
    }
}
