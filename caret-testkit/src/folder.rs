//! A workspace in a temporary folder, with room for other folders beside it.

use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A temporary folder with a workspace in it; gone when it is dropped.
pub struct Folder {
    _folder: TempDir,
    base: PathBuf,
    root: PathBuf,
}

impl Folder {
    /// An empty workspace.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is a place for temporary files");
        let base = fs::canonicalize(folder.path()).expect("it was made just now");
        let root = base.join("workspace");
        fs::create_dir(&root).expect("the folder is ours");
        Self { _folder: folder, base, root }
    }

    /// The physical path of the workspace.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// A path beside the workspace.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }

    /// A path in the workspace.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// Puts a file into the workspace, with its folders.
    pub fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        let path = self.path(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).expect("the folder is ours");
        }
        fs::write(path, bytes).expect("the folder is ours");
        self
    }

    /// The text of a file of the workspace, if it is there.
    pub fn get(&self, name: &str) -> Option<String> {
        let bytes = fs::read(self.path(name)).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

impl Default for Folder {
    fn default() -> Self {
        Self::new()
    }
}
