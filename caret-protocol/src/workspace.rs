//! Files and processes, wherever they are: here, in a sandbox, or in the editor.
//!
//! A tool sees the world through a [`Workspace`] and through nothing else, so a host that lends another one
//! moves all tools at once.

use crate::claim::CommandLine;
use async_trait::async_trait;
use std::io;
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

/// Files and processes, wherever they are: here, in a sandbox, or in the editor.
#[async_trait]
pub trait Workspace: Send + Sync {
    /// The physical root folder.
    fn root(&self) -> &Path;
    /// Some lines of a text file, in bounded memory.
    async fn read(&self, path: &Path, lines: Lines) -> io::Result<Excerpt>;
    /// A whole file, to be changed.
    async fn load(&self, path: &Path) -> io::Result<Loaded>;
    /// Replaces or creates a file in one step, with its folders; what was there keeps its mode.
    ///
    /// With `expected`, nothing is written unless the file still has that stamp.
    async fn save(&self, path: &Path, bytes: &[u8], expected: Option<Stamp>) -> io::Result<Stamp>;
    /// Deletes a file; says how long it was.
    async fn remove(&self, path: &Path) -> io::Result<u64>;
    /// Runs a command until it ends, moves to the background, or is cancelled.
    async fn run(&self, run: Run<'_>, cancel: &CancellationToken) -> io::Result<Ran>;
    /// Ends what commands left running.
    async fn close(&self) {}
}

/// Which lines of a file are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lines {
    /// The first, from 1; a negative number counts from the end.
    pub start: i64,
    /// How many at the most.
    pub count: u64,
    /// How many bytes at the most.
    pub bytes: usize,
}

/// A part of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Excerpt {
    /// The bytes of the lines, with their line endings.
    pub bytes: Vec<u8>,
    /// The first line, from 1.
    pub start_line: u64,
    /// The last line.
    pub end_line: u64,
    /// The pieces of a split at `\n`.
    pub total_lines: u64,
    /// In bytes.
    pub file_size: u64,
    /// Cut at `Lines::bytes`.
    pub cut: bool,
    /// The file has NUL bytes near its beginning.
    pub binary: bool,
    /// The file as it was.
    pub stamp: Stamp,
}

/// A whole file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loaded {
    /// All of it.
    pub bytes: Vec<u8>,
    /// The file as it was.
    pub stamp: Stamp,
}

/// Tells whether a file is still the one that was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Stamp {
    /// In bytes.
    pub size: u64,
    /// Nanoseconds since 1970.
    pub modified_ns: i128,
    /// The inode.
    pub inode: u64,
}

/// A command to run, and who hears its output.
pub struct Run<'a> {
    /// The command.
    pub command: &'a CommandLine,
    /// The shell state of the chat it runs in; changed by the command.
    pub shell: &'a ShellState,
    /// Names and values that are set for the command besides the shell state.
    pub environment: &'a [(String, String)],
    /// Where the output is kept when it is long or goes on in the background.
    pub output_file: PathBuf,
    /// Bytes of output kept in memory.
    pub keep_bytes: usize,
    /// Hears output as it comes.
    pub output: &'a (dyn Fn(&str) + Send + Sync),
}

/// What one command leaves for the next: the directory and the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ShellState {
    /// Where the next command starts.
    pub cwd: PathBuf,
    /// The whole exported environment; absent until a command ran.
    pub environment: Option<Vec<(String, String)>>,
}

/// How a command went.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    /// How it ended, if it did.
    pub exit: Exit,
    /// What it wrote, cut in the middle if long.
    pub stdout: Vec<u8>,
    /// What it complained, cut in the middle if long.
    pub stderr: Vec<u8>,
    /// Both in the order they came, cut in the middle if long.
    pub interleaved: Vec<u8>,
    /// All bytes it wrote, kept or not.
    pub total_bytes: u64,
    /// Where the whole output is, if it did not fit.
    pub output_file: Option<PathBuf>,
    /// Wall time.
    pub elapsed_ms: u64,
    /// What it leaves for the next command; absent when it did not say.
    pub shell: Option<ShellState>,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// It goes on in the background, as this process group.
    Background(u32),
    /// The turn was cancelled; nothing of it is left.
    Cancelled,
}
