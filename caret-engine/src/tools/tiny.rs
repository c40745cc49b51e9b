//! The tools as a model with a small context sees them: five, in few words.
//!
//! They are the same tools; only what is said about them is shorter. Together with the instructions they keep
//! a budget of about 600 tokens.

use super::ToolSpec;
use serde_json::{Value, json};

/// How a tool is described in few words; `None` for one that is not offered.
pub(super) fn spec(full: &ToolSpec) -> Option<ToolSpec> {
    let (description, input) = match full.name {
        "Read" => (
            include_str!("tiny/read.md"),
            object(&[("path", "string"), ("offset", "integer"), ("limit", "integer")], &["path"]),
        ),
        "Write" => (
            include_str!("tiny/write.md"),
            object(&[("path", "string"), ("contents", "string")], &["path", "contents"]),
        ),
        "StrReplace" => (
            include_str!("tiny/str_replace.md"),
            object(
                &[("path", "string"), ("old_string", "string"), ("new_string", "string")],
                &["path", "old_string", "new_string"],
            ),
        ),
        "Shell" => (include_str!("tiny/shell.md"), object(&[("command", "string")], &["command"])),
        "Grep" => (
            include_str!("tiny/grep.md"),
            object(&[("pattern", "string"), ("path", "string"), ("output_mode", "string")], &["pattern"]),
        ),
        _ => return None,
    };
    Some(ToolSpec {
        name: full.name,
        description: description.trim_ascii_end(),
        input,
        read_only: full.read_only,
    })
}

fn object(properties: &[(&str, &str)], required: &[&str]) -> Value {
    let properties: serde_json::Map<String, Value> =
        properties.iter().map(|(name, kind)| ((*name).to_owned(), json!({ "type": kind }))).collect();
    json!({"type": "object", "properties": properties, "required": required})
}
