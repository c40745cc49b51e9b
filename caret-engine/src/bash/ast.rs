//! The syntax tree.
//!
//! Sequences are flat vectors so that only real nesting, which is bounded,
//! makes the tree deep: dropping, cloning and walking it cannot exhaust the
//! stack.

use std::sync::{Arc, OnceLock};

/// A range of bytes in the original source.
///
/// Inside backticks the text is not a slice of the source (its backslashes are
/// removed first); everything there carries the span of the backticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// The offset of the first byte.
    pub start: usize,
    /// The offset after the last byte.
    pub end: usize,
}

/// A whole text, or the whole body of a substitution.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// What runs.
    pub list: List,
}

/// Pipelines one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct List {
    /// The pipelines in source order.
    pub items: Vec<Item>,
}

/// One pipeline of a list and how the next one follows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// The pipeline.
    pub pipeline: Pipeline,
    /// What stands between it and the next.
    pub link: Link,
}

/// What stands after a pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// `;`, a newline, or the end of the list.
    Sequence,
    /// `&`: it runs in the background.
    Background,
    /// `&&`.
    And,
    /// `||`.
    Or,
}

/// Commands joined by pipes.
#[derive(Clone, Debug, PartialEq)]
pub struct Pipeline {
    /// Whether an odd number of `!` stands in front.
    pub negated: bool,
    /// Whether the keyword `time` stands in front.
    pub timed: bool,
    /// The commands from left to right, at least one.
    pub stages: Vec<Stage>,
}

/// One command of a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// The command.
    pub command: Command,
    /// Whether the pipe after it is `|&` and takes standard error along.
    pub with_stderr: bool,
}

/// A command of any form.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// A name with arguments, assignments or redirections.
    Simple(Simple),
    /// A keyword or bracket form.
    Compound {
        /// The form.
        body: Compound,
        /// The redirections after it.
        redirects: Vec<Redirect>,
        /// Where it stands, redirections included.
        span: Span,
    },
    /// The definition of a function.
    Function {
        /// The name it gets.
        name: String,
        /// The compound command it will run.
        body: Box<Command>,
        /// Where it stands.
        span: Span,
    },
}

/// A simple command.
#[derive(Clone, Debug, PartialEq)]
pub struct Simple {
    /// The assignments before the name.
    pub assignments: Vec<Assignment>,
    /// The name and the arguments; empty if the command only assigns or redirects.
    pub words: Vec<Word>,
    /// The redirections wherever they stand in it.
    pub redirects: Vec<Redirect>,
    /// The text as it was read, without the redirections.
    pub text: String,
    /// Where it stands, redirections included.
    pub span: Span,
}

/// The keyword and bracket forms.
#[derive(Clone, Debug, PartialEq)]
pub enum Compound {
    /// `{ list; }`
    Group(List),
    /// `( list )`
    Subshell(List),
    /// `if … elif … else … fi`
    If {
        /// The `if` and every `elif`, in order.
        branches: Vec<Branch>,
        /// The list after `else`.
        otherwise: Option<List>,
    },
    /// `for name in words; do … done`
    For {
        /// The loop variable.
        variable: String,
        /// The words after `in`; `None` means the positional parameters.
        words: Option<Vec<Word>>,
        /// The list between `do` and `done`.
        body: List,
    },
    /// `for (( … ; … ; … )); do … done`
    ForArithmetic {
        /// All three expressions with their semicolons.
        header: Arithmetic,
        /// The list between `do` and `done`.
        body: List,
    },
    /// `while` or `until`
    While {
        /// Whether it is `until`.
        until: bool,
        /// The list that decides.
        condition: List,
        /// The list between `do` and `done`.
        body: List,
    },
    /// `case word in … esac`
    Case {
        /// The word that is matched.
        subject: Word,
        /// The clauses in order.
        clauses: Vec<Clause>,
    },
    /// `[[ … ]]`, its operands and operators as a flat row of words.
    Test(Vec<Word>),
    /// `(( … ))`
    Arithmetic(Arithmetic),
}

/// A condition and what it guards.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// The list after `if` or `elif`.
    pub condition: List,
    /// The list after `then`.
    pub body: List,
}

/// One clause of a `case`.
#[derive(Clone, Debug, PartialEq)]
pub struct Clause {
    /// The alternatives before the parenthesis.
    pub patterns: Vec<Word>,
    /// What runs on a match; may be empty.
    pub body: List,
    /// How the clause ends.
    pub end: CaseEnd,
}

/// How a clause of a `case` ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseEnd {
    /// `;;` or `esac`
    Break,
    /// `;&`
    FallThrough,
    /// `;;&`
    Continue,
}

/// `name=value`, `name+=value`, `name[subscript]=value`, `name=(…)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// The subscript, if one stands there.
    pub subscript: Option<Arithmetic>,
    /// Whether it is `+=`.
    pub append: bool,
    /// The value; without parts if empty, a single [`Part::Array`] for a list.
    pub value: Word,
    /// Where it stands.
    pub span: Span,
}

/// One value of an array literal.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// The subscript in `[subscript]=value`.
    pub subscript: Option<Arithmetic>,
    /// The value.
    pub value: Word,
}

/// A redirection.
#[derive(Clone, Debug, PartialEq)]
pub struct Redirect {
    /// The descriptor in front of the operator.
    pub fd: Option<Descriptor>,
    /// The operator.
    pub op: RedirectOp,
    /// The target; for a here-document its delimiter as written.
    pub target: Word,
    /// The here-document of `<<` and `<<-`.
    pub heredoc: Option<Heredoc>,
    /// Where it stands, without the body of a here-document.
    pub span: Span,
}

