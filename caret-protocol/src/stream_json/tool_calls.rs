//! The `tool_call` object: one `…ToolCall` key that names the tool, and four fields beside it.

use crate::ask::Question;
use crate::claim::ArgKind;
use crate::details::{
    Backgrounded, DeleteDone, EditDone, GlobDone, GrepDone, LsDone, QuestionsAnswered, ReadDone, ShellDone,
    Todo, TodosRead, TodosUpdated,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct ToolCallBody {
    #[serde(flatten)]
    pub tool: Tool,
    #[serde(default)]
    pub hook_additional_contexts: Vec<String>,
    #[serde(default)]
    pub tool_call_id: String,
    /// Milliseconds, as text.
    #[serde(default)]
    pub started_at_ms: String,
    /// Milliseconds, as text; absent while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at_ms: Option<String>,
}

/// Which tool, with what it was called with and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
#[non_exhaustive]
pub enum Tool {
    ReadToolCall(Call<PathRangeArgs, CallResult<ReadDone>>),
    EditToolCall(Call<EditArgs, CallResult<EditDone>>),
    DeleteToolCall(Call<PathArgs, CallResult<DeleteDone>>),
    LsToolCall(Call<LsArgs, CallResult<LsDone>>),
    GlobToolCall(Call<GlobArgs, CallResult<GlobDone>>),
    GrepToolCall(Call<GrepArgs, CallResult<GrepDone>>),
    ShellToolCall(Box<ShellCall>),
    UpdateTodosToolCall(Call<TodosArgs, CallResult<TodosUpdated>>),
    ReadTodosToolCall(Call<ReadTodosArgs, CallResult<TodosRead>>),
    AskQuestionToolCall(Call<AskArgs, CallResult<QuestionsAnswered>>),
    /// A tool without a key of its own.
    Function(FunctionCall),
}

/// Arguments and result; a rejected call has no arguments, a running one no result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct Call<A, R> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<A>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<R>,
}

/// What came of a call: exactly one of these.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
#[non_exhaustive]
pub enum CallResult<S> {
    Success(S),
    /// A command that ended with another code than 0.
    Failure(S),
    Error(ErrorText),
    Rejected(Refused),
    PermissionDenied(Refused),
    FileNotFound(PathOnly),
    InvalidFile(InvalidFile),
    Timeout(TimedOut),
    SpawnError(SpawnFailed),
    Backgrounded(Backgrounded),
}

/// An error in the form that the tool's readers know.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct ErrorText {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A call that was not allowed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct Refused {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working_directory: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Why, when nobody allowed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why, when a rule forbids it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_readonly: Option<bool>,
}

/// Only a path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct PathOnly {
    pub path: String,
}

/// A file of a kind that the tool cannot handle.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct InvalidFile {
    pub path: String,
    pub reason: String,
}

/// A command that took too long.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct TimedOut {
    pub command: String,
    pub working_directory: String,
    pub timeout_ms: u64,
}

/// A command that could not be started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct SpawnFailed {
    pub command: String,
    pub working_directory: String,
    pub error: String,
}

/// Arguments of Read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct PathRangeArgs {
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
}

/// Arguments of the editing tools: one of the four forms besides the path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct EditArgs {
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream_content: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub str_replace: Option<StrReplaceArgs>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multi_str_replace: Option<MultiStrReplaceArgs>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apply_patch: Option<PatchArgs>,
}

/// One replacement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct StrReplaceArgs {
    pub old_text: String,
    pub new_text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replace_all: Option<bool>,
}

/// Several replacements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct MultiStrReplaceArgs {
    pub edits: Vec<StrReplaceArgs>,
}

/// A patch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct PatchArgs {
    pub patch_content: String,
}

/// Arguments of Delete.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct PathArgs {
    pub path: String,
    #[serde(default)]
    pub tool_call_id: String,
}

/// Arguments of LS.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct LsArgs {
    pub path: String,
    #[serde(default)]
    pub ignore: Vec<String>,
    #[serde(default)]
    pub tool_call_id: String,
}

/// Arguments of Glob.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct GlobArgs {
    #[serde(default)]
    pub target_directory: String,
    pub glob_pattern: String,
}

/// Arguments of Grep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct GrepArgs {
    pub pattern: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub glob: Option<String>,
    pub output_mode: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_before: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_after: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<u64>,
    pub case_insensitive: bool,
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub file_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head_limit: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    pub multiline: bool,
    pub tool_call_id: String,
}

/// A shell call: its description stands beside its arguments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct ShellCall {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<ShellArgs>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<ShellResult>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// What came of a command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct ShellResult {
    #[serde(flatten)]
    pub result: CallResult<ShellDone>,
    #[serde(default)]
    pub is_background: bool,
}

/// Arguments of Shell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct ShellArgs {
    pub command: String,
    pub working_directory: String,
    pub timeout: u64,
    pub tool_call_id: String,
    pub simple_commands: Vec<String>,
    pub has_input_redirect: bool,
    pub has_output_redirect: bool,
    pub parsing_result: ParsingResult,
    pub file_output_threshold_bytes: String,
    pub is_background: bool,
    pub skip_approval: bool,
    pub timeout_behavior: String,
    pub hard_timeout: u64,
    pub description: String,
    pub close_stdin: bool,
    pub conversation_id: String,
    pub admin_command_denylist: Vec<String>,
    pub request_id: String,
}

/// How a command was understood.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct ParsingResult {
    pub parsing_failed: bool,
    pub executable_commands: Vec<ExecutableCommand>,
    pub has_redirects: bool,
    pub has_command_substitution: bool,
    pub redirects: Vec<RedirectText>,
}

/// One simple command.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct ExecutableCommand {
    pub name: String,
    pub args: Vec<CommandArg>,
    pub full_text: String,
}

/// One argument of a simple command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct CommandArg {
    #[serde(rename = "type")]
    pub kind: ArgKind,
    pub value: String,
}

/// One redirection.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct RedirectText {
    pub operator: String,
    pub target: String,
}

/// Arguments of TodoWrite.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct TodosArgs {
    pub todos: Vec<Todo>,
    #[serde(default)]
    pub merge: bool,
}

/// Arguments of ReadTodos.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct ReadTodosArgs {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub status_filter: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub id_filter: Vec<String>,
}

/// Arguments of AskQuestion.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct AskArgs {
    pub title: String,
    pub questions: Vec<Question>,
    pub run_async: bool,
    pub async_original_tool_call_id: String,
}

/// A tool without a key of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[expect(missing_docs, reason = "the documented names")]
pub struct FunctionCall {
    pub name: String,
    /// The arguments as JSON text.
    pub arguments: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Value>,
}
