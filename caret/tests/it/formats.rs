//! How one prompt is answered: text, json and stream-json, limits, modes, exit codes, pipes that break.

use crate::program::{Home, bad, good};
use crate::running::{PATIENCE, kind, lines, parsed, settled, within};
use expect_test::expect;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;

/// Words, a call that runs, a call that nobody allows, and more words.
fn mixed(home: &Home) -> String {
    home.write("work/a.txt", "one\n");
    home.script(&json!([
        [{"text": "First."}, {"call": "Read", "id": "r", "input": {"path": "a.txt"}}],
        [{"text": "Then."}, {"call": "Shell", "id": "s", "input": {"command": "whoami"}}],
        [{"thinking": "Hm."}, {"text": "Last."}],
    ]))
}

#[test]
fn text_is_what_was_said_after_the_last_call() {
    let home = Home::new();
    let model = mixed(&home);
    let ended = home.run(&["-p", "--trust", "--model", &model, "go"]);
    assert_eq!((ended.stdout.as_str(), ended.code), ("Last.\n", 0));
    expect![[r#"
        ⬢ Read a.txt
        ⬡ $ whoami: rejected: Not in allowlist: whoami
        ⚠ 1 tool call was not permitted; a rule in `permissions.allow` or --force helps, unless it is denied or protected
    "#]]
    .assert_eq(&ended.stderr);
    assert_eq!(good(home.run(&["-p", "--quiet", "--model", &model, "go"])), "Last.\n");
}

#[test]
fn json_is_exactly_the_result_line_of_the_stream() {
    let home = Home::new();
    let model = mixed(&home);
    let json =
        good(home.run_raw(&["-p", "--trust", "--quiet", "--output-format", "json", "--model", &model, "go"]));
    let stream =
        good(home.run_raw(&["-p", "--quiet", "--output-format", "stream-json", "--model", &model, "go"]));
    let result = stream.lines().last().unwrap();
    assert_eq!(json.lines().count(), 1);
    let shown = settled(&parsed(json.trim_end()), &home);
    assert_eq!(shown, settled(&parsed(result), &home));
    expect![[r#"{"type":"result","subtype":"success","duration_ms":1,"duration_api_ms":1,"is_error":false,"result":"First.Then.Last.","session_id":"<session>","request_id":"<request>","usage":{"inputTokens":0,"outputTokens":0,"cacheReadTokens":0,"cacheWriteTokens":0},"permissionDenials":[{"toolCallId":"s","toolName":"Shell","input":{"command":"whoami"},"reason":"Not in allowlist: whoami"}]}"#]].assert_eq(&shown);
}

#[test]
fn lines_come_in_the_documented_order_with_one_result() {
    let home = Home::new();
    let model = mixed(&home);
    let words = ["-p", "--trust", "--quiet", "--output-format", "stream-json", "--model", &model, "go"];
    let all = lines(&good(home.run(&words)));
    let kinds: Vec<String> = all.iter().map(kind).collect();
    expect![[r#"
        system/init
        user
        assistant
        tool_call/started
        tool_call/completed
        assistant
        tool_call/started
        tool_call/completed
        thinking/delta
        thinking/completed
        assistant
        result/success"#]]
    .assert_eq(&kinds.join("\n"));
    let session = &all[0]["session_id"];
    assert!(all.iter().all(|line| line["session_id"] == *session), "every line names the session");
}

#[test]
fn a_denied_call_is_a_failure_only_when_asked_for() {
    let home = Home::new();
    let model = mixed(&home);
    let code =
        |more: &[&str]| home.run(&[&["-p", "--trust", "--model", &model], more, &["go"]].concat()).code;
    assert_eq!(code(&[]), 0);
    assert_eq!(code(&["--fail-on-denied"]), 1);
    assert_eq!(code(&["--fail-on-denied", "--exit-codes", "detailed"]), 11);
    assert_eq!(code(&["--fail-on-denied", "--force"]), 0);
}

#[test]
fn every_ending_has_its_code_its_line_and_its_one_result() {
    let reply = json!([{"text": "Yes."}]);
    let call = json!([{"call": "LS", "input": {}}, {"usage": {"input": 90, "output": 20}}]);
    let failing = |status: u16| json!([[{"error": {"status": status, "retry_after_ms": 1, "message": "no"}, "times": 9}]]);
    let table: Vec<(&str, Value, &[&str], i32)> = vec![
        ("success", json!([reply]), &[], 0),
        ("refused by the provider", failing(400), &[], 1),
        ("too many model calls", json!([call, reply]), &["--max-turns", "1"], 10),
        ("too many tokens", json!([call, reply]), &["--max-tokens", "100"], 10),
        ("too long", json!([[{"hang_ms": 600_000}]]), &["--timeout", "1s"], 124),
        ("busy", failing(503), &[], 75),
        ("not signed in", failing(401), &[], 77),
        ("the script is at its end", json!([call]), &[], 1),
    ];
    let mut shown = String::new();
    for (name, replies, more, detailed) in table {
        let home = Home::new();
        let model = home.script(&replies);
        let words = [
            "-p",
            "--trust",
            "--output-format",
            "stream-json",
            "--exit-codes",
            "detailed",
            "--model",
            &model,
        ];
        let ended = home.run(&[&words, more, &["go"]].concat());
        assert_eq!(ended.code, detailed, "{name}: {}", ended.stderr);
        let results: Vec<Value> =
            lines(&ended.stdout).into_iter().filter(|line| line["type"] == "result").collect();
        assert_eq!(results.len(), 1, "{name}");
        assert_eq!(results[0]["is_error"], json!(detailed != 0), "{name}");
        shown += &format!("{name}: {} | {}", results[0]["result"], ended.stderr.trim_end());
        shown.push('\n');
    }
    expect![[r#"
        success: "Yes." | 
        refused by the provider: "Error: no" | Error: no
        too many model calls: "Error: reached the limit of 1 model calls (--max-turns)" | Error: reached the limit of 1 model calls (--max-turns)
        too many tokens: "Error: reached the token limit: 110 used (--max-tokens)" | Error: reached the token limit: 110 used (--max-tokens)
        too long: "Error: timed out after 1 s (--timeout)" | Error: timed out after 1 s (--timeout)
        busy: "Error: the model is busy: no" | Error: the model is busy: no
        not signed in: "Error: not signed in: no" | Error: not signed in: no
        the script is at its end: "Error: script_mismatch: the script is at its end after 1 turns; add turns or set `at_end`" | Error: script_mismatch: the script is at its end after 1 turns; add turns or set `at_end`
    "#]].assert_eq(&shown);
}

#[test]
fn a_refusal_is_an_error() {
    let home = Home::new();
    let model =
        home.script_file(&json!({"version": 1, "turn": [{"emit": [{"text": "No."}], "stop": "refusal"}]}));
    let ended = home.run(&[
        "-p",
        "--trust",
        "--exit-codes",
        "detailed",
        "--output-format",
        "json",
        "--model",
        &model,
        "go",
    ]);
    assert_eq!((ended.code, ended.stderr.as_str()), (12, "Error: the model refused to answer\n"));
    assert_eq!(parsed(ended.stdout.trim_end())["subtype"], "error");
}

#[test]
fn before_the_stream_begins_nothing_is_on_stdout() {
    let home = Home::new();
    home.write("broken.json", "{\"version\":1,\"turn\":[{\"emit\":[{\"txt\":\"x\"}]}]}");
    let broken = format!("script:{}", home.path("broken.json").display());
    let table: [(&[&str], i32); 6] = [
        (&["--no-such-option"], 64),
        (&["--trust", "--resume", "nonsense"], 66),
        (&["--trust", "--model", "ofline"], 64),
        (&["--trust", "--model", "script:missing.toml"], 64),
        (&["--trust", "--model", &broken], 64),
        (&["--trust", "--stream-partial-output"], 64),
    ];
    let mut shown = String::new();
    for (more, detailed) in table {
        let words = [&["-p", "--exit-codes", "detailed"], more, &["go"]].concat();
        let ended = home.run(&words);
        shown += &format!("{} {}", ended.code, ended.stderr);
        assert_eq!((ended.stdout.as_str(), ended.code), ("", detailed), "{}", ended.stderr);
        bad(home.run(&[&["-p"], more, &["go"]].concat()));
    }
    expect![[r#"
        64 error: unknown option '--no-such-option'
        66 Failed to claim persistent session for chat "nonsense": Persistent-session chat ID must be a UUID
        64 Cannot use this model: ofline. Available models: offline
        (Did you mean offline?)
        64 error: the script ~/work/missing.toml cannot be read: No such file or directory (os error 2)
        64 error: ~/broken.json:1: unknown field `txt`, expected one of `thinking`, `signature`, `text`, `deltas`, `text_repeat`, `chunk`, `call`, `id`, `input`, `malformed`, `delay_ms`, `hang_ms`, `usage`, `error`, `times`, `cut`, `raw`
        64 error: option '--stream-partial-output' can only be used with --print and --output-format stream-json
    "#]].assert_eq(&shown);
}

#[test]
fn plan_and_ask_change_nothing() {
    for more in [&["--mode", "plan"][..], &["--mode", "ask"], &["--plan"], &["--plan", "--force"]] {
        let home = Home::new();
        home.write("work/a.txt", "one\n");
        let model = home.script(&json!([
            [{"call": "Read", "id": "r", "input": {"path": "a.txt"}}],
            [{"call": "Write", "id": "w", "input": {"path": "a.txt", "contents": "two\n"}}],
            [{"call": "Shell", "id": "s", "input": {"command": "touch b.txt"}}],
            [{"text": "{{result.r | lines}}"}],
        ]));
        let words = ["-p", "--trust", "--quiet", "--output-format", "json", "--model", &model];
        let result = parsed(good(home.run(&[&words, more, &["go"]].concat())).trim_end());
        assert_eq!(home.read("work/a.txt"), "one\n");
        assert!(!home.exists("work/b.txt"));
        let denied: Vec<&Value> = result["permissionDenials"]
            .as_array()
            .unwrap()
            .iter()
            .map(|denial| &denial["toolName"])
            .collect();
        assert_eq!(denied, ["Write", "Shell"]);
    }
}

#[test]
fn a_reader_that_leaves_ends_the_run_without_a_word() {
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
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert_eq!(kind(&parsed(first.trim_end())), "system/init");
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap()), (Some(1), String::new()));
    let chat = good(home.run(&["export", parsed(first.trim_end())["session_id"].as_str().unwrap()]));
    assert!(chat.contains(r#""reason":{"type":"cancelled"}"#), "the turn is saved: {chat}");
}

#[test]
fn a_reader_that_pauses_gets_everything_in_order() {
    let home = Home::new();
    let replies = json!([[{"deltas": (0..2_000).map(|at| format!("{at} ")).collect::<Vec<_>>()}]]);
    let model = home.script(&replies);
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
    let all = lines(&std::io::read_to_string(stdout).unwrap());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let said = all.iter().filter(|line| line["timestamp_ms"].is_u64());
    let said: Vec<&str> = said.map(|line| line["message"]["content"][0]["text"].as_str().unwrap()).collect();
    let expected: Vec<String> = (0..2_000).map(|at| format!("{at} ")).collect();
    assert_eq!(said, expected);
    assert_eq!(all.last().unwrap()["result"], expected.concat());
}

#[test]
fn a_full_or_closed_stdout_is_told() {
    let home = Home::new();
    let model = home.script(&json!([[{"text": "Yes."}]]));
    let words = ["-p", "--trust", "--output-format", "stream-json", "--model", &model, "go"];
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = home.command(&words).stdout(Stdio::from(full)).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(message.contains("error: stdout cannot be written: No space left on device"), "{message}");
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", "\"$0\" \"$@\" >&-", env!("CARGO_BIN_EXE_caret")]).args(words).env_clear();
    let closed = shell.env("HOME", home.path("")).current_dir(home.path("work")).output().unwrap();
    assert_eq!((closed.status.code(), closed.stderr.as_slice()), (Some(0), &[][..]));
}

#[test]
fn a_silent_pipe_is_not_waited_for() {
    let home = Home::new();
    let running = home.start(&["-p", "--trust", "what is 2+2?"]);
    assert_eq!(running.end().code, 0);
}

#[test]
fn invalid_utf8_is_named_wherever_it_comes_from() {
    let home = Home::new();
    let mut command = home.command(&["-p", "--trust"]);
    let output = command.arg(std::ffi::OsStr::from_bytes(b"caf\xe9")).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    expect![[r#"
        error: argument 3 is not valid UTF-8: 'caf�'
    "#]]
    .assert_eq(&message);
    std::fs::write(home.path("work/latin.txt"), b"caf\xe9\n").unwrap();
    let model = home.script(&json!([
        [{"call": "Read", "id": "r", "input": {"path": "latin.txt"}},
            {"call": "Shell", "id": "s", "input": {"command": "cat latin.txt"}}],
        [{"text": "Done."}],
    ]));
    let words = ["-p", "--trust", "--force", "--output-format", "stream-json", "--model", &model, "go"];
    let all = lines(&good(home.run_raw(&words)));
    let ended: Vec<String> = all
        .iter()
        .filter(|line| kind(line) == "tool_call/completed")
        .map(|line| {
            settled(&line["tool_call"].as_object().unwrap().values().next().unwrap()["result"], &home)
        })
        .collect();
    expect![[r#"
        {"success":{"content":"caf�\n","isEmpty":false,"exceededLimit":false,"totalLines":2,"fileSize":5,"path":"/ws/latin.txt","readRange":{"startLine":1,"endLine":2},"relatedCursorRulePaths":[],"relatedCursorRules":[]}}
        {"success":{"command":"cat latin.txt","workingDirectory":"","exitCode":0,"signal":"","stdout":"caf�\n","stderr":"","executionTime":1,"interleavedOutput":"caf�\n","localExecutionTimeMs":1},"isBackground":false}"#]].assert_eq(&ended.join("\n"));
}
