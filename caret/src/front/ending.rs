//! How the end of a turn counts for the process, and what stderr says of it.

use super::print::{PrintFormat, PrintSettings};
use super::printer::Printer;
use crate::exit::Exit;
use caret_protocol::content::Stop;
use caret_protocol::event::{EndReason, FailureClass, Limit, TurnEnd};
use std::io::{self, Write};

/// How a turn's end counts for the process.
pub(super) fn ending(end: &TurnEnd) -> Exit {
    match &end.reason {
        EndReason::Stopped { stop: Stop::Refusal } => Exit::Refused,
        EndReason::Stopped { .. } => Exit::Success,
        EndReason::Limit { limit: Limit::Time, .. } => Exit::TimedOut,
        EndReason::Limit { .. } => Exit::Limit,
        EndReason::Failed { class, .. } => match class {
            FailureClass::Unavailable => Exit::TryAgain,
            FailureClass::Unauthorized => Exit::NotPermitted,
            FailureClass::Store => Exit::Configuration,
            FailureClass::Internal => Exit::Fault,
            _ => Exit::Failed,
        },
        _ => Exit::Failed,
    }
}

/// How the process ends, after all that happened besides the turns themselves.
pub(super) fn judged(exit: Exit, printer: &Printer, settings: &PrintSettings) -> Exit {
    if let Some(error) = printer.write_error() {
        if error.kind() != io::ErrorKind::BrokenPipe {
            tell(&format!("error: stdout cannot be written: {error}"));
        }
        return Exit::Failed;
    }
    let denied = printer.denied();
    if denied == 0 {
        return exit;
    }
    if !settings.quiet {
        let calls = if denied == 1 { "call was" } else { "calls were" };
        let more = match settings.format {
            PrintFormat::Text => {
                "a rule in `permissions.allow` or --force helps, unless it is denied or protected"
            }
            _ => "see `permissionDenials` in the result",
        };
        tell(&format!("⚠ {denied} tool {calls} not permitted; {more}"));
    }
    if settings.fail_on_denied && exit == Exit::Success { Exit::Denied } else { exit }
}

/// What stderr gets for a turn that did not end well.
pub(super) fn complaint(reason: &EndReason) -> Option<String> {
    match reason {
        EndReason::Failed { message, .. } | EndReason::Limit { message, .. } => {
            Some(format!("Error: {message}"))
        }
        EndReason::Stopped { stop: Stop::Refusal } => Some("Error: the model refused to answer".into()),
        _ => None,
    }
}

/// One line on stderr. Nobody may be there to read it; that changes nothing.
pub(super) fn tell(message: &str) {
    writeln!(io::stderr(), "{message}").ok();
}
