//! A host that is a channel, for front ends that have a loop of their own.

use crate::agent::Host;
use crate::ask::{Answer, Ask};
use crate::event::Stamped;
use crate::workspace::Workspace;
use async_trait::async_trait;
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot};

/// What an inbox receives: things to show, and things to answer.
#[derive(Debug)]
pub enum Heard {
    /// Something happened.
    Event(Box<Stamped>),
    /// Something has to be decided.
    Asked(Box<Ask>, oneshot::Sender<Answer>),
}

/// A bounded channel that is a [`Host`] at one end.
pub fn inbox(workspace: Arc<dyn Workspace>, depth: usize) -> (Arc<dyn Host>, mpsc::Receiver<Heard>) {
    let (heard, receiver) = mpsc::channel(depth);
    (Arc::new(Sender { heard, workspace }), receiver)
}

struct Sender {
    heard: mpsc::Sender<Heard>,
    workspace: Arc<dyn Workspace>,
}

#[async_trait]
impl Host for Sender {
    async fn event(&self, event: &Stamped) {
        // A receiver that is gone has stopped caring; the event is in the store all the same.
        self.heard.send(Heard::Event(Box::new(event.clone()))).await.ok();
    }

    async fn ask(&self, ask: &Ask) -> Answer {
        let (answer, answered) = oneshot::channel();
        if self.heard.send(Heard::Asked(Box::new(ask.clone()), answer)).await.is_err() {
            return Answer::Cancelled;
        }
        answered.await.unwrap_or(Answer::Cancelled)
    }

    fn workspace(&self) -> Arc<dyn Workspace> {
        Arc::clone(&self.workspace)
    }
}
