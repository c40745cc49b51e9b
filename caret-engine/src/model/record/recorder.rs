//! Writes down what models are asked and what they answer.

use super::canonical::{canonical, each_text, outward};
use super::cassette::{CassetteError, Exchange, Piece, Recorded, VERSION, hash};
use crate::model::price::Price;
use crate::model::{Catalogue, Chunk, Model, ModelError, Request};
use crate::mutex::lock;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// A catalogue whose models are written down.
pub struct Recorder {
    models: Arc<dyn Catalogue>,
    tape: Arc<Tape>,
}

/// The file that is being written.
struct Tape {
    path: PathBuf,
    file: Mutex<File>,
}

impl Recorder {
    /// Writes the exchanges of `models` to a new file, readable for the user only.
    ///
    /// # Errors
    /// When there is anything in the file, or it cannot be written.
    pub fn new(models: Arc<dyn Catalogue>, path: &Path) -> Result<Self, CassetteError> {
        let shown = path.display();
        let unwritable = |error| CassetteError(format!("the cassette {shown} cannot be written: {error}"));
        // A pipe would make the program wait for a reader.
        if path.exists() && !path.is_file() {
            return Err(CassetteError(format!("the cassette {shown} is not a regular file")));
        }
        let file = OpenOptions::new().append(true).create(true).mode(0o600).open(path).map_err(unwritable)?;
        if file.metadata().map_err(unwritable)?.len() > 0 {
            let remedy = "remove it, or choose another name; --record never overwrites";
            return Err(CassetteError(format!("{shown} is there already and not empty: {remedy}")));
        }
        Ok(Self { models, tape: Arc::new(Tape { path: path.to_owned(), file: Mutex::new(file) }) })
    }
}

impl Catalogue for Recorder {
    fn find(&self, id: &str) -> Result<Arc<dyn Model>, ModelError> {
        let model = self.models.find(id)?;
        Ok(Arc::new(RecordedModel { model, tape: Arc::clone(&self.tape) }))
    }
}

/// A model that is written down.
struct RecordedModel {
    model: Arc<dyn Model>,
    tape: Arc<Tape>,
}

impl Model for RecordedModel {
    fn id(&self) -> &str {
        self.model.id()
    }

    fn name(&self) -> &str {
        self.model.name()
    }

    fn price(&self) -> Option<Price> {
        self.model.price()
    }

    fn context_window(&self) -> Option<u64> {
        self.model.context_window()
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> BoxStream<'a, Result<Chunk, ModelError>> {
        let text = match canonical(&request) {
            Ok(text) => text,
            Err(error) => return stream::iter([Err(error)]).boxed(),
        };
        let listening = Listening {
            model: self,
            request,
            text,
            pieces: Vec::new(),
            chunks: self.model.stream(request),
            is_over: false,
        };
        stream::unfold(listening, Listening::next).boxed()
    }
}

/// A reply that is being written down.
struct Listening<'a> {
    model: &'a RecordedModel,
    request: Request<'a>,
    text: String,
    pieces: Vec<Piece>,
    chunks: BoxStream<'a, Result<Chunk, ModelError>>,
    is_over: bool,
}

impl Listening<'_> {
    async fn next(mut self) -> Option<(Result<Chunk, ModelError>, Self)> {
        if self.is_over {
            return None;
        }
        let chunk = self.chunks.next().await?;
        self.pieces.push(Piece::from(&chunk));
        self.is_over = !matches!(chunk, Ok(Chunk::Delta(..)));
        // What could not be written down must not look as if it had been.
        let chunk = if self.is_over { self.write().and(chunk) } else { chunk };
        Some((chunk, self))
    }

    fn write(&mut self) -> Result<(), ModelError> {
        let request = std::mem::take(&mut self.text);
        let exchange = Exchange {
            version: VERSION,
            model: Recorded::of(&*self.model.model),
            hash: hash(&request),
            request,
            reply: std::mem::take(&mut self.pieces),
        };
        let tape = &self.model.tape;
        let lost = |why: String| {
            let shown = tape.path.display();
            ModelError::Store(format!("the cassette {shown} cannot be written: {why}"))
        };
        let mut value = serde_json::to_value(&exchange).map_err(|error| lost(error.to_string()))?;
        let reply = value["reply"].take();
        value["reply"] = each_text(reply, &|text| outward(text, &self.request));
        let line = format!("{value}\n");
        let mut file = lock(&tape.file);
        file.write_all(line.as_bytes()).map_err(|error| lost(error.to_string()))
    }
}
