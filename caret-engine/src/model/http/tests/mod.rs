//! Faults, streams, lists and scripts over loopback connections.
//!
//! The fake server writes exact bytes; the fake family reads just enough of Chat Completions to see what
//! the provider does around it.

mod faults;
mod lists;
mod scripts;
mod streams;
mod tls;

use super::endpoint::{Api, Endpoint};
use super::provider::HttpModel;
use super::secret::Secret;
use super::transport::{Network, Transport};
use super::{Family, Reader, Target, fault};
use crate::model::{Chunk, Model as _, ModelError, Past, Request};
use caret_protocol::content::{Block, Content, Reply};
use caret_protocol::event::{DeltaKind, Mode};
use caret_protocol::ids::{SessionId, TurnId};
use caret_protocol::transcript::Message;
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Reads the words of a chat stream, and nothing else.
struct Words(Api);

#[derive(Default)]
struct WordsReader {
    text: String,
    is_done: bool,
}

impl Family for Words {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn path(&self, _: &Target) -> String {
        match self.0 {
            Api::Chat => "/chat/completions".into(),
            Api::Responses => "/responses".into(),
            Api::Messages => "/v1/messages".into(),
            Api::Gemini => "/models/m:streamGenerateContent?alt=sse".into(),
        }
    }

    fn body(&self, target: &Target, _: &Request<'_>) -> Result<Value, ModelError> {
        Ok(json!({"model": target.model, "stream": true, "messages": [{"role": "user", "content": "hello"}]}))
    }

    fn reader(&self, _: &Target, _: &Request<'_>) -> Box<dyn Reader> {
        Box::<WordsReader>::default()
    }
}

impl Reader for WordsReader {
    fn event(&mut self, _: &str, data: &str) -> Result<Vec<Chunk>, ModelError> {
        if data == "[DONE]" {
            self.is_done = true;
            return Ok(Vec::new());
        }
        let Ok(value) = serde_json::from_str::<Value>(data) else { return Ok(Vec::new()) };
        if let Some(error) = value.get("error") {
            return Err(fault::fault(error, ""));
        }
        let Some(words) = value.pointer("/choices/0/delta/content").and_then(Value::as_str) else {
            return Ok(Vec::new());
        };
        self.text.push_str(words);
        Ok(vec![Chunk::Delta(DeltaKind::Text, words.to_owned())])
    }

    fn finish(self: Box<Self>) -> Result<Reply, ModelError> {
        if !self.is_done {
            return Err(ModelError::Broken("the answer ended before its end marker".into()));
        }
        Ok(Reply { blocks: vec![Block::Text { text: self.text }], ..Reply::default() })
    }

    fn is_done(&self) -> bool {
        self.is_done
    }
}

struct NoPast;

impl Past for NoPast {
    fn messages(&self) -> Result<&[Message], ModelError> {
        Ok(&[])
    }

    fn bytes(&self) -> u64 {
        0
    }
}

fn model_at(base: &str) -> HttpModel {
    let mut endpoint = Endpoint::new(Api::Chat, Some(base));
    endpoint.key = Some(Secret::new("canary-key"));
    HttpModel {
        id: "m".into(),
        name: "M".into(),
        family: Arc::new(Words(Api::Chat)),
        endpoint,
        target: Target { model: "m-1".into(), ..Target::default() },
        transport: Arc::new(Transport::new(Network::default())),
    }
}

/// Runs `take` on the stream of one request.
macro_rules! with_stream {
    ($model:expr, $stream:ident => $body:expr) => {{
        let (session, turn) = (SessionId::new("s"), TurnId::new("t"));
        let messages = [Message::User { content: vec![Content::text("hello")], turn: turn.clone() }];
        let request = Request {
            session: &session,
            turn: &turn,
            turn_number: 0,
            step: 0,
            cwd: Path::new("/ws"),
            mode: Mode::Agent,
            system: "",
            tools: &[],
            past: &NoPast,
            messages: &messages,
        };
        let $stream = $model.stream(request);
        $body
    }};
}
use with_stream;

