//! Shows the session's task list.

use super::input::Input;
use super::todo_write::{listed, status};
use super::{Place, Tool, ToolCx, ToolError, ToolSpec};
use crate::mutex::lock;
use crate::permission::Grant;
use async_trait::async_trait;
use caret_protocol::claim::Claim;
use caret_protocol::content::ToolOutput;
use caret_protocol::details::{Details, TodosRead};
use serde_json::{Value, json};

const FORM: &str = r#"{"statusFilter"?: ["pending"], "idFilter"?: ["1"]}"#;

/// The tool `ReadTodos`.
pub(crate) struct ReadTodos(ToolSpec);

impl Default for ReadTodos {
    fn default() -> Self {
        let texts = json!({"type": "array", "items": {"type": "string"}});
        Self(ToolSpec {
            name: "ReadTodos",
            description: include_str!("read_todos.md").trim_ascii_end(),
            input: json!({
                "type": "object",
                "properties": {"statusFilter": texts, "idFilter": texts},
            }),
            read_only: true,
        })
    }
}

#[async_trait]
impl Tool for ReadTodos {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn claim(&self, input: &Value, _place: &Place) -> Result<Claim, ToolError> {
        Input::new(input, FORM).map(|_| Claim::Nothing)
    }

    async fn run(&self, input: Value, _grant: Grant, cx: ToolCx<'_>) -> Result<ToolOutput, ToolError> {
        let input = Input::new(&input, FORM)?;
        let wanted = input.texts(&["statusFilter", "status_filter", "status"])?;
        let wanted = wanted.iter().map(|text| status(&input, text)).collect::<Result<Vec<_>, _>>()?;
        let ids = input.texts(&["idFilter", "id_filter", "ids"])?;
        let mut todos = lock(&cx.memory.todos).clone();
        todos.retain(|todo| wanted.is_empty() || wanted.contains(&todo.status));
        todos.retain(|todo| ids.is_empty() || ids.contains(&todo.id));
        let for_model = listed(&todos);
        let total_count = todos.len() as u64;
        Ok(ToolOutput { for_model, details: Details::TodosRead(TodosRead { todos, total_count }) })
    }
}
