//! What Read says of the lines it found: numbered for the model, whole for programs, with notes on what is
//! missing from both.

use super::text;
use crate::workspace::files::COUNTED_BYTES;
use caret_protocol::content::ToolOutput;
use caret_protocol::details::{Details, ReadDone, ReadRange};
use caret_protocol::workspace::Excerpt;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

/// As many lines are shown at most.
pub(super) const MAX_LINES: u64 = 2_000;
/// As many bytes are shown at most.
const MAX_BYTES: usize = 50_000;
/// A line is shown so far.
const MAX_LINE: usize = 2_000;

/// What was asked for, for the notes below the lines.
pub(super) struct Asked {
    pub(super) lines: u64,
    pub(super) wide: bool,
}

/// What was shown of the lines.
#[derive(Default)]
struct Shown {
    for_model: String,
    content: String,
    lines: u64,
    cut_lines: u64,
}

pub(super) fn report(path: &Path, excerpt: &Excerpt, asked: Asked) -> ToolOutput {
    let text = String::from_utf8_lossy(&excerpt.bytes);
    let mut shown = show(&text, excerpt.start_line);
    let all_shown = shown.lines == text.split_inclusive('\n').count() as u64;
    let end_line =
        if all_shown { excerpt.end_line } else { excerpt.start_line + shown.lines.saturating_sub(1) };
    let more = end_line < excerpt.total_lines;
    let by_us = more && (!all_shown || excerpt.cut || asked.lines > MAX_LINES || shown.lines == MAX_LINES);
    notes(&mut shown, excerpt, &asked, end_line, matches!(text, Cow::Owned(_)));
    let details = ReadDone {
        content: shown.content,
        is_empty: excerpt.file_size == 0,
        exceeded_limit: by_us || shown.cut_lines > 0,
        total_lines: excerpt.total_lines,
        file_size: excerpt.file_size,
        path: text::path_text(path),
        read_range: ReadRange { start_line: excerpt.start_line, end_line },
        related_cursor_rule_paths: Vec::new(),
        related_cursor_rules: Vec::new(),
    };
    ToolOutput { for_model: shown.for_model, details: Details::Read(details) }
}

fn show(text: &str, start_line: u64) -> Shown {
    let mut shown = Shown::default();
    for (number, line) in (start_line..).zip(text.split_inclusive('\n')) {
        let bare = line.strip_suffix('\n').unwrap_or(line);
        let ending = &line[bare.len()..];
        let (kept, cut) = text::cut_chars(bare, MAX_LINE);
        if shown.lines > 0 && shown.for_model.len() + kept.len() + 8 > MAX_BYTES {
            break;
        }
        let visible = kept.strip_suffix('\r').unwrap_or(kept).trim_start_matches('\u{feff}');
        let mark = if cut { "… [line cut]" } else { "" };
        // Writing to a string cannot go wrong.
        writeln!(shown.for_model, "{number:>6}|{visible}{mark}").unwrap_or_default();
        shown.content.push_str(kept);
        shown.content.push_str(ending);
        shown.lines += 1;
        shown.cut_lines += u64::from(cut);
    }
    shown
}

/// Says below the lines what the model could not know from them.
fn notes(shown: &mut Shown, excerpt: &Excerpt, asked: &Asked, end_line: u64, lossy: bool) {
    let mut notes = Vec::new();
    if excerpt.file_size == 0 {
        notes.push("the file is empty".to_owned());
    }
    let least = if excerpt.file_size > COUNTED_BYTES { "at least " } else { "" };
    if end_line < excerpt.total_lines {
        let (start, total, next) = (excerpt.start_line, excerpt.total_lines, end_line + 1);
        notes.push(format!("lines {start}-{end_line} of {least}{total} shown; continue with offset {next}"));
    } else if !least.is_empty() {
        notes.push(format!("lines were only counted in the first 256 MiB of {} bytes", excerpt.file_size));
    }
    if shown.cut_lines > 0 {
        let lines = shown.cut_lines;
        notes.push(format!(
            "{lines} line(s) cut at {MAX_LINE} characters; search them with Grep or cut them with a command"
        ));
    }
    if lossy {
        notes.push("not valid UTF-8: bytes that are no text are shown as \u{fffd}".to_owned());
    }
    if asked.wide {
        notes.push("decoded from UTF-16; the edit tools cannot change this file".to_owned());
    } else if excerpt.bytes.starts_with(b"\xEF\xBB\xBF") {
        notes.push("the file starts with a byte order mark, which is kept".to_owned());
    }
    if excerpt.bytes.windows(2).any(|pair| pair == b"\r\n") {
        notes.push("lines end with CRLF, which edits keep".to_owned());
    }
    for note in notes {
        shown.for_model.push_str(&format!("[{note}]\n"));
    }
    shown.for_model.truncate(shown.for_model.trim_end_matches('\n').len());
}
