//! The files of a workspace that can steer the agent, as one hash.
//!
//! Only names, kinds and bytes go in, never times. Links are followed, because the files behind them are read as
//! well; nothing but regular files is opened, and a tree without end is refused.

use crate::config::project_folders;
use crate::roots::Roots;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Files and folders that count, in every folder from the repository's root to the workspace.
const NAMES: [&str; 8] = [
    ".cursor",
    ".caret",
    ".mcp.json",
    "AGENTS.md",
    "CLAUDE.md",
    ".cursorrules",
    ".cursorignore",
    ".caretignore",
];

/// What lies in the user's own folder besides settings; it changes with every run.
const OWN_STATE: [&str; 6] =
    ["chats", "projects", "trusted-workspaces", "worktrees", "cli-config.json", "agent-cli-state.json"];

/// More files than this are taken as a mistake, or as an attempt to make us wait.
const MOST_FILES: usize = 2_000;

/// The hash of all files that can steer the agent.
pub fn hash(workspace: &Path, roots: &Roots) -> io::Result<String> {
    let mut sum = Sum { hasher: Sha256::new(), files: 0, roots };
    for folder in project_folders(workspace) {
        for name in NAMES {
            sum.add(&folder.join(name))?;
        }
    }
    Ok(hex(&sum.hasher.finalize()))
}

/// The hash of some bytes, as text.
pub fn hex_of(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

struct Sum<'a> {
    hasher: Sha256,
    files: usize,
    roots: &'a Roots,
}

impl Sum<'_> {
    fn add(&mut self, path: &Path) -> io::Result<()> {
        let meta = match fs::symlink_metadata(path) {
            Ok(meta) => meta,
            Err(error) if crate::files::is_absent(&error) => return Ok(()),
            Err(error) => return Err(named(path, &error)),
        };
        self.files += 1;
        if self.files > MOST_FILES {
            return Err(io::Error::other(format!("{}: more than {MOST_FILES} files", path.display())));
        }
        if self.is_own(path) {
            return self.folder(path);
        }
        self.field(path.as_os_str().as_encoded_bytes());
        if meta.is_symlink() {
            let target = fs::read_link(path).map_err(|error| named(path, &error))?;
            self.field(b"link");
            self.field(target.as_os_str().as_encoded_bytes());
        }
        match fs::metadata(path) {
            Ok(meta) if meta.is_file() => self.file(path).map_err(|error| named(path, &error)),
            Ok(meta) if meta.is_dir() => {
                self.field(b"folder");
                self.folder(path)
            }
            _ => Ok(()),
        }
    }

    /// Whether it is the user's own folder, which comes and changes with our own work.
    fn is_own(&self, path: &Path) -> bool {
        path == self.roots.config || path == self.roots.data || self.roots.below.as_deref() == Some(path)
    }

    fn folder(&mut self, path: &Path) -> io::Result<()> {
        let is_own = self.is_own(path);
        let mut names = Vec::new();
        for entry in fs::read_dir(path).map_err(|error| named(path, &error))? {
            names.push(entry.map_err(|error| named(path, &error))?.file_name());
        }
        names.sort();
        for name in names {
            let is_state =
                is_own && name.to_str().is_some_and(|name| OWN_STATE.iter().any(|own| name.contains(own)));
            if !is_state {
                self.add(&path.join(name))?;
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> io::Result<()> {
        let mut file = File::open(path)?;
        let mut content = Sha256::new();
        let mut buffer = [0; 16 << 10];
        loop {
            match file.read(&mut buffer)? {
                0 => break,
                read => content.update(&buffer[..read]),
            }
        }
        self.field(&content.finalize());
        Ok(())
    }

    /// Every field carries its length, so that two different trees can never give the same bytes.
    fn field(&mut self, bytes: &[u8]) {
        self.hasher.update((bytes.len() as u64).to_le_bytes());
        self.hasher.update(bytes);
    }
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
