//! Changes the session's task list.

use super::input::Input;
use super::{Place, Tool, ToolCx, ToolError, ToolSpec};
use crate::mutex::lock;
use crate::permission::Grant;
use async_trait::async_trait;
use caret_protocol::claim::Claim;
use caret_protocol::content::ToolOutput;
use caret_protocol::details::{Details, Todo, TodoStatus, TodosUpdated};
use serde_json::{Value, json};

const FORM: &str =
    r#"{"todos": [{"id": "1", "content": "what to do", "status": "pending"}], "merge": false}"#;

/// The tool `TodoWrite`.
pub(crate) struct TodoWrite(ToolSpec);

impl Default for TodoWrite {
    fn default() -> Self {
        Self(ToolSpec {
            name: "TodoWrite",
            description: include_str!("todo_write.md").trim_ascii_end(),
            input: json!({
                "type": "object",
                "properties": {
                    "todos": {"type": "array", "items": {
                        "type": "object",
                        "properties": {
                            "id": {"type": "string"},
                            "content": {"type": "string"},
                            "status": {"enum": ["pending", "in_progress", "completed", "cancelled"]},
                        },
                        "required": ["id", "content", "status"],
                    }},
                    "merge": {"type": "boolean"},
                },
                "required": ["todos", "merge"],
            }),
            read_only: true,
        })
    }
}

#[async_trait]
impl Tool for TodoWrite {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn claim(&self, input: &Value, _place: &Place) -> Result<Claim, ToolError> {
        Input::new(input, FORM)?.list(&["todos"])?;
        Ok(Claim::Nothing)
    }

    async fn run(&self, input: Value, _grant: Grant, cx: ToolCx<'_>) -> Result<ToolOutput, ToolError> {
        let input = Input::new(&input, FORM)?;
        let merge = input.flag(&["merge"])?;
        let mut known = lock(&cx.memory.todos);
        let mut todos = if merge { known.clone() } else { Vec::new() };
        for entry in input.list(&["todos"])? {
            let entry = input.entry(entry, "todos[]")?;
            let id = id(&entry)?;
            let old = todos.iter().chain(known.iter()).find(|todo| todo.id == id).cloned();
            let todo = todo(&entry, id, old, cx.now_ms)?;
            match todos.iter_mut().find(|other| other.id == todo.id) {
                Some(other) => *other = todo,
                None => todos.push(todo),
            }
        }
        known.clone_from(&todos);
        let for_model = listed(&todos);
        let total_count = todos.len() as u64;
        let details = Details::TodosUpdated(TodosUpdated { todos, total_count, was_merge: merge });
        Ok(ToolOutput { for_model, details })
    }
}

/// The id of an entry; models also number them.
fn id(entry: &Input<'_>) -> Result<String, ToolError> {
    let id = match entry.integer(&["id"]) {
        Ok(Some(number)) => number.to_string(),
        _ => entry.text(&["id"])?,
    };
    if id.is_empty() { Err(entry.wrong("`id` is empty")) } else { Ok(id) }
}

fn todo(entry: &Input<'_>, id: String, old: Option<Todo>, now_ms: u64) -> Result<Todo, ToolError> {
    let now = now_ms.to_string();
    let status = entry.optional_text(&["status"])?.map(|text| status(entry, &text)).transpose()?;
    let mut todo = match old {
        Some(old) => old,
        None => Todo {
            id,
            content: entry.text(&["content", "text", "title"])?,
            created_at: now.clone(),
            updated_at: now.clone(),
            ..Todo::default()
        },
    };
    let before = todo.clone();
    if let Some(content) = entry.optional_text(&["content", "text", "title"])? {
        todo.content = content;
    }
    if let Some(status) = status {
        todo.status = status;
    }
    let dependencies = entry.texts(&["dependencies"])?;
    if !dependencies.is_empty() {
        todo.dependencies = dependencies;
    }
    if todo != before {
        todo.updated_at = now;
    }
    Ok(todo)
}

/// A status under any of its spellings.
pub(crate) fn status(input: &Input<'_>, text: &str) -> Result<TodoStatus, ToolError> {
    let plain = text.trim().to_ascii_lowercase().replace(['-', ' '], "_");
    match plain.strip_prefix("todo_status_").unwrap_or(&plain) {
        "pending" | "todo" => Ok(TodoStatus::Pending),
        "in_progress" => Ok(TodoStatus::InProgress),
        "completed" | "complete" | "done" => Ok(TodoStatus::Completed),
        "cancelled" | "canceled" => Ok(TodoStatus::Cancelled),
        _ => {
            Err(input.wrong(format!("status `{text}` must be pending, in_progress, completed or cancelled")))
        }
    }
}

/// The list as the model reads it.
pub(crate) fn listed(todos: &[Todo]) -> String {
    if todos.is_empty() {
        return "The task list is empty.".to_owned();
    }
    let line = |todo: &Todo| {
        let mark = match todo.status {
            TodoStatus::Pending => "[ ]",
            TodoStatus::InProgress => "[>]",
            TodoStatus::Completed => "[x]",
            TodoStatus::Cancelled => "[-]",
        };
        format!("{mark} {}: {}", todo.id, todo.content)
    };
    todos.iter().map(line).collect::<Vec<_>>().join("\n")
}
