//! What is not allowed is data for the model, and the turn goes on.

use crate::support::{Setup, Talk};
use caret_protocol::ask::{Answer, Ask};
use caret_protocol::content::{Outcome, Stop};
use caret_protocol::event::{Change, EndReason, Event, Mode};
use caret_testkit::check_turns;
use expect_test::expect;

const TOUCH: &str = r#"
    at_end = "repeat"
    [[turn]]
    emit = [{ call = "Shell", id = "c", input = { command = "touch made" } }]
    [[turn]]
    emit = [{ text = "{{result.c}}" }]
"#;

async fn asked(answer: Answer) -> (Setup, Talk) {
    let setup = Setup::script(TOUCH);
    let mut talk = setup.open().await;
    talk.host.answer([answer]);
    let end = talk.say("go").await;
    assert_eq!(end.reason, EndReason::Stopped { stop: Stop::EndTurn });
    check_turns(&talk.host.heard());
    (setup, talk)
}

fn last_words(talk: &Talk) -> String {
    let replied = |event| match event {
        Event::Replied { reply } => Some(reply.text()),
        _ => None,
    };
    talk.host.events().into_iter().filter_map(replied).next_back().unwrap()
}

#[tokio::test]
async fn a_rejected_call_is_told_to_the_model_and_not_run() {
    let (setup, talk) = asked(Answer::Reject { reason: "use make".into() }).await;
    expect!["This call was rejected and not run: use make"].assert_eq(&last_words(&talk));
    assert_eq!(setup.folder.get("made"), None);
}

#[tokio::test]
async fn a_question_that_nobody_answers_is_a_no() {
    for answer in [Answer::Skipped { reason: "nobody is there".into() }, Answer::Chosen { answers: vec![] }] {
        let (setup, talk) = asked(answer).await;
        assert!(matches!(talk.outcomes()[0].1, Outcome::Rejected { .. }));
        assert_eq!(setup.folder.get("made"), None);
    }
}

#[tokio::test]
async fn a_denied_call_is_told_to_the_model_and_nobody_is_asked() {
    let mut setup = Setup::script(TOUCH);
    setup.deny = vec!["Shell(touch)"];
    setup.force = true;
    let mut talk = setup.open().await;
    talk.say("go").await;
    expect!["This call is not permitted and was not run: `Shell(touch)` denies this"]
        .assert_eq(&last_words(&talk));
    assert_eq!((setup.folder.get("made"), talk.host.asked().len()), (None, 0));
}

#[tokio::test]
async fn allow_once_is_for_one_call_and_always_for_the_session() {
    for (answer, asks) in [(Answer::AllowOnce, 2), (Answer::AllowAlways, 1)] {
        let (setup, mut talk) = asked(answer.clone()).await;
        assert_eq!(setup.folder.get("made"), Some(String::new()));
        talk.host.answer([answer.clone()]);
        talk.say("go").await;
        assert_eq!(talk.host.asked().len(), asks, "{answer:?}");
        assert!(talk.outcomes().iter().all(|(_, outcome)| matches!(outcome, Outcome::Done { .. })));
    }
}

#[tokio::test]
async fn an_ask_says_what_always_would_store_and_stands_between_its_events() {
    let (_setup, talk) = asked(Answer::AllowOnce).await;
    let Ask::Permission { always, call, .. } = talk.host.asked().remove(0) else { panic!("no permission") };
    assert_eq!((always.as_deref(), call.id.as_str()), (Some("Shell(touch:made)"), "c"));
    let events = talk.host.events();
    let at = |wanted: fn(&Event) -> bool| events.iter().position(wanted).unwrap();
    let places = [
        at(|event| matches!(event, Event::ToolStarted { .. })),
        at(|event| matches!(event, Event::Asked { .. })),
        at(|event| matches!(event, Event::Answered { answer: Answer::AllowOnce, .. })),
        at(|event| matches!(event, Event::ToolEnded { .. })),
    ];
    assert!(places.is_sorted(), "{places:?}");
}

const WRITES: &str = r#"
    [[turn]]
    emit = [
      { call = "Read", id = "read", input = { path = "a.txt" } },
      { call = "Write", id = "write", input = { path = "b.txt", contents = "b" } },
      { call = "StrReplace", id = "edit", input = { path = "a.txt", old_string = "one", new_string = "two" } },
      { call = "Delete", id = "delete", input = { path = "a.txt" } },
      { call = "Shell", id = "shell", input = { command = "touch c.txt" } },
    ]
    [[turn]]
    emit = [{ text = "done" }]
"#;

#[tokio::test]
async fn modes_that_read_never_write_and_never_run() {
    for mode in [Mode::Plan, Mode::Ask] {
        let mut setup = Setup::script(WRITES);
        setup.folder.put("a.txt", "one\n");
        (setup.force, setup.mode) = (true, mode);
        setup.allow = vec!["Shell(touch)", "Write(**)"];
        let mut talk = setup.open().await;
        talk.host.decide(|_| Answer::AllowAlways);
        talk.say("go").await;
        let outcomes = talk.outcomes();
        assert!(matches!(outcomes[0].1, Outcome::Done { .. }), "{outcomes:?}");
        assert!(outcomes[1..].iter().all(|(_, outcome)| matches!(outcome, Outcome::Denied { .. })));
        let files = ["a.txt", "b.txt", "c.txt"].map(|name| setup.folder.get(name));
        assert_eq!(files, [Some("one\n".to_owned()), None, None]);
        assert_eq!(talk.host.asked(), Vec::new());
    }
}

#[tokio::test]
async fn a_mode_holds_from_the_next_turn() {
    let mut setup = Setup::script(TOUCH);
    setup.force = true;
    let mut talk = setup.open().await;
    talk.session.configure(Change::Mode { mode: Mode::Ask }).await.unwrap();
    talk.say("go").await;
    assert_eq!(setup.folder.get("made"), None);
    talk.session.configure(Change::Mode { mode: Mode::Agent }).await.unwrap();
    talk.say("go").await;
    assert_eq!(setup.folder.get("made"), Some(String::new()));
}
