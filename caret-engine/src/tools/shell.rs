//! Shell: one command in the chat's own shell, whose directory and environment persist between calls.

use super::place::root_is_there;
use super::{Place, Tool, ToolCx, ToolError, ToolSpec};
use crate::bash;
use crate::mutex::lock;
use crate::permission::Grant;
use async_trait::async_trait;
use caret_protocol::claim::{ArgKind, Claim, CommandLine, Parsed, SimpleCommand};
use caret_protocol::content::{Failure, ToolOutput};
use caret_protocol::details::{Backgrounded, Details, ShellDone};
use caret_protocol::workspace::{Exit, Ran, Run, ShellState};
use serde_json::{Value, json};
use std::fmt::Write;

/// After this a command goes on in the background.
const DEFAULT_TIMEOUT_MS: u64 = 30_000;
/// The longest a call may wait for a command.
const LONGEST_TIMEOUT_MS: u64 = 600_000;
/// Output kept for the model; the whole of a longer one is in a file.
const KEEP_BYTES: usize = 40_000;

/// The tool.
pub(super) struct Shell {
    spec: ToolSpec,
}

impl Default for Shell {
    fn default() -> Self {
        let input = json!({
            "type": "object",
            "properties": {
                "command": { "type": "string" },
                "description": { "type": "string", "description": "what it does, in a few words" },
                "working_directory": { "type": "string" },
                "timeout": { "type": "integer" },
                "is_background": { "type": "boolean" },
            },
            "required": ["command"],
        });
        let description = include_str!("shell.md").trim_ascii();
        Self { spec: ToolSpec { name: "Shell", description, input, read_only: false } }
    }
}

#[async_trait]
impl Tool for Shell {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn claim(&self, input: &Value, _place: &Place) -> Result<Claim, ToolError> {
        let text = |name: &str| input[name].as_str().unwrap_or_default().to_owned();
        let command = text("command");
        if command.trim().is_empty() {
            return Err(ToolError::new("`command` must be the text of a bash command"));
        }
        if command.contains('\0') {
            return Err(ToolError::new("`command` holds a NUL character, which no shell can run"));
        }
        let timeout_ms =
            input["timeout"].as_u64().filter(|timeout| *timeout > 0).unwrap_or(DEFAULT_TIMEOUT_MS);
        let parsed = parsed(&command);
        let command = CommandLine {
            command,
            working_directory: text("working_directory"),
            timeout_ms: timeout_ms.min(LONGEST_TIMEOUT_MS),
            background: input["is_background"].as_bool().unwrap_or_default(),
            description: text("description"),
            parsed,
        };
        Ok(Claim::Execute { command: Box::new(command) })
    }

    async fn run(&self, input: Value, _grant: Grant, cx: ToolCx<'_>) -> Result<ToolOutput, ToolError> {
        let Claim::Execute { command } = self.claim(&input, cx.place)? else {
            return Err(ToolError::new("a shell call must be a command"));
        };
        let shell = self.shell(&cx);
        if shell.cwd.join(&command.working_directory).starts_with(&cx.place.root) {
            root_is_there(cx.place)
                .map_err(|error| ToolError(Failure::Spawn { message: error.to_string() }))?;
        }
        let name: String = cx
            .call
            .as_str()
            .chars()
            .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' })
            .collect();
        let run = Run {
            command: &command,
            shell: &shell,
            environment: cx.environment,
            output_file: cx.memory.outputs.join(format!("{}-{name}.txt", cx.session)),
            keep_bytes: KEEP_BYTES,
            output: cx.output,
        };
        let ran = cx.workspace.run(run, &cx.cancel).await.map_err(|error| {
            ToolError(Failure::Spawn { message: format!("the command could not be started: {error}") })
        })?;
        if let Some(state) = &ran.shell {
            let own = |name: &String| cx.environment.iter().any(|(own, _)| own == name);
            let mut state = state.clone();
            if let Some(environment) = &mut state.environment {
                environment.retain(|(name, _)| !own(name));
            }
            *lock(&cx.memory.shell) = state;
        }
        report(*command, ran)
    }
}

