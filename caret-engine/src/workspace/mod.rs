//! The workspace on this machine: files through `files`, commands through `process`.

pub mod files;
mod local;
mod scan;

pub use local::LocalWorkspace;
