//! A workspace in a temporary folder and short ways to call tools, for the tests of tools.

use super::{Memory, Place, Tool, ToolCx, ToolError, all};
use crate::permission::Grant;
use crate::workspace::files;
use async_trait::async_trait;
use caret_protocol::content::ToolOutput;
use caret_protocol::ids::{CallId, SessionId};
use caret_protocol::workspace::{Excerpt, Lines, Loaded, Ran, Run, Stamp, Workspace};
use serde_json::Value;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The files of this machine, without commands.
pub(crate) struct TestWorkspace {
    root: PathBuf,
}

#[async_trait]
impl Workspace for TestWorkspace {
    fn root(&self) -> &Path {
        &self.root
    }

    async fn read(&self, path: &Path, lines: Lines) -> io::Result<Excerpt> {
        files::read(path, lines)
    }

    async fn load(&self, path: &Path) -> io::Result<Loaded> {
        files::load(path)
    }

    async fn save(&self, path: &Path, bytes: &[u8], expected: Option<Stamp>) -> io::Result<Stamp> {
        files::save(path, bytes, expected)
    }

    async fn remove(&self, path: &Path) -> io::Result<u64> {
        files::remove(path)
    }

    async fn run(&self, _run: Run<'_>, _cancel: &CancellationToken) -> io::Result<Ran> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "this workspace runs no commands"))
    }
}

/// A session's tools in a temporary folder.
pub(crate) struct Bench {
    _folder: tempfile::TempDir,
    pub(crate) workspace: TestWorkspace,
    pub(crate) place: Place,
    pub(crate) memory: Memory,
    pub(crate) cancel: CancellationToken,
    pub(crate) now_ms: u64,
}

impl Bench {
    /// An empty workspace; there is room for other folders beside it.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = std::fs::canonicalize(folder.path()).unwrap().join("ws");
        std::fs::create_dir(&root).unwrap();
        Self {
            _folder: folder,
            workspace: TestWorkspace { root: root.clone() },
            place: Place {
                root: root.clone(),
                additional: Vec::new(),
                cwd: root,
                home: None,
                hidden: Default::default(),
            },
            memory: Memory::default(),
            cancel: CancellationToken::new(),
            now_ms: 1_000,
        }
    }

    /// A path in the workspace.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.place.root.join(name)
    }

    /// Puts a file into the workspace, with its folders.
    pub(crate) fn put(&self, name: &str, bytes: impl AsRef<[u8]>) -> &Self {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
        self
    }

    /// What is in a file of the workspace.
    pub(crate) fn get(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    /// Calls a tool the way a session does.
    pub(crate) async fn call(&self, name: &str, input: Value) -> Result<ToolOutput, ToolError> {
        let tool = tool(name);
        tool.claim(&input, &self.place)?;
        let (call, session) = (CallId::new("c"), SessionId::new("s"));
        let cx = ToolCx {
            call: &call,
            session: &session,
            place: &self.place,
            workspace: &self.workspace,
            memory: &self.memory,
            environment: &[],
            cancel: self.cancel.clone(),
            output: &|_| {},
            now_ms: self.now_ms,
        };
        tool.run(input, Grant::for_test(), cx).await
    }

    /// What the model reads, with the folder of the test taken out.
    pub(crate) async fn model(&self, name: &str, input: Value) -> String {
        let text = match self.call(name, input).await {
            Ok(output) => output.for_model,
            Err(error) => format!("Error: {error}"),
        };
        text.replace(self.place.root.to_str().unwrap(), "/ws")
    }

    /// What programs see, with the folder of the test taken out.
    pub(crate) async fn details(&self, name: &str, input: Value) -> Value {
        let output = self.call(name, input).await.unwrap();
        let text = serde_json::to_string(&output.details).unwrap();
        serde_json::from_str(&text.replace(self.place.root.to_str().unwrap(), "/ws")).unwrap()
    }
}

/// A tool by its name.
pub(crate) fn tool(name: &str) -> Arc<dyn Tool> {
    all().into_iter().find(|tool| tool.spec().name == name).unwrap()
}
