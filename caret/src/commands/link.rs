//! `link`: makes the names `agent` and `cursor-agent` start this program.
//!
//! Invariant: a file that we did not make is never replaced, and either both names are made or none.

use super::Call;
use crate::exit::{Exit, Failure};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Makes the links.
pub fn run(call: Call<'_>, folder: Option<&str>) -> Result<Exit, Failure> {
    let program = call.environment.executable.clone().and_then(|path| path.canonicalize().ok());
    let program =
        program.ok_or_else(|| Failure::new(Exit::Failed, "the program's own file cannot be found"))?;
    let folder = match folder {
        Some(folder) => call.environment.absolute(Path::new(folder)),
        None => call
            .environment
            .home()
            .ok_or_else(|| Failure::new(Exit::Usage, "there is no home directory: use --dir"))?
            .join(".local/bin"),
    };
    std::fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, &error))?;
    let links = ["agent", "cursor-agent"].map(|name| folder.join(name));
    for link in &links {
        check(link)?;
    }
    for link in &links {
        make(&program, link).map_err(|error| unwritable(link, &error))?;
        call.output.line(&format!("{} -> {}", link.display(), program.display()))?;
    }
    for link in &links {
        let name = link.file_name().unwrap_or_default().to_string_lossy();
        if call.environment.find_program(&name).as_deref() != Some(link) {
            call.output
                .warn(&format!("`{name}` on your PATH is not this link: put {} first", folder.display()));
        }
    }
    Ok(Exit::Success)
}

/// A name is free when nothing is there, or a link to a program called `caret`.
fn check(link: &Path) -> Result<(), Failure> {
    let refused = |what: &str| {
        let remedy = "remove it, or choose another directory with --dir";
        Failure::new(Exit::Failed, format!("{} is {what}: {remedy}", link.display()))
    };
    match link.symlink_metadata() {
        Err(error) if crate::files::is_absent(&error) => Ok(()),
        Err(error) => Err(unwritable(link, &error)),
        Ok(meta) if !meta.is_symlink() => Err(refused("there already and was not made by caret")),
        Ok(_) => {
            let target = std::fs::read_link(link).map_err(|error| unwritable(link, &error))?;
            match target.file_name().is_some_and(|name| name == "caret") {
                true => Ok(()),
                false => Err(refused(&format!("a link to {}", target.display()))),
            }
        }
    }
}

/// Makes a link in one step, so that the name always works.
fn make(program: &Path, link: &Path) -> io::Result<()> {
    let temporary: PathBuf = link.with_file_name(format!(".link.{}", uuid::Uuid::new_v4().simple()));
    symlink(program, &temporary)?;
    std::fs::rename(&temporary, link)
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::new(Exit::Failed, format!("{} cannot be written: {error}", path.display()))
}
