//! A workspace that goes away during a session is not made again by anybody.

use crate::support::{Setup, Talk};
use caret_protocol::content::{Outcome, Stop};
use caret_protocol::event::EndReason;
use expect_test::{Expect, expect};
use std::fs;

const TURNS: &str = r#"
    [[turn]]
    emit = [{ call = "Shell", id = "first", input = { command = "true" } }]
    [[turn]]
    emit = [{ text = "done" }]
    [[turn]]
    emit = [
      { call = "Read", id = "read", input = { path = "a.txt" } },
      { call = "Ls", id = "ls", input = { path = "." } },
      { call = "Grep", id = "grep", input = { pattern = "one" } },
      { call = "Write", id = "write", input = { path = "sub/b.txt", contents = "b" } },
      { call = "StrReplace", id = "edit", input = { path = "a.txt", old_string = "one", new_string = "two" } },
      { call = "Shell", id = "shell", input = { command = "touch c.txt" } },
    ]
    [[turn]]
    emit = [{ text = "done" }]
"#;

/// Runs a turn, does something to the workspace, and runs every tool.
async fn check(change: impl Fn(&Setup), expected: Expect) -> (Setup, Talk) {
    let mut setup = Setup::script(TURNS);
    setup.allow = vec!["Shell(true)", "Shell(touch)"];
    setup.folder.put("a.txt", "one\n");
    let mut talk = setup.open().await;
    talk.say("begin").await;
    change(&setup);
    talk.host.forget();
    let end = talk.say("go").await;
    assert_eq!(end.reason, EndReason::Stopped { stop: Stop::EndTurn });
    let base = setup.folder.beside("");
    let base = base.to_str().unwrap();
    let mut lines: Vec<String> =
        talk.results().iter().map(|(id, text)| format!("{id}: {}", text.replace(base, "/base/"))).collect();
    // Those that only read run together and end in any order.
    lines.sort();
    expected.assert_eq(&lines.join("\n"));
    assert!(talk.outcomes().iter().all(|(_, outcome)| !matches!(outcome, Outcome::Done { .. })));
    (setup, talk)
}

#[tokio::test]
async fn a_workspace_that_was_deleted_is_said_to_be_gone() {
    let (setup, _) = check(
        |setup| fs::remove_dir_all(setup.folder.root()).unwrap(),
        expect![[r#"
            edit: Error: the workspace folder `/base/workspace` is gone
            grep: Error: there is no `/base/workspace`
            ls: Error: there is no `/base/workspace`
            read: Error: File not found
            shell: Error: the workspace folder `/base/workspace` is gone
            write: Error: the workspace folder `/base/workspace` is gone"#]],
    )
    .await;
    assert!(!setup.folder.root().exists());
}

#[tokio::test]
async fn a_workspace_that_was_replaced_by_a_link_is_not_followed() {
    let change = |setup: &Setup| {
        let elsewhere = setup.folder.beside("elsewhere");
        fs::rename(setup.folder.root(), &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, setup.folder.root()).unwrap();
    };
    let (setup, _) = check(
        change,
        expect![[r#"
            edit: This call was rejected and not run: nobody is there
            grep: This call was rejected and not run: nobody is there
            ls: This call was rejected and not run: nobody is there
            read: This call was rejected and not run: nobody is there
            shell: Error: the workspace folder `/base/workspace` is gone
            write: This call was rejected and not run: nobody is there"#]],
    )
    .await;
    let elsewhere = setup.folder.beside("elsewhere");
    let files: Vec<_> = fs::read_dir(elsewhere).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(files, ["a.txt"]);
}
