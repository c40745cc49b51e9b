//! What is said to a running turn is heard in it, at its next step.

use crate::support::{Setup, Talk};
use caret_protocol::content::{Content, plain};
use caret_protocol::event::{Event, Stamped};
use caret_testkit::{check_history, check_turns};
use expect_test::{Expect, expect};

/// Says "more" at the first event that `at` accepts; compares who said what in the turn.
async fn check(script: &str, at: impl Fn(&Event) -> bool + Send + Sync + 'static, expected: Expect) {
    let setup = Setup::script(script);
    setup.folder.put("a.txt", "one\n");
    let mut talk = setup.open().await;
    talk.say_and("go", at, |handle| handle.say.send(vec![Content::text("more")]).unwrap()).await;
    check_turns(&talk.host.heard());
    check_history(&setup.chat().messages(u64::MAX).unwrap());
    expected.assert_eq(&conversation(&talk));
}

fn conversation(talk: &Talk) -> String {
    let line = |stamped: Stamped| match stamped.event {
        Event::TurnStarted { turn } => Some(format!("{turn} begins")),
        Event::Prompted { content } => Some(format!("user: {}", plain(&content))),
        Event::Replied { reply } => Some(format!("model: {}", reply.text())),
        Event::ToolEnded { call, .. } => Some(format!("tool: {}", call.id)),
        Event::TurnEnded { turn, .. } => Some(format!("{turn} ends")),
        _ => None,
    };
    talk.host.heard().into_iter().filter_map(line).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn what_is_said_during_a_call_is_heard_at_the_next_step() {
    let script = r#"
        [[turn]]
        emit = [{ text = "look" }, { call = "Read", id = "a", input = { path = "a.txt" } }]
        [[turn]]
        emit = [{ text = "heard {{user}}" }]
    "#;
    check(
        script,
        |event| matches!(event, Event::ToolStarted { .. }),
        expect![[r#"
            turn-1 begins
            user: go
            model: look
            tool: a
            user: more
            model: heard more
            turn-1 ends"#]],
    )
    .await;
}

#[tokio::test]
async fn what_is_said_while_the_last_reply_streams_is_heard_in_the_same_turn() {
    let script = r#"
        [[turn]]
        emit = [{ deltas = ["that ", "is all"] }]
        [[turn]]
        emit = [{ text = "heard {{user}}" }]
    "#;
    let moments: [fn(&Event) -> bool; 3] = [
        |event| matches!(event, Event::Delta { .. }),
        |event| matches!(event, Event::Replied { .. }),
        |event| matches!(event, Event::Measured { .. }),
    ];
    for at in moments {
        check(
            script,
            at,
            expect![[r#"
                turn-1 begins
                user: go
                model: that is all
                user: more
                model: heard more
                turn-1 ends"#]],
        )
        .await;
    }
}

#[tokio::test]
async fn a_word_to_a_turn_that_has_ended_is_given_back() {
    let setup = Setup::script("[[turn]]\nemit = [{ text = \"done\" }]");
    let mut talk = setup.open().await;
    let (handle, control) = caret_protocol::agent::turn();
    talk.say_under("go", control).await;
    assert!(handle.say.send(vec![Content::text("late")]).is_err());
}
