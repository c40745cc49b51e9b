//! Deletes one file, or a link but not what it leads to.

use super::input::Input;
use super::place::{self, file_error};
use super::{Place, Tool, ToolCx, ToolError, ToolSpec, text};
use crate::permission::Grant;
use async_trait::async_trait;
use caret_protocol::claim::Claim;
use caret_protocol::content::ToolOutput;
use caret_protocol::details::{DeleteDone, Details};
use serde_json::{Value, json};

const FORM: &str = r#"{"path": "src/old.rs"}"#;

/// The tool `Delete`.
pub(crate) struct Delete(ToolSpec);

impl Default for Delete {
    fn default() -> Self {
        Self(ToolSpec {
            name: "Delete",
            description: include_str!("delete.md").trim_ascii_end(),
            input: json!({
                "type": "object",
                "properties": {"path": {"type": "string"}},
                "required": ["path"],
            }),
            read_only: false,
        })
    }
}

#[async_trait]
impl Tool for Delete {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn claim(&self, input: &Value, place: &Place) -> Result<Claim, ToolError> {
        Ok(Claim::Write { paths: vec![Input::new(input, FORM)?.path(place)?] })
    }

    async fn run(&self, input: Value, _grant: Grant, cx: ToolCx<'_>) -> Result<ToolOutput, ToolError> {
        let path = Input::new(&input, FORM)?.path(cx.place)?;
        let real = place::removable(cx.place, &path).await?;
        let file_size = cx.workspace.remove(&real).await.map_err(|error| file_error(&error, &path))?;
        cx.memory.forget(&real);
        let path = text::path_text(&path);
        let for_model = format!("Deleted {path} ({file_size} bytes).");
        Ok(ToolOutput { for_model, details: Details::Delete(DeleteDone { path, file_size }) })
    }
}
