//! What is known about models: windows, output caps, prices, abilities.
//!
//! `facts.json` is a snapshot with a date; what the user's configuration or a server says stands above it.
//! It is parsed at the first question and never for a run on the offline model. What nobody knows is absent,
//! never a made-up number.

use caret_engine::model::http::models::ServerModel;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// What is known about one model.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Facts {
    /// The id that the server takes.
    pub id: String,
    /// The name that people read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The window, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<u64>,
    /// The most tokens of one answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    /// Whether it takes pictures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub images: Option<bool>,
    /// Whether thinking can be asked for in the way that its wire format has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<bool>,
    /// The values of `effort`; empty when they are not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub efforts: Vec<String>,
    /// What it costs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Price {
    /// What is sent.
    pub input: f64,
    /// What comes back.
    pub output: f64,
    /// What is sent and was remembered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_read: Option<f64>,
    /// What is sent to be remembered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<f64>,
}

impl From<Price> for caret_engine::model::price::Price {
    fn from(price: Price) -> Self {
        let Price { input, output, cache_read, cache_write } = price;
        Self { input, output, cache_read, cache_write }
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Snapshot {
    /// When it was true.
    date: String,
    models: BTreeMap<String, Vec<Facts>>,
}

static SNAPSHOT: OnceLock<Snapshot> = OnceLock::new();

fn snapshot() -> &'static Snapshot {
    // The file is part of the program and a test reads it: it cannot be broken.
    SNAPSHOT.get_or_init(|| serde_json::from_str(include_str!("facts.json")).unwrap_or_default())
}

/// The models of a built-in provider that the snapshot knows.
pub fn of(provider: &str) -> &'static [Facts] {
    snapshot().models.get(provider).map_or(&[], Vec::as_slice)
}

impl Facts {
    /// These facts, with what they leave open taken from `lower`.
    pub fn over(mut self, lower: &Self) -> Self {
        self.name = self.name.or_else(|| lower.name.clone());
        self.context = self.context.or(lower.context);
        self.max_output = self.max_output.or(lower.max_output);
        self.images = self.images.or(lower.images);
        self.thinking = self.thinking.or(lower.thinking);
        self.price = self.price.or(lower.price);
        if self.efforts.is_empty() {
            self.efforts.clone_from(&lower.efforts);
        }
        self
    }
}

impl From<&ServerModel> for Facts {
    fn from(model: &ServerModel) -> Self {
        Self {
            id: model.id.clone(),
            name: model.name.clone(),
            context: model.context,
            max_output: model.max_output,
            images: model.images,
            // That a model can think does not say that it is asked for it in the way that we ask.
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_snapshot_can_be_read_and_has_a_date() {
        let read: Snapshot = serde_json::from_str(include_str!("facts.json")).unwrap();
        assert_eq!(read.date.len(), 10);
        assert!(read.models.values().flatten().all(|model| !model.id.is_empty() && model.name.is_some()));
        let sane = |price: &Price| price.input > 0.0 && price.output >= price.input;
        assert!(read.models.values().flatten().filter_map(|model| model.price.as_ref()).all(sane));
        let known: Vec<&str> = super::super::builtin::BUILT_IN.iter().map(|provider| provider.name).collect();
        assert!(read.models.keys().all(|provider| known.contains(&provider.as_str())));
    }

    #[test]
    fn what_stands_above_wins_and_what_it_leaves_open_comes_from_below() {
        let upper = Facts { id: "m".into(), context: Some(9), ..Facts::default() };
        let lower = Facts {
            id: "m".into(),
            context: Some(5),
            max_output: Some(3),
            efforts: vec!["low".into()],
            ..Facts::default()
        };
        let expected = Facts {
            id: "m".into(),
            context: Some(9),
            max_output: Some(3),
            efforts: vec!["low".into()],
            ..Facts::default()
        };
        assert_eq!(upper.over(&lower), expected);
    }
}
