//! Files and processes of this machine.

use super::files;
use crate::process::{Background, Supervisor, run};
use async_trait::async_trait;
use caret_protocol::workspace::{Excerpt, Lines, Loaded, Ran, Run, Stamp, Workspace};
use std::io;
use std::path::{Path, PathBuf};
use tokio_util::sync::CancellationToken;

/// The workspace on this machine.
#[derive(Debug)]
pub struct LocalWorkspace {
    root: PathBuf,
    supervisor: Supervisor,
    background: Background,
}

impl LocalWorkspace {
    /// A workspace below a physical root, whose commands are started by `supervisor`.
    pub fn new(root: PathBuf, supervisor: Supervisor) -> Self {
        Self { root, supervisor, background: Background::default() }
    }
}

#[async_trait]
impl Workspace for LocalWorkspace {
    fn root(&self) -> &Path {
        &self.root
    }

    async fn read(&self, path: &Path, lines: Lines) -> io::Result<Excerpt> {
        let path = path.to_owned();
        blocking(move || files::read(&path, lines)).await
    }

    async fn load(&self, path: &Path) -> io::Result<Loaded> {
        let path = path.to_owned();
        blocking(move || files::load(&path)).await
    }

    async fn save(&self, path: &Path, bytes: &[u8], expected: Option<Stamp>) -> io::Result<Stamp> {
        let (path, bytes) = (path.to_owned(), bytes.to_owned());
        blocking(move || files::save(&path, &bytes, expected)).await
    }

    async fn remove(&self, path: &Path) -> io::Result<u64> {
        let path = path.to_owned();
        blocking(move || files::remove(&path)).await
    }

    async fn run(&self, command: Run<'_>, cancel: &CancellationToken) -> io::Result<Ran> {
        run(&self.supervisor, &self.background, command, cancel).await
    }

    async fn close(&self) {
        self.background.close().await;
    }
}

/// Files may be slow: the thread that hears a cancel must not wait for them.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}
