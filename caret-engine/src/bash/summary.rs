//! A flat view of a text for those who do not want the tree.

use super::ast::{Redirect, Simple, Word};
use super::collect::Walk;
use super::parse;

/// What a text would run and where it redirects.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Whether the text was refused; everything else is empty then and says nothing.
    pub parsing_failed: bool,
    /// Every simple command that has a name, wherever it stands, in source order.
    pub commands: Vec<Executable>,
    /// Whether anything is redirected.
    pub has_redirects: bool,
    /// Whether any redirection reads.
    pub has_input_redirect: bool,
    /// Whether any redirection writes.
    pub has_output_redirect: bool,
    /// Whether there is a command or process substitution or backticks.
    pub has_command_substitution: bool,
    /// Every redirection in source order.
    pub redirects: Vec<RedirectText>,
    /// The names of `commands` without their directories.
    pub simple_commands: Vec<String>,
}

/// A command with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Executable {
    /// The name after quote removal, or its source text if it is expanded.
    pub name: String,
    /// The arguments.
    pub args: Vec<Arg>,
    /// The text of the command without redirections.
    pub full_text: String,
}

/// An argument.
#[derive(Clone, Debug, PartialEq)]
pub struct Arg {
    /// How it was written.
    pub kind: ArgKind,
    /// The argument after quote removal, or its source text if it is expanded.
    pub value: String,
}

/// How an argument was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgKind {
    /// Unquoted, and no number.
    Word,
    /// Any part of it was quoted.
    String,
    /// Unquoted decimal digits.
    Number,
}

/// A redirection as text.
#[derive(Clone, Debug, PartialEq)]
pub struct RedirectText {
    /// The operator without a descriptor.
    pub op: String,
    /// The target after quote removal, or its source text if it is expanded;
    /// for a here-document its delimiter.
    pub target: String,
}

/// Summarizes a text.
#[must_use]
pub fn summary(source: &str) -> Summary {
    let Ok(script) = parse(source) else {
        return Summary { parsing_failed: true, ..Summary::default() };
    };
    let walk = Walk::over(&script);
    let commands: Vec<Executable> = walk.found.iter().filter_map(|found| executable(found.command)).collect();
    Summary {
        parsing_failed: false,
        has_redirects: !walk.redirects.is_empty(),
        has_input_redirect: walk.redirects.iter().any(|redirect| redirect.op.reads()),
        has_output_redirect: walk.redirects.iter().any(|redirect| redirect.op.writes()),
        has_command_substitution: walk.substitutes,
        redirects: walk.redirects.into_iter().map(redirect_text).collect(),
        simple_commands: walk.found.iter().filter_map(|found| base_name(found.command)).collect(),
        commands,
    }
}

fn executable(simple: &Simple) -> Option<Executable> {
    let (name, arguments) = simple.words.split_first()?;
    Some(Executable {
        name: value(name),
        args: arguments.iter().map(argument).collect(),
        full_text: simple.text.clone(),
    })
}

fn argument(word: &Word) -> Arg {
    let digits = !word.text.is_empty() && word.text.bytes().all(|byte| byte.is_ascii_digit());
    let kind = if word.was_quoted() {
        ArgKind::String
    } else if digits {
        ArgKind::Number
    } else {
        ArgKind::Word
    };
    Arg { kind, value: value(word) }
}

fn value(word: &Word) -> String {
    word.literal().unwrap_or_else(|| word.text.clone())
}

fn redirect_text(redirect: &Redirect) -> RedirectText {
    RedirectText { op: redirect.op.as_str().to_owned(), target: value(&redirect.target) }
}

/// The last component of a name. A name that is expanded is kept whole: its
/// last component says nothing.
fn base_name(simple: &Simple) -> Option<String> {
    let name = simple.words.first()?;
    let Some(literal) = name.literal() else {
        return Some(name.text.clone());
    };
    match literal.rsplit_once('/') {
        Some((_, base)) if !base.is_empty() => Some(base.to_owned()),
        _ => Some(literal),
    }
}
