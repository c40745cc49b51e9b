//! AskQuestion: a question of the model to the user. The host answers it, so there is nothing to run.

use super::{Place, Tool, ToolCx, ToolError, ToolSpec};
use crate::permission::Grant;
use async_trait::async_trait;
use caret_protocol::ask::Question;
use caret_protocol::claim::Claim;
use caret_protocol::content::ToolOutput;
use serde_json::{Value, json};

/// The tool.
pub(super) struct AskQuestion {
    spec: ToolSpec,
}

impl Default for AskQuestion {
    fn default() -> Self {
        let option = json!({
            "type": "object",
            "properties": { "id": { "type": "string" }, "label": { "type": "string" } },
            "required": ["id", "label"],
        });
        let question = json!({
            "type": "object",
            "properties": {
                "id": { "type": "string" },
                "prompt": { "type": "string" },
                "options": { "type": "array", "items": option },
                "allow_multiple": { "type": "boolean" },
            },
            "required": ["id", "prompt", "options"],
        });
        let input = json!({
            "type": "object",
            "properties": {
                "title": { "type": "string" },
                "questions": { "type": "array", "items": question },
            },
            "required": ["questions"],
        });
        let description = include_str!("ask_question.md").trim_ascii();
        Self { spec: ToolSpec { name: "AskQuestion", description, input, read_only: true } }
    }
}

#[async_trait]
impl Tool for AskQuestion {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn claim(&self, input: &Value, _place: &Place) -> Result<Claim, ToolError> {
        let given = input["questions"].as_array().cloned().unwrap_or_default();
        let mut questions = Vec::new();
        for mut question in given {
            if let Some(fields) = question.as_object_mut()
                && let Some(multiple) = fields.remove("allow_multiple")
            {
                fields.insert("allowMultiple".into(), multiple);
            }
            let question: Question = serde_json::from_value(question).map_err(|error| {
                ToolError::new(format!(
                    "`questions` must be a list of {{id, prompt, options: [{{id, label}}]}}: {error}"
                ))
            })?;
            questions.push(question);
        }
        if questions.is_empty() {
            return Err(ToolError::new("`questions` must hold at least one {id, prompt, options}"));
        }
        Ok(Claim::Ask { title: input["title"].as_str().unwrap_or_default().into(), questions })
    }

    async fn run(&self, _input: Value, _grant: Grant, _cx: ToolCx<'_>) -> Result<ToolOutput, ToolError> {
        Err(ToolError::new("a question is answered by the user, not run"))
    }
}
