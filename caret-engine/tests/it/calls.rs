//! Calls that make no sense are answered one by one, and no call runs twice.

use crate::support::{Probe, Replies, Setup, Talk};
use caret_protocol::content::{Outcome, Stop, ToolCall};
use caret_protocol::event::{EndReason, Event};
use caret_testkit::{check_history, check_turns};
use expect_test::{Expect, expect};
use serde_json::json;
use std::collections::HashSet;
use std::sync::Arc;

async fn said(replies: Vec<Vec<ToolCall>>) -> (Talk, Arc<Probe>) {
    let probe = Probe::new();
    let mut setup = Setup::model(Replies::new(replies));
    setup.tools.push(Arc::<Probe>::clone(&probe));
    setup.folder.put("a.txt", "one\n");
    let mut talk = setup.open().await;
    let end = talk.say("go").await;
    assert_eq!(end.reason, EndReason::Stopped { stop: Stop::EndTurn });
    check_turns(&talk.host.heard());
    check_history(&setup.chat().messages(u64::MAX).unwrap());
    (talk, probe)
}

fn probe(id: &str, n: u32) -> ToolCall {
    ToolCall::new(id, "Probe", json!({ "n": n }))
}

/// Runs a good call, these, and a good call; compares what the model read of each.
async fn check(bad: Vec<ToolCall>, expected: Expect) {
    let mut calls = vec![probe("first", 1)];
    calls.extend(bad);
    calls.push(probe("last", 2));
    let (talk, _) = said(vec![calls]).await;
    let short = |(id, text): &(String, String)| {
        format!("{id}: {}", text.split(';').next().unwrap_or_default().trim_end())
    };
    let lines: Vec<String> = talk.results().iter().map(short).collect();
    expected.assert_eq(&lines.join("\n"));
}

#[tokio::test]
async fn a_call_that_makes_no_sense_is_an_error_for_itself_only() {
    let mut malformed = ToolCall::new("malformed", "Read", json!({}));
    malformed.malformed = Some("{\"path\": ".into());
    check(
        vec![
            ToolCall::new("empty", "", json!({})),
            ToolCall::new("case", "probe", json!({})),
            malformed,
            ToolCall::new("wrong", "Read", json!({ "path": 7 })),
            ToolCall::new("nothing", "Read", json!(null)),
            ToolCall::new("list", "Shell", json!(["ls"])),
            ToolCall::new("deep", "Write", json!({ "path": { "path": "x" } })),
        ],
        expect![[r#"
            first: first was here
            empty: Error: there is no tool ``
            case: Error: there is no tool `probe`
            malformed: Error: the arguments are not valid JSON, nothing was run: {"path":
            wrong: Error: `path` must be a string, not 7
            nothing: Error: `path` is missing
            list: Error: `command` must be the text of a bash command
            deep: Error: `path` must be a string, not {"path":"x"}
            last: last was here"#]],
    )
    .await;
}

#[tokio::test]
async fn ids_that_are_empty_or_used_twice_become_unique() {
    let (talk, probe) = said(vec![
        vec![probe("a", 1), probe("a", 2), probe("", 3), probe("", 4), probe("a~2", 5)],
        vec![probe("a", 6)],
    ])
    .await;
    let ids: Vec<String> = talk.outcomes().into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), 6, "{ids:?}");
    assert_eq!(probe.notes.lock().unwrap().iter().filter(|note| note.ends_with("begins")).count(), 6);
}

#[tokio::test]
async fn an_id_of_an_earlier_turn_becomes_another() {
    let probe_tool = Probe::new();
    let replies = vec![vec![probe("a", 1)], vec![], vec![probe("a", 2)], vec![]];
    let mut setup = Setup::model(Replies::new(replies));
    setup.tools.push(probe_tool);
    let mut talk = setup.open().await;
    talk.say("go").await;
    talk.say("on").await;
    let ids: HashSet<String> = talk.outcomes().into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids.len(), 2, "{ids:?}");
}

#[tokio::test]
async fn of_a_thousand_calls_the_first_are_run_and_all_are_answered() {
    let calls = (0..1000).map(|n| probe(&format!("c{n}"), n)).collect();
    let (talk, probe) = said(vec![calls]).await;
    let outcomes = talk.outcomes();
    let done = outcomes.iter().filter(|(_, outcome)| matches!(outcome, Outcome::Done { .. })).count();
    assert_eq!((outcomes.len(), done), (1000, 128));
    assert_eq!(probe.notes.lock().unwrap().iter().filter(|note| note.ends_with("begins")).count(), 128);
    let (_, last) = talk.results().pop().unwrap();
    assert!(last.contains("more than 128 calls in one reply"), "{last}");
}

#[tokio::test]
async fn a_call_that_was_cut_off_is_not_run() {
    let setup = Setup::script(
        r#"
        [[turn]]
        stop = "max_tokens"
        emit = [{ text = "writing" }, { call = "Write", id = "a", malformed = '{"path": "b.txt", "conte' }]
        [[turn]]
        stop = "max_tokens"
        emit = [{ text = "and so" }]
        "#,
    );
    let mut talk = setup.open().await;
    let end = talk.say("go").await;
    assert_eq!(end.reason, EndReason::Stopped { stop: Stop::MaxTokens });
    assert!(matches!(&talk.outcomes()[0].1, Outcome::Failed { .. }));
    assert_eq!(setup.folder.get("b.txt"), None);
}

#[tokio::test]
async fn an_empty_reply_and_a_refusal_end_the_turn() {
    for (emit, stop) in [("[]", "end_turn"), ("[{ text = \"no\" }]", "refusal")] {
        let setup = Setup::script(&format!("[[turn]]\nstop = \"{stop}\"\nemit = {emit}"));
        let mut talk = setup.open().await;
        let expected = if stop == "refusal" { Stop::Refusal } else { Stop::EndTurn };
        assert_eq!(talk.say("go").await.reason, EndReason::Stopped { stop: expected });
        assert_eq!(
            talk.host.events().iter().filter(|event| matches!(event, Event::Replied { .. })).count(),
            1
        );
    }
}
