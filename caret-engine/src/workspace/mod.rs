//! Where files are and commands run, on this machine.
//!
//! What is below is blocking and knows no session; the workspace that the tools see calls it from threads
//! that may wait.

pub mod files;
mod scan;
