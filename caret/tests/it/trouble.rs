//! A run on a machine, with files or with words that make trouble.
//!
//! A read-only home and a full disk are made in a mount namespace of our own; where the system does not let
//! us have one, those tests say `skipped:` and why.

use crate::program::{Ended, Home, bad, good};
use crate::running::{kind, lines, parsed};
use expect_test::expect;
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::process::Command;

/// Runs shell lines where `$HOME` is a small file system of its own; `$CARET` is the program.
fn in_small_home(home: &Home, options: &str, script: &str) -> Option<Ended> {
    let small = home.path("small");
    fs::create_dir_all(&small).unwrap();
    let script = format!("mount -t tmpfs -o {options} tmpfs \"$HOME\" || exit 99\n{script}");
    let mut unshare = Command::new("unshare");
    unshare.args(["-Urm", "sh", "-c", &script]).current_dir(home.path("work")).env_clear();
    unshare.env("HOME", &small).env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin");
    unshare.env("CARET", env!("CARGO_BIN_EXE_caret")).env("OUT", home.path(""));
    let reason = match unshare.output() {
        Ok(output) if output.status.code() != Some(99) && !output.stderr.starts_with(b"unshare:") => {
            return Some(Ended {
                stdout: String::from_utf8(output.stdout).unwrap(),
                stderr: String::from_utf8(output.stderr).unwrap(),
                code: output.status.code().unwrap_or(-1),
            });
        }
        Ok(output) => String::from_utf8_lossy(&output.stderr).trim().to_owned(),
        Err(error) => error.to_string(),
    };
    // Not by `eprintln!`, which tests that go well keep to themselves.
    let mut stderr = std::io::stderr();
    writeln!(stderr, "skipped: a small file system of our own cannot be mounted: {reason}").unwrap();
    None
}

/// Names that are different every time, as a word.
fn settled(text: &str, home: &Home) -> String {
    let text = text.replace(home.path("small").to_str().unwrap(), "~");
    let mut settled = String::new();
    for (at, part) in text.split(".caret/").enumerate() {
        settled.push_str(if at == 0 { "" } else { ".caret/" });
        match part.split_once('/').zip(part.split_once(": ")) {
            Some(((folder, _), (path, rest))) if path.contains('/') && at > 0 => {
                settled.push_str(&format!("{folder}/…: {rest}"));
            }
            _ => settled.push_str(part),
        }
    }
    settled
}

