//! The pieces of a script's answer, sent over a connection in a wire format.

use super::exchange::Exchange;
use super::wire::{Wire, error_body, wait_headers, wire};
use crate::model::http::endpoint::Api;
use crate::model::scripted::{Fault, Piece};
use caret_protocol::content::{ToolCall, Usage};
use std::io::Result;
use std::time::Duration;

/// Sends an answer; the script's faults happen on the way.
pub(super) async fn play(exchange: &mut Exchange, api: Api, pieces: Vec<Piece>) -> Result<()> {
    let usage = match pieces.last() {
        Some(Piece::Done(reply)) => reply.usage,
        _ => Usage::default(),
    };
    let mut answer = Answer { exchange, api, wire: wire(api), usage, begun: false };
    for piece in pieces {
        if answer.piece(piece).await? == Going::Over {
            break;
        }
    }
    Ok(())
}

/// Whether more of an answer may follow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Going {
    On,
    Over,
}

struct Answer<'e> {
    exchange: &'e mut Exchange,
    api: Api,
    wire: Box<dyn Wire>,
    usage: Usage,
    begun: bool,
}

impl Answer<'_> {
    async fn piece(&mut self, piece: Piece) -> Result<Going> {
        match piece {
            Piece::Thinking { text, signature } => {
                self.begin().await?;
                let events = self.wire.thinking(&text, signature.as_deref());
                self.exchange.send(&events).await?;
            }
            Piece::Text(text) => self.text(&text).await?,
            Piece::Texts { text, times } => {
                for _ in 0..times {
                    self.text(&text).await?;
                }
            }
            Piece::Call { call, chunk } => {
                self.begin().await?;
                for events in self.wire.call(&call, &arguments(&call, chunk)) {
                    self.exchange.send(&events).await?;
                }
            }
            Piece::Raw(bytes) => self.exchange.send(&bytes).await?,
            Piece::Wait(time) => tokio::time::sleep(time).await,
            Piece::Fault(fault) => {
                self.fault(fault).await?;
                return Ok(Going::Over);
            }
            Piece::Fail(error) => {
                self.status(400, &error.to_string(), None).await?;
                return Ok(Going::Over);
            }
            Piece::Done(reply) => {
                self.begin().await?;
                let events = self.wire.end(&reply);
                self.exchange.send(&events).await?;
                self.exchange.end().await?;
            }
        }
        Ok(Going::On)
    }

    async fn begin(&mut self) -> Result<()> {
        if !self.begun {
            self.begun = true;
            let events = self.wire.begin(self.usage);
            self.exchange.send(&events).await?;
        }
        Ok(())
    }

    async fn text(&mut self, text: &str) -> Result<()> {
        self.begin().await?;
        let events = self.wire.text(text);
        self.exchange.send(&events).await
    }

    async fn fault(&mut self, fault: Fault) -> Result<()> {
        match fault {
            Fault::Status { status, retry_after_ms, message } => {
                self.status(status, &message, retry_after_ms.map(Duration::from_millis)).await
            }
            // The connection is dropped as it is.
            Fault::Cut => Ok(()),
            Fault::Garbage(text) => {
                self.begin().await?;
                self.exchange.send(&format!("data: {text}\n\n")).await?;
                self.exchange.end().await
            }
        }
    }

    /// An error: as the status while nothing was sent, else as the format's error event.
    async fn status(&mut self, status: u16, message: &str, wait: Option<Duration>) -> Result<()> {
        let body = error_body(self.api, status, message, wait);
        if self.exchange.is_begun() {
            let events = self.wire.error(&body);
            self.exchange.send(&events).await?;
            return self.exchange.end().await;
        }
        self.exchange.answer(status, &wait_headers(self.api, wait), &body).await
    }
}

/// A call's arguments as JSON, in parts of `chunk` characters.
fn arguments(call: &ToolCall, chunk: Option<usize>) -> Vec<String> {
    let text = call.malformed.clone().unwrap_or_else(|| call.input.to_string());
    match chunk {
        None => vec![text],
        Some(size) => {
            let characters: Vec<char> = text.chars().collect();
            characters.chunks(size.max(1)).map(|part| part.iter().collect()).collect()
        }
    }
}
