//! A turn may be cancelled at any event and leaves a session that goes on.

use crate::support::{Setup, Talk};
use caret_protocol::agent::turn;
use caret_protocol::ask::{Answer, Ask};
use caret_protocol::content::{Outcome, Stop};
use caret_protocol::event::{EndReason, Event};
use caret_testkit::{check_history, check_turns};
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

const EVERYTHING: &str = r#"
    [[turn]]
    emit = [
      { thinking = "what is there" },
      { deltas = ["I will ", "look."] },
      { usage = { input = 10, output = 2 } },
      { call = "Read", id = "read_a", input = { path = "a.txt" } },
      { call = "Read", id = "read_b", input = { path = "b.txt" } },
      { call = "StrReplace", id = "edit", input = { path = "a.txt", old_string = "one", new_string = "two" } },
      { call = "Write", id = "write", input = { path = "c.txt", contents = "three" } },
      { call = "Shell", id = "shell", input = { command = "echo four; echo five >&2" } },
      { call = "Shell", id = "refused", input = { command = "curl there" } },
      { call = "Shell", id = "denied", input = { command = "rm -r ." } },
      { call = "Frobnicate", id = "unknown", input = { what = 1 } },
      { call = "Read", id = "malformed", malformed = '{"path": "a' },
    ]
    [[turn]]
    emit = [
      { text = "And a list." },
      { call = "TodoWrite", id = "todos", input = { todos = [{ id = "1", content = "go on", status = "pending" }] } },
    ]
    [[turn]]
    emit = [{ text = "Done." }]
    [[turn]]
    when = { user = "again" }
    emit = [{ text = "Here." }]
"#;

fn everything() -> Setup {
    let mut setup = Setup::script(EVERYTHING);
    setup.folder.put("a.txt", "one\n").put("b.txt", "b\n");
    setup.allow = vec!["Shell(echo)"];
    setup.deny = vec!["Shell(rm)"];
    setup
}

fn decide(ask: &Ask) -> Answer {
    match ask {
        Ask::Permission { call, .. } if call.id.as_str() == "shell" => Answer::AllowOnce,
        _ => Answer::Reject { reason: "not now".into() },
    }
}

/// Opens the session, runs the turn with a cancel at event `number`; says how it ended.
async fn cancelled_at(setup: &Setup, number: usize) -> (Talk, EndReason) {
    let mut talk = setup.open().await;
    talk.host.decide(decide);
    let (handle, control) = turn();
    talk.host.cancel_after(number, &handle);
    let end = talk.say_under("go", control).await;
    (talk, end.reason)
}

#[tokio::test]
async fn cancelling_at_any_event_closes_every_call_and_the_session_goes_on() {
    let whole = everything();
    let (talk, reason) = cancelled_at(&whole, usize::MAX / 2).await;
    assert_eq!(reason, EndReason::Stopped { stop: Stop::EndTurn });
    check_turns(&talk.host.heard());
    let all = talk.host.heard().len();
    assert!(all > 30, "{all}");
    for number in 1..all {
        let setup = everything();
        let (mut talk, reason) = cancelled_at(&setup, number).await;
        let heard = talk.host.heard();
        check_turns(&heard);
        // A cancel that comes while the last reply is shown is too late.
        let late = heard.iter().filter(|stamped| matches!(stamped.event, Event::Replied { .. })).count() == 3;
        let expected = if late { EndReason::Stopped { stop: Stop::EndTurn } } else { EndReason::Cancelled };
        assert_eq!(reason, expected, "cancelled at {number}: {:?}", heard[number - 1]);
        check_history(&setup.chat().messages(u64::MAX).unwrap());
        let end = talk.say("again").await;
        assert_eq!(end.reason, EndReason::Stopped { stop: Stop::EndTurn }, "after a cancel at {number}");
        check_turns(&talk.host.heard());
        check_history(&setup.chat().messages(u64::MAX).unwrap());
    }
}

