//! A model behind HTTP: one family at one endpoint.
//!
//! It sends the family's body, reads the answer's events through the family's reader and watches over the
//! silence in between. Trying again is the turn loop's work; here every fault becomes one error that says
//! whether that may help.
//!
//! Invariants: dropping the stream closes the connection; an answer that was cut never yields `Done`; nothing
//! is connected before the stream is polled.

use super::endpoint::{Api, Endpoint, Patience, shown};
use super::site::Site;
use super::sse::{EventReader, LARGEST_EVENT, StreamEvent, TooLarge};
use super::transport::Transport;
use super::{Family, Reader, Target, errors, estimate};
use crate::model::price::Price;
use crate::model::{Chunk, Model, ModelError, Request};
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use reqwest::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use reqwest::{Response, Url};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::time::{Instant, timeout_at};

/// How much of a body that is no stream is read.
const MOST_BODY: usize = 64 << 10;
/// How long such a body is waited for.
const BODY_PATIENCE: Duration = Duration::from_secs(10);

/// A model behind HTTP.
pub struct HttpModel {
    /// The id that `--model` takes.
    pub id: String,
    /// The name that people read.
    pub name: String,
    /// The wire format.
    pub family: Arc<dyn Family>,
    /// Where the model is.
    pub endpoint: Endpoint,
    /// What the format is told about it.
    pub target: Target,
    /// The client, shared by all models of the process.
    pub transport: Arc<Transport>,
}

impl Model for HttpModel {
    fn id(&self) -> &str {
        &self.id
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn price(&self) -> Option<Price> {
        self.target.price
    }

    fn context_window(&self) -> Option<u64> {
        self.target.context_window
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> BoxStream<'a, Result<Chunk, ModelError>> {
        stream::try_unfold(Progress::Asking(self, request), next_chunk).boxed()
    }
}

/// How far a stream has come.
enum Progress<'a> {
    Asking(&'a HttpModel, Request<'a>),
    Answering(Box<Answer>),
}

/// An answer that is being read.
struct Answer {
    site: Site,
    response: Response,
    content_type: String,
    events: EventReader,
    /// Gone when the answer is whole.
    reader: Option<Box<dyn Reader>>,
    ready: VecDeque<Chunk>,
    /// What went wrong after the chunks that are ready.
    failed: Option<ModelError>,
    patience: Patience,
    deadline: Instant,
    seen: u64,
    /// How long the request was.
    request_bytes: u64,
}

async fn next_chunk(mut progress: Progress<'_>) -> Result<Option<(Chunk, Progress<'_>)>, ModelError> {
    loop {
        match progress {
            Progress::Asking(model, request) => {
                progress = Progress::Answering(Box::new(model.ask(&request).await?));
            }
            Progress::Answering(mut answer) => {
                if let Some(chunk) = answer.ready.pop_front() {
                    return Ok(Some((chunk, Progress::Answering(answer))));
                }
                if let Some(error) = answer.failed.take() {
                    return Err(error);
                }
                if answer.reader.is_none() {
                    return Ok(None);
                }
                // What came before a fault is given out first, however the bytes were split.
                answer.failed = answer.read().await.err();
                progress = Progress::Answering(answer);
            }
        }
    }
}

impl HttpModel {
    /// Sends the request and waits until the server begins to answer.
    async fn ask(&self, request: &Request<'_>) -> Result<Answer, ModelError> {
        let deadline = Instant::now() + self.endpoint.patience.first;
        let body = self.family.body(&self.target, request)?;
        let body = serde_json::to_vec(&body).map_err(|error| {
            ModelError::Refused(format!("the request cannot be written as JSON: {error}"))
        })?;
        let api = Api::from_name(self.family.name()).unwrap_or(Api::Chat);
        let url = self.endpoint.url(api, &self.family.path(&self.target)).map_err(ModelError::Refused)?;
        let site = site(&self.transport, &self.endpoint, &url, &self.target.model);
        let request_bytes = body.len() as u64;
        let mut headers = self.endpoint.header_map().map_err(ModelError::Refused)?;
        headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
        headers.entry(ACCEPT).or_insert(HeaderValue::from_static("text/event-stream"));
        let sending = self.transport.client()?.post(url).headers(headers).body(body).send();
        let response = match timeout_at(deadline, sending).await {
            Ok(sent) => sent.map_err(|error| errors::from_connection(&site, &error))?,
            Err(_) => return Err(silent(&site, self.endpoint.patience.first)),
        };
        let content_type = header(&response, CONTENT_TYPE);
        let packing = header(&response, CONTENT_ENCODING);
        if !response.status().is_success() {
            return Err(refused(&site, response).await);
        }
        let is_packed = !matches!(packing.as_str(), "" | "identity");
        if is_packed || content_type.contains("html") {
            let what = if is_packed { format!("{packing} data that nobody asked for") } else { content_type };
            let body = start_of(response).await;
            return Err(errors::not_a_stream(&site, &what, &body));
        }
        Ok(Answer {
            site,
            response,
            content_type,
            events: EventReader::default(),
            reader: Some(self.family.reader(&self.target, request)),
            ready: VecDeque::new(),
            failed: None,
            patience: self.endpoint.patience,
            deadline,
            seen: 0,
            request_bytes,
        })
    }
}

