//! The wire formats against conversations and streams that were written down.
//!
//! Everything here is pure: no server, no sockets. Streams are files in `streams`, bodies are snapshots in
//! `requests`.

mod bodies;
mod damage;
mod prefix;
mod replies;

use super::{Family, Reader, Target, family};
use crate::model::{Chunk, ModelError, Past, Request};
use crate::tools::ToolSpec;
use caret_protocol::content::{Content, Reply};
use caret_protocol::event::Mode;
use caret_protocol::ids::{CallId, SessionId, TurnId};
use caret_protocol::transcript::Message;
use serde_json::json;
use std::path::{Path, PathBuf};

/// The four formats, each by its name.
const NAMES: [&str; 4] = ["chat", "responses", "messages", "gemini"];

fn named(name: &str) -> Box<dyn Family> {
    family(name).unwrap()
}

fn target() -> Target {
    Target {
        model: "small".into(),
        max_output: 8000,
        effort: Some("medium".into()),
        images: true,
        thinking: true,
        ..Target::default()
    }
}

struct Before(Vec<Message>);

impl Past for Before {
    fn messages(&self) -> Result<&[Message], ModelError> {
        Ok(&self.0)
    }

    fn bytes(&self) -> u64 {
        0
    }
}

/// A conversation, and a way to ask about it.
struct Talk {
    session: SessionId,
    turn: TurnId,
    tools: Vec<ToolSpec>,
    before: Before,
    messages: Vec<Message>,
    step: u32,
}

impl Talk {
    fn new(before: Vec<Message>, messages: Vec<Message>) -> Self {
        let tool = |name, description| ToolSpec {
            name,
            description,
            input: json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
            read_only: true,
        };
        Self {
            session: SessionId::new("session-1"),
            turn: TurnId::new("turn-1"),
            tools: vec![tool("Ls", "Lists."), tool("Read", "Reads."), tool("Shell", "Runs.")],
            before: Before(before),
            messages,
            step: 0,
        }
    }

    fn request(&self) -> Request<'_> {
        Request {
            session: &self.session,
            turn: &self.turn,
            turn_number: 0,
            step: self.step,
            cwd: Path::new("/ws"),
            mode: Mode::Agent,
            system: "Be brief.",
            tools: &self.tools,
            past: &self.before,
            messages: &self.messages,
        }
    }
}

fn user(text: &str) -> Message {
    Message::User { content: vec![Content::text(text)], turn: TurnId::new("t") }
}

fn assistant(blocks: Vec<caret_protocol::content::Block>) -> Message {
    Message::Assistant { reply: Reply { blocks, ..Reply::default() } }
}

fn result(id: &str, text: &str) -> Message {
    Message::Tool { call: CallId::new(id), name: "Read".into(), text: text.into(), is_error: false }
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/model/http/streams").join(name)
}

/// The streams of a family: names and contents, sorted.
fn streams(name: &str) -> Vec<(String, String)> {
    let files = std::fs::read_dir(folder(name)).unwrap().map(|entry| entry.unwrap().path());
    let mut streams: Vec<(String, String)> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "sse"))
        .map(|path| {
            let text = std::fs::read_to_string(&path).unwrap();
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), text)
        })
        .collect();
    streams.sort();
    streams
}

fn stream(family: &str, name: &str) -> String {
    std::fs::read_to_string(folder(family).join(name).with_extension("sse")).unwrap()
}

/// Name and data of each event; the last one may lack its blank line.
fn events(stream: &str) -> Vec<(String, String)> {
    let event = |text: &str| {
        let field = |name: &str| {
            let lines = text.lines().filter_map(|line| line.strip_prefix(name));
            lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect::<Vec<_>>().join("\n")
        };
        (field("event:"), field("data:"))
    };
    stream.split("\n\n").map(event).filter(|(_, data)| !data.is_empty()).collect()
}

/// What was shown, and what came of it.
fn play(mut reader: Box<dyn Reader>, events: &[(String, String)]) -> (Vec<Chunk>, Result<Reply, ModelError>) {
    let mut shown = Vec::new();
    for (name, data) in events {
        match reader.event(name, data) {
            Ok(chunks) => shown.extend(chunks),
            Err(error) => return (shown, Err(error)),
        }
        if reader.is_done() {
            break;
        }
    }
    (shown, reader.finish())
}

fn read(family: &dyn Family, talk: &Talk, stream: &str) -> Result<Reply, ModelError> {
    play(family.reader(&target(), &talk.request()), &events(stream)).1
}
