//! Replaces one text in a file.

use super::edit::{Edit, Target, replace};
use super::input::Input;
use super::{Place, Tool, ToolCx, ToolError, ToolSpec};
use crate::permission::Grant;
use async_trait::async_trait;
use caret_protocol::claim::Claim;
use caret_protocol::content::ToolOutput;
use serde_json::{Value, json};

const FORM: &str = r#"{"path": "src/main.rs", "old_string": "as it is", "new_string": "as it should be", "replace_all"?: false}"#;

/// The tool `StrReplace`.
pub(crate) struct StrReplace(ToolSpec);

impl Default for StrReplace {
    fn default() -> Self {
        Self(ToolSpec {
            name: "StrReplace",
            description: include_str!("str_replace.md").trim_ascii_end(),
            input: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "old_string": {"type": "string"},
                    "new_string": {"type": "string"},
                    "replace_all": {"type": "boolean"},
                },
                "required": ["path", "old_string", "new_string"],
            }),
            read_only: false,
        })
    }
}

#[async_trait]
impl Tool for StrReplace {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn claim(&self, input: &Value, place: &Place) -> Result<Claim, ToolError> {
        Ok(Claim::Write { paths: vec![Input::new(input, FORM)?.path(place)?] })
    }

    async fn run(&self, input: Value, _grant: Grant, cx: ToolCx<'_>) -> Result<ToolOutput, ToolError> {
        let input = Input::new(&input, FORM)?;
        let path = input.path(cx.place)?;
        let edit = edit(&input)?;
        let (target, before) = Target::existing(&cx, &path).await?;
        let after = replace(&before, &edit).map_err(ToolError::new)?;
        target.save(&cx, &after).await
    }
}

/// One replacement, under any of the names that models use.
pub(crate) fn edit(input: &Input<'_>) -> Result<Edit, ToolError> {
    Ok(Edit {
        old: input.text(&["old_string", "old_text", "oldText", "old_str", "oldString", "old"])?,
        new: input.text(&["new_string", "new_text", "newText", "new_str", "newString", "new"])?,
        everywhere: input.flag(&["replace_all", "replaceAll"])?,
    })
}
