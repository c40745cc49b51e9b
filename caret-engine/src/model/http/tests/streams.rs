//! Answers that arrive in odd pieces, too slowly, or only in part.

use super::*;
use expect_test::expect;
use tokio::time::Instant;

const WHOLE: &str = ": hello\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"Hé\"}}]}\n\n\
    data: {\"choices\":[{\"delta\":{\"content\":\"llo\"}}]}\n\ndata: [DONE]\n\n";

#[tokio::test]
async fn a_whole_answer_ends_with_the_reply() {
    assert_eq!(outcome(events(WHOLE)).await, r#""Hé" · "llo" · done "Héllo""#);
    let crlf = format!("\u{feff}{}", WHOLE.replace('\n', "\r\n"));
    assert_eq!(outcome(events(&crlf)).await, r#""Hé" · "llo" · done "Héllo""#);
    let unlabelled = open_answer("200 OK", "content-type: application/octet-stream\r\n", WHOLE.trim_end());
    assert_eq!(outcome(unlabelled).await, r#""Hé" · "llo" · done "Héllo""#);
}

#[tokio::test]
async fn the_request_carries_the_key_and_asks_for_nothing_packed() {
    let server = fake_server(vec![events(WHOLE)]).await;
    let mut model = model_at(&server.base);
    model.endpoint.headers.push(("X-Extra".into(), "yes".into()));
    ask(&model).await;
    let requests = server.requests.lock().unwrap();
    let mut lines: Vec<&str> = requests[0].lines().filter(|line| !line.starts_with("host:")).collect();
    lines.sort_unstable();
    expect![[r#"

        POST /v1/chat/completions HTTP/1.1
        accept: text/event-stream
        authorization: Bearer canary-key
        content-length: 76
        content-type: application/json
        x-extra: yes
        {"model":"m-1","stream":true,"messages":[{"role":"user","content":"hello"}]}"#]]
    .assert_eq(&lines.join("\n"));
}

#[tokio::test]
async fn an_answer_that_is_cut_at_any_byte_never_counts_as_whole() {
    // Without its last line end the end marker is still there.
    let marker = WHOLE.len() - 2;
    let cuts: Vec<usize> = (0..WHOLE.len()).collect();
    let server = fake_server(cuts.iter().map(|cut| events(&WHOLE.as_bytes()[..*cut])).collect()).await;
    let model = model_at(&server.base);
    for cut in cuts {
        let all = chunks(&model).await;
        let whole = matches!(all.last(), Some(Ok(Chunk::Done(_))));
        assert_eq!(whole, cut >= marker, "cut at {cut}: {all:?}");
        if !whole {
            assert!(matches!(all.last(), Some(Err(ModelError::Broken(_)))), "cut at {cut}: {all:?}");
        }
    }
}

#[tokio::test]
async fn a_cut_in_the_middle_of_a_chunked_answer_says_so() {
    let half = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n36\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"half\"}}]}\n\ndata";
    let said = outcome(vec![Act::Send(half.to_vec())]).await;
    expect![[r#""half" · Broken("http://SERVER/v1/chat/completions closed the connection in the middle of the answer (unexpected EOF during chunk size line)")"#]].assert_eq(&said);
}

#[tokio::test]
async fn an_error_inside_the_stream_is_placed_and_classed() {
    let start = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    let mut said = Vec::new();
    for error in [
        r#"data: {"error":{"message":"Overloaded","type":"overloaded_error"}}"#,
        r#"data: {"error":{"message":"Please try again in 11.054s","code":"rate_limit_exceeded"}}"#,
        r#"data: {"error":{"message":"bad call canary-key","code":500}}"#,
        r#"data: {"error":{"message":"unknown tool","type":"invalid_request_error"}}"#,
        r#"data: {"error":{"message":"x","code":"context_length_exceeded"}}"#,
        "{\n  \"error\": {\"code\": 503, \"message\": \"bare\", \"status\": \"UNAVAILABLE\"}\n}",
        "data: {\"choices\":[{\"delta\":{\"cont",
    ] {
        said.push(outcome(events(format!("{start}{error}\n\n"))).await);
    }
    expect![[r#"
        "a" · Busy { retry_after: None, message: "http://SERVER/v1/chat/completions: Overloaded; wait a little or choose another model" }
        "a" · Busy { retry_after: Some(11.054s), message: "http://SERVER/v1/chat/completions: Please try again in 11.054s; wait a little or choose another model" }
        "a" · Broken("http://SERVER/v1/chat/completions: the server says: bad call [secret]")
        "a" · Refused("http://SERVER/v1/chat/completions: the server refused the request: unknown tool; check the model's id and its options")
        "a" · TooLong("m-1")
        "a" · Busy { retry_after: None, message: "http://SERVER/v1/chat/completions: bare; wait a little or choose another model" }
        "a" · Broken("http://SERVER/v1/chat/completions: the answer ended before its end marker")"#]].assert_eq(&said.join("\n"));
}

#[tokio::test(start_paused = true)]
async fn silence_and_keep_alives_time_out_and_a_slow_drip_does_not() {
    let head = || open_answer("200 OK", "content-type: text/event-stream\r\n", "");
    let start = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    let alive =
        vec![[Act::Wait(Duration::from_secs(50)), Act::Send(b": keep-alive\n\n".to_vec())]; 20].concat();
    let words = WHOLE.trim_start_matches(": hello\n\n");
    let drip: Vec<Act> =
        words.bytes().flat_map(|byte| [Act::Wait(Duration::from_secs(100)), Act::Send(vec![byte])]).collect();
    let table: Vec<(&str, Vec<Act>, u64)> = vec![
        ("no answer", vec![Act::Hang], 300),
        ("no event", [head(), vec![Act::Hang]].concat(), 300),
        ("comments only", [head(), alive.clone()].concat(), 300),
        ("silence after words", [events(start), vec![Act::Hang]].concat(), 120),
        ("comments after words", [events(start), alive].concat(), 120),
        ("slow drip", [head(), drip].concat(), words.len() as u64 * 100),
    ];
    let mut said = Vec::new();
    for (name, acts, seconds) in table {
        let begun = Instant::now();
        said.push(format!("{name}: {}", outcome(acts).await));
        assert_eq!(begun.elapsed().as_secs().next_multiple_of(10), seconds.next_multiple_of(10), "{name}");
    }
    expect![[r#"
        no answer: Broken("http://SERVER/v1/chat/completions sent nothing of its answer for 300 s; check the network and the server")
        no event: Broken("http://SERVER/v1/chat/completions sent nothing of its answer for 300 s; check the network and the server")
        comments only: Broken("http://SERVER/v1/chat/completions sent nothing of its answer for 300 s; check the network and the server")
        silence after words: "a" · Broken("http://SERVER/v1/chat/completions sent nothing of its answer for 120 s; check the network and the server")
        comments after words: "a" · Broken("http://SERVER/v1/chat/completions sent nothing of its answer for 120 s; check the network and the server")
        slow drip: "Hé" · "llo" · done "Héllo""#]].assert_eq(&said.join("\n"));
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let start = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";
    let server = fake_server(vec![[events(start), vec![Act::Hang]].concat()]).await;
    let model = model_at(&server.base);
    let first = with_stream!(model, stream => std::pin::pin!(stream).next().await);
    assert_eq!(show(first.unwrap()), "\"a\"");
    while server.requests.lock().unwrap().len() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(server.requests.lock().unwrap()[1], "the client went: Some(0)");
}

#[tokio::test]
async fn nothing_is_sent_before_the_stream_is_polled() {
    let model = model_at("http://127.0.0.1:1");
    with_stream!(model, stream => drop(stream));
    assert!(!model.transport.is_used());
}

#[tokio::test]
async fn an_event_that_is_too_large_is_refused() {
    let mut body = b"data: ".to_vec();
    body.resize((16 << 20) + 64, b'x');
    expect![[r#"Refused("http://SERVER/v1/chat/completions sent an event of more than 16 MiB; check the base address")"#]].assert_eq(&outcome(events(body)).await);
}
