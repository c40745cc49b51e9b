//! Chats that are kept nowhere: for runs that must leave nothing behind, and for tests.

use super::recovery::CatchUp;
use super::{Chat, ChatState, Hold, Store, StoreError, Which, message_bytes, meta};
use caret_protocol::agent::SessionSummary;
use caret_protocol::content::plain;
use caret_protocol::event::{Event, Stamped};
use caret_protocol::ids::SessionId;
use caret_protocol::projection::Projection as _;
use caret_protocol::transcript::{Message, Transcript};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Chats in memory; they end with the process.
#[derive(Default)]
pub struct MemoryStore {
    chats: Mutex<HashMap<(PathBuf, SessionId), Arc<MemoryChat>>>,
}

impl MemoryStore {
    /// No chats yet.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Store for MemoryStore {
    fn open(&self, cwd: &Path, session: &SessionId) -> Result<Arc<dyn Chat>, StoreError> {
        let chat = Arc::clone(locked(&self.chats).entry((cwd.to_owned(), session.clone())).or_default());
        Ok(chat)
    }

    fn list(&self, which: Which<'_>, most: usize) -> Result<Vec<SessionSummary>, StoreError> {
        let chats = locked(&self.chats);
        let wanted = chats.iter().filter(|((cwd, _), _)| match which {
            Which::Of(workspace) => cwd == workspace,
            Which::All => true,
        });
        let mut list: Vec<_> = wanted.map(|((cwd, session), chat)| chat.summary(cwd, session)).collect();
        list.sort_by(|one, other| {
            other.updated_ms.cmp(&one.updated_ms).then(one.session.cmp(&other.session))
        });
        list.truncate(most);
        Ok(list)
    }
}

/// A chat in memory.
#[derive(Default)]
struct MemoryChat {
    kept: Mutex<Kept>,
    held: Arc<AtomicBool>,
}

#[derive(Default)]
struct Kept {
    events: Vec<Stamped>,
    state: ChatState,
}

impl Kept {
    /// The title that what was said first makes; `None` when nothing was said.
    fn made_title(&self) -> Option<String> {
        self.events.iter().find_map(|stamped| match &stamped.event {
            Event::Prompted { content } if stamped.under.is_none() => Some(meta::title_of(&plain(content))),
            _ => None,
        })
    }
}

impl MemoryChat {
    fn summary(&self, cwd: &Path, session: &SessionId) -> SessionSummary {
        let kept = locked(&self.kept);
        let made = kept.made_title();
        SessionSummary {
            session: session.clone(),
            cwd: cwd.to_owned(),
            has_conversation: made.is_some(),
            title: if kept.state.title.is_empty() {
                made.unwrap_or_default()
            } else {
                kept.state.title.clone()
            },
            created_ms: kept.events.first().map_or(0, |event| event.at_ms),
            updated_ms: kept.events.last().map_or(0, |event| event.at_ms),
        }
    }
}

/// Gives a chat in memory back.
struct Held(Arc<AtomicBool>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl Chat for MemoryChat {
    fn hold(&self) -> Result<Option<Hold>, StoreError> {
        let taken = self.held.swap(true, Ordering::AcqRel);
        Ok((!taken).then(|| Hold(Box::new(Held(Arc::clone(&self.held))))))
    }

    fn state(&self) -> Result<ChatState, StoreError> {
        let mut kept = locked(&self.kept);
        let session = kept.events.last().map_or_else(|| SessionId::new(""), |event| event.session.clone());
        let after = kept.state.last_seq;
        let mut catch_up = CatchUp::new(kept.state.clone());
        kept.events.iter().filter(|event| event.seq > after).for_each(|event| catch_up.apply(event));
        let is_held = self.held.load(Ordering::Acquire);
        let closing = if is_held { catch_up.closing(&session) } else { Vec::new() };
        closing.iter().for_each(|event| catch_up.apply(event));
        kept.events.extend(closing);
        if catch_up.recount {
            catch_up.state.bytes = messages(&kept.events, u64::MAX).iter().map(message_bytes).sum();
        }
        if catch_up.state.title.is_empty() {
            catch_up.state.title = kept.made_title().unwrap_or_default();
        }
        kept.state = catch_up.state;
        Ok(kept.state.clone())
    }

    fn append(&self, events: &[Stamped]) -> Result<(), StoreError> {
        let durable = events.iter().filter(|event| event.event.is_durable());
        locked(&self.kept).events.extend(durable.cloned());
        Ok(())
    }

    fn events(&self, after: u64) -> Result<Vec<Stamped>, StoreError> {
        let kept = locked(&self.kept);
        Ok(kept.events.iter().filter(|event| event.seq > after).cloned().collect())
    }

    fn messages(&self, upto: u64) -> Result<Vec<Message>, StoreError> {
        Ok(messages(&locked(&self.kept).events, upto))
    }

    fn end_turn(&self, state: &ChatState) -> Result<(), StoreError> {
        locked(&self.kept).state = state.clone();
        Ok(())
    }

    fn folder(&self) -> Option<&Path> {
        None
    }
}

fn messages(events: &[Stamped], upto: u64) -> Vec<Message> {
    let mut list = Vec::new();
    let mut transcript = Transcript::default();
    for event in events.iter().filter(|event| event.seq <= upto) {
        transcript.apply(event, &mut list);
    }
    list
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
