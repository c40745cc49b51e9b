//! How files below a folder are found: what is left out, what is never followed, what is counted.
//!
//! Invariants: no link is followed, so no walk leaves its folder or goes in circles. What the version
//! control ignores is left out, and so is what it keeps for itself and what reading is denied of; files
//! whose names begin with a dot are not. What could not
//! be read is counted, and a cancelled walk ends.

use super::ToolError;
use super::place::Area;
use super::text::name_text;
use crate::permission::Hidden;
use ignore::overrides::{Override, OverrideBuilder};
use ignore::{DirEntry, WalkBuilder, WalkState};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio_util::sync::CancellationToken;

/// Prepares a walk below a folder.
pub(crate) fn walker(folder: &Path, hidden: &Hidden) -> WalkBuilder {
    let hidden = hidden.clone();
    let mut builder = WalkBuilder::new(folder);
    builder
        .current_dir(folder)
        .hidden(false)
        .follow_links(false)
        .require_git(false)
        // The user's own git configuration would have to be looked for in the home directory.
        .git_global(false)
        .filter_entry(move |entry| {
            entry.depth() == 0 || (entry.file_name() != ".git" && !hidden.hides(entry.path()))
        });
    builder
}

/// As many threads as a search is worth.
pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 12)
}

/// Globs that decide which files are taken; those that start with `!` leave files out.
pub(crate) fn globs(folder: &Path, globs: &[String]) -> Result<Override, ToolError> {
    let mut builder = OverrideBuilder::new(folder);
    for glob in globs {
        builder.add(glob).map_err(|error| ToolError::new(format!("glob `{glob}` is not valid: {error}")))?;
    }
    builder.build().map_err(|error| ToolError::new(format!("the globs are too much: {error}")))
}

/// Visits all entries below a folder from several threads, in no order. Says how many could not be read.
///
/// `visitor` makes what each thread uses for itself.
pub(crate) fn visit<V>(builder: &mut WalkBuilder, cancel: &CancellationToken, visitor: impl Fn() -> V) -> u64
where
    V: FnMut(&DirEntry) + Send,
{
    let unreadable = AtomicU64::new(0);
    builder.threads(threads()).build_parallel().run(|| {
        let mut visit = visitor();
        let unreadable = &unreadable;
        Box::new(move |entry| {
            if cancel.is_cancelled() {
                return WalkState::Quit;
            }
            match entry {
                Ok(entry) => visit(&entry),
                Err(error) => {
                    unreadable.fetch_add(u64::from(counts(&error)), Ordering::Relaxed);
                }
            }
            WalkState::Continue
        })
    });
    unreadable.into_inner()
}

/// Whether something was left out that may be there: what is gone meanwhile was not.
pub(crate) fn counts(error: &ignore::Error) -> bool {
    error.io_error().is_some_and(|error| error.kind() != std::io::ErrorKind::NotFound)
}

/// The error of a walk that was cut short.
pub(crate) fn unless_cancelled(cancel: &CancellationToken) -> Result<(), ToolError> {
    if cancel.is_cancelled() { Err(ToolError::new("the search was cancelled")) } else { Ok(()) }
}

/// The bytes of a path below another.
pub(crate) fn below<'a>(path: &'a Path, base: &Path) -> &'a [u8] {
    path.strip_prefix(base).unwrap_or(path).as_os_str().as_encoded_bytes()
}

/// A found file as the model can name it: relative to the workspace root, or else absolute.
pub(crate) fn for_model(area: &Area, in_workspace: bool, relative: &[u8]) -> String {
    match in_workspace {
        true => name_text(relative).into_owned(),
        false => format!("{}/{}", super::text::path_text(&area.base), name_text(relative)),
    }
}

/// Tells the model what is missing from what it got.
pub(crate) fn unreadable_note(unreadable: u64) -> String {
    match unreadable {
        0 => String::new(),
        count => format!("\n[{count} file(s) or folder(s) could not be read]"),
    }
}
