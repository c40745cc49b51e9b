//! A machine that does not help: no home, a home that cannot be written, pipes that never end.

use crate::program::{Home, bad, good};
use std::fs;
use std::process::{Command, Stdio};

#[test]
fn without_a_home_the_message_says_what_to_set() {
    let home = Home::new().without("HOME");
    let message = bad(home.run(&["-p", "-f", "hi"]));
    let expected = "error: there is no home directory: set HOME or CARET_HOME, or use --no-save to keep nothing on disk\n";
    assert_eq!(message, expected);
    assert_eq!(home.run(&["--exit-codes=detailed", "config"]).code, 78);
    good(home.run(&["status"]));
    good(home.run(&["--help"]));
}

#[test]
fn a_home_that_is_no_folder_is_told_and_not_a_panic() {
    let home = Home::new().with("HOME", "/dev/null");
    for words in [&["config", "set", "hints", "true"][..], &["trust", "add"], &["install-shell-integration"]]
    {
        let message = bad(home.run(words));
        assert!(message.starts_with("error: ") && message.contains("/dev/null/"), "{message}");
    }
    good(home.run(&["config", "list"]));
    assert_eq!(home.run(&["doctor"]).code, 1);
}

#[test]
fn a_home_that_cannot_be_written_is_told() {
    // Not even the superuser can make a folder there.
    let home = Home::new().with("CARET_HOME", "/proc/caret");
    for words in [&["config", "set", "hints", "true"][..], &["trust", "add"], &["-p", "--trust", "hi"]] {
        let message = bad(home.run(words));
        assert!(message.starts_with("error: ") && message.contains("/proc/caret/"), "{message}");
    }
    let forced = home.run(&["-p", "-f", "--model", "none", "hi"]);
    assert!(forced.stderr.starts_with("Cannot use this model: none."), "{}", forced.stderr);
}

#[test]
fn a_deleted_current_folder_is_told() {
    let home = Home::new();
    let gone = home.path("gone");
    fs::create_dir(&gone).unwrap();
    let output = Command::new("sh")
        .args(["-c", "cd \"$1\" && rmdir \"$1\" && exec \"$0\" -p hi", env!("CARGO_BIN_EXE_caret")])
        .arg(&gone)
        .env_clear()
        .envs([("HOME", home.path("")), ("PATH", "/usr/bin:/bin".into())])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("the current directory does not exist any more"), "{message}");
}

#[test]
fn bad_prompts_on_stdin_are_named() {
    let home = Home::new();
    let pipe = |input: &[u8]| bad(home.pipe(&["-p", "-f"], input));
    assert_eq!(pipe(b""), "error: the prompt is empty: give some words or pipe them in\n");
    assert_eq!(pipe(b" \n"), "error: the prompt is empty: give some words or pipe them in\n");
    assert!(pipe(b"ab\xff").starts_with("error: stdin is not valid UTF-8 at byte 2: "));
    let huge = vec![b'x'; 100 << 20];
    let message =
        "error: the prompt is longer than 10 MiB: put the text into a file and name the file in the prompt\n";
    assert_eq!(pipe(&huge), message);
}

#[test]
fn an_open_pipe_is_not_waited_for_when_there_are_words() {
    let home = Home::new();
    let mut command = home.command(&["-p", "-f", "--model", "none", "hi"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let stdin = child.stdin.take();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    drop(stdin);
}

#[test]
fn closed_streams_are_no_panic() {
    let home = Home::new();
    let mut shell = Command::new("sh");
    shell.args(["-c", "\"$0\" about <&- >&- 2>&-; echo $?"]).arg(env!("CARGO_BIN_EXE_caret"));
    let output = shell.env_clear().env("HOME", home.path("")).env("PATH", "/usr/bin:/bin").output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "0\n");
}
