//! `cargo xtask bench`: what BENCHMARKS.md records, each with the limit it has to keep.
//!
//! Times of different machines cannot be compared, so what matters is measured as a ratio to a trivial
//! Rust program or to ripgrep in the same run, in turns.

mod chats;
mod search;
mod single;
mod table;

use crate::commands::{release_binary, target};
use anyhow::{Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use table::Table;

/// What every measurement needs.
pub(crate) struct Bench {
    /// The release binary.
    pub(crate) caret: PathBuf,
    /// A trivial Rust program.
    pub(crate) hello: PathBuf,
    /// A folder for everything that is made.
    pub(crate) folder: PathBuf,
}

impl Bench {
    /// A new empty folder.
    pub(crate) fn fresh(&self, name: &str) -> Result<PathBuf> {
        let folder = self.folder.join(name);
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// A script for the scripted model.
    pub(crate) fn script(&self, name: &str, text: &str) -> Result<String> {
        let file = self.folder.join(name);
        fs::write(&file, text)?;
        Ok(format!("script:{}", file.display()))
    }
}

type Measurement = fn(&Bench, &mut Table) -> Result<()>;

/// Runs the named measurements, or all.
pub(crate) fn run(names: &[&str]) -> Result<()> {
    let all: [(&str, Measurement); 7] = [
        ("version", single::version),
        ("turn", single::turn),
        ("steps", single::steps),
        ("deltas", single::deltas),
        ("resume", chats::resume),
        ("grep", search::grep),
        ("size", single::size),
    ];
    for name in names {
        ensure!(all.iter().any(|(known, _)| known == name), "there is no measurement `{name}`");
    }
    let folder = target().join("bench");
    fs::create_dir_all(&folder)?;
    let bench = Bench { caret: release_binary()?, hello: hello(&folder)?, folder };
    let mut table = Table::default();
    for (name, measure) in all {
        if names.is_empty() || names.contains(&name) {
            measure(&bench, &mut table)?;
        }
    }
    table.print();
    ensure!(table.all_kept(), "a limit was not kept");
    Ok(())
}

/// Compiles the trivial Rust program.
fn hello(folder: &Path) -> Result<PathBuf> {
    let source = folder.join("hello.rs");
    fs::write(&source, "fn main() { println!(\"hello\"); }\n")?;
    let binary = folder.join("hello");
    crate::commands::run(Command::new("rustc").args(["-O", "-o"]).arg(&binary).arg(&source))?;
    Ok(binary)
}
