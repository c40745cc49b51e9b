//! A parser for the part of bash that can be understood completely.
//!
//! The text comes from a model or from whoever managed to speak through one,
//! so it is hostile. A permission gate will decide from this tree which
//! programs a line would start; a command that the tree does not show is a
//! command nobody was asked about. Refusing a harmless line costs a question,
//! misreading a harmful one costs the machine.
//!
//! What must stay true:
//!
//! - Whatever is not understood in full is [`Unparsed`]; nothing is guessed,
//!   nothing is skipped, and there is no recovery after an error.
//! - Time is linear in the input (times the bounded nesting), input is at most
//!   [`MAX_SOURCE_BYTES`], nesting at most [`MAX_NESTING`], and no input panics.
//! - If this parser accepts a text, `bash -n` accepts it too, and every command
//!   bash would start *by reading this text* is in [`simple_commands`].
//!
//! What a syntax tree cannot show, and the gate has to judge by name: commands
//! that read text as code again (`eval`, `source`, `trap`, `bash -c`, `xargs`,
//! `find -exec`, `ssh`), builtins that evaluate their arguments as arithmetic
//! or as variable names (`let`, `declare`, `unset`, `read`, `printf -v`,
//! `test -v`), values of variables that arithmetic evaluates a second time,
//! aliases, and functions that shadow a command.

mod ansi;
mod arithmetic;
mod ast;
mod collect;
mod compound;
mod cursor;
mod expansion;
mod heredoc;
mod list;
mod parameter;
mod redirect;
mod simple;
mod summary;
mod test_expression;
mod word;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_hostile;
#[cfg(test)]
mod tests_tables;

pub use ast::{
    Arithmetic, Assignment, Branch, CaseEnd, Clause, Command, Compound, Descriptor, Direction, Element,
    Heredoc, Item, Link, List, Parameter, Part, Pipeline, Redirect, RedirectOp, Script, Simple, Span, Stage,
    Word,
};
pub use collect::{Found, simple_commands};
pub use cursor::{MAX_NESTING, MAX_SOURCE_BYTES};
pub use summary::{Arg, ArgKind, Executable, RedirectText, Summary, summary};

use std::fmt;

/// Why a text was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The text is longer than [`MAX_SOURCE_BYTES`].
    TooLong,
    /// Constructs are nested deeper than [`MAX_NESTING`].
    TooDeep,
    /// Something was opened and never closed; the text names it.
    Unterminated(&'static str),
    /// Bash would call this a syntax error; the text names what was wanted.
    Expected(&'static str),
    /// Bash may accept this, but its meaning is not followed here.
    Unsupported(&'static str),
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => write!(formatter, "longer than {MAX_SOURCE_BYTES} bytes"),
            Self::TooDeep => write!(formatter, "nested deeper than {MAX_NESTING} levels"),
            Self::Unterminated(what) => write!(formatter, "unterminated {what}"),
            Self::Expected(what) => write!(formatter, "expected {what}"),
            Self::Unsupported(what) => write!(formatter, "not understood: {what}"),
        }
    }
}

/// The refusal of a text: nothing about its commands may be assumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unparsed {
    /// Why the text was refused.
    pub reason: Reason,
    /// The byte offset in the source where understanding ended.
    pub at: usize,
}

impl fmt::Display for Unparsed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at byte {}", self.reason, self.at)
    }
}

impl std::error::Error for Unparsed {}

/// Parses a whole bash text.
///
/// # Errors
///
/// [`Unparsed`] if the text is too long, nested too deeply, no valid bash, or
/// valid bash whose meaning this parser does not follow completely.
pub fn parse(source: &str) -> Result<Script, Unparsed> {
    cursor::Parser::new(source)?.script()
}
