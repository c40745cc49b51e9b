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
    on_the_wire(Api::Chat, "/v1/chat/completions", expect![[r#"
        data: {"id":"chatcmpl-script","object":"chat.completion.chunk","created":0,"model":"script","choices":[{"index":0,"delta":{"role":"assistant","content":null},"finish_reason":null}]}
        data: {"id":"chatcmpl-script","object":"chat.completion.chunk","created":0,"model":"script","choices":[{"index":0,"delta":{"reasoning_content":"Look first."},"finish_reason":null}]}
        data: {"id":"chatcmpl-script","object":"chat.completion.chunk","created":0,"model":"script","choices":[{"index":0,"delta":{"content":"Readi"},"finish_reason":null}]}
        data: {"id":"chatcmpl-script","object":"chat.completion.chunk","created":0,"model":"script","choices":[{"index":0,"delta":{"content":"ng."},"finish_reason":null}]}
        data: {"id":"chatcmpl-script","object":"chat.completion.chunk","created":0,"model":"script","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"read","arguments":""}}]},"finish_reason":null}]}
        data: {"id":"chatcmpl-script","object":"chat.completion.chunk","created":0,"model":"script","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path"}}]},"finish_reason":null}]}
        data: {"id":"chatcmpl-script","object":"chat.completion.chunk","created":0,"model":"script","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\":\"a\"}"}}]},"finish_reason":null}]}
        data: {"id":"chatcmpl-script","object":"chat.completion.chunk","created":0,"model":"script","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"c2","type":"function","function":{"name":"shell","arguments":""}}]},"finish_reason":null}]}
        data: {"id":"chatcmpl-script","object":"chat.completion.chunk","created":0,"model":"script","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"{\"x\":"}}]},"finish_reason":null}]}
        data: {"id":"chatcmpl-script","object":"chat.completion.chunk","created":0,"model":"script","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
        data: {"id":"chatcmpl-script","object":"chat.completion.chunk","created":0,"model":"script","choices":[],"usage":{"prompt_tokens":900,"completion_tokens":30,"total_tokens":930,"prompt_tokens_details":{"cached_tokens":800,"cache_write_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}
        data: [DONE]"#]]).await;
}

#[tokio::test]
async fn responses_on_the_wire() {
    on_the_wire(Api::Responses, "/v1/responses", expect![[r#"
        event: response.created
        data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_script","object":"response","model":"script","status":"in_progress","error":null,"incomplete_details":null,"output":[]}}
        event: response.output_item.added
        data: {"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"type":"reasoning","id":"rs_0","summary":[]}}
        event: response.reasoning_summary_text.delta
        data: {"type":"response.reasoning_summary_text.delta","sequence_number":2,"item_id":"rs_0","output_index":0,"summary_index":0,"delta":"Look first."}
        event: response.output_item.done
        data: {"type":"response.output_item.done","sequence_number":3,"output_index":0,"item":{"type":"reasoning","id":"rs_0","summary":[{"type":"summary_text","text":"Look first."}],"encrypted_content":"sig1"}}
        event: response.output_item.added
        data: {"type":"response.output_item.added","sequence_number":4,"output_index":1,"item":{"type":"message","id":"msg_1","role":"assistant","status":"in_progress","content":[]}}
        event: response.content_part.added
        data: {"type":"response.content_part.added","sequence_number":5,"item_id":"msg_1","output_index":1,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}
        event: response.output_text.delta
        data: {"type":"response.output_text.delta","sequence_number":6,"item_id":"msg_1","output_index":1,"content_index":0,"delta":"Readi"}
        event: response.output_text.delta
        data: {"type":"response.output_text.delta","sequence_number":7,"item_id":"msg_1","output_index":1,"content_index":0,"delta":"ng."}
        event: response.output_text.done
        data: {"type":"response.output_text.done","sequence_number":8,"item_id":"msg_1","output_index":1,"content_index":0,"text":"Reading."}
        event: response.output_item.done
        data: {"type":"response.output_item.done","sequence_number":9,"output_index":1,"item":{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Reading.","annotations":[]}]}}
        event: response.output_item.added
        data: {"type":"response.output_item.added","sequence_number":10,"output_index":2,"item":{"type":"function_call","id":"fc_2","call_id":"c1","name":"read","arguments":"","status":"in_progress"}}
        event: response.function_call_arguments.delta
        data: {"type":"response.function_call_arguments.delta","sequence_number":11,"item_id":"fc_2","output_index":2,"delta":"{\"path"}
        event: response.function_call_arguments.delta
        data: {"type":"response.function_call_arguments.delta","sequence_number":12,"item_id":"fc_2","output_index":2,"delta":"\":\"a\"}"}
        event: response.function_call_arguments.done
        data: {"type":"response.function_call_arguments.done","sequence_number":13,"item_id":"fc_2","output_index":2,"arguments":"{\"path\":\"a\"}"}
        event: response.output_item.done
        data: {"type":"response.output_item.done","sequence_number":14,"output_index":2,"item":{"type":"function_call","id":"fc_2","call_id":"c1","name":"read","arguments":"{\"path\":\"a\"}","status":"completed"}}
        event: response.output_item.added
        data: {"type":"response.output_item.added","sequence_number":15,"output_index":3,"item":{"type":"function_call","id":"fc_3","call_id":"c2","name":"shell","arguments":"","status":"in_progress"}}
        event: response.function_call_arguments.delta
        data: {"type":"response.function_call_arguments.delta","sequence_number":16,"item_id":"fc_3","output_index":3,"delta":"{\"x\":"}
        event: response.function_call_arguments.done
        data: {"type":"response.function_call_arguments.done","sequence_number":17,"item_id":"fc_3","output_index":3,"arguments":"{\"x\":"}
        event: response.output_item.done
        data: {"type":"response.output_item.done","sequence_number":18,"output_index":3,"item":{"type":"function_call","id":"fc_3","call_id":"c2","name":"shell","arguments":"{\"x\":","status":"completed"}}
        event: response.completed
        data: {"type":"response.completed","sequence_number":19,"response":{"id":"resp_script","object":"response","model":"script","status":"completed","error":null,"incomplete_details":null,"output":[{"type":"reasoning","id":"rs_0","summary":[{"type":"summary_text","text":"Look first."}],"encrypted_content":"sig1"},{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Reading.","annotations":[]}]},{"type":"function_call","id":"fc_2","call_id":"c1","name":"read","arguments":"{\"path\":\"a\"}","status":"completed"},{"type":"function_call","id":"fc_3","call_id":"c2","name":"shell","arguments":"{\"x\":","status":"completed"}],"usage":{"input_tokens":900,"output_tokens":30,"input_tokens_details":{"cached_tokens":800,"cache_write_tokens":0},"output_tokens_details":{"reasoning_tokens":0},"total_tokens":930}}}"#]]).await;
}

#[tokio::test]
async fn messages_on_the_wire() {
    on_the_wire(Api::Messages, "/v1/messages", expect![[r#"
        event: message_start
        data: {"type":"message_start","message":{"id":"msg_script","type":"message","role":"assistant","model":"script","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":100,"cache_read_input_tokens":800,"cache_creation_input_tokens":0,"output_tokens":1}}}
        event: content_block_start
        data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}
        event: content_block_delta
        data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Look first."}}
        event: content_block_delta
        data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"sig1"}}
        event: content_block_stop
        data: {"type":"content_block_stop","index":0}
        event: content_block_start
        data: {"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}
        event: content_block_delta
        data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Readi"}}
        event: content_block_delta
        data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"ng."}}
        event: content_block_stop
        data: {"type":"content_block_stop","index":1}
        event: content_block_start
        data: {"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"c1","name":"read","input":{}}}
        event: content_block_delta
        data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"path"}}
        event: content_block_delta
        data: {"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"\":\"a\"}"}}
        event: content_block_stop
        data: {"type":"content_block_stop","index":2}
        event: content_block_start
        data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"c2","name":"shell","input":{}}}
        event: content_block_delta
        data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"x\":"}}
        event: content_block_stop
        data: {"type":"content_block_stop","index":3}
        event: message_delta
        data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":30}}
        event: message_stop
        data: {"type":"message_stop"}"#]]).await;
}

#[tokio::test]
async fn gemini_on_the_wire() {
    let path = "/v1beta/models/demo:streamGenerateContent?alt=sse";
    on_the_wire(Api::Gemini, path, expect![[r#"
        data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Look first.","thought":true,"thoughtSignature":"sig1"}]},"index":0}],"modelVersion":"script","responseId":"script"}
        data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Readi"}]},"index":0}],"modelVersion":"script","responseId":"script"}
        data: {"candidates":[{"content":{"role":"model","parts":[{"text":"ng."}]},"index":0}],"modelVersion":"script","responseId":"script"}
        data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"c1","name":"read","args":{"path":"a"}}}]},"index":0}],"modelVersion":"script","responseId":"script"}
        data: {"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"c2","name":"shell","args":"{\"x\":"}}]},"index":0}],"modelVersion":"script","responseId":"script"}
        data: {"candidates":[{"content":{"role":"model","parts":[{"text":""}]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":900,"candidatesTokenCount":30,"thoughtsTokenCount":0,"cachedContentTokenCount":800,"totalTokenCount":930},"modelVersion":"script","responseId":"script"}"#]]).await;
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
    expect![[r#"
        Busy { retry_after: Some(200ms), message: "http://SERVER/v1/chat/completions answered 429 Too Many Requests: slow down; wait a little or choose another model" }
        Busy { retry_after: Some(200ms), message: "http://SERVER/v1/responses answered 429 Too Many Requests: slow down; wait a little or choose another model" }
        Busy { retry_after: Some(200ms), message: "http://SERVER/v1/messages answered 429 Too Many Requests: slow down; wait a little or choose another model" }
        Busy { retry_after: Some(200ms), message: "http://SERVER/v1beta/models/m:streamGenerateContent answered 429 Too Many Requests: slow down; wait a little or choose another model" }"#]].assert_eq(&said.join("\n"));
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
    expect![[r#"
        "half a sen" · Broken("http://SERVER/v1/chat/completions closed the connection in the middle of the answer (unexpected EOF during chunk size line)")
        Broken("http://SERVER/v1/chat/completions: connection closed before message completed; check the network")
        "a" · Broken("http://SERVER/v1/chat/completions: the answer ended before its end marker")
        "a" · Busy { retry_after: None, message: "http://SERVER/v1/chat/completions: overloaded; wait a little or choose another model" }
        Broken("http://SERVER/v1/chat/completions closed the connection before the answer began (unexpected EOF during chunk size line); the last it sent was: <html> <b>no events</b>")
        "fine" · done "fine"
        Refused("http://SERVER/v1/chat/completions answered 400 Bad Request: script_mismatch: turn 7 expects `something else` from the user, who said `hello`; check the model's id and its options")
        Refused("http://SERVER/v1/chat/completions answered 400 Bad Request: script_mismatch: the script is at its end after 7 turns; add turns or set `at_end`; check the model's id and its options")"#]].assert_eq(&said.join("\n"));
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
    expect![[r#"
        HTTP/1.1 404 Not Found {"error":{"message":"there is no such path; this server answers POST /v1/chat/completions and GET /v1/models","type":"not_found_error","param":null,"code":null}}
        HTTP/1.1 400 Bad Request {"error":{"message":"this server only streams; ask with `\"stream\": true`","type":"invalid_request_error","param":null,"code":null}}
        HTTP/1.1 400 Bad Request {"error":{"message":"the body is no JSON: key must be a string at line 1 column 2","type":"invalid_request_error","param":null,"code":null}}
        HTTP/1.1 400 Bad Request {"error":{"message":"the length of the body is no number","type":"invalid_request_error","param":null,"code":null}}
        HTTP/1.1 400 Bad Request {"error":{"message":"the body is larger than 64 MiB","type":"invalid_request_error","param":null,"code":null}}
        HTTP/1.1 400 Bad Request {"error":{"message":"this is no HTTP request","type":"invalid_request_error","param":null,"code":null}}
        HTTP/1.1 200 OK {"object":"list","data":[{"id":"demo","object":"model","created":0,"owned_by":"script"}]}"#]].assert_eq(&said.join("\n"));
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
