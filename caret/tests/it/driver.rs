//! A whole conversation with one process: prompts, approvals, answers, steering and interrupts on stdin.

use crate::program::{Home, good};
use crate::running::{PATIENCE, kind, lines, parsed, processes, settled, unique_word, user, within};
use expect_test::expect;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::Duration;

fn decide(id: u64, decision: &Value) -> Value {
    json!({"type": "interaction_query", "response": {"id": id, "permissionRequestResponse": decision}})
}

/// A script that asks for one command and says what came of it.
fn one_command(home: &Home, command: &str) -> String {
    home.script(&json!([
        [{"call": "Shell", "id": "s", "input": {"command": command}}],
        [{"text": "{{result.s | first_line}}"}],
    ]))
}

fn result_of(stdout: &str) -> Value {
    let results: Vec<Value> = lines(stdout).into_iter().filter(|line| line["type"] == "result").collect();
    assert_eq!(results.len(), 1, "{stdout}");
    results[0].clone()
}

#[test]
fn several_turns_in_one_process_are_one_chat() {
    let home = Home::new();
    let mut run = home.drive(&["what is 1+1?"]);
    let first = run.until("result/success");
    run.say(&user("what was my last question?"));
    let second = run.until("result/success");
    run.say(&json!({"type": "user", "message": {"content": [{"type": "text", "text": "what is 2+2?"}]}}));
    let third = run.until("result/success");
    run.hang_up();
    let ended = run.end();
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    let kinds: Vec<String> = lines(&ended.stdout).iter().map(kind).collect();
    assert_eq!(kinds.iter().filter(|kind| *kind == "system/init").count(), 1, "{kinds:?}");
    assert_eq!(kinds.iter().filter(|kind| *kind == "user").count(), 3, "{kinds:?}");
    assert!(first["session_id"] == second["session_id"] && second["session_id"] == third["session_id"]);
    assert!(second["result"].as_str().unwrap().contains("what is 1+1?"), "{second}");
    assert!(third["result"].as_str().unwrap().contains('4'), "{third}");
}

