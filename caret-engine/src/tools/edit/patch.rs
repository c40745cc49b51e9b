//! Understands patches: the `*** Begin Patch` form and unified diffs.
//!
//! Parsing is pure and says nothing about the files; where a hunk belongs is found when it is applied.
//! Models get counts and line numbers wrong, so counts are not believed and line numbers are only hints.

/// What a patch does to one file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FilePatch {
    /// As the patch names it.
    pub(crate) path: String,
    /// What happens to it.
    pub(crate) action: Action,
}

/// What happens to a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    /// It is new and holds this.
    Add(String),
    /// It goes; a unified diff also says what must have been in it.
    Delete(Vec<Hunk>),
    /// Its text changes, and perhaps its name.
    Update {
        /// The new name.
        to: Option<String>,
        /// In the order of the file.
        hunks: Vec<Hunk>,
    },
}

/// Neighbouring lines that change together.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Hunk {
    /// Lines that stand somewhere above.
    pub(crate) below: Vec<String>,
    /// The first line, from 1, if the patch says so.
    pub(crate) line: Option<usize>,
    /// Its lines.
    pub(crate) changes: Vec<Change>,
    /// It stands at the end of the file.
    pub(crate) at_end: bool,
    /// Whether the file ends with a newline afterwards, if the patch says so.
    pub(crate) final_newline: Option<bool>,
    /// Lines at its end that were empty even of the leading blank.
    loose: usize,
}

/// One line of a hunk.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    /// It stays.
    Keep(String),
    /// It goes.
    Remove(String),
    /// It comes.
    Add(String),
}

/// What a patch does, or what is wrong with it, for the model.
pub(crate) fn parse(patch: &str) -> Result<Vec<FilePatch>, String> {
    let lines: Vec<&str> = patch.lines().collect();
    let begin = lines.iter().position(|line| line.trim() == "*** Begin Patch");
    let marked = lines.iter().any(|line| is_file_mark(line));
    let mut parser = Parser::default();
    if begin.is_some() || marked {
        let first = begin.map_or(0, |begin| begin + 1);
        parser.marked(&lines, first)?;
    } else {
        parser.unified(&lines)?;
    }
    parser.finish();
    match parser.files.is_empty() {
        true => {
            Err("the patch names no file; start it with `*** Begin Patch` and `*** Update File: path`".into())
        }
        false => Ok(parser.files),
    }
}

const MARKS: [&str; 3] = ["*** Add File: ", "*** Delete File: ", "*** Update File: "];

fn is_file_mark(line: &str) -> bool {
    MARKS.iter().any(|mark| line.starts_with(mark))
}

#[derive(Default)]
struct Parser {
    files: Vec<FilePatch>,
    hunk: Option<Hunk>,
}

impl Parser {
    fn marked(&mut self, lines: &[&str], first: usize) -> Result<(), String> {
        for (number, line) in lines.iter().enumerate().skip(first) {
            if line.trim() == "*** End Patch" {
                return Ok(());
            }
            if is_file_mark(line) {
                self.finish();
                self.start_file(line);
            } else if let Some(name) = line.strip_prefix("*** Move to: ") {
                match self.files.last_mut().map(|file| &mut file.action) {
                    Some(Action::Update { to, .. }) => *to = Some(name.trim().to_owned()),
                    _ => return Err(unexpected(number, line)),
                }
            } else if line.trim_end() == "*** End of File" {
                if let Some(hunk) = &mut self.hunk {
                    hunk.at_end = true;
                }
            } else {
                self.body(number, line)?;
            }
        }
        Ok(())
    }

    fn start_file(&mut self, line: &str) {
        let Some((mark, name)) = line.split_once(": ") else { return };
        let action = match mark {
            "*** Add File" => Action::Add(String::new()),
            "*** Delete File" => Action::Delete(Vec::new()),
            _ => Action::Update { to: None, hunks: Vec::new() },
        };
        self.files.push(FilePatch { path: name.trim().to_owned(), action });
    }

    /// A line that belongs to the last file.
    fn body(&mut self, number: usize, line: &str) -> Result<(), String> {
        match self.files.last_mut().map(|file| &mut file.action) {
            Some(Action::Add(contents)) => match line.strip_prefix('+') {
                Some(text) => {
                    contents.push_str(text);
                    contents.push('\n');
                    Ok(())
                }
                None if line.trim().is_empty() => Ok(()),
                None => Err(format!("line {} of the patch: lines of a new file start with `+`", number + 1)),
            },
            Some(Action::Update { .. }) => self.hunk_line(number, line),
            _ if line.trim().is_empty() => Ok(()),
            _ => Err(unexpected(number, line)),
        }
    }

