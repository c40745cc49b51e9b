//! One provider: built in, described by the user, or made from `--endpoint`; and what it knows of its models.

use super::ENDPOINT;
use super::builtin::{BuiltIn, Place};
use super::configured::Configured;
use super::facts::{self, Facts};
use super::keys::{Key, KeySource};
use crate::exit::{Exit, Failure};
use caret_engine::model::http;
use caret_engine::model::http::endpoint::Api;
use caret_engine::model::http::models::Listing;
use caret_engine::model::http::secret::Secret;
use serde_json::{Map, Value};

/// Guessed for a model that nobody knows: window and output cap.
const GUESS: (u64, u64) = (32_768, 4_096);
/// The same for a server of the user's own.
const LOCAL_GUESS: (u64, u64) = (8_192, 1_024);

/// Who serves models.
#[derive(Clone, Debug)]
pub struct Provider {
    /// What stands before the slash of a model's id.
    pub name: String,
    /// The name that people read.
    pub title: String,
    /// The wire format, as the engine names it.
    pub family: String,
    /// The base address.
    pub base: String,
    /// The variables that may hold its key.
    pub variables: Vec<String>,
    /// Its own key.
    pub key: Option<Key>,
    /// Where its server is.
    pub place: Place,
    /// Whether the user said something about it.
    pub is_configured: bool,
    /// Sent with every request.
    pub headers: Vec<(String, String)>,
    /// The models that the user describes.
    pub models: Vec<Facts>,
    /// Merged into every request's body.
    pub extra_body: Map<String, Value>,
}

impl Provider {
    /// A built-in provider as it is without configuration.
    pub fn built_in(known: &BuiltIn) -> Self {
        Self {
            name: known.name.to_owned(),
            title: known.title.to_owned(),
            family: known.family.to_owned(),
            base: known.base.to_owned(),
            variables: known.variables.iter().map(|name| (*name).to_owned()).collect(),
            key: None,
            place: known.place,
            is_configured: false,
            headers: Vec::new(),
            models: Vec::new(),
            extra_body: Map::new(),
        }
    }

    /// A provider that only the user knows.
    pub fn configured(name: &str, configured: Configured) -> Result<Self, Failure> {
        let Some(base) = configured.base_url.clone() else {
            let message = format!("'providers.{name}' in cli-config.json needs a 'baseUrl'");
            return Err(Failure::new(Exit::Configuration, message));
        };
        let place = place_of(&base);
        let known = BuiltIn { name: "", title: "", family: "chat", base: "", variables: &[], place };
        let mut provider = Self::built_in(&known);
        name.clone_into(&mut provider.name);
        name.clone_into(&mut provider.title);
        provider.change(configured);
        Ok(provider)
    }

    /// Takes over what the user says.
    pub fn change(&mut self, configured: Configured) {
        self.is_configured = true;
        if let Some(base) = configured.base_url {
            self.place = place_of(&base);
            self.base = base;
        }
        if let Some(title) = configured.name {
            self.title = title;
        }
        if let Some(family) = configured.api {
            self.family = family;
        }
        if let Some(variable) = configured.key_variable {
            self.variables = vec![variable];
        }
        if let Some(key) = configured.key.filter(|key| !key.trim().is_empty()) {
            self.key = Some(Key { secret: Secret::new(key), source: KeySource::Configuration });
        }
        let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        self.headers = configured.headers.into_iter().map(|(name, value)| (name, text(value))).collect();
        self.models = configured.models;
        self.extra_body = configured.extra_body;
    }

    /// The provider of `--endpoint`: the manners of a built-in one on the same host, else plain chat.
    pub fn ad_hoc(base: &str, api: Option<&str>, all: &[Self]) -> Result<Self, Failure> {
        let alike = all.iter().find(|known| known.place == Place::Remote && host(&known.base) == host(base));
        let place = place_of(base);
        let known =
            BuiltIn { name: ENDPOINT, title: "--endpoint", family: "chat", base: "", variables: &[], place };
        let mut provider = alike.cloned().unwrap_or_else(|| Self::built_in(&known));
        provider.models = provider.known();
        ENDPOINT.clone_into(&mut provider.name);
        base.trim().clone_into(&mut provider.base);
        provider.is_configured = true;
        if let Some(api) = api {
            if http::family(api).is_none() {
                let names = http::FAMILIES.join(", ");
                let api = crate::output::harmless(api);
                return Err(Failure::new(
                    Exit::Usage,
                    format!("option '--endpoint-api' is one of {names}, not '{api}'"),
                ));
            }
            api.clone_into(&mut provider.family);
        }
        Ok(provider)
    }

    /// The wire format without its dialect.
    pub fn api(&self) -> Api {
        let name = self.family.split('-').next().unwrap_or_default();
        Api::from_name(name).unwrap_or(Api::Chat)
    }

    /// How its server lists its models.
    pub fn listing(&self) -> Listing {
        match self.name.as_str() {
            "ollama" => Listing::Ollama,
            _ => self.api().into(),
        }
    }

    /// The models that are known without asking: the user's, then the snapshot's.
    pub fn known(&self) -> Vec<Facts> {
        let mut known: Vec<Facts> = self.models.iter().map(|model| self.facts(&model.id, None)).collect();
        for model in facts::of(&self.name) {
            if !known.iter().any(|other| other.id == model.id) {
                known.push(model.clone());
            }
        }
        known
    }

    /// What is known about a model, from the user down to the snapshot.
    pub fn facts(&self, model: &str, seen: Option<&Facts>) -> Facts {
        let nothing = Facts { id: model.to_owned(), ..Facts::default() };
        let of = |list: &[Facts]| list.iter().find(|facts| facts.id == model).cloned();
        let snapshot = of(facts::of(&self.name)).unwrap_or_else(|| nothing.clone());
        let seen = seen.cloned().unwrap_or_else(|| nothing.clone());
        of(&self.models).unwrap_or(nothing).over(&seen).over(&snapshot)
    }

    /// The safe guess: window and output cap.
    pub fn guess(&self) -> (u64, u64) {
        match self.place {
            Place::Remote => GUESS,
            Place::Local => LOCAL_GUESS,
        }
    }

    /// The variable that a missing key should be put into.
    pub fn wanted_key(&self) -> String {
        self.variables.first().map_or_else(|| "CURSOR_API_KEY or --api-key".to_owned(), Clone::clone)
    }

    /// Whether it can be asked nothing without a key.
    pub fn needs_key(&self) -> bool {
        self.place == Place::Remote
            && self.name != ENDPOINT
            && !(self.is_configured && self.variables.is_empty())
    }
}

/// The host of an address, without user and port.
pub fn host(address: &str) -> &str {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    match host.strip_prefix('[') {
        Some(inner) => inner.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    }
}

/// A server on this machine is the user's own.
fn place_of(base: &str) -> Place {
    let host = host(base.trim());
    let loops = host
        .parse::<std::net::IpAddr>()
        .is_ok_and(|address| address.is_loopback() || address.is_unspecified());
    if loops || host == "localhost" || host.ends_with(".localhost") { Place::Local } else { Place::Remote }
}
