//! SIGINT, SIGTERM and SIGHUP: the first one cancels, the second one ends the process at once.
//!
//! Ending at once leaves nothing behind: commands are watched by supervisors that end with us.

use crate::exit::Exit;
use std::io;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The signals that end a run.
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Signals {
    /// Listens from now on.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    /// Waits for the next signal and says how a run ends after it.
    pub async fn next(&mut self) -> Exit {
        tokio::select! {
            _ = self.interrupt.recv() => Exit::Interrupted,
            _ = self.terminate.recv() => Exit::Terminated,
            _ = self.hang_up.recv() => Exit::HungUp,
        }
    }
}
