//! Chores of the repository: `cargo xtask test`, `bench`, `schema`, `dist`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program for people at a terminal")]
#![expect(clippy::disallowed_methods, reason = "chores read cargo's own environment variables")]

mod bench;
mod commands;
mod dist;
mod measure;
mod schema;
mod test;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask test             format, lints, documentation, schema, all tests
cargo xtask bench [NAME…]    measures what BENCHMARKS.md records
cargo xtask schema [--check] writes (or compares) the published JSON schemas
cargo xtask dist             a release archive with its checksums";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["test"] => test::run_checks(),
        ["bench", names @ ..] => bench::run(names),
        ["schema"] => schema::write(),
        ["schema", "--check"] => schema::check(),
        ["dist"] => dist::run_dist(),
        // Not for people: runs one command and tells what it used.
        ["measure", command @ ..] => measure::child(command),
        [] | ["help" | "--help" | "-h"] => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        other => Err(anyhow::anyhow!("there is no chore `{}`\n{HELP}", other.join(" "))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
