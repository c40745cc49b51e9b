//! Commands that leave nothing behind.
//!
//! Every command is started by a supervisor: a second copy of the program that owns all descendants of
//! its commands (`PR_SET_CHILD_SUBREAPER`) and holds one end of a socket. When the socket closes, because
//! we are done with it or because we died in any way, it ends every descendant and then itself.
//!
//! Invariant: no child of ours is started anywhere else.

mod capture;
mod request;
mod run;
mod shell_state;
mod supervise;

pub use run::{Background, Supervisor, run};
pub use supervise::supervise;
