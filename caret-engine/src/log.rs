//! The one door out of a turn: stamp, record, show.
//!
//! Invariant: a durable event is in the store before the host sees it, and the host sees events in the
//! order of their numbers.

use crate::clock::Clock;
use crate::mutex::lock;
use crate::store::{Chat, StoreError, message_bytes};
use caret_protocol::agent::Host;
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
    conversation: Mutex<(Transcript, Vec<Message>)>,
    /// Held while events are recorded and shown, so that calls that run together keep their order.
    order: tokio::sync::Mutex<()>,
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
        let (transcript, messages) = &mut *lock(&self.conversation);
        for event in &durable {
            transcript.apply(event, messages);
        }
        Ok(stamped)
    }

    /// Shows events that could not be recorded, so that every turn has its end all the same.
    pub(crate) async fn show(&self, events: Vec<Event>) {
        for event in self.stamp(events) {
            self.host.event(&event).await;
        }
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
        self.lock_messages().1.clone()
    }

    /// About how many bytes this turn's messages have for a model.
    pub(crate) fn bytes(&self) -> u64 {
        self.lock_messages().1.iter().map(message_bytes).sum()
    }

    fn lock_messages(&self) -> MutexGuard<'_, (Transcript, Vec<Message>)> {
        lock(&self.conversation)
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.clock.now_ms()
    }
}
