//! The models that the engine can be given, by the ids that `--model` takes.

use crate::exit::{Exit, Failure};
use crate::models::{self, ModelChoice};
use crate::providers::{Providers, Served, Sources};
use caret_engine::model::http::transport::Transport;
use caret_engine::model::offline::Offline;
use caret_engine::model::scripted::{Scripted, SourceName};
use caret_engine::model::{Catalogue, Model, ModelError};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

/// The largest script that is read.
const LARGEST_SCRIPT: u64 = 16 << 20;

/// The models that can be reached from this machine.
pub struct Models {
    /// What a relative script file is relative to.
    folder: PathBuf,
    sources: Sources,
    /// What the server said about the model of the run, if it was asked.
    seen: Option<Served>,
    /// Made when a model is asked for that is not of this program.
    reach: OnceLock<Result<Reach, (Exit, String)>>,
}

/// The providers, and the one client for all of them.
#[derive(Debug)]
pub struct Reach {
    /// Who serves models.
    pub providers: Providers,
    /// The client; it is made at the first request.
    pub transport: Arc<Transport>,
}

impl Reach {
    /// Finds the providers.
    pub fn new(sources: &Sources) -> Result<Self, Failure> {
        let transport = Arc::new(Transport::new(sources.network()));
        Ok(Self { providers: Providers::new(sources)?, transport })
    }
}

impl Models {
    /// Models whose script files are below `folder` unless they say otherwise.
    pub fn new(folder: PathBuf, sources: Sources) -> Self {
        Self { folder, sources, seen: None, reach: OnceLock::new() }
    }

    /// The same, with what is known about the model of the run.
    pub fn with(mut self, choice: &ModelChoice) -> Self {
        if let ModelChoice::Served(served) = choice {
            self.seen = Some(served.clone());
        }
        self
    }

    /// The providers; found at the first call.
    pub fn reach(&self) -> Result<&Reach, Failure> {
        let reach = self.reach.get_or_init(|| {
            Reach::new(&self.sources).map_err(|failure| match failure {
                Failure::Told { exit, message } => (exit, message),
                Failure::NobodyReads => (Exit::Success, String::new()),
            })
        });
        reach.as_ref().map_err(|(exit, message)| Failure::exact(*exit, message.clone()))
    }

    fn served(&self, id: &str) -> Result<Arc<dyn Model>, Failure> {
        let served = match &self.seen {
            Some(seen) if seen.id() == id => seen.clone(),
            _ => match models::choose(id, &self.sources)? {
                ModelChoice::Served(served) => served,
                ModelChoice::FirstOf { provider, .. } => {
                    let message = format!("name a model of {provider}, as in {provider}/MODEL");
                    return Err(Failure::new(Exit::Usage, message));
                }
                ModelChoice::Listed { .. } | ModelChoice::Script(_) => {
                    return Ok(Arc::new(Offline::default()));
                }
            },
        };
        let reach = self.reach()?;
        Ok(Arc::new(reach.providers.model(&served, &reach.transport)?))
    }

    /// Finds out before a run whether its model can be used.
    pub fn check(&self, choice: &ModelChoice) -> Result<(), Failure> {
        self.find(&choice.id()).map(|_| ()).map_err(|error| Failure::new(Exit::Usage, error))
    }

    /// Reads the text of a script.
    pub fn script_text(&self, file: &str) -> Result<String, String> {
        let path = self.folder.join(file);
        let shown = path.display();
        let size =
            path.metadata().map_err(|error| format!("the script {shown} cannot be read: {error}"))?.len();
        if size > LARGEST_SCRIPT {
            return Err(format!("the script {shown} is larger than {LARGEST_SCRIPT} bytes"));
        }
        std::fs::read_to_string(&path).map_err(|error| format!("the script {shown} cannot be read: {error}"))
    }

    /// Reads a script.
    pub fn script(&self, file: &str) -> Result<Scripted, String> {
        let text = self.script_text(file)?;
        Scripted::from_text(&text, SourceName::new(file)).map_err(|error| error.to_string())
    }
}

impl Catalogue for Models {
    fn find(&self, id: &str) -> Result<Arc<dyn Model>, ModelError> {
        match id.strip_prefix("script:") {
            Some(file) => Ok(Arc::new(self.script(file).map_err(ModelError::Refused)?)),
            None if id == crate::models::DEFAULT => Ok(Arc::new(Offline::default())),
            None => self.served(id).map_err(|failure| match failure {
                Failure::Told { message, .. } => {
                    ModelError::Refused(message.strip_prefix("error: ").unwrap_or(&message).to_owned())
                }
                Failure::NobodyReads => ModelError::Refused("nobody reads the output".to_owned()),
            }),
        }
    }
}
