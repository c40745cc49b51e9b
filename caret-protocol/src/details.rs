//! What each tool reports to people and programs, in the documented shapes.
//!
//! These structs are a promise: their field names and order are what `stream-json` readers see inside
//! `result.success`. A new tool adds a variant to [`Details`] and nothing else.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The report of one tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "tool", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Details {
    /// A file was read.
    Read(ReadDone),
    /// A file was created or changed.
    Edit(EditDone),
    /// A file was deleted.
    Delete(DeleteDone),
    /// A folder was listed.
    Ls(LsDone),
    /// Files were found by name.
    Glob(GlobDone),
    /// Files were searched.
    Grep(GrepDone),
    /// A command was run to its end.
    Shell(ShellDone),
    /// A command goes on in the background.
    Backgrounded(Backgrounded),
    /// The task list was changed.
    TodosUpdated(TodosUpdated),
    /// The task list was read.
    TodosRead(TodosRead),
    /// The user answered the model's questions.
    Answered(QuestionsAnswered),
    /// A tool without a shape of its own.
    Other {
        /// What it reported.
        value: Value,
    },
}

impl Details {
    /// A command that ended with a non-zero code or a signal.
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Shell(done) if done.exit_code != 0 || !done.signal.is_empty())
    }
}

/// A file that was read, or a part of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadDone {
    /// The text of the range.
    pub content: String,
    /// The file has no bytes.
    pub is_empty: bool,
    /// The range was cut at the tool's limit.
    pub exceeded_limit: bool,
    /// The pieces of a split at `\n`: two terminated lines count 3.
    pub total_lines: u64,
    /// In bytes.
    pub file_size: u64,
    /// Absolute.
    pub path: String,
    /// What `content` covers.
    pub read_range: ReadRange,
    /// Rules that apply to the file.
    pub related_cursor_rule_paths: Vec<String>,
    /// Their texts.
    pub related_cursor_rules: Vec<String>,
}

/// Lines, counted from 1, both ends included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadRange {
    /// First line.
    pub start_line: u64,
    /// Last line.
    pub end_line: u64,
}

/// A file that was created or changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EditDone {
    /// Absolute.
    pub path: String,
    /// Lines that are new.
    pub lines_added: u64,
    /// Lines that are gone.
    pub lines_removed: u64,
    /// A unified diff without a newline at its end.
    pub diff_string: String,
    /// The text before; absent for a new file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_full_file_content: Option<String>,
    /// The text after.
    pub after_full_file_content: String,
    /// What the model was told.
    pub message: String,
}

/// A file that was deleted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeleteDone {
    /// Absolute.
    pub path: String,
    /// In bytes.
    pub file_size: u64,
}

/// A folder that was listed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LsDone {
    /// The folder.
    pub directory_tree_root: Tree,
}

/// A folder and what is below it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tree {
    /// Absolute.
    pub abs_path: String,
    /// Folders in it.
    pub children_dirs: Vec<Tree>,
    /// Files in it.
    pub children_files: Vec<FileName>,
    /// Whether the folder was looked into at all.
    pub children_were_processed: bool,
    /// For a folder that was not looked into: how many files of each extension are below it.
    pub full_subtree_extension_counts: BTreeMap<String, u64>,
    /// For a folder that was not looked into: how many files are below it.
    pub num_files: u64,
}

/// A file in a listing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileName {
    /// Without its folder.
    pub name: String,
}

/// Files found by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GlobDone {
    /// The pattern that was used.
    pub pattern: String,
    /// The folder that was searched.
    pub path: String,
    /// Relative to the folder, newest first.
    pub files: Vec<String>,
    /// How many there are in all.
    pub total_files: u64,
    /// `files` was cut.
    pub client_truncated: bool,
    /// The search itself was cut.
    pub ripgrep_truncated: bool,
}

/// Files that were searched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GrepDone {
    /// The regular expression.
    pub pattern: String,
    /// Where the model asked to search; empty for everywhere.
    pub path: String,
    /// `files_with_matches`, `content` or `count`.
    pub output_mode: String,
    /// By workspace root.
    pub workspace_results: BTreeMap<String, GrepResult>,
}