/// What stands directly before a redirection operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Descriptor {
    /// `2>`
    Number(u32),
    /// `{name}>`
    Variable(String),
}

/// A redirection operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectOp {
    /// `<`
    Read,
    /// `>`
    Write,
    /// `>>`
    Append,
    /// `>|`
    Clobber,
    /// `<>`
    ReadWrite,
    /// `<&`
    DuplicateRead,
    /// `>&`
    DuplicateWrite,
    /// `&>`
    WriteBoth,
    /// `&>>`
    AppendBoth,
    /// `<<`
    Heredoc,
    /// `<<-`
    HeredocStripped,
    /// `<<<`
    HereString,
}

impl RedirectOp {
    /// The operator as written.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "<",
            Self::Write => ">",
            Self::Append => ">>",
            Self::Clobber => ">|",
            Self::ReadWrite => "<>",
            Self::DuplicateRead => "<&",
            Self::DuplicateWrite => ">&",
            Self::WriteBoth => "&>",
            Self::AppendBoth => "&>>",
            Self::Heredoc => "<<",
            Self::HeredocStripped => "<<-",
            Self::HereString => "<<<",
        }
    }

    /// Whether the command can read from the target.
    #[must_use]
    pub const fn reads(self) -> bool {
        matches!(
            self,
            Self::Read
                | Self::ReadWrite
                | Self::DuplicateRead
                | Self::Heredoc
                | Self::HeredocStripped
                | Self::HereString
        )
    }

    /// Whether the command can write to the target.
    #[must_use]
    pub const fn writes(self) -> bool {
        !self.reads() || matches!(self, Self::ReadWrite)
    }
}

/// A here-document.
///
/// Its body follows the line, long after the redirection was read, and is
/// filled in then; an accepted text has no here-document without a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Heredoc {
    /// The line that ends the body, after quote removal.
    pub delimiter: String,
    /// Whether the delimiter was quoted and the body is plain text.
    pub quoted: bool,
    /// Whether leading tabs are removed (`<<-`).
    pub strip_tabs: bool,
    pub(super) body: Arc<OnceLock<Word>>,
}

impl Heredoc {
    /// The body; one literal part if the delimiter was quoted. Leading tabs
    /// that `<<-` removes are still in it.
    #[must_use]
    pub fn body(&self) -> Option<&Word> {
        self.body.get()
    }
}

/// A word as the shell splits it.
#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    /// The parts from left to right.
    pub parts: Vec<Part>,
    /// The text as it was read.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// A part of a word.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Unquoted text, or text inside double quotes.
    Literal(String),
    /// A character behind a backslash.
    Escaped(char),
    /// `'…'`
    Single(String),
    /// `"…"`
    Double(Vec<Part>),
    /// `$'…'`, decoded.
    AnsiC(String),
    /// `$"…"`, subject to translation.
    Locale(Vec<Part>),
    /// `$name` or `${…}`
    Parameter(Parameter),
    /// `$(…)`
    Command(Script),
    /// `` `…` ``, parsed after its backslashes were removed.
    Backtick(Script),
    /// `<(…)` or `>(…)`
    Process(Direction, Script),
    /// `$((…))` or `$[…]`
    Arithmetic(Arithmetic),
    /// The unquoted `{` that may begin a brace expansion.
    Brace,
    /// An unquoted `*`, `?`, or a `[` that may begin a bracket expression.
    Glob(char),
    /// An unquoted `~` where the shell may expand it.
    Tilde,
    /// `(…)` as the value of an assignment.
    Array(Vec<Element>),
}

/// Which way a process substitution is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `<(…)`
    From,
    /// `>(…)`
    Into,
}

/// A parameter expansion.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// The variable or special parameter, without prefix operators.
    pub name: String,
    /// The text after `$`, or between the braces.
    pub raw: String,
    /// What is expanded inside the braces: subscripts, then the operator's words.
    pub parts: Vec<Part>,
    /// Whether it only stands for the value: `$x` or `${x}`.
    pub simple: bool,
}

/// An arithmetic expression, not analysed beyond what is expanded in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Arithmetic {
    /// The text without its brackets.
    pub raw: String,
    /// What is expanded in it.
    pub parts: Vec<Part>,
}

impl Word {
    /// The word after quote removal, exactly as the command would receive it,
    /// or `None` if anything in it is expanded.
    #[must_use]
    pub fn literal(&self) -> Option<String> {
        let mut text = String::with_capacity(self.text.len());
        append_literal(&self.parts, &mut text).then_some(text)
    }

    /// Whether any part of the word was quoted, be it by a backslash.
    #[must_use]
    pub fn was_quoted(&self) -> bool {
        self.parts.iter().any(|part| {
            matches!(
                part,
                Part::Escaped(_) | Part::Single(_) | Part::Double(_) | Part::AnsiC(_) | Part::Locale(_)
            )
        })
    }
}

fn append_literal(parts: &[Part], text: &mut String) -> bool {
    parts.iter().all(|part| match part {
        Part::Literal(value) | Part::Single(value) | Part::AnsiC(value) => {
            text.push_str(value);
            true
        }
        Part::Escaped(character) => {
            text.push(*character);
            true
        }
        Part::Double(inner) => append_literal(inner, text),
        _ => false,
    })
}
