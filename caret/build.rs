//! Gives the program its date version: the commit's day and short hash.
//!
//! It stays a build script because the version must be known before the program does anything at all.
//! Without git, or inside somebody else's repository, the version is a constant.

use std::path::Path;
use std::process::Command;

/// What a build outside of our repository calls itself.
const UNKNOWN: &str = "2026.11.01-0000000";

fn main() {
    let version = from_git().unwrap_or_else(|| UNKNOWN.to_owned());
    println!("cargo::rustc-env=CARET_DATE_VERSION={version}");
    println!("cargo::rerun-if-changed=build.rs");
    for name in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--path-format=absolute", "--git-path", name])
            && Path::new(&path).exists()
        {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}

fn from_git() -> Option<String> {
    let root = git(&["rev-parse", "--show-toplevel"])?;
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?.canonicalize().ok()?;
    if Path::new(&root).canonicalize().ok()? != ours {
        return None;
    }
    let day = git(&["log", "-1", "--format=%cd", "--date=format:%Y.%m.%d"])?;
    let hash = git(&["rev-parse", "--short=7", "HEAD"])?;
    let hash = hash.get(..7)?;
    (day.len() == 10).then(|| format!("{day}-{hash}"))
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
