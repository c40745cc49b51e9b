//! `providers` of the user's configuration, as typed values.

use super::facts::Facts;
use crate::exit::{Exit, Failure};
use caret_engine::model::http::FAMILIES;
use serde::Deserialize;
use serde_json::{Map, Value};

/// One provider as the user describes it. Each field overrides that of a built-in provider of the same name.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Configured {
    /// The name that people read.
    pub name: Option<String>,
    /// The wire format: `chat`, `responses`, `messages`, `gemini` or one of their dialects.
    pub api: Option<String>,
    /// The base address.
    pub base_url: Option<String>,
    /// The variable that holds the key.
    pub key_variable: Option<String>,
    /// The key itself.
    pub key: Option<String>,
    /// Sent with every request.
    pub headers: Map<String, Value>,
    /// Models, with what is known about them.
    pub models: Vec<Facts>,
    /// Merged into every request's body.
    pub extra_body: Map<String, Value>,
}

/// Understands the whole value, in the order in which it is written.
pub fn parse(value: &Value) -> Result<Vec<(String, Configured)>, Failure> {
    let wrong = |name: &str, why: &str| {
        Failure::new(Exit::Configuration, format!("'providers{name}' in cli-config.json {why}"))
    };
    let all = value.as_object().ok_or_else(|| wrong("", "must be an object"))?;
    let mut providers = Vec::new();
    for (name, value) in all {
        let shown = format!(".{}", crate::output::harmless(name));
        if name.is_empty() || name.contains(['/', '[', ' ', ':']) {
            return Err(wrong(&shown, "needs a name without slash, bracket, colon and space"));
        }
        // The parser's words could quote a key, but never its value: they name fields and types only.
        let configured: Configured = serde_json::from_value(value.clone())
            .map_err(|error| wrong(&shown, &format!("cannot be used: {}", without_values(&error))))?;
        if let Some(api) = configured.api.as_deref().filter(|api| !FAMILIES.contains(api)) {
            let api = crate::output::harmless(api);
            return Err(wrong(&shown, &format!("has the api '{api}'; there are {}", FAMILIES.join(", "))));
        }
        providers.push((name.clone(), configured));
    }
    Ok(providers)
}

/// A parser's message without the values that it quotes.
fn without_values(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.contains("unknown field") || text.contains("missing field") {
        true => text,
        false => text.split_once("expected").map_or_else(
            || "a field has the wrong type".to_owned(),
            |(_, expected)| format!("a field has the wrong type, expected{expected}"),
        ),
    }
}
