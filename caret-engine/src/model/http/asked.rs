//! What a reader must know of the request whose answer it reads, and how every answer is rounded off.

use super::origin::Origin;
use super::rescue::printed_calls;
use super::{Target, call_ids};
use crate::model::{ModelError, Request};
use caret_protocol::content::{Block, Reply, Stop, ToolCall, Usage};

/// The request, as far as its answer depends on it.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) origin: Origin,
    /// The names of the offered tools.
    pub(super) offered: Vec<String>,
    printed: PrintedCalls,
    /// Ids for calls that have none: no two steps of a session share one.
    made_up: String,
}

/// What to do when a model prints its calls as text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PrintedCalls {
    /// Text is text.
    #[default]
    Ignored,
    /// An answer that is nothing but calls of offered tools is read as these calls. For small local models.
    Read,
}

impl Asked {
    pub(super) fn new(
        family: &'static str,
        target: &Target,
        request: &Request<'_>,
        printed: PrintedCalls,
    ) -> Self {
        Self {
            origin: Origin { family, model: target.model.clone() },
            offered: request.tools.iter().map(|tool| tool.name.to_owned()).collect(),
            printed,
            made_up: format!("{}{}_{}", call_ids::MADE_UP, request.turn, request.step),
        }
    }

    /// The reply: calls with ids, the stop by content, and a mark when there is something only its maker reads.
    pub(super) fn reply(&self, mut blocks: Vec<Block>, stop: Stop, usage: Usage) -> Reply {
        blocks.retain(|block| !matches!(block, Block::Text { text } if text.trim().is_empty()));
        if stop == Stop::Refusal {
            // What was asked for before the refusal is not wanted any more, nor is anything sent back for it.
            blocks.retain(|block| matches!(block, Block::Text { .. } | Block::Thinking { .. }));
            for block in &mut blocks {
                if let Block::Thinking { signature, .. } = block {
                    *signature = None;
                }
            }
        }
        if stop == Stop::EndTurn && self.printed == PrintedCalls::Read {
            self.take_printed(&mut blocks);
        }
        let mut number = 0;
        for block in &mut blocks {
            if let Block::Call { call } = block {
                if call.id.0.is_empty() {
                    call.id.0 = format!("{}_{number}", self.made_up);
                }
                number += 1;
            }
        }
        if blocks.iter().any(is_bound) {
            blocks.insert(0, self.origin.mark());
        }
        let stop = if number > 0 { Stop::ToolCalls } else { stop };
        Reply { id: String::new(), blocks, stop, usage }
    }

    fn take_printed(&self, blocks: &mut Vec<Block>) {
        if blocks.iter().any(|block| matches!(block, Block::Call { .. })) {
            return;
        }
        let text: String = blocks.iter().filter_map(words).collect();
        let Some(calls) = printed_calls(&text, &self.offered) else { return };
        blocks.retain(|block| words(block).is_none());
        blocks.extend(
            calls
                .into_iter()
                .map(|(name, input)| Block::Call { call: ToolCall::new("", name, input.into()) }),
        );
    }

    /// The stream ended without its end.
    pub(super) fn cut(&self, garbled: Option<&str>) -> ModelError {
        let last = garbled.map_or_else(String::new, |text| {
            format!("; the last thing it sent was no JSON: {}", super::fault::shown(text))
        });
        ModelError::Broken(format!("the answer of `{}` ended in the middle{last}", self.origin.model))
    }
}

fn words(block: &Block) -> Option<&str> {
    match block {
        Block::Text { text } => Some(text),
        _ => None,
    }
}

/// Whether only its maker can read the block.
fn is_bound(block: &Block) -> bool {
    matches!(block, Block::Opaque { .. } | Block::Thinking { signature: Some(_), .. })
}
