//! Who made a reply: which family and which model.
//!
//! Signatures and encrypted thoughts mean something only to the model that made them. A reply that holds such
//! a thing begins with a mark, so that a later request to another model knows what to leave out. The neutral
//! types have no place for this; the mark is a block like any other that only its family reads.
//!
//! Invariant: a reply without a mark is never sent with signatures or opaque blocks.

use caret_protocol::content::{Block, Reply};
use serde_json::{Value, json};

/// No vendor has blocks of this type.
const TYPE: &str = "caret_origin";

/// A family and a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    pub(super) family: &'static str,
    pub(super) model: String,
}

impl Origin {
    /// A block that says so.
    pub(super) fn mark(&self) -> Block {
        Block::Opaque { family: self.family.into(), raw: json!({"type": TYPE, "model": self.model}) }
    }

    /// A vendor's block of this family.
    pub(super) fn opaque(&self, raw: Value) -> Block {
        Block::Opaque { family: self.family.into(), raw }
    }

    /// Whether the reply was made by this model through this family.
    pub(super) fn made(&self, reply: &Reply) -> bool {
        reply.blocks.iter().any(|block| match block {
            Block::Opaque { family, raw } => {
                family == self.family && is_mark(raw) && raw["model"] == self.model.as_str()
            }
            _ => false,
        })
    }
}

/// Whether a block is a mark and nothing that a vendor made.
pub(super) fn is_mark(raw: &Value) -> bool {
    raw["type"] == TYPE
}
