//! How the end of a turn counts for the process, and what stderr says of it.

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
