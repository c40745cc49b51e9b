//! One turn of a script against one request: pieces of a reply, in order.
//!
//! Invariant: playing needs no clock and keeps nothing; which turn, which try and which repetition it is
//! come from the caller.

use super::fill::{self, Values};
use super::script::{Call, Emit, Fault, Turn};
use crate::model::{ModelError, Request};
use caret_protocol::content::{Block, Content, Reply, Stop, ToolCall, Usage, plain};
use caret_protocol::event::DeltaKind;
use caret_protocol::transcript::Message;
use std::time::Duration;

/// A piece of a reply that is being played.
#[derive(Clone, Debug)]
pub(super) enum Piece {
    Delta(DeltaKind, String),
    /// The same words again and again.
    Deltas {
        text: String,
        times: u32,
    },
    Wait(Duration),
    Fail(ModelError),
    Done(Reply),
}

/// Which showing of a turn it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Showing {
    /// The turn's place in the script, from 0.
    pub(super) turn: usize,
    /// Which repetition, from 1.
    pub(super) round: u32,
    /// How many tries of this turn went wrong before.
    pub(super) tries: u32,
    /// How many times the whole script was played before.
    pub(super) lap: u32,
}

/// The pieces of `turn` for `request`; the last is a failure or the reply.
pub(super) fn play(turn: &Turn, showing: Showing, request: &Request<'_>) -> Vec<Piece> {
    match pieces(turn, showing, request) {
        Ok(pieces) => pieces,
        Err(error) => vec![Piece::Fail(error)],
    }
}

fn pieces(turn: &Turn, showing: Showing, request: &Request<'_>) -> Result<Vec<Piece>, ModelError> {
    meets(turn, showing, request)?;
    let values = FromRequest { request, round: showing.round };
    let (mut pieces, mut blocks) = (Vec::new(), Vec::new());
    let mut usage = Usage::default();
    let mut tries = showing.tries;
    for emit in &turn.emit {
        match emit {
            Emit::Thinking { text, signature } => {
                let text = text.fill(&values)?;
                pieces.push(Piece::Delta(DeltaKind::Thinking, text.clone()));
                blocks.push(Block::Thinking { text, signature: signature.clone() });
            }
            Emit::Text { deltas, chunk } => {
                for delta in deltas {
                    let text = delta.fill(&values)?;
                    let parts = chunks(&text, *chunk);
                    pieces.extend(parts.into_iter().map(|part| Piece::Delta(DeltaKind::Text, part)));
                    say(&mut blocks, &text);
                }
            }
            Emit::TextRepeat { text, times } => {
                let text = text.fill(&values)?;
                say(&mut blocks, &text.repeat(usize::try_from(*times).unwrap_or(usize::MAX)));
                pieces.push(Piece::Deltas { text, times: *times });
            }
            Emit::Call(call) => {
                let count = blocks.iter().filter(|block| matches!(block, Block::Call { .. })).count();
                blocks.push(Block::Call { call: tool_call(call, turn, showing, count, request, &values)? });
            }
            Emit::Delay { milliseconds } => pieces.push(Piece::Wait(Duration::from_millis(*milliseconds))),
            Emit::Usage(spent) => usage += *spent,
            Emit::Fault { fault, times } if tries < *times => {
                pieces.push(Piece::Fail(fault.error()));
                return Ok(pieces);
            }
            Emit::Fault { times, .. } => tries -= times,
            Emit::Raw => {}
        }
    }
    let calls = blocks.iter().any(|block| matches!(block, Block::Call { .. }));
    let stop = turn.stop.unwrap_or(if calls { Stop::ToolCalls } else { Stop::EndTurn });
    pieces.push(Piece::Done(Reply { id: String::new(), blocks, stop, usage }));
    Ok(pieces)
}

/// Adds words to the text block that is open, or opens one.
fn say(blocks: &mut Vec<Block>, more: &str) {
    match blocks.last_mut() {
        Some(Block::Text { text }) => text.push_str(more),
        _ => blocks.push(Block::Text { text: more.to_owned() }),
    }
}

/// Text in parts of `size` characters; whole without a size.
fn chunks(text: &str, size: Option<usize>) -> Vec<String> {
    match size {
        _ if text.is_empty() => Vec::new(),
        None => vec![text.to_owned()],
        Some(size) => {
            let chars: Vec<char> = text.chars().collect();
            chars.chunks(size.max(1)).map(|part| part.iter().collect()).collect()
        }
    }
}

