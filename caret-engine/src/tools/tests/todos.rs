//! The task list.

use super::super::test_support::Bench;
use serde_json::{Value, json};

fn todo(id: &str, content: &str, status: &str, created: &str, updated: &str) -> Value {
    json!({
        "id": id, "content": content, "status": status, "createdAt": created, "updatedAt": updated, "dependencies": [],
    })
}

#[tokio::test]
async fn the_list_is_replaced_merged_and_read() {
    let mut bench = Bench::new();
    let first = json!({"merge": false, "todos": [
        {"id": "1", "content": "plan", "status": "in_progress"},
        {"id": 2, "content": "do", "status": "pending"},
    ]});
    assert_eq!(bench.model("TodoWrite", first).await, "[>] 1: plan\n[ ] 2: do");
    bench.now_ms = 2_000;
    let second = json!({"merge": true, "todos": [
        {"id": "1", "status": "TODO_STATUS_COMPLETED"},
        {"id": "3", "content": "check", "status": "cancelled"},
    ]});
    let todos = [
        todo("1", "plan", "TODO_STATUS_COMPLETED", "1000", "2000"),
        todo("2", "do", "TODO_STATUS_PENDING", "1000", "1000"),
        todo("3", "check", "TODO_STATUS_CANCELLED", "2000", "2000"),
    ];
    assert_eq!(
        bench.details("TodoWrite", second).await,
        json!({"tool": "todos_updated", "todos": todos, "totalCount": 3, "wasMerge": true})
    );
    assert_eq!(
        bench
            .details("ReadTodos", json!({"statusFilter": ["pending", "completed"], "idFilter": ["2", "3"]}))
            .await,
        json!({"tool": "todos_read", "todos": [todos[1]], "totalCount": 1})
    );
    let third = json!({"merge": false, "todos": [{"id": "2", "content": "do", "status": "pending"}]});
    assert_eq!(
        bench.details("TodoWrite", third).await,
        json!({"tool": "todos_updated", "todos": [todos[1]], "totalCount": 1, "wasMerge": false})
    );
    bench.call("TodoWrite", json!({"todos": []})).await.unwrap();
    assert_eq!(bench.model("ReadTodos", json!({})).await, "The task list is empty.");
}

#[tokio::test]
async fn a_wrong_entry_changes_nothing() {
    let bench = Bench::new();
    bench
        .call("TodoWrite", json!({"todos": [{"id": "1", "content": "a", "status": "pending"}]}))
        .await
        .unwrap();
    for bad in [json!({"id": "2"}), json!({"content": "x"}), json!({"id": "", "content": "x"}), json!(7)] {
        let input = json!({"todos": [{"id": "1", "content": "b", "status": "pending"}, bad]});
        bench.call("TodoWrite", input).await.unwrap_err();
    }
    assert_eq!(bench.model("ReadTodos", json!({})).await, "[ ] 1: a");
}
