//! The last steps of every body: what the user adds, and the conversation at the very end.
//!
//! Servers reuse what they have read when a request begins like the one before it. So everything that stays
//! the same comes first and the conversation is the last member: a longer conversation is then literally a
//! longer text.

use serde_json::{Map, Value};

/// A body of `head`, then the user's own members over it, then the conversation under `key`.
///
/// The user's members are merged: objects member by member, `null` takes a member away, anything else replaces.
pub(super) fn complete(
    mut head: Map<String, Value>,
    extra: &Map<String, Value>,
    key: &str,
    conversation: Vec<Value>,
) -> Value {
    let (own, rest): (Vec<_>, Vec<_>) = extra.iter().partition(|(name, _)| *name == key);
    for (name, value) in rest {
        merge(&mut head, name, value);
    }
    let conversation = own.first().map_or(Value::Array(conversation), |(_, value)| (*value).clone());
    head.insert(key.into(), conversation);
    Value::Object(head)
}

fn merge(into: &mut Map<String, Value>, name: &str, value: &Value) {
    match (into.get_mut(name), value) {
        (_, Value::Null) => {
            into.shift_remove(name);
        }
        (Some(Value::Object(old)), Value::Object(new)) => {
            for (name, value) in new {
                merge(old, name, value);
            }
        }
        _ => {
            into.insert(name.into(), value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::complete;
    use serde_json::{Value, json};

    #[test]
    fn the_conversation_stays_last_whatever_the_user_adds() {
        let object = |value: Value| value.as_object().cloned().unwrap();
        let head = object(json!({"model": "m", "options": {"a": 1, "b": 2}, "stream": true}));
        let extra = object(json!({"options": {"b": 3, "c": {"d": 4}}, "stream": null, "top_p": 0.5}));
        let body = complete(head, &extra, "messages", vec![json!(1)]);
        let expected = r#"{"model":"m","options":{"a":1,"b":3,"c":{"d":4}},"top_p":0.5,"messages":[1]}"#;
        assert_eq!(body.to_string(), expected);
    }

    #[test]
    fn the_user_may_replace_the_conversation_itself() {
        let extra = json!({"messages": []}).as_object().cloned().unwrap();
        let body = complete(serde_json::Map::new(), &extra, "messages", vec![json!(1)]);
        assert_eq!(body.to_string(), r#"{"messages":[]}"#);
    }
}
