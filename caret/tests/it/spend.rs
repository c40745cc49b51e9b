//! What runs cost: in the result, in exports, summed up, and as a limit.

use crate::program::{Home, bad, good};
use crate::running::parsed;
use expect_test::expect;
use serde_json::{Value, json};

/// A script of one reply whose price is 3 and 15 dollars for a million tokens.
fn priced(home: &Home) -> String {
    let usage = json!({ "usage": { "input": 100_000, "output": 20_000 } });
    home.script_file(&json!({
        "version": 1, "model": "Priced", "price": { "input": 3.0, "output": 15.0 },
        "turn": [{ "emit": [{ "text": "done" }, usage] }],
    }))
}

fn result(home: &Home, words: &[&str]) -> Value {
    let common = ["-p", "--force", "--output-format", "json"];
    parsed(good(home.run(&[&common[..], words].concat())).trim_end())
}

#[test]
fn a_cost_is_told_when_the_price_is_known_and_only_then() {
    let home = Home::new();
    let model = priced(&home);
    let known = result(&home, &["--model", &model, "go"]);
    assert_eq!(known["costUsd"], json!(0.6));
    let unknown = result(&home, &["hello"]);
    assert_eq!(unknown.get("costUsd"), None);
    let id = known["session_id"].as_str().unwrap();
    let exported = good(home.run(&["export", id]));
    let end: Value = serde_json::from_str(exported.lines().last().unwrap()).unwrap();
    assert_eq!(end["event"]["end"]["cost_usd"], json!(0.6));
    let markdown = good(home.run(&["export", id, "--format", "markdown"]));
    assert!(markdown.contains("\n- cost: $0.6000\n"), "{markdown}");
}

#[test]
fn chats_are_summed_up_and_what_is_unknown_is_called_so() {
    let home = Home::new();
    home.write("elsewhere/x", "");
    expect![[r#"
        chats         0
        turns         0
        input         0
        output        0
        cache read    0
        cache write   0
        cost          none
    "#]]
    .assert_eq(&good(home.run(&["stats"])));
    let model = priced(&home);
    let first = result(&home, &["--model", &model, "go"]);
    let id = first["session_id"].as_str().unwrap();
    result(&home, &["--model", &model, "--resume", id, "again"]);
    expect![[r#"
        chats         1
        turns         2
        input         200000
        output        40000
        cache read    0
        cache write   0
        cost          $1.2000
    "#]]
    .assert_eq(&good(home.run(&["stats"])));
    let elsewhere = home.path("elsewhere").to_str().unwrap().to_owned();
    let other = home.script(&json!([[{ "text": "x" }, { "usage": { "input": 5, "output": 1 } }]]));
    let other = result(&home, &["--workspace", &elsewhere, "--model", &other, "go"]);
    expect![[r#"
        {"chats":2,"turns":3,"usage":{"inputTokens":200005,"outputTokens":40001,"cacheReadTokens":0,"cacheWriteTokens":0},"costUsd":1.2,"turnsOfUnknownCost":1}
    "#]].assert_eq(&good(home.run(&["stats", "--all", "--format", "json"])));
    expect![[r#"
        chats         2
        turns         3
        input         200005
        output        40001
        cache read    0
        cache write   0
        cost          $1.2000, and 1 turn of unknown cost
    "#]]
    .assert_eq(&good(home.run(&["stats", "--all"])));
    expect![[r#"
        chats         1
        turns         1
        input         5
        output        1
        cache read    0
        cache write   0
        cost          unknown
    "#]]
    .assert_eq(&good(home.run(&["stats", other["session_id"].as_str().unwrap()])));
    expect![[r#"
        error: there is no chat 'nothing': `ls --all` lists all chats
    "#]]
    .assert_eq(&bad(home.run(&["stats", "nothing"])));
}

#[test]
fn money_is_a_limit_where_the_price_is_known() {
    let home = Home::new();
    let call = json!([{ "call": "LS", "input": { "path": "." } }, { "usage": { "output": 1_000_000 } }]);
    let script = |price: Value| {
        let mut script =
            json!({ "version": 1, "turn": [{ "emit": call }, { "emit": [{ "text": "done" }] }] });
        if !price.is_null() {
            script["price"] = price;
        }
        home.script_file(&script)
    };
    let run = |model: &str, most: &str| {
        let words = ["-p", "--force", "--exit-codes", "detailed", "--max-cost", most, "--model", model, "go"];
        let ended = home.run(&words);
        (ended.code, ended.stdout, ended.stderr.lines().last().unwrap_or_default().to_owned())
    };
    let dear = script(json!({ "input": 1.0, "output": 0.25 }));
    assert_eq!(
        run(&dear, "0.25"),
        (10, String::new(), "Error: reached the cost limit: $0.2500 spent (--max-cost)".into())
    );
    assert_eq!(run(&dear, "0.26").0, 0);
    let (code, _, said) = run("offline", "1");
    assert_eq!(
        (code, said.as_str()),
        (
            64,
            "error: --max-cost cannot be kept: the price of `offline` is not known; choose a model with a known price, \
             or use --max-tokens"
        )
    );
    let wrong = script(json!({ "input": -1.0, "output": 1.0 }));
    let (code, _, said) = run(&wrong, "1");
    assert_eq!(code, 64);
    assert!(said.contains("a price is a number of US dollars from 0"), "{said}");
}

#[test]
fn a_small_model_is_told_little() {
    let home = Home::new();
    let expecting = |tool: &str, window: Option<u64>| {
        let mut script =
            json!({ "version": 1, "turn": [{ "expect": { "tools": [tool] }, "emit": [{ "text": "ok" }] }] });
        if let Some(window) = window {
            script["context_window"] = json!(window);
        }
        home.script_file(&script)
    };
    let run = |model: &str, words: &[&str]| {
        home.run(&[&["-p", "--force", "--model", model, "go"], words].concat()).code
    };
    assert_eq!(run(&expecting("Grep", Some(8192)), &[]), 0);
    assert_eq!(run(&expecting("ApplyPatch", Some(8192)), &[]), 1);
    assert_eq!(run(&expecting("ApplyPatch", Some(8192)), &["--profile", "full"]), 0);
    assert_eq!(run(&expecting("ApplyPatch", None), &[]), 0);
    assert_eq!(run(&expecting("ApplyPatch", None), &["--profile", "tiny"]), 1);
    assert_eq!(
        bad(home.run(&["-p", "--profile", "huge", "go"])),
        "error: option '--profile <profile>' argument 'huge' is invalid. Allowed choices are auto, full, tiny.\n"
    );
}
