//! Scripts played through the model trait, and scripts that are refused.

use super::{Scripted, SourceName, check};
use crate::model::{Chunk, Model as _, ModelError, Past, Request};
use crate::tools::ToolSpec;
use caret_protocol::content::{Block, Content, Reply};
use caret_protocol::event::Mode;
use caret_protocol::ids::{CallId, SessionId, TurnId};
use caret_protocol::transcript::Message;
use expect_test::{Expect, expect};
use futures_util::StreamExt as _;
use serde_json::json;
use std::path::Path;
use std::time::Duration;

struct NoPast;

impl Past for NoPast {
    fn messages(&self) -> Result<&[Message], ModelError> {
        Ok(&[])
    }

    fn bytes(&self) -> u64 {
        0
    }
}

fn user(text: &str) -> Message {
    Message::User { content: vec![Content::text(text)], turn: TurnId::new("t") }
}

fn result(id: &str, text: &str) -> Message {
    Message::Tool { call: CallId::new(id), name: "Read".into(), text: text.into(), is_error: false }
}

/// One request to the script, as one line.
async fn ask(model: &Scripted, messages: &[Message]) -> String {
    let tool = |name| ToolSpec { name, description: "", input: json!({}), read_only: true };
    let (session, turn) = (SessionId::new("s"), TurnId::new("t"));
    let request = Request {
        session: &session,
        turn: &turn,
        turn_number: 0,
        step: 0,
        cwd: Path::new("/ws"),
        mode: Mode::Agent,
        system: "",
        tools: &[tool("Read"), tool("Shell"), tool("StrReplace")],
        past: &NoPast,
        messages,
    };
    let chunks: Vec<_> = model.stream(request).collect().await;
    let shown: Vec<String> = chunks.into_iter().map(show).collect();
    shown.join(" · ")
}

fn show(chunk: Result<Chunk, ModelError>) -> String {
    match chunk {
        Ok(Chunk::Delta(kind, text)) => format!("{kind:?} {text:?}"),
        Ok(Chunk::Done(Reply { blocks, stop, usage, .. })) => {
            let calls = blocks.iter().filter_map(|block| match block {
                Block::Call { call } => {
                    let malformed = call.malformed.as_ref().map(|raw| format!(" malformed {raw}"));
                    Some(format!(" {}={}{}{}", call.id, call.name, call.input, malformed.unwrap_or_default()))
                }
                Block::Thinking { signature: Some(signature), .. } => Some(format!(" signed {signature}")),
                _ => None,
            });
            format!(
                "{stop:?} {}/{}/{}{}",
                usage.input,
                usage.output,
                usage.cache_read,
                calls.collect::<String>()
            )
        }
        Err(error) => format!("{error:?}"),
    }
}

fn scripted(text: &str) -> Scripted {
    Scripted::from_text(text, SourceName::new("demo")).unwrap()
}

