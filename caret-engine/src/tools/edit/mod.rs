//! What all tools share that change a file: open it, check that it is what the model saw, replace it, report.
//!
//! Invariants: a file that changed since the model saw it is not written. What is reported is what was
//! written. Bytes outside a change stay as they were, whatever encoding and line endings they are in.

mod diff;
mod endings;
mod lines;
mod locate;
mod patch;
mod place_hunk;

pub(crate) use diff::{Counted, unified};
pub(crate) use endings::rewritten;
pub(crate) use locate::{Edit, replace};
pub(crate) use patch::{Action, FilePatch, parse};
pub(crate) use place_hunk::apply;

use super::place::{self, file_error};
use super::{ToolCx, ToolError, text};
use caret_protocol::content::{Failure, ToolOutput};
use caret_protocol::details::{Details, EditDone};
use caret_protocol::workspace::Loaded;
use std::path::{Path, PathBuf};

/// A file about to be changed.
pub(crate) struct Target {
    /// Absolute, as the model wrote it.
    pub(crate) shown: PathBuf,
    /// Physical.
    pub(crate) real: PathBuf,
    /// What is in it; nothing if it is not there.
    pub(crate) before: Option<Loaded>,
}

impl Target {
    /// Opens a file that may be there; refuses one that changed since the model saw it.
    pub(crate) async fn open(cx: &ToolCx<'_>, path: &Path) -> Result<Self, ToolError> {
        let real = place::writable(cx.place, path).await?;
        let before = match cx.workspace.load(&real).await {
            Ok(loaded) => Some(loaded),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => return Err(file_error(&error, path)),
        };
        let target = Self { shown: path.to_owned(), real, before };
        target.is_as_seen(cx)?;
        Ok(target)
    }

    /// Opens a file that must be there and hold text.
    pub(crate) async fn existing(cx: &ToolCx<'_>, path: &Path) -> Result<(Self, Vec<u8>), ToolError> {
        let target = Self::open(cx, path).await?;
        let Some(before) = &target.before else {
            return Err(ToolError(Failure::FileNotFound { path: text::path_text(path) }));
        };
        let bytes = before.bytes.clone();
        let invalid = |why: &str| {
            let message = format!("`{}` is {why}", text::path_text(path));
            Err(ToolError(Failure::InvalidFile { message }))
        };
        if matches!(bytes.as_slice(), [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..]) {
            return invalid("in UTF-16, which the edit tools cannot change; use a command");
        }
        if bytes[..bytes.len().min(8 << 10)].contains(&0) {
            return invalid("a binary file, which the edit tools cannot change; use a command");
        }
        Ok((target, bytes))
    }

    fn is_as_seen(&self, cx: &ToolCx<'_>) -> Result<(), ToolError> {
        let (Some(before), Some(seen)) = (&self.before, cx.memory.seen(&self.real)) else { return Ok(()) };
        if seen == before.stamp || cx.memory.is_known(&self.real, &before.bytes) {
            return Ok(());
        }
        Err(ToolError::new(format!(
            "`{}` changed since it was last read ({} bytes then, {} now), and nothing was written; \
             read it again and repeat the edit on what it holds now",
            text::path_text(&self.shown),
            seen.size,
            before.stamp.size
        )))
    }

    /// Writes the file, remembers it, and reports.
    pub(crate) async fn save(self, cx: &ToolCx<'_>, after: &[u8]) -> Result<ToolOutput, ToolError> {
        self.write(cx, after).await?;
        let done = self.report(after);
        Ok(ToolOutput { for_model: done.message.clone(), details: Details::Edit(done) })
    }

    /// Writes the file and remembers it.
    pub(crate) async fn write(&self, cx: &ToolCx<'_>, after: &[u8]) -> Result<(), ToolError> {
        let expected = self.before.as_ref().map(|before| before.stamp);
        let saved = cx.workspace.save(&self.real, after, expected).await;
        let stamp = saved.map_err(|error| file_error(&error, &self.shown))?;
        cx.memory.saw(&self.real, stamp);
        cx.memory.knows(&self.real, after);
        Ok(())
    }

    /// The documented report of a change.
    pub(crate) fn report(&self, after: &[u8]) -> EditDone {
        let path = text::path_text(&self.shown);
        let before = self.before.as_ref().map(|before| String::from_utf8_lossy(&before.bytes).into_owned());
        let after = String::from_utf8_lossy(after).into_owned();
        let Counted { diff, added, removed } = unified(&path, before.as_deref(), Some(&after));
        let message = match before {
            Some(_) => format!("The file {path} has been updated."),
            None => format!("Wrote contents to {path}"),
        };
        EditDone {
            path,
            lines_added: added,
            lines_removed: removed,
            diff_string: diff,
            before_full_file_content: before,
            after_full_file_content: after,
            message,
        }
    }
}

#[cfg(test)]
mod tests;
