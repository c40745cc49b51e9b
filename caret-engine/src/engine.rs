//! Our own agent, as an [`Agent`].

use crate::clock::Clock;
use crate::model::{Catalogue, Model};
use crate::permission::Policy;
use crate::session::EngineSession;
use crate::store::{Store, Which};
use crate::tools::{Memory, Profile, Toolbox};
use async_trait::async_trait;
use caret_protocol::agent::{About, Agent, AgentError, Host, Open, Session, SessionSummary};
use caret_protocol::event::{EndReason, Limit, Mode};
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
    /// How much the model is told about them and its work.
    pub profile: ProfileChoice,
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
    /// US dollars, for all turns of a session in this process.
    pub cost: Option<f64>,
}

impl Limits {
    /// The limit that keeps a model from being called once more, after so many calls, tokens and dollars.
    pub(crate) fn reached(&self, steps: u32, tokens: u64, cost: f64) -> Option<EndReason> {
        let (limit, message) = if self.steps.is_some_and(|most| steps >= most) {
            (Limit::Turns, format!("reached the limit of {steps} model calls (--max-turns)"))
        } else if self.tokens.is_some_and(|most| tokens >= most) {
            (Limit::Tokens, format!("reached the token limit: {tokens} used (--max-tokens)"))
        } else if self.cost.is_some_and(|most| cost >= most) {
            (Limit::Cost, format!("reached the cost limit: ${cost:.4} spent (--max-cost)"))
        } else {
            return None;
        };
        Some(EndReason::Limit { limit, message })
    }
}

/// How much a model is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProfileChoice {
    /// Little when it says that its context is small.
    #[default]
    ByModel,
    /// Always this.
    Always(Profile),
}

/// A context of at most so many tokens is small.
const SMALL_CONTEXT: u64 = 16_384;

impl ProfileChoice {
    pub(crate) fn of(self, model: &dyn Model) -> Profile {
        match self {
            Self::Always(profile) => profile,
            Self::ByModel if model.context_window().is_some_and(|window| window <= SMALL_CONTEXT) => {
                Profile::Tiny
            }
            Self::ByModel => Profile::Full,
        }
    }
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
