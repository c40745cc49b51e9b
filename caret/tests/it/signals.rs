//! Signals: one ends the turn and leaves nothing running, a second one ends the process at once.

use crate::program::{Ended, Home, good};
use crate::running::{PATIENCE, Running, kind, lines, processes, unique_word, within};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// How long a run may take to end itself and everything that it started.
const END: Duration = Duration::from_secs(8);

/// A command that leaves a child which ignores signals, in a session of its own, with no parent of ours;
/// it ends when that child runs.
fn stubborn(word: &str, at: usize) -> String {
    let child = format!("trap \"\" TERM HUP INT; touch {at}.ready; while :; do sleep 600; done # {word}");
    format!(
        "(setsid bash -c '{child}' >/dev/null 2>&1 </dev/null &) ; until [ -e {at}.ready ]; do sleep 0.01; done"
    )
}

/// Starts a turn of stubborn commands and a last one that does not end, and waits until it runs.
fn busy(home: &Home, word: &str, commands: usize) -> (Running, String) {
    let mut calls: Vec<Value> =
        (0..commands).map(|at| json!({"call": "Shell", "input": {"command": stubborn(word, at)}})).collect();
    calls.push(json!({"call": "Shell", "input": {"command": format!("sleep 600 # {word} last")}}));
    let model = home.script(&json!([calls, [{"text": "Never."}]]));
    let words = ["-p", "--trust", "--force", "--output-format", "stream-json", "--model", &model, "go"];
    let mut run = home.start(&words);
    let session = run.until("system/init")["session_id"].as_str().unwrap().to_owned();
    for _ in 0..commands {
        let ended = run.until("tool_call/completed");
        assert_eq!(ended["tool_call"]["shellToolCall"]["result"]["success"]["exitCode"], 0, "{ended}");
    }
    assert!(within(PATIENCE, || !processes(&format!("{word} last")).is_empty()));
    (run, session)
}

/// One error result at the very end, and nothing alive.
fn check_ended(ended: &Ended, word: &str, began: Instant) {
    let all = lines(&ended.stdout);
    let results: Vec<&Value> = all.iter().filter(|line| line["type"] == "result").collect();
    assert_eq!(results.len(), 1, "{}", ended.stdout);
    assert_eq!(all.last(), Some(results[0]), "the result is the last line");
    assert_eq!((&results[0]["is_error"], &results[0]["result"]), (&json!(true), &json!("Error: Aborted")));
    let started = all.iter().filter(|line| kind(line) == "tool_call/started").count();
    let completed = all.iter().filter(|line| kind(line) == "tool_call/completed").count();
    assert_eq!(started, completed, "every call is closed");
    assert_eq!(processes(word), Vec::<String>::new());
    assert!(began.elapsed() < END, "it took {:?}", began.elapsed());
}

#[test]
fn an_interrupt_leaves_nothing_of_25_stubborn_commands() {
    let home = Home::new();
    let word = unique_word();
    let (run, session) = busy(&home, &word, 25);
    let alive = processes(&word).len();
    assert!(alive >= 26, "{alive} processes are there to be ended");
    let began = Instant::now();
    run.signal(Signal::INT);
    let ended = run.end();
    assert_eq!((ended.code, ended.stderr.as_str()), (130, "Aborting operation...\n"));
    check_ended(&ended, &word, began);
    let again = good(home.run(&["-p", "--quiet", "--resume", &session, "what was my last question?"]));
    assert!(again.contains("go"), "the chat goes on: {again}");
}

#[test]
fn terminate_and_hang_up_end_a_run_the_same_way() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129)] {
        let home = Home::new();
        let word = unique_word();
        let (run, session) = busy(&home, &word, 1);
        let began = Instant::now();
        run.signal(signal);
        let ended = run.end();
        assert_eq!((ended.code, ended.stderr.as_str()), (code, ""));
        check_ended(&ended, &word, began);
        good(home.run(&["-p", "--quiet", "--resume", &session, "what is 2+2?"]));
    }
}

#[test]
fn a_second_interrupt_ends_the_process_at_once_and_the_commands_soon() {
    for turn_is_over in [false, true] {
        let home = Home::new();
        let word = unique_word();
        let (mut run, session) = busy(&home, &word, 1);
        let began = Instant::now();
        run.signal(Signal::INT);
        run.until_complained("Aborting operation...");
        if turn_is_over {
            // The command that ignores signals now keeps the run busy for two seconds.
            run.until("result/error");
        }
        run.signal(Signal::INT);
        let ended = run.end();
        assert_eq!(ended.code, 130);
        assert!(began.elapsed() < Duration::from_millis(1500), "it took {:?}", began.elapsed());
        assert!(within(END, || processes(&word).is_empty()), "{:?}", processes(&word));
        good(home.run(&["-p", "--quiet", "--resume", &session, "what is 2+2?"]));
    }
}

#[test]
fn an_interrupt_while_the_model_talks_ends_the_turn() {
    let home = Home::new();
    let model = home.script(&json!([[{"text": "One moment."}, {"hang_ms": 600_000}]]));
    let words = [
        "-p",
        "--trust",
        "--output-format",
        "stream-json",
        "--stream-partial-output",
        "--model",
        &model,
        "go",
    ];
    let mut run = home.start(&words);
    run.until("assistant");
    let began = Instant::now();
    run.signal(Signal::INT);
    let ended = run.end();
    assert_eq!((ended.code, ended.stderr.as_str()), (130, "Aborting operation...\n"));
    check_ended(&ended, &unique_word(), began);
}

#[test]
fn a_reader_that_stops_reading_does_not_hold_up_a_signal() {
    let home = Home::new();
    let model = home.script(&json!([[{"text_repeat": {"text": "more ", "times": 20_000}}]]));
    let words = [
        "-p",
        "--trust",
        "--output-format",
        "stream-json",
        "--stream-partial-output",
        "--model",
        &model,
        "go",
    ];
    let mut child = home.command(&words).spawn().unwrap();
    let stdout = child.stdout.take().unwrap();
    let full = || rustix::io::ioctl_fionread(&stdout).unwrap() > 60_000;
    assert!(within(PATIENCE, full), "the pipe is full");
    let began = Instant::now();
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), Signal::TERM).unwrap();
    let ended = within(END, || child.try_wait().unwrap().is_some());
    child.kill().unwrap();
    assert!(ended, "it did not end in {:?}", began.elapsed());
    assert_eq!(child.wait().unwrap().code(), Some(143));
    let chat = good(home.run(&["export", "go"]));
    assert!(chat.contains(r#""reason":{"type":"cancelled"}"#), "the turn is saved: {chat}");
}

#[test]
fn commands_in_front_and_in_the_background_are_ended_at_the_same_time() {
    let home = Home::new();
    let word = unique_word();
    let front = format!("trap '' TERM; touch front.ready; while :; do sleep 600; done # {word}");
    let model = home.script(&json!([[
        {"call": "Shell", "input": {"command": stubborn(&word, 0)}},
        {"call": "Shell", "input": {"command": front}},
    ]]));
    let words = ["-p", "--trust", "--force", "--output-format", "stream-json", "--model", &model, "go"];
    let run = home.start(&words);
    assert!(within(PATIENCE, || home.exists("work/front.ready")));
    let began = Instant::now();
    run.signal(Signal::TERM);
    let ended = run.end();
    assert_eq!(ended.code, 143);
    check_ended(&ended, &word, began);
}
