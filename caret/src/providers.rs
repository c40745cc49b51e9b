//! Who serves models over HTTP, with which key, and what is known about each model.
//!
//! Built-in providers need nothing but a key; others are described in the user's configuration, never in a
//! project's: a repository must not decide where requests and keys go. Facts about a model come from the
//! user's configuration, then from its server, then from the snapshot, then from a safe guess.
//!
//! Invariants: nothing here is made for a run on the offline model; no key leaves through a message; no
//! network is used but in `listing`.

pub mod builtin;
pub mod choice;
mod configured;
pub mod facts;
pub mod keys;
pub mod listing;
pub mod sources;

use crate::exit::{Exit, Failure};
use builtin::{BUILT_IN, BuiltIn, Place};
use caret_engine::model::http::endpoint::{Api, Endpoint};
use caret_engine::model::http::models::Listing;
use caret_engine::model::http::provider::HttpModel;
use caret_engine::model::http::secret::Secret;
use caret_engine::model::http::transport::Transport;
use caret_engine::model::http::{self, Target};
pub use choice::Served;
use configured::Configured;
use facts::Facts;
use keys::{Key, KeyFile, KeySource};
use serde_json::{Map, Value};
pub use sources::Sources;
use std::sync::Arc;

/// The name of the provider that `--endpoint` makes.
pub const ENDPOINT: &str = "endpoint";

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
    headers: Vec<(String, String)>,
    models: Vec<Facts>,
    extra_body: Map<String, Value>,
}

/// All providers of a run.
#[derive(Clone, Debug)]
pub struct Providers {
    all: Vec<Provider>,
    /// The key that was given for this run, whoever serves it.
    run_key: Option<Key>,
    /// Headers that were given for this run.
    run_headers: Vec<(String, String)>,
}

/// What a request is for: a key that was given for the run goes to nobody but the run's provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The provider is the one of this run.
    Run,
    /// It is only looked at.
    Look,
}

impl Providers {
    /// Finds all providers and their keys.
    pub fn new(sources: &Sources) -> Result<Self, Failure> {
        let configured = sources.configured.as_ref().map(configured::parse).transpose()?.unwrap_or_default();
        let key_file = sources.key_file.as_deref().map(KeyFile::read).transpose()?.unwrap_or_default();
        let mut all: Vec<Provider> = BUILT_IN.iter().map(Provider::built_in).collect();
        for (name, configured) in configured {
            match all.iter_mut().find(|provider| provider.name == name) {
                Some(provider) => provider.change(configured),
                None => all.push(Provider::configured(&name, configured)?),
            }
        }
        let variable = |name: &str| {
            let secret = Secret::new(sources.environment.text(name)?);
            Some(Key { secret, source: KeySource::Variable(name.to_owned()) })
        };
        for provider in &mut all {
            let from_variables = provider.variables.iter().find_map(|name| variable(name));
            provider.key = from_variables.or(provider.key.take()).or_else(|| key_file.get(&provider.name));
        }
        let flag = sources.flag.clone().map(|(secret, name)| Key { secret, source: KeySource::Flag(name) });
        let run_key = flag.or_else(|| variable("CURSOR_API_KEY")).or_else(|| variable("CURSOR_AUTH_TOKEN"));
        if let Some(base) = &sources.endpoint {
            let provider = Provider::ad_hoc(base, sources.api.as_deref(), &all)?;
            all.push(provider);
        }
        let run_headers =
            sources.headers.iter().map(|header| parse_header(header)).collect::<Result<_, _>>()?;
        Ok(Self { all, run_key, run_headers })
    }

    /// All of them; `--endpoint`'s last.
    pub fn all(&self) -> &[Provider] {
        &self.all
    }

    /// A provider by its name.
    pub fn get(&self, name: &str) -> Option<&Provider> {
        self.all.iter().find(|provider| provider.name == name)
    }

    /// The key that is sent: a flag's, then the provider's own variable, then the variable for any provider,
    /// then what was kept. Only a flag's key goes to a local server.
    pub fn key(&self, provider: &Provider, purpose: Purpose) -> Option<Key> {
        let own = provider.key.clone();
        let given = self.run_key.clone().filter(|_| purpose == Purpose::Run);
        let Some(given) = given else { return own };
        match (&given.source, own.as_ref().map(|own| &own.source)) {
            (KeySource::Flag(_), _) => Some(given),
            (_, Some(KeySource::Variable(_))) => own,
            _ if provider.place == Place::Local && provider.name != ENDPOINT => own,
            _ => Some(given),
        }
    }

    /// Where requests to a provider go.
    pub fn endpoint(&self, provider: &Provider, purpose: Purpose) -> Endpoint {
        let mut endpoint = Endpoint::new(provider.api(), Some(&provider.base));
        let key = self.key(provider, purpose);
        endpoint.key_source = match &key {
            Some(key) => key.source.to_string(),
            None => provider.wanted_key(),
        };
        endpoint.key = key.map(|key| key.secret);
        endpoint.headers.extend(provider.headers.iter().cloned());
        if purpose == Purpose::Run {
            endpoint.headers.extend(self.run_headers.iter().cloned());
        }
        endpoint
    }

    /// A model that can be asked.
    pub fn model(&self, served: &Served, transport: &Arc<Transport>) -> Result<HttpModel, Failure> {
        let provider = self.get(&served.provider).ok_or_else(|| unknown_provider(&served.provider))?;
        let facts = provider.facts(&served.model, served.seen.as_ref());
        let (_, guessed) = provider.guess();
        let family = http::family(&provider.family)
            .ok_or_else(|| Failure::new(Exit::Fault, format!("no wire format '{}'", provider.family)))?;
        Ok(HttpModel {
            id: served.id(),
            name: facts.name.clone().unwrap_or_else(|| served.model.clone()),
            family: Arc::from(family),
            endpoint: self.endpoint(provider, Purpose::Run),
            target: Target {
                model: served.model.clone(),
                max_output: facts.max_output.unwrap_or(guessed),
                effort: served.parameter("effort").map(str::to_owned),
                images: facts.images.unwrap_or(false),
                thinking: match served.parameter("thinking") {
                    Some(value) => value == "true",
                    None => facts.thinking.unwrap_or(false),
                },
                extra_body: provider.extra_body.clone(),
            },
            transport: Arc::clone(transport),
        })
    }
}

impl Provider {
    fn built_in(known: &BuiltIn) -> Self {
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

    fn configured(name: &str, configured: Configured) -> Result<Self, Failure> {
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

    fn change(&mut self, configured: Configured) {
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
    fn ad_hoc(base: &str, api: Option<&str>, all: &[Self]) -> Result<Self, Failure> {
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
                    format!("option '--api' is one of {names}, not '{api}'"),
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

/// The failure of a name that no provider has.
pub fn unknown_provider(name: &str) -> Failure {
    let names: Vec<&str> = BUILT_IN.iter().map(|provider| provider.name).collect();
    let hint = crate::near::did_you_mean(name, names.iter().copied());
    let name = crate::output::harmless(name);
    Failure::new(Exit::Usage, format!("there is no provider '{name}'; there are {}{hint}", names.join(", ")))
}

fn parse_header(text: &str) -> Result<(String, String), Failure> {
    match text.split_once(':') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        // What was given may be a key and is not shown.
        _ => Err(Failure::new(Exit::Usage, "option '--header' needs the form 'Name: Value'")),
    }
}

/// The host of an address, without user and port.
fn host(address: &str) -> &str {
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

#[cfg(test)]
mod tests;
