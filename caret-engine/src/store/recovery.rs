//! Brings a chat's state up to date, and ends a turn whose process died.
//!
//! Both need only the events since the state was kept, so resuming costs the same in a long chat.
//!
//! Invariant: after the closing events, every call has an end and no turn is open; nothing is run again.

use super::{ChatState, message_bytes};
use caret_protocol::content::{Outcome, ToolCall, Usage};
use caret_protocol::event::{Change, EndReason, Event, Stamped, TurnEnd};
use caret_protocol::ids::{CallId, SessionId, TurnId};
use caret_protocol::projection::Projection as _;
use caret_protocol::transcript::Transcript;

/// A state that catches up.
pub(super) struct CatchUp {
    /// The state so far.
    pub(super) state: ChatState,
    /// Whether the bytes of the conversation have to be counted anew.
    pub(super) recount: bool,
    turn: Option<TurnId>,
    calls: Vec<Open>,
    usage: Usage,
    at_ms: u64,
}

/// A call without an end.
struct Open {
    call: ToolCall,
    under: Option<CallId>,
    at_ms: u64,
    started: bool,
}

impl CatchUp {
    /// Goes on from a state that was kept.
    pub(super) fn new(state: ChatState) -> Self {
        let usage = Usage::default();
        Self { state, recount: false, turn: None, calls: Vec::new(), usage, at_ms: 0 }
    }

    /// Takes one more event.
    pub(super) fn apply(&mut self, stamped: &Stamped) {
        self.state.last_seq = stamped.seq;
        self.at_ms = stamped.at_ms;
        self.calls_of(stamped);
        if stamped.under.is_some() {
            return;
        }
        let state = &mut self.state;
        match &stamped.event {
            Event::Opened { opened } => state.model.clone_from(&opened.model),
            Event::TurnStarted { turn } => {
                state.turns += 1;
                self.usage = Usage::default();
                self.turn = Some(turn.clone());
            }
            Event::TurnEnded { end, .. } => {
                state.spend(end.cost_usd);
                self.turn = None;
            }
            Event::Measured { usage } => self.usage += *usage,
            Event::Planned { steps } => state.todos.clone_from(steps),
            Event::Configured { change: Change::Model { id, .. } } => state.model.clone_from(id),
            Event::Configured { change: Change::Title { title } } => state.title.clone_from(title),
            Event::Compacted { .. } => state.bytes = 0,
            Event::Rewound { .. } => self.recount = true,
            _ => {}
        }
        let mut messages = Vec::new();
        if !matches!(stamped.event, Event::Rewound { .. }) {
            Transcript::default().apply(stamped, &mut messages);
        }
        self.state.bytes += messages.iter().map(message_bytes).sum::<u64>();
    }

    fn calls_of(&mut self, stamped: &Stamped) {
        let under = &stamped.under;
        let at_ms = stamped.at_ms;
        match &stamped.event {
            Event::Replied { reply } => self.calls.extend(reply.calls().map(|call| Open {
                call: call.clone(),
                under: under.clone(),
                at_ms,
                started: false,
            })),
            Event::ToolStarted { call } => {
                let open = Open { call: call.clone(), under: under.clone(), at_ms, started: true };
                match self.calls.iter_mut().find(|known| known.call.id == call.id) {
                    Some(known) => *known = open,
                    None => self.calls.push(open),
                }
            }
            Event::ToolEnded { call, .. } => self.calls.retain(|known| known.call.id != call.id),
            Event::TurnStarted { .. } if under.is_none() => self.calls.clear(),
            _ => {}
        }
    }

    /// The events that end a turn whose process died; none when no turn is open.
    pub(super) fn closing(&self, session: &SessionId) -> Vec<Stamped> {
        let Some(turn) = &self.turn else { return Vec::new() };
        let ends = self.calls.iter().flat_map(|open| {
            // A call whose turn never came did not run, and that is known.
            let (outcome, started_ms) = match open.started {
                true => (Outcome::Unknown, open.at_ms),
                false => (Outcome::Cancelled, self.at_ms),
            };
            let start = (!open.started).then(|| Event::ToolStarted { call: open.call.clone() });
            let end = Event::ToolEnded { call: open.call.clone(), outcome, started_ms };
            start.into_iter().chain([end]).map(|event| (open.under.clone(), event))
        });
        let end =
            TurnEnd { reason: EndReason::Interrupted, usage: self.usage, duration_ms: 0, cost_usd: None };
        let end = (None, Event::TurnEnded { turn: turn.clone(), end });
        let events = ends.chain([end]).zip(self.state.last_seq + 1..);
        let stamp = |((under, event), seq)| Stamped {
            seq,
            // Nobody knows when it died; the last sign of life is the best guess.
            at_ms: self.at_ms,
            session: session.clone(),
            under,
            event,
            raw: None,
        };
        events.map(stamp).collect()
    }
}
