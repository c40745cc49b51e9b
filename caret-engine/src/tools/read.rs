//! Reads a text file, or a part of it, for the model.
//!
//! What the model gets is bounded in lines, bytes and line length, and what was left out is said together
//! with how to get it. The file is remembered as it was, so that an edit can tell whether it changed.

use super::input::Input;
use super::place::{self, file_error};
use super::read_report::{Asked, MAX_LINES, report};
use super::{Place, Tool, ToolCx, ToolError, ToolSpec, text};
use crate::permission::Grant;
use async_trait::async_trait;
use caret_protocol::claim::Claim;
use caret_protocol::content::{Failure, ToolOutput};
use caret_protocol::workspace::{Excerpt, Lines};
use serde_json::{Value, json};
use std::path::Path;

const FORM: &str = r#"{"path": "src/main.rs", "offset"?: 1, "limit"?: 200}"#;
/// As many bytes are looked at for that, because lines are cut.
const LOOKED_AT: usize = 1 << 20;
/// A longer file in UTF-16 is not decoded.
const MAX_WIDE: u64 = 8 << 20;

/// The tool `Read`.
pub(crate) struct Read(ToolSpec);

impl Default for Read {
    fn default() -> Self {
        Self(ToolSpec {
            name: "Read",
            description: include_str!("read.md").trim_ascii_end(),
            input: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "offset": {"type": "integer"},
                    "limit": {"type": "integer"},
                },
                "required": ["path"],
            }),
            read_only: true,
        })
    }
}

#[async_trait]
impl Tool for Read {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn claim(&self, input: &Value, place: &Place) -> Result<Claim, ToolError> {
        Ok(Claim::Read { path: Input::new(input, FORM)?.path(place)? })
    }

    async fn run(&self, input: Value, _grant: Grant, cx: ToolCx<'_>) -> Result<ToolOutput, ToolError> {
        let input = Input::new(&input, FORM)?;
        let path = input.path(cx.place)?;
        let start = input.integer(&["offset", "start_line", "startLine"])?.unwrap_or(1);
        let limit =
            input.count(&["limit", "max_lines", "num_lines"])?.map_or(MAX_LINES, |limit| limit as u64);
        let count = limit.clamp(1, MAX_LINES);
        let real = place::physical(&path).await?;
        let lines = Lines { start, count, bytes: LOOKED_AT };
        let excerpt = cx.workspace.read(&real, lines).await.map_err(|error| file_error(&error, &path))?;
        let wide = if excerpt.binary { Some(decode_wide(&cx, &real, &path, &excerpt).await?) } else { None };
        let excerpt = match &wide {
            Some(text) => part_of(text, lines, &excerpt),
            None => excerpt,
        };
        past_end(&excerpt)?;
        cx.memory.saw(&real, excerpt.stamp);
        let whole = excerpt.start_line == 1 && excerpt.bytes.len() as u64 == excerpt.file_size;
        if whole && wide.is_none() {
            cx.memory.knows(&real, &excerpt.bytes);
        }
        Ok(report(&path, &excerpt, Asked { lines: limit.max(1), wide: wide.is_some() }))
    }
}

fn past_end(excerpt: &Excerpt) -> Result<(), ToolError> {
    if excerpt.start_line <= excerpt.total_lines {
        return Ok(());
    }
    let (start, total) = (excerpt.start_line, excerpt.total_lines);
    Err(ToolError::new(format!("`offset` {start} is past the end: the file has {total} lines")))
}

/// The text of a file that looks binary, if it is UTF-16 with a byte order mark.
async fn decode_wide(
    cx: &ToolCx<'_>,
    real: &Path,
    path: &Path,
    found: &Excerpt,
) -> Result<String, ToolError> {
    let head = Lines { start: 1, count: 1, bytes: 2 };
    let head = cx.workspace.read(real, head).await.map_err(|error| file_error(&error, path))?;
    let wide = matches!(head.bytes.as_slice(), [0xFF, 0xFE] | [0xFE, 0xFF]);
    let size = found.file_size;
    let refused = |why: &str| {
        let message = format!("`{}` is {why} ({size} bytes)", path.display());
        ToolError(Failure::InvalidFile { message })
    };
    if !wide {
        return Err(refused("a binary file and cannot be shown as text"));
    }
    if size > MAX_WIDE {
        return Err(refused("in UTF-16 and too long to be decoded; convert it with `iconv` first"));
    }
    let loaded = cx.workspace.load(real).await.map_err(|error| file_error(&error, path))?;
    text::decode_utf16(&loaded.bytes).ok_or_else(|| refused("a binary file and cannot be shown as text"))
}

/// The asked lines of a text that is in memory.
fn part_of(text: &str, lines: Lines, found: &Excerpt) -> Excerpt {
    let pieces: Vec<&str> = text.split_inclusive('\n').collect();
    let total = text.matches('\n').count() as u64 + 1;
    let first = match lines.start {
        ..0 => (pieces.len() as u64).saturating_sub(lines.start.unsigned_abs()) + 1,
        start => u64::try_from(start).unwrap_or(1).max(1),
    };
    let skipped = usize::try_from(first - 1).unwrap_or(usize::MAX);
    let count = usize::try_from(lines.count).unwrap_or(usize::MAX);
    let shown: Vec<&str> = pieces.iter().skip(skipped).take(count).copied().collect();
    let at_end = skipped.saturating_add(shown.len()) >= pieces.len();
    Excerpt {
        bytes: shown.concat().into_bytes(),
        start_line: first,
        end_line: if at_end { total } else { first + shown.len() as u64 - 1 },
        total_lines: total,
        cut: false,
        binary: false,
        ..found.clone()
    }
}
