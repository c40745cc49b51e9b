//! The one door out of a turn: stamp, record, show.
//!
//! Invariant: a durable event is in the store before the host sees it, and the host sees events in the
//! order of their numbers.

use crate::clock::Clock;
use crate::mutex::lock;
use crate::store::{Chat, StoreError, message_bytes};
use caret_protocol::agent::Host;
use caret_protocol::content::{Outcome, ToolCall};
use caret_protocol::event::{Event, Stamped};
use caret_protocol::ids::SessionId;
use caret_protocol::projection::Projection;
use caret_protocol::transcript::{Message, Transcript};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// The events of one turn, as they happen.
pub(crate) struct Log {
    session: SessionId,
    chat: Arc<dyn Chat>,
    host: Arc<dyn Host>,
    clock: Arc<dyn Clock>,
    /// The number of the last durable event.
    seq: AtomicU64,
    conversation: Mutex<Conversation>,
    /// Held while events are recorded and shown, so that calls that run together keep their order.
    order: tokio::sync::Mutex<()>,
}

/// The turn as a model sees it, and what is still open in it.
#[derive(Default)]
struct Conversation {
    transcript: Transcript,
    messages: Vec<Message>,
    /// Calls without an end, and when they were started.
    open: Vec<(ToolCall, Option<u64>)>,
}

impl Conversation {
    fn apply(&mut self, stamped: &Stamped) {
        self.transcript.apply(stamped, &mut self.messages);
        match &stamped.event {
            Event::Replied { reply } => self.open.extend(reply.calls().map(|call| (call.clone(), None))),
            Event::ToolStarted { call } => {
                let known = self.open.iter_mut().filter(|(open, _)| open.id == call.id);
                known.for_each(|(_, started)| *started = Some(stamped.at_ms));
            }
            Event::ToolEnded { call, .. } => self.open.retain(|(open, _)| open.id != call.id),
            _ => {}
        }
    }
}

impl Log {
    pub(crate) fn new(
        session: SessionId,
        chat: Arc<dyn Chat>,
        host: Arc<dyn Host>,
        clock: Arc<dyn Clock>,
        last_seq: u64,
    ) -> Self {
        let seq = AtomicU64::new(last_seq);
        Self {
            session,
            chat,
            host,
            clock,
            seq,
            conversation: Mutex::default(),
            order: tokio::sync::Mutex::default(),
        }
    }

    /// Records and shows one event; says when it happened.
    pub(crate) async fn emit(&self, event: Event) -> Result<u64, StoreError> {
        self.emit_all(vec![event]).await
    }

    /// Records events in one transaction, then shows them; says when they happened.
    pub(crate) async fn emit_all(&self, events: Vec<Event>) -> Result<u64, StoreError> {
        let _in_order = self.order.lock().await;
        let stamped = self.record(events)?;
        for event in &stamped {
            self.host.event(event).await;
        }
        Ok(stamped.first().map(|event| event.at_ms).unwrap_or_default())
    }

    /// Records without showing; the caller shows what it gets back.
    pub(crate) fn record(&self, events: Vec<Event>) -> Result<Vec<Stamped>, StoreError> {
        let stamped: Vec<Stamped> = self.stamp(events);
        if stamped.iter().all(|stamped| !stamped.event.is_durable()) {
            return Ok(stamped);
        }
        let durable: Vec<Stamped> =
            stamped.iter().filter(|stamped| stamped.event.is_durable()).cloned().collect();
        self.chat.append(&durable)?;
        if let Some(last) = durable.last() {
            self.seq.store(last.seq, Ordering::Relaxed);
        }
        let mut conversation = self.conversation();
        durable.iter().for_each(|event| conversation.apply(event));
        Ok(stamped)
    }

    /// Shows events that could not be recorded, so that every turn has its end all the same. They have no
    /// numbers of their own.
    pub(crate) async fn show(&self, events: Vec<Event>) {
        let seq = self.last_seq();
        for event in self.stamp(events) {
            self.host.event(&Stamped { seq, ..event }).await;
        }
    }

    /// Closes the calls that are open because a record of theirs was lost.
    pub(crate) fn closing(&self) -> Vec<Event> {
        let open = self.conversation().open.clone();
        open.into_iter()
            .flat_map(|(call, started)| {
                let outcome = if started.is_some() { Outcome::Unknown } else { Outcome::Cancelled };
                let start = started.is_none().then(|| Event::ToolStarted { call: call.clone() });
                let started_ms = started.unwrap_or_else(|| self.clock.now_ms());
                start.into_iter().chain([Event::ToolEnded { call, outcome, started_ms }])
            })
            .collect()
    }

    pub(crate) async fn show_stamped(&self, events: &[Stamped]) {
        for event in events {
            self.host.event(event).await;
        }
    }

    fn stamp(&self, events: Vec<Event>) -> Vec<Stamped> {
        let at_ms = self.clock.now_ms();
        let mut seq = self.seq.load(Ordering::Relaxed);
        let stamp = |event: Event| {
            seq += u64::from(event.is_durable());
            Stamped { seq, at_ms, session: self.session.clone(), under: None, event, raw: None }
        };
        events.into_iter().map(stamp).collect()
    }

    /// The number of the last durable event.
    pub(crate) fn last_seq(&self) -> u64 {
        self.seq.load(Ordering::Relaxed)
    }

    /// This turn's messages so far.
    pub(crate) fn messages(&self) -> Vec<Message> {
        self.conversation().messages.clone()
    }

    /// About how many bytes this turn's messages have for a model.
    pub(crate) fn bytes(&self) -> u64 {
        self.conversation().messages.iter().map(message_bytes).sum()
    }

    fn conversation(&self) -> MutexGuard<'_, Conversation> {
        lock(&self.conversation)
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }
}
