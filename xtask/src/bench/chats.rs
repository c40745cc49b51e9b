//! Long chats: resuming one, and what a turn in it costs.

use super::Bench;
use super::table::Table;
use crate::measure::{median, run};
use anyhow::Result;
use std::fmt::Write;
use std::fs;
use std::path::Path;

const LONG: &str = "11111111-1111-4111-8111-111111111111";
const SHORT: &str = "22222222-2222-4222-8222-222222222222";

/// A turn in a chat of 2,000 messages against the same turn in one of 20.
pub(crate) fn resume(bench: &Bench, table: &mut Table) -> Result<()> {
    let home = bench.fresh("resume")?;
    let workspace = home.join("workspace");
    fs::create_dir_all(&workspace)?;
    fill(bench, &home, &workspace, LONG, 1000)?;
    fill(bench, &home, &workspace, SHORT, 10)?;
    let (mut long, mut short) = (Vec::new(), Vec::new());
    for _ in 0..40 {
        for (chat, runs) in [(LONG, &mut long), (SHORT, &mut short)] {
            let args = ["-p", "--output-format", "stream-json", "--resume", chat, "what is 6 * 7?"];
            runs.push(run(&bench.caret, &args, None, &home, &workspace)?);
        }
    }
    let remember = ["-p", "--resume", LONG, "what was my first question?"];
    let recalls =
        (0..20).map(|_| run(&bench.caret, &remember, None, &home, &workspace)).collect::<Result<Vec<_>>>()?;
    let (long, short) = (median(&long), median(&short));
    table.at_most("resume of 2,000 messages with a turn, wall", long.wall_ms, 30.0, "ms");
    table.at_most(
        "resume of 2,000 messages with a turn that reads them all, wall",
        median(&recalls).wall_ms,
        30.0,
        "ms",
    );
    table.at_most("a turn after 2,000 messages / after 20, CPU", long.cpu_ms / short.cpu_ms, 1.3, "×");
    table.at_most("a turn after 2,000 messages / after 20, disk", long.disk_kib / short.disk_kib, 1.5, "×");
    table.told("a turn after 20 messages, CPU", short.cpu_ms, "ms");
    table.told("a turn after 20 messages, disk", short.disk_kib, "KiB");
    Ok(())
}

/// Makes a chat of this many turns of two messages each, by one process with a driver.
fn fill(bench: &Bench, home: &Path, workspace: &Path, chat: &str, turns: u32) -> Result<()> {
    let script = bench.script(
        "fill.toml",
        "version = 1\nmodel = \"bench\"\nat_end = \"repeat\"\n[[turn]]\nemit = [{ text = \"An answer of about two \
         hundred bytes, as answers often are: not long, not short, with a name or two, a path such as src/main.rs, \
         a number like 42, and nothing that would surprise anybody who reads it.\" }]\n",
    )?;
    let mut lines = String::new();
    for number in 0..turns {
        let text =
            format!("question {number} of many, with some words around it so that it has a usual length");
        writeln!(lines, "{{\"type\":\"user\",\"message\":{{\"content\":\"{text}\"}}}}")?;
    }
    let input = bench.folder.join("fill.jsonl");
    fs::write(&input, lines)?;
    let args = [
        "-p",
        "--trust",
        "--model",
        &script,
        "--resume",
        chat,
        "--output-format",
        "stream-json",
        "--input-format",
        "stream-json",
    ];
    run(&bench.caret, &args, Some(&input), home, workspace)?;
    Ok(())
}
