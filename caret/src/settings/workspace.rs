//! Finds the folder that a run works in, as the real path without links.
//!
//! The path is the key of the chats, so it must be text and always the same for the same folder.

use crate::environment::Environment;
use crate::exit::{Exit, Failure};
use std::io;
use std::path::{Path, PathBuf};

/// The workspace: what was asked for, else the current folder.
pub fn find(wanted: Option<&str>, environment: &Environment) -> Result<PathBuf, Failure> {
    match wanted {
        Some(wanted) => real_folder("the workspace", &expand(wanted, environment)),
        None => match &environment.folder {
            Some(folder) => real_folder("the workspace", folder),
            None => Err(Failure::new(
                Exit::Usage,
                "the current directory does not exist any more: go to another one, or use --workspace",
            )),
        },
    }
}

/// Further folders to work in.
pub fn find_additional(wanted: &[String], environment: &Environment) -> Result<Vec<PathBuf>, Failure> {
    wanted.iter().map(|path| real_folder("the directory", &expand(path, environment))).collect()
}

/// The real path of a folder that must exist.
pub fn real_folder(what: &str, path: &Path) -> Result<PathBuf, Failure> {
    let shown = crate::output::harmless(&path.to_string_lossy());
    let wrong = |why: &str| Failure::new(Exit::Usage, format!("{what} {why}: {shown}"));
    let real = path.canonicalize().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => wrong("does not exist"),
        _ => wrong(&format!("cannot be used ({error})")),
    })?;
    if !real.is_dir() {
        return Err(wrong("is a file, not a directory"));
    }
    match real.to_str() {
        Some(_) => Ok(real),
        None => Err(wrong("has a name that is not valid UTF-8")),
    }
}

fn expand(path: &str, environment: &Environment) -> PathBuf {
    let home = environment.home();
    match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        (None, Some(home)) if path == "~" => home,
        _ => environment.absolute(Path::new(path)),
    }
}