impl Shell {
    /// The chat's shell, at the workspace root before its first command.
    fn shell(&self, cx: &ToolCx<'_>) -> ShellState {
        let mut shell = lock(&cx.memory.shell).clone();
        if shell.cwd.as_os_str().is_empty() {
            shell.cwd.clone_from(&cx.place.root);
        }
        shell
    }
}

/// How our bash grammar understands a command.
fn parsed(command: &str) -> Parsed {
    let summary = bash::summary(command);
    let assignment = bash::parse(command).is_ok_and(|script| {
        bash::simple_commands(&script).iter().any(|found| !found.command.assignments.is_empty())
    });
    Parsed {
        failed: summary.parsing_failed,
        commands: summary
            .commands
            .into_iter()
            .map(|command| SimpleCommand {
                name: command.name,
                args: command.args.into_iter().map(|arg| (kind(arg.kind), arg.value)).collect(),
                text: command.full_text,
            })
            .collect(),
        names: summary.simple_commands,
        input_redirect: summary.has_input_redirect,
        output_redirect: summary.has_output_redirect,
        substitution: summary.has_command_substitution,
        assignment,
        redirects: summary.redirects.into_iter().map(|redirect| (redirect.op, redirect.target)).collect(),
    }
}

fn kind(kind: bash::ArgKind) -> ArgKind {
    match kind {
        bash::ArgKind::Word => ArgKind::Word,
        bash::ArgKind::String => ArgKind::String,
        bash::ArgKind::Number => ArgKind::Number,
    }
}

fn report(command: CommandLine, ran: Ran) -> Result<ToolOutput, ToolError> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let interleaved_output = text(&ran.interleaved);
    let output_file = ran.output_file.as_ref().map(|file| file.to_string_lossy().into_owned());
    let (exit_code, signal) = match ran.exit {
        Exit::Code(code) => (code, String::new()),
        Exit::Signal(signal) => (128 + signal, signal_name(signal)),
        Exit::Cancelled => return Err(ToolError::new("the command was cancelled")),
        Exit::Background(pid) => {
            let output_file = output_file.unwrap_or_default();
            let timeout_ms = if command.background { 0 } else { command.timeout_ms };
            let why = if command.background {
                "The command runs in the background".to_owned()
            } else {
                format!("The command still runs after {timeout_ms} ms and goes on in the background")
            };
            let for_model = format!(
                "{why}, as process group {pid}. Its output goes to {output_file}. So far:\n```\n{}\n```",
                interleaved_output.trim_end()
            );
            let details = Details::Backgrounded(Backgrounded {
                command: command.command,
                working_directory: command.working_directory,
                pid,
                timeout_ms,
                interleaved_output,
                output_file,
            });
            return Ok(ToolOutput { for_model, details });
        }
    };
    let for_model = for_model(exit_code, &signal, &interleaved_output, &ran);
    let details = Details::Shell(ShellDone {
        command: command.command,
        working_directory: command.working_directory,
        exit_code,
        signal,
        stdout: text(&ran.stdout),
        stderr: text(&ran.stderr),
        execution_time: ran.elapsed_ms,
        interleaved_output,
        local_execution_time_ms: ran.elapsed_ms,
        output_file,
    });
    Ok(ToolOutput { for_model, details })
}

fn for_model(exit_code: i32, signal: &str, output: &str, ran: &Ran) -> String {
    let mut text = format!("Exit code: {exit_code}");
    if !signal.is_empty() {
        text.push_str(" (ended by ");
        text.push_str(signal);
        text.push(')');
    }
    if output.is_empty() {
        text.push_str("\nNo output.");
    } else {
        // Writing to a String cannot go wrong.
        write!(text, "\nOutput:\n```\n{}\n```", output.trim_end_matches('\n')).ok();
    }
    if let Some(file) = &ran.output_file {
        write!(text, "\nThe whole output ({} bytes) is in {}.", ran.total_bytes, file.display()).ok();
    }
    let cwd = ran.shell.as_ref().map(|shell| format!(" in {}", shell.cwd.display())).unwrap_or_default();
    write!(text, "\nIt took {} ms. The shell is now{cwd}; its state persists.", ran.elapsed_ms).ok();
    text
}

fn signal_name(signal: i32) -> String {
    let name = match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        14 => "SIGALRM",
        15 => "SIGTERM",
        other => return format!("signal {other}"),
    };
    name.into()
}
