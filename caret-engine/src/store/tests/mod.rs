//! Tests of the store, and what they share: a temporary folder, and turns to write.

mod concurrency;
mod conversations;
#[cfg(target_os = "linux")]
mod cost;
mod damage;
mod foreign;
mod upkeep;
mod vectors;

use super::{Chat, ChatState, DiskStore, Store as _, StoreSettings};
use caret_protocol::content::{Block, Content, Outcome, Reply, Stop, ToolCall, ToolOutput, Usage};
use caret_protocol::details::{Details, ReadDone, ReadRange};
use caret_protocol::event::{EndReason, Event, Opened, Stamped, TurnEnd};
use caret_protocol::ids::{SessionId, TurnId};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) const CWD: &str = "/home/user/project";
pub(super) const CHAT: &str = "11111111-1111-4111-8111-111111111111";

/// A store in a temporary folder.
pub(super) struct Fixture {
    pub(super) folder: tempfile::TempDir,
    pub(super) store: DiskStore,
}

pub(super) fn fixture() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let store = store_at(folder.path(), true);
    Fixture { folder, store }
}

pub(super) fn store_at(folder: &Path, exact_root: bool) -> DiskStore {
    DiskStore::new(StoreSettings {
        config_root: folder.join("config"),
        data_root: folder.join("data"),
        client: "cli",
        time_zone: "Europe/Paris".into(),
        exact_root,
    })
}

impl Fixture {
    pub(super) fn chat(&self) -> Arc<dyn Chat> {
        self.store.open(Path::new(CWD), &SessionId::new(CHAT)).unwrap()
    }

    pub(super) fn chat_folder(&self) -> PathBuf {
        self.folder.path().join("config/chats/90722f2638004be06d790eaac9ac1f8a").join(CHAT)
    }
}

/// Events with the numbers and times that follow those of a chat.
pub(super) fn stamped(after: u64, events: Vec<Event>) -> Vec<Stamped> {
    let stamp = |(seq, event)| Stamped {
        seq,
        at_ms: 1_790_000_000_000 + seq,
        session: SessionId::new(CHAT),
        under: None,
        event,
        raw: None,
    };
    (after + 1..).zip(events).map(stamp).collect()
}

pub(super) fn opened() -> Event {
    let opened = Opened { cwd: CWD.into(), model: "small".into(), ..Opened::default() };
    Event::Opened { opened }
}

pub(super) fn started(turn: &str) -> Event {
    Event::TurnStarted { turn: TurnId::new(turn) }
}

pub(super) fn prompted(text: &str) -> Event {
    Event::Prompted { content: vec![Content::text(text)] }
}

pub(super) fn replied(id: &str, blocks: Vec<Block>) -> Event {
    let calls = blocks.iter().any(|block| matches!(block, Block::Call { .. }));
    let stop = if calls { Stop::ToolCalls } else { Stop::EndTurn };
    Event::Replied { reply: Reply { id: id.into(), blocks, stop, usage: Usage::default() } }
}

pub(super) fn text(text: &str) -> Block {
    Block::Text { text: text.into() }
}

pub(super) fn read_call(id: &str) -> ToolCall {
    ToolCall::new(id, "Read", json!({"path": "/home/user/project/a.txt"}))
}

pub(super) fn call(id: &str) -> Block {
    Block::Call { call: read_call(id) }
}

pub(super) fn read_ended(id: &str, content: &str) -> Event {
    let details = Details::Read(ReadDone {
        content: content.into(),
        total_lines: 3,
        file_size: content.len() as u64,
        path: "/home/user/project/a.txt".into(),
        read_range: ReadRange { start_line: 1, end_line: 3 },
        ..ReadDone::default()
    });
    let output = ToolOutput { for_model: content.into(), details };
    Event::ToolEnded { call: read_call(id), outcome: Outcome::Done { output }, started_ms: 1_790_000_000_000 }
}

pub(super) fn ended(turn: &str) -> Event {
    let end = TurnEnd {
        reason: EndReason::Stopped { stop: Stop::EndTurn },
        usage: Usage::default(),
        duration_ms: 0,
        cost_usd: None,
    };
    Event::TurnEnded { turn: TurnId::new(turn), end }
}

/// A turn with thoughts, a call and an answer: four messages.
pub(super) fn turn(name: &str, prompt: &str) -> Vec<Event> {
    let thought = Block::Thinking { text: "hm".into(), signature: Some("sig".into()) };
    let id = format!("call-{name}");
    vec![
        started(name),
        prompted(prompt),
        replied("msg_1", vec![thought, text("Looking."), call(&id)]),
        Event::ToolStarted { call: read_call(&id) },
        read_ended(&id, "one\ntwo\n"),
        replied("msg_2", vec![text(&format!("answer to {prompt}"))]),
        ended(name),
    ]
}

/// Runs events as one turn of a chat: held, recorded, ended.
pub(super) fn run(chat: &dyn Chat, events: Vec<Event>) -> ChatState {
    let hold = chat.hold().unwrap().expect("nobody has the chat");
    let before = chat.state().unwrap();
    let events = stamped(before.last_seq, events);
    chat.append(&events).unwrap();
    let state = chat.state().unwrap();
    chat.end_turn(&state).unwrap();
    drop(hold);
    state
}
