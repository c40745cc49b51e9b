//! The real program, on an empty home: what is typed, what comes back on both streams, and how it ends.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(unreachable_pub, reason = "nothing is outside of a program")]

mod arguments;
mod bad_machine;
mod config;
mod crash;
mod driver;
mod formats;
mod information;
mod many;
mod mock;
mod program;
mod record;
mod running;
mod shell_integration;
mod signals;
mod spend;
mod stream;
mod tidy;
mod tour;
mod trouble;
mod trust;
