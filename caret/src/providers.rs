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
mod provider;
pub mod sources;

use crate::exit::{Exit, Failure};
use builtin::{BUILT_IN, Place};
use caret_engine::model::http::endpoint::Endpoint;
use caret_engine::model::http::provider::HttpModel;
use caret_engine::model::http::secret::Secret;
use caret_engine::model::http::transport::Transport;
use caret_engine::model::http::{self, Target};
pub use choice::Served;
use keys::{Key, KeyFile, KeySource};
pub use provider::Provider;
pub use sources::Sources;
use std::sync::Arc;

/// The name of the provider that `--endpoint` makes.
pub const ENDPOINT: &str = "endpoint";

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
                price: facts.price.map(Into::into),
                context_window: facts.context.or_else(|| (!provider.needs_key()).then(|| provider.guess().0)),
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

#[cfg(test)]
mod tests;
