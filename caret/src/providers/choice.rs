//! From what was typed to a model of a provider, without any network.
//!
//! `provider/model` names both. A bare id is taken when exactly one provider knows it, or when exactly one of
//! those that know it has a key. With `--endpoint` every id is one of that server. `auto` is the first
//! built-in provider with a key in the order of `BUILT_IN`, then the first configured provider with a key, then
//! the first configured server that needs none, each with the first model that is known of it; else it is the
//! offline model.

use super::builtin::Place;
use super::facts::Facts;
use super::{ENDPOINT, Provider, Providers, Purpose};
use crate::exit::{Exit, Failure};
use crate::near;

/// The id of the model that needs nobody.
pub const OFFLINE: &str = "offline";
/// How many models a message names.
const MOST_NAMED: usize = 40;
/// The parameters that a model's id may carry.
pub const PARAMETERS: [&str; 3] = ["effort", "thinking", "fast"];

/// A model of a provider, as it was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Served {
    /// The provider's name.
    pub provider: String,
    /// The id that the server takes.
    pub model: String,
    /// What stood in brackets.
    pub parameters: Vec<(String, String)>,
    /// What the server said about the model, if it was asked.
    pub seen: Option<Facts>,
}

/// What `auto` means here.
#[derive(Clone, Debug, PartialEq)]
pub enum Auto {
    /// This model.
    Model(Box<Served>),
    /// The first model that this provider lists.
    FirstOf(String),
    /// Nobody can be asked.
    Offline,
}

impl Served {
    /// The id that `--model` takes.
    pub fn id(&self) -> String {
        let parameters: Vec<String> =
            self.parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let brackets =
            if parameters.is_empty() { String::new() } else { format!("[{}]", parameters.join(",")) };
        match self.provider.as_str() {
            ENDPOINT => format!("{}{brackets}", self.model),
            provider => format!("{provider}/{}{brackets}", self.model),
        }
    }

    /// A parameter's value.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.iter().rev().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl Providers {
    /// Understands an id without its brackets; they come as `parameters`.
    pub fn choose(&self, id: &str, parameters: Vec<(String, String)>) -> Result<Served, Failure> {
        let (provider, model) = self.locate(id)?;
        let facts = provider.facts(model, None);
        check(id, &facts, &parameters)?;
        Ok(Served { provider: provider.name.clone(), model: model.to_owned(), parameters, seen: None })
    }

    fn locate<'a>(&'a self, id: &'a str) -> Result<(&'a Provider, &'a str), Failure> {
        if id.trim().is_empty() {
            return Err(self.cannot_use(id));
        }
        if let Some(endpoint) = self.get(ENDPOINT) {
            return Ok((endpoint, id));
        }
        if let Some((name, model)) = id.split_once('/')
            && let Some(provider) = self.get(name)
            && !model.is_empty()
        {
            return Ok((provider, model));
        }
        let knowing: Vec<&Provider> = self
            .all()
            .iter()
            .filter(|provider| provider.known().iter().any(|facts| facts.id == id))
            .collect();
        let reachable: Vec<&Provider> =
            knowing.iter().copied().filter(|provider| self.is_reachable(provider)).collect();
        match (knowing.as_slice(), reachable.as_slice()) {
            (_, [one]) | ([one], _) => Ok((one, id)),
            ([], _) => Err(self.cannot_use(id)),
            (several, _) => {
                let ids: Vec<String> =
                    several.iter().map(|provider| format!("{}/{id}", provider.name)).collect();
                let id = crate::output::harmless(id);
                let message =
                    format!("several providers have the model '{id}'; name one of {}", ids.join(", "));
                Err(Failure::new(Exit::Usage, message))
            }
        }
    }

    /// Whether a provider has what it needs to be asked.
    pub fn is_reachable(&self, provider: &Provider) -> bool {
        !provider.needs_key() || self.key(provider, Purpose::Run).is_some()
    }

    /// What `auto` means here; the rule is at the top of this file.
    pub fn auto(&self, parameters: &[(String, String)]) -> Auto {
        let first = |provider: &Provider| match provider.known().first() {
            Some(facts) => Auto::Model(Box::new(Served {
                provider: provider.name.clone(),
                model: facts.id.clone(),
                parameters: parameters.to_vec(),
                seen: None,
            })),
            None => Auto::FirstOf(provider.name.clone()),
        };
        if let Some(endpoint) = self.get(ENDPOINT) {
            // What is known of a vendor says nothing about what somebody's server has.
            return if endpoint.place == Place::Local {
                Auto::FirstOf(ENDPOINT.to_owned())
            } else {
                first(endpoint)
            };
        }
        let with_key = self.all().iter().find(|provider| provider.key.is_some());
        let open = || self.all().iter().find(|provider| provider.is_configured && !provider.needs_key());
        with_key.or_else(open).map_or(Auto::Offline, first)
    }

    /// The failure of an id that nobody knows, with what there is.
    pub fn cannot_use(&self, text: &str) -> Failure {
        let id = text.split('[').next().unwrap_or(text);
        let mut available = vec![OFFLINE.to_owned()];
        let mut known = available.clone();
        for provider in self.all() {
            let ids: Vec<String> =
                provider.known().iter().map(|facts| format!("{}/{}", provider.name, facts.id)).collect();
            known.extend(provider.known().into_iter().map(|facts| facts.id));
            known.extend(ids.iter().cloned());
            if provider.key.is_some() || (provider.is_configured && self.is_reachable(provider)) {
                available.extend(ids);
            }
        }
        available.truncate(MOST_NAMED);
        let hint = near::did_you_mean(id, known.iter().map(String::as_str));
        let shown = crate::output::harmless(text);
        let message =
            format!("Cannot use this model: {shown}. Available models: {}{hint}", available.join(", "));
        Failure::exact(Exit::Usage, message)
    }

    /// The failure of a run whose provider has no key, if that is so.
    pub fn missing_key(&self, served: &Served, program: &str) -> Option<Failure> {
        let provider = self.get(&served.provider).filter(|provider| !self.is_reachable(provider))?;
        let (name, variable) = (&provider.name, provider.wanted_key());
        let message = format!(
            "Error: Authentication required. Please run '{program} login {name}' first, or set the {variable} \
             environment variable."
        );
        Some(Failure::exact(Exit::NotPermitted, message))
    }
}

fn check(id: &str, facts: &Facts, parameters: &[(String, String)]) -> Result<(), Failure> {
    let wrong = |why: String| Err(Failure::new(Exit::Usage, why));
    let id = crate::output::harmless(id);
    for (name, value) in parameters {
        let (shown, value_shown) = (crate::output::harmless(name), crate::output::harmless(value));
        if !PARAMETERS.contains(&name.as_str()) {
            return wrong(format!(
                "the model parameter '{shown}' is not known; there are {}",
                PARAMETERS.join(", ")
            ));
        }
        let is_truth = value == "true" || value == "false";
        if name != "effort" && !is_truth {
            return wrong(format!("the model parameter '{name}' is true or false, not '{value_shown}'"));
        }
        if name == "effort" && !facts.efforts.is_empty() && !facts.efforts.contains(value) {
            let known = facts.efforts.join(", ");
            return wrong(format!("the effort of '{id}' is one of {known}, not '{value_shown}'"));
        }
    }
    Ok(())
}
