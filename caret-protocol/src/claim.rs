//! What a call would touch, said before it touches anything.
//!
//! A claim is made by the tool from the model's input: paths are absolute, commands are parsed. The
//! permission policy judges it, front ends show it, and it decides which calls may run together.

use crate::ask::Question;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a call would touch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Claim {
    /// Nothing outside the session.
    Nothing,
    /// Reads a file, or files below a folder.
    Read {
        /// Absolute.
        path: PathBuf,
    },
    /// Creates, changes or deletes a file.
    Write {
        /// Absolute; more than one for a patch.
        paths: Vec<PathBuf>,
    },
    /// Runs a command.
    Execute {
        /// The command as it will be run, and how it was understood.
        command: Box<CommandLine>,
    },
    /// Fetches from the network.
    Fetch {
        /// The address.
        url: String,
    },
    /// Asks the user something; the host answers in place of a tool.
    Ask {
        /// What it is about.
        title: String,
        /// The questions.
        questions: Vec<Question>,
    },
    /// Calls a tool of an MCP server.
    Mcp {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
    },
}

impl Claim {
    /// Whether the call leaves everything as it was, so that its neighbours may run at the same time.
    pub fn only_reads(&self) -> bool {
        matches!(self, Self::Nothing | Self::Read { .. })
    }
}

/// A shell command, as given and as understood.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CommandLine {
    /// Byte for byte what will be run.
    pub command: String,
    /// Where, if the model said so; empty means the shell's current directory.
    pub working_directory: String,
    /// After how long it moves to the background.
    pub timeout_ms: u64,
    /// Whether it starts in the background.
    pub background: bool,
    /// What the model says it is for.
    pub description: String,
    /// How the command was understood.
    pub parsed: Parsed,
}

/// How a bash grammar understood a command.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Parsed {
    /// The grammar did not accept it; nothing below is known.
    pub failed: bool,
    /// Every simple command, wherever it stands.
    pub commands: Vec<SimpleCommand>,
    /// The base names of all simple commands.
    pub names: Vec<String>,
    /// Something is read from a file.
    pub input_redirect: bool,
    /// Something is written to a file.
    pub output_redirect: bool,
    /// There is a `$( )`, a backtick or a process substitution.
    pub substitution: bool,
    /// A variable is set.
    pub assignment: bool,
    /// The redirections, as operator and target.
    pub redirects: Vec<(String, String)>,
}

/// One program with its arguments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SimpleCommand {
    /// The first word.
    pub name: String,
    /// The other words.
    pub args: Vec<(ArgKind, String)>,
    /// The source text.
    pub text: String,
}

/// How an argument was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ArgKind {
    /// Bare.
    Word,
    /// Some part was quoted.
    String,
    /// Only digits.
    Number,
}
