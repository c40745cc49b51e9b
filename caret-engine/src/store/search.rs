//! Finds words in the titles and conversations of chats.
//!
//! There is no index: chats are read one message at a time, newest chat first, until there are enough hits.

use super::blobs::Blobs;
use super::disk::DiskStore;
use super::events::Journal;
use super::listing::{Folder, chats, summary};
use super::nodes::{Ref, reference_of};
use super::sqlite::Make;
use super::turn_end::Base;
use super::{StoreError, Which, messages};
use caret_protocol::agent::SessionSummary;
use caret_protocol::content::plain;
use caret_protocol::event::Event;
use caret_protocol::transcript::{self, Message};
use std::ops::ControlFlow;

/// How many characters of a message a hit shows.
const SNIPPET: usize = 160;

/// Words that were found.
#[derive(Clone, Debug, PartialEq)]
pub struct Hit {
    /// The chat.
    pub summary: SessionSummary,
    /// What stands around the first word, on one line.
    pub snippet: String,
    /// Where in the chat.
    pub place: Place,
    /// The event, or the place in the list of messages for what another program wrote; 0 for a title.
    pub seq: u64,
}

/// Where in a chat words were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In its title.
    Title,
    /// In what the user said.
    User,
    /// In what the model said.
    Assistant,
}

impl DiskStore {
    /// The messages and titles that have all the words, whatever their case; at most `most`. A chat that
    /// cannot be read is passed over.
    pub fn search(&self, words: &str, which: Which<'_>, most: usize) -> Result<Vec<Hit>, StoreError> {
        let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
        let mut hits = Vec::new();
        if words.is_empty() || most == 0 {
            return Ok(hits);
        }
        for chat in chats(&self.roots, which)? {
            let Some(summary) = summary(&chat, which) else { continue };
            let mut look = Look { words: &words, summary: &summary, hits: &mut hits, most };
            let full = look.at(&summary.title, Place::Title, 0).is_break()
                || look.through(&chat).is_ok_and(|flow| flow.is_break());
            if full {
                break;
            }
        }
        Ok(hits)
    }
}

/// Looks through one chat.
struct Look<'a> {
    words: &'a [String],
    summary: &'a SessionSummary,
    hits: &'a mut Vec<Hit>,
    most: usize,
}

impl Look<'_> {
    fn at(&mut self, text: &str, place: Place, seq: u64) -> ControlFlow<()> {
        let lower = text.to_lowercase();
        if self.words.iter().all(|word| lower.contains(word)) {
            let snippet = snippet(text, self.words.first().map_or("", String::as_str));
            self.hits.push(Hit { summary: self.summary.clone(), snippet, place, seq });
        }
        if self.hits.len() < self.most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn through(&mut self, chat: &Folder) -> Result<ControlFlow<()>, StoreError> {
        let Some(journal) = Journal::open(&chat.path, &chat.session, Make::Never)? else {
            let Some(blobs) = Blobs::open(&chat.path, Make::Never)? else {
                return Ok(ControlFlow::Continue(()));
            };
            let latest = blobs.latest()?;
            return latest.map_or(Ok(ControlFlow::Continue(())), |root| self.through_blobs(&blobs, &root));
        };
        let base: Option<Base> = journal.get("base")?.flatten();
        let root = base.as_ref().and_then(|base| reference_of(&base.root));
        if let (Some(root), Some(blobs)) = (root, Blobs::open(&chat.path, Make::Never)?)
            && self.through_blobs(&blobs, &root)?.is_break()
        {
            return Ok(ControlFlow::Break(()));
        }
        let mut flow = ControlFlow::Continue(());
        journal.each_said(base.map_or(0, |base| base.seq), |seq, event| {
            flow = match &event {
                Event::Prompted { content } => self.at(&plain(content), Place::User, seq),
                Event::Replied { reply } => self.at(&reply.text(), Place::Assistant, seq),
                _ => ControlFlow::Continue(()),
            };
            Ok(flow)
        })?;
        Ok(flow)
    }

    fn through_blobs(&mut self, blobs: &Blobs, root: &Ref) -> Result<ControlFlow<()>, StoreError> {
        for (index, reference) in blobs.root(root)?.messages.iter().enumerate() {
            let bytes = blobs.get(reference)?.unwrap_or_default();
            for message in messages::decode(&bytes, index) {
                let place = match &message {
                    Message::User { .. } => Place::User,
                    Message::Assistant { .. } => Place::Assistant,
                    _ => continue,
                };
                if self.at(&transcript::plain(&message), place, index as u64).is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// Some characters around a word, on one line.
fn snippet(text: &str, word: &str) -> String {
    // Lower case may be longer than upper case, so the place is counted in characters and is only about right.
    let lower = text.to_lowercase();
    let before = lower.find(word).map_or(0, |start| lower[..start].chars().count());
    let from = before.saturating_sub(SNIPPET / 4);
    let cut: String = text.chars().skip(from).take(SNIPPET).collect();
    cut.split_whitespace().collect::<Vec<_>>().join(" ")
}
