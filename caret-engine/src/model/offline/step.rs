//! One thing that a prompt asks for.
//!
//! Steps are what understanding gives and acting takes; their `Display` is what plans and the list of
//! undone steps show, so it must say everything that a step would do.

use std::fmt;

/// One thing that a prompt asks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    Read {
        path: String,
        part: Part,
    },
    List {
        path: Option<String>,
    },
    Search {
        text: String,
        path: Option<String>,
        shape: Shape,
    },
    Find {
        glob: String,
        under: Option<String>,
    },
    Run {
        command: String,
    },
    Create {
        path: String,
        text: String,
    },
    Append {
        path: String,
        text: String,
    },
    Replace {
        path: String,
        old: String,
        new: String,
        extent: Extent,
    },
    /// A replacement that names no file.
    ReplaceSomewhere {
        old: String,
        new: String,
        extent: Extent,
    },
    Delete {
        path: String,
    },
    Fetch {
        url: String,
    },
    Todo {
        items: Vec<String>,
    },
    Subagent {
        prompt: String,
    },
    Count {
        what: Counted,
        path: String,
    },
    CountFiles {
        glob: String,
        under: Option<String>,
    },
    Recall(Recall),
    /// Words that need nothing but the step itself.
    Say(String),
    /// Nothing that the rules know.
    Unknown {
        text: String,
    },
}

/// Which lines of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Part {
    Whole,
    Lines { first: u64, last: u64 },
    From { first: u64 },
    Last { count: u64 },
}

/// What a search shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    Files,
    Lines,
}

/// How much a replacement covers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Extent {
    /// Wherever it is, as nothing was said.
    Unsaid,
    /// `everywhere`, `all`.
    Everywhere,
}

/// What is counted in a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Counted {
    Lines,
    Words,
}

/// What is asked about the conversation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Recall {
    LastPrompt,
    FirstPrompt,
    AllPrompts,
    LastAnswer,
    Continue,
}

impl Step {
    /// Whether it leaves everything as it is.
    pub(super) fn only_reads(&self) -> bool {
        match self {
            Self::Read { .. }
            | Self::List { .. }
            | Self::Search { .. }
            | Self::Find { .. }
            | Self::Fetch { .. }
            | Self::Count { .. }
            | Self::CountFiles { .. }
            | Self::Recall(_)
            | Self::Say(_)
            | Self::Unknown { .. } => true,
            Self::Run { .. }
            | Self::Create { .. }
            | Self::Append { .. }
            | Self::Replace { .. }
            | Self::ReplaceSomewhere { .. }
            | Self::Delete { .. }
            | Self::Todo { .. }
            | Self::Subagent { .. } => false,
        }
    }

    /// Whether one call that reads is all it needs, so that it may run beside its neighbours.
    pub(super) fn is_one_read(&self) -> bool {
        let to_the_end = matches!(self, Self::Read { part: Part::Last { .. }, .. });
        let reads = matches!(
            self,
            Self::Read { .. }
                | Self::List { .. }
                | Self::Search { .. }
                | Self::Find { .. }
                | Self::CountFiles { .. }
        );
        reads && !to_the_end
    }

    /// The file it is about.
    pub(super) fn path_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Read { path, .. }
            | Self::Create { path, .. }
            | Self::Append { path, .. }
            | Self::Replace { path, .. }
            | Self::Delete { path }
            | Self::Count { path, .. } => Some(path),
            Self::Search { path, .. } => path.as_mut(),
            _ => None,
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read { path, part } => write!(out, "read {}{part}", tick(path)),
            Self::List { path: None } => write!(out, "list the files"),
            Self::List { path: Some(path) } => write!(out, "list the files in {}", tick(path)),
            Self::Search { text, path, shape } => {
                let what = match shape {
                    Shape::Files => "files containing",
                    Shape::Lines => "lines with",
                };
                write!(out, "search for {what} {}{}", quote(text), place(path))
            }
            Self::Find { glob, under } => write!(out, "find files named {}{}", tick(glob), place(under)),
            Self::Run { command } => write!(out, "run {}", tick(command)),
            Self::Create { path, text } if text.is_empty() => write!(out, "create {}, empty", tick(path)),
            Self::Create { path, text } => write!(out, "create {} with {}", tick(path), quote(text)),
            Self::Append { path, text } => write!(out, "add {} to the end of {}", quote(text), tick(path)),
            Self::Replace { path, old, new, extent } => {
                write!(out, "replace {} with {}{extent} in {}", quote(old), quote(new), tick(path))
            }
            Self::ReplaceSomewhere { old, new, extent } => {
                write!(out, "replace {} with {}{extent} in a file that was not named", quote(old), quote(new))
            }
            Self::Delete { path } => write!(out, "delete {}", tick(path)),
            Self::Fetch { url } => write!(out, "fetch {url}"),
            Self::Todo { items } => write!(out, "write the task list: {}", items.join(", ")),
            Self::Subagent { prompt } => write!(out, "have a subagent do: {prompt}"),
            Self::Count { what: Counted::Lines, path } => write!(out, "count the lines of {}", tick(path)),
            Self::Count { what: Counted::Words, path } => write!(out, "count the words of {}", tick(path)),
            Self::CountFiles { glob, under } => {
                write!(out, "count the files named {}{}", tick(glob), place(under))
            }
            Self::Recall(recall) => out.write_str(match recall {
                Recall::LastPrompt => "recall your last message",
                Recall::FirstPrompt => "recall your first message",
                Recall::AllPrompts => "recall your messages",
                Recall::LastAnswer => "repeat my last answer",
                Recall::Continue => "say what is under way",
            }),
            Self::Say(text) => write!(out, "say {}", quote(text)),
            Self::Unknown { text } => write!(out, "not understood: {}", quote(text)),
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole => Ok(()),
            Self::Lines { first, last } if first == last => write!(out, ", line {first}"),
            Self::Lines { first, last } => write!(out, ", lines {first} to {last}"),
            Self::From { first } => write!(out, ", from line {first}"),
            Self::Last { count } => write!(out, ", the last {count} lines"),
        }
    }
}

impl fmt::Display for Extent {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsaid => Ok(()),
            Self::Everywhere => out.write_str(" everywhere"),
        }
    }
}

fn place(path: &Option<String>) -> String {
    path.as_ref().map(|path| format!(" in {}", tick(path))).unwrap_or_default()
}

/// Text as code on one line.
pub(super) fn tick(text: &str) -> String {
    let line = text.replace('\n', " ");
    if line.contains('`') { format!("`` {line} ``") } else { format!("`{line}`") }
}

/// Text in quotes, on one line and not long.
pub(super) fn quote(text: &str) -> String {
    const LONGEST: usize = 72;
    let line = text.replace('\n', "⏎");
    match line.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("\"{}…\"", &line[..cut]),
        None => format!("\"{line}\""),
    }
}
