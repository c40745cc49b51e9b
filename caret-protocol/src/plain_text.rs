//! The `text` output: what the assistant said after its last tool call, once, at the end.

use crate::event::{Event, Stamped};
use crate::projection::Projection;

/// Folds a turn into its final words.
#[derive(Debug, Default)]
pub struct PlainText {
    words: String,
}

impl Projection for PlainText {
    type Out = String;

    fn apply(&mut self, event: &Stamped, out: &mut Vec<String>) {
        if event.under.is_some() {
            return;
        }
        match &event.event {
            Event::TurnStarted { .. } => self.words.clear(),
            Event::Replied { reply } => {
                if reply.calls().next().is_some() {
                    self.words.clear();
                } else {
                    self.words.push_str(&reply.text());
                }
            }
            Event::TurnEnded { .. } if !self.words.is_empty() => out.push(std::mem::take(&mut self.words)),
            _ => {}
        }
    }
}
