//! Writes a chat out: every event as a line of JSON, or the conversation to be read.

use super::sums::Sum;
use crate::exit::{Exit, Failure};
use caret_protocol::agent::SessionSummary;
use caret_protocol::content::{Block, plain};
use caret_protocol::event::Stamped;
use caret_protocol::transcript::Message;
use std::io::Write;
use std::path::Path;

/// One event on each line.
pub fn lines(events: &[Stamped]) -> Result<String, Failure> {
    let mut text = String::new();
    for event in events {
        let line = serde_json::to_string(event).map_err(|error| {
            Failure::new(Exit::Fault, format!("event {} is not JSON: {error}", event.seq))
        })?;
        text.push_str(&line);
        text.push('\n');
    }
    Ok(text)
}

/// The conversation, to be read.
pub fn markdown(chat: &SessionSummary, messages: &[Message], sum: &Sum) -> String {
    let title = if chat.title.is_empty() { "Untitled chat" } else { &chat.title };
    let mut text = format!(
        "# {}\n\n- chat: `{}`\n- workspace: `{}`\n- last change: {}\n- cost: {}\n",
        title.replace('\n', " "),
        chat.session,
        chat.cwd.display(),
        time(chat.updated_ms),
        sum.cost()
    );
    for message in messages {
        text.push_str(&section(message));
    }
    text
}

fn section(message: &Message) -> String {
    match message {
        Message::User { content, .. } => format!("\n## User\n\n{}\n", plain(content).trim_end()),
        Message::Assistant { reply } => {
            let parts: Vec<String> = reply.blocks.iter().filter_map(block).collect();
            format!("\n## Assistant\n\n{}\n", parts.join("\n\n"))
        }
        Message::Tool { name, text, is_error, .. } => {
            let title = if *is_error { "Error of" } else { "Result of" };
            format!("\n### {title} {name}\n\n{}\n", fenced(text, ""))
        }
        Message::Summary { text } => format!("\n## Summary of what was before\n\n{}\n", text.trim_end()),
        _ => String::new(),
    }
}

fn block(block: &Block) -> Option<String> {
    match block {
        Block::Text { text } => Some(text.trim_end().to_owned()),
        Block::Thinking { text, .. } if !text.is_empty() => {
            Some(text.lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n"))
        }
        Block::Call { call } => {
            let input = serde_json::to_string_pretty(&call.input).unwrap_or_default();
            Some(format!("**{}**\n\n{}", call.name, fenced(&input, "json")))
        }
        _ => None,
    }
}

/// A fence that is longer than any fence in the text.
fn fenced(text: &str, language: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
}

/// Writes a new file; one that is there is never replaced.
pub fn save(path: &Path, text: &str) -> Result<(), Failure> {
    let unwritable = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            let remedy = "remove it, or choose another name";
            Failure::new(Exit::Failed, format!("{} is there already: {remedy}", path.display()))
        }
        _ => Failure::new(Exit::Failed, format!("{} cannot be written: {error}", path.display())),
    };
    let mut file = std::fs::File::create_new(path).map_err(unwritable)?;
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(unwritable)
}

/// A moment as text, in universal time, such as `2026-11-16T02:48:39Z`.
pub fn time(ms: u64) -> String {
    let seconds = ms / 1000;
    let (day, second) = (i64::try_from(seconds / 86_400).unwrap_or(0), seconds % 86_400);
    // Days are counted from 1 March of the year 0, so that leap days come last.
    let day = day + 719_468;
    let (era, of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_universal_time() {
        for (ms, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399_000, "2000-02-28T23:59:59Z"),
            (951_782_400_000, "2000-02-29T00:00:00Z"),
            (1_790_000_000_000, "2026-09-21T14:13:20Z"),
            (4_102_444_800_000, "2100-01-01T00:00:00Z"),
        ] {
            assert_eq!(time(ms), expected);
        }
    }

    #[test]
    fn a_fence_in_the_text_does_not_end_the_block() {
        assert_eq!(fenced("a\n```\nb\n", ""), "````\na\n```\nb\n````");
    }
}
