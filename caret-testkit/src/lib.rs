//! For tests: a host that records, temporary workspaces, and what must be true of any turn.
//!
//! Never a normal dependency. It knows the protocol and nothing of the engine, so the tests of every crate
//! can use it.
#![warn(missing_docs)]

mod folder;
mod invariants;
mod recorder;

pub use folder::Folder;
pub use invariants::{check_history, check_turns};
pub use recorder::Recorder;
