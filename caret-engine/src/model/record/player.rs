//! Answers from a cassette, and says how a request differs from those that were recorded.

use super::canonical::{canonical, each_text, homeward};
use super::cassette::{CassetteError, Exchange, Piece, Recorded, VERSION, hash};
use crate::model::price::Price;
use crate::model::{Catalogue, Chunk, Model, ModelError, Request};
use crate::mutex::lock;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use similar::TextDiff;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The longest line that is read.
const LONGEST_LINE: usize = 256 << 20;
/// How many lines of a difference are shown.
const MOST_LINES: usize = 40;

/// A catalogue with one model, which answers from a cassette.
pub struct Player(Arc<PlayedModel>);

struct PlayedModel {
    path: PathBuf,
    recorded: Recorded,
    exchanges: Vec<Exchange>,
    /// Which exchanges were played.
    played: Mutex<Vec<bool>>,
}

impl Player {
    /// Reads a cassette.
    ///
    /// # Errors
    /// Says which line of the file cannot be understood.
    pub fn new(path: &Path) -> Result<Self, CassetteError> {
        let shown = path.display();
        let unreadable = |error| CassetteError(format!("the cassette {shown} cannot be read: {error}"));
        let meta = path.metadata().map_err(unreadable)?;
        if !meta.is_file() {
            return Err(CassetteError(format!("the cassette {shown} is not a regular file")));
        }
        let mut exchanges = Vec::new();
        for (at, line) in BufReader::new(File::open(path).map_err(unreadable)?).split(b'\n').enumerate() {
            let line = line.map_err(unreadable)?;
            if line.trim_ascii().is_empty() {
                continue;
            }
            let wrong = |why: String| CassetteError(format!("{shown}:{}: {why}", at + 1));
            exchanges.push(exchange(&line).map_err(wrong)?);
        }
        let Some(first) = exchanges.first() else {
            let remedy = "record one with --record";
            return Err(CassetteError(format!("the cassette {shown} holds nothing: {remedy}")));
        };
        let recorded = first.model.clone();
        let played = Mutex::new(vec![false; exchanges.len()]);
        Ok(Self(Arc::new(PlayedModel { path: path.to_owned(), recorded, exchanges, played })))
    }

    /// The id of the model that was recorded.
    pub fn model(&self) -> &str {
        &self.0.recorded.id
    }
}

fn exchange(line: &[u8]) -> Result<Exchange, String> {
    if line.len() > LONGEST_LINE {
        return Err(format!("a line has more than {} MiB", LONGEST_LINE >> 20));
    }
    let value: serde_json::Value =
        serde_json::from_slice(line).map_err(|error| format!("this is no line of a cassette: {error}"))?;
    match value["version"].as_u64() {
        Some(VERSION) => {}
        Some(version) => return Err(format!("version {version} is not known; update this program")),
        None => return Err("this is no line of a cassette: it has no `version`".into()),
    }
    serde_json::from_value(value).map_err(|error| format!("this is no line of a cassette: {error}"))
}

impl Catalogue for Player {
    fn find(&self, _id: &str) -> Result<Arc<dyn Model>, ModelError> {
        let model: Arc<dyn Model> = Arc::<PlayedModel>::clone(&self.0);
        Ok(model)
    }
}

impl Model for PlayedModel {
    fn id(&self) -> &str {
        &self.recorded.id
    }

    fn name(&self) -> &str {
        &self.recorded.name
    }

    fn price(&self) -> Option<Price> {
        self.recorded.price
    }

    fn context_window(&self) -> Option<u64> {
        self.recorded.context_window
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> BoxStream<'a, Result<Chunk, ModelError>> {
        let chunks = match self.answer(&request) {
            Ok(pieces) => pieces.into_iter().map(Into::into).collect(),
            Err(error) => vec![Err(error)],
        };
        stream::iter(chunks).boxed()
    }
}

impl PlayedModel {
    fn answer(&self, request: &Request<'_>) -> Result<Vec<Piece>, ModelError> {
        let text = canonical(request)?;
        let wanted = hash(&text);
        let Some(at) = self.take(&wanted) else {
            return Err(ModelError::Refused(self.miss(&text, &wanted)));
        };
        let pieces = serde_json::to_value(&self.exchanges[at].reply)
            .and_then(|reply| serde_json::from_value(each_text(reply, &|text| homeward(text, request))));
        pieces.map_err(|error| ModelError::Refused(format!("exchange {} cannot be played: {error}", at + 1)))
    }

    /// The next exchange with this request that was not played yet.
    fn take(&self, wanted: &str) -> Option<usize> {
        let mut played = lock(&self.played);
        let at = (0..self.exchanges.len()).find(|at| !played[*at] && self.exchanges[*at].hash == wanted)?;
        played[at] = true;
        Some(at)
    }

    /// Says that a request was not recorded, and what the nearest one has instead.
    fn miss(&self, text: &str, wanted: &str) -> String {
        let shown = self.path.display();
        let times = self.exchanges.iter().filter(|exchange| exchange.hash == wanted).count();
        if times > 0 {
            let noun = if times == 1 { "time" } else { "times" };
            return format!(
                "replay_miss: this request was recorded {times} {noun} in {shown} and is asked once more; record again"
            );
        }
        let Some((at, nearest)) =
            self.exchanges.iter().enumerate().max_by_key(|(_, exchange)| likeness(&exchange.request, text))
        else {
            return format!("replay_miss: {shown} holds nothing");
        };
        let number = at + 1;
        let difference = difference(&nearest.request, text);
        format!(
            "replay_miss: this request is not in {shown}; the nearest is exchange {number} (- recorded, + asked now); \
             record again if the change is meant\n{difference}"
        )
    }
}

/// How many lines two texts share, less those that they do not.
fn likeness(recorded: &str, asked: &str) -> i64 {
    let mut lines: HashMap<&str, i64> = HashMap::new();
    for line in recorded.lines() {
        *lines.entry(line).or_default() += 1;
    }
    let (mut shared, mut all) = (0, 0);
    for line in asked.lines() {
        all += 1;
        if let Some(left) = lines.get_mut(line).filter(|left| **left > 0) {
            *left -= 1;
            shared += 1;
        }
    }
    let unused: i64 = lines.values().sum();
    2 * shared - all - unused
}

fn difference(recorded: &str, asked: &str) -> String {
    let diff = TextDiff::from_lines(recorded, asked);
    let whole = diff.unified_diff().context_radius(2).to_string();
    let mut lines: Vec<&str> = whole.lines().collect();
    let more = lines.len().saturating_sub(MOST_LINES);
    lines.truncate(MOST_LINES);
    let mut text = lines.join("\n");
    if more > 0 {
        text.push_str(&format!("\n… {more} more lines"));
    }
    text
}
