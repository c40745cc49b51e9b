//! `meta.json`: what a list of chats shows of one chat, so that a list opens no database.
//!
//! The documented fields are ours to write; all others are kept as they are.

use super::layout::replace;
use super::{StoreError, blobs};
use caret_protocol::agent::SessionSummary;
use caret_protocol::ids::SessionId;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// The name of the file in a chat's folder.
pub(super) const NAME: &str = "meta.json";
/// The longest title that is made from a prompt.
const TITLE_CHARACTERS: usize = 60;

/// What the file says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Meta {
    pub(super) schema_version: u32,
    pub(super) created_at_ms: u64,
    pub(super) updated_at_ms: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) has_conversation: Option<bool>,
    pub(super) cwd: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<String>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

impl Meta {
    /// Reads the file of a chat; `None` when it is not there or makes no sense.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(folder.join(NAME)).ok()?).ok()
    }

    /// A new chat's file.
    pub(super) fn new(cwd: &Path, created_ms: u64) -> Self {
        Self {
            schema_version: 1,
            created_at_ms: created_ms,
            updated_at_ms: created_ms,
            has_conversation: Some(false),
            cwd: cwd.to_string_lossy().into_owned(),
            ..Self::default()
        }
    }

    /// Writes the file in one step.
    pub(super) fn write(&self, folder: &Path) -> Result<(), StoreError> {
        let path = folder.join(NAME);
        let json = serde_json::to_vec(self).map_err(|error| StoreError::Io {
            path: path.display().to_string(),
            message: error.to_string(),
        })?;
        replace(&path, &json)
    }

    /// One line of a list. A file that does not say whether there is a conversation stands for a chat with one
    /// when there is a store beside it.
    pub(super) fn summary(self, session: SessionId, folder: &Path) -> SessionSummary {
        SessionSummary {
            session,
            cwd: PathBuf::from(self.cwd),
            title: self.title.unwrap_or_default(),
            created_ms: self.created_at_ms,
            updated_ms: self.updated_at_ms,
            has_conversation: self.has_conversation.unwrap_or_else(|| folder.join(blobs::NAME).exists()),
        }
    }
}

/// A title from what was said first: its first line that says anything, cut.
pub(super) fn title_of(prompt: &str) -> String {
    let line = prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let line: String = line.chars().filter(|character| !character.is_control()).collect();
    match line.char_indices().nth(TITLE_CHARACTERS) {
        Some((end, _)) => line[..end].trim_end().to_owned(),
        None => line,
    }
}
