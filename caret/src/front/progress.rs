//! What a person sees on stderr while a text run works: calls, diffs, the end of a command's output.

use super::neutral::neutral;
use caret_protocol::claim::Claim;
use caret_protocol::content::{Outcome, ToolCall};
use caret_protocol::details::Details;
use caret_protocol::event::{Event, Stamped};
use caret_protocol::projection::Projection;
use std::path::{Path, PathBuf};

/// Lines of a diff or of an output that are shown.
const MOST_LINES: usize = 40;

/// Folds events into lines for people.
#[derive(Debug, Default)]
pub(super) struct Progress {
    cwd: PathBuf,
    color: bool,
}

impl Progress {
    pub(super) fn new(color: bool) -> Self {
        Self { color, ..Self::default() }
    }

    fn ended(&self, call: &ToolCall, outcome: &Outcome, out: &mut Vec<String>) {
        let title = self.title(call);
        match outcome {
            Outcome::Done { output } => match &output.details {
                Details::Edit(done) => {
                    out.push(format!("⬢ {title} (+{} -{})", done.lines_added, done.lines_removed));
                    self.diff(&done.diff_string, out);
                }
                Details::Shell(done) => {
                    let code = if done.exit_code == 0 {
                        String::new()
                    } else {
                        format!(" → exit {}", done.exit_code)
                    };
                    out.push(format!("⬢ {title}{code} {}ms", done.local_execution_time_ms));
                    cut(
                        neutral(done.interleaved_output.trim_end()).lines().map(|line| format!("  {line}")),
                        out,
                    );
                }
                Details::Backgrounded(done) => {
                    out.push(format!("⬢ {title} → in the background, output in {}", done.output_file));
                }
                _ => out.push(format!("⬢ {title}")),
            },
            Outcome::Failed { failure } => out.push(format!("⬡ {title}: {}", neutral(&failure.message()))),
            Outcome::Rejected { reason } => out.push(format!("⬡ {title}: rejected: {}", neutral(reason))),
            Outcome::Denied { reason } => out.push(format!("⬡ {title}: not permitted: {}", neutral(reason))),
            Outcome::Cancelled => out.push(format!("⬡ {title}: cancelled")),
            _ => out.push(format!("⬡ {title}: outcome unknown")),
        }
    }

    fn title(&self, call: &ToolCall) -> String {
        let what = match &call.claim {
            Some(Claim::Execute { command }) => return format!("$ {}", neutral(&command.command)),
            Some(Claim::Read { path }) => self.short(path),
            Some(Claim::Write { paths }) => {
                paths.iter().map(|path| self.short(path)).collect::<Vec<_>>().join(", ")
            }
            _ => String::new(),
        };
        let pattern = call.input["pattern"].as_str().or_else(|| call.input["glob_pattern"].as_str());
        let pattern = pattern.map(|pattern| format!(" '{pattern}'")).unwrap_or_default();
        neutral(format!("{}{pattern} {what}", call.name).trim_end()).into_owned()
    }

    fn short(&self, path: &Path) -> String {
        match path.strip_prefix(&self.cwd) {
            Ok(inside) if inside.as_os_str().is_empty() => ".".into(),
            Ok(inside) => inside.display().to_string(),
            Err(_) => path.display().to_string(),
        }
    }

    fn diff(&self, diff: &str, out: &mut Vec<String>) {
        let neutral = neutral(diff);
        let paint = |line: &str| {
            let color = match line.as_bytes().first() {
                Some(b'+') if self.color => "\u{1b}[32m",
                Some(b'-') if self.color => "\u{1b}[31m",
                _ => return format!("  {line}"),
            };
            format!("  {color}{line}\u{1b}[0m")
        };
        cut(neutral.lines().skip(2).map(paint), out);
    }
}

fn cut(lines: impl Iterator<Item = String>, out: &mut Vec<String>) {
    let mut lines = lines;
    out.extend(lines.by_ref().take(MOST_LINES));
    let left = lines.count();
    if left > 0 {
        out.push(format!("  … {left} more lines"));
    }
}

impl Projection for Progress {
    type Out = String;

    fn apply(&mut self, event: &Stamped, out: &mut Vec<String>) {
        match &event.event {
            Event::Opened { opened } => self.cwd = PathBuf::from(&opened.cwd),
            Event::ToolEnded { call, outcome, .. } => self.ended(call, outcome, out),
            Event::Noticed { notice } => out.push(format!("⚠ {}", neutral(&notice.text))),
            _ => {}
        }
    }
}