fn tool_call(
    call: &Call,
    turn: &Turn,
    showing: Showing,
    count: usize,
    request: &Request<'_>,
    values: &dyn Values,
) -> Result<ToolCall, ModelError> {
    let mut id = call.id.clone().unwrap_or_else(|| format!("call_{}_{}", showing.turn + 1, count + 1));
    if turn.repeat > 1 {
        id.push_str(&format!("_{}", showing.round));
    }
    if showing.lap > 0 {
        id.push_str(&format!("_lap{}", showing.lap + 1));
    }
    let name = super::names::offered(&call.name, request.tools);
    let mut made = ToolCall::new(id, name, fill::fill(&call.input, values)?);
    made.malformed.clone_from(&call.malformed);
    Ok(made)
}

/// Checks what a turn expects of its request.
fn meets(turn: &Turn, showing: Showing, request: &Request<'_>) -> Result<(), ModelError> {
    let mismatch = |wanted: String| {
        let number = showing.turn + 1;
        Err(ModelError::Refused(format!("script_mismatch: turn {number} expects {wanted}")))
    };
    for tool in &turn.expect.tools {
        let name = super::names::offered(tool, request.tools);
        if !request.tools.iter().any(|offered| offered.name == name) {
            return mismatch(format!("the tool `{tool}`, which is not offered"));
        }
    }
    if let Some(pattern) = &turn.expect.user
        && !pattern.matches(&newest_user(request))
    {
        return mismatch(format!("{pattern} from the user, who said `{}`", short(&newest_user(request))));
    }
    if let Some(pattern) = &turn.expect.last_result {
        let last = request.messages.iter().rev().find_map(|message| match message {
            Message::Tool { text, .. } => Some(text),
            _ => None,
        });
        match last {
            Some(text) if pattern.matches(text) => {}
            Some(text) => {
                return mismatch(format!("{pattern} in the last result, which was `{}`", short(text)));
            }
            None => return mismatch(format!("{pattern} in the last result, and there is none")),
        }
    }
    Ok(())
}

fn short(text: &str) -> String {
    let line: String = text.replace('\n', "⏎").chars().take(80).collect();
    if text.chars().nth(80).is_some() { format!("{line}…") } else { line }
}

/// The newest words of the user in this turn.
pub(super) fn newest_user(request: &Request<'_>) -> String {
    let said = request.messages.iter().rev().find_map(|message| match message {
        Message::User { content, .. } => Some(content.as_slice()),
        _ => None,
    });
    plain(said.unwrap_or(&[] as &[Content]))
}

struct FromRequest<'a> {
    request: &'a Request<'a>,
    round: u32,
}

impl Values for FromRequest<'_> {
    fn user(&self) -> String {
        newest_user(self.request)
    }

    fn cwd(&self) -> String {
        self.request.cwd.to_string_lossy().into_owned()
    }

    fn round(&self) -> u32 {
        self.round
    }

    fn result(&self, id: &str) -> Result<String, ModelError> {
        if let Some(text) = result_of(self.request.messages, id) {
            return Ok(text);
        }
        // Only a result of an earlier turn is worth loading the past for.
        result_of(self.request.past.messages()?, id)
            .ok_or_else(|| ModelError::Refused(format!("script_mismatch: call `{id}` has no result yet")))
    }
}

/// The newest result of a call; repetitions have the id with a number behind it.
fn result_of(messages: &[Message], id: &str) -> Option<String> {
    messages.iter().rev().find_map(|message| match message {
        Message::Tool { call, text, .. } => {
            let rest = call.as_str().strip_prefix(id)?;
            let counted = rest.split('_').skip(1).all(|part| {
                let digits = part.strip_prefix("lap").unwrap_or(part);
                !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
            });
            (rest.is_empty() || rest.starts_with('_') && counted).then(|| text.clone())
        }
        _ => None,
    })
}

impl Fault {
    fn error(&self) -> ModelError {
        match self {
            Self::Status { status, retry_after_ms, message } => {
                let said = if message.is_empty() { format!("status {status}") } else { message.clone() };
                match status {
                    429 | 503 | 529 => ModelError::Busy {
                        retry_after: retry_after_ms.map(Duration::from_millis),
                        message: said,
                    },
                    401 | 403 => ModelError::Unauthorized(said),
                    500..=599 => ModelError::Broken(said),
                    _ => ModelError::Refused(said),
                }
            }
            Self::Cut => ModelError::Broken("the script cuts it here".into()),
            Self::Garbage(garbage) => ModelError::Broken(format!("it sent no JSON: `{}`", short(garbage))),
        }
    }
}
