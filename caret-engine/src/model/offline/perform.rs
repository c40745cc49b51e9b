//! One step at a time: which call comes next, and what is said when it is done.
//!
//! A step's next move depends only on the step and on what its calls gave back so far, so a turn can be
//! replayed from its messages. Invariant: each step makes a bounded number of calls.

use super::heard::{self, Heard, Lines, Ran, counted, fenced, reason};
use super::step::{Counted, Extent, Part, Shape, Step, quote, tick};
use serde_json::{Value, json};

/// A file is read to its end in at most so many calls.
const READS: usize = 64;
/// Somebody who asks for a command wants to see its end.
const LONGEST_COMMAND_MS: u64 = 600_000;

/// What a step does next.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Move {
    /// It calls a tool.
    Call { tool: &'static str, input: Value },
    /// It is done, and this is said.
    Done(String),
    /// It could not be done, and this is said.
    Failed(String),
}

fn call(tool: &'static str, input: Value) -> Move {
    Move::Call { tool, input }
}

/// The next move of `step` after `heard`. Steps about the conversation are `act`'s.
pub(super) fn next(step: &Step, heard: &[Heard<'_>]) -> Move {
    match step {
        Step::Append { path, text } => append(path, text, heard),
        Step::Replace { path, old, new, extent } => replace(path, old, new, *extent, heard),
        Step::ReplaceSomewhere { old, new, extent } => replace_somewhere(old, new, *extent, heard),
        Step::Count { what, path } => count(*what, path, heard),
        Step::Read { path, part: Part::Last { count } } => read_end(path, *count, heard),
        Step::Say(text) => Move::Done(text.clone()),
        Step::Unknown { text } => {
            Move::Failed(format!("I did not understand {}; say `help` for what I do.", quote(text)))
        }
        _ => match heard.first() {
            None => first_call(step),
            Some(heard) if heard.is_error => Move::Failed(failed(step, heard.text)),
            Some(heard) => Move::Done(done(step, heard.text)),
        },
    }
}

/// The call of a step that needs one.
fn first_call(step: &Step) -> Move {
    match step {
        Step::Read { path, part } => call("Read", read_input(path, *part)),
        Step::List { path } => call("LS", with(json!({}), "path", path)),
        Step::Search { text, path, shape } => {
            let mode = match shape {
                Shape::Files => "files_with_matches",
                Shape::Lines => "content",
            };
            let mut input = with(json!({ "pattern": regex::escape(text) }), "path", path);
            input["output_mode"] = mode.into();
            call("Grep", input)
        }
        Step::Find { glob, under } | Step::CountFiles { glob, under } => {
            call("Glob", with(json!({ "glob_pattern": glob }), "target_directory", under))
        }
        Step::Run { command } => call(
            "Shell",
            json!({ "command": command, "description": format!("Run {}", quote(command)), "timeout": LONGEST_COMMAND_MS }),
        ),
        Step::Create { path, text } => call("Write", json!({ "path": path, "contents": text })),
        Step::Delete { path } => call("Delete", json!({ "path": path })),
        Step::Fetch { url } => call("WebFetch", json!({ "url": url })),
        Step::Todo { items } => {
            let todo = |(at, item): (usize, &String)| json!({ "id": (at + 1).to_string(), "content": item, "status": "pending" });
            let todos: Vec<Value> = items.iter().enumerate().map(todo).collect();
            call("TodoWrite", json!({ "todos": todos, "merge": false }))
        }
        Step::Subagent { prompt } => {
            let words: Vec<&str> = prompt.split_whitespace().take(5).collect();
            call("Task", json!({ "description": words.join(" "), "prompt": prompt }))
        }
        other => Move::Failed(format!("I cannot {other}.")),
    }
}

fn with(mut input: Value, key: &str, value: &Option<String>) -> Value {
    if let Some(value) = value {
        input[key] = value.as_str().into();
    }
    input
}

fn read_input(path: &str, part: Part) -> Value {
    match part {
        Part::Whole | Part::Last { .. } => json!({ "path": path }),
        Part::From { first } => json!({ "path": path, "offset": first }),
        Part::Lines { first, last } => json!({ "path": path, "offset": first, "limit": last - first + 1 }),
    }
}

/// The sentence for a step of one call that worked.
fn done(step: &Step, text: &str) -> String {
    match step {
        Step::Read { path, part } => read_done(path, *part, text),
        Step::List { path: None } => format!("The files here:\n{}", fenced(text)),
        Step::List { path: Some(path) } => format!("The files in {}:\n{}", tick(path), fenced(text)),
        Step::Search { text: wanted, .. } if heard::found_nothing(text) => {
            format!("Nothing contains {}.", quote(wanted))
        }
        Step::Search { text: wanted, shape: Shape::Files, .. } => {
            format!("Files containing {}:\n{}", quote(wanted), fenced(text))
        }
        Step::Search { text: wanted, .. } => format!("Lines with {}:\n{}", quote(wanted), fenced(text)),
        Step::Find { glob, .. } if heard::found_nothing(text) => format!("No file is named {}.", tick(glob)),
        Step::Find { glob, .. } => format!("Files named {}:\n{}", tick(glob), fenced(text)),
        Step::CountFiles { glob, under } => {
            let count = heard::file_count(text);
            let kind = if glob == "**/*" { String::new() } else { format!(" named {}", tick(glob)) };
            let place = under.as_ref().map(|under| format!(" in {}", tick(under))).unwrap_or_default();
            format!("I count {}{kind}{place}.", counted(count, "file"))
        }
        Step::Run { command } => Ran::of(text).sentence(command),
        Step::Create { path, text } => format!("Created {} ({}).", tick(path), counted(text.len(), "byte")),
        Step::Delete { path } => format!("Deleted {}.", tick(path)),
        Step::Fetch { url } => format!("{url} says:\n{}", fenced(text)),
        Step::Todo { items } => format!("The task list has {}.", counted(items.len(), "item")),
        Step::Subagent { .. } => format!("The subagent answered:\n{}", text.trim()),
        other => format!("Done: {other}."),
    }
}

fn read_done(path: &str, part: Part, text: &str) -> String {
    let read = Lines::of(text);
    if read.is_empty_file() {
        return format!("{} is empty.", tick(path));
    }
    if read.lines.is_empty() {
        return format!("{} says:\n{}", tick(path), fenced(text));
    }
    let body = read.text();
    let count = usize::try_from(read.last()).unwrap_or(usize::MAX);
    match part {
        Part::Whole if read.is_cut() => format!("{} begins with:\n{}", tick(path), fenced(&body)),
        Part::Whole => format!("{} has {}:\n{}", tick(path), counted(count, "line"), fenced(&body)),
        Part::Lines { .. } | Part::From { .. } | Part::Last { .. } => {
            format!("{}{part}:\n{}", tick(path), fenced(&body))
        }
    }
}

/// The sentence for a step whose call did not work.
fn failed(step: &Step, text: &str) -> String {
    if let Step::Run { command } = step {
        let ran = Ran::of(text);
        if ran.exit_code.is_some() {
            return ran.sentence(command);
        }
    }
    format!("I could not {step}: {}", reason(text))
}

/// Reads a file from its beginning to its end; the lines, or the next move.
fn read_all(path: &str, heard: &[Heard<'_>]) -> Result<(Lines, usize), Move> {
    let mut all = Lines::default();
    for used in 0..READS {
        let Some(part) = heard.get(used) else {
            let from = all.last();
            return Err(call(
                "Read",
                if from == 0 { json!({ "path": path }) } else { json!({ "path": path, "offset": from + 1 }) },
            ));
        };
        // The piece behind a final newline counts as a line but cannot be read.
        if part.is_error && used > 0 && part.text.contains("past the end") {
            return Ok((all, used + 1));
        }
        if part.is_error {
            return Err(Move::Failed(format!("I could not read {}: {}", tick(path), reason(part.text))));
        }
        let part = Lines::of(part.text);
        let goes_on = part.is_cut() && part.last() > all.last();
        all.lines.extend(part.lines);
        all.notes = part.notes;
        if !goes_on {
            return Ok((all, used + 1));
        }
    }
    Err(Move::Failed(format!("{} is too long for me to read to its end.", tick(path))))
}

/// The last lines of a file, which is read to its end for them.
fn read_end(path: &str, wanted: u64, heard: &[Heard<'_>]) -> Move {
    let (lines, _) = match read_all(path, heard) {
        Ok(read) => read,
        Err(next) => return next,
    };
    let wanted = usize::try_from(wanted).unwrap_or(usize::MAX).min(lines.lines.len());
    let end: Vec<&str> =
        lines.lines[lines.lines.len() - wanted..].iter().map(|(_, text)| text.as_str()).collect();
    Move::Done(match lines.is_empty_file() {
        true => format!("{} is empty.", tick(path)),
        false => {
            format!("{}, the last {}:\n{}", tick(path), counted(wanted, "line"), fenced(&end.join("\n")))
        }
    })
}

fn count(what: Counted, path: &str, heard: &[Heard<'_>]) -> Move {
    let (lines, _) = match read_all(path, heard) {
        Ok(read) => read,
        Err(next) => return next,
    };
    let (count, name) = match what {
        Counted::Lines => (usize::try_from(lines.last()).unwrap_or(usize::MAX), "line"),
        Counted::Words => (lines.text().split_whitespace().count(), "word"),
    };
    Move::Done(format!("{} has {}.", tick(path), counted(count, name)))
}

/// Adds text behind the last line: an edit that holds on to it, so that nothing else can be lost.
fn append(path: &str, text: &str, heard: &[Heard<'_>]) -> Move {
    let (lines, used) = match read_all(path, heard) {
        Ok(read) => read,
        Err(next) => return next,
    };
    if let Some(edited) = heard.get(used) {
        return match edited.is_error {
            true => Move::Failed(format!("I could not add to {}: {}", tick(path), reason(edited.text))),
            false => Move::Done(format!(
                "Added {} to {}.",
                counted(text.lines().count().max(1), "line"),
                tick(path)
            )),
        };
    }
    if lines.is_empty_file() {
        return call("Write", json!({ "path": path, "contents": text }));
    }
    match lines.end() {
        Some(end) => {
            let new = format!("{end}\n{}", text.strip_suffix('\n').unwrap_or(text));
            call("StrReplace", json!({ "path": path, "old_string": end, "new_string": new }))
        }
        None => Move::Failed(format!("I could not make out how {} ends, so I left it alone.", tick(path))),
    }
}

/// Reads, then edits, so that rules about reading before editing hold.
fn replace(path: &str, old: &str, new: &str, extent: Extent, heard: &[Heard<'_>]) -> Move {
    match heard {
        [] => call("Read", json!({ "path": path })),
        [read, ..] if read.is_error => {
            Move::Failed(format!("I could not read {}: {}", tick(path), reason(read.text)))
        }
        [read] => {
            let mut input = json!({ "path": path, "old_string": old, "new_string": new });
            // Nobody said which one, so all of them are meant.
            if extent == Extent::Everywhere || Lines::of(read.text).text().matches(old).nth(1).is_some() {
                input["replace_all"] = true.into();
            }
            call("StrReplace", input)
        }
        [_, edit, ..] if edit.is_error => Move::Failed(format!(
            "I could not replace {} in {}: {}",
            quote(old),
            tick(path),
            reason(edit.text)
        )),
        [read, ..] => {
            let places = Lines::of(read.text).text().matches(old).count();
            let many = if places > 1 { format!(" in {places} places") } else { String::new() };
            Move::Done(format!("Replaced {} with {} in {}{many}.", quote(old), quote(new), tick(path)))
        }
    }
}

/// Looks for the text, asks which file is meant, then goes on as with a named file.
fn replace_somewhere(old: &str, new: &str, extent: Extent, heard: &[Heard<'_>]) -> Move {
    const OFFERED: usize = 8;
    let [search, asked @ ..] = heard else {
        return call("Grep", json!({ "pattern": regex::escape(old), "output_mode": "files_with_matches" }));
    };
    if search.is_error {
        return Move::Failed(format!("I could not search for {}: {}", quote(old), reason(search.text)));
    }
    let files = if heard::found_nothing(search.text) { Vec::new() } else { heard::paths(search.text) };
    if files.is_empty() {
        return Move::Failed(format!("No file contains {}, so there is nothing to replace.", quote(old)));
    }
    let [answer, edits @ ..] = asked else {
        let option = |file: &String| json!({ "id": file, "label": file });
        let options: Vec<Value> = files.iter().take(OFFERED).map(option).collect();
        let prompt = format!("In which file shall I replace {} with {}?", quote(old), quote(new));
        let question = json!({ "id": "file", "prompt": prompt, "options": options, "allow_multiple": false });
        return call("AskQuestion", json!({ "title": "Which file?", "questions": [question] }));
    };
    let chosen = files.iter().take(OFFERED).filter(|file| answer.text.contains(file.as_str()));
    match chosen.max_by_key(|file| file.len()) {
        Some(file) if !answer.is_error => replace(file, old, new, extent, edits),
        _ => Move::Failed(needs_a_file(old, new)),
    }
}

/// Said when a replacement names no file and nobody can be asked.
pub(super) fn needs_a_file(old: &str, new: &str) -> String {
    format!("I need to know the file: say `replace '{old}' with '{new}' in notes.txt`, for example.")
}
