//! Steps that go outside the files: commands, pages, task lists and subagents.

use crate::model::offline::step::Step;
use crate::model::offline::words::{Line, clean};

/// `run COMMAND` and `!COMMAND`; the command is the rest of the step, its quotes optional.
pub(in crate::model::offline) fn run(line: &mut Line<'_>) -> Option<Vec<Step>> {
    line.phrase(&[
        "use the shell to",
        "use the terminal to",
        "in the shell",
        "in the terminal",
        "in a terminal",
    ]);
    if !line.take(&["run", "execute", "exec", "$"]) {
        return None;
    }
    line.phrase(&[
        "the following shell command",
        "the following command",
        "the shell command",
        "a shell command",
        "the bash command",
        "the terminal command",
        "the command",
        "this command",
        "shell command",
        "a command",
        "command",
    ]);
    let first = line.token()?;
    if first.quote == Some('`') || first.quote == Some('~') {
        return command(&first.raw);
    }
    let rest = without_tail(line.raw_rest());
    let whole = Line::new(rest);
    match whole.token() {
        Some(only) if whole.left() == 1 && only.quote.is_some() => command(&only.raw),
        _ => command(rest),
    }
}

fn command(text: &str) -> Option<Vec<Step>> {
    const NO_COMMANDS: &[&str] = &[
        "it",
        "that",
        "this",
        "tests",
        "the",
        "my",
        "all",
        "a",
        "an",
        "your",
        "our",
        "some",
        "every",
        "everything",
    ];
    let command = text.trim();
    let first = command.split_whitespace().next()?;
    // `run the tests` names no command, and guessing one is a real model's work.
    if NO_COMMANDS.contains(&first.to_lowercase().as_str()) {
        return None;
    }
    Some(vec![Step::Run { command: command.to_owned() }])
}

/// A command without the manners and the full stop that follow it.
fn without_tail(text: &str) -> &str {
    const TAILS: &[&str] = &[
        " please",
        " for me",
        " in the terminal",
        " in the shell",
        " in a terminal",
        " and show me the output",
        " and show the output",
        " and tell me the output",
        " and show me the result",
        " and show the result",
        " and tell me the result",
        " and tell me what it says",
        " and print the output",
        " now",
    ];
    let mut text = text.trim();
    loop {
        let before = text;
        let bare = text.trim_end_matches(['.', '!', '?', ',']);
        if text.len() - bare.len() == 1
            && bare.ends_with(|last: char| last.is_alphanumeric() || "'\"".contains(last))
        {
            text = bare;
        }
        for tail in TAILS {
            let cut = text.len().wrapping_sub(tail.len());
            if text.get(cut..).is_some_and(|end| end.eq_ignore_ascii_case(tail)) {
                text = text[..cut].trim_end();
            }
        }
        if text == before {
            return text;
        }
    }
}

/// Programs that are typed without `run`, and moves of files.
pub(in crate::model::offline) fn shell_words(line: &mut Line<'_>) -> Option<Vec<Step>> {
    const PROGRAMS: &[&str] = &[
        "git", "cargo", "npm", "npx", "pnpm", "yarn", "python", "python3", "pip", "node", "rustc", "docker",
        "pwd", "echo", "whoami", "uname", "mkdir", "curl", "wc", "chmod", "touch", "cp", "mv", "rm",
    ];
    let raw = line.raw_rest();
    let first = line.token()?;
    if first.quote == Some('`') && line.left() == 1 {
        return command(&first.raw);
    }
    let flagged = raw.split_whitespace().nth(1).is_some_and(|word| word.starts_with('-'));
    let typed = first.quote.is_none() && first.raw.chars().all(|char| !char.is_uppercase());
    if typed
        && (PROGRAMS.contains(&line.key())
            || flagged && ["ls", "grep", "cat", "find", "make", "head", "tail"].contains(&line.key()))
    {
        return command(without_tail(raw));
    }
    moved(line).or_else(|| made_folder(line))
}

/// `rename a.txt to b.txt`, `copy a.txt to b.txt`.
fn moved(line: &mut Line<'_>) -> Option<Vec<Step>> {
    let program = match line.key() {
        "rename" | "move" => "mv",
        "copy" | "duplicate" => "cp",
        _ => return None,
    };
    line.next();
    let from = line.file()?;
    if !line.take(&["to", "as", "into"]) {
        return None;
    }
    let to = line.file()?;
    line.is_done()
        .then(|| vec![Step::Run { command: format!("{program} {} {}", shell_word(&from), shell_word(&to)) }])
}

