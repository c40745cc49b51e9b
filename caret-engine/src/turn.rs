//! The loop: prompt the model, run what it calls, until it calls nothing more.
//!
//! Waiting happens through two helpers, `or_cancelled` for what may be dropped (a model stream, an ask)
//! and `in_grace` for what must clean up after itself (a tool). Hooks, retries, compaction and sub-agents
//! are steps that the loop calls, not branches that it grows.
//!
//! Invariant: every call of a reply is closed by one `ToolEnded`, whatever happens in between.

use crate::calls::{LoopGuard, Prepared};
use crate::engine::Limits;
use crate::log::Log;
use crate::model::{Chunk, Model, ModelError, Past, Request};
use crate::permission::Policy;
use crate::retry;
use crate::store::StoreError;
use crate::tools::{Memory, Place, Profile, Toolbox};
use caret_protocol::agent::{Host, TurnControl};
use caret_protocol::content::{Block, Reply, Usage};
use caret_protocol::event::{EndReason, Event, FailureClass, Limit, Mode, Notice};
use caret_protocol::ids::{SessionId, TurnId};
use futures_util::StreamExt;
use futures_util::future::try_join_all;
use std::sync::Mutex;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long a tool may take to clean up after a cancel; a shell gives its processes two seconds.
const GRACE: Duration = Duration::from_secs(6);
/// How often a model call is tried before the turn fails.
const TRIES: u32 = 5;

/// One turn of a session.
pub(crate) struct Turn<'a> {
    pub(crate) session: &'a SessionId,
    pub(crate) id: &'a TurnId,
    pub(crate) number: u64,
    pub(crate) mode: Mode,
    pub(crate) model: &'a dyn Model,
    pub(crate) system: &'a str,
    pub(crate) tools: &'a Toolbox,
    pub(crate) profile: Profile,
    pub(crate) place: Place,
    pub(crate) memory: &'a Memory,
    pub(crate) policy: &'a Mutex<Policy>,
    pub(crate) past: &'a dyn Past,
    pub(crate) limits: Limits,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) log: &'a Log,
    pub(crate) host: &'a dyn Host,
    pub(crate) control: TurnControl,
    pub(crate) usage: Usage,
    pub(crate) spent: f64,
    pub(crate) step: u32,
    pub(crate) guard: LoopGuard,
}

/// Why a turn did not end by itself.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TurnError {
    #[error("cancelled")]
    Cancelled,
    #[error(transparent)]
    Model(#[from] ModelError),
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<TurnError> for EndReason {
    fn from(error: TurnError) -> Self {
        let message = error.to_string();
        match error {
            TurnError::Cancelled => Self::Cancelled,
            TurnError::Model(error) => Self::Failed { class: error.class(), message },
            TurnError::Store(_) => Self::Failed { class: FailureClass::Store, message },
        }
    }
}

impl Turn<'_> {
    /// Prompts the model and runs what it calls, until it calls nothing more.
    pub(crate) async fn run(&mut self) -> Result<EndReason, TurnError> {
        loop {
            while let Ok(content) = self.control.said.try_recv() {
                self.log.emit(Event::Prompted { content }).await?;
            }
            if let Some(limit) = self.limit_reached() {
                return Ok(limit);
            }
            let mut reply = self.sample().await?;
            self.step += 1;
            self.usage += reply.usage;
            let (stop, usage) = (reply.stop, reply.usage);
            let batches = self.prepare(&mut reply);
            let mut events = vec![Event::Replied { reply }, Event::Measured { usage }];
            events.extend(batches.first().into_iter().flatten().map(Prepared::started));
            let mut started_ms = self.log.emit_all(events).await?;
            if batches.is_empty() && self.control.said.is_empty() {
                return Ok(EndReason::Stopped { stop });
            }
            for (at, batch) in batches.into_iter().enumerate() {
                if at > 0 {
                    started_ms = self.log.emit_all(batch.iter().map(Prepared::started).collect()).await?;
                }
                try_join_all(batch.into_iter().map(|call| self.finish(call, started_ms))).await?;
            }
            if self.control.cancel.is_cancelled() {
                return Err(TurnError::Cancelled);
            }
        }
    }

    /// Asks the model, again and again while that may help.
    async fn sample(&self) -> Result<Reply, TurnError> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.sample_once().await {
                Err(TurnError::Model(error)) if error.is_passing() && tries < TRIES => {
                    let wait = retry::wait(self.id, tries, &error);
                    let text = format!("{error}; trying again in {:.1} s", wait.as_secs_f32());
                    self.log.emit(Event::Noticed { notice: Notice { source: "retry".into(), text } }).await?;
                    self.or_cancelled(tokio::time::sleep(wait)).await?;
                }
                other => return other,
            }
        }
    }

    async fn sample_once(&self) -> Result<Reply, TurnError> {
        let messages = self.log.messages();
        let mut chunks = self.model.stream(Request {
            session: self.session,
            turn: self.id,
            turn_number: self.number,
            step: self.step,
            cwd: &self.place.root,
            mode: self.mode,
            system: self.system,
            tools: self.tools.specs(self.mode, self.profile),
            past: self.past,
            messages: &messages,
        });
        while let Some(chunk) = self.or_cancelled(chunks.next()).await? {
            match chunk? {
                Chunk::Delta(kind, text) => {
                    self.log.emit(Event::Delta { kind, text }).await?;
                }
                Chunk::Done(reply) => {
                    return Ok(Reply { id: retry::model_call(self.id, self.step), ..reply });
                }
            }
        }
        Err(ModelError::Broken("the stream ended before the reply did".into()).into())
    }

    fn limit_reached(&self) -> Option<EndReason> {
        if self.guard.gave_up() {
            let message = "the model repeats the same call and does not listen".into();
            return Some(EndReason::Limit { limit: Limit::Loop, message });
        }
        let cost = self.spent + self.cost().unwrap_or_default();
        self.limits.reached(self.step, self.usage.total(), cost)
    }

    /// What the turn cost so far, if the model's price is known.
    pub(crate) fn cost(&self) -> Option<f64> {
        self.model.price().map(|price| price.cost(self.usage))
    }

    fn prepare(&mut self, reply: &mut Reply) -> Vec<Vec<Prepared>> {
        let mut prepared: Vec<Prepared> = Vec::new();
        for block in &mut reply.blocks {
            if let Block::Call { call } = block {
                let ready = self.guard.prepare(call, self.tools, &self.place, prepared.len());
                *call = ready.call.clone();
                prepared.push(ready);
            }
        }
        Prepared::batches(prepared)
    }

    /// Waits for what may be dropped.
    pub(crate) async fn or_cancelled<T>(&self, work: impl Future<Output = T>) -> Result<T, TurnError> {
        tokio::select! {
            biased;
            () = self.control.cancel.cancelled() => Err(TurnError::Cancelled),
            value = work => Ok(value),
        }
    }

    /// Waits for work that was told to stop itself; after a cancel, only a little longer.
    pub(crate) async fn in_grace<T>(&self, work: impl Future<Output = T>) -> Result<T, TurnError> {
        let cancel: &CancellationToken = &self.control.cancel;
        let patience = async {
            cancel.cancelled().await;
            tokio::time::sleep(GRACE).await;
        };
        tokio::select! {
            biased;
            value = work => Ok(value),
            () = patience => Err(TurnError::Cancelled),
        }
    }
}