/// What was found below one root.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum GrepResult {
    /// Only which files.
    #[serde(rename_all = "camelCase")]
    Files {
        /// Relative, starting with `./`.
        files: Vec<String>,
        /// How many there are in all.
        total_files: u64,
        /// The list was cut.
        client_truncated: bool,
        /// The search itself was cut.
        ripgrep_truncated: bool,
    },
    /// The lines.
    #[serde(rename_all = "camelCase")]
    Content {
        /// By file.
        matches: Vec<FileMatches>,
        /// Lines shown, with context.
        total_lines: u64,
        /// Lines that matched.
        total_matched_lines: u64,
        /// The list was cut.
        client_truncated: bool,
        /// The search itself was cut.
        ripgrep_truncated: bool,
    },
    /// How often.
    #[serde(rename_all = "camelCase")]
    Count {
        /// By file.
        counts: Vec<FileCount>,
        /// How many files matched.
        total_files: u64,
        /// How often in all.
        total_matches: u64,
        /// The list was cut.
        client_truncated: bool,
        /// The search itself was cut.
        ripgrep_truncated: bool,
    },
}

/// The lines found in one file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileMatches {
    /// Relative, starting with `./`.
    pub file: String,
    /// In order.
    pub matches: Vec<LineMatch>,
}

/// One line found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LineMatch {
    /// From 1.
    pub line_number: u64,
    /// Without its line ending.
    pub content: String,
    /// The line was too long to show whole.
    pub content_truncated: bool,
    /// It only stands near a match.
    pub is_context_line: bool,
}

/// How often one file matched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileCount {
    /// Relative, starting with `./`.
    pub file: String,
    /// Matching lines.
    pub count: u64,
}

/// A command that ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShellDone {
    /// Byte for byte what was run.
    pub command: String,
    /// Where, if the model said so.
    pub working_directory: String,
    /// 128 + n after signal n.
    pub exit_code: i32,
    /// `SIGTERM` and so on; empty when it ended by itself.
    pub signal: String,
    /// What it wrote, cut at the tool's limit.
    pub stdout: String,
    /// What it complained, cut at the tool's limit.
    pub stderr: String,
    /// Wall time in milliseconds, with our own work around it.
    pub execution_time: u64,
    /// Both streams in the order they came.
    pub interleaved_output: String,
    /// Wall time of the command alone.
    pub local_execution_time_ms: u64,
    /// The whole output, when it was too long to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_file: Option<String>,
}

/// A command that goes on in the background.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Backgrounded {
    /// Byte for byte what runs.
    pub command: String,
    /// Where, if the model said so.
    pub working_directory: String,
    /// Its process group.
    pub pid: u32,
    /// The time-out that moved it; 0 when it was started in the background.
    pub timeout_ms: u64,
    /// What it wrote so far.
    pub interleaved_output: String,
    /// Where its output goes.
    pub output_file: String,
}

/// One entry of the task list.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Todo {
    /// Given by the model.
    pub id: String,
    /// What is to be done.
    pub content: String,
    /// How far it is.
    pub status: TodoStatus,
    /// Milliseconds, as text.
    pub created_at: String,
    /// Milliseconds, as text.
    pub updated_at: String,
    /// Ids of entries that come first.
    pub dependencies: Vec<String>,
}

/// How far a task is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TodoStatus {
    /// Not begun.
    #[default]
    #[serde(rename = "TODO_STATUS_PENDING", alias = "pending")]
    Pending,
    /// Begun.
    #[serde(rename = "TODO_STATUS_IN_PROGRESS", alias = "in_progress")]
    InProgress,
    /// Done.
    #[serde(rename = "TODO_STATUS_COMPLETED", alias = "completed")]
    Completed,
    /// Not wanted any more.
    #[serde(rename = "TODO_STATUS_CANCELLED", alias = "cancelled")]
    Cancelled,
}

/// The task list after a change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TodosUpdated {
    /// All entries.
    pub todos: Vec<Todo>,
    /// How many.
    pub total_count: u64,
    /// The entries were added to those there were.
    pub was_merge: bool,
}

/// The task list as it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TodosRead {
    /// The entries asked for.
    pub todos: Vec<Todo>,
    /// How many.
    pub total_count: u64,
}

/// What the user chose.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuestionsAnswered {
    /// By question.
    pub answers: Vec<QuestionAnswer>,
}

/// The options chosen for one question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct QuestionAnswer {
    /// Which question.
    pub question_id: String,
    /// Which options.
    pub selected_option_ids: Vec<String>,
}
