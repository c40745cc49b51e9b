//! Scripts over the four wires.

use super::*;
use crate::model::http::mock::{Mock, MockSettings, serve};
use crate::model::scripted::{Scripted, SourceName};
use expect_test::{Expect, expect};
use std::num::NonZeroUsize;

const EVERYTHING: &str = r#"
version = 1
model = "demo"
[[turn]]
emit = [
  { thinking = "Look first.", signature = "sig1" },
  { text = "Reading.", chunk = 5 },
  { call = "read", id = "c1", input = { path = "a" }, chunk = 6 },
  { call = "shell", id = "c2", malformed = "{\"x\":" },
  { usage = { input = 100, output = 30, cached = 800 } },
]
"#;

/// A script that is being served.
struct Served {
    mock: Arc<Mock>,
    base: String,
    _tasks: JoinSet<()>,
}

async fn served(script: &str, api: Api, split: usize) -> Served {
    let script = Scripted::from_text(script, SourceName::new("demo")).unwrap();
    let settings = MockSettings { split: NonZeroUsize::new(split), remember: 100, ..MockSettings::new(api) };
    let mock = Arc::new(Mock::new(script, settings));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let mut tasks = JoinSet::new();
    let serving = Arc::clone(&mock);
    tasks.spawn(async move { serve(listener, serving).await.map(drop).unwrap() });
    Served { mock, base, _tasks: tasks }
}

fn model(served: &Served, api: Api) -> HttpModel {
    let endpoint = Endpoint::new(api, Some(&served.base));
    HttpModel { family: Arc::new(Words(api)), endpoint, ..model_at(&served.base) }
}

/// The whole answer to raw bytes.
async fn answer_to(served: &Served, request: &str) -> String {
    let mut connection = TcpStream::connect(served.base.trim_start_matches("http://")).await.unwrap();
    connection.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).await.unwrap();
    answer
}

