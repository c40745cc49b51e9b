//! The models that the engine can be given, by the ids that `--model` takes.

use crate::exit::{Exit, Failure};
use crate::models::ModelChoice;
use caret_engine::model::offline::Offline;
use caret_engine::model::scripted::{Scripted, SourceName};
use caret_engine::model::{Catalogue, Model, ModelError};
use std::path::PathBuf;
use std::sync::Arc;

/// The largest script that is read.
const LARGEST_SCRIPT: u64 = 16 << 20;

/// The models of this machine.
pub struct Models {
    /// What a relative script file is relative to.
    folder: PathBuf,
}

impl Models {
    /// Models whose script files are below `folder` unless they say otherwise.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
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
            None => Err(ModelError::Refused(format!("there is no model `{id}`"))),
        }
    }
}
