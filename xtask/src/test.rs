//! The one command that checks everything; CI calls it too.

use crate::commands::{cargo, run};
use anyhow::Result;
use std::path::Path;
use std::time::Instant;

/// Format, lints, documentation, schema, tests. Says what had to be left out, and why.
pub(crate) fn run_checks() -> Result<()> {
    let began = Instant::now();
    run(&mut cargo(&["fmt", "--all", "--check"]))?;
    run(&mut cargo(&["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]))?;
    let mut doc = cargo(&["doc", "--workspace", "--no-deps", "--locked", "--quiet"]);
    run(doc.env("RUSTDOCFLAGS", "-D warnings"))?;
    crate::schema::check()?;
    run(&mut cargo(&["test", "--workspace", "--locked"]))?;
    for (needed, what) in left_out() {
        println!("skipped: {what} ({needed} is not on this machine)");
    }
    println!("all checks passed in {} s", began.elapsed().as_secs());
    Ok(())
}

/// What tests leave out by themselves where a program is missing.
fn left_out() -> Vec<(&'static str, &'static str)> {
    let wanted =
        [("/bin/bash", "comparing our bash grammar with bash itself, and tests of the shell's state")];
    wanted.into_iter().filter(|(needed, _)| !Path::new(needed).exists()).collect()
}