/// The chunks of one request.
async fn chunks(model: &HttpModel) -> Vec<Result<Chunk, ModelError>> {
    with_stream!(model, stream => stream.collect().await)
}

/// One request, as one line without the changing port.
async fn ask(model: &HttpModel) -> String {
    let shown: Vec<String> = chunks(model).await.into_iter().map(show).collect();
    without_port(&shown.join(" · "))
}

fn show(chunk: Result<Chunk, ModelError>) -> String {
    match chunk {
        Ok(Chunk::Delta(_, text)) => format!("{text:?}"),
        Ok(Chunk::Done(reply)) => format!("done {:?}", reply.text()),
        Err(error) => format!("{error:?}"),
    }
}

fn without_port(text: &str) -> String {
    let mut parts = text.split("127.0.0.1:");
    let first = parts.next().unwrap_or_default().to_owned();
    let rest =
        parts.map(|part| format!("SERVER{}", part.trim_start_matches(|char: char| char.is_ascii_digit())));
    rest.fold(first, |all, part| all + &part)
}

/// What a fake server does after it has read a request.
#[derive(Clone)]
enum Act {
    Send(Vec<u8>),
    Wait(Duration),
    /// Stays open until the client goes.
    Hang,
}

/// A server on loopback that does the same for every connection, and the requests that it got.
struct FakeServer {
    base: String,
    requests: Arc<Mutex<Vec<String>>>,
    _tasks: JoinSet<()>,
}

/// Serves one list of acts per connection, the last one for ever.
async fn fake_server(answers: Vec<Vec<Act>>) -> FakeServer {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let requests: Arc<Mutex<Vec<String>>> = Arc::default();
    let seen = Arc::clone(&requests);
    let mut tasks = JoinSet::new();
    tasks.spawn(async move {
        for turn in 0.. {
            let (connection, _) = listener.accept().await.unwrap();
            let acts = &answers[turn.min(answers.len() - 1)];
            // A client that goes away is part of some tests.
            act(connection, acts, &seen).await.ok();
        }
    });
    FakeServer { base, requests, _tasks: tasks }
}

async fn act(mut connection: TcpStream, acts: &[Act], seen: &Mutex<Vec<String>>) -> std::io::Result<()> {
    let request = read_request(&mut connection).await?;
    seen.lock().unwrap().push(request);
    for act in acts {
        match act {
            Act::Send(bytes) => connection.write_all(bytes).await?,
            Act::Wait(time) => tokio::time::sleep(*time).await,
            Act::Hang => {
                let gone = connection.read(&mut [0; 16]).await;
                seen.lock().unwrap().push(format!("the client went: {:?}", gone.ok()));
            }
        }
    }
    connection.shutdown().await
}

async fn read_request(connection: &mut TcpStream) -> std::io::Result<String> {
    let mut all = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = connection.read(&mut buffer).await?;
        all.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&all).into_owned();
        let head = text.split_once("\r\n\r\n").map(|(head, body)| (head.to_lowercase(), body.len()));
        if let Some((head, body)) = head {
            let length =
                head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
            if body >= length.unwrap_or(0_usize) {
                return Ok(text);
            }
        }
        if count == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
    }
}

/// An answer whose end is the end of the connection.
fn open_answer(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<Act> {
    let mut bytes = format!("HTTP/1.1 {status}\r\n{headers}connection: close\r\n\r\n").into_bytes();
    bytes.extend_from_slice(body.as_ref());
    vec![Act::Send(bytes)]
}

/// A good stream of events.
fn events(body: impl AsRef<[u8]>) -> Vec<Act> {
    open_answer("200 OK", "content-type: text/event-stream\r\n", body)
}

/// What one request to a server that answers so gives.
async fn outcome(acts: Vec<Act>) -> String {
    let server = fake_server(vec![acts]).await;
    ask(&model_at(&server.base)).await
}
