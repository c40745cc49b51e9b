//! Nothing of a command is left when it is cancelled, when the session closes, or when its watcher dies.

use crate::processes::{alive, marker, until};
use crate::support::{SHELL, Setup};
use caret_protocol::agent::turn;
use caret_protocol::content::{Failure, Outcome};
use caret_protocol::event::EndReason;
use caret_testkit::check_turns;
use futures_util::future::join;
use std::time::Instant;

/// Ways for a process to get away. `MARK` is how long it sleeps.
const ESCAPES: [&str; 6] = [
    "sleep MARK & wait",
    "trap '' TERM; sleep MARK & while :; do wait; done",
    "(trap '' TERM INT HUP; sleep MARK) & wait",
    "setsid sleep MARK & wait",
    "(setsid sh -c \"trap '' TERM; (sleep MARK &) ; sleep MARK\" &) ; sleep MARK",
    "nohup setsid sh -c '(sleep MARK & ) & sleep MARK' >/dev/null 2>&1 & sleep MARK",
];

fn patient() -> Setup {
    let mut setup = Setup::script(&SHELL.replace("20000", "60000"));
    setup.force = true;
    setup
}

fn impatient() -> Setup {
    let mut setup = Setup::script(&SHELL.replace("20000", "100"));
    setup.force = true;
    setup
}

#[tokio::test]
async fn a_cancel_leaves_nothing_alive() {
    let cancelled = ESCAPES.map(|escape| async move {
        let mark = marker();
        let setup = patient();
        let mut talk = setup.open().await;
        let (handle, control) = turn();
        let command = escape.replace("MARK", &mark);
        let stop = async {
            until("the command runs", || alive(&mark) > 0).await;
            handle.cancel.cancel();
        };
        let (end, ()) = join(talk.say_under(&command, control), stop).await;
        assert_eq!(end.reason, EndReason::Cancelled, "{escape}");
        assert_eq!(alive(&mark), 0, "{escape}");
        assert_eq!(talk.outcomes()[0].1, Outcome::Cancelled);
        check_turns(&talk.host.heard());
    });
    futures_util::future::join_all(cancelled).await;
}

#[tokio::test]
async fn closing_the_session_leaves_nothing_alive() {
    let closed = ESCAPES.map(|escape| async move {
        let mark = marker();
        let setup = impatient();
        let mut talk = setup.open().await;
        talk.run(&escape.replace("MARK", &mark)).await;
        until("the command runs", || alive(&mark) > 0).await;
        talk.session.close().await;
        assert_eq!(alive(&mark), 0, "{escape}");
    });
    futures_util::future::join_all(closed).await;
}

#[tokio::test]
async fn what_a_command_left_running_ends_with_the_session() {
    let setup = patient();
    let mut talk = setup.open().await;
    let mark = marker();
    let began = Instant::now();
    let done = talk.ran(&format!("echo one; sleep {mark} & echo two")).await;
    // The sleeping process holds both pipes open.
    assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
    assert_eq!((done.stdout.as_str(), done.exit_code), ("one\ntwo\n", 0));
    until("what it left runs", || alive(&mark) == 1).await;
    assert_eq!(talk.ran("echo three").await.stdout, "three\n");
    talk.session.close().await;
    assert_eq!(alive(&mark), 0);
}

#[tokio::test]
async fn a_command_in_the_background_is_there_at_once_and_gone_at_the_end() {
    let mark = marker();
    let mut setup = Setup::script(&format!(
        r#"
        [[turn]]
        emit = [{{ call = "Shell", id = "c", input = {{ command = "sleep {mark}", is_background = true }} }}]
        [[turn]]
        emit = [{{ text = "done" }}]
        "#
    ));
    setup.force = true;
    let mut talk = setup.open().await;
    let began = Instant::now();
    talk.say("go").await;
    assert!(began.elapsed().as_secs() < 5);
    until("it runs", || alive(&mark) == 1).await;
    talk.session.close().await;
    assert_eq!(alive(&mark), 0);
}

#[tokio::test]
async fn a_session_that_is_dropped_leaves_nothing_alive() {
    let mark = marker();
    let setup = impatient();
    let mut talk = setup.open().await;
    talk.run(&format!("trap '' TERM; sleep {mark}")).await;
    until("the command runs", || alive(&mark) > 0).await;
    drop(talk);
    until("nothing is left", || alive(&mark) == 0).await;
}

#[tokio::test]
async fn killing_the_watcher_is_told_and_ends_the_command() {
    let setup = patient();
    let mut talk = setup.open().await;
    let mark = marker();
    let ready = "until grep -q sleep /proc/$!/comm; do :; done";
    let outcome = talk.run(&format!("sleep {mark} & {ready}; kill -KILL $PPID; wait")).await;
    let Outcome::Failed { failure: Failure::Spawn { message } } = outcome else { panic!("{outcome:?}") };
    assert!(message.contains("was killed"), "{message}");
    until("the command is gone", || alive(&mark) == 0).await;
    assert_eq!(talk.ran("echo on").await.stdout, "on\n");
}