fn post(path: &str, body: &Value) -> String {
    let body = body.to_string();
    format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

/// What a script looks like on a wire, without the lengths of chunks.
async fn on_the_wire(api: Api, path: &str, expected: Expect) {
    let served = served(EVERYTHING, api, 0).await;
    let answer = answer_to(&served, &post(path, &json!({"stream": true}))).await;
    let (_, body) = answer.split_once("\r\n\r\n").unwrap();
    let is_length = |line: &&str| line.bytes().all(|byte| byte.is_ascii_hexdigit());
    let lines: Vec<&str> = body.lines().filter(|line| !is_length(line)).collect();
    expected.assert_eq(&lines.join("\n"));
}

#[tokio::test]
async fn chat_completions_on_the_wire() {
    on_the_wire(Api::Chat, "/v1/chat/completions", expect![[r#""#]]).await;
}

#[tokio::test]
async fn responses_on_the_wire() {
    on_the_wire(Api::Responses, "/v1/responses", expect![[r#""#]]).await;
}

#[tokio::test]
async fn messages_on_the_wire() {
    on_the_wire(Api::Messages, "/v1/messages", expect![[r#""#]]).await;
}

#[tokio::test]
async fn gemini_on_the_wire() {
    let path = "/v1beta/models/demo:streamGenerateContent?alt=sse";
    on_the_wire(Api::Gemini, path, expect![[r#""#]]).await;
}

#[tokio::test]
async fn a_script_says_the_same_over_a_wire_in_any_split() {
    let script = "version = 1\n[[turn]]\nemit = [ { text = \"Grüße, {{user}}\", chunk = 3 } ]\nrepeat = 9\n";
    for split in [0, 1, 2, 7, 1000] {
        let served = served(script, Api::Chat, split).await;
        let said = ask(&model(&served, Api::Chat)).await;
        assert_eq!(said, r#""Grü" · "ße," · " he" · "llo" · done "Grüße, hello""#, "split {split}");
    }
}

#[tokio::test]
async fn a_busy_script_says_when_to_come_back_in_each_format() {
    let script = "version = 1\n[[turn]]\nemit = [ { error = { status = 429, retry_after_ms = 200, message = \"slow \
        down\" }, times = 2 }, { text = \"after two tries\" } ]\n";
    let mut said = Vec::new();
    for api in Api::ALL {
        let served = served(script, api, 0).await;
        said.push(ask(&model(&served, api)).await);
    }
    let chat = served(script, Api::Chat, 0).await;
    let chat = model(&chat, Api::Chat);
    let tries = [ask(&chat).await, ask(&chat).await, ask(&chat).await];
    assert_eq!(tries[2], r#""after two tries" · done "after two tries""#);
    expect![[r#""#]].assert_eq(&said.join("\n"));
}

#[tokio::test]
async fn a_scripts_faults_happen_on_the_wire() {
    let script = r#"
version = 1
[[turn]]
emit = [ { text = "half a sen" }, { cut = true } ]
[[turn]]
emit = [ { cut = true } ]
[[turn]]
emit = [ { text = "a" }, { malformed = "{\"x\":" } ]
[[turn]]
emit = [ { text = "a" }, { error = { status = 529, message = "overloaded" } } ]
[[turn]]
emit = [ { raw = "<html>\n" }, { raw = "<b>no events</b>\n" }, { cut = true } ]
[[turn]]
emit = [ { raw = ": comment\n\n" }, { text = "fine" } ]
[[turn]]
expect = { user = "something else" }
emit = [ { text = "never" } ]
"#;
    let served = served(script, Api::Chat, 0).await;
    let model = model(&served, Api::Chat);
    let mut said = Vec::new();
    for _ in 0..8 {
        said.push(ask(&model).await);
    }
    expect![[r#""#]].assert_eq(&said.join("\n"));
}

#[tokio::test]
async fn results_and_prompts_are_heard_in_every_format() {
    let script = "version = 1\n[[turn]]\nwhen = { user = \"go\" }\nemit = [ { call = \"read\", id = \"c1\" } ]\n\
        [[turn]]\nexpect = { last_result = \"xyz\" }\nemit = [ { text = \"got {{result.c1}} for {{user}}\" } ]\n";
    let bodies = [
        (
            Api::Chat,
            "/v1/chat/completions",
            json!({"stream": true, "tools": [{"type": "function", "function": {"name": "Read"}}],
                "messages": [{"role": "user", "content": [{"type": "text", "text": "go"}]}]}),
            json!({"stream": true, "messages": [{"role": "user", "content": "go"}, {"role": "assistant"},
                {"role": "tool", "tool_call_id": "c1", "content": "xyz"}]}),
        ),
        (
            Api::Responses,
            "/v1/responses",
            json!({"stream": true, "tools": [{"type": "function", "name": "Read"}], "input": "go"}),
            json!({"stream": true, "input": [{"role": "user", "content": [{"type": "input_text", "text": "go"}]},
                {"type": "function_call", "call_id": "c1"},
                {"type": "function_call_output", "call_id": "c1", "output": "xyz"}]}),
        ),
        (
            Api::Messages,
            "/v1/messages",
            json!({"stream": true, "tools": [{"name": "Read"}], "messages": [{"role": "user", "content": "go"}]}),
            json!({"stream": true, "messages": [{"role": "user", "content": "go"}, {"role": "assistant"},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1",
                    "content": [{"type": "text", "text": "xyz"}]}]}]}),
        ),
        (
            Api::Gemini,
            "/v1beta/models/m:streamGenerateContent?alt=sse",
            json!({"tools": [{"functionDeclarations": [{"name": "Read"}]}],
                "contents": [{"role": "user", "parts": [{"text": "go"}]}]}),
            json!({"contents": [{"role": "user", "parts": [{"text": "go"}]}, {"role": "model", "parts": []},
                {"role": "user", "parts": [{"functionResponse": {"id": "c1", "name": "Read",
                    "response": {"output": "xyz"}}}]}]}),
        ),
    ];
    for (api, path, first, second) in bodies {
        let served = served(script, api, 0).await;
        let call = answer_to(&served, &post(path, &first)).await;
        assert!(call.contains("\"Read\"") && call.contains("\"c1\""), "{}: {call}", api.name());
        let text = answer_to(&served, &post(path, &second)).await;
        assert!(text.contains("got xyz for go"), "{}: {text}", api.name());
        let bodies: Vec<Value> = served
            .mock
            .requests()
            .iter()
            .map(|request| serde_json::from_slice(&request.body).unwrap())
            .collect();
        assert_eq!(bodies, [first, second]);
    }
}

#[tokio::test]
async fn requests_that_make_no_sense_are_answered_with_a_reason() {
    let served = served(EVERYTHING, Api::Chat, 0).await;
    let requests = [
        post("/v1/responses", &json!({})),
        post("/v1/chat/completions", &json!({"stream": false})),
        "POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 3\r\n\r\n{x}".into(),
        "POST /v1/chat/completions HTTP/1.1\r\ncontent-length: x\r\n\r\n".into(),
        "POST /v1/chat/completions HTTP/1.1\r\ncontent-length: 99999999999\r\n\r\n".into(),
        "nonsense\r\n\r\n".into(),
        "GET /v1/models HTTP/1.1\r\n\r\n".into(),
    ];
    let mut said = Vec::new();
    for request in requests {
        let answer = answer_to(&served, &request).await;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        said.push(format!("{} {body}", head.lines().next().unwrap()));
    }
    expect![[r#""#]].assert_eq(&said.join("\n"));
}

#[tokio::test]
async fn bodies_in_chunks_and_waiting_clients_are_served() {
    let served =
        served("version = 1\n[[turn]]\nemit = [ { text = \"{{user}}\" } ]\nrepeat = 2\n", Api::Responses, 0)
            .await;
    let chunked = "POST /v1/responses HTTP/1.1\r\nexpect: 100-continue\r\ntransfer-encoding: chunked\r\n\r\n\
        10\r\n{\"stream\": true,\r\nf;x=y\r\n\"input\": \"hi!\"}\r\n0\r\n\r\n";
    let answer = answer_to(&served, chunked).await;
    assert!(answer.starts_with("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains("\"delta\":\"hi!\""), "{answer}");
}

#[tokio::test]
async fn a_script_is_served_to_this_machine_only() {
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let script = Scripted::from_text(EVERYTHING, SourceName::new("demo")).unwrap();
    let mock = Arc::new(Mock::new(script, MockSettings::new(Api::Chat)));
    let refused = serve(listener, mock).await.unwrap_err().to_string();
    assert!(refused.ends_with("is not on loopback; a script is only served to this machine"), "{refused}");
}
