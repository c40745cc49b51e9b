//! `trust`: which workspaces may steer the agent.

use super::Call;
use crate::args::commands::{Trust, TrustAction};
use crate::args::values::Format;
use crate::exit::{Exit, Failure};
use crate::output::harmless;
use crate::trust::{self, Standing};
use serde_json::json;
use std::io;
use std::path::{Path, PathBuf};

/// Lists, adds or removes.
pub fn run(call: Call<'_>, arguments: &Trust) -> Result<Exit, Failure> {
    let settings = call.settings()?;
    let roots = settings.roots()?;
    let folder = match &arguments.folder {
        Some(folder) => call.environment.absolute(Path::new(folder)),
        None => settings.workspace.clone(),
    };
    match arguments.action {
        TrustAction::List => list(call, roots, arguments.format)?,
        TrustAction::Add => {
            let folder = crate::settings::real_folder("the workspace", &folder)?;
            trust::add(roots, &folder, super::now_ms()).map_err(unusable)?;
            call.output.line(&format!("✓ Trusted {}", shown(&folder)))?;
        }
        TrustAction::Remove => {
            // A workspace that is gone can still be forgotten.
            let folder = folder.canonicalize().unwrap_or(folder);
            if !trust::remove(roots, &folder).map_err(unusable)? {
                return Err(Failure::new(Exit::Failed, format!("it was not trusted: {}", shown(&folder))));
            }
            call.output.line(&format!("✓ No longer trusted: {}", shown(&folder)))?;
        }
    }
    Ok(Exit::Success)
}

fn list(call: Call<'_>, roots: &crate::roots::Roots, format: Format) -> Result<(), Failure> {
    let mut rows: Vec<(PathBuf, &str, u64)> = Vec::new();
    for record in trust::list(roots).map_err(unusable)? {
        let standing = match trust::standing(roots, &record.path) {
            _ if !record.path.is_dir() => "missing",
            Ok(Standing::Trusted) => "trusted",
            Ok(Standing::Changed) => "changed",
            Ok(Standing::Unknown) | Err(_) => "unknown",
        };
        rows.push((record.path, standing, record.trusted_at_ms));
    }
    match format {
        Format::Json => {
            let rows: Vec<_> = rows
                .iter()
                .map(|(path, standing, at)| json!({ "path": path, "standing": standing, "trustedAtMs": at }))
                .collect();
            call.output.json(&json!({ "workspaces": rows }))
        }
        Format::Text if rows.is_empty() => call.output.line("No trusted workspaces."),
        Format::Text => {
            let text: String =
                rows.iter().map(|(path, standing, _)| format!("{standing:<8} {}\n", shown(path))).collect();
            call.output.write(&text)
        }
    }
}

fn shown(path: &Path) -> String {
    harmless(&path.to_string_lossy())
}

fn unusable(error: io::Error) -> Failure {
    Failure::new(Exit::Configuration, format!("trust records cannot be used: {error}"))
}
