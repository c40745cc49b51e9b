//! The one command that checks everything; CI calls it too.

use crate::commands::{cargo, run};
use anyhow::{Context, Result, ensure};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::Instant;

/// Format, lints, documentation, schema, tests. Says what had to be left out, and why.
pub(crate) fn run_checks() -> Result<()> {
    let began = Instant::now();
    run(&mut cargo(&["fmt", "--all", "--check"]))?;
    run(&mut cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]))?;
    let mut doc = cargo(&["doc", "--workspace", "--no-deps", "--locked", "--quiet"]);
    run(doc.env("RUSTDOCFLAGS", "-D warnings"))?;
    crate::schema::check()?;
    let (passed, failed) = tests()?;
    for (needed, what) in left_out() {
        println!("skipped: {what} ({needed} is not on this machine)");
    }
    println!("all checks took {} s", began.elapsed().as_secs());
    println!("{passed} passed, {failed} failed");
    Ok(())
}

/// Runs all tests, shows what they say, and counts them.
fn tests() -> Result<(u32, u32)> {
    println!("== cargo test --workspace --locked");
    let mut child = cargo(&["test", "--workspace", "--locked"]).stdout(Stdio::piped()).spawn()?;
    let (mut passed, mut failed) = (0, 0);
    for line in BufReader::new(child.stdout.take().context("stdout")?).lines() {
        let line = line?;
        println!("{line}");
        if let Some(counts) = line.strip_prefix("test result: ") {
            passed += counted(counts, "passed");
            failed += counted(counts, "failed");
        }
    }
    let status = child.wait()?;
    ensure!(status.success(), "cargo test ended with {status}: {passed} passed, {failed} failed");
    ensure!(passed > 0, "no test was run");
    Ok((passed, failed))
}

/// The number before a word.
fn counted(text: &str, word: &str) -> u32 {
    let words: Vec<&str> = text.split([' ', ';', '.']).filter(|word| !word.is_empty()).collect();
    let at = words.iter().position(|other| *other == word).unwrap_or_default();
    at.checked_sub(1)
        .and_then(|before| words.get(before))
        .and_then(|number| number.parse().ok())
        .unwrap_or_default()
}

/// What tests leave out by themselves where a program is missing.
fn left_out() -> Vec<(&'static str, &'static str)> {
    let wanted =
        [("/bin/bash", "comparing our bash grammar with bash itself, and tests of the shell's state")];
    wanted.into_iter().filter(|(needed, _)| !Path::new(needed).exists()).collect()
}
