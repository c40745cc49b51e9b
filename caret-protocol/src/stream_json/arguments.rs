//! From a call, as the model made it, to the documented arguments.
//!
//! Paths come from the claim, where they are absolute; what the claim does not know comes from the
//! model's input. Input that makes no sense gives empty fields, never a failure: the call's own result
//! says what was wrong.

use super::tool_calls::{
    AskArgs, Call, CommandArg, EditArgs, ExecutableCommand, FunctionCall, GlobArgs, GrepArgs, LsArgs,
    MultiStrReplaceArgs, ParsingResult, PatchArgs, PathArgs, PathRangeArgs, ReadTodosArgs, RedirectText,
    ShellArgs, ShellCall, StrReplaceArgs, TodosArgs, Tool,
};
use crate::claim::{Claim, CommandLine, Parsed};
use crate::content::ToolCall;
use serde_json::Value;

/// Bytes of output after which the whole goes to a file, as the documented text.
const FILE_OUTPUT_THRESHOLD: &str = "40000";
/// A command in the background is ended after a day.
const HARD_TIMEOUT_MS: u64 = 86_400_000;

/// The tool's key with its arguments and no result yet.
pub(super) fn started(call: &ToolCall, session: &str, request: &str) -> Tool {
    match call.name.as_str() {
        "Read" => Tool::ReadToolCall(running(PathRangeArgs {
            path: path(call),
            offset: call.input["offset"].as_i64(),
            limit: call.input["limit"].as_i64(),
        })),
        "Write" | "StrReplace" | "MultiStrReplace" | "ApplyPatch" => Tool::EditToolCall(running(edit(call))),
        "Delete" => {
            Tool::DeleteToolCall(running(PathArgs { path: path(call), tool_call_id: call.id.0.clone() }))
        }
        "LS" => Tool::LsToolCall(running(LsArgs {
            path: path(call),
            ignore: texts(&call.input["ignore"]),
            tool_call_id: call.id.0.clone(),
        })),
        "Glob" => Tool::GlobToolCall(running(GlobArgs {
            target_directory: path(call),
            glob_pattern: text(call, &["glob_pattern", "pattern"]),
        })),
        "Grep" => Tool::GrepToolCall(running(grep(call))),
        "Shell" => Tool::ShellToolCall(Box::new(shell(call, session, request))),
        "TodoWrite" => Tool::UpdateTodosToolCall(running(TodosArgs {
            todos: serde_json::from_value(call.input["todos"].clone()).unwrap_or_default(),
            merge: call.input["merge"].as_bool().unwrap_or_default(),
        })),
        "ReadTodos" => Tool::ReadTodosToolCall(running(ReadTodosArgs {
            status_filter: texts(&call.input["statusFilter"]),
            id_filter: texts(&call.input["idFilter"]),
        })),
        "AskQuestion" => Tool::AskQuestionToolCall(running(ask(call))),
        name => Tool::Function(FunctionCall {
            name: name.into(),
            arguments: call.malformed.clone().unwrap_or_else(|| call.input.to_string()),
            result: None,
        }),
    }
}

fn running<A, R>(args: A) -> Call<A, R> {
    Call { args: Some(args), result: None }
}

/// The path of the claim, else the one the model wrote.
pub(super) fn path(call: &ToolCall) -> String {
    match &call.claim {
        Some(Claim::Read { path }) => path.to_string_lossy().into_owned(),
        Some(Claim::Write { paths }) => {
            paths.first().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default()
        }
        _ => text(call, &["path", "target_directory"]),
    }
}

fn text(call: &ToolCall, names: &[&str]) -> String {
    names.iter().find_map(|name| call.input[*name].as_str()).unwrap_or_default().to_owned()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}

