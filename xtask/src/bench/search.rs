//! Grep against ripgrep on a tree of 50,000 files.

use super::Bench;
use super::table::Table;
use crate::commands::{cargo, target};
use crate::measure::{median, run};
use anyhow::Result;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const FILES: u32 = 50_000;

/// The same search by our tool, inside a whole turn, and by ripgrep, in turns.
pub(crate) fn grep(bench: &Bench, table: &mut Table) -> Result<()> {
    let tree = tree(bench)?;
    let rg = ripgrep()?;
    let home = bench.fresh("grep")?;
    let script = bench.script(
        "grep.toml",
        "version = 1\nmodel = \"bench\"\n[[turn]]\nemit = [{ call = \"Grep\", id = \"g\", input = { pattern = \
         \"needle [0-9]+ found\" } }]\n[[turn]]\nemit = [{ text = \"done\" }]\n",
    )?;
    let ours = ["-p", "--force", "--model", &script, "--output-format", "stream-json", "go"];
    let theirs = ["--files-with-matches", "needle [0-9]+ found", "./"];
    let (mut caret, mut ripgrep) = (Vec::new(), Vec::new());
    for _ in 0..12 {
        caret.push(run(&bench.caret, &ours, None, &home, &tree)?);
        ripgrep.push(run(&rg, &theirs, None, &home, &tree)?);
    }
    // The first of each warms the cache.
    let (caret, ripgrep) = (median(&caret[1..]), median(&ripgrep[1..]));
    table.told("ripgrep on 50,000 files, wall", ripgrep.wall_ms, "ms");
    table.told("a whole turn with one Grep on the same tree, wall", caret.wall_ms, "ms");
    table.at_most("whole Grep turn / ripgrep, wall", caret.wall_ms / ripgrep.wall_ms, 1.15, "×");
    Ok(())
}

fn tree(bench: &Bench) -> Result<PathBuf> {
    let tree = bench.folder.join("tree");
    let done = tree.join(".made");
    if done.exists() {
        return Ok(tree);
    }
    let filler = "The quick brown fox jumps over the lazy dog, again and again.\n".repeat(40);
    for number in 0..FILES {
        let folder = tree.join(format!("d{:02}/e{:02}", number / 2500, number / 50 % 50));
        fs::create_dir_all(&folder)?;
        let needle = if number % 500 == 0 { format!("needle {number} found\n") } else { String::new() };
        fs::write(folder.join(format!("f{number}.txt")), format!("{filler}{needle}{filler}"))?;
    }
    fs::write(done, "")?;
    Ok(tree)
}

/// Ripgrep from the machine, else built from its crate.
fn ripgrep() -> Result<PathBuf> {
    for folder in ["/usr/local/bin", "/usr/bin"] {
        let found = Path::new(folder).join("rg");
        if found.exists() && Command::new(&found).arg("--version").output().is_ok() {
            return Ok(found);
        }
    }
    let tools = target().join("tools");
    let rg = tools.join("bin/rg");
    if !rg.exists() {
        let mut install = cargo(&["install", "ripgrep", "--locked", "--root"]);
        crate::commands::run(install.arg(&tools))?;
    }
    Ok(rg)
}
