//! Statuses, pages and connections that go wrong: each gives one error that says what to do.

use super::*;
use crate::model::http::proxies::Proxies;
use expect_test::{Expect, expect};

/// Asks servers that answer so, one after another.
async fn check(answers: &[(&str, &str, &str)], expected: Expect) {
    let mut lines = Vec::new();
    for (status, headers, body) in answers {
        let said = outcome(open_answer(status, headers, body)).await;
        assert!(!said.contains("canary"), "{said}");
        lines.push(said);
    }
    expected.assert_eq(&lines.join("\n"));
}

#[tokio::test]
async fn busy_servers_are_tried_again_when_they_say() {
    check(
        &[
            ("429 Too Many Requests", "retry-after: 7\r\n", r#"{"error":{"message":"slow down","type":"rate_limit_error"}}"#),
            ("429 Too Many Requests", "retry-after-ms: 250\r\nx-request-id: req_1\r\n", ""),
            ("429 Too Many Requests", "", r#"[{"error":{"code":429,"message":"You exceeded your current quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"a/google.rpc.RetryInfo","retryDelay":"34.4s"}]}}]"#),
            ("429 Too Many Requests", "retry-after: 7200\r\n", r#"{"error":"come back later"}"#),
            ("503 Service Unavailable", "", r#"{"error":{"message":"Loading model","type":"unavailable_error","code":503}}"#),
            ("529 ", "", r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#),
            ("500 Internal Server Error", "", "boom"),
            ("502 Bad Gateway", "content-type: text/html\r\n", "<html>\n<h1>Bad\u{1b}[31m gateway</h1>"),
            ("504 Gateway Timeout", "", ""),
            ("408 Request Timeout", "", ""),
            ("409 Conflict", "", ""),
            ("400 Bad Request", "x-should-retry: true\r\n", r#"{"error":{"message":"odd"}}"#),
        ],
        expect![[r#"
            Busy { retry_after: Some(7s), message: "http://SERVER/v1/chat/completions answered 429 Too Many Requests: slow down; wait a little or choose another model" }
            Busy { retry_after: Some(250ms), message: "http://SERVER/v1/chat/completions answered 429 Too Many Requests; wait a little or choose another model (request req_1)" }
            Busy { retry_after: Some(34.4s), message: "http://SERVER/v1/chat/completions answered 429 Too Many Requests: You exceeded your current quota; wait a little or choose another model" }
            Busy { retry_after: Some(7200s), message: "http://SERVER/v1/chat/completions answered 429 Too Many Requests: come back later; it asks to wait 120 min; choose another model" }
            Busy { retry_after: None, message: "http://SERVER/v1/chat/completions answered 503 Service Unavailable: Loading model; wait a little or choose another model" }
            Busy { retry_after: None, message: "http://SERVER/v1/chat/completions answered 529: Overloaded; wait a little or choose another model" }
            Busy { retry_after: None, message: "http://SERVER/v1/chat/completions answered 500 Internal Server Error: boom; wait a little or choose another model" }
            Busy { retry_after: None, message: "http://SERVER/v1/chat/completions answered 502 Bad Gateway: <html> <h1>Bad [31m gateway</h1>; wait a little or choose another model" }
            Busy { retry_after: None, message: "http://SERVER/v1/chat/completions answered 504 Gateway Timeout; wait a little or choose another model" }
            Busy { retry_after: None, message: "http://SERVER/v1/chat/completions answered 408 Request Timeout; wait a little or choose another model" }
            Busy { retry_after: None, message: "http://SERVER/v1/chat/completions answered 409 Conflict; wait a little or choose another model" }
            Busy { retry_after: None, message: "http://SERVER/v1/chat/completions answered 400 Bad Request: odd; wait a little or choose another model" }"#]],
    )
    .await;
}

#[tokio::test]
async fn refusals_are_not_tried_again_and_say_what_to_do() {
    check(
        &[
            ("400 Bad Request", "", r#"{"error":{"message":"unknown parameter","type":"invalid_request_error"}}"#),
            ("401 Unauthorized", "", r#"{"error":{"message":"Incorrect API key provided: canary-key","code":"invalid_api_key"}}"#),
            ("400 Bad Request", "", r#"{"error":{"code":400,"message":"API key not valid.","status":"INVALID_ARGUMENT","details":[{"reason":"API_KEY_INVALID"}]}}"#),
            ("403 Forbidden", "request-id: req_2\r\n", r#"{"type":"error","error":{"type":"permission_error","message":"not in your region"}}"#),
            ("402 Payment Required", "", r#"{"error":{"message":"pay first"}}"#),
            ("429 Too Many Requests", "", r#"{"error":{"message":"You exceeded your current quota","code":"insufficient_quota"}}"#),
            ("400 Bad Request", "", r#"{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}"#),
            ("404 Not Found", "", r#"{"detail":"no such model"}"#),
            ("413 Payload Too Large", "", ""),
            ("307 Temporary Redirect", "location: http://elsewhere/v1?key=secret\r\n", ""),
            ("429 Too Many Requests", "x-should-retry: false\r\n", r#"{"error":{"message":"stop"}}"#),
            ("400 Bad Request", "", r#"{"error":{"message":"too long","code":"context_length_exceeded"}}"#),
            ("400 Bad Request", "", r#"{"error":{"code":400,"message":"n_prompt_tokens","type":"exceed_context_size_error"}}"#),
            ("400 Bad Request", "", r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 201 tokens"}}"#),
            ("400 Bad Request", "", r#"{"error":{"message":"The input token count (9) exceeds the maximum"}}"#),
        ],
        expect![[r#"
            Refused("http://SERVER/v1/chat/completions answered 400 Bad Request: unknown parameter; check the model's id and its options")
            Unauthorized("http://SERVER/v1/chat/completions answered 401 Unauthorized: Incorrect API key provided: [secret]; check the key from OPENAI_API_KEY")
            Unauthorized("http://SERVER/v1/chat/completions answered 400 Bad Request: API key not valid; check the key from OPENAI_API_KEY")
            Unauthorized("http://SERVER/v1/chat/completions answered 403 Forbidden: not in your region; the key from OPENAI_API_KEY may not use this model, or not from here (request req_2)")
            Refused("http://SERVER/v1/chat/completions answered 402 Payment Required: pay first; the account has no credit left; add some or choose another model")
            Refused("http://SERVER/v1/chat/completions answered 429 Too Many Requests: You exceeded your current quota; the account has no credit left; add some or choose another model")
            Refused("http://SERVER/v1/chat/completions answered 400 Bad Request: Your credit balance is too low; the account has no credit left; add some or choose another model")
            Refused("http://SERVER/v1/chat/completions answered 404 Not Found: no such model; check the base address and the model's id; `caret models` lists what there is")
            Refused("http://SERVER/v1/chat/completions answered 413 Payload Too Large; the request is too large; send fewer or smaller images")
            Refused("http://SERVER/v1/chat/completions answered 307 Temporary Redirect; it leads to http://elsewhere/v1; if that is right, make it the base address")
            Refused("http://SERVER/v1/chat/completions answered 429 Too Many Requests: stop; it says that trying again does not help; choose another model")
            TooLong("m-1")
            TooLong("m-1")
            TooLong("m-1")
            TooLong("m-1")"#]],
    )
    .await;
}

#[tokio::test]
async fn an_answer_that_is_no_stream_is_named_and_quoted() {
    let html = "<!DOCTYPE html>\r\n<title>Sign in to\u{7} the network</title>";
    check(
        &[
            ("200 OK", "content-type: text/html; charset=utf-8\r\n", html),
            ("200 OK", "content-type: text/event-stream\r\n", html),
            (
                "200 OK",
                "content-type: application/json\r\n",
                "{\"id\":\"x\",\"choices\":[{\"message\":{\"content\":\"hi\"}}]}",
            ),
            (
                "200 OK",
                "content-type: application/json\r\n",
                "{\n  \"error\": {\"message\": \"no such model canary-key\", \"code\": 404}\n}",
            ),
            ("200 OK", "", "{\"error\":{\"message\":\"Rate limit\",\"code\":429}}"),
            ("200 OK", "content-encoding: gzip\r\n", "\u{1f}\u{8b}\u{8}\u{0}garbage"),
            (
                "200 OK",
                "content-type: application/octet-stream\r\n",
                "\u{0}\u{1}\u{2}binary\u{1b}]0;title\u{7}",
            ),
            ("200 OK", "content-type: text/event-stream\r\n", ""),
            ("200 OK", "content-type: text/event-stream\r\n", ": only\n\n: comments\n\n"),
        ],
        expect![[r#"
            Refused("http://SERVER/v1/chat/completions answered with a web page where a stream of events was asked for; check the base address, and whether the network asks you to sign in: <!DOCTYPE html> <title>Sign in to the network</title>")
            Refused("http://SERVER/v1/chat/completions answered with a web page where a stream of events was asked for; check the base address, and whether the network asks you to sign in: <!DOCTYPE html> <title>Sign in to the network</title>")
            Refused("http://SERVER/v1/chat/completions answered with one JSON document where a stream of events was asked for; check the base address and that the server can stream: {\"id\":\"x\",\"choices\":[{\"message\":{\"content\":\"hi\"}}]}")
            Refused("http://SERVER/v1/chat/completions: the server refused the request: no such model [secret]; check the model's id and its options")
            Busy { retry_after: None, message: "http://SERVER/v1/chat/completions: Rate limit; wait a little or choose another model" }
            Refused("http://SERVER/v1/chat/completions answered with gzip data that nobody asked for where a stream of events was asked for; check the base address and that the server can stream: garbage")
            Refused("http://SERVER/v1/chat/completions answered with application/octet-stream where a stream of events was asked for; check the base address and that the server can stream: binary ]0;title")
            Broken("http://SERVER/v1/chat/completions ended its answer before it began")
            Broken("http://SERVER/v1/chat/completions ended its answer before it began")"#]],
    )
    .await;
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let said = ask(&model_at(&base)).await;
    expect![[r#"Broken("cannot connect to http://SERVER/v1/chat/completions: Connection refused (os error 111); check that the server runs and the address is right")"#]].assert_eq(&said);
    assert!(chunks(&model_at(&base)).await[0].as_ref().is_err_and(ModelError::is_passing));
}

#[tokio::test]
async fn a_connection_that_closes_before_the_answer_is_passing() {
    let said = outcome(Vec::new()).await;
    expect![[r#"Broken("http://SERVER/v1/chat/completions: connection closed before message completed; check the network")"#]].assert_eq(&said);
}

#[tokio::test]
async fn a_server_without_a_certificate_is_told_apart() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("https://{}/v1", listener.local_addr().unwrap());
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        let (mut connection, _) = listener.accept().await.unwrap();
        connection.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        connection.read_u8().await.unwrap();
    });
    expect![[r#"Broken("cannot connect to https://SERVER/v1/chat/completions: received corrupt message of type InvalidContentType; check whether the address begins with http or https")"#]].assert_eq(&ask(&model_at(&base)).await);
}

fn behind(proxy: &str) -> HttpModel {
    let proxies =
        Proxies { all: Some(proxy.replace("http://", "http://user:canary@")), ..Proxies::default() };
    let network = Network { proxies, ..Network::default() };
    HttpModel {
        transport: Arc::new(Transport::new(network)),
        ..model_at("http://model.invalid/v1?api-key=canary-2")
    }
}

#[tokio::test]
async fn a_proxy_that_was_used_is_named() {
    let page = open_answer("200 OK", "content-type: text/html\r\n", "<html>Welcome to the hotel</html>");
    let unpaid = open_answer("407 Proxy Authentication Required", "", "");
    let server = fake_server(vec![page, unpaid]).await;
    let model = behind(&server.base);
    let mut said = vec![ask(&model).await, ask(&model).await];
    let first = server.requests.lock().unwrap()[0].lines().next().unwrap().to_owned();
    assert_eq!(first, "POST http://model.invalid/v1/chat/completions?api-key=canary-2 HTTP/1.1");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let gone = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    said.push(ask(&behind(&gone)).await);
    let said = said.join("\n");
    assert!(!said.contains("canary"), "{said}");
    expect![[r#"
        Refused("http://model.invalid/v1/chat/completions (through the proxy http://SERVER) answered with a web page where a stream of events was asked for; check the base address, and whether the network asks you to sign in: <html>Welcome to the hotel</html>")
        Refused("http://model.invalid/v1/chat/completions answered 407 Proxy Authentication Required; the proxy http://SERVER wants a user and a password in its address")
        Broken("cannot connect to http://model.invalid/v1/chat/completions (through the proxy http://SERVER): Connection refused (os error 111); check the proxy")"#]].assert_eq(&said);
}

#[tokio::test]
async fn settings_that_cannot_work_are_refused_before_anything_is_sent() {
    let mut bad_header = model_at("http://127.0.0.1:1");
    bad_header.endpoint.headers.push(("bad name".into(), "canary".into()));
    let said =
        [ask(&model_at("not an address")).await, ask(&bad_header).await, ask(&behind("gopher://x")).await];
    expect![[r#"
        Refused("the base address `not an address` is no address (relative URL without a base); write one such as https://host/v1")
        Refused("the name of the header `bad name` from the settings cannot be sent")
        Refused("the proxy `gopher://x` is no address; write one such as http://host:3128 or socks5h://host:1080")"#]].assert_eq(&said.join("\n"));
}