fn edit(call: &ToolCall) -> EditArgs {
    let mut args = EditArgs { path: path(call), ..EditArgs::default() };
    match call.name.as_str() {
        "Write" => args.stream_content = Some(text(call, &["contents", "content", "file_text"])),
        "StrReplace" => args.str_replace = Some(replacement(&call.input)),
        "MultiStrReplace" => {
            let edits = call.input["edits"].as_array().into_iter().flatten().map(replacement).collect();
            args.multi_str_replace = Some(MultiStrReplaceArgs { edits });
        }
        _ => args.apply_patch = Some(PatchArgs { patch_content: text(call, &["patch", "input"]) }),
    }
    args
}

fn replacement(edit: &Value) -> StrReplaceArgs {
    let text =
        |names: [&str; 3]| names.iter().find_map(|name| edit[*name].as_str()).unwrap_or_default().to_owned();
    StrReplaceArgs {
        old_text: text(["old_string", "old_text", "old"]),
        new_text: text(["new_string", "new_text", "new"]),
        replace_all: edit["replace_all"].as_bool(),
    }
}

fn grep(call: &ToolCall) -> GrepArgs {
    let input = &call.input;
    let words = |name: &str| input[name].as_str().map(str::to_owned);
    GrepArgs {
        pattern: text(call, &["pattern"]),
        path: words("path"),
        glob: words("glob"),
        output_mode: words("output_mode").unwrap_or_else(|| "files_with_matches".into()),
        context_before: input["-B"].as_u64(),
        context_after: input["-A"].as_u64(),
        context: input["-C"].as_u64(),
        case_insensitive: input["-i"].as_bool().unwrap_or_default(),
        file_type: words("type"),
        head_limit: input["head_limit"].as_u64(),
        offset: input["offset"].as_u64(),
        multiline: input["multiline"].as_bool().unwrap_or_default(),
        tool_call_id: call.id.0.clone(),
    }
}

fn ask(call: &ToolCall) -> AskArgs {
    match &call.claim {
        Some(Claim::Ask { title, questions }) => {
            AskArgs { title: title.clone(), questions: questions.clone(), ..AskArgs::default() }
        }
        _ => AskArgs { title: text(call, &["title"]), ..AskArgs::default() },
    }
}

fn shell(call: &ToolCall, session: &str, request: &str) -> ShellCall {
    let unknown = CommandLine { command: text(call, &["command"]), ..CommandLine::default() };
    let line = match &call.claim {
        Some(Claim::Execute { command }) => command,
        _ => &unknown,
    };
    let args = ShellArgs {
        command: line.command.clone(),
        working_directory: line.working_directory.clone(),
        timeout: line.timeout_ms,
        tool_call_id: call.id.0.clone(),
        simple_commands: line.parsed.names.clone(),
        has_input_redirect: line.parsed.input_redirect,
        has_output_redirect: line.parsed.output_redirect,
        parsing_result: parsing_result(&line.parsed),
        file_output_threshold_bytes: FILE_OUTPUT_THRESHOLD.into(),
        is_background: line.background,
        skip_approval: false,
        timeout_behavior: "TIMEOUT_BEHAVIOR_BACKGROUND".into(),
        hard_timeout: HARD_TIMEOUT_MS,
        description: line.description.clone(),
        close_stdin: true,
        conversation_id: session.into(),
        admin_command_denylist: Vec::new(),
        request_id: request.into(),
    };
    ShellCall { description: Some(args.description.clone()), args: Some(args), result: None }
}

fn parsing_result(parsed: &Parsed) -> ParsingResult {
    ParsingResult {
        parsing_failed: parsed.failed,
        executable_commands: parsed
            .commands
            .iter()
            .map(|command| ExecutableCommand {
                name: command.name.clone(),
                args: command
                    .args
                    .iter()
                    .map(|(kind, value)| CommandArg { kind: *kind, value: value.clone() })
                    .collect(),
                full_text: command.text.clone(),
            })
            .collect(),
        has_redirects: !parsed.redirects.is_empty(),
        has_command_substitution: parsed.substitution,
        redirects: parsed
            .redirects
            .iter()
            .map(|(operator, target)| RedirectText { operator: operator.clone(), target: target.clone() })
            .collect(),
    }
}
