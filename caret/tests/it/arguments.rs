//! Wrong arguments: the words on stderr, nothing on stdout, the right exit code.

use crate::program::{Home, bad, good};
use expect_test::expect_file;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

#[test]
fn wrong_usage_is_told_on_stderr_and_ends_with_1_or_64() {
    let home = Home::new();
    let dash = "(Put -- before a prompt that starts with a dash.)";
    let table: &[(&[&str], &str)] = &[
        (&["--x"], "error: unknown option '--x'\n"),
        (&["--forse", "hi"], "error: unknown option '--forse'\n(Did you mean --force?)\n"),
        (&["-p", "- item one"], &format!("error: unknown option '- item one'\n{dash}\n")),
        (&["ls", "--x"], "error: unknown option '--x'\n"),
        (&["about", "extra"], "error: too many arguments for 'about': 'extra'\n"),
        (
            &["-p", "--plan", "--mode", "ask", "hi"],
            "error: option '--plan' cannot be used with option '--mode ask'\n",
        ),
        (
            &["-p", "--stream-partial-output", "hi"],
            "error: option '--stream-partial-output' can only be used with --print and --output-format stream-json\n",
        ),
    ];
    for (words, message) in table {
        assert_eq!(bad(home.run(words)), *message, "{words:?}");
        let detailed = home.run(&[&["--exit-codes=detailed"], *words].concat());
        assert_eq!((detailed.code, detailed.stderr.as_str()), (64, *message));
    }
    let home = home.with("CARET_EXIT_CODES", "detailed");
    assert_eq!(home.run(&["--x"]).code, 64);
}

#[test]
fn features_of_later_versions_say_so() {
    let home = Home::new();
    for words in
        [&["mcp", "list"][..], &["rule"], &["-p", "--cloud", "hi"], &["-p", "-w", "x", "hi"], &["acp"]]
    {
        let message = bad(home.run(words));
        assert!(message.starts_with("error: not available in this version: the "), "{message}");
    }
    let browser = home.run(&["--browser", "status"]);
    assert_eq!(browser.code, 0);
    assert_eq!(browser.stderr, "⚠ --browser: browser automation is not available in this version\n");
    assert_eq!(home.run(&["--browser", "--quiet", "status"]).stderr, "");
    good(home.run(&["--approve-mcps", "status"]));
}

#[test]
fn arguments_that_are_no_text_are_named() {
    let home = Home::new();
    let mut command = home.command(&["-p"]);
    let output = command.arg(OsStr::from_bytes(b"caf\xe9")).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(message, "error: argument 2 is not valid UTF-8: 'caf\u{fffd}'\n");
}

#[test]
fn bad_chats_get_the_documented_words() {
    let home = Home::new();
    let words =
        "Failed to claim persistent session for chat \"nope\": Persistent-session chat ID must be a UUID\n";
    assert_eq!(bad(home.run(&["-p", "--resume", "nope", "hi"])), words);
    assert_eq!(home.run(&["--exit-codes=detailed", "-p", "--resume", "nope", "hi"]).code, 66);
}

#[test]
fn help_is_as_recorded() {
    let home = Home::new();
    expect_file!["snapshots/help-short.txt"].assert_eq(&good(home.run(&["-h"])));
    expect_file!["snapshots/help-long.txt"].assert_eq(&good(home.run(&["--help"])));
    assert_eq!(good(home.run(&["help"])), good(home.run(&["--help"])));
    expect_file!["snapshots/help-export.txt"].assert_eq(&good(home.run(&["help", "export"])));
    let agent = Home::new().called("agent");
    assert!(good(agent.run(&["-h"])).starts_with("Usage: agent [options] [command] [prompt...]\n"));
}
