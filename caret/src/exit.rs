//! How a run ended, as the calling program sees it.
//!
//! Every exit code of the program is in this one table. By default only 0, 1, 130 and 143 are used, because
//! existing scripts expect no others; the finer codes are behind `--exit-codes detailed`.

use std::fmt;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(test), expect(dead_code, reason = "the front end of print mode ends in more ways"))]
pub enum Exit {
    /// It ended normally.
    Success,
    /// It did not work, for a reason that has no code of its own.
    Failed,
    /// A limit that the user set was reached.
    Limit,
    /// A tool was denied and `--fail-on-denied` was given.
    Denied,
    /// The model refused.
    Refused,
    /// The arguments or the prompt cannot be used.
    Usage,
    /// There is no such chat.
    NoSession,
    /// Something that is needed is not there, or not in this version.
    Unavailable,
    /// A fault of ours.
    Fault,
    /// The same run may work in a moment.
    TryAgain,
    /// Credentials or trust are missing.
    NotPermitted,
    /// The configuration or a state folder cannot be used.
    Configuration,
    /// `--timeout` passed.
    TimedOut,
    /// The sandbox itself did not work.
    Sandbox,
    /// SIGHUP.
    HungUp,
    /// SIGINT.
    Interrupted,
    /// SIGTERM.
    Terminated,
}

/// Which exit codes the caller wants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExitStyle {
    /// 0, 1 and the signals.
    #[default]
    Plain,
    /// One code for each kind of ending.
    Detailed,
}

impl Exit {
    /// The code that the process ends with.
    pub fn code(self, style: ExitStyle) -> u8 {
        match (self.detailed(), style) {
            (0, _) => 0,
            (code @ 129.., _) => code,
            (code, ExitStyle::Detailed) => code,
            (_, ExitStyle::Plain) => 1,
        }
    }

    fn detailed(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failed => 1,
            Self::Limit => 10,
            Self::Denied => 11,
            Self::Refused => 12,
            Self::Usage => 64,
            Self::NoSession => 66,
            Self::Unavailable => 69,
            Self::Fault => 70,
            Self::TryAgain => 75,
            Self::NotPermitted => 77,
            Self::Configuration => 78,
            Self::TimedOut => 124,
            Self::Sandbox => 125,
            Self::HungUp => 129,
            Self::Interrupted => 130,
            Self::Terminated => 143,
        }
    }
}

/// Why a command stopped before its end.
#[derive(Debug, PartialEq, Eq)]
pub enum Failure {
    /// The user is told why.
    Told {
        /// How the process ends.
        exit: Exit,
        /// What stderr gets, as it is.
        message: String,
    },
    /// Nobody reads stdout any more: there is nothing to say and nobody to say it to.
    NobodyReads,
}

impl Failure {
    /// A failure with a message of the usual form.
    pub fn new(exit: Exit, message: impl fmt::Display) -> Self {
        Self::Told { exit, message: format!("error: {message}") }
    }

    /// A failure whose exact words other programs look for.
    pub fn exact(exit: Exit, message: impl Into<String>) -> Self {
        Self::Told { exit, message: message.into() }
    }

    /// An option or command that a later version brings.
    pub fn not_available(what: impl fmt::Display) -> Self {
        Self::new(Exit::Unavailable, format!("not available in this version: {what}"))
    }

    /// How the process ends.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Told { exit, .. } => *exit,
            Self::NobodyReads => Exit::Success,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_codes_are_only_those_that_scripts_know() {
        let endings = [
            (Exit::Success, 0, 0),
            (Exit::Failed, 1, 1),
            (Exit::Limit, 1, 10),
            (Exit::Denied, 1, 11),
            (Exit::Refused, 1, 12),
            (Exit::Usage, 1, 64),
            (Exit::NoSession, 1, 66),
            (Exit::Unavailable, 1, 69),
            (Exit::Fault, 1, 70),
            (Exit::TryAgain, 1, 75),
            (Exit::NotPermitted, 1, 77),
            (Exit::Configuration, 1, 78),
            (Exit::TimedOut, 1, 124),
            (Exit::Sandbox, 1, 125),
            (Exit::HungUp, 129, 129),
            (Exit::Interrupted, 130, 130),
            (Exit::Terminated, 143, 143),
        ];
        for (exit, plain, detailed) in endings {
            assert_eq!((exit.code(ExitStyle::Plain), exit.code(ExitStyle::Detailed)), (plain, detailed));
        }
    }
}
