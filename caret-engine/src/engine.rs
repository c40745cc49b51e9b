//! Our own agent, as an [`Agent`].

use crate::clock::Clock;
use crate::model::Catalogue;
use crate::permission::Policy;
use crate::session::EngineSession;
use crate::store::{Store, Which};
use crate::tools::{Memory, Toolbox};
use async_trait::async_trait;
use caret_protocol::agent::{About, Agent, AgentError, Host, Open, Session, SessionSummary};
use caret_protocol::event::Mode;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// More sessions than this are not listed.
const MOST_LISTED: usize = 1000;

/// Everything the engine is told.
pub struct EngineSettings {
    /// What it calls itself.
    pub about: About,
    /// Where sessions are kept.
    pub store: Arc<dyn Store>,
    /// Which models there are.
    pub models: Arc<dyn Catalogue>,
    /// The model of a session that does not choose another.
    pub model: String,
    /// Where the credential came from: `login`, `env` or `flag`.
    pub key_source: String,
    /// What a session may do.
    pub mode: Mode,
    /// The rules.
    pub policy: Policy,
    /// What ends a turn.
    pub limits: Limits,
    /// The tools.
    pub tools: Toolbox,
    /// Where long outputs are kept.
    pub outputs: PathBuf,
    /// Further folders that the user works in; physical.
    pub additional: Vec<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The name that the program was called by; commands see it.
    pub invoked_as: String,
    /// The time.
    pub clock: Arc<dyn Clock>,
}

/// What ends a turn before the model does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Model calls.
    pub steps: Option<u32>,
    /// Tokens.
    pub tokens: Option<u64>,
    /// Wall time.
    pub time: Option<Duration>,
}

/// Our own agent.
pub struct Engine {
    settings: Arc<EngineSettings>,
}

impl Engine {
    /// An engine that works as told.
    pub fn new(settings: EngineSettings) -> Self {
        Self { settings: Arc::new(settings) }
    }
}

#[async_trait]
impl Agent for Engine {
    fn about(&self) -> &About {
        &self.settings.about
    }

    async fn open(&self, open: Open, host: Arc<dyn Host>) -> Result<Box<dyn Session>, AgentError> {
        let settings = Arc::clone(&self.settings);
        let chat = settings
            .store
            .open(&open.cwd, &open.session)
            .map_err(|error| AgentError::Store(error.to_string()))?;
        let model =
            settings.models.find(&settings.model).map_err(|error| AgentError::Other(error.to_string()))?;
        let memory = Memory { outputs: settings.outputs.clone(), ..Memory::default() };
        Ok(Box::new(EngineSession::new(settings, open, chat, host, model, memory)))
    }

    async fn list(&self, cwd: &Path) -> Result<Vec<SessionSummary>, AgentError> {
        let listed = self.settings.store.list(Which::Of(cwd), MOST_LISTED);
        listed.map_err(|error| AgentError::Store(error.to_string()))
    }
}
