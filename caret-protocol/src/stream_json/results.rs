//! From how a call ended to the documented result.

use super::arguments::path;
use super::tool_calls::{
    Call, CallResult, ErrorText, InvalidFile, PathOnly, Refused, ShellResult, SpawnFailed, TimedOut, Tool,
};
use crate::claim::Claim;
use crate::content::{Failure, Outcome, ToolCall};
use crate::details::Details;
use serde_json::json;
use std::path::Path;

/// What a cancelled call says of itself.
const CANCELLED: &str = "the call was cancelled";
/// What a call says of itself whose process died.
const UNKNOWN: &str = "the program ended while the call ran; its outcome is unknown";

/// Adds the result to a tool's key; a rejected call loses its arguments, as documented.
pub(super) fn complete(tool: &mut Tool, call: &ToolCall, outcome: &Outcome, cwd: &Path) {
    let rejected = matches!(outcome, Outcome::Rejected { .. });
    match tool {
        Tool::ReadToolCall(body) => {
            finish(
                body,
                rejected,
                result(call, outcome, cwd, Words::Message, |details| match details {
                    Details::Read(done) => Some(done.clone()),
                    _ => None,
                }),
            );
        }
        Tool::EditToolCall(body) => {
            finish(
                body,
                rejected,
                result(call, outcome, cwd, Words::Message, |details| match details {
                    Details::Edit(done) => Some(done.clone()),
                    _ => None,
                }),
            );
        }
        Tool::DeleteToolCall(body) => {
            finish(
                body,
                rejected,
                result(call, outcome, cwd, Words::Error, |details| match details {
                    Details::Delete(done) => Some(done.clone()),
                    _ => None,
                }),
            );
        }
        Tool::LsToolCall(body) => {
            finish(
                body,
                rejected,
                result(call, outcome, cwd, Words::Message, |details| match details {
                    Details::Ls(done) => Some(done.clone()),
                    _ => None,
                }),
            );
        }
        Tool::GlobToolCall(body) => {
            finish(
                body,
                rejected,
                result(call, outcome, cwd, Words::Message, |details| match details {
                    Details::Glob(done) => Some(done.clone()),
                    _ => None,
                }),
            );
        }
        Tool::GrepToolCall(body) => {
            finish(
                body,
                rejected,
                result(call, outcome, cwd, Words::Message, |details| match details {
                    Details::Grep(done) => Some(done.clone()),
                    _ => None,
                }),
            );
        }
        _ => complete_others(tool, call, outcome, cwd),
    }
}

fn complete_others(tool: &mut Tool, call: &ToolCall, outcome: &Outcome, cwd: &Path) {
    let rejected = matches!(outcome, Outcome::Rejected { .. });
    match tool {
        Tool::ShellToolCall(body) => {
            let is_background = matches!(
                outcome,
                Outcome::Done { output } if matches!(output.details, Details::Backgrounded(_))
            );
            let result = result(call, outcome, cwd, Words::Message, |details| match details {
                Details::Shell(done) => Some(done.clone()),
                _ => None,
            });
            body.result = Some(ShellResult { result, is_background });
            if rejected {
                body.args = None;
            }
        }
        Tool::UpdateTodosToolCall(body) => {
            finish(
                body,
                rejected,
                result(call, outcome, cwd, Words::Error, |details| match details {
                    Details::TodosUpdated(done) => Some(done.clone()),
                    _ => None,
                }),
            );
        }
        Tool::ReadTodosToolCall(body) => {
            finish(
                body,
                rejected,
                result(call, outcome, cwd, Words::Error, |details| match details {
                    Details::TodosRead(done) => Some(done.clone()),
                    _ => None,
                }),
            );
        }
        Tool::AskQuestionToolCall(body) => {
            finish(
                body,
                rejected,
                result(call, outcome, cwd, Words::Error, |details| match details {
                    Details::Answered(done) => Some(done.clone()),
                    _ => None,
                }),
            );
        }
        Tool::Function(body) => {
            body.result = Some(match outcome {
                Outcome::Done { output } => json!({ "success": { "text": output.for_model } }),
                other => json!({ "error": { "error": other.for_model() } }),
            });
        }
        _ => {}
    }
}

fn finish<A, S>(body: &mut Call<A, CallResult<S>>, rejected: bool, result: CallResult<S>) {
    body.result = Some(result);
    if rejected {
        body.args = None;
    }
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

fn result<S>(
    call: &ToolCall,
    outcome: &Outcome,
    cwd: &Path,
    words: Words,
    success: impl Fn(&Details) -> Option<S>,
) -> CallResult<S> {
    match outcome {
        Outcome::Done { output } => match (&output.details, success(&output.details)) {
            (details, Some(done)) if details.is_failure() => CallResult::Failure(done),
            (_, Some(done)) => CallResult::Success(done),
            (Details::Backgrounded(background), None) => CallResult::Backgrounded(background.clone()),
            (_, None) => words.error("the tool reported something else than it should"),
        },
        Outcome::Failed { failure } => failed(call, failure, words),
        Outcome::Rejected { reason } => {
            let reason = Some(reason.clone());
            CallResult::Rejected(Refused { reason, ..refused(call, cwd) })
        }
        Outcome::Denied { reason } => {
            let error = Some(reason.clone());
            CallResult::PermissionDenied(Refused { error, ..refused(call, cwd) })
        }
        Outcome::Cancelled => words.error(CANCELLED),
        Outcome::Unknown => words.error(UNKNOWN),
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

/// What a refusal says of the call: the command and its absolute directory, or the path.
fn refused(call: &ToolCall, cwd: &Path) -> Refused {
    match &call.claim {
        Some(Claim::Execute { command }) => Refused {
            command: Some(command.command.clone()),
            working_directory: Some(cwd.join(&command.working_directory).to_string_lossy().into_owned()),
            is_readonly: Some(false),
            ..Refused::default()
        },
        Some(Claim::Read { .. } | Claim::Write { .. }) => {
            Refused { path: Some(path(call)), ..Refused::default() }
        }
        _ => Refused::default(),
    }
}
