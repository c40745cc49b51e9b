//! Caret's own agent: the turn loop, and models, tools, permissions and the store it stands on.
//!
//! Invariant: deaf to the machine. Nothing here reads the environment, the home directory or the
//! arguments; it is told. Nothing here prints.
#![warn(missing_docs)]

pub mod model;
pub mod permission;
pub mod store;
pub mod tools;
pub mod workspace;
