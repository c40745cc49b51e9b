//! The values of configuration files: defaults, names with dots, and what a project may say.

use super::{Layer, Origin, ProjectTrust, Setting};
use serde_json::{Map, Value, json};

/// The lists that are united over all files.
const UNITED: [&str; 2] = ["permissions.allow", "permissions.deny"];

/// What a project may set besides `permissions`: how things look, and which model works on it. Everything that
/// decides what may run, who is asked or where requests go is missing here on purpose.
const OF_PROJECTS: [&str; 11] = [
    "editor",
    "display",
    "notifications",
    "hints",
    "rewind",
    "suggestNextPrompt",
    "model",
    "selectedModel",
    "modelParameters",
    "maxMode",
    "attribution",
];

/// Settings that a project may only tighten: their values from tight to loose.
const TIGHTENED: [(&str, &[&str]); 3] = [
    ("approvalMode", &["allowlist", "auto-review", "unrestricted"]),
    ("sandbox.mode", &["enabled", "disabled"]),
    ("sandbox.networkAccess", &["user_config_only", "user_config_with_defaults", "allow_all"]),
];

/// What holds when no file says anything; also what a new user's file contains.
pub fn first_file() -> Map<String, Value> {
    object(json!({
        "version": 1,
        "editor": { "vimMode": false },
        "permissions": { "allow": ["Shell(ls)"], "deny": [] },
        "approvalMode": "allowlist",
    }))
}

/// The lowest layer. It allows nothing: what is allowed by default stands in the user's own file.
pub fn defaults() -> Layer {
    let mut values = first_file();
    forget_allowed(&mut values);
    for (key, value) in object(json!({
        "display": { "showLineNumbers": false, "showThinkingBlocks": false, "showStatusIndicators": false,
                     "showStatusLineRunningTime": false },
        "notifications": true,
        "hints": true,
        "maxMode": false,
        "model": { "modelId": "auto" },
    })) {
        values.insert(key, value);
    }
    Layer { origin: Origin::Default, values }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

/// Empties the list of what is allowed.
pub fn forget_allowed(values: &mut Map<String, Value>) {
    if let Some(Value::Object(permissions)) = values.get_mut("permissions") {
        permissions.insert("allow".to_owned(), json!([]));
    }
}

/// Whether a setting is united over all files instead of replaced.
pub fn is_united(key: &str) -> bool {
    UNITED.contains(&key)
}

/// All values that are no objects, by name with dots. Empty objects count as values.
pub fn flatten(values: &Map<String, Value>) -> Vec<(String, Value)> {
    let mut flat = Vec::new();
    for (name, value) in values {
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                flat.extend(flatten(inner).into_iter().map(|(key, value)| (format!("{name}.{key}"), value)));
            }
            _ => flat.push((name.clone(), value.clone())),
        }
    }
    flat
}

/// Finds a value by its JSON pointer.
pub fn look_up<'a>(values: &'a Map<String, Value>, pointer: &str) -> Option<&'a Value> {
    let mut parts = pointer.trim_start_matches('/').split('/');
    let first = values.get(parts.next()?)?;
    parts.try_fold(first, |value, part| value.get(part))
}

/// Sets a value by its name with dots, making the objects on the way.
pub fn set(values: &mut Map<String, Value>, key: &str, value: Value) -> Result<(), String> {
    let (first, rest) = key.split_once('.').map_or((key, None), |(first, rest)| (first, Some(rest)));
    let Some(rest) = rest else {
        values.insert(key.to_owned(), value);
        return Ok(());
    };
    let inner = values.entry(first).or_insert_with(|| Value::Object(Map::new()));
    match inner {
        Value::Object(inner) => set(inner, rest, value),
        _ => Err(format!("'{first}' is a value and has no '{rest}' in it")),
    }
}

/// Takes a value out by its name with dots; says whether it was there.
pub fn unset(values: &mut Map<String, Value>, key: &str) -> bool {
    match key.split_once('.') {
        None => values.shift_remove(key).is_some(),
        Some((first, rest)) => match values.get_mut(first) {
            Some(Value::Object(inner)) => unset(inner, rest),
            _ => false,
        },
    }
}

/// Says what is wrong with the form of a file's values, if anything is.
pub fn fault(values: &Map<String, Value>) -> Option<String> {
    if values.get("permissions").is_some_and(|permissions| !permissions.is_object()) {
        return Some("'permissions' must be an object".to_owned());
    }
    for key in UNITED {
        let Some(list) = look_up(values, &key.replace('.', "/")) else { continue };
        if !list.as_array().is_some_and(|list| list.iter().all(Value::is_string)) {
            return Some(format!("'{key}' must be a list of texts"));
        }
    }
    for (key, allowed) in TIGHTENED {
        let Some(value) = look_up(values, &key.replace('.', "/")) else { continue };
        if !value.as_str().is_some_and(|value| allowed.contains(&value)) {
            return Some(format!("'{key}' must be one of {}", allowed.join(", ")));
        }
    }
    None
}

/// Leaves of a project's file only what a project may say.
pub fn narrow(values: &mut Map<String, Value>, current: &[Setting], trust: ProjectTrust) {
    let tightened: Vec<(&str, Value)> = TIGHTENED
        .iter()
        .filter_map(|(key, order)| {
            let wanted = look_up(values, &key.replace('.', "/"))?.as_str()?.to_owned();
            let now =
                current.iter().find(|setting| setting.key == *key).and_then(|setting| setting.value.as_str());
            is_tighter(order, &wanted, now).then_some((*key, Value::String(wanted)))
        })
        .collect();
    values.retain(|key, _| {
        key == "permissions" || (trust == ProjectTrust::Trusted && OF_PROJECTS.contains(&key.as_str()))
    });
    if let Some(Value::Object(permissions)) = values.get_mut("permissions") {
        permissions.retain(|key, _| key == "deny" || (trust == ProjectTrust::Trusted && key == "allow"));
    }
    if trust == ProjectTrust::Trusted {
        for (key, value) in tightened {
            // The objects on the way were taken out above, so there is nothing in the way.
            drop(set(values, key, value));
        }
    }
}

fn is_tighter(order: &[&str], wanted: &str, now: Option<&str>) -> bool {
    let rank = |value: &str| order.iter().position(|known| *known == value);
    match (rank(wanted), now.and_then(rank)) {
        (Some(wanted), Some(now)) => wanted < now,
        (Some(wanted), None) => wanted == 0,
        (None, _) => false,
    }
}
