//! Every line that is documented and that we write: the same fields, in the same order.
//!
//! All lines of all these runs are held against the published schema by `running::parsed`.

use crate::program::{Home, good};
use crate::running::{kind, lines, settled};
use expect_test::{Expect, expect};
use serde_json::{Value, json};

/// A home with a few files and a rule, and what a script calls there.
fn home() -> Home {
    let home = Home::new();
    home.write("work/todo.md", "- milk\n- bread\n");
    home.write("work/a.txt", "one\ntest two\nthree\ntest four\n");
    home.write(
        ".caret/cli-config.json",
        r#"{"version":1,"permissions":{"allow":["Shell(echo)","Shell(false)","Shell(sleep)","Shell(true)"],"deny":["Shell(rm)"]}}"#,
    );
    home
}

/// Plays replies and gives back all lines.
fn play(home: &Home, replies: &Value, words: &[&str]) -> Vec<Value> {
    let model = home.script(replies);
    let given = ["-p", "--trust", "--quiet", "--output-format", "stream-json", "--model", &model];
    lines(&good(home.run_raw(&[&given, words, &["go on"]].concat())))
}

/// Makes calls in one reply and compares the lines of the calls and of the questions in between.
fn check_calls(home: &Home, calls: &[(&str, Value)], expected: Expect) {
    let number = |(at, (name, input)): (usize, &(&str, Value))| json!({"call": name, "id": format!("call_{at}"), "input": input});
    let calls: Vec<Value> = calls.iter().enumerate().map(number).collect();
    let all = play(home, &json!([calls, [{"text": "Done."}]]), &[]);
    let is_shown =
        |line: &&Value| ["tool_call", "interaction_query"].contains(&line["type"].as_str().unwrap());
    let shown: Vec<String> = all.iter().filter(is_shown).map(|line| settled(line, home)).collect();
    expected.assert_eq(&(shown.join("\n") + "\n"));
}

