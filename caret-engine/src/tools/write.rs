//! Creates a file or replaces all of its text.
//!
//! What the file had and a model does not think of stays: line endings, byte order mark, final newline.

use super::edit::{Target, rewritten};
use super::input::Input;
use super::{Place, Tool, ToolCx, ToolError, ToolSpec};
use crate::permission::Grant;
use async_trait::async_trait;
use caret_protocol::claim::Claim;
use caret_protocol::content::ToolOutput;
use serde_json::{Value, json};

const FORM: &str = r#"{"path": "src/main.rs", "contents": "the whole text"}"#;

/// The tool `Write`.
pub(crate) struct Write(ToolSpec);

impl Default for Write {
    fn default() -> Self {
        Self(ToolSpec {
            name: "Write",
            description: include_str!("write.md").trim_ascii_end(),
            input: json!({
                "type": "object",
                "properties": {"path": {"type": "string"}, "contents": {"type": "string"}},
                "required": ["path", "contents"],
            }),
            read_only: false,
        })
    }
}

#[async_trait]
impl Tool for Write {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn claim(&self, input: &Value, place: &Place) -> Result<Claim, ToolError> {
        Ok(Claim::Write { paths: vec![Input::new(input, FORM)?.path(place)?] })
    }

    async fn run(&self, input: Value, _grant: Grant, cx: ToolCx<'_>) -> Result<ToolOutput, ToolError> {
        let input = Input::new(&input, FORM)?;
        let path = input.path(cx.place)?;
        let contents = input.text(&["contents", "content", "file_text", "fileText", "text"])?;
        let target = Target::open(&cx, &path).await?;
        let after = match &target.before {
            Some(before) => rewritten(&before.bytes, &contents),
            None => contents.into_bytes(),
        };
        target.save(&cx, &after).await
    }
}
