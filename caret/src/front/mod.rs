//! The front ends: each prompts an agent and projects its events. None can reach into the engine.

mod driver;
mod ending;
mod neutral;
pub mod print;
mod printer;
mod progress;
pub mod signals;
mod stdout;