impl Answer {
    /// Reads the next piece of the answer.
    async fn read(&mut self) -> Result<(), ModelError> {
        let begun = self.events.payload() > 0;
        let mut complete = Vec::new();
        match timeout_at(self.deadline, self.response.chunk()).await {
            Err(_) if begun => Err(silent(&self.site, self.patience.idle)),
            Err(_) => Err(silent(&self.site, self.patience.first)),
            Ok(Err(error)) => Err(self.broke(&error)),
            Ok(Ok(Some(bytes))) => {
                let before = self.events.payload();
                self.events.push(&bytes, &mut complete).map_err(|TooLarge| self.too_large())?;
                if self.events.payload() > before {
                    self.deadline = Instant::now() + self.patience.idle;
                }
                self.take(complete)
            }
            Ok(Ok(None)) => {
                self.events.finish(&mut complete).map_err(|TooLarge| self.too_large())?;
                self.take(complete)?;
                self.end()
            }
        }
    }

    /// Gives events to the reader until it has the whole answer.
    fn take(&mut self, events: Vec<StreamEvent>) -> Result<(), ModelError> {
        for StreamEvent { name, data } in events {
            let Some(reader) = &mut self.reader else { return Ok(()) };
            self.seen += 1;
            let chunks = reader.event(&name, &data).map_err(|error| errors::placed(&self.site, error))?;
            // A reader that gives the whole reply itself has nothing left to finish.
            let is_whole = chunks.iter().any(|chunk| matches!(chunk, Chunk::Done(_)));
            let is_done = reader.is_done();
            self.ready.extend(chunks.into_iter().map(|chunk| match chunk {
                Chunk::Done(reply) => Chunk::Done(estimate::counted(reply, self.request_bytes)),
                other => other,
            }));
            if is_whole {
                self.reader = None;
            } else if is_done {
                self.whole()?;
            }
        }
        Ok(())
    }

    /// The bytes have ended.
    fn end(&mut self) -> Result<(), ModelError> {
        match self.whole() {
            Err(ModelError::Broken(why)) => Err(self.cut_by_end(&why)),
            other => other,
        }
    }

    fn whole(&mut self) -> Result<(), ModelError> {
        if let Some(reader) = self.reader.take() {
            let reply = reader.finish().map_err(|error| errors::placed(&self.site, error))?;
            self.ready.push_back(Chunk::Done(estimate::counted(reply, self.request_bytes)));
        }
        Ok(())
    }

    /// What it was that ended without a whole answer.
    fn cut_by_end(&self, why: &str) -> ModelError {
        let stray = self.events.stray();
        if let Some(error) = errors::from_body(&self.site, stray) {
            return error;
        }
        let unfinished = self.events.unfinished();
        match (self.seen, stray.trim().is_empty()) {
            (_, true) if !unfinished.is_empty() => {
                errors::cut(&self.site, "cut its answer short", unfinished)
            }
            (0, false) => errors::not_a_stream(&self.site, &self.content_type, stray.as_bytes()),
            (0, true) => errors::cut(&self.site, "ended its answer before it began", ""),
            (_, false) => errors::cut(&self.site, "cut its answer short", stray),
            (_, true) => ModelError::Broken(why.to_owned()),
        }
    }

    /// The connection broke in the middle.
    fn broke(&self, error: &reqwest::Error) -> ModelError {
        if let Some(error) = errors::from_body(&self.site, self.events.stray()) {
            return error;
        }
        let cause = errors::innermost(error);
        let when = if self.seen == 0 { "before the answer began" } else { "in the middle of the answer" };
        let cause = self.site.harmless(&cause);
        errors::cut(&self.site, &format!("closed the connection {when} ({cause})"), self.events.stray())
    }

    fn too_large(&self) -> ModelError {
        let most = LARGEST_EVENT >> 20;
        let site = self.site.through();
        ModelError::Refused(format!("{site} sent an event of more than {most} MiB; check the base address"))
    }
}

/// What is known about a request for its messages.
pub(crate) fn site(transport: &Transport, endpoint: &Endpoint, url: &Url, model: &str) -> Site {
    Site {
        address: shown(url.as_str()),
        proxy: transport.proxy_for(url),
        key_source: endpoint.key_source.clone(),
        has_key: endpoint.key.is_some(),
        model: model.to_owned(),
        hidden: endpoint.secrets(),
    }
}

/// The error for an answer whose status says that there is none.
pub(crate) async fn refused(site: &Site, response: Response) -> ModelError {
    let (status, headers) = (response.status(), response.headers().clone());
    let body = start_of(response).await;
    errors::from_answer(site, status, &headers, &body, SystemTime::now())
}

/// The first bytes of a body; as many as come before it breaks or takes too long.
async fn start_of(mut response: Response) -> Vec<u8> {
    let deadline = Instant::now() + BODY_PATIENCE;
    let mut body = Vec::new();
    while let Ok(Ok(Some(bytes))) = timeout_at(deadline, response.chunk()).await {
        body.extend_from_slice(&bytes);
        if body.len() > MOST_BODY {
            body.truncate(MOST_BODY);
            break;
        }
    }
    body
}

fn silent(site: &Site, time: Duration) -> ModelError {
    let time = time.as_secs_f32();
    errors::cut(
        site,
        &format!("sent nothing of its answer for {time} s; check the network and the server"),
        "",
    )
}

fn header(response: &Response, name: reqwest::header::HeaderName) -> String {
    let value = response.headers().get(name).and_then(|value| value.to_str().ok());
    value.unwrap_or_default().trim().to_ascii_lowercase()
}