#[tokio::test(start_paused = true)]
async fn everything_that_a_turn_can_emit_is_played() {
    let model = scripted(
        r#"
version = 1
model = "demo"

[[turn]]
expect = { tools = ["read"], user = "/^fix/" }
emit = [
  { thinking = "Look first.", signature = "sig1" },
  { text = "Reading.", chunk = 4 },
  { call = "read", id = "c1", input = { path = "{{cwd}}/a.rs", n = 3 }, chunk = 7 },
  { call = "str_replace", input = { old = ["{{user}}"] } },
  { call = "Unheard_Of", malformed = "{\"x\":" },
  { delay_ms = 50 },
  { hang_ms = 400000 },
  { raw = "for the wire" },
  { usage = { input = 900, output = 30, cached = 800 } },
]

[[turn]]
expect = { last_result = "fn main" }
stop = "max_tokens"
emit = [ { deltas = ["Was ", "{{result.c1 | first_line | trim}}, {{ result.c1 | lines }} lines."] } ]

[[turn]]
emit = [ { text_repeat = { text = "w ", times = 3 } } ]
"#,
    );
    assert_eq!((model.id(), model.name()), ("script:demo", "demo"));
    let mut messages = vec![user("fix it")];
    let first = ask(&model, &messages).await;
    messages.push(result("c1", "  fn main() {\n}"));
    let second = ask(&model, &messages).await;
    let third = ask(&model, &messages).await;
    let fourth = ask(&model, &messages).await;
    expect![[r#"
        Thinking "Look first." · Text "Read" · Text "ing." · ToolCalls 900/30/800 signed sig1 c1=Read{"n":3,"path":"/ws/a.rs"} call_1_2=StrReplace{"old":["fix it"]} call_1_3=Unheard_Of{} malformed {"x":
        Text "Was " · Text "fn main() {, 2 lines." · MaxTokens 0/0/0
        Text "w " · Text "w " · Text "w " · EndTurn 0/0/0
        Refused("script_mismatch: the script is at its end after 3 turns; add turns or set `at_end`")
    "#]].assert_eq(&format!("{first}\n{second}\n{third}\n{fourth}\n"));
}

async fn play(text: &str, prompts: &[&str], expected: Expect) {
    let model = scripted(text);
    let mut lines = String::new();
    for prompt in prompts {
        lines += &format!("{prompt} -> {}\n", ask(&model, &[user(prompt)]).await);
    }
    expected.assert_eq(&lines);
}

#[tokio::test]
async fn faults_come_as_often_as_they_should() {
    play(
        r#"
version = 1
[[turn]]
emit = [ { error = { status = 429, retry_after_ms = 200, message = "slow down" }, times = 2 }, { text = "after two" } ]
[[turn]]
emit = [ { text = "half a sen" }, { cut = true } ]
[[turn]]
emit = [ { malformed = "{\"x\":" }, { error = { status = 500 } }, { text = "third" } ]
[[turn]]
emit = [ { error = { status = 401, message = "who" }, times = 2 } ]
[[turn]]
emit = [ { error = { status = 400 } } ]
[[turn]]
emit = [ { text = "end" } ]
"#,
        &["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11"],
        expect![[r#"
            1 -> Busy { retry_after: Some(200ms), message: "slow down" }
            2 -> Busy { retry_after: Some(200ms), message: "slow down" }
            3 -> Text "after two" · EndTurn 0/0/0
            4 -> Text "half a sen" · Broken("the script cuts it here")
            5 -> Broken("it sent no JSON: `{\"x\":`")
            6 -> Broken("status 500")
            7 -> Text "third" · EndTurn 0/0/0
            8 -> Unauthorized("who")
            9 -> Unauthorized("who")
            10 -> Refused("status 400")
            11 -> Text "end" · EndTurn 0/0/0
        "#]],
    )
    .await;
}

#[tokio::test]
async fn turns_are_chosen_by_when_and_else_in_order() {
    let turns = r#"
[[turn]]
emit = [ { text = "first" } ]
[[turn]]
when = { user = "/fix|mend/" }
emit = [ { text = "fixing" } ]
[[turn]]
emit = [ { text = "third" } ]
[[turn]]
when = { user = "bye" }
emit = [ { text = "bye" } ]
"#;
    play(
        &format!("version = 1\n{turns}"),
        &["a", "b", "c"],
        expect![[r#"
        a -> Text "first" · EndTurn 0/0/0
        b -> Text "third" · EndTurn 0/0/0
        c -> Refused("script_mismatch: the script is at its end after 4 turns; add turns or set `at_end`")
    "#]],
    )
    .await;
    play(
        &format!("version = 1\n{turns}"),
        &["mend it", "b", "bye", "d"],
        expect![[r#"
        mend it -> Text "fixing" · EndTurn 0/0/0
        b -> Text "third" · EndTurn 0/0/0
        bye -> Text "bye" · EndTurn 0/0/0
        d -> Refused("script_mismatch: the script is at its end after 4 turns; add turns or set `at_end`")
    "#]],
    )
    .await;
    play(
        &format!("version = 1\nat_end = 'repeat'\n{turns}"),
        &["bye", "bye", "fix", "x", "y", "z"],
        expect![[r#"
            bye -> Text "bye" · EndTurn 0/0/0
            bye -> Text "bye" · EndTurn 0/0/0
            fix -> Text "fixing" · EndTurn 0/0/0
            x -> Text "third" · EndTurn 0/0/0
            y -> Text "first" · EndTurn 0/0/0
            z -> Text "third" · EndTurn 0/0/0
        "#]],
    )
    .await;
    play(
        &format!("version = 1\nat_end = 'offline'\n{turns}"),
        &["bye", "what is 2+2?"],
        expect![[r#"
        bye -> Text "bye" · EndTurn 0/0/0
        what is 2+2? -> Text "2 + 2 = 4" · EndTurn 9/3/0
    "#]],
    )
    .await;
}

#[tokio::test]
async fn a_repeated_turn_counts_and_numbers_its_calls() {
    let text = r#"{"version": 1, "at_end": "repeat", "turn": [
        {"repeat": 2, "emit": [{"text": "go {{n}}"}, {"call": "bash", "id": "c", "input": {"command": "echo {{n}}"}}]}
    ]}"#;
    play(
        text,
        &["a", "b", "c"],
        expect![[r#"
        a -> Text "go 1" · ToolCalls 0/0/0 c_1=Shell{"command":"echo 1"}
        b -> Text "go 2" · ToolCalls 0/0/0 c_2=Shell{"command":"echo 2"}
        c -> Text "go 1" · ToolCalls 0/0/0 c_1_lap2=Shell{"command":"echo 1"}
    "#]],
    )
    .await;
    let model = scripted(
        "version = 1\n[[turn]]\nrepeat = 2\nemit = [{ call = 'read', id = 'c' }]\n[[turn]]\nemit = [{ text = '{{result.c}}' }]",
    );
    let messages = [user("x"), result("c_1", "one"), result("c_2", "two"), result("cd_9", "no")];
    ask(&model, &messages).await;
    ask(&model, &messages).await;
    assert_eq!(ask(&model, &messages).await, "Text \"two\" · EndTurn 0/0/0");
}

#[tokio::test]
async fn an_expectation_that_is_not_met_is_a_mismatch() {
    let turns = [
        "expect = { tools = ['WebFetch'] }",
        "expect = { last_result = 'x' }",
        "expect = { user = '/^no/' }",
    ];
    let mut lines = String::new();
    for turn in turns {
        let model = scripted(&format!("version = 1\n[[turn]]\n{turn}\nemit = [{{ text = 'hi' }}]"));
        lines += &format!("{}\n", ask(&model, &[user("yes")]).await);
    }
    expect![[r#"
        Refused("script_mismatch: turn 1 expects the tool `WebFetch`, which is not offered")
        Refused("script_mismatch: turn 1 expects `x` in the last result, and there is none")
        Refused("script_mismatch: turn 1 expects /^no/ from the user, who said `yes`")
    "#]]
    .assert_eq(&lines);
}

/// Whole scripts with one thing wrong.
const WRONG: &[(&str, &str)] = &[
    ("a.toml", "version = 1\nturn = [\n"),
    ("a.toml", "version = 2\n[[turn]]\nemit = []\n"),
    ("a.toml", "version = 1\n"),
    ("a.toml", "model = 'x'\n[[turn]]\nemit = []\n"),
    ("a.toml", "version = 1\nat_end = 'stop'\n[[turn]]\nemit = []\n"),
    ("a.toml", "version = 1\n[[turn]]\nemit = []\nwhn = 'x'\n"),
    ("a.toml", "version = 1\n[[turn]]\nemit = []\nwhen = { user = '/(/' }\n"),
    ("a.toml", "version = 1\n[[turn]]\nemit = []\nrepeat = 0\n"),
    ("a.toml", "version = 1\n[[turn]]\nemit = []\nstop = 'never'\n"),
    ("a.json", "{\"version\": 1,\n\"turn\": [\n{\"emit\": [{\"text\": 3}]}]}"),
    ("a.json", "{\"version\": 1,\n\"turn\": [\n{\"emit\": [{\"nothing\": 3}]}]}"),
    ("a.json", "{\"version\": 1,"),
];

/// Entries with one thing wrong.
const WRONG_ENTRIES: &[&str] = &[
    "{ tekst = 'x' }",
    "{ }",
    "{ text = 'x', call = 'y' }",
    "{ text = 'x', id = 'y' }",
    "{ text = 'x', chunk = 0 }",
    "{ text = '{{usr}}' }",
    "{ text = '{{user | upper}}' }",
    "{ text = '{{user' }",
    "{ text = '{{result.c9}}' }",
    "{ call = 'read', input = { path = '{{x}}' } }",
    "{ call = 'read', input = 3 }",
    "{ call = '' }",
    "{ error = { status = 200 } }",
    "{ text_repeat = { text = 'x', times = 4000000000 } }",
];

#[test]
fn what_is_wrong_with_a_script_is_said_with_its_line() {
    let entry = |entry: &&str| {
        let text = format!("version = 1\n\n[[turn]]\nemit = [\n  {{ text = 'ok' }},\n  {entry},\n]\n");
        ("a.toml", text)
    };
    let wrong = WRONG.iter().map(|(name, text)| (*name, (*text).to_owned()));
    let scripts: Vec<(&str, String)> = wrong.chain(WRONG_ENTRIES.iter().map(entry)).collect();
    let lines: String = scripts
        .iter()
        .map(|(name, text)| match check(text, &SourceName::new(*name)) {
            Ok(outline) => format!("{outline:?}\n"),
            Err(error) => format!("{error}\n"),
        })
        .collect();
    expect![[r#"
        a.toml:2: unclosed array, expected `]`
        a.toml:1: script version 2 is not known; write `version = 1`
        a.toml: there are no turns; write at least one `[[turn]]`
        a.toml:1: missing field `version`
        a.toml:2: unknown variant `stop`, expected one of `error`, `repeat`, `offline`
        a.toml:4: unknown field `whn`, expected one of `when`, `expect`, `emit`, `stop`, `repeat`
        a.toml:4: `/(/` is no regular expression: unclosed group
        a.toml:4: 0 times is never; write 1 or more, or leave it out
        a.toml:4: stop `never` is not known; write `end_turn`, `tool_calls`, `max_tokens` or `refusal`
        a.json:3: invalid type: integer `3`, expected a string
        a.json:3: unknown field `nothing`, expected one of `thinking`, `signature`, `text`, `deltas`, `text_repeat`, `chunk`, `call`, `id`, `input`, `malformed`, `delay_ms`, `hang_ms`, `usage`, `error`, `times`, `cut`, `raw`
        a.json:1: EOF while parsing a value
        a.toml:6: unknown field `tekst`, expected one of `thinking`, `signature`, `text`, `deltas`, `text_repeat`, `chunk`, `call`, `id`, `input`, `malformed`, `delay_ms`, `hang_ms`, `usage`, `error`, `times`, `cut`, `raw`
        a.toml:6: an entry needs one of `text`, `deltas`, `text_repeat`, `thinking`, `call`, `delay_ms`, `usage`, `error`, `cut`, `malformed`, `hang_ms` or `raw`
        a.toml:6: one entry cannot be text and call at once
        a.toml:6: `id` does not go with `text`
        a.toml:6: `chunk` and `times` are at least 1
        a.toml:6: placeholder `usr` is not known; write `user`, `cwd`, `n` or `result.ID`
        a.toml:6: filter `upper` is not known; write `first_line`, `lines` or `trim`
        a.toml:6: `{{` is not closed with `}}`
        a.toml:6: no call has the id `c9` that `{{result.c9}}` names
        a.toml:6: placeholder `x` is not known; write `user`, `cwd`, `n` or `result.ID`
        a.toml:6: `input` must be a table
        a.toml:6: a call needs the name of a tool
        a.toml:6: status 200 is no error; write one from 400 to 599
        a.toml:6: `text_repeat` makes more than 64 MiB of text
    "#]].assert_eq(&lines);
}

#[test]
fn a_valid_script_has_an_outline() {
    let text = "version = 1\nmodel = 'm'\n[[turn]]\nrepeat = 3\nemit = [{ call = 'read' }, { call = 'shell' }, { call = 'read' }]";
    let outline = check(text, &SourceName::new("a.toml")).unwrap();
    expect![[r#"
        Outline {
            model: "m",
            replies: 3,
            tools: [
                "read",
                "shell",
            ],
            turns: [
                "call read, call shell, call read (3 times)",
            ],
        }
    "#]]
    .assert_debug_eq(&outline);
}

#[tokio::test(start_paused = true)]
async fn waiting_takes_the_time_that_is_written() {
    let model =
        scripted("version = 1\n[[turn]]\nemit = [{ delay_ms = 50 }, { text = 'x' }, { hang_ms = 2000 }]");
    let start = tokio::time::Instant::now();
    ask(&model, &[user("x")]).await;
    assert_eq!(start.elapsed(), Duration::from_millis(2050));
}

proptest::proptest! {
    #[test]
    fn any_text_is_a_script_or_an_error(text in "(?s)(version = 1\n)?(\\[\\[turn\\]\\]\nemit = \\[)?.{0,80}(\\])?") {
        for name in ["a.toml", "a.json", "a"] {
            if let Err(error) = check(&text, &SourceName::new(name)) {
                assert!(error.to_string().starts_with(name), "{error}");
            }
        }
    }
}
