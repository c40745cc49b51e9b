//! Single runs: start-up, one turn, many steps, many deltas, size.

use super::Bench;
use super::table::Table;
use crate::measure::{Used, median, run};
use anyhow::Result;
use std::fs;

/// `--version` against a hello-world, in turns.
pub(crate) fn version(bench: &Bench, table: &mut Table) -> Result<()> {
    let home = bench.fresh("version")?;
    let (mut ours, mut trivial) = (Vec::new(), Vec::new());
    for _ in 0..100 {
        trivial.push(run(&bench.hello, &[], None, &home, &home)?);
        ours.push(run(&bench.caret, &["--version"], None, &home, &home)?);
    }
    let (ours, trivial) = (median(&ours), median(&trivial));
    table.told("hello-world, wall", trivial.wall_ms, "ms");
    table.told("`--version`, wall", ours.wall_ms, "ms");
    table.at_most("`--version` / hello-world, wall", ours.wall_ms / trivial.wall_ms, 2.0, "×");
    Ok(())
}

/// A whole offline text turn in stream-json, each in a new chat.
pub(crate) fn turn(bench: &Bench, table: &mut Table) -> Result<()> {
    let used =
        repeated(bench, "turn", 40, &["-p", "--trust", "--output-format", "stream-json", "what is 6 * 7?"])?;
    table.at_most("offline text turn, start to exit, wall", used.wall_ms, 20.0, "ms");
    table.told("offline text turn, CPU", used.cpu_ms, "ms");
    table.told("offline text turn, peak memory", used.memory_mib, "MiB");
    Ok(())
}

/// Fifty durable shell steps from a script.
pub(crate) fn steps(bench: &Bench, table: &mut Table) -> Result<()> {
    let script = bench.script(
        "steps.toml",
        "version = 1\nmodel = \"bench\"\n\
         [[turn]]\nrepeat = 50\nemit = [{ call = \"Shell\", id = \"c\", input = { command = \"echo step {{n}}\" } }]\n\
         [[turn]]\nemit = [{ text = \"done\" }]\n",
    )?;
    let args = ["-p", "--force", "--model", &script, "--output-format", "stream-json", "go"];
    let used = repeated(bench, "steps", 7, &args)?;
    table.at_most("50 durable shell steps, wall", used.wall_ms, 400.0, "ms");
    table.at_most("50 durable shell steps, CPU with all children", used.cpu_ms, 250.0, "ms");
    table.at_most("50 durable shell steps, peak memory", used.memory_mib, 15.0, "MiB");
    table.told("50 durable shell steps, disk", used.disk_kib, "KiB");
    Ok(())
}

/// Two thousand text deltas, less the same run with one.
pub(crate) fn deltas(bench: &Bench, table: &mut Table) -> Result<()> {
    let script = |times: u32| {
        format!(
            "version = 1\nmodel = \"bench\"\n[[turn]]\n\
             emit = [{{ text_repeat = {{ text = \"word \", times = {times} }} }}]\n"
        )
    };
    let many = bench.script("deltas-2000.toml", &script(2000))?;
    let one = bench.script("deltas-1.toml", &script(1))?;
    let (mut with, mut without) = (Vec::new(), Vec::new());
    for _ in 0..15 {
        for (model, runs) in [(&many, &mut with), (&one, &mut without)] {
            let args = [
                "-p",
                "--force",
                "--model",
                model,
                "--output-format",
                "stream-json",
                "--stream-partial-output",
                "go",
            ];
            runs.push(once(bench, "deltas", &args)?);
        }
    }
    let each = (median(&with).cpu_ms - median(&without).cpu_ms) / 1999.0 * 1000.0;
    table.at_most("one text delta through the engine and stream-json, CPU", each, 5.0, "µs");
    Ok(())
}

/// The release binary.
pub(crate) fn size(bench: &Bench, table: &mut Table) -> Result<()> {
    let bytes = fs::metadata(&bench.caret)?.len();
    table.at_most("release binary", bytes as f64 / f64::from(1 << 20), 20.0, "MiB");
    Ok(())
}

fn repeated(bench: &Bench, name: &str, times: u32, args: &[&str]) -> Result<Used> {
    let runs = (0..times).map(|_| once(bench, name, args)).collect::<Result<Vec<_>>>()?;
    Ok(median(&runs))
}

/// One run in an empty home and workspace, after a first one that writes the configuration.
fn once(bench: &Bench, name: &str, args: &[&str]) -> Result<Used> {
    let home = bench.fresh(name)?;
    let workspace = home.join("workspace");
    fs::create_dir_all(&workspace)?;
    run(&bench.caret, &["-p", "--trust", "--quiet", "hello"], None, &home, &workspace)?;
    run(&bench.caret, args, None, &home, &workspace)
}
