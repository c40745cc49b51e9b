//! Caret's own agent: the turn loop, and models, tools, permissions and the store it stands on.
//!
//! Invariant: deaf to the machine. Nothing here reads the environment, the home directory or the
//! arguments; it is told. Nothing here prints.
#![warn(missing_docs)]

pub mod bash;
mod calls;
pub mod clock;
mod context;
pub mod engine;
mod log;
pub mod model;
mod mutex;
mod past;
pub mod permission;
pub mod process;
mod retry;
mod session;
pub mod store;
pub mod tools;
mod turn;
pub mod workspace;
