//! What one run of a program used: wall time, processor time, memory, bytes written.
//!
//! The kernel adds up what finished children used, so every run is measured by a fresh process.

use anyhow::{Context, Result, ensure};
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::{Value, json};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// What one run used.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Used {
    /// Wall time in milliseconds.
    pub(crate) wall_ms: f64,
    /// Processor time of the program and everything it waited for, in milliseconds.
    pub(crate) cpu_ms: f64,
    /// The largest resident set of any of the processes, in MiB.
    pub(crate) memory_mib: f64,
    /// Bytes handed to the disk, in KiB.
    pub(crate) disk_kib: f64,
}

/// Runs a command in a fresh measuring process.
pub(crate) fn run(
    program: &Path,
    args: &[&str],
    input: Option<&Path>,
    home: &Path,
    cwd: &Path,
) -> Result<Used> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("measure").arg(program).args(args).current_dir(cwd);
    command.env_clear().env("HOME", home).env("PATH", "/usr/local/bin:/usr/bin:/bin");
    if let Some(input) = input {
        command.env("MEASURE_STDIN", input);
    }
    let output = command.stderr(Stdio::inherit()).output()?;
    ensure!(output.status.success(), "{} {args:?} could not be measured", program.display());
    let used: Value = serde_json::from_slice(&output.stdout)?;
    let number = |name: &str| used[name].as_f64().with_context(|| name.to_owned());
    Ok(Used {
        wall_ms: number("wall_ms")?,
        cpu_ms: number("cpu_ms")?,
        memory_mib: number("memory_mib")?,
        disk_kib: number("disk_kib")?,
    })
}

/// The measuring process: runs the command, reads its output to the end, prints what it used.
pub(crate) fn child(command: &[&str]) -> Result<()> {
    let [program, args @ ..] = command else { anyhow::bail!("measure what?") };
    let input = match std::env::var_os("MEASURE_STDIN") {
        Some(file) => Stdio::from(std::fs::File::open(file)?),
        None => Stdio::null(),
    };
    let began = Instant::now();
    let mut child = Command::new(program)
        .args(args)
        .env_remove("MEASURE_STDIN")
        .stdin(input)
        .stdout(Stdio::piped())
        .spawn()?;
    let mut bytes = Vec::new();
    child.stdout.take().context("stdout")?.read_to_end(&mut bytes)?;
    let status = child.wait()?;
    let wall_ms = began.elapsed().as_secs_f64() * 1000.0;
    ensure!(
        status.success(),
        "{program} {args:?} ended with {status}: {}",
        String::from_utf8_lossy(&bytes[bytes.len().saturating_sub(600)..])
    );
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let time = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 * 1000.0 + time.tv_usec() as f64 / 1000.0;
    println!(
        "{}",
        json!({
            "wall_ms": wall_ms,
            "cpu_ms": time(usage.user_time()) + time(usage.system_time()),
            "memory_mib": usage.max_rss() as f64 / 1024.0,
            "disk_kib": usage.block_writes() as f64 / 2.0,
        })
    );
    Ok(())
}

/// The median of each figure.
pub(crate) fn median(runs: &[Used]) -> Used {
    let middle = |figure: fn(&Used) -> f64| {
        let mut figures: Vec<f64> = runs.iter().map(figure).collect();
        figures.sort_by(f64::total_cmp);
        figures.get(figures.len() / 2).copied().unwrap_or_default()
    };
    Used {
        wall_ms: middle(|used| used.wall_ms),
        cpu_ms: middle(|used| used.cpu_ms),
        memory_mib: middle(|used| used.memory_mib),
        disk_kib: middle(|used| used.disk_kib),
    }
}
