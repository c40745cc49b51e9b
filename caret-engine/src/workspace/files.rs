//! One file at a time on this machine: read a part, load, replace, remove. All calls block.
//!
//! It is here so that the rules for touching the user's files stand in one place.
//!
//! Invariants: only regular files are opened, and a pipe or a device never makes a call wait. Reading a
//! part takes bounded memory, however long the file or its lines are. A file is replaced in one step or
//! stays as it was. [`load`], [`save`] and [`remove`] take physical paths and follow no link, so a link
//! that is put into the way after the permission was given leads nowhere.

use super::scan;
use caret_protocol::workspace::{Excerpt, Lines, Loaded, Stamp};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

pub use super::scan::COUNTED_BYTES;

/// The longest file that is taken into memory to be changed.
pub const LOADED_BYTES: u64 = 64 << 20;

/// Some lines of a file, in bounded memory. Follows links.
///
/// A line that does not fit into `lines.bytes` any more is left out, unless it is the first. The total
/// is counted over the first [`COUNTED_BYTES`] of the file and is the least there can be in a longer one.
pub fn read(path: &Path, lines: Lines) -> io::Result<Excerpt> {
    let found = rustix::fs::stat(path)?;
    regular(&found, path)?;
    // The type may have changed since: without waiting for a writer, and looked at again below.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let found = rustix::fs::fstat(&file)?;
    regular(&found, path)?;
    scan::excerpt(&file, stamp_of(&found), lines)
}

/// A whole file, to be changed. Refuses links, and files of more than [`LOADED_BYTES`].
pub fn load(path: &Path) -> io::Result<Loaded> {
    let (folder, name) = folder_of(path, Missing::Refused)?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    existing(&folder, name, path)?.ok_or(Errno::NOENT)?;
    let file = File::from(rustix::fs::openat(&folder, name, flags, Mode::empty())?);
    let found = rustix::fs::fstat(&file)?;
    regular(&found, path)?;
    let stamp = stamp_of(&found);
    let mut bytes = Vec::new();
    if stamp.size <= LOADED_BYTES {
        (&file).take(LOADED_BYTES + 1).read_to_end(&mut bytes)?;
    }
    if stamp.size > LOADED_BYTES || bytes.len() as u64 > LOADED_BYTES {
        let message = format!("`{}` is longer than 64 MiB; change it with a command", path.display());
        return Err(io::Error::new(ErrorKind::FileTooLarge, message));
    }
    Ok(Loaded { bytes, stamp })
}

/// Replaces or creates a file in one step, with its folders. What was there keeps its mode and owner.
///
/// With `expected`, nothing is written unless the file still has that stamp. A file that was not there
/// is never written over: if somebody else makes it meanwhile, this is an error.
pub fn save(path: &Path, bytes: &[u8], expected: Option<Stamp>) -> io::Result<Stamp> {
    // A file that is expected is in a folder that is there.
    let missing = if expected.is_some() { Missing::Refused } else { Missing::Created };
    let (folder, name) = folder_of(path, missing)?;
    let old = existing(&folder, name, path)?;
    still_expected(expected, old.as_ref(), path)?;
    if let Some(old) = &old
        && old.st_mode & 0o222 == 0
    {
        let message = format!("`{}` is read-only; change its mode first", path.display());
        return Err(io::Error::new(ErrorKind::PermissionDenied, message));
    }
    let mut temporary = Temporary::create(&folder)?;
    temporary.file.write_all(bytes)?;
    take_over(&temporary.file, old.as_ref())?;
    temporary.file.sync_all()?;
    let stamp = stamp_of(&rustix::fs::fstat(&temporary.file)?);
    still_expected(expected, existing(&folder, name, path)?.as_ref(), path)?;
    temporary.put(name, old.is_some()).map_err(|error| match error {
        Errno::EXIST => changed(path),
        other => other.into(),
    })?;
    sync_folder(&folder)?;
    Ok(stamp)
}

/// Deletes a file, or a link but not what it leads to. Says how long it was.
pub fn remove(path: &Path) -> io::Result<u64> {
    let (folder, name) = folder_of(path, Missing::Refused)?;
    let found = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::Symlink {
        regular(&found, path)?;
    }
    rustix::fs::unlinkat(&folder, name, AtFlags::empty())?;
    sync_folder(&folder)?;
    Ok(stamp_of(&found).size)
}

/// A file as it is now. Follows links.
pub fn stamp(path: &Path) -> io::Result<Stamp> {
    let found = rustix::fs::stat(path)?;
    regular(&found, path)?;
    Ok(stamp_of(&found))
}

fn stamp_of(found: &Stat) -> Stamp {
    Stamp {
        size: u64::try_from(found.st_size).unwrap_or(0),
        modified_ns: i128::from(found.st_mtime) * 1_000_000_000 + i128::from(found.st_mtime_nsec),
        inode: found.st_ino,
    }
}

/// Refuses everything that is not a regular file, and says what it is.
fn regular(found: &Stat, path: &Path) -> io::Result<()> {
    let kind = match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => return Ok(()),
        FileType::Directory => {
            let message = format!("`{}` is a folder, not a file", path.display());
            return Err(io::Error::new(ErrorKind::IsADirectory, message));
        }
        FileType::Symlink => "a symbolic link",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Unknown => "no regular file",
    };
    let message = format!("`{}` is {kind}; only regular files can be used", path.display());
    Err(io::Error::new(ErrorKind::InvalidInput, message))
}

