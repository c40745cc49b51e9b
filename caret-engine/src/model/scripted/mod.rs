//! A model that answers from a file, for tests, demos and measurements.
//!
//! Each `[[turn]]` of the script is one reply. The place in the script is counted by the model calls that
//! were answered in this process, for all sessions together. A resumed session therefore starts at the
//! beginning of the script, unless a turn's `when` matches what the user says: a new prompt looks at every
//! turn that is still to come, takes the first whose `when` matches it, and passes over those before.
//! Without such a match the next turn in order is taken; turns whose `when` does not match are left out.
//!
//! A turn that goes wrong on purpose (`error`, `cut`, `malformed`) does so `times` times (once if not said)
//! and is tried again by the next request, going on behind the fault; a turn that ends with its fault is over
//! when it failed as often as it should.
//!
//! `repeat = N` plays a turn N times; `{{n}}` counts them from 1 and the ids of calls get `_1`, `_2` and so on.
//! After the last turn with `at_end = "repeat"`, ids get `_lap2` and so on, so that they stay unique.
//! `{ text_repeat = { text = "word ", times = 2000 } }` makes that many deltas.
//!
//! Invariant: no code in scripts, and the same script with the same requests gives the same replies.

mod asked;
mod entry;
mod fill;
mod names;
mod play;
mod script;
#[cfg(test)]
mod tests;

pub(crate) use asked::{Asked, is_call};
pub(crate) use play::Piece;
pub(crate) use script::Fault;
pub use script::{Outline, ScriptError, SourceName, check};

use super::offline::Offline;
use super::price::Price;
use super::{Chunk, Model, ModelError, Request};
use crate::mutex::lock;
use caret_protocol::event::DeltaKind;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use play::Showing;
use script::{AtEnd, Emit, Script, Turn};
use std::collections::VecDeque;
use std::sync::Mutex;

/// A model that answers from a script.
#[derive(Debug)]
pub struct Scripted {
    id: String,
    script: Script,
    place: Mutex<Place>,
    offline: Offline,
}

/// How far the script was played.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    turn: usize,
    /// Finished repetitions of the turn.
    rounds: u32,
    /// Tries of the turn that went wrong.
    tries: u32,
    /// How many times the script was played to its end.
    lap: u32,
}

/// What a request gets.
enum Taken<'s> {
    Turn(&'s Turn, Showing),
    Offline,
    Nothing,
}

impl Scripted {
    /// Reads a script; TOML or JSON by the name's ending.
    pub fn from_text(text: &str, source: SourceName) -> Result<Self, ScriptError> {
        let script = Script::parse(text, &source)?;
        let id = format!("script:{}", source.as_str());
        Ok(Self { id, script, place: Mutex::default(), offline: Offline::default() })
    }

    /// The name that the script gives to its model.
    pub(crate) fn model_name(&self) -> &str {
        &self.script.model
    }

    /// The pieces of the answer to a request; the last is a failure or the whole reply. `None` when the script
    /// is over and wants the offline model to go on.
    pub(crate) fn answer(&self, asked: &dyn Asked) -> Option<Vec<Piece>> {
        Some(match self.take(asked) {
            Taken::Turn(turn, showing) => play::play(turn, showing, asked),
            Taken::Offline => return None,
            Taken::Nothing => {
                let turns = self.script.turns.len();
                vec![Piece::Fail(ModelError::Refused(format!(
                    "script_mismatch: the script is at its end after {turns} turns; add turns or set `at_end`"
                )))]
            }
        })
    }

    /// Takes the turn for a request and moves on.
    fn take(&self, asked: &dyn Asked) -> Taken<'_> {
        let (user, fresh) = (asked.user(), asked.is_fresh());
        let mut place = lock(&self.place);
        for _ in 0..2 {
            if let Some(at) = self.next(place.turn, place.rounds + place.tries > 0, fresh, &user) {
                if at != place.turn {
                    *place = Place { turn: at, lap: place.lap, ..Place::default() };
                }
                let turn = &self.script.turns[at];
                let Place { rounds, tries, lap, .. } = *place;
                place.go_on(turn);
                return Taken::Turn(turn, Showing { turn: at, round: rounds + 1, tries, lap });
            }
            match self.script.at_end {
                AtEnd::Error => return Taken::Nothing,
                AtEnd::Offline => return Taken::Offline,
                AtEnd::Repeat => *place = Place { lap: place.lap + 1, ..Place::default() },
            }
        }
        Taken::Nothing
    }

    /// Which turn at or after `from` answers; one that has begun goes on.
    fn next(&self, from: usize, begun: bool, fresh: bool, user: &str) -> Option<usize> {
        if begun {
            return Some(from);
        }
        let matches = |turn: &Turn| turn.when.as_ref().map(|when| when.user.matches(user));
        let left = || self.script.turns.iter().enumerate().skip(from);
        let asked_for = left().find(|(_, turn)| fresh && matches(turn) == Some(true));
        asked_for.or_else(|| left().find(|(_, turn)| matches(turn) != Some(false))).map(|(at, _)| at)
    }
}

impl Place {
    /// Moves on by one answer of `turn`.
    fn go_on(&mut self, turn: &Turn) {
        let faults: u32 = turn
            .emit
            .iter()
            .map(|emit| match emit {
                Emit::Fault { times, .. } => *times,
                _ => 0,
            })
            .fold(0, u32::saturating_add);
        let ends_in_fault = matches!(turn.emit.last(), Some(Emit::Fault { .. }));
        self.tries = self.tries.saturating_add(1);
        if self.tries > faults || ends_in_fault && self.tries == faults {
            self.tries = 0;
            self.rounds += 1;
        }
        if self.rounds == turn.repeat {
            *self = Self { turn: self.turn + 1, lap: self.lap, ..Self::default() };
        }
    }
}

impl Model for Scripted {
    fn id(&self) -> &str {
        &self.id
    }

    fn name(&self) -> &str {
        &self.script.model
    }

    fn price(&self) -> Option<Price> {
        self.script.price
    }

    fn context_window(&self) -> Option<u64> {
        self.script.context_window
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> BoxStream<'a, Result<Chunk, ModelError>> {
        match self.answer(&request) {
            Some(pieces) => stream::unfold(VecDeque::from(pieces), next_chunk).boxed(),
            None => self.offline.stream(request),
        }
    }
}

/// The next chunk, after the waits before it.
async fn next_chunk(mut pieces: VecDeque<Piece>) -> Option<(Result<Chunk, ModelError>, VecDeque<Piece>)> {
    loop {
        let chunk = match pieces.pop_front()? {
            Piece::Wait(time) => {
                tokio::time::sleep(time).await;
                continue;
            }
            // Calls come with the whole reply, and there is no wire.
            Piece::Texts { times: 0, .. } | Piece::Call { .. } | Piece::Raw(_) => continue,
            Piece::Texts { text, times } => {
                pieces.push_front(Piece::Texts { text: text.clone(), times: times - 1 });
                Ok(Chunk::Delta(DeltaKind::Text, text))
            }
            Piece::Text(text) => Ok(Chunk::Delta(DeltaKind::Text, text)),
            Piece::Thinking { text, .. } => Ok(Chunk::Delta(DeltaKind::Thinking, text)),
            Piece::Fault(fault) => Err(fault.error()),
            Piece::Fail(error) => Err(error),
            Piece::Done(reply) => Ok(Chunk::Done(reply)),
        };
        return Some((chunk, pieces));
    }
}
