//! A host that keeps what it hears, answers as it was told, and can cancel at any event.

use async_trait::async_trait;
use caret_protocol::agent::{Host, TurnHandle};
use caret_protocol::ask::{Answer, Ask};
use caret_protocol::event::{Event, Stamped};
use caret_protocol::workspace::Workspace;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use tokio_util::sync::CancellationToken;

type Decide = Box<dyn FnMut(&Ask) -> Answer + Send>;
type Watch = Arc<dyn Fn(&Stamped) + Send + Sync>;

/// A host that keeps what it hears.
pub struct Recorder {
    workspace: Arc<dyn Workspace>,
    heard: Mutex<Vec<Stamped>>,
    asked: Mutex<Vec<Ask>>,
    decide: Mutex<Decide>,
    watch: Mutex<Option<Watch>>,
    cancel: Mutex<Option<(usize, CancellationToken)>>,
    slow: AtomicBool,
}

impl Recorder {
    /// A host that lends this workspace. Nobody answers its asks.
    pub fn new(workspace: Arc<dyn Workspace>) -> Self {
        let nobody = |_: &Ask| Answer::Skipped { reason: "nobody is there".into() };
        Self {
            workspace,
            heard: Mutex::default(),
            asked: Mutex::default(),
            decide: Mutex::new(Box::new(nobody)),
            watch: Mutex::default(),
            cancel: Mutex::default(),
            slow: AtomicBool::new(false),
        }
    }

    /// Takes its time over events from now on, over some of them more than over those behind.
    pub fn slow_down(&self) {
        self.slow.store(true, Ordering::Relaxed);
    }

    /// Answers asks with these, one after the other; nobody answers those that come after.
    pub fn answer(&self, answers: impl IntoIterator<Item = Answer>) {
        let mut answers: VecDeque<Answer> = answers.into_iter().collect();
        self.decide(move |_| {
            answers.pop_front().unwrap_or_else(|| Answer::Skipped { reason: "nobody is there".into() })
        });
    }

    /// Answers every ask in this way.
    pub fn decide(&self, decide: impl FnMut(&Ask) -> Answer + Send + 'static) {
        *lock(&self.decide) = Box::new(decide);
    }

    /// Calls this at every event, before the agent goes on.
    pub fn watch(&self, watch: impl Fn(&Stamped) + Send + Sync + 'static) {
        *lock(&self.watch) = Some(Arc::new(watch));
    }

    /// Cancels the turn of `handle` at the event that comes when `number` events were heard, from now.
    pub fn cancel_after(&self, number: usize, handle: &TurnHandle) {
        let at = lock(&self.heard).len() + number;
        *lock(&self.cancel) = Some((at, handle.cancel.clone()));
    }

    /// Everything that was heard.
    pub fn heard(&self) -> Vec<Stamped> {
        lock(&self.heard).clone()
    }

    /// Everything that was heard, without stamps.
    pub fn events(&self) -> Vec<Event> {
        lock(&self.heard).iter().map(|stamped| stamped.event.clone()).collect()
    }

    /// Forgets what was heard.
    pub fn forget(&self) {
        lock(&self.heard).clear();
    }

    /// Everything that was asked.
    pub fn asked(&self) -> Vec<Ask> {
        lock(&self.asked).clone()
    }
}

#[async_trait]
impl Host for Recorder {
    async fn event(&self, event: &Stamped) {
        if self.slow.load(Ordering::Relaxed) {
            let mut rests = 8 - event.seq % 8;
            poll_fn(|cx| {
                rests -= 1;
                cx.waker().wake_by_ref();
                if rests == 0 { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
        }
        let watch = lock(&self.watch).clone();
        if let Some(watch) = watch {
            watch(event);
        }
        let count = {
            let mut heard = lock(&self.heard);
            heard.push(event.clone());
            heard.len()
        };
        if let Some((at, cancel)) = &*lock(&self.cancel)
            && count == *at
        {
            cancel.cancel();
        }
    }

    async fn ask(&self, ask: &Ask) -> Answer {
        lock(&self.asked).push(ask.clone());
        lock(&self.decide)(ask)
    }

    fn workspace(&self) -> Arc<dyn Workspace> {
        Arc::clone(&self.workspace)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
