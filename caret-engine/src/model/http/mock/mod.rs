//! A model server that plays a script over loopback HTTP, in any of the four wire formats.
//!
//! The script is the same that the scripted model plays inside the process; here it goes over a real wire
//! with its faults: statuses with wait hints, cuts, garbage, delays, raw bytes. People test their own
//! programs with it, and we test our readers.
//!
//! Invariants: it listens on loopback only; the same script with the same requests, one after another, gives
//! the same bytes.

mod chat;
mod exchange;
mod gemini;
mod heard;
mod messages;
mod play;
mod responses;
mod wire;

use super::endpoint::Api;
use crate::model::scripted::Scripted;
use crate::mutex::lock;
use exchange::{Exchange, HttpRequest};
use heard::Heard;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use wire::error_body;

/// How a script is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MockSettings {
    /// The wire format.
    pub api: Api,
    /// In how large parts answers are written; whole events without.
    pub split: Option<NonZeroUsize>,
    /// What `{{cwd}}` means, as no wire format says it.
    pub cwd: String,
    /// How many requests are remembered for `requests`.
    pub remember: usize,
}

impl MockSettings {
    /// Whole events, nothing remembered.
    pub fn new(api: Api) -> Self {
        Self { api, split: None, cwd: String::new(), remember: 0 }
    }
}

/// A script that is being served.
#[derive(Debug)]
pub struct Mock {
    script: Scripted,
    settings: MockSettings,
    requests: Mutex<VecDeque<MockRequest>>,
}

/// A request that came in.
#[derive(Clone, Debug, PartialEq)]
pub struct MockRequest {
    /// `GET` or `POST`.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// Names in lower case, in order.
    pub headers: Vec<(String, String)>,
    /// The body as it came.
    pub body: Vec<u8>,
}

impl Mock {
    /// A script to be served.
    pub fn new(script: Scripted, settings: MockSettings) -> Self {
        Self { script, settings, requests: Mutex::default() }
    }

    /// The newest requests, oldest first.
    pub fn requests(&self) -> Vec<MockRequest> {
        lock(&self.requests).iter().cloned().collect()
    }

    /// One connection: one request, one answer.
    async fn serve_one(&self, connection: TcpStream) -> io::Result<()> {
        let mut exchange = Exchange::new(connection, self.settings.split);
        let request = match exchange.request().await {
            Ok(request) => request,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                let body = error_body(self.settings.api, 400, &error.to_string(), None);
                return exchange.answer(400, &[], &body).await;
            }
            Err(error) => return Err(error),
        };
        self.remember(&request);
        match self.judge(&request) {
            Ok(Asking::Models) => exchange.answer(200, &[], &self.models()).await,
            Ok(Asking::Reply(heard)) => match self.script.answer(&*heard) {
                Some(pieces) => play::play(&mut exchange, self.settings.api, pieces).await,
                None => {
                    let why = "the script is at its end, and the offline model is not served over HTTP";
                    exchange.answer(400, &[], &error_body(self.settings.api, 400, why, None)).await
                }
            },
            Err((status, why)) => {
                exchange.answer(status, &[], &error_body(self.settings.api, status, &why, None)).await
            }
        }
    }

    fn judge(&self, request: &HttpRequest) -> Result<Asking, (u16, String)> {
        let api = self.settings.api;
        let (path, query) = request.path.split_once('?').unwrap_or((&request.path, ""));
        if request.method == "GET" && (path.ends_with("/models") || path == "/api/tags") {
            return Ok(Asking::Models);
        }
        if request.method != "POST" || !wire::is_call(api, path) {
            let path = wire::call_path(api);
            return Err((
                404,
                format!("there is no such path; this server answers POST {path} and GET /v1/models"),
            ));
        }
        let body: Value = serde_json::from_slice(&request.body)
            .map_err(|error| (400, format!("the body is no JSON: {error}")))?;
        let streams = match api {
            Api::Gemini => query.split('&').any(|pair| pair == "alt=sse"),
            _ => body.get("stream") == Some(&Value::Bool(true)),
        };
        if !streams {
            let how = if api == Api::Gemini { "`?alt=sse`" } else { "`\"stream\": true`" };
            return Err((400, format!("this server only streams; ask with {how}")));
        }
        Ok(Asking::Reply(Box::new(Heard::new(api, &body, self.settings.cwd.clone()))))
    }

    /// The list of models: the one that the script names.
    fn models(&self) -> Value {
        let id = self.script.model_name();
        match self.settings.api {
            Api::Chat | Api::Responses => json!({"object": "list", "data": [
                {"id": id, "object": "model", "created": 0, "owned_by": "script"}]}),
            Api::Messages => json!({"data": [{"type": "model", "id": id, "display_name": id}],
                "has_more": false, "first_id": id, "last_id": id}),
            Api::Gemini => json!({"models": [{"name": format!("models/{id}"), "displayName": id,
                "supportedGenerationMethods": ["generateContent", "streamGenerateContent"]}]}),
        }
    }

    fn remember(&self, request: &HttpRequest) {
        let most = self.settings.remember;
        if most == 0 {
            return;
        }
        let mut requests = lock(&self.requests);
        if requests.len() >= most {
            requests.pop_front();
        }
        requests.push_back(request.clone());
    }
}

/// What a request wants.
enum Asking {
    Models,
    Reply(Box<Heard>),
}

/// Serves until it is dropped; dropping also ends the connections that are open.
///
/// # Errors
/// When the listener is not on loopback, or breaks.
pub async fn serve(listener: TcpListener, mock: Arc<Mock>) -> io::Result<Infallible> {
    let address = listener.local_addr()?;
    if !address.ip().is_loopback() {
        let why = format!("{address} is not on loopback; a script is only served to this machine");
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let mut connections = JoinSet::new();
    loop {
        let (connection, _) = listener.accept().await?;
        let mock = Arc::clone(&mock);
        // A client that goes away in the middle is its own business.
        connections.spawn(async move { mock.serve_one(connection).await.ok() });
        while connections.try_join_next().is_some() {}
    }
}
