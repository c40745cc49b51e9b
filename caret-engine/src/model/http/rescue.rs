//! Calls that a small model prints as text instead of making them.
//!
//! Careful on purpose: words are taken for a call only when nothing else is in the answer, the tool was
//! offered, and the arguments are an object. Anything else stays text.

use serde_json::{Map, Value};

/// The calls that the text consists of: names and arguments. None when there is anything else in it.
pub(super) fn printed_calls(text: &str, offered: &[String]) -> Option<Vec<(String, Map<String, Value>)>> {
    let mut rest = text.trim();
    let mut calls = Vec::new();
    while !rest.is_empty() {
        let (object, left) = next_object(rest)?;
        calls.push(call(object, offered)?);
        rest = left.trim_start();
    }
    (!calls.is_empty()).then_some(calls)
}

/// The first object, without the tags or the fence around it, and what comes after.
fn next_object(text: &str) -> Option<(Value, &str)> {
    if let Some(inner) = text.strip_prefix("<tool_call>") {
        let (inside, left) = inner.split_once("</tool_call>")?;
        return Some((serde_json::from_str(inside).ok()?, left));
    }
    if let Some(inner) = text.strip_prefix("```") {
        let (language, body) = inner.split_once('\n')?;
        if !matches!(language.trim(), "" | "json" | "tool_call" | "tool_code") {
            return None;
        }
        // The fence's end stands at the beginning of a line; arguments may have fences of their own.
        let end = body.find("\n```")?;
        return Some((serde_json::from_str(&body[..end]).ok()?, &body[end + 4..]));
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    let end = values.byte_offset();
    Some((value, text.get(end..)?))
}

fn call(value: Value, offered: &[String]) -> Option<(String, Map<String, Value>)> {
    let Value::Object(mut object) = value else { return None };
    // Some wrap it as the wire does.
    if let Some(Value::Object(function)) = object.shift_remove("function") {
        object = function;
    }
    let name =
        object.get("name")?.as_str().filter(|name| offered.iter().any(|tool| tool == name))?.to_owned();
    let given = object.shift_remove("arguments").or_else(|| object.shift_remove("parameters"))?;
    let arguments = match given {
        Value::String(text) => serde_json::from_str(&text).ok()?,
        other => other,
    };
    match arguments {
        Value::Object(arguments) => Some((name, arguments)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::printed_calls;
    use expect_test::expect;

    #[test]
    fn only_a_reply_that_is_nothing_but_offered_calls_is_taken_for_one() {
        let cases = [
            r#"{"name": "Read", "arguments": {"path": "a"}}"#,
            "```json\n{\"name\": \"Read\", \"arguments\": {\"path\": \"a\"}}\n```",
            "<tool_call>\n{\"name\":\"Read\",\"parameters\":{}}\n</tool_call>\n<tool_call>{\"name\":\"Read\",\"arguments\":\"{}\"}</tool_call>",
            r#"{"type":"function","function":{"name":"Read","arguments":{}}}"#,
            r#"Here: {"name": "Read", "arguments": {}}"#,
            r#"{"name": "Read", "arguments": {}} and so on"#,
            r#"{"name": "Format", "arguments": {}}"#,
            r#"{"name": "Read"}"#,
            r#"{"name": "Read", "arguments": [1]}"#,
            r#"{"name": "Read", "arguments": {"#,
            "<tool_call>{}",
            "```rust\n{}\n```",
            "",
        ];
        let offered = ["Read".to_owned()];
        let lines: Vec<String> = cases
            .iter()
            .map(|case| {
                let calls = printed_calls(case, &offered).map(|calls| {
                    calls
                        .into_iter()
                        .map(|(name, input)| format!("{name} {}", serde_json::Value::from(input)))
                        .collect::<Vec<_>>()
                });
                format!("{case:?} => {calls:?}")
            })
            .collect();
        expect![[r#"
            "{\"name\": \"Read\", \"arguments\": {\"path\": \"a\"}}" => Some(["Read {\"path\":\"a\"}"])
            "```json\n{\"name\": \"Read\", \"arguments\": {\"path\": \"a\"}}\n```" => Some(["Read {\"path\":\"a\"}"])
            "<tool_call>\n{\"name\":\"Read\",\"parameters\":{}}\n</tool_call>\n<tool_call>{\"name\":\"Read\",\"arguments\":\"{}\"}</tool_call>" => Some(["Read {}", "Read {}"])
            "{\"type\":\"function\",\"function\":{\"name\":\"Read\",\"arguments\":{}}}" => Some(["Read {}"])
            "Here: {\"name\": \"Read\", \"arguments\": {}}" => None
            "{\"name\": \"Read\", \"arguments\": {}} and so on" => None
            "{\"name\": \"Format\", \"arguments\": {}}" => None
            "{\"name\": \"Read\"}" => None
            "{\"name\": \"Read\", \"arguments\": [1]}" => None
            "{\"name\": \"Read\", \"arguments\": {" => None
            "<tool_call>{}" => None
            "```rust\n{}\n```" => None
            "" => None"#]].assert_eq(&lines.join("\n"));
    }
}
