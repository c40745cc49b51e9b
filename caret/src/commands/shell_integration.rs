//! `install-shell-integration` and its opposite: one marked block in the shell's start-up file.
//!
//! Invariant: taking the block out gives back the file byte for byte as it was, whatever was in it. A start-up
//! file that is a link stays one.

mod block;

use super::Call;
use crate::args::commands::KnownShell;
use crate::exit::{Exit, Failure};
use crate::files;
use block::Removed;
use std::path::{Path, PathBuf};

/// Puts the block in.
pub fn install(call: Call<'_>, shell: Option<KnownShell>) -> Result<Exit, Failure> {
    let shell = choose(call, shell)?;
    let path = start_up_file(call, shell)?;
    let before = read(&path)?;
    match block::insert(before.as_deref(), &block::text(shell, call.invoked.name())) {
        None => call.output.line(&format!("Shell integration is installed already in {}", path.display()))?,
        Some(after) => {
            files::replace_in_place(&path, &after).map_err(|error| unusable(&path, &error))?;
            call.output.line(&format!("✓ Shell integration installed in {}", path.display()))?;
            call.output.line("Open a new shell to use it.")?;
        }
    }
    Ok(Exit::Success)
}

/// Takes the block out.
pub fn uninstall(call: Call<'_>, shell: Option<KnownShell>) -> Result<Exit, Failure> {
    let shell = choose(call, shell)?;
    let path = start_up_file(call, shell)?;
    let removed = read(&path)?.map_or(Removed::NotThere, |before| block::remove(&before));
    let done = match removed {
        Removed::NotThere => {
            call.output.line(&format!("Shell integration is not installed in {}", path.display()))?;
            return Ok(Exit::Success);
        }
        Removed::Broken => {
            let remedy = "take the lines out by hand";
            let message = format!("{} has only half of the block: {remedy}", path.display());
            return Err(Failure::new(Exit::Failed, message));
        }
        Removed::Rest(after) => files::replace_in_place(&path, &after),
        Removed::Everything => std::fs::remove_file(&path),
    };
    done.map_err(|error| unusable(&path, &error))?;
    call.output.line(&format!("✓ Shell integration removed from {}", path.display()))?;
    Ok(Exit::Success)
}

fn choose(call: Call<'_>, shell: Option<KnownShell>) -> Result<KnownShell, Failure> {
    if let Some(shell) = shell {
        return Ok(shell);
    }
    let path = call.environment.text("SHELL").unwrap_or_default();
    match path.rsplit('/').next().unwrap_or_default() {
        "zsh" => Ok(KnownShell::Zsh),
        "bash" => Ok(KnownShell::Bash),
        "fish" => Ok(KnownShell::Fish),
        other => {
            let shown = crate::output::harmless(other);
            let message = format!("SHELL is '{shown}', which is not known: use --shell zsh, bash or fish");
            Err(Failure::new(Exit::Usage, message))
        }
    }
}

fn start_up_file(call: Call<'_>, shell: KnownShell) -> Result<PathBuf, Failure> {
    let environment = call.environment;
    let home = environment.home();
    let home =
        home.ok_or_else(|| Failure::new(Exit::Configuration, "there is no home directory: set HOME"))?;
    Ok(match shell {
        KnownShell::Zsh => environment.path("ZDOTDIR").unwrap_or(home).join(".zshrc"),
        KnownShell::Bash => home.join(".bashrc"),
        KnownShell::Fish => environment
            .path("XDG_CONFIG_HOME")
            .unwrap_or_else(|| home.join(".config"))
            .join("fish/config.fish"),
    })
}

fn read(path: &Path) -> Result<Option<Vec<u8>>, Failure> {
    files::read(path).map_err(|error| unusable(path, &error))
}

fn unusable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(Exit::Configuration, format!("{} cannot be changed: {error}", path.display()))
}
