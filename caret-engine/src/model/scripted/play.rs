//! One turn of a script against one request: pieces of a reply, in order.
//!
//! Invariant: playing needs no clock and keeps nothing; which turn, which try and which repetition it is
//! come from the caller.

use super::asked::Asked;
use super::fill::{self, Values};
use super::script::{Call, Emit, Fault, Turn};
use crate::model::ModelError;
use caret_protocol::content::{Block, Reply, Stop, ToolCall, Usage};
use std::time::Duration;

/// A piece of a reply that is being played.
#[derive(Clone, Debug)]
pub(crate) enum Piece {
    /// Thoughts, with what signs them.
    Thinking { text: String, signature: Option<String> },
    /// Words.
    Text(String),
    /// The same words again and again.
    Texts { text: String, times: u32 },
    /// A call, and in how large parts its arguments go over a wire.
    Call { call: ToolCall, chunk: Option<usize> },
    /// Bytes that only a wire has.
    Raw(String),
    /// Nothing for a while.
    Wait(Duration),
    /// It goes wrong as the script says.
    Fault(Fault),
    /// The request and the script do not fit.
    Fail(ModelError),
    /// The whole reply.
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
pub(super) fn play(turn: &Turn, showing: Showing, asked: &dyn Asked) -> Vec<Piece> {
    match pieces(turn, showing, asked) {
        Ok(pieces) => pieces,
        Err(error) => vec![Piece::Fail(error)],
    }
}

fn pieces(turn: &Turn, showing: Showing, asked: &dyn Asked) -> Result<Vec<Piece>, ModelError> {
    meets(turn, showing, asked)?;
    let values = FromRequest { asked, round: showing.round };
    let (mut pieces, mut blocks) = (Vec::new(), Vec::new());
    let mut usage = Usage::default();
    let mut tries = showing.tries;
    for emit in &turn.emit {
        match emit {
            Emit::Thinking { text, signature } => {
                let text = text.fill(&values)?;
                pieces.push(Piece::Thinking { text: text.clone(), signature: signature.clone() });
                blocks.push(Block::Thinking { text, signature: signature.clone() });
            }
            Emit::Text { deltas, chunk } => {
                for delta in deltas {
                    let text = delta.fill(&values)?;
                    let parts = chunks(&text, *chunk);
                    pieces.extend(parts.into_iter().map(Piece::Text));
                    say(&mut blocks, &text);
                }
            }
            Emit::TextRepeat { text, times } => {
                let text = text.fill(&values)?;
                say(&mut blocks, &text.repeat(usize::try_from(*times).unwrap_or(usize::MAX)));
                pieces.push(Piece::Texts { text, times: *times });
            }
            Emit::Call(call) => {
                let count = blocks.iter().filter(|block| matches!(block, Block::Call { .. })).count();
                let made = tool_call(call, turn, showing, count, &values)?;
                pieces.push(Piece::Call { call: made.clone(), chunk: call.chunk });
                blocks.push(Block::Call { call: made });
            }
            Emit::Delay { milliseconds } => pieces.push(Piece::Wait(Duration::from_millis(*milliseconds))),
            Emit::Usage(spent) => usage += *spent,
            Emit::Fault { fault, times } if tries < *times => {
                pieces.push(Piece::Fault(fault.clone()));
                return Ok(pieces);
            }
            Emit::Fault { times, .. } => tries -= times,
            Emit::Raw(bytes) => pieces.push(Piece::Raw(bytes.clone())),
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
    values: &FromRequest<'_>,
) -> Result<ToolCall, ModelError> {
    let mut id = call.id.clone().unwrap_or_else(|| format!("call_{}_{}", showing.turn + 1, count + 1));
    if turn.repeat > 1 {
        id.push_str(&format!("_{}", showing.round));
    }
    if showing.lap > 0 {
        id.push_str(&format!("_lap{}", showing.lap + 1));
    }
    let name = super::names::offered(&call.name, &values.asked.tools());
    let mut made = ToolCall::new(id, name, fill::fill(&call.input, values)?);
    made.malformed.clone_from(&call.malformed);
    Ok(made)
}

/// Checks what a turn expects of its request.
fn meets(turn: &Turn, showing: Showing, asked: &dyn Asked) -> Result<(), ModelError> {
    let mismatch = |wanted: String| {
        let number = showing.turn + 1;
        Err(ModelError::Refused(format!("script_mismatch: turn {number} expects {wanted}")))
    };
    for tool in &turn.expect.tools {
        let offered = asked.tools();
        if !offered.contains(&super::names::offered(tool, &offered).as_str()) {
            return mismatch(format!("the tool `{tool}`, which is not offered"));
        }
    }
    if let Some(pattern) = &turn.expect.user
        && !pattern.matches(&asked.user())
    {
        return mismatch(format!("{pattern} from the user, who said `{}`", short(&asked.user())));
    }
    if let Some(pattern) = &turn.expect.last_result {
        match asked.last_result() {
            Some(text) if pattern.matches(&text) => {}
            Some(text) => {
                return mismatch(format!("{pattern} in the last result, which was `{}`", short(&text)));
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

struct FromRequest<'a> {
    asked: &'a dyn Asked,
    round: u32,
}

impl Values for FromRequest<'_> {
    fn user(&self) -> String {
        self.asked.user()
    }

    fn cwd(&self) -> String {
        self.asked.cwd()
    }

    fn round(&self) -> u32 {
        self.round
    }

    fn result(&self, id: &str) -> Result<String, ModelError> {
        self.asked
            .result(id)?
            .ok_or_else(|| ModelError::Refused(format!("script_mismatch: call `{id}` has no result yet")))
    }
}

impl Fault {
    /// What a model says that goes wrong so.
    pub(super) fn error(&self) -> ModelError {
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
