//! The program: understands what was typed, does it, and ends with the right exit code.
//!
//! Nothing happens before the version: `--version` alone must cost no more than starting a process. A fault of
//! ours is told in one line and never as a bare backtrace.
#![expect(unreachable_pub, reason = "nothing is outside of a program; `pub` says what is for other modules")]

mod agent;
mod args;
mod catalogue;
mod chats;
mod commands;
mod config;
mod environment;
mod exit;
mod files;
mod front;
mod models;
mod near;
mod output;
mod prompt;
mod providers;
mod roots;
mod settings;
mod trust;
mod version;

use environment::Environment;
use exit::{Exit, ExitStyle, Failure};
use output::Output;
use roots::Invoked;
use std::panic::{self, PanicHookInfo};
use std::process::ExitCode;

fn main() -> ExitCode {
    panic::set_hook(Box::new(tell_fault));
    let arguments = match environment::arguments() {
        Ok(arguments) => arguments,
        Err(failure) => return end(Err(failure), ExitStyle::Plain),
    };
    if let [only] = arguments.as_slice()
        && (only == "--version" || only == "-v")
    {
        let written = Output::default().line(version::DATE);
        return end(written.map(|()| Exit::Success), ExitStyle::Plain);
    }
    if let [only] = arguments.as_slice()
        && only == agent::SUPERVISE
    {
        let code = u8::from(caret_engine::process::supervise().is_err());
        return ExitCode::from(code);
    }
    let environment = Environment::of_this_machine();
    let is_detailed = args::wants_detailed_exit_codes(&arguments)
        || environment.text("CARET_EXIT_CODES") == Some("detailed");
    let style = if is_detailed { ExitStyle::Detailed } else { ExitStyle::Plain };
    match panic::catch_unwind(|| run(&arguments, &environment)) {
        Ok(ended) => end(ended, style),
        Err(_) => end(Ok(Exit::Fault), style),
    }
}

fn run(arguments: &[String], environment: &Environment) -> Result<Exit, Failure> {
    let invoked = Invoked::from_name(&environment::program_name());
    match args::parse(invoked.name(), arguments)? {
        args::Parsed::Help(text) => Output::default().write(&text).map(|()| Exit::Success),
        args::Parsed::Run(options, chosen) => {
            let output = Output { quiet: options.quiet };
            commands::run(commands::Call { invoked, options: &options, environment, output }, chosen)
        }
    }
}

fn end(ended: Result<Exit, Failure>, style: ExitStyle) -> ExitCode {
    let exit = ended.unwrap_or_else(|failure| {
        Output::default().failure(&failure);
        failure.exit()
    });
    ExitCode::from(exit.code(style))
}

/// One line for the user; the backtrace only for those who ask for it.
fn tell_fault(fault: &PanicHookInfo<'_>) {
    let text = fault.payload_as_str().unwrap_or("no reason was given");
    let place = fault.location().map(ToString::to_string).unwrap_or_default();
    let version = version::DATE;
    let output = Output::default();
    output.say(&format!("error: caret {version} has a fault ({place}): {}", output::harmless(text)));
    let trace = std::backtrace::Backtrace::capture();
    if trace.status() == std::backtrace::BacktraceStatus::Captured {
        output.say(&trace.to_string());
    }
}