#[test]
fn a_call_is_asked_for_and_runs_when_approved() {
    let home = Home::new();
    let model = one_command(&home, "echo hi");
    let mut run = home.drive(&["--model", &model]);
    run.say(&user("go"));
    let request = run.until("interaction_query/request");
    expect![[r#"{"type":"interaction_query","subtype":"request","query_type":"permissionRequestQuery","query":{"id":0,"permissionRequestQuery":{"toolCallId":"s","toolName":"Shell","input":{"command":"echo hi"},"reason":"Not in allowlist: echo","alwaysRule":"Shell(echo:hi)"}},"session_id":"<session>","timestamp_ms":1}"#]].assert_eq(&settled(&request, &home));
    run.say(&decide(0, &json!({"approved": {}})));
    let response = run.until("interaction_query/response");
    expect![[r#"{"type":"interaction_query","subtype":"response","query_type":"permissionRequestQuery","response":{"id":0,"permissionRequestResponse":{"approved":{}}},"session_id":"<session>","timestamp_ms":1}"#]].assert_eq(&settled(&response, &home));
    assert_eq!(run.until("result/success")["result"], "Exit code: 0");
    run.hang_up();
    assert_eq!(run.end().code, 0);
}

#[test]
fn numbers_of_questions_go_on_in_the_next_turn() {
    let home = Home::new();
    let call = json!([{"call": "Shell", "id": "s", "input": {"command": "echo hi"}}]);
    let model = home.script(&json!([call, [{"text": "One."}], call, [{"text": "Two."}]]));
    let mut run = home.drive(&["--model", &model]);
    for number in 0..2 {
        run.say(&user("go"));
        assert_eq!(run.until("interaction_query/request")["query"]["id"], number);
        run.say(&decide(number, &json!({"approved": {}})));
        assert_eq!(run.until("interaction_query/response")["response"]["id"], number);
        run.until("result/success");
    }
}

#[test]
fn a_call_that_is_rejected_does_not_run() {
    let home = Home::new();
    let model = one_command(&home, "touch made.txt");
    let mut run = home.drive(&["--fail-on-denied", "--model", &model, "go"]);
    run.until("interaction_query/request");
    run.say(&decide(0, &json!({"rejected": {"reason": "not today"}})));
    let result = run.until("result/success");
    assert_eq!(result["permissionDenials"][0]["reason"], "not today");
    run.hang_up();
    assert_eq!(run.end().code, 1);
    assert!(!home.exists("work/made.txt"));
}

#[test]
fn always_is_kept_for_this_run_and_the_next() {
    let home = Home::new();
    let twice = home.script(&json!([
        [{"call": "Shell", "id": "a", "input": {"command": "touch a.txt"}}],
        [{"call": "Shell", "id": "b", "input": {"command": "touch a.txt", "description": "again"}}],
        [{"text": "Done."}],
    ]));
    let mut run = home.drive(&["--model", &twice, "go"]);
    let asked = run.until("interaction_query/request");
    assert_eq!(asked["query"]["permissionRequestQuery"]["alwaysRule"], "Shell(touch:a.txt)");
    run.say(&decide(0, &json!({"approvedAlways": {}})));
    run.until("result/success");
    run.hang_up();
    let ended = run.end();
    let asked = lines(&ended.stdout).iter().filter(|line| line["type"] == "interaction_query").count();
    assert_eq!((asked, ended.code), (2, 0), "one question and its answer");
    let config: Value = serde_json::from_str(&home.read(".caret/cli-config.json")).unwrap();
    let allowed = config["permissions"]["allow"].as_array().unwrap();
    assert!(allowed.contains(&json!("Shell(touch:a.txt)")), "{config}");
    std::fs::remove_file(home.path("work/a.txt")).unwrap();
    good(home.run(&["-p", "--quiet", "--output-format", "json", "--model", &twice, "go"]));
    assert!(home.exists("work/a.txt"), "the next run does not have to ask");
}

#[test]
fn questions_of_the_model_are_answered() {
    let home = Home::new();
    let question = json!({"id": "q", "prompt": "Which?", "options": [{"id": "a", "label": "A"}, {"id": "b", "label": "B"}]});
    let model = home.script(&json!([
        [{"call": "AskQuestion", "id": "ask", "input": {"title": "Choose", "questions": [question]}}],
        [{"text": "You chose {{result.ask}}."}],
    ]));
    let mut run = home.drive(&["--model", &model, "go"]);
    run.until("interaction_query/request");
    let answers = json!({"success": {"answers": [{"questionId": "q", "selectedOptionIds": ["b"]}]}});
    run.say(&json!({"type": "interaction_query",
        "response": {"id": 0, "askQuestionInteractionResponse": {"result": answers}}}));
    let completed = run.until("tool_call/completed");
    expect![[r#"{"success":{"answers":[{"questionId":"q","selectedOptionIds":["b"]}]}}"#]]
        .assert_eq(&settled(&completed["tool_call"]["askQuestionToolCall"]["result"], &home));
    assert_eq!(run.until("result/success")["result"], "You chose q: b.");
}

#[test]
fn what_is_said_to_a_running_turn_is_heard_in_it() {
    let home = Home::new();
    let model = home.script(&json!([
        [{"call": "Shell", "id": "s", "input": {"command": "read_me"}}],
        [{"text": "You said {{user}}."}],
    ]));
    let mut run = home.drive(&["--model", &model, "go"]);
    run.until("interaction_query/request");
    run.say(&user("and hurry"));
    run.say(&decide(0, &json!({"rejected": {}})));
    assert_eq!(run.until("result/success")["result"], "You said and hurry.");
    run.hang_up();
    let ended = run.end();
    let said: Vec<Value> = lines(&ended.stdout).into_iter().filter(|line| line["type"] == "user").collect();
    assert_eq!(said.len(), 2);
    assert_eq!(said[1]["message"]["content"][0]["text"], "and hurry");
}

#[test]
fn an_interrupt_ends_the_turn_and_not_the_conversation() {
    let home = Home::new();
    let word = unique_word();
    let model = home.script(&json!([
        [{"text": "Sleeping."}, {"call": "Shell", "id": "s", "input": {"command": format!("sleep 600 # {word}")}}],
        [{"text": "Awake."}],
    ]));
    let mut run = home.drive(&["--force", "--model", &model, "go"]);
    run.until("tool_call/started");
    assert!(within(PATIENCE, || !processes(&word).is_empty()));
    run.say(&json!({"type": "interrupt"}));
    let result = run.until("result/error");
    assert_eq!(result["result"], "Error: Aborted");
    assert_eq!(processes(&word), Vec::<String>::new(), "nothing is left when the result is shown");
    run.say(&user("wake up"));
    assert_eq!(run.until("result/success")["result"], "Awake.");
    run.hang_up();
    assert_eq!(run.end().code, 0);
}

#[test]
fn lines_that_make_no_sense_are_told_and_ignored() {
    let home = Home::new();
    let mut run = home.drive(&[]);
    let deep = "[".repeat(100_000);
    let huge = format!(r#"{{"type":"user","message":{{"content":"a"}},"x":{}}}"#, "9".repeat(10_000));
    for line in
        ["", "garbage", "{}", "[]", "null", r#"{"type":"user"}"#, r#"{"type":"dance"}"#, &deep, "\"\\ud800\""]
    {
        run.say_text(line);
    }
    run.say(&decide(7, &json!({"approved": {}})));
    run.say(&json!({"type": "interaction_query", "response": {"id": 7}}));
    run.say(&json!({"type": "interrupt"}));
    run.say_text(&huge);
    run.say(&user("what is 2+2?"));
    run.until("result/success");
    run.hang_up();
    let ended = run.end();
    assert_eq!(ended.code, 0);
    let warned = ended.stderr.lines().filter(|line| line.starts_with("⚠ a line on stdin was ignored: "));
    assert_eq!(warned.count(), 11, "{}", ended.stderr);
    assert!(ended.stderr.len() < 10_000, "what is ignored is not repeated at length");
}

#[test]
fn a_line_that_is_too_long_is_ignored_and_the_next_one_is_not() {
    let home = Home::new();
    let mut run = home.drive(&[]);
    run.say(&user(&"x".repeat(65 << 20)));
    run.say(&user("what is 2+2?"));
    assert_eq!(run.until("user")["message"]["content"][0]["text"], "what is 2+2?");
    run.until("result/success");
    run.hang_up();
    let ended = run.end();
    assert_eq!(ended.code, 0);
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
}

#[test]
fn invalid_utf8_is_one_line_that_is_ignored() {
    let home = Home::new();
    let words = ["-p", "--trust", "--output-format", "stream-json", "--input-format", "stream-json"];
    let ended =
        home.pipe(&words, b"\xff\xfe\n{\"type\":\"user\",\"message\":{\"content\":\"what is 2+2?\"}}\n");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(ended.stderr.starts_with("⚠ a line on stdin was ignored: invalid UTF-8"), "{}", ended.stderr);
    assert_eq!(result_of(&ended.stdout)["is_error"], false);
}

#[test]
fn without_a_last_newline_the_line_counts_and_half_a_line_does_not() {
    let home = Home::new();
    let words = ["-p", "--trust", "--output-format", "stream-json", "--input-format", "stream-json"];
    let whole = user("what is 2+2?").to_string();
    assert_eq!(result_of(&home.pipe(&words, whole.as_bytes()).stdout)["is_error"], false);
    let half = home.pipe(&words, &whole.as_bytes()[..20]);
    assert_eq!((half.stdout.as_str(), half.code), ("", 0));
    assert_eq!(half.stderr.lines().count(), 1, "{}", half.stderr);
}

#[test]
fn the_end_of_input_lets_the_turn_end_and_answers_open_questions() {
    let home = Home::new();
    let model = one_command(&home, "touch made.txt");
    let mut run = home.drive(&["--model", &model, "go"]);
    run.until("interaction_query/request");
    run.hang_up();
    let ended = run.end();
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let result = result_of(&ended.stdout);
    assert_eq!(result["permissionDenials"][0]["reason"], "nobody is there to answer any more");
    assert!(!home.exists("work/made.txt"));
}

#[test]
fn a_driver_that_dies_leaves_nothing_running() {
    let home = Home::new();
    let word = unique_word();
    let model = home.script(&json!([
        [{"call": "Shell", "id": "s", "input": {"command": format!("sleep 600 # {word}")}}],
        [{"text": "Never."}],
    ]));
    let words =
        ["-p", "--trust", "--force", "--output-format", "stream-json", "--input-format", "stream-json"];
    let mut child =
        home.command(&[&words[..], &["--model", &model]].concat()).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, "{}", user("go")).unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    let session = parsed(line.trim_end())["session_id"].as_str().unwrap().to_owned();
    assert!(within(PATIENCE, || !processes(&word).is_empty()));
    drop((stdin, stdout));
    assert!(within(Duration::from_secs(4), || child.try_wait().unwrap().is_some()), "the program ends");
    assert!(within(Duration::from_secs(3), || processes(&word).is_empty()), "{:?}", processes(&word));
    let chat = good(home.run(&["export", &session]));
    assert!(chat.contains(r#""reason":{"type":"cancelled"}"#), "the turn is saved: {chat}");
}
