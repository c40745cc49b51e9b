//! Where a path of the model really leads, and what the system says about it.
//!
//! The permission was given for a path; between then and now a link may have been put into it. So the
//! physical path is worked out once, checked against the workspace, and only it is used from then on.

use super::{Place, ToolError, text};
use crate::permission::Hidden;
use caret_protocol::content::Failure;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The path with all links followed; parts that are not there yet stay as they are.
pub(crate) async fn physical(path: &Path) -> Result<PathBuf, ToolError> {
    let path = path.to_owned();
    blocking(move || follow(&path).map_err(|error| file_error(&error, &path))).await
}

/// Where a change of `path` would really happen: never outside the workspace through a link.
pub(crate) async fn writable(place: &Place, path: &Path) -> Result<PathBuf, ToolError> {
    let (place, path) = (place.clone(), path.to_owned());
    blocking(move || {
        root_is_there(&place)?;
        let real = follow(&path).map_err(|error| file_error(&error, &path))?;
        if std::fs::symlink_metadata(&real).is_ok_and(|found| found.is_symlink()) {
            let message = format!("`{}` is a link that leads nowhere; delete it first", path.display());
            return Err(ToolError(Failure::InvalidFile { message }));
        }
        inside_stays_inside(&place, &path, &real)?;
        Ok(real)
    })
    .await
}

/// Where `path` itself is, also if it is a link: for deleting.
pub(crate) async fn removable(place: &Place, path: &Path) -> Result<PathBuf, ToolError> {
    let (place, path) = (place.clone(), path.to_owned());
    blocking(move || {
        root_is_there(&place)?;
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(ToolError::new("`path` is the root folder"));
        };
        let parent = follow(parent).map_err(|error| file_error(&error, &path))?;
        let real = parent.join(name);
        inside_stays_inside(&place, &path, &real)?;
        Ok(real)
    })
    .await
}

/// A folder or file to be searched, and what names are relative to.
#[derive(Clone, Debug)]
pub(crate) struct Area {
    /// Absolute, as the model wrote it.
    pub(crate) shown: PathBuf,
    /// Physical.
    pub(crate) real: PathBuf,
    /// The workspace root, or the folder itself when it is outside.
    pub(crate) base: PathBuf,
    /// It is a folder.
    pub(crate) is_folder: bool,
    /// What must not be shown of it.
    pub(crate) hidden: Hidden,
}

/// Where a search would happen: never outside the workspace through a link.
pub(crate) async fn area(place: &Place, shown: PathBuf) -> Result<Area, ToolError> {
    let place = place.clone();
    blocking(move || {
        let real = std::fs::canonicalize(&shown).map_err(|error| match error.kind() {
            ErrorKind::NotFound => ToolError::new(format!("there is no `{}`", text::path_text(&shown))),
            _ => file_error(&error, &shown),
        })?;
        inside_stays_inside(&place, &shown, &real)?;
        let is_folder = real.is_dir();
        let hidden = place.hidden.clone();
        let base = match real.parent() {
            _ if real.starts_with(&place.root) => place.root,
            Some(parent) if !is_folder => parent.to_owned(),
            _ => real.clone(),
        };
        Ok(Area { shown, real, base, is_folder, hidden })
    })
    .await
}

/// Runs what may wait for a disk on a thread that may wait.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(ToolError::new(format!("the tool broke: {error}"))),
    }
}

/// What the system said about a file, as the documented results tell it apart.
pub(crate) fn file_error(error: &io::Error, path: &Path) -> ToolError {
    let shown = text::path_text(path);
    // Errors of our own already say which file and why; those of the system only why.
    let message = match error.get_ref() {
        Some(own) => own.to_string(),
        None => format!("`{shown}`: {error}"),
    };
    ToolError(match error.kind() {
        ErrorKind::NotFound => Failure::FileNotFound { path: shown },
        ErrorKind::PermissionDenied => Failure::PermissionDenied { message },
        ErrorKind::IsADirectory
        | ErrorKind::NotADirectory
        | ErrorKind::InvalidInput
        | ErrorKind::FileTooLarge => Failure::InvalidFile { message },
        _ => Failure::Error { message },
    })
}

/// Whether the workspace is still the folder that it was: one that is gone is not made again by the first
/// file that is written, and a link that was put in its place leads elsewhere.
pub(crate) fn root_is_there(place: &Place) -> Result<(), ToolError> {
    if std::fs::symlink_metadata(&place.root).is_ok_and(|found| found.is_dir()) {
        return Ok(());
    }
    Err(ToolError::new(format!("the workspace folder `{}` is gone", place.root.display())))
}

fn inside_stays_inside(place: &Place, path: &Path, real: &Path) -> Result<(), ToolError> {
    if path.starts_with(&place.root) && !real.starts_with(&place.root) {
        let (shown, real) = (text::path_text(path), text::path_text(real));
        let message = format!("`{shown}` leads out of the workspace to `{real}`; use that path itself");
        return Err(ToolError(Failure::InvalidFile { message }));
    }
    Ok(())
}

fn follow(path: &Path) -> io::Result<PathBuf> {
    match std::fs::canonicalize(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) => Ok(follow(parent)?.join(name)),
            _ => Err(error),
        },
        other => other,
    }
}
