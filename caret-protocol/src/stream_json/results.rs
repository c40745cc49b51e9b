//! From how a call ended to the documented result.

use super::arguments::path;
use super::tool_calls::{
    Call, CallResult, ErrorText, InvalidFile, PathOnly, Refused, ShellResult, SpawnFailed, TimedOut, Tool,
};
use crate::claim::Claim;
use crate::content::{Failure, Outcome, ToolCall};
use crate::details::{
    DeleteDone, Details, EditDone, GlobDone, GrepDone, LsDone, QuestionsAnswered, ReadDone, ShellDone,
    TodosRead, TodosUpdated,
};
use serde_json::json;
use std::path::Path;

/// What a cancelled call says of itself.
const CANCELLED: &str = "the call was cancelled";
/// What a call says of itself whose process died.
const UNKNOWN: &str = "the program ended while the call ran; its outcome is unknown";

/// A call that ended, with what its result has to say.
struct Ended<'a> {
    call: &'a ToolCall,
    outcome: &'a Outcome,
    cwd: &'a Path,
}

/// Adds the result to a tool's key; a rejected call loses its arguments, as documented.
pub(super) fn complete(tool: &mut Tool, call: &ToolCall, outcome: &Outcome, cwd: &Path) {
    let ended = Ended { call, outcome, cwd };
    match tool {
        Tool::ReadToolCall(body) => finish(body, &ended),
        Tool::EditToolCall(body) => finish(body, &ended),
        Tool::DeleteToolCall(body) => finish(body, &ended),
        Tool::LsToolCall(body) => finish(body, &ended),
        Tool::GlobToolCall(body) => finish(body, &ended),
        Tool::GrepToolCall(body) => finish(body, &ended),
        Tool::UpdateTodosToolCall(body) => finish(body, &ended),
        Tool::ReadTodosToolCall(body) => finish(body, &ended),
        Tool::AskQuestionToolCall(body) => finish(body, &ended),
        Tool::ShellToolCall(body) => {
            let is_background = matches!(
                outcome,
                Outcome::Done { output } if matches!(output.details, Details::Backgrounded(_))
            );
            body.result = Some(ShellResult { result: result(&ended), is_background });
            if matches!(outcome, Outcome::Rejected { .. }) {
                body.args = None;
            }
        }
        Tool::Function(body) => {
            body.result = Some(match outcome {
                Outcome::Done { output } => json!({ "success": { "text": output.for_model } }),
                other => json!({ "error": { "error": other.for_model() } }),
            });
        }
    }
}

fn finish<A, S: Report>(body: &mut Call<A, CallResult<S>>, ended: &Ended<'_>) {
    body.result = Some(result(ended));
    if matches!(ended.outcome, Outcome::Rejected { .. }) {
        body.args = None;
    }
}

/// A tool's own report inside [`Details`].
trait Report: Sized {
    const WORDS: Words;
    fn of(details: &Details) -> Option<Self>;
}

macro_rules! report {
    ($($variant:ident($done:ty) $words:ident;)*) => {$(
        impl Report for $done {
            const WORDS: Words = Words::$words;
            fn of(details: &Details) -> Option<Self> {
                match details {
                    Details::$variant(done) => Some(done.clone()),
                    _ => None,
                }
            }
        }
    )*};
}

report! {
    Read(ReadDone) Message;
    Edit(EditDone) Message;
    Ls(LsDone) Message;
    Glob(GlobDone) Message;
    Grep(GrepDone) Message;
    Shell(ShellDone) Message;
    Delete(DeleteDone) Error;
    TodosUpdated(TodosUpdated) Error;
    TodosRead(TodosRead) Error;
    Answered(QuestionsAnswered) Error;
}

/// Under which name a tool's readers look for the words of an error.
#[derive(Clone, Copy)]
enum Words {
    Message,
    Error,
}

impl Words {
    fn error<S>(self, message: impl Into<String>) -> CallResult<S> {
        let message = Some(message.into());
        CallResult::Error(match self {
            Self::Message => ErrorText { error_message: message, error: None },
            Self::Error => ErrorText { error_message: None, error: message },
        })
    }
}

fn result<S: Report>(ended: &Ended<'_>) -> CallResult<S> {
    let Ended { call, outcome, cwd } = ended;
    match outcome {
        Outcome::Done { output } => match (&output.details, S::of(&output.details)) {
            (details, Some(done)) if details.is_failure() => CallResult::Failure(done),
            (_, Some(done)) => CallResult::Success(done),
            (Details::Backgrounded(background), None) => CallResult::Backgrounded(background.clone()),
            (_, None) => S::WORDS.error("the tool reported something else than it should"),
        },
        Outcome::Failed { failure } => failed(call, failure, S::WORDS),
        Outcome::Rejected { reason } => {
            let reason = Some(reason.clone());
            CallResult::Rejected(Refused { reason, ..refused(call, cwd) })
        }
        Outcome::Denied { reason } => {
            let error = Some(reason.clone());
            CallResult::PermissionDenied(Refused { error, ..refused(call, cwd) })
        }
        Outcome::Cancelled => S::WORDS.error(CANCELLED),
        Outcome::Unknown => S::WORDS.error(UNKNOWN),
    }
}

fn failed<S>(call: &ToolCall, failure: &Failure, words: Words) -> CallResult<S> {
    let (command, working_directory) = match &call.claim {
        Some(Claim::Execute { command }) => (command.command.clone(), command.working_directory.clone()),
        _ => <(String, String)>::default(),
    };
    match failure {
        Failure::FileNotFound { path } if call.name == "Delete" => {
            CallResult::FileNotFound(PathOnly { path: path.clone() })
        }
        Failure::InvalidFile { message } => {
            CallResult::InvalidFile(InvalidFile { path: path(call), reason: message.clone() })
        }
        Failure::PermissionDenied { message } => CallResult::PermissionDenied(Refused {
            path: Some(path(call)),
            error: Some(message.clone()),
            ..Refused::default()
        }),
        Failure::Timeout { timeout_ms } => {
            CallResult::Timeout(TimedOut { command, working_directory, timeout_ms: *timeout_ms })
        }
        Failure::Spawn { message } => {
            CallResult::SpawnError(SpawnFailed { command, working_directory, error: message.clone() })
        }
        other => words.error(other.message()),
    }
}

fn directory(cwd: &Path, working: &str) -> String {
    let directory = if working.is_empty() { cwd.to_owned() } else { cwd.join(working) };
    directory.to_string_lossy().into_owned()
}

/// What a refusal says of the call: the command and its absolute directory, or the path.
fn refused(call: &ToolCall, cwd: &Path) -> Refused {
    match &call.claim {
        Some(Claim::Execute { command }) => Refused {
            command: Some(command.command.clone()),
            working_directory: Some(directory(cwd, &command.working_directory)),
            is_readonly: Some(false),
            ..Refused::default()
        },
        Some(Claim::Read { .. } | Claim::Write { .. }) => {
            Refused { path: Some(path(call)), ..Refused::default() }
        }
        _ => Refused::default(),
    }
}
