//! The `json` and `stream-json` outputs, and the lines a driver sends on stdin.
//!
//! `lines` are the documented shapes, `tool_calls` those of single tools, `output` folds events into
//! lines, `input` reads what a driver says. Field names and their order are a promise to programs that
//! parse the reference CLI; whatever we add is opt-in or a field that old readers ignore.

mod arguments;
pub mod input;
pub mod lines;
mod output;
mod results;
pub mod tool_calls;

pub use output::{StreamJson, StreamJsonSettings, Summary};
