//! What a command writes, and how it ends.

use crate::processes::until;
use crate::support::{SHELL, Setup};
use caret_protocol::content::{Failure, Outcome};
use caret_protocol::event::{CallUpdate, Event};
use std::fs;
use std::time::Instant;

#[tokio::test]
async fn a_command_ends_with_its_code_or_its_signal() {
    let setup = Setup::shell();
    let mut talk = setup.open().await;
    for (command, code, signal) in [
        ("true", 0, ""),
        ("false", 1, ""),
        ("exit 42", 42, ""),
        ("no-such-command", 127, ""),
        ("kill -TERM $$", 143, "SIGTERM"),
        ("kill -KILL $$", 137, "SIGKILL"),
        ("sh -c 'kill -SEGV $$'", 139, ""),
    ] {
        let done = talk.ran(command).await;
        assert_eq!((done.exit_code, done.signal.as_str()), (code, signal), "{command}");
    }
}

#[tokio::test]
async fn both_streams_are_kept_apart_and_in_the_order_they_came() {
    let setup = Setup::shell();
    let fifo = setup.folder.path("go");
    let mut talk = setup.open().await;
    talk.ran("mkfifo go").await;
    // Every line waits until the one before was heard.
    talk.host.watch(move |stamped| {
        if let Event::ToolUpdated { update: CallUpdate::Output { text }, .. } = &stamped.event
            && !text.contains("four")
        {
            fs::write(&fifo, "x\n").unwrap();
        }
    });
    let done = talk
        .ran(
            "heard() { until read x <go; do :; done; }
            echo one; heard; echo two >&2; heard; echo three; heard; echo four >&2",
        )
        .await;
    assert_eq!(
        (done.stdout.as_str(), done.stderr.as_str(), done.interleaved_output.as_str()),
        ("one\nthree\n", "two\nfour\n", "one\ntwo\nthree\nfour\n")
    );
}

#[tokio::test]
async fn what_is_shown_while_it_runs_is_what_it_wrote() {
    let setup = Setup::shell();
    let mut talk = setup.open().await;
    let text = "größer 日本 🦀\n".repeat(5000);
    setup.folder.put("text", &text);
    talk.ran("cat text").await;
    let shown: String = talk
        .host
        .events()
        .into_iter()
        .filter_map(|event| match event {
            Event::ToolUpdated { update: CallUpdate::Output { text }, .. } => Some(text),
            _ => None,
        })
        .collect();
    assert!(shown == text, "{} bytes instead of {}", shown.len(), text.len());
}

#[tokio::test]
async fn a_long_output_is_cut_for_the_model_and_whole_in_a_file() {
    let setup = Setup::shell();
    let mut talk = setup.open().await;
    let done = talk.ran("seq 1 700000").await;
    let whole: String = (1..=700_000).map(|n| format!("{n}\n")).collect();
    let file = done.output_file.unwrap();
    let kept = fs::read_to_string(&file).unwrap();
    assert!(kept == whole, "{} bytes", kept.len());
    assert!(file.starts_with(setup.outputs().to_str().unwrap()), "{file}");
    let (_, text) = talk.results().pop().unwrap();
    assert!(text.len() < 50_000, "{}", text.len());
    for part in ["1\n2\n3\n", "699999\n700000\n", "bytes left out", file.as_str()] {
        assert!(text.contains(part), "{part:?} is not in what the model reads");
    }
}

#[tokio::test]
async fn a_command_that_never_stops_writing_holds_up_nobody() {
    let mut setup = Setup::script(&SHELL.replace("20000", "50"));
    setup.force = true;
    let mut talk = setup.open().await;
    let began = Instant::now();
    let outcome = talk.run("yes | head -c 400000000").await;
    assert!(outcome.for_model().starts_with("The command still runs after 50 ms"), "{outcome:?}");
    talk.session.close().await;
    assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
}

#[tokio::test]
async fn a_command_that_ends_does_not_wait_for_what_it_left_writing() {
    let setup = Setup::shell();
    let mut talk = setup.open().await;
    let began = Instant::now();
    talk.ran("yes & (yes >&2) & true").await;
    talk.session.close().await;
    assert!(began.elapsed().as_secs() < 5, "{:?}", began.elapsed());
}

#[tokio::test]
async fn output_that_came_before_complaints_is_not_overtaken_by_them() {
    let setup = Setup::shell();
    let mut talk = setup.open().await;
    for _ in 0..20 {
        let done = talk.ran("echo one; echo two >&2").await;
        assert_eq!(done.interleaved_output, "one\ntwo\n");
    }
}

#[tokio::test]
async fn a_flood_of_output_does_not_hide_complaints() {
    let setup = Setup::shell();
    let mut talk = setup.open().await;
    // The flood ends when the complaint has been read: it is longer than its pipe.
    let done = talk.ran("yes & seq 1 50000 >&2; kill $!; wait $! 2>/dev/null; true").await;
    assert!(done.stderr.ends_with("50000\n"), "{}", done.stderr.len());
}

#[tokio::test]
async fn bytes_that_are_no_text_do_no_harm() {
    let setup = Setup::shell();
    let mut talk = setup.open().await;
    let done = talk.ran(r"printf '\xff\x00\xfe ok'").await;
    assert_eq!(done.stdout, "\u{fffd}\0\u{fffd} ok");
}

#[tokio::test]
async fn nobody_types_into_a_command() {
    let setup = Setup::shell();
    let mut talk = setup.open().await;
    let began = Instant::now();
    assert_eq!(talk.ran("cat; read x; echo \"$?\"").await.stdout, "1\n");
    assert!(began.elapsed().as_secs() < 5);
}

#[tokio::test]
async fn a_working_directory_that_is_not_there_is_told() {
    let mut setup = Setup::script(
        r#"
        [[turn]]
        emit = [{ call = "Shell", id = "c", input = { command = "touch x", working_directory = "nowhere" } }]
        [[turn]]
        emit = [{ text = "done" }]
        "#,
    );
    setup.force = true;
    let mut talk = setup.open().await;
    talk.say("go").await;
    let (_, outcome) = talk.outcomes().remove(0);
    let Outcome::Failed { failure: Failure::Spawn { message } } = outcome else { panic!("{outcome:?}") };
    assert!(message.contains("nowhere is not there"), "{message}");
    assert!(!setup.folder.path("nowhere").exists());
}

#[tokio::test]
async fn a_command_that_takes_long_goes_on_and_its_file_grows() {
    let mut setup = Setup::script(&SHELL.replace("20000", "100"));
    setup.force = true;
    let mut talk = setup.open().await;
    let outcome = talk.run("mkfifo go; echo one; read x <go; echo two; until read x <go; do :; done").await;
    let Outcome::Done { output } = outcome else { panic!("{outcome:?}") };
    let caret_protocol::details::Details::Backgrounded(left) = output.details else {
        panic!("{:?}", output.details)
    };
    assert_eq!((left.timeout_ms, left.interleaved_output.as_str()), (100, "one\n"));
    assert!(output.for_model.contains(&left.output_file), "{}", output.for_model);
    let read = || fs::read_to_string(&left.output_file).unwrap();
    assert_eq!(read(), "one\n");
    fs::write(setup.folder.path("go"), "x\n").unwrap();
    until("the file grew", || read() == "one\ntwo\n").await;
    talk.session.close().await;
    assert_eq!(read(), "one\ntwo\n");
}
