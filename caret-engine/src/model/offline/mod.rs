//! The model that is built in: rules instead of a network, for first runs, demos and tests.
//!
//! It sees what any model sees, a request, and answers with text or tool calls, so everything around it is
//! real. It is honest: what it does not understand, it says.
//!
//! Invariant: deterministic. No clock, no randomness, nothing kept between requests; the same request gives
//! the same bytes.

mod act;
mod arithmetic;
mod heard;
mod perform;
mod recall;
mod rules;
mod step;
#[cfg(test)]
mod tests;
mod understand;
mod usage;
mod words;

use super::{Chunk, Model, ModelError, Request};
use act::Answer;
use caret_protocol::content::{Block, Reply, Stop};
use caret_protocol::event::DeltaKind;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use std::time::Duration;

/// No delta of text is longer than this many bytes.
const DELTA: usize = 16;

/// The built-in model.
#[derive(Clone, Copy, Debug, Default)]
pub struct Offline {
    delay: Duration,
    thinking: Thinking,
}

/// Whether the model shows a thought before it calls tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Thinking {
    /// It does not.
    #[default]
    Hidden,
    /// One short thought for each reply with calls.
    Shown,
}

impl Offline {
    /// The model; `delay` is waited before each delta, so that people can watch.
    pub fn new(delay: Duration, thinking: Thinking) -> Self {
        Self { delay, thinking }
    }

    fn chunks(&self, request: &Request<'_>) -> Result<Vec<Chunk>, ModelError> {
        let answer = act::answer(*request)?;
        let mut chunks = Vec::new();
        let mut blocks = Vec::new();
        let stop = match answer {
            Answer::Text(text) => {
                chunks.extend(deltas(&text).map(|part| Chunk::Delta(DeltaKind::Text, part.to_owned())));
                blocks.push(Block::Text { text });
                Stop::EndTurn
            }
            Answer::Calls { thought, calls } => {
                if self.thinking == Thinking::Shown {
                    chunks.push(Chunk::Delta(DeltaKind::Thinking, thought.clone()));
                    blocks.push(Block::Thinking { text: thought, signature: None });
                }
                blocks.extend(calls.into_iter().map(|call| Block::Call { call }));
                Stop::ToolCalls
            }
        };
        let usage = usage::usage(request, &blocks);
        chunks.push(Chunk::Done(Reply { id: String::new(), blocks, stop, usage }));
        Ok(chunks)
    }
}

impl Model for Offline {
    fn id(&self) -> &str {
        "offline"
    }

    fn name(&self) -> &str {
        "Offline (built in)"
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> BoxStream<'a, Result<Chunk, ModelError>> {
        let chunks = match self.chunks(&request) {
            Ok(chunks) => chunks,
            Err(error) => return stream::iter([Err(error)]).boxed(),
        };
        let chunks = stream::iter(chunks);
        if self.delay.is_zero() {
            return chunks.map(Ok).boxed();
        }
        let delay = self.delay;
        chunks
            .then(move |chunk| async move {
                if matches!(chunk, Chunk::Delta(..)) {
                    tokio::time::sleep(delay).await;
                }
                Ok(chunk)
            })
            .boxed()
    }
}

/// Cuts text into parts of whole words; a word that is longer than a part is cut as well.
fn deltas(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut end = rest.floor_char_boundary(DELTA);
        if end < rest.len() {
            // After the last space or newline that fits, if there is one.
            end = rest[..end].rfind([' ', '\n']).map_or(end, |space| space + 1);
        }
        let (part, left) = rest.split_at(end);
        rest = left;
        (!part.is_empty()).then_some(part)
    })
}

/// A hash that is the same on every machine (FNV-1a with a final mix), over parts that cannot run together.
fn hash(parts: &[&str]) -> u32 {
    let mut state: u64 = 0xcbf2_9ce4_8422_2325;
    for byte in parts.iter().flat_map(|part| part.bytes().chain([0xff])) {
        state = (state ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    let mixed = (state ^ (state >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    u32::try_from(mixed >> 32).unwrap_or(u32::MAX)
}
