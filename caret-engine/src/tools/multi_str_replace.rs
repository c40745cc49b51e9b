//! Makes several replacements in one file; all or none.

use super::edit::{Target, replace};
use super::input::Input;
use super::str_replace::edit;
use super::{Place, Tool, ToolCx, ToolError, ToolSpec};
use crate::permission::Grant;
use async_trait::async_trait;
use caret_protocol::claim::Claim;
use caret_protocol::content::ToolOutput;
use serde_json::{Value, json};

const FORM: &str =
    r#"{"path": "src/main.rs", "edits": [{"old_string": "as it is", "new_string": "as it should be"}]}"#;

/// The tool `MultiStrReplace`.
pub(crate) struct MultiStrReplace(ToolSpec);

impl Default for MultiStrReplace {
    fn default() -> Self {
        Self(ToolSpec {
            name: "MultiStrReplace",
            description: include_str!("multi_str_replace.md").trim_ascii_end(),
            input: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "edits": {"type": "array", "items": {
                        "type": "object",
                        "properties": {
                            "old_string": {"type": "string"},
                            "new_string": {"type": "string"},
                            "replace_all": {"type": "boolean"},
                        },
                        "required": ["old_string", "new_string"],
                    }},
                },
                "required": ["path", "edits"],
            }),
            read_only: false,
        })
    }
}

#[async_trait]
impl Tool for MultiStrReplace {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn claim(&self, input: &Value, place: &Place) -> Result<Claim, ToolError> {
        Ok(Claim::Write { paths: vec![Input::new(input, FORM)?.path(place)?] })
    }

    async fn run(&self, input: Value, _grant: Grant, cx: ToolCx<'_>) -> Result<ToolOutput, ToolError> {
        let input = Input::new(&input, FORM)?;
        let path = input.path(cx.place)?;
        let list = input.list(&["edits"])?;
        if list.is_empty() {
            return Err(input.wrong("`edits` is empty"));
        }
        let edits =
            list.iter().map(|entry| edit(&input.entry(entry, "edits[]")?)).collect::<Result<Vec<_>, _>>()?;
        let (target, mut text) = Target::existing(&cx, &path).await?;
        for (number, edit) in edits.iter().enumerate() {
            text = replace(&text, edit).map_err(|why| {
                let number = number + 1;
                ToolError::new(format!("edit {number} of {}, and none was made: {why}", edits.len()))
            })?;
        }
        target.save(&cx, &text).await
    }
}