    fn hunk_line(&mut self, number: usize, line: &str) -> Result<(), String> {
        if let Some(header) = line.strip_prefix("@@") {
            let started = self.hunk.as_ref().is_some_and(|hunk| !hunk.changes.is_empty());
            if started || self.hunk.is_none() {
                self.end_hunk();
            }
            let hunk = self.hunk.get_or_insert_default();
            match position(header) {
                Some(line) => hunk.line = Some(line),
                None if header.trim().trim_end_matches("@@").trim().is_empty() => {}
                None => hunk.below.push(header.trim().trim_end_matches("@@").trim().to_owned()),
            }
            return Ok(());
        }
        if line.starts_with('\\') {
            if let Some(hunk) = &mut self.hunk {
                hunk.final_newline = Some(matches!(hunk.changes.last(), Some(Change::Remove(_))));
            }
            return Ok(());
        }
        let change = match line.split_at_checked(1) {
            None => Change::Keep(String::new()),
            Some((" ", text)) => Change::Keep(text.to_owned()),
            Some(("-", text)) => Change::Remove(text.to_owned()),
            Some(("+", text)) => Change::Add(text.to_owned()),
            Some(_) => return Err(unexpected(number, line)),
        };
        if self.hunk.is_none() && line.is_empty() {
            return Ok(());
        }
        let hunk = self.hunk.get_or_insert_default();
        hunk.loose = if line.is_empty() { hunk.loose + 1 } else { 0 };
        hunk.changes.push(change);
        Ok(())
    }

    fn end_hunk(&mut self) {
        let Some(mut hunk) = self.hunk.take() else { return };
        hunk.changes.truncate(hunk.changes.len() - hunk.loose);
        hunk.loose = 0;
        if hunk.changes.is_empty() {
            return;
        }
        let action = self.files.last_mut().map(|file| &mut file.action);
        if let Some(Action::Update { hunks, .. } | Action::Delete(hunks)) = action {
            hunks.push(hunk);
        }
    }

    fn finish(&mut self) {
        self.end_hunk();
    }

    fn unified(&mut self, lines: &[&str]) -> Result<(), String> {
        let mut index = 0;
        // A hunk goes on until the next header; before the first one there may be prose.
        let mut inside = false;
        while index < lines.len() {
            let line = lines[index];
            let next = lines.get(index + 1).copied().unwrap_or_default();
            let after = lines.get(index + 2).copied().unwrap_or_default();
            if line.starts_with("--- ") && next.starts_with("+++ ") && after.starts_with("@@") {
                self.finish();
                self.unified_file(&line[4..], &next[4..])?;
                inside = true;
                index += 2;
                continue;
            }
            if line.starts_with("diff --git ") || line.starts_with("Index: ") {
                self.finish();
                inside = false;
            } else if line.starts_with("GIT binary patch") || line.starts_with("Binary files ") {
                return Err("the patch changes a binary file; use a command for that".into());
            } else if inside && !line.starts_with("```") {
                self.hunk_line(index, line)?;
            } else {
                self.rename(line);
            }
            index += 1;
        }
        self.finish();
        self.whole_files();
        Ok(())
    }

    fn unified_file(&mut self, old: &str, new: &str) -> Result<(), String> {
        let (old, new) = (side(old, "a/"), side(new, "b/"));
        let update = |to| Action::Update { to, hunks: Vec::new() };
        let file = match (old, new) {
            (Some(old), Some(new)) if old == new => FilePatch { path: old, action: update(None) },
            (Some(old), Some(new)) => {
                // The names may have been told by `rename from` and `rename to` already.
                if self.files.last().is_some_and(|file| file.path == old) {
                    return Ok(());
                }
                FilePatch { path: old, action: update(Some(new)) }
            }
            // What a new file holds is known when its hunk has been read.
            (None, Some(new)) => FilePatch { path: new, action: update(Some(String::new())) },
            (Some(old), None) => FilePatch { path: old, action: Action::Delete(Vec::new()) },
            (None, None) => return Err("the patch has `/dev/null` on both sides".into()),
        };
        self.files.push(file);
        Ok(())
    }

    fn rename(&mut self, line: &str) {
        if let Some(name) = line.strip_prefix("rename from ") {
            let action = Action::Update { to: None, hunks: Vec::new() };
            self.files.push(FilePatch { path: name.trim().to_owned(), action });
        } else if let (Some(name), Some(Action::Update { to, .. })) =
            (line.strip_prefix("rename to "), self.files.last_mut().map(|file| &mut file.action))
        {
            *to = Some(name.trim().to_owned());
        }
    }

    /// Turns updates of `/dev/null` into new files.
    fn whole_files(&mut self) {
        for file in &mut self.files {
            let Action::Update { to: Some(to), hunks } = &file.action else { continue };
            if !to.is_empty() {
                continue;
            }
            let mut contents = String::new();
            for change in hunks.iter().flat_map(|hunk| &hunk.changes) {
                if let Change::Add(line) = change {
                    contents.push_str(line);
                    contents.push('\n');
                }
            }
            if hunks.last().is_some_and(|hunk| hunk.final_newline == Some(false)) {
                contents.pop();
            }
            file.action = Action::Add(contents);
        }
    }
}

/// The path on one side of a unified diff; nothing for `/dev/null`.
fn side(text: &str, prefix: &str) -> Option<String> {
    let path = text.split('\t').next().unwrap_or(text).trim();
    (path != "/dev/null").then(|| path.strip_prefix(prefix).unwrap_or(path).to_owned())
}

/// The line of the old file in ` -12,3 +12,4 @@`.
fn position(header: &str) -> Option<usize> {
    let (numbers, _) = header.trim_start().strip_prefix('-')?.split_once(" +")?;
    numbers.split(',').next()?.parse().ok()
}

fn unexpected(number: usize, line: &str) -> String {
    let (shown, _) = crate::tools::text::cut_chars(line, 80);
    format!(
        "line {} of the patch cannot be understood: `{shown}`; lines of a hunk start with ` `, `-` or `+`",
        number + 1
    )
}