/// The regular file of that name in a folder, if there is one.
fn existing(folder: &OwnedFd, name: &OsStr, path: &Path) -> io::Result<Option<Stat>> {
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => regular(&found, path).map(|()| Some(found)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn still_expected(expected: Option<Stamp>, found: Option<&Stat>, path: &Path) -> io::Result<()> {
    match expected {
        Some(stamp) if found.map(stamp_of) != Some(stamp) => Err(changed(path)),
        _ => Ok(()),
    }
}

fn changed(path: &Path) -> io::Error {
    io::Error::other(format!("`{}` was changed by somebody else meanwhile; read it again", path.display()))
}

/// What to do about folders that are not there.
#[derive(Clone, Copy, PartialEq)]
enum Missing {
    Refused,
    Created,
}

/// Enough to name things in a folder.
#[cfg(any(target_os = "linux", target_os = "android"))]
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Enough to name things in a folder.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Opens the folder of a physical path name by name, so that a link on the way is an error.
fn folder_of(path: &Path, missing: Missing) -> io::Result<(OwnedFd, &OsStr)> {
    let unusable = || {
        let message = format!("`{}` is no absolute path of a file", path.display());
        io::Error::new(ErrorKind::InvalidInput, message)
    };
    let name = path.file_name().ok_or_else(unusable)?;
    let parent = path.parent().filter(|_| path.is_absolute()).ok_or_else(unusable)?;
    let mut folder = rustix::fs::open("/", FOLDER, Mode::empty())?;
    for part in parent.components() {
        let part = match part {
            Component::RootDir => continue,
            Component::Normal(part) => part,
            _ => return Err(unusable()),
        };
        folder = match step(&folder, part) {
            Err(Errno::NOENT) if missing == Missing::Created => {
                match rustix::fs::mkdirat(&folder, part, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => step(&folder, part)?,
                    Err(error) => return Err(error.into()),
                }
            }
            Err(Errno::NOTDIR | Errno::LOOP) => {
                let message =
                    format!("`{}` cannot be reached: `{}` is no folder", path.display(), part.display());
                return Err(io::Error::new(ErrorKind::NotADirectory, message));
            }
            other => other?,
        };
    }
    Ok((folder, name))
}

fn step(folder: &OwnedFd, part: &OsStr) -> rustix::io::Result<OwnedFd> {
    rustix::fs::openat(folder, part, FOLDER | OFlags::NOFOLLOW, Mode::empty())
}

/// Gives a new file the mode and the owner of the one that it replaces.
fn take_over(file: &File, old: Option<&Stat>) -> io::Result<()> {
    let Some(old) = old else { return Ok(()) };
    let own = rustix::fs::fstat(file)?;
    if (own.st_uid, own.st_gid) != (old.st_uid, old.st_gid) {
        let owner = rustix::fs::Uid::from_raw(old.st_uid);
        let group = rustix::fs::Gid::from_raw(old.st_gid);
        match rustix::fs::fchown(file, Some(owner), Some(group)) {
            // Only the superuser may give files away; then the file is the writer's, as with most editors.
            Ok(()) | Err(Errno::PERM | Errno::NOTSUP | Errno::INVAL) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(rustix::fs::fchmod(file, Mode::from_raw_mode(old.st_mode & 0o7777))?)
}

/// A file that is gone again unless it is put in its place.
struct Temporary<'a> {
    folder: &'a OwnedFd,
    name: String,
    file: File,
    placed: bool,
}

impl<'a> Temporary<'a> {
    fn create(folder: &'a OwnedFd) -> io::Result<Self> {
        let name = format!(".caret-{}.tmp", uuid::Uuid::new_v4().simple());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(folder, &name, flags, Mode::from_raw_mode(0o666))?;
        Ok(Self { folder, name, file: file.into(), placed: false })
    }

    fn put(&mut self, name: &OsStr, replaces: bool) -> rustix::io::Result<()> {
        let fresh = if replaces {
            Err(Errno::INVAL)
        } else {
            let only_new = RenameFlags::NOREPLACE;
            rustix::fs::renameat_with(self.folder, &self.name, self.folder, name, only_new)
        };
        match fresh {
            // Some file systems do not know the flag.
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
                rustix::fs::renameat(self.folder, &self.name, self.folder, name)?;
            }
            other => other?,
        }
        self.placed = true;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.placed {
            // There is nobody to tell, and the error that led here is on its way already.
            rustix::fs::unlinkat(self.folder, &self.name, AtFlags::empty()).unwrap_or_default();
        }
    }
}

/// Makes the names in a folder last.
fn sync_folder(folder: &OwnedFd) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match rustix::fs::openat(folder, ".", flags, Mode::empty()) {
        Ok(opened) => match rustix::fs::fsync(&opened) {
            Ok(()) | Err(Errno::INVAL | Errno::NOTSUP) => Ok(()),
            Err(error) => Err(error.into()),
        },
        // A folder may be writable and not readable; the file itself is safe.
        Err(Errno::ACCESS) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests;
