//! What the tools make of what models send.

use super::super::test_support::{Bench, tool};
use super::super::{Place, all};
use caret_protocol::claim::Claim;
use expect_test::expect;
use serde_json::{Value, json};
use std::path::PathBuf;

#[test]
fn the_tools_are_sorted_and_small() {
    let tools = all();
    let names: Vec<&str> = tools.iter().map(|tool| tool.spec().name).collect();
    let mut sorted = names.clone();
    sorted.sort_by_key(|name| name.to_lowercase());
    assert_eq!(names, sorted);
    let size: usize = tools
        .iter()
        .map(|tool| {
            tool.spec().description.len() + tool.spec().input.to_string().len() + tool.spec().name.len()
        })
        .sum();
    assert!(size < 6_000, "{size} bytes");
}

fn claim(name: &str, input: Value) -> Claim {
    let root = PathBuf::from("/ws");
    let place = Place {
        root: root.clone(),
        additional: Vec::new(),
        cwd: root,
        home: Some(PathBuf::from("/home/me")),
        hidden: Default::default(),
    };
    tool(name).claim(&input, &place).unwrap()
}

#[test]
fn claims_say_what_would_be_touched() {
    let read = |path: &str| Claim::Read { path: PathBuf::from(path) };
    let write = |paths: &[&str]| Claim::Write { paths: paths.iter().map(PathBuf::from).collect() };
    let patch = "*** Begin Patch\n*** Add File: n\n+x\n*** Update File: a\n*** Move to: b/../c\n@@\n-x\n+y\n*** Delete File: /d\n*** End Patch";
    let table = [
        ("Read", json!({"path": "a/../b"}), read("/ws/b")),
        ("Read", json!({"target_file": "~/x"}), read("/home/me/x")),
        ("Write", json!({"file_path": "a", "contents": ""}), write(&["/ws/a"])),
        ("StrReplace", json!({"path": "/x/a"}), write(&["/x/a"])),
        ("MultiStrReplace", json!({"path": "a", "edits": []}), write(&["/ws/a"])),
        ("ApplyPatch", json!({"patch": patch}), write(&["/ws/n", "/ws/a", "/ws/c", "/d"])),
        ("Delete", json!({"path": "a"}), write(&["/ws/a"])),
        ("LS", json!({}), read("/ws")),
        ("LS", json!({"path": "a"}), read("/ws/a")),
        ("Glob", json!({"glob_pattern": "*", "target_directory": "/x"}), read("/x")),
        ("Glob", json!({"glob_pattern": "*"}), read("/ws")),
        ("Grep", json!({"pattern": "x"}), read("/ws")),
        ("Grep", json!({"pattern": "x", "path": "a"}), read("/ws/a")),
        ("TodoWrite", json!({"todos": []}), Claim::Nothing),
        ("ReadTodos", Value::Null, Claim::Nothing),
    ];
    for (name, input, expected) in table {
        assert_eq!(claim(name, input.clone()), expected, "{name} {input}");
    }
}

#[tokio::test]
async fn wrong_arguments_are_named_with_the_form() {
    let bench = Bench::new();
    bench.put("f", "x\n");
    let mut seen = String::new();
    for (name, input) in [
        ("Read", json!({})),
        ("Read", json!([])),
        ("Read", json!({"path": 7})),
        ("Read", json!({"path": ""})),
        ("Read", json!({"path": "f", "offset": "soon"})),
        ("Write", json!({"path": "g"})),
        ("StrReplace", json!({"path": "f", "old_string": "x"})),
        ("StrReplace", json!({"path": "f", "old_string": "x", "new_string": "y", "replace_all": "maybe"})),
        ("MultiStrReplace", json!({"path": "f", "edits": [7]})),
        ("ApplyPatch", json!({"patch": "what"})),
        ("LS", json!({"ignore": [1]})),
        ("Grep", json!({"pattern": "x", "-A": -1})),
        ("Grep", json!({"pattern": "x", "output_mode": "lines"})),
        ("TodoWrite", json!({"todos": [{"id": "1", "content": "x", "status": "soon"}]})),
    ] {
        seen.push_str(&bench.model(name, input).await);
        seen.push('\n');
    }
    expect![[r#"
        Error: `path` is missing; expected {"path": "src/main.rs", "offset"?: 1, "limit"?: 200}
        Error: the input must be a JSON object; expected {"path": "src/main.rs", "offset"?: 1, "limit"?: 200}
        Error: `path` must be a string, not 7; expected {"path": "src/main.rs", "offset"?: 1, "limit"?: 200}
        Error: `path` is empty or has a NUL character; expected {"path": "src/main.rs", "offset"?: 1, "limit"?: 200}
        Error: `offset` must be a whole number, not "soon"; expected {"path": "src/main.rs", "offset"?: 1, "limit"?: 200}
        Error: `contents` is missing; expected {"path": "src/main.rs", "contents": "the whole text"}
        Error: `new_string` is missing; expected {"path": "src/main.rs", "old_string": "as it is", "new_string": "as it should be", "replace_all"?: false}
        Error: `replace_all` must be true or false, not "maybe"; expected {"path": "src/main.rs", "old_string": "as it is", "new_string": "as it should be", "replace_all"?: false}
        Error: `edits[]` must be a JSON object, not 7; expected {"path": "src/main.rs", "edits": [{"old_string": "as it is", "new_string": "as it should be"}]}
        Error: the patch names no file; start it with `*** Begin Patch` and `*** Update File: path`
        Error: `ignore` must be a list of strings, not [1]; expected {"path"?: "src", "ignore"?: ["*.log"]}
        Error: `-A` must not be negative; expected {"pattern": "fn main", "path"?: "src", "glob"?: "*.rs", "output_mode"?: "content", "-C"?: 2, "-i"?: true, "type"?: "rust", "head_limit"?: 100, "offset"?: 0, "multiline"?: false}
        Error: `output_mode` must be files_with_matches, content or count, not `lines`; expected {"pattern": "fn main", "path"?: "src", "glob"?: "*.rs", "output_mode"?: "content", "-C"?: 2, "-i"?: true, "type"?: "rust", "head_limit"?: 100, "offset"?: 0, "multiline"?: false}
        Error: status `soon` must be pending, in_progress, completed or cancelled; expected {"todos": [{"id": "1", "content": "what to do", "status": "pending"}], "merge": false}
    "#]].assert_eq(&seen);
}

#[tokio::test]
async fn other_names_for_the_same_thing_are_taken() {
    for input in [
        json!({"file_path": "f", "old": "a", "new": "b"}),
        json!({"target_file": "f", "old_text": "a", "new_text": "b", "replace_all": "true"}),
        json!({"path": "f", "oldText": "a", "newText": "b", "replaceAll": false}),
    ] {
        let bench = Bench::new();
        bench.put("f", "a\n");
        bench.call("StrReplace", input).await.unwrap();
        assert_eq!(bench.get("f"), b"b\n");
    }
    for name in ["contents", "content", "file_text", "fileText"] {
        let bench = Bench::new();
        bench.call("Write", json!({"path": "f", name: "x"})).await.unwrap();
        assert_eq!(bench.get("f"), b"x");
    }
    let bench = Bench::new();
    bench.put("f", "a\nb\nc\n");
    assert_eq!(
        bench.model("Read", json!({"path": "f", "offset": "2", "limit": 1.0})).await,
        "     2|b\n[lines 2-2 of 4 shown; continue with offset 3]"
    );
}
