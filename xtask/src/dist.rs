//! A release archive: the binary, completions, man pages, licences, and checksums beside it.

use crate::commands::{release_binary, root, run, target};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Builds `target/dist/caret-<version>-<machine>.tar.gz` and its checksum.
pub(crate) fn run_dist() -> Result<()> {
    let binary = release_binary()?;
    let version = output(Command::new(&binary).arg("--version"))?;
    let name = format!("caret-{}-{}-{}", version.trim(), std::env::consts::OS, std::env::consts::ARCH);
    let dist = target().join("dist");
    let folder = dist.join(&name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(folder.join("completions"))?;
    fs::copy(&binary, folder.join("caret"))?;
    for file in ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"] {
        fs::copy(root().join(file), folder.join(file)).with_context(|| file.to_owned())?;
    }
    for shell in ["bash", "zsh", "fish"] {
        let text = output(Command::new(&binary).args(["completions", shell]))?;
        fs::write(folder.join("completions").join(format!("caret.{shell}")), text)?;
    }
    run(Command::new(&binary).args(["man", "--out"]).arg(folder.join("man")))?;
    let archive = format!("{name}.tar.gz");
    run(Command::new("tar").current_dir(&dist).args(["--sort=name", "-czf", &archive, &name]))?;
    let sum = output(Command::new("sha256sum").current_dir(&dist).arg(&archive))?;
    fs::write(dist.join(format!("{archive}.sha256")), sum)?;
    println!("made {}", Path::new(&dist).join(archive).display());
    Ok(())
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.output()?;
    ensure!(output.status.success(), "{:?} ended with {}", command, output.status);
    Ok(String::from_utf8(output.stdout)?)
}