#[test]
fn a_read_only_home_is_told_and_can_be_done_without() {
    let home = Home::new();
    let run = |words: &str| in_small_home(&home, "ro,size=1m", &format!("exec \"$CARET\" {words}"));
    let Some(forced) = run("-p --force --exit-codes detailed --output-format stream-json 'what is 2+2?'")
    else {
        return;
    };
    assert_eq!(forced.code, 78, "{}", forced.stderr);
    let all = lines(&forced.stdout);
    assert_eq!(all.iter().filter(|line| line["type"] == "result").count(), 1);
    assert_eq!(all.last().unwrap()["is_error"], true);
    let shown = |ended: &Ended| settled(&ended.stderr, &home);
    expect![[r#"
        ⚠ ~/.caret/cli-config.json cannot be written (Read-only file system (os error 30)); defaults apply
        Error: ~/.caret/chats/…: Read-only file system (os error 30); see to it that you may write there, or use --no-save to keep nothing on disk
    "#]].assert_eq(&shown(&forced));
    let trusted = run("-p --trust 'what is 2+2?'").unwrap();
    assert_eq!((trusted.code, trusted.stdout.as_str()), (1, ""));
    expect![[r#"
        error: trust cannot be recorded: ~/.caret/trusted-workspaces/…: Read-only file system (os error 30); use --force to trust it for this run only, or --no-save to keep nothing on disk
    "#]].assert_eq(&shown(&trusted));
    let unsaved = run("-p --no-save --force 'what is 2+2?'").unwrap();
    assert_eq!((unsaved.code, unsaved.stderr.as_str()), (0, ""));
    assert!(unsaved.stdout.contains('4'), "{}", unsaved.stdout);
}

#[test]
fn a_full_disk_stops_the_turn_with_one_message_and_loses_nothing() {
    let home = Home::new();
    let step = |at: usize| {
        json!([{"text": format!("Step {at}.")},
        {"call": "Shell", "id": format!("s{at}"), "input": {"command": format!("head -c 30000 /dev/zero | tr '\\0' {}", at % 10)}}])
    };
    let model = home.script(&(0..60).map(step).collect());
    let script = format!(
        "head -c 6500000 /dev/zero > \"$HOME/filler\"
        \"$CARET\" -p --force --output-format stream-json --model '{model}' 'fill it' > \"$OUT/turn\" 2> \"$OUT/words\"
        echo $?
        rm \"$HOME/filler\"
        \"$CARET\" export \"$(head -1 \"$OUT/turn\" | sed 's/.*session_id\":\"\\([^\"]*\\)\".*/\\1/')\" > \"$OUT/chat\" || echo no export
        exec \"$CARET\" -p --force --quiet --continue 'what was my last question?'"
    );
    let Some(ended) = in_small_home(&home, "size=8m", &script) else { return };
    assert_eq!(ended.code, 0, "{} {}", ended.stdout, ended.stderr);
    let (code, answer) = ended.stdout.split_once('\n').unwrap();
    assert_eq!(code, "1");
    assert!(answer.contains("fill it"), "the chat goes on when there is room again: {answer}");
    let words = settled(&home.read("words"), &home);
    assert!(words.starts_with("Error: the disk is full: ~/.caret/"), "{words}");
    assert!(words.ends_with("; free some space and resume, or use --no-save\n"), "{words}");
    assert_eq!(words.lines().count(), 1, "{words}");
    let all = lines(&home.read("turn"));
    assert_eq!(all.iter().filter(|line| line["type"] == "result").count(), 1);
    assert_eq!(all.last().unwrap()["is_error"], true);
    let chat: Vec<Value> =
        home.read("chat").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kept = |name: &str, id: &Value| {
        chat.iter().any(|event| event["event"]["type"] == name && event["event"]["call"]["id"] == *id)
    };
    let mut ended = 0;
    for line in &all {
        match kind(line).as_str() {
            "tool_call/started" => assert!(kept("tool_started", &line["call_id"]), "{line}"),
            "tool_call/completed" => {
                ended += 1;
                assert!(kept("tool_ended", &line["call_id"]), "printed and not kept: {}", line["call_id"]);
            }
            _ => {}
        }
    }
    assert!((2..60).contains(&ended), "the disk was full in the middle of the turn: {ended} calls");
}

#[test]
fn a_home_that_is_not_there_is_made_and_one_that_is_a_file_is_told() {
    let home = Home::new();
    let missing = home.path("no/home/yet");
    let home = home.with("HOME", missing.to_str().unwrap());
    assert!(good(home.run(&["-p", "--trust", "--quiet", "what is 2+2?"])).contains('4'));
    assert!(missing.join(".caret").is_dir());
    home.write("file", "");
    let file = home.path("file");
    let home = home.with("HOME", file.to_str().unwrap());
    let ended = home.run(&["-p", "--force", "--exit-codes", "detailed", "what is 2+2?"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (78, ""), "{}", ended.stderr);
    expect![[r#"
        ⚠ ~/file/.caret/cli-config.json cannot be written (Not a directory (os error 20)); defaults apply
        Error: ~/file/.caret/chats/…: Not a directory (os error 20); see to it that you may write there, or use --no-save to keep nothing on disk
    "#]].assert_eq(&settled(&ended.stderr, &home));
    assert!(good(home.run(&["-p", "--force", "--no-save", "what is 2+2?"])).contains('4'));
}

#[test]
fn a_workspace_that_is_missing_or_a_file_is_named() {
    let home = Home::new();
    home.write("work/file", "");
    let mut shown = String::new();
    for workspace in ["nowhere", "file", "/nowhere/at/all"] {
        shown += &bad(home.run(&["-p", "--trust", "--workspace", workspace, "hi"]));
    }
    expect![[r#"
        error: the workspace does not exist: ~/work/nowhere
        error: the workspace is a file, not a directory: ~/work/file
        error: the workspace does not exist: /nowhere/at/all
    "#]]
    .assert_eq(&shown);
    fs::create_dir(home.path("other")).unwrap();
    let words = ["-p", "--trust", "--workspace", "../other", "--output-format", "stream-json", "hi"];
    assert_eq!(lines(&good(home.run(&words)))[0]["cwd"], "~/other");
}

#[test]
fn nothing_is_left_of_a_run_that_is_not_saved() {
    let home = Home::new();
    fs::create_dir(home.path("tmp")).unwrap();
    let temporary = home.path("tmp");
    let home = home.with("TMPDIR", temporary.to_str().unwrap());
    let model = home.script(&json!([
        [{"call": "Shell", "id": "a", "input": {"command": "head -c 90000 /dev/zero"}}],
        [{"call": "Shell", "id": "b", "input": {"command": "sleep 600", "timeout": 1}}],
        [{"text": "Done."}],
    ]));
    let words = [
        "-p",
        "--no-save",
        "--trust",
        "--force",
        "--quiet",
        "--output-format",
        "json",
        "--model",
        &model,
        "go",
    ];
    let result = parsed(good(home.run(&words)).trim_end());
    assert_eq!(result["result"], "Done.");
    assert!(!home.exists(".caret"));
    let left: Vec<_> = temporary.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(left, Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_broken_config_is_kept_aside_told_until_it_is_mended_and_disarms_force() {
    let home = Home::new();
    home.write(".caret/cli-config.json", "{ broken");
    let ended = home.run(&["-p", "--trust", "what is 2+2?"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stdout.contains('4'));
    expect![[r#"
        ⚠ ~/.caret/cli-config.json is broken (key must be a string at line 1 column 3); it is now ~/.caret/cli-config.json.bad, and defaults apply: mend it and move it back
    "#]].assert_eq(&ended.stderr);
    let again = home.run(&["-p", "what is 2+2?"]);
    assert_eq!(again.code, 0);
    expect![[r#"
        ⚠ the rules in ~/.caret/cli-config.json.bad do not hold: mend that file and move it back, or delete it
    "#]]
    .assert_eq(&again.stderr);
    let kept = home.path(".caret").read_dir().unwrap().flatten().map(|entry| entry.path());
    assert_eq!(kept.filter(|path| fs::read(path).is_ok_and(|text| text == b"{ broken")).count(), 1);
}

#[test]
fn force_counts_for_nothing_while_it_is_unknown_what_is_denied() {
    let home = Home::new();
    home.write(".caret/cli-config.json", r#"{"permissions":{"deny":["Shell(touch)",]}}"#);
    let ended = home.run(&["-p", "--trust", "--force", "run touch made"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.contains("--force has no effect in this run"), "{}", ended.stderr);
    assert!(!home.exists("work/made"));
}

#[test]
fn bad_chat_ids_are_named_and_harmless() {
    let home = Home::new();
    good(home.run(&["trust", "add"]));
    let mut shown = String::new();
    let long = "1".repeat(300);
    for id in ["nonsense", "../../etc/passwd", "-0", "-x", "\u{1b}[31m", &long] {
        shown += &bad(home.run(&["-p", &format!("--resume={id}"), "hi"])).replace(&long, "<long>");
    }
    for command in ["export", "rm", "fork"] {
        for id in ["nonsense", "../../etc/passwd", ""] {
            shown += &bad(home.run(&[command, id]));
        }
    }
    shown += &bad(home.run(&["-p", "--resume=-1", "hi"]));
    shown += &bad(home.run(&["-p", "--continue", "hi"]));
    shown += &bad(home.run(&["-p", "--new-session-id", "nonsense", "hi"]));
    expect![[r#"
        Failed to claim persistent session for chat "nonsense": Persistent-session chat ID must be a UUID
        Failed to claim persistent session for chat "../../etc/passwd": Persistent-session chat ID must be a UUID
        error: option '--resume=-N' needs a number above 0, not '0'
        error: option '--resume=-N' needs a number above 0, not 'x'
        Failed to claim persistent session for chat "\u{1b}[31m": Persistent-session chat ID must be a UUID
        Failed to claim persistent session for chat "<long>": Persistent-session chat ID must be a UUID
        error: there is no chat 'nonsense': `ls --all` lists all chats
        error: there is no chat '../../etc/passwd': `ls --all` lists all chats
        error: there is no chat '': `ls --all` lists all chats
        error: there is no chat 'nonsense': `ls --all` lists all chats
        error: there is no chat '../../etc/passwd': `ls --all` lists all chats
        error: there is no chat '': `ls --all` lists all chats
        error: there is no chat 'nonsense': `ls --all` lists all chats
        error: there is no chat '../../etc/passwd': `ls --all` lists all chats
        error: there is no chat '': `ls --all` lists all chats
        No previous chats found.
        No previous chats found.
        error: option '--new-session-id <uuid>' needs a UUIDv4, not 'nonsense'
    "#]].assert_eq(&shown);
    assert!(!home.exists(".caret/chats"), "nothing was made");
}

#[test]
fn the_beginning_of_an_id_must_mean_one_chat() {
    let home = Home::new();
    let ids = ["11111111-1111-4111-8111-111111111111", "11111111-1111-4111-8111-222222222222"];
    for id in ids {
        good(home.run(&["-p", "--trust", "--quiet", "--new-session-id", id, "what is 2+2?"]));
    }
    let message = bad(home.run(&["export", "1111"]));
    expect![[r#"
        error: '1111' can mean several chats: 11111111-1111-4111-8111-222222222222, 11111111-1111-4111-8111-111111111111
    "#]].assert_eq(&message);
    let one = good(home.run(&["export", "11111111-1111-4111-8111-2"]));
    assert!(one.lines().all(|line| line.contains(ids[1])), "{one}");
}

#[test]
fn a_prompt_may_begin_with_a_dash() {
    let home = Home::new();
    let model = home.script_file(&json!({"version": 1, "at_end": "repeat",
        "turn": [{"emit": [{"text": "You said {{user}}."}]}]}));
    let words = ["-p", "--trust", "--quiet", "--model", &model];
    for prompt in ["-x is what?", "--help me", "-", "- one\n- two"] {
        let answer = home.run(&[&words[..], &["--", prompt]].concat());
        if prompt == "-" {
            assert_eq!(answer.code, 1, "a dash alone asks for stdin, which is empty: {}", answer.stdout);
        } else {
            assert_eq!(good(answer), format!("You said {prompt}.\n"));
        }
    }
    let unknown = bad(home.run(&[&words[..], &["-x is what?"]].concat()));
    expect![[r#"
        error: unknown option '-x is what?'
        (Put -- before a prompt that starts with a dash.)
    "#]]
    .assert_eq(&unknown);
}
