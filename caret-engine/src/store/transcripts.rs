//! The plain files that other programs read: the transcript of a chat, and what the user typed.
//!
//! Both only grow at their end, so a turn costs the same in a long chat.

use super::StoreError;
use super::layout::{append_to, make_folder, open_private, refused, replace};
use super::messages::wrapped;
use caret_protocol::content::{Block, Content, Reply, plain};
use caret_protocol::event::{EndReason, Event, Stamped};
use serde_json::{Value, json};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;

/// How many prompts are kept when the list is cut.
const KEPT_PROMPTS: usize = 100;
/// How many prompts the list may have before it is cut.
const MOST_PROMPTS: u64 = 150;

/// The lines and prompts of some events.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Lines {
    /// For the transcript, each with its line end.
    pub(super) transcript: String,
    /// What the user said.
    pub(super) prompts: Vec<String>,
    /// How many messages these events make.
    pub(super) messages: u64,
}

impl Lines {
    /// Takes one more event.
    pub(super) fn apply(&mut self, stamped: &Stamped) {
        if stamped.under.is_some() {
            return;
        }
        match &stamped.event {
            Event::Prompted { content } => {
                let text = plain(content);
                let parts: Vec<Value> = content.iter().filter_map(user_part).collect();
                self.line(&json!({"role": "user", "message": {"content": parts}}));
                self.prompts.push(text);
                self.messages += 1;
            }
            Event::Replied { reply } => {
                let parts = assistant_parts(reply);
                if !parts.is_empty() {
                    self.line(&json!({"role": "assistant", "message": {"content": parts}}));
                }
                self.messages += 1;
            }
            Event::ToolEnded { .. } | Event::Compacted { .. } => self.messages += 1,
            Event::TurnEnded { end, .. } => {
                self.line(&json!({"type": "turn_ended", "status": status(&end.reason)}));
            }
            _ => {}
        }
    }

    fn line(&mut self, line: &Value) {
        self.transcript.push_str(&line.to_string());
        self.transcript.push('\n');
    }
}

fn user_part(content: &Content) -> Option<Value> {
    match content {
        Content::Image { .. } => None,
        Content::Text { text } => Some(json!({"type": "text", "text": wrapped(text)})),
        other => Some(json!({"type": "text", "text": other.plain()})),
    }
}

fn assistant_parts(reply: &Reply) -> Vec<Value> {
    let part = |block: &Block| match block {
        Block::Text { text } => Some(json!({"type": "text", "text": text})),
        Block::Call { call } => Some(json!({"type": "tool_use", "name": call.name, "input": call.input})),
        _ => None,
    };
    reply.blocks.iter().filter_map(part).collect()
}

fn status(reason: &EndReason) -> &'static str {
    match reason {
        EndReason::Stopped { .. } => "success",
        EndReason::Cancelled | EndReason::Interrupted => "aborted",
        _ => "error",
    }
}

/// Adds lines to a chat's transcript.
pub(super) fn append(folder: &Path, session: &str, lines: &str) -> Result<(), StoreError> {
    if lines.is_empty() {
        return Ok(());
    }
    make_folder(folder)?;
    append_to(&folder.join(format!("{session}.jsonl")), lines.as_bytes())
}

/// Adds prompts to a chat's list of them: a JSON array whose closing bracket is overwritten. `known` is how
/// many it has; gives back how many it has now.
pub(super) fn remember(folder: &Path, prompts: &[String], known: u64) -> Result<u64, StoreError> {
    if prompts.is_empty() {
        return Ok(known);
    }
    let path = folder.join("prompt_history.json");
    let failed = |error| refused(&path, &error);
    let mut file = open_private(&path)?;
    let all = known + prompts.len() as u64;
    let mut tail = [0; 2];
    if file.metadata().map_err(failed)?.len() > 2 && known > 0 && all <= MOST_PROMPTS {
        file.seek(SeekFrom::End(-2)).and_then(|_| file.read_exact(&mut tail)).map_err(failed)?;
    }
    if tail != *b"\"]" {
        return rewrite(&path, prompts);
    }
    let added: String = prompts.iter().map(|prompt| format!(",{}", json!(prompt))).collect();
    let added = format!("{added}]");
    let written = file.seek(SeekFrom::End(-1)).and_then(|_| file.write_all(added.as_bytes()));
    written.map_err(failed)?;
    Ok(all)
}

/// Writes the list anew, with the last prompts that it had.
fn rewrite(path: &Path, prompts: &[String]) -> Result<u64, StoreError> {
    // A list that cannot be read is a convenience lost, no reason to stop.
    let known = std::fs::read(path).unwrap_or_default();
    let mut all: Vec<String> = serde_json::from_slice(&known).unwrap_or_default();
    all.extend_from_slice(prompts);
    all.drain(..all.len().saturating_sub(KEPT_PROMPTS));
    replace(path, json!(all).to_string().as_bytes())?;
    Ok(all.len() as u64)
}
