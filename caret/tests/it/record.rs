//! `--record` and `--replay`: the same run again, without its model.

use crate::program::{Ended, Home, bad, good, mode};
use expect_test::expect;
use serde_json::{Value, json};

fn script(home: &Home) -> String {
    home.script(&json!([
        [{ "error": { "status": 429, "retry_after_ms": 1 } }, { "thinking": "hm" }, { "text": "Looking.", "chunk": 3 },
         { "call": "Read", "id": "a", "input": { "path": "{{cwd}}/notes.txt" } },
         { "call": "LS", "id": "b", "input": { "path": "." } }],
        [{ "text": "It says {{result.a}}" }, { "usage": { "input": 10, "output": 3 } }],
    ]))
}

/// A stream without what differs from run to run.
fn lines(ended: Ended, folder: &str) -> Vec<Value> {
    let text = good(ended).replace(folder, "FOLDER");
    let mut lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &mut lines {
        without_change(line);
    }
    // Calls that run together end in any order.
    lines.sort_by_key(|line| (line["subtype"] == "completed").then(|| line["call_id"].to_string()));
    lines
}

fn without_change(value: &mut Value) {
    if let Value::Object(fields) = value {
        let changing =
            ["session_id", "request_id", "timestamp_ms", "duration_ms", "duration_api_ms", "startedAtMs"];
        fields.retain(|name, _| {
            !changing.contains(&name.as_str()) && name != "completedAtMs" && name != "model_call_id"
        });
        fields.values_mut().for_each(without_change);
    }
}

#[test]
fn what_was_recorded_is_replayed_without_the_model_also_elsewhere() {
    let home = Home::new();
    for folder in ["work", "other/place"] {
        home.write(&format!("{folder}/notes.txt"), "remember the milk\n");
    }
    let format =
        ["--output-format", "stream-json", "--stream-partial-output", "--force", "-p", "what is there?"];
    let run = |words: &[&str]| home.run_raw(&[words, &format].concat());
    let model = script(&home);
    let cassette = home.path("run.jsonl").to_str().unwrap().to_owned();
    let work = home.path("work").to_str().unwrap().to_owned();
    let recorded = lines(run(&["--model", &model, "--record", &cassette]), &work);
    assert_eq!(mode(&home.path("run.jsonl")), 0o600);
    let exchanges = home.read("run.jsonl");
    assert_eq!(exchanges.lines().count(), 3, "a failure is an exchange too: {exchanges}");
    assert!(!exchanges.contains(&work), "{exchanges}");
    assert_eq!(lines(run(&["--replay", &cassette]), &work), recorded);
    let elsewhere = home.path("other/place").to_str().unwrap().to_owned();
    let replayed = run(&["--replay", &cassette, "--workspace", &elsewhere]);
    assert_eq!(lines(replayed, &elsewhere), recorded);
}

#[test]
fn the_offline_model_can_be_recorded_too() {
    let home = Home::new();
    home.write("work/notes.txt", "remember the milk\n");
    let words = ["-p", "--quiet", "--force", "read notes.txt"];
    let run = |more: [&str; 2]| home.run(&[&more[..], &words[..]].concat());
    let first = run(["--record", "run.jsonl"]);
    assert_eq!(first.code, 0, "{first:?}");
    assert_eq!(run(["--replay", "run.jsonl"]), first);
}

#[test]
fn a_request_that_was_not_recorded_fails_with_a_difference() {
    let home = Home::new();
    let model = home.script(&json!([[{ "text": "hello" }]]));
    good(home.run(&["-p", "--force", "--model", &model, "--record", "run.jsonl", "say hello"]));
    let said = home.run(&["-p", "--force", "--replay", "run.jsonl", "say goodbye"]);
    assert_eq!((said.code, said.stdout.as_str()), (1, ""));
    expect![[r#"
        Error: replay_miss: this request is not in ~/work/run.jsonl; the nearest is exchange 1 (- recorded, + asked now); record again if the change is meant
        @@ -26,3 +26,3 @@
         Write
         # user
        -say hello
        +say goodbye
    "#]].assert_eq(&said.stderr);
}

#[test]
fn what_cannot_be_recorded_or_replayed_is_told_before_the_run() {
    let home = Home::new();
    home.write("work/full.jsonl", "something\n");
    let run = |words: &[&str]| bad(home.run(&[&["-p", "--force", "hi"], words].concat()));
    let said = [
        run(&["--record", "a", "--replay", "b"]),
        run(&["--record", "full.jsonl"]),
        run(&["--record", "none/a.jsonl"]),
        run(&["--replay", "none.jsonl"]),
        run(&["--replay", "full.jsonl"]),
    ];
    expect![[r#"
        error: option '--record' cannot be used with option '--replay'
        error: ~/work/full.jsonl is there already and not empty: remove it, or choose another name; --record never overwrites
        error: the cassette ~/work/none/a.jsonl cannot be written: No such file or directory (os error 2)
        error: the cassette ~/work/none.jsonl cannot be read: No such file or directory (os error 2)
        error: ~/work/full.jsonl:1: this is no line of a cassette: expected value at line 1 column 1
    "#]].assert_eq(&said.concat());
    assert_eq!(home.read("work/full.jsonl"), "something\n");
}
