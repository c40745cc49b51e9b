//! Which workspaces the user trusts.
//!
//! A workspace can steer the agent through files in it: rules, hooks, servers, permissions. So nothing of it is
//! believed before the user said so. Trust is remembered with the real path and a hash of those files, and
//! counts no more when one of them changes. It is never inherited from a folder above.

mod control;

use crate::files;
use crate::roots::Roots;
use serde::{Deserialize, Serialize};
use std::io;
use std::path::{Path, PathBuf};

/// A workspace that is trusted as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// The form of this record.
    pub version: u32,
    /// The real path of the workspace.
    pub path: PathBuf,
    /// A hash of the files that can steer the agent.
    pub hash: String,
    /// Milliseconds since 1970.
    pub trusted_at_ms: u64,
}

/// Whether a workspace is trusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is, as it is now.
    Trusted,
    /// It was, but files that can steer the agent have changed since.
    Changed,
    /// Nobody said so.
    Unknown,
}

/// Looks up a workspace.
pub fn standing(roots: &Roots, workspace: &Path) -> io::Result<Standing> {
    let Some(record) = read(&record_file(roots, workspace))?.filter(|record| record.path == workspace) else {
        return Ok(Standing::Unknown);
    };
    match record.hash == control::hash(workspace, roots)? {
        true => Ok(Standing::Trusted),
        false => Ok(Standing::Changed),
    }
}

/// Trusts a workspace as it is now.
pub fn add(roots: &Roots, workspace: &Path, now_ms: u64) -> io::Result<()> {
    let hash = control::hash(workspace, roots)?;
    let record = Record { version: 1, path: workspace.to_owned(), hash, trusted_at_ms: now_ms };
    let text = serde_json::to_string_pretty(&record).map_err(io::Error::other)?;
    write(&record_file(roots, workspace), format!("{text}\n").as_bytes())?;
    write(&documented_file(roots, workspace), b"")
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    files::replace(path, bytes).map_err(named)
}

/// Trusts a workspace no more; says whether it was trusted.
pub fn remove(roots: &Roots, workspace: &Path) -> io::Result<bool> {
    let was_there = remove_file(&record_file(roots, workspace))?;
    // The documented mark goes by a name that several workspaces can share, so it alone says nothing.
    remove_file(&documented_file(roots, workspace))?;
    Ok(was_there)
}

/// All records, by path. Records that cannot be understood are left out.
pub fn list(roots: &Roots) -> io::Result<Vec<Record>> {
    let entries = match std::fs::read_dir(folder(roots)) {
        Ok(entries) => entries,
        Err(error) if files::is_absent(&error) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut records = Vec::new();
    for entry in entries {
        records.extend(read(&entry?.path())?);
    }
    records.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(records)
}

fn read(path: &Path) -> io::Result<Option<Record>> {
    Ok(files::read(path)?.and_then(|bytes| serde_json::from_slice(&bytes).ok()))
}

fn remove_file(path: &Path) -> io::Result<bool> {
    match std::fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if files::is_absent(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

fn folder(roots: &Roots) -> PathBuf {
    roots.data.join("trusted-workspaces")
}

fn record_file(roots: &Roots, workspace: &Path) -> PathBuf {
    let name = control::hex_of(workspace.as_os_str().as_encoded_bytes());
    folder(roots).join(format!("{name}.json"))
}

fn documented_file(roots: &Roots, workspace: &Path) -> PathBuf {
    roots.project(&workspace.to_string_lossy()).join(".workspace-trusted")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn roots(folder: &Path) -> Roots {
        Roots { config: folder.join("root"), data: folder.join("root"), below: None }
    }

    #[test]
    fn trust_ends_when_a_file_that_steers_the_agent_changes() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().join("work");
        fs::create_dir_all(workspace.join(".cursor/rules")).unwrap();
        fs::write(workspace.join("main.rs"), "one").unwrap();
        let roots = roots(folder.path());
        let standing = || super::standing(&roots, &workspace).unwrap();
        assert_eq!(standing(), Standing::Unknown);
        add(&roots, &workspace, 7).unwrap();
        assert_eq!(standing(), Standing::Trusted);
        fs::write(workspace.join("main.rs"), "two").unwrap();
        assert_eq!(standing(), Standing::Trusted, "ordinary files do not count");
        for file in [".cursor/rules/a.mdc", ".caret/cli.json", ".mcp.json", "AGENTS.md"] {
            let path = workspace.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "x").unwrap();
            assert_eq!(standing(), Standing::Changed, "{file}");
            add(&roots, &workspace, 7).unwrap();
            assert_eq!(standing(), Standing::Trusted, "{file}");
        }
        assert!(remove(&roots, &workspace).unwrap());
        assert_eq!((standing(), remove(&roots, &workspace).unwrap()), (Standing::Unknown, false));
    }

    #[test]
    fn workspaces_with_the_same_documented_name_are_not_mixed_up() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (folder.path().join("a-b"), folder.path().join("a.b"));
        fs::create_dir_all(&one).unwrap();
        fs::create_dir_all(&other).unwrap();
        let roots = roots(folder.path());
        add(&roots, &one, 7).unwrap();
        assert_eq!(standing(&roots, &other).unwrap(), Standing::Unknown);
        fs::copy(record_file(&roots, &one), record_file(&roots, &one.join("moved"))).unwrap();
        assert_eq!(
            standing(&roots, &one.join("moved")).unwrap(),
            Standing::Unknown,
            "the path inside counts"
        );
        fs::remove_file(record_file(&roots, &one.join("moved"))).unwrap();
        assert_eq!(standing(&roots, &one.join("inner")).unwrap(), Standing::Unknown, "nothing is inherited");
        assert!(roots.project(one.to_str().unwrap()).join(".workspace-trusted").exists());
        assert_eq!(list(&roots).unwrap().iter().map(|record| record.path.clone()).collect::<Vec<_>>(), [one]);
    }

    #[test]
    fn files_behind_links_count_and_loops_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().join("work");
        fs::create_dir_all(folder.path().join("shared")).unwrap();
        fs::create_dir_all(&workspace).unwrap();
        std::os::unix::fs::symlink("../shared", workspace.join(".cursor")).unwrap();
        let roots = roots(folder.path());
        add(&roots, &workspace, 7).unwrap();
        fs::write(folder.path().join("shared/cli.json"), "{}").unwrap();
        assert_eq!(standing(&roots, &workspace).unwrap(), Standing::Changed);
        for name in ["one", "other"] {
            std::os::unix::fs::symlink(".", folder.path().join("shared").join(name)).unwrap();
        }
        assert!(add(&roots, &workspace, 7).is_err());
    }

    #[test]
    fn the_users_own_state_is_no_control_file() {
        let home = tempfile::tempdir().unwrap();
        let roots =
            Roots { config: home.path().join(".caret"), data: home.path().join(".caret"), below: None };
        add(&roots, home.path(), 7).unwrap();
        fs::create_dir_all(roots.chats().join("x")).unwrap();
        fs::write(roots.config_file(), "{}").unwrap();
        assert_eq!(standing(&roots, home.path()).unwrap(), Standing::Trusted);
    }
}