/// The work's result, unless it is dropped before its poll number `polls`.
async fn dropped_at<T>(polls: usize, work: impl Future<Output = T>) -> Option<T> {
    let mut work = Box::pin(work);
    let mut left = polls;
    poll_fn(move |cx| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        work.as_mut().poll(cx).map(Some)
    })
    .await
}

#[tokio::test]
async fn a_turn_that_is_dropped_anywhere_is_closed_by_the_next() {
    for polls in 1.. {
        let setup = everything();
        let mut talk = setup.open().await;
        talk.host.decide(decide);
        let ended = dropped_at(polls, talk.say("go")).await;
        let end = talk.say("again").await;
        assert_eq!(end.reason, EndReason::Stopped { stop: Stop::EndTurn }, "dropped at poll {polls}");
        check_turns(&setup.chat().events(0).unwrap());
        check_history(&setup.chat().messages(u64::MAX).unwrap());
        if ended.is_some() {
            // How often it is polled depends on the threads that read files.
            assert!(polls > 3, "{polls}");
            break;
        }
    }
}

#[tokio::test]
async fn nothing_starts_after_a_cancel() {
    let setup = everything();
    let mut talk = setup.open().await;
    talk.host.decide(decide);
    talk.say_and(
        "go",
        |event| matches!(event, Event::ToolStarted { call } if call.id.as_str() == "edit"),
        |handle| handle.cancel.cancel(),
    )
    .await;
    let outcomes = talk.outcomes();
    assert!(matches!(&outcomes[0].1, Outcome::Done { .. }), "{outcomes:?}");
    let run: Vec<_> = outcomes[2..7].iter().filter(|(_, outcome)| *outcome != Outcome::Cancelled).collect();
    assert!(run.is_empty(), "{run:?}");
    assert_eq!((setup.folder.get("a.txt"), setup.folder.get("c.txt")), (Some("one\n".into()), None));
    assert_eq!(talk.host.asked(), Vec::new());
}

#[tokio::test]
async fn a_turn_that_was_cancelled_before_it_began_is_a_turn() {
    let setup = everything();
    let mut talk = setup.open().await;
    let (handle, control) = turn();
    handle.cancel.cancel();
    let end = talk.say_under("go", control).await;
    assert_eq!(end.reason, EndReason::Cancelled);
    check_turns(&talk.host.heard());
}

#[tokio::test(start_paused = true)]
async fn a_model_that_says_nothing_is_left_at_once() {
    let setup =
        Setup::script("[[turn]]\nemit = [{ text = \"wait\" }, { hang_ms = 100000 }, { text = \"x\" }]");
    let mut talk = setup.open().await;
    let began = tokio::time::Instant::now();
    let end = talk
        .say_and("go", |event| matches!(event, Event::Delta { .. }), |handle| handle.cancel.cancel())
        .await;
    assert_eq!(end.reason, EndReason::Cancelled);
    assert!(began.elapsed() < Duration::from_secs(1));
}

#[tokio::test]
async fn an_open_question_is_answered_by_the_cancel() {
    let mut setup = Setup::script(
        r#"[[turn]]
        emit = [{ call = "Shell", id = "c", input = { command = "make" } }]"#,
    );
    setup.folder.put("a.txt", "one\n");
    setup.force = false;
    let mut talk = setup.open().await;
    let (handle, control) = turn();
    let cancel = handle.cancel.clone();
    talk.host.decide(move |_| {
        cancel.cancel();
        Answer::Cancelled
    });
    let end = talk.say_under("go", control).await;
    assert_eq!(end.reason, EndReason::Cancelled);
    assert_eq!(talk.outcomes(), [("c".into(), Outcome::Cancelled)]);
    let answered = talk.host.events().into_iter().find_map(|event| match event {
        Event::Answered { answer, .. } => Some(answer),
        _ => None,
    });
    assert_eq!(answered, Some(Answer::Cancelled));
    check_turns(&talk.host.heard());
}