/// `create a folder called src`.
fn made_folder(line: &mut Line<'_>) -> Option<Vec<Step>> {
    if !line.take(&["create", "make", "add"]) {
        return None;
    }
    line.skip(&["a", "the", "new"]);
    if !line.take(&["folder", "directory", "dir"]) {
        return None;
    }
    line.skip(&["called", "named"]);
    let token = line.next()?;
    let path = if token.quote.is_some() { token.raw.clone() } else { clean(&token.raw).to_owned() };
    line.is_done().then(|| vec![Step::Run { command: format!("mkdir -p {}", shell_word(&path)) }])
}

/// A word that a shell takes literally.
fn shell_word(text: &str) -> String {
    let plain = |char: char| char.is_ascii_alphanumeric() || "._-/+@%".contains(char);
    match !text.is_empty() && text.chars().all(plain) && !text.starts_with('-') {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// `fetch URL`.
pub(in crate::model::offline) fn fetch(line: &mut Line<'_>) -> Option<Vec<Step>> {
    line.phrase(&[
        "show me",
        "what is at",
        "what's at",
        "what is on",
        "go to",
        "fetch",
        "get",
        "open",
        "download",
        "visit",
        "read",
        "load",
        "browse",
        "show",
    ]);
    line.skip(&["the", "page", "url", "website", "site", "contents", "content", "of", "at", "from"]);
    let token = line.next()?;
    let url = if token.quote.is_some() { token.raw.as_str() } else { clean(&token.raw) };
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let step = Step::Fetch { url: url.to_owned() };
    (!rest.is_empty() && !rest.contains(char::is_whitespace) && line.is_done()).then(|| vec![step])
}

/// `use a subagent to STEP`.
pub(in crate::model::offline) fn subagent(line: &mut Line<'_>) -> Option<Vec<Step>> {
    if !line.take(&["ask", "use", "have", "let", "start", "launch", "spawn", "get"]) {
        return None;
    }
    line.skip(&["a", "an", "the", "another", "new"]);
    if !line.phrase(&["subagent", "sub-agent", "sub agent", "task agent"]) {
        return None;
    }
    line.skip(&["to", "and", "that", "for"]);
    let prompt = line.rest();
    (!prompt.is_empty()).then(|| vec![Step::Subagent { prompt }])
}

/// `todo: a, b, c`, or a heading with a list below it. Seen before steps are split, as the items are no steps.
pub(in crate::model::offline) fn todo(text: &str) -> Option<Step> {
    const HEADS: &[&str] = &["todo", "todos", "to-do", "plan", "tasks", "checklist"];
    let mut line = Line::new(text);
    line.skip(&[
        "please",
        "make",
        "create",
        "write",
        "add",
        "set",
        "up",
        "a",
        "an",
        "the",
        "my",
        "new",
        "these",
        "following",
    ]);
    line.phrase(&["task list", "to do list"]);
    let back = line.clone();
    let headed = line.take(HEADS);
    if headed {
        line.skip(&["list", "items", "item"]);
    } else {
        line = back;
    }
    let rest = line.raw_rest();
    let head = text[..text.len() - rest.len()].trim_end();
    let listed = head.ends_with(':') || head.to_lowercase().ends_with("list");
    if head.is_empty()
        || !listed && !line.phrase(&["with", "for", "of"])
        || !(headed || head.to_lowercase().contains("list"))
    {
        return None;
    }
    let items = items(line.raw_rest());
    (!items.is_empty() && items.len() <= 50).then_some(Step::Todo { items })
}

fn items(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().map(super::super::understand::without_marker).collect();
    let pieces: Vec<&str> = match lines.as_slice() {
        [only] => only.split([',', ';']).flat_map(|piece| piece.split(" and ")).collect(),
        _ => lines,
    };
    let tidy = |piece: &str| {
        let piece = piece.trim().trim_end_matches('.');
        piece.strip_prefix("and ").unwrap_or(piece).trim_matches(['\'', '"', '`']).to_owned()
    };
    pieces.into_iter().map(tidy).filter(|item| !item.is_empty()).collect()
}
