//! A model that is busy or breaks off is asked again, with patience and an end to it.

use crate::support::{Setup, Talk};
use caret_protocol::content::Stop;
use caret_protocol::event::{EndReason, Event, FailureClass};
use caret_testkit::check_turns;
use std::time::Duration;
use tokio::time::Instant;

fn notices(talk: &Talk) -> usize {
    talk.host.events().iter().filter(|event| matches!(event, Event::Noticed { .. })).count()
}

fn replies(talk: &Talk) -> usize {
    talk.host.events().iter().filter(|event| matches!(event, Event::Replied { .. })).count()
}

async fn check(fault: &str) -> (Talk, EndReason, Duration) {
    let setup = Setup::script(&format!("[[turn]]\nemit = [{fault}, {{ text = \"done\" }}]"));
    let mut talk = setup.open().await;
    let began = Instant::now();
    let end = talk.say("go").await;
    check_turns(&talk.host.heard());
    (talk, end.reason, began.elapsed())
}

#[tokio::test(start_paused = true)]
async fn a_busy_model_is_asked_again_when_it_said() {
    let (talk, reason, took) = check("{ error = { status = 429, retry_after_ms = 7000 }, times = 2 }").await;
    assert_eq!((reason, notices(&talk)), (EndReason::Stopped { stop: Stop::EndTurn }, 2));
    assert!((14..15).contains(&took.as_secs()), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_says_no_time_is_given_more_and_more() {
    let (talk, reason, took) = check("{ error = { status = 503 }, times = 4 }").await;
    assert_eq!((reason, notices(&talk)), (EndReason::Stopped { stop: Stop::EndTurn }, 4));
    assert!((10..20).contains(&took.as_secs()), "{took:?}");
}

#[tokio::test(start_paused = true)]
async fn after_five_tries_it_is_enough() {
    for fault in ["{ error = { status = 503 }, times = 9 }", "{ cut = true, times = 9 }"] {
        let (talk, reason, _) = check(fault).await;
        assert!(
            matches!(reason, EndReason::Failed { class: FailureClass::Unavailable, .. }),
            "{fault}: {reason:?}"
        );
        assert_eq!((notices(&talk), replies(&talk)), (4, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_never_longer_than_a_minute() {
    let (_, _, took) = check("{ error = { status = 429, retry_after_ms = 86400000 } }").await;
    assert_eq!(took.as_secs(), 60);
}

#[tokio::test(start_paused = true)]
async fn what_will_not_pass_is_not_tried_again() {
    for (status, class) in
        [(400, FailureClass::Model), (401, FailureClass::Unauthorized), (403, FailureClass::Unauthorized)]
    {
        let (talk, reason, _) = check(&format!("{{ error = {{ status = {status} }} }}")).await;
        assert!(
            matches!(&reason, EndReason::Failed { class: is, .. } if *is == class),
            "{status}: {reason:?}"
        );
        assert_eq!(notices(&talk), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancel_during_the_wait_ends_it() {
    let setup = Setup::script(
        "[[turn]]\nemit = [{ error = { status = 429, retry_after_ms = 50000 } }, { text = \"done\" }]",
    );
    let mut talk = setup.open().await;
    let began = Instant::now();
    let end = talk
        .say_and("go", |event| matches!(event, Event::Noticed { .. }), |handle| handle.cancel.cancel())
        .await;
    assert_eq!(end.reason, EndReason::Cancelled);
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_breaks_off_runs_no_call_and_the_next_try_runs_it_once() {
    let setup = Setup::script(
        r#"
        [[turn]]
        emit = [
          { text = "writing" },
          { call = "Write", id = "a", input = { path = "b.txt", contents = "b" } },
          { cut = true, times = 2 },
        ]
        [[turn]]
        emit = [
          { call = "Write", id = "a", input = { path = "c.txt", contents = "c" } },
          { cut = true },
          { text = "and done" },
        ]
        [[turn]]
        emit = [{ text = "done" }]
        "#,
    );
    let mut talk = setup.open().await;
    let end = talk.say("go").await;
    assert_eq!(end.reason, EndReason::Stopped { stop: Stop::EndTurn });
    assert_eq!((setup.folder.get("b.txt"), setup.folder.get("c.txt")), (None, Some("c".into())));
    assert_eq!((talk.outcomes().len(), replies(&talk), notices(&talk)), (1, 2, 3));
}
