//! What tools gave back, read leniently.
//!
//! The texts are written for language models and may change; what cannot be made out is quoted or said
//! to be unclear, never guessed. Only an edit needs more than quoting: see `Lines::end`.

use super::step::tick;

/// What came back for one call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard<'a> {
    pub(super) text: &'a str,
    pub(super) is_error: bool,
}

/// How many lines of a result are quoted.
const QUOTED: usize = 20;

/// The numbered lines of a `Read` result.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Lines {
    /// Number and text of each line.
    pub(super) lines: Vec<(u64, String)>,
    /// What the tool said besides.
    pub(super) notes: String,
}

impl Lines {
    /// Reads lines such as `     6|text`; everything else is a note.
    pub(super) fn of(text: &str) -> Self {
        let mut read = Self::default();
        for line in text.lines() {
            match numbered(line) {
                Some(found) => read.lines.push(found),
                None if line.trim().is_empty() => {}
                None => {
                    read.notes.push_str(line);
                    read.notes.push('\n');
                }
            }
        }
        read
    }

    /// Whether the tool said that there is more, and where.
    pub(super) fn is_cut(&self) -> bool {
        let notes = self.notes.to_lowercase();
        notes.contains("offset") || notes.contains("more line")
    }

    /// Whether the file has nothing in it, or one blank line; silence is no sign of that.
    pub(super) fn is_empty_file(&self) -> bool {
        match self.lines.as_slice() {
            [] => self.notes.to_lowercase().contains("empty"),
            [(_, only)] => only.is_empty(),
            _ => false,
        }
    }

    /// The number of the last line, which is how many lines there are.
    pub(super) fn last(&self) -> u64 {
        self.lines.last().map_or(0, |(number, _)| *number)
    }

    /// The lines as text, without numbers.
    pub(super) fn text(&self) -> String {
        let lines: Vec<&str> = self.lines.iter().map(|(_, text)| text.as_str()).collect();
        lines.join("\n")
    }

    /// The shortest run of last lines that is in the file once, so that an edit can hold on to it.
    pub(super) fn end(&self) -> Option<String> {
        let text = self.text();
        let starts = text.match_indices('\n').map(|(at, _)| at + 1).rev().chain([0]);
        for start in starts.take(64).chain([0]) {
            let end = &text[start..];
            if !end.trim().is_empty() && text.find(end) == Some(start) {
                return Some(end.to_owned());
            }
        }
        None
    }
}

fn numbered(line: &str) -> Option<(u64, String)> {
    let (number, text) = line.split_once(['|', '→', '\t'])?;
    let number = number.trim();
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| number.parse().ok()).flatten().map(|number| (number, text.to_owned()))
}

/// Up to 20 lines in a fence; the rest is counted.
pub(super) fn fenced(text: &str) -> String {
    let all: Vec<&str> = text.trim_end().lines().collect();
    let shown = all[..all.len().min(QUOTED)].join("\n");
    let more = all.len().saturating_sub(QUOTED);
    let rest = if more > 0 { format!("\n… and {}.", counted(more, "more line")) } else { String::new() };
    format!("{}{rest}", fence(&shown))
}

/// The last 20 lines in a fence, for what a command printed.
pub(super) fn fenced_end(text: &str) -> String {
    let all: Vec<&str> = text.trim_end().lines().collect();
    let more = all.len().saturating_sub(QUOTED);
    let front = if more > 0 { format!("({} before these)\n", counted(more, "line")) } else { String::new() };
    format!("{front}{}", fence(&all[more..].join("\n")))
}

fn fence(text: &str) -> String {
    let mut marks = "```".to_owned();
    while text.contains(&marks) {
        marks.push('`');
    }
    format!("{marks}\n{text}\n{marks}")
}

/// `1 line`, `2 lines`.
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The text of an error without the word that it begins with.
pub(super) fn reason(text: &str) -> String {
    let text = text.trim();
    let text = text.strip_prefix("Error:").unwrap_or(text).trim();
    let line = text.lines().next().unwrap_or("no reason was given").trim_end_matches('.');
    format!("{line}.")
}

/// Whether a search says that it found nothing.
pub(super) fn found_nothing(text: &str) -> bool {
    const NOTHING: &[&str] = &["no file", "no match", "no result", "nothing", "found 0", "0 match", "0 file"];
    let text = text.trim().to_lowercase();
    text.is_empty() || NOTHING.iter().any(|words| text.starts_with(words))
}

/// The lines of a search result that are paths.
pub(super) fn paths(text: &str) -> Vec<String> {
    let is_path = |line: &&str| {
        !line.is_empty()
            && !line.ends_with(':')
            && !line.contains(": ")
            && (line.contains(['/', '.']) || !line.contains(' '))
    };
    let sentence = |line: &&str| line.contains(' ') && (line.ends_with('.') || line.ends_with(')'));
    text.lines()
        .map(str::trim)
        .map(|line| line.strip_prefix("- ").unwrap_or(line))
        .filter(is_path)
        .filter(|line| !sentence(line) && !line.starts_with("```") && !line.starts_with('<'))
        .map(|line| line.strip_prefix("./").unwrap_or(line).to_owned())
        .collect()
}

/// How many files a result names: the number it states, else the paths that it lists.
pub(super) fn file_count(text: &str) -> usize {
    let stated = text.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words.windows(2).find_map(|pair| match pair[1].trim_end_matches(['.', ':', ',', ';', ')', ']']) {
            "files" | "file" | "paths" => pair[0].trim_start_matches('(').parse().ok(),
            _ => None,
        })
    });
    match stated {
        Some(count) => count,
        None if found_nothing(text) => 0,
        None => paths(text).len(),
    }
}

/// What a command left: its exit code and what it printed.
pub(super) struct Ran {
    pub(super) exit_code: Option<i64>,
    pub(super) output: String,
}

impl Ran {
    /// Reads the exit code and the fenced output.
    pub(super) fn of(text: &str) -> Self {
        let lower = text.to_lowercase();
        let exit_code = lower.find("exit code").and_then(|at| {
            let after = lower[at + "exit code".len()..].trim_start_matches([':', ' ', '=']);
            let end = after.find(|char: char| !char.is_ascii_digit() && char != '-').unwrap_or(after.len());
            after[..end].parse().ok()
        });
        let lines: Vec<&str> = text.lines().collect();
        let open = lines.iter().position(|line| line.starts_with("```"));
        let close = lines.iter().rposition(|line| line.starts_with("```"));
        let output = match (open, close) {
            (Some(open), Some(close)) if close > open => lines[open + 1..close].join("\n"),
            _ => String::new(),
        };
        Self { exit_code, output }
    }

    /// The command's end as a sentence and its last lines.
    pub(super) fn sentence(&self, command: &str) -> String {
        let unfinished = "It has not ended yet, and ends with this session.";
        let code = self.exit_code.map_or_else(|| unfinished.to_owned(), |code| format!("Exit code {code}."));
        match self.output.trim().is_empty() {
            true => format!("{} printed nothing. {code}", tick(command)),
            false => format!("{} printed:\n{}\n{code}", tick(command), fenced_end(&self.output)),
        }
    }
}