/// Makes one call and compares how it was completed.
fn check_completed(home: &Home, name: &str, input: &Value, expected: Expect) {
    let all = play(home, &json!([[{"call": name, "id": "c", "input": input}], [{"text": "Done."}]]), &[]);
    let completed: Vec<&Value> = all.iter().filter(|line| kind(line) == "tool_call/completed").collect();
    assert_eq!(completed.len(), 1);
    let body = completed[0]["tool_call"].as_object().unwrap().iter().next().unwrap();
    let shown = settled(&json!({ body.0.as_str(): body.1, "session_id": completed[0]["session_id"] }), home);
    expected.assert_eq(&shown.replace(r#","session_id":"<session>""#, ""));
}

#[test]
fn a_turn_of_words_and_thoughts_is_as_documented() {
    let home = home();
    let replies = json!([
        [{"thinking": "Hm."}, {"text": "Reading."}, {"call": "Read", "id": "c", "input": {"path": "a.txt"}}],
        [{"thinking": "So."}, {"text": "All "}, {"text": "done."},
            {"usage": {"input": 1200, "output": 80, "cached": 9000}}],
    ]);
    let shown: Vec<String> = play(&home, &replies, &[]).iter().map(|line| settled(line, &home)).collect();
    expect![[r#"
        {"type":"system","subtype":"init","apiKeySource":"login","cwd":"/ws","session_id":"<session>","model":"Scripted","permissionMode":"default"}
        {"type":"user","message":{"role":"user","content":[{"type":"text","text":"go on"}]},"session_id":"<session>"}
        {"type":"thinking","subtype":"delta","text":"Hm.","session_id":"<session>","timestamp_ms":1}
        {"type":"thinking","subtype":"completed","session_id":"<session>","timestamp_ms":1}
        {"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Reading."}]},"session_id":"<session>","model_call_id":"<request>-0-xxxx","timestamp_ms":1}
        {"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"readToolCall":{"args":{"path":"/ws/a.txt"}},"hookAdditionalContexts":[],"toolCallId":"c","startedAtMs":"1"},"model_call_id":"<request>-0-xxxx","session_id":"<session>","timestamp_ms":1}
        {"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"readToolCall":{"args":{"path":"/ws/a.txt"},"result":{"success":{"content":"one\ntest two\nthree\ntest four\n","isEmpty":false,"exceededLimit":false,"totalLines":5,"fileSize":29,"path":"/ws/a.txt","readRange":{"startLine":1,"endLine":5},"relatedCursorRulePaths":[],"relatedCursorRules":[]}}},"hookAdditionalContexts":[],"toolCallId":"c","startedAtMs":"1","completedAtMs":"1"},"model_call_id":"<request>-0-xxxx","session_id":"<session>","timestamp_ms":1}
        {"type":"thinking","subtype":"delta","text":"So.","session_id":"<session>","timestamp_ms":1}
        {"type":"thinking","subtype":"completed","session_id":"<session>","timestamp_ms":1}
        {"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"All done."}]},"session_id":"<session>"}
        {"type":"result","subtype":"success","duration_ms":1,"duration_api_ms":1,"is_error":false,"result":"Reading.All done.","session_id":"<session>","request_id":"<request>","usage":{"inputTokens":1200,"outputTokens":80,"cacheReadTokens":9000,"cacheWriteTokens":0}}
    "#]].assert_eq(&(shown.join("\n") + "\n"));
}

#[test]
fn partial_output_adds_deltas_and_nothing_else() {
    let home = home();
    let replies = json!([
        [{"deltas": ["Rea", "ding."]}, {"call": "LS", "id": "c", "input": {}}],
        [{"deltas": ["All ", "done."]}],
    ]);
    let assistant = |words: &[&str]| -> Vec<String> {
        let all = play(&home, &replies, words);
        all.iter().filter(|line| line["type"] == "assistant").map(|line| settled(line, &home)).collect()
    };
    let (plain, partial) = (assistant(&[]), assistant(&["--stream-partial-output"]));
    expect![[r#"
        {"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Reading."}]},"session_id":"<session>","model_call_id":"<request>-0-xxxx","timestamp_ms":1}
        {"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"All done."}]},"session_id":"<session>"}
    "#]].assert_eq(&(plain.join("\n") + "\n"));
    expect![[r#"
        {"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Rea"}]},"session_id":"<session>","timestamp_ms":1}
        {"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"ding."}]},"session_id":"<session>","timestamp_ms":1}
        {"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Reading."}]},"session_id":"<session>","model_call_id":"<request>-0-xxxx","timestamp_ms":1}
        {"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"All "}]},"session_id":"<session>","timestamp_ms":1}
        {"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"done."}]},"session_id":"<session>","timestamp_ms":1}
        {"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"All done."}]},"session_id":"<session>"}
    "#]].assert_eq(&(partial.join("\n") + "\n"));
}

#[test]
fn force_is_told() {
    let home = home();
    let all = play(&home, &json!([[{"text": "Yes."}]]), &["--force", "--api-key", "k"]);
    expect![[r#"{"type":"system","subtype":"init","apiKeySource":"flag","cwd":"/ws","session_id":"<session>","model":"Scripted","permissionMode":"force"}"#]].assert_eq(&settled(&all[0], &home));
}

#[test]
fn extended_events_are_additions() {
    let home = home();
    let replies = json!([
        [{"usage": {"input": 3, "output": 2}}, {"call": "TodoWrite", "id": "t", "input": {"merge": false,
            "todos": [{"id": "1", "content": "look", "status": "in_progress"}]}}],
        [{"call": "Shell", "id": "s", "input": {"command": "echo hi"}}],
        [{"error": {"status": 503, "retry_after_ms": 1, "message": "busy"}}, {"text": "Done."}],
    ]);
    let standard: Vec<String> = play(&home, &replies, &[]).iter().map(kind).collect();
    let extended = play(&home, &replies, &["--events", "extended"]);
    let added = ["usage", "todos", "notice/retry", "tool_output"];
    let left: Vec<String> =
        extended.iter().map(kind).filter(|kind| !added.contains(&kind.as_str())).collect();
    assert_eq!(left, standard);
    let own =
        extended.iter().filter(|line| kind(line) == "system/init" || added.contains(&kind(line).as_str()));
    let shown: Vec<String> = own.map(|line| settled(line, &home)).collect();
    expect![[r#"
        {"type":"system","subtype":"init","apiKeySource":"login","cwd":"/ws","session_id":"<session>","model":"Scripted","permissionMode":"default","schemaVersion":1}
        {"type":"usage","usage":{"inputTokens":3,"outputTokens":2,"cacheReadTokens":0,"cacheWriteTokens":0},"session_id":"<session>","timestamp_ms":1}
        {"type":"todos","todos":[{"id":"1","content":"look","status":"TODO_STATUS_IN_PROGRESS","createdAt":"1","updatedAt":"1","dependencies":[]}],"session_id":"<session>","timestamp_ms":1}
        {"type":"usage","usage":{"inputTokens":0,"outputTokens":0,"cacheReadTokens":0,"cacheWriteTokens":0},"session_id":"<session>","timestamp_ms":1}
        {"type":"tool_output","call_id":"s","text":"hi\n","session_id":"<session>","timestamp_ms":1}
        {"type":"notice","subtype":"retry","text":"the model is busy: busy; trying again in 0.0 s","session_id":"<session>","timestamp_ms":1}
        {"type":"usage","usage":{"inputTokens":0,"outputTokens":0,"cacheReadTokens":0,"cacheWriteTokens":0},"session_id":"<session>","timestamp_ms":1}
    "#]].assert_eq(&(shown.join("\n") + "\n"));
}

#[test]
fn a_read_is_as_documented() {
    let home = home();
    check_calls(
        &home,
        &[("Read", json!({"path": "a.txt", "offset": 2, "limit": 1}))],
        expect![[r#"
        {"type":"tool_call","subtype":"started","call_id":"call_0","tool_call":{"readToolCall":{"args":{"path":"/ws/a.txt","offset":2,"limit":1}},"hookAdditionalContexts":[],"toolCallId":"call_0","startedAtMs":"1"},"model_call_id":"<request>-0-xxxx","session_id":"<session>","timestamp_ms":1}
        {"type":"tool_call","subtype":"completed","call_id":"call_0","tool_call":{"readToolCall":{"args":{"path":"/ws/a.txt","offset":2,"limit":1},"result":{"success":{"content":"test two\n","isEmpty":false,"exceededLimit":false,"totalLines":5,"fileSize":29,"path":"/ws/a.txt","readRange":{"startLine":2,"endLine":2},"relatedCursorRulePaths":[],"relatedCursorRules":[]}}},"hookAdditionalContexts":[],"toolCallId":"call_0","startedAtMs":"1","completedAtMs":"1"},"model_call_id":"<request>-0-xxxx","session_id":"<session>","timestamp_ms":1}
    "#]],
    );
    check_completed(
        &home,
        "Read",
        &json!({"path": "missing.txt"}),
        expect![[
            r#"{"readToolCall":{"args":{"path":"/ws/missing.txt"},"result":{"error":{"errorMessage":"File not found"}}}}"#
        ]],
    );
    check_completed(
        &home,
        "Read",
        &json!({"path": "/etc/passwd"}),
        expect![[
            r#"{"readToolCall":{"result":{"rejected":{"path":"/etc/passwd","reason":"/etc/passwd is outside the workspace"}}}}"#
        ]],
    );
}

#[test]
fn edits_are_as_documented() {
    let home = home();
    let write = json!({"path": "todo.md", "contents": "- milk\n- bread\n- tea"});
    check_completed(
        &home,
        "Read",
        &json!({"path": "todo.md"}),
        expect![[
            r#"{"readToolCall":{"args":{"path":"/ws/todo.md"},"result":{"success":{"content":"- milk\n- bread\n","isEmpty":false,"exceededLimit":false,"totalLines":3,"fileSize":15,"path":"/ws/todo.md","readRange":{"startLine":1,"endLine":3},"relatedCursorRulePaths":[],"relatedCursorRules":[]}}}}"#
        ]],
    );
    check_completed(
        &home,
        "Write",
        &write,
        expect![[
            r#"{"editToolCall":{"args":{"path":"/ws/todo.md","streamContent":"- milk\n- bread\n- tea"},"result":{"success":{"path":"/ws/todo.md","linesAdded":1,"linesRemoved":0,"diffString":"--- a//ws/todo.md\n+++ b//ws/todo.md\n@@ -1,2 +1,3 @@\n - milk\n - bread\n+- tea","beforeFullFileContent":"- milk\n- bread\n","afterFullFileContent":"- milk\n- bread\n- tea\n","message":"The file /ws/todo.md has been updated."}}}}"#
        ]],
    );
    check_completed(
        &home,
        "Write",
        &json!({"path": "new/b.txt", "contents": "b\n"}),
        expect![[
            r#"{"editToolCall":{"args":{"path":"/ws/new/b.txt","streamContent":"b\n"},"result":{"success":{"path":"/ws/new/b.txt","linesAdded":1,"linesRemoved":0,"diffString":"--- /dev/null\n+++ b//ws/new/b.txt\n@@ -0,0 +1 @@\n+b","afterFullFileContent":"b\n","message":"Wrote contents to /ws/new/b.txt"}}}}"#
        ]],
    );
}

#[test]
fn replacements_are_as_documented() {
    let home = home();
    let replace = json!({"path": "a.txt", "old_string": "test", "new_string": "best", "replace_all": true});
    check_completed(
        &home,
        "StrReplace",
        &replace,
        expect![[
            r#"{"editToolCall":{"args":{"path":"/ws/a.txt","strReplace":{"oldText":"test","newText":"best","replaceAll":true}},"result":{"success":{"path":"/ws/a.txt","linesAdded":2,"linesRemoved":2,"diffString":"--- a//ws/a.txt\n+++ b//ws/a.txt\n@@ -1,4 +1,4 @@\n one\n-test two\n+best two\n three\n-test four\n+best four","beforeFullFileContent":"one\ntest two\nthree\ntest four\n","afterFullFileContent":"one\nbest two\nthree\nbest four\n","message":"The file /ws/a.txt has been updated."}}}}"#
        ]],
    );
    let edits = json!([{"old_string": "one", "new_string": "1"}, {"old_string": "three", "new_string": "3"}]);
    check_completed(
        &home,
        "MultiStrReplace",
        &json!({"path": "a.txt", "edits": edits}),
        expect![[
            r#"{"editToolCall":{"args":{"path":"/ws/a.txt","multiStrReplace":{"edits":[{"oldText":"one","newText":"1"},{"oldText":"three","newText":"3"}]}},"result":{"success":{"path":"/ws/a.txt","linesAdded":2,"linesRemoved":2,"diffString":"--- a//ws/a.txt\n+++ b//ws/a.txt\n@@ -1,4 +1,4 @@\n-one\n+1\n best two\n-three\n+3\n best four","beforeFullFileContent":"one\nbest two\nthree\nbest four\n","afterFullFileContent":"1\nbest two\n3\nbest four\n","message":"The file /ws/a.txt has been updated."}}}}"#
        ]],
    );
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-1\n+uno\n*** End Patch\n";
    check_completed(
        &home,
        "ApplyPatch",
        &json!({"patch": patch}),
        expect![[
            r#"{"editToolCall":{"args":{"path":"/ws/a.txt","applyPatch":{"patchContent":"*** Begin Patch\n*** Update File: a.txt\n@@\n-1\n+uno\n*** End Patch\n"}},"result":{"success":{"path":"/ws/a.txt","linesAdded":1,"linesRemoved":1,"diffString":"--- a//ws/a.txt\n+++ b//ws/a.txt\n@@ -1,4 +1,4 @@\n-1\n+uno\n best two\n 3\n best four","beforeFullFileContent":"1\nbest two\n3\nbest four\n","afterFullFileContent":"uno\nbest two\n3\nbest four\n","message":"The file /ws/a.txt has been updated."}}}}"#
        ]],
    );
    let missing = json!({"path": "a.txt", "old_string": "nowhere", "new_string": "x"});
    check_completed(
        &home,
        "StrReplace",
        &missing,
        expect![[
            r#"{"editToolCall":{"args":{"path":"/ws/a.txt","strReplace":{"oldText":"nowhere","newText":"x"}},"result":{"error":{"errorMessage":"`old_string` is not in the file; it must be what the file holds, without line numbers"}}}}"#
        ]],
    );
}

#[test]
fn a_protected_file_is_rejected_without_its_arguments() {
    let home = home();
    check_completed(
        &home,
        "Write",
        &json!({"path": ".git/config", "contents": "x"}),
        expect![[
            r#"{"editToolCall":{"result":{"rejected":{"path":"/ws/.git/config","reason":".git/config is protected"}}}}"#
        ]],
    );
}

#[test]
fn a_delete_is_as_documented() {
    let home = home();
    check_completed(
        &home,
        "Delete",
        &json!({"path": "a.txt"}),
        expect![[
            r#"{"deleteToolCall":{"args":{"path":"/ws/a.txt","toolCallId":"c"},"result":{"success":{"path":"/ws/a.txt","fileSize":29}}}}"#
        ]],
    );
    check_completed(
        &home,
        "Delete",
        &json!({"path": "a.txt"}),
        expect![[
            r#"{"deleteToolCall":{"args":{"path":"/ws/a.txt","toolCallId":"c"},"result":{"fileNotFound":{"path":"/ws/a.txt"}}}}"#
        ]],
    );
}

#[test]
fn a_command_is_as_documented() {
    let home = home();
    let input = json!({"command": "echo -n 3 \"--format=%h\"", "description": "says it"});
    check_calls(
        &home,
        &[("Shell", input)],
        expect![[r#"
        {"type":"tool_call","subtype":"started","call_id":"call_0","tool_call":{"shellToolCall":{"args":{"command":"echo -n 3 \"--format=%h\"","workingDirectory":"","timeout":30000,"toolCallId":"call_0","simpleCommands":["echo"],"hasInputRedirect":false,"hasOutputRedirect":false,"parsingResult":{"parsingFailed":false,"executableCommands":[{"name":"echo","args":[{"type":"word","value":"-n"},{"type":"number","value":"3"},{"type":"string","value":"--format=%h"}],"fullText":"echo -n 3 \"--format=%h\""}],"hasRedirects":false,"hasCommandSubstitution":false,"redirects":[]},"fileOutputThresholdBytes":"40000","isBackground":false,"skipApproval":false,"timeoutBehavior":"TIMEOUT_BEHAVIOR_BACKGROUND","hardTimeout":86400000,"description":"says it","closeStdin":true,"conversationId":"<session>","adminCommandDenylist":[],"requestId":"<request>"},"description":"says it"},"hookAdditionalContexts":[],"toolCallId":"call_0","startedAtMs":"1"},"model_call_id":"<request>-0-xxxx","session_id":"<session>","timestamp_ms":1}
        {"type":"tool_call","subtype":"completed","call_id":"call_0","tool_call":{"shellToolCall":{"args":{"command":"echo -n 3 \"--format=%h\"","workingDirectory":"","timeout":30000,"toolCallId":"call_0","simpleCommands":["echo"],"hasInputRedirect":false,"hasOutputRedirect":false,"parsingResult":{"parsingFailed":false,"executableCommands":[{"name":"echo","args":[{"type":"word","value":"-n"},{"type":"number","value":"3"},{"type":"string","value":"--format=%h"}],"fullText":"echo -n 3 \"--format=%h\""}],"hasRedirects":false,"hasCommandSubstitution":false,"redirects":[]},"fileOutputThresholdBytes":"40000","isBackground":false,"skipApproval":false,"timeoutBehavior":"TIMEOUT_BEHAVIOR_BACKGROUND","hardTimeout":86400000,"description":"says it","closeStdin":true,"conversationId":"<session>","adminCommandDenylist":[],"requestId":"<request>"},"result":{"success":{"command":"echo -n 3 \"--format=%h\"","workingDirectory":"","exitCode":0,"signal":"","stdout":"3 --format=%h","stderr":"","executionTime":1,"interleavedOutput":"3 --format=%h","localExecutionTimeMs":1},"isBackground":false},"description":"says it"},"hookAdditionalContexts":[],"toolCallId":"call_0","startedAtMs":"1","completedAtMs":"1"},"model_call_id":"<request>-0-xxxx","session_id":"<session>","timestamp_ms":1}
    "#]],
    );
    check_completed(
        &home,
        "Shell",
        &json!({"command": "true"}),
        expect![[
            r#"{"shellToolCall":{"args":{"command":"true","workingDirectory":"","timeout":30000,"toolCallId":"c","simpleCommands":["true"],"hasInputRedirect":false,"hasOutputRedirect":false,"parsingResult":{"parsingFailed":false,"executableCommands":[{"name":"true","args":[],"fullText":"true"}],"hasRedirects":false,"hasCommandSubstitution":false,"redirects":[]},"fileOutputThresholdBytes":"40000","isBackground":false,"skipApproval":false,"timeoutBehavior":"TIMEOUT_BEHAVIOR_BACKGROUND","hardTimeout":86400000,"description":"","closeStdin":true,"conversationId":"<session>","adminCommandDenylist":[],"requestId":"<request>"},"result":{"success":{"command":"true","workingDirectory":"","exitCode":0,"signal":"","stdout":"","stderr":"","executionTime":1,"interleavedOutput":"","localExecutionTimeMs":1},"isBackground":false},"description":""}}"#
        ]],
    );
    check_completed(
        &home,
        "Shell",
        &json!({"command": "false"}),
        expect![[
            r#"{"shellToolCall":{"args":{"command":"false","workingDirectory":"","timeout":30000,"toolCallId":"c","simpleCommands":["false"],"hasInputRedirect":false,"hasOutputRedirect":false,"parsingResult":{"parsingFailed":false,"executableCommands":[{"name":"false","args":[],"fullText":"false"}],"hasRedirects":false,"hasCommandSubstitution":false,"redirects":[]},"fileOutputThresholdBytes":"40000","isBackground":false,"skipApproval":false,"timeoutBehavior":"TIMEOUT_BEHAVIOR_BACKGROUND","hardTimeout":86400000,"description":"","closeStdin":true,"conversationId":"<session>","adminCommandDenylist":[],"requestId":"<request>"},"result":{"failure":{"command":"false","workingDirectory":"","exitCode":1,"signal":"","stdout":"","stderr":"","executionTime":1,"interleavedOutput":"","localExecutionTimeMs":1},"isBackground":false},"description":""}}"#
        ]],
    );
}

#[test]
fn a_command_that_ends_at_once_is_reported_whole() {
    let home = home();
    let calls: Vec<Value> =
        (0..60).map(|at| json!({"call": "Shell", "input": {"command": format!("echo {at}")}})).collect();
    let all = play(&home, &json!([calls, [{"text": "Done."}]]), &[]);
    let completed = all.iter().filter(|line| kind(line) == "tool_call/completed");
    let said: Vec<&Value> =
        completed.map(|line| &line["tool_call"]["shellToolCall"]["result"]["success"]["stdout"]).collect();
    assert_eq!(
        said,
        (0..60).map(|at| json!(format!("{at}\n"))).collect::<Vec<_>>().iter().collect::<Vec<_>>()
    );
}

#[test]
fn a_command_that_takes_too_long_goes_to_the_background() {
    let home = home();
    check_completed(
        &home,
        "Shell",
        &json!({"command": "sleep 600", "timeout": 1}),
        expect![[
            r#"{"shellToolCall":{"args":{"command":"sleep 600","workingDirectory":"","timeout":1,"toolCallId":"c","simpleCommands":["sleep"],"hasInputRedirect":false,"hasOutputRedirect":false,"parsingResult":{"parsingFailed":false,"executableCommands":[{"name":"sleep","args":[{"type":"number","value":"600"}],"fullText":"sleep 600"}],"hasRedirects":false,"hasCommandSubstitution":false,"redirects":[]},"fileOutputThresholdBytes":"40000","isBackground":false,"skipApproval":false,"timeoutBehavior":"TIMEOUT_BEHAVIOR_BACKGROUND","hardTimeout":86400000,"description":"","closeStdin":true,"conversationId":"<session>","adminCommandDenylist":[],"requestId":"<request>"},"result":{"backgrounded":{"command":"sleep 600","workingDirectory":"","pid":1,"timeoutMs":1,"interleavedOutput":"","outputFile":"/home/.caret/projects/<project>/terminals/<session>-c.txt"},"isBackground":true},"description":""}}"#
        ]],
    );
}

#[test]
fn a_command_that_cannot_start_rejected_or_denied_is_as_documented() {
    let home = home();
    let nowhere = json!({"command": "true", "working_directory": "no/such/folder"});
    check_completed(
        &home,
        "Shell",
        &nowhere,
        expect![[
            r#"{"shellToolCall":{"args":{"command":"true","workingDirectory":"no/such/folder","timeout":30000,"toolCallId":"c","simpleCommands":["true"],"hasInputRedirect":false,"hasOutputRedirect":false,"parsingResult":{"parsingFailed":false,"executableCommands":[{"name":"true","args":[],"fullText":"true"}],"hasRedirects":false,"hasCommandSubstitution":false,"redirects":[]},"fileOutputThresholdBytes":"40000","isBackground":false,"skipApproval":false,"timeoutBehavior":"TIMEOUT_BEHAVIOR_BACKGROUND","hardTimeout":86400000,"description":"","closeStdin":true,"conversationId":"<session>","adminCommandDenylist":[],"requestId":"<request>"},"result":{"spawnError":{"command":"true","workingDirectory":"no/such/folder","error":"the command could not be started: the working directory /ws/no/such/folder is not there"},"isBackground":false},"description":""}}"#
        ]],
    );
    check_completed(
        &home,
        "Shell",
        &json!({"command": "whoami"}),
        expect![[
            r#"{"shellToolCall":{"result":{"rejected":{"command":"whoami","workingDirectory":"/ws","reason":"Not in allowlist: whoami","isReadonly":false},"isBackground":false},"description":""}}"#
        ]],
    );
    check_completed(
        &home,
        "Shell",
        &json!({"command": "rm -rf ."}),
        expect![[
            r#"{"shellToolCall":{"args":{"command":"rm -rf .","workingDirectory":"","timeout":30000,"toolCallId":"c","simpleCommands":["rm"],"hasInputRedirect":false,"hasOutputRedirect":false,"parsingResult":{"parsingFailed":false,"executableCommands":[{"name":"rm","args":[{"type":"word","value":"-rf"},{"type":"word","value":"."}],"fullText":"rm -rf ."}],"hasRedirects":false,"hasCommandSubstitution":false,"redirects":[]},"fileOutputThresholdBytes":"40000","isBackground":false,"skipApproval":false,"timeoutBehavior":"TIMEOUT_BEHAVIOR_BACKGROUND","hardTimeout":86400000,"description":"","closeStdin":true,"conversationId":"<session>","adminCommandDenylist":[],"requestId":"<request>"},"result":{"permissionDenied":{"command":"rm -rf .","workingDirectory":"/ws","error":"`Shell(rm)` denies this","isReadonly":false},"isBackground":false},"description":""}}"#
        ]],
    );
}

#[test]
fn lists_and_searches_are_as_documented() {
    let home = home();
    home.write("work/sub/c.txt", "test\n");
    check_completed(
        &home,
        "LS",
        &json!({"path": ".", "ignore": ["*.md"]}),
        expect![[
            r#"{"lsToolCall":{"args":{"path":"/ws","ignore":["*.md"],"toolCallId":"c"},"result":{"success":{"directoryTreeRoot":{"absPath":"/ws","childrenDirs":[{"absPath":"/ws/sub","childrenDirs":[],"childrenFiles":[{"name":"c.txt"}],"childrenWereProcessed":true,"fullSubtreeExtensionCounts":{},"numFiles":0}],"childrenFiles":[{"name":"a.txt"}],"childrenWereProcessed":true,"fullSubtreeExtensionCounts":{},"numFiles":0}}}}}"#
        ]],
    );
    check_completed(
        &home,
        "Glob",
        &json!({"glob_pattern": "*.md"}),
        expect![[
            r#"{"globToolCall":{"args":{"targetDirectory":"/ws","globPattern":"*.md"},"result":{"success":{"pattern":"**/*.md","path":"/ws","files":["todo.md"],"totalFiles":1,"clientTruncated":false,"ripgrepTruncated":false}}}}"#
        ]],
    );
    check_completed(
        &home,
        "Grep",
        &json!({"pattern": "two"}),
        expect![[
            r#"{"grepToolCall":{"args":{"pattern":"two","outputMode":"files_with_matches","caseInsensitive":false,"multiline":false,"toolCallId":"c"},"result":{"success":{"pattern":"two","path":"","outputMode":"files_with_matches","workspaceResults":{"/ws":{"files":{"files":["./a.txt"],"totalFiles":1,"clientTruncated":false,"ripgrepTruncated":false}}}}}}}"#
        ]],
    );
    let content = json!({"pattern": "two", "output_mode": "content", "-A": 1, "-i": true});
    check_completed(
        &home,
        "Grep",
        &content,
        expect![[
            r#"{"grepToolCall":{"args":{"pattern":"two","outputMode":"content","contextAfter":1,"caseInsensitive":true,"multiline":false,"toolCallId":"c"},"result":{"success":{"pattern":"two","path":"","outputMode":"content","workspaceResults":{"/ws":{"content":{"matches":[{"file":"./a.txt","matches":[{"lineNumber":2,"content":"test two","contentTruncated":false,"isContextLine":false},{"lineNumber":3,"content":"three","contentTruncated":false,"isContextLine":true}]}],"totalLines":2,"totalMatchedLines":1,"clientTruncated":false,"ripgrepTruncated":false}}}}}}}"#
        ]],
    );
    check_completed(
        &home,
        "Grep",
        &json!({"pattern": "test", "path": "a.txt", "output_mode": "count"}),
        expect![[
            r#"{"grepToolCall":{"args":{"pattern":"test","path":"a.txt","outputMode":"count","caseInsensitive":false,"multiline":false,"toolCallId":"c"},"result":{"success":{"pattern":"test","path":"a.txt","outputMode":"count","workspaceResults":{"/ws":{"count":{"counts":[{"file":"./a.txt","count":2}],"totalFiles":1,"totalMatches":2,"clientTruncated":false,"ripgrepTruncated":false}}}}}}}"#
        ]],
    );
    check_completed(
        &home,
        "Grep",
        &json!({"pattern": "("}),
        expect![[
            r#"{"grepToolCall":{"args":{"pattern":"(","outputMode":"files_with_matches","caseInsensitive":false,"multiline":false,"toolCallId":"c"},"result":{"error":{"errorMessage":"`pattern` is no valid regular expression: regex parse error:\n    (?:()\n    ^\nerror: unclosed group; put a \\ before ( ) [ ] { } . * + ? | ^ $ to search for them as they are"}}}}"#
        ]],
    );
    check_completed(
        &home,
        "LS",
        &json!({"path": "nowhere"}),
        expect![[
            r#"{"lsToolCall":{"args":{"path":"/ws/nowhere","ignore":[],"toolCallId":"c"},"result":{"error":{"errorMessage":"there is no `/ws/nowhere`"}}}}"#
        ]],
    );
    check_completed(
        &home,
        "Glob",
        &json!({"glob_pattern": "a", "target_directory": "nowhere"}),
        expect![[
            r#"{"globToolCall":{"args":{"targetDirectory":"/ws/nowhere","globPattern":"a"},"result":{"error":{"errorMessage":"there is no `/ws/nowhere`"}}}}"#
        ]],
    );
}

#[test]
fn todos_are_as_documented() {
    let home = home();
    let todos = json!([{"id": "1", "content": "look", "status": "in_progress"}]);
    check_calls(
        &home,
        &[("TodoWrite", json!({"todos": todos, "merge": false})), ("ReadTodos", json!({}))],
        expect![[r#"
            {"type":"tool_call","subtype":"started","call_id":"call_0","tool_call":{"updateTodosToolCall":{"args":{"todos":[{"id":"1","content":"look","status":"TODO_STATUS_IN_PROGRESS","createdAt":"1","updatedAt":"1","dependencies":[]}],"merge":false}},"hookAdditionalContexts":[],"toolCallId":"call_0","startedAtMs":"1"},"model_call_id":"<request>-0-xxxx","session_id":"<session>","timestamp_ms":1}
            {"type":"tool_call","subtype":"started","call_id":"call_1","tool_call":{"readTodosToolCall":{"args":{}},"hookAdditionalContexts":[],"toolCallId":"call_1","startedAtMs":"1"},"model_call_id":"<request>-0-xxxx","session_id":"<session>","timestamp_ms":1}
            {"type":"tool_call","subtype":"completed","call_id":"call_0","tool_call":{"updateTodosToolCall":{"args":{"todos":[{"id":"1","content":"look","status":"TODO_STATUS_IN_PROGRESS","createdAt":"1","updatedAt":"1","dependencies":[]}],"merge":false},"result":{"success":{"todos":[{"id":"1","content":"look","status":"TODO_STATUS_IN_PROGRESS","createdAt":"1","updatedAt":"1","dependencies":[]}],"totalCount":1,"wasMerge":false}}},"hookAdditionalContexts":[],"toolCallId":"call_0","startedAtMs":"1","completedAtMs":"1"},"model_call_id":"<request>-0-xxxx","session_id":"<session>","timestamp_ms":1}
            {"type":"tool_call","subtype":"completed","call_id":"call_1","tool_call":{"readTodosToolCall":{"args":{},"result":{"success":{"todos":[{"id":"1","content":"look","status":"TODO_STATUS_IN_PROGRESS","createdAt":"1","updatedAt":"1","dependencies":[]}],"totalCount":1}}},"hookAdditionalContexts":[],"toolCallId":"call_1","startedAtMs":"1","completedAtMs":"1"},"model_call_id":"<request>-0-xxxx","session_id":"<session>","timestamp_ms":1}
        "#]],
    );
    check_completed(
        &home,
        "TodoWrite",
        &json!({"todos": 3, "merge": false}),
        expect![[
            r#"{"updateTodosToolCall":{"args":{"todos":[],"merge":false},"result":{"error":{"error":"`todos` must be a list, not 3; expected {\"todos\": [{\"id\": \"1\", \"content\": \"what to do\", \"status\": \"pending\"}], \"merge\": false}"}}}}"#
        ]],
    );
}

#[test]
fn an_unknown_tool_is_a_function() {
    check_calls(
        &home(),
        &[("Teleport", json!({"to": "moon"}))],
        expect![[r#"
        {"type":"tool_call","subtype":"started","call_id":"call_0","tool_call":{"function":{"name":"Teleport","arguments":"{\"to\":\"moon\"}"},"hookAdditionalContexts":[],"toolCallId":"call_0","startedAtMs":"1"},"model_call_id":"<request>-0-xxxx","session_id":"<session>","timestamp_ms":1}
        {"type":"tool_call","subtype":"completed","call_id":"call_0","tool_call":{"function":{"name":"Teleport","arguments":"{\"to\":\"moon\"}","result":{"error":{"error":"Error: there is no tool `Teleport`; the tools are ApplyPatch, AskQuestion, Delete, Glob, Grep, LS, MultiStrReplace, Read, ReadTodos, Shell, StrReplace, TodoWrite, Write"}}},"hookAdditionalContexts":[],"toolCallId":"call_0","startedAtMs":"1","completedAtMs":"1"},"model_call_id":"<request>-0-xxxx","session_id":"<session>","timestamp_ms":1}
    "#]],
    );
}

#[test]
fn a_question_stands_before_its_call() {
    let question = json!({"id": "q", "prompt": "Which?", "options": [{"id": "a", "label": "A"}, {"id": "b", "label": "B"}]});
    check_calls(
        &home(),
        &[("AskQuestion", json!({"title": "Choose", "questions": [question]}))],
        expect![[r#"
        {"type":"interaction_query","subtype":"request","query_type":"askQuestionInteractionQuery","query":{"id":0,"askQuestionInteractionQuery":{"args":{"title":"Choose","questions":[{"id":"q","prompt":"Which?","options":[{"id":"a","label":"A"},{"id":"b","label":"B"}],"allowMultiple":false}],"runAsync":false,"asyncOriginalToolCallId":""},"toolCallId":"call_0"}},"session_id":"<session>","timestamp_ms":1}
        {"type":"interaction_query","subtype":"response","query_type":"askQuestionInteractionQuery","response":{"id":0,"askQuestionInteractionResponse":{"result":{"rejected":{"reason":"Questions skipped by the user, continue with the information you already have"}}}},"session_id":"<session>","timestamp_ms":1}
        {"type":"tool_call","subtype":"started","call_id":"call_0","tool_call":{"askQuestionToolCall":{"args":{"title":"Choose","questions":[{"id":"q","prompt":"Which?","options":[{"id":"a","label":"A"},{"id":"b","label":"B"}],"allowMultiple":false}],"runAsync":false,"asyncOriginalToolCallId":""}},"hookAdditionalContexts":[],"toolCallId":"call_0","startedAtMs":"1"},"model_call_id":"<request>-0-xxxx","session_id":"<session>","timestamp_ms":1}
        {"type":"tool_call","subtype":"completed","call_id":"call_0","tool_call":{"askQuestionToolCall":{"result":{"rejected":{"reason":"Questions skipped by the user, continue with the information you already have"}}},"hookAdditionalContexts":[],"toolCallId":"call_0","startedAtMs":"1","completedAtMs":"1"},"model_call_id":"<request>-0-xxxx","session_id":"<session>","timestamp_ms":1}
    "#]],
    );
}

#[test]
fn a_failed_turn_ends_with_an_error_result() {
    let home = home();
    let model =
        home.script(&json!([[{"text": "half a sen"}, {"error": {"status": 400, "message": "bad request"}}]]));
    let ended =
        home.run_raw(&["-p", "--trust", "--output-format", "stream-json", "--model", &model, "go on"]);
    assert_eq!(ended.code, 1);
    let shown: Vec<String> = lines(&ended.stdout).iter().map(|line| settled(line, &home)).collect();
    expect![[r#"
        {"type":"system","subtype":"init","apiKeySource":"login","cwd":"/ws","session_id":"<session>","model":"Scripted","permissionMode":"default"}
        {"type":"user","message":{"role":"user","content":[{"type":"text","text":"go on"}]},"session_id":"<session>"}
        {"type":"result","subtype":"error","duration_ms":1,"duration_api_ms":1,"is_error":true,"result":"Error: bad request","session_id":"<session>","request_id":"<request>","usage":{"inputTokens":0,"outputTokens":0,"cacheReadTokens":0,"cacheWriteTokens":0}}
    "#]].assert_eq(&(shown.join("\n") + "\n"));
    expect![[r#"
        Error: bad request
    "#]]
    .assert_eq(&ended.stderr);
}
