//! Which models there are, by the ids that `--model` takes.

use crate::exit::{Exit, Failure};
use crate::providers::choice::{Auto, OFFLINE, PARAMETERS};
use crate::providers::keys::KeySource;
use crate::providers::{Providers, Purpose, Served, Sources};
use serde_json::Value;

/// One model of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// What `--model` takes.
    pub id: String,
    /// What people read.
    pub name: String,
}

/// What a user chose.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelChoice {
    /// A model of this program.
    Listed {
        /// Its id.
        id: String,
        /// What stood in brackets, such as `effort` and `high`.
        parameters: Vec<(String, String)>,
    },
    /// Replies from a script file.
    Script(String),
    /// A model of a provider.
    Served(Served),
    /// The first model that a provider lists; it is asked when a run begins.
    FirstOf {
        /// The provider's name.
        provider: String,
        /// What stood in brackets.
        parameters: Vec<(String, String)>,
    },
}

impl ModelChoice {
    /// The id that the engine's catalogue takes.
    pub fn id(&self) -> String {
        match self {
            Self::Listed { id, .. } => id.clone(),
            Self::Script(file) => format!("script:{file}"),
            Self::Served(served) => served.id(),
            Self::FirstOf { .. } => AUTO.to_owned(),
        }
    }
}

/// The model that needs nothing.
pub const DEFAULT: &str = OFFLINE;
/// Whatever can be reached; what is used when nobody says otherwise. The rule is in `providers::choice`.
pub const AUTO: &str = "auto";

/// The models of this program.
pub fn list() -> Vec<Listed> {
    vec![Listed { id: DEFAULT.to_owned(), name: "Offline (built in)".to_owned() }]
}

/// Understands an id, with or without parameters in brackets: `id[effort=high,fast=false]`.
pub fn choose(text: &str, sources: &Sources) -> Result<ModelChoice, Failure> {
    if let Some(file) = text.strip_prefix("script:") {
        return match file.is_empty() {
            true => Err(Failure::new(Exit::Usage, "'script:' needs a file, as in script:replies.toml")),
            false => Ok(ModelChoice::Script(file.to_owned())),
        };
    }
    let Some((id, parameters)) = split(text) else {
        return Err(Providers::new(sources)?.cannot_use(text));
    };
    let offline = |parameters| ModelChoice::Listed { id: DEFAULT.to_owned(), parameters };
    match id {
        DEFAULT => Ok(offline(parameters)),
        AUTO if !sources.is_any() => Ok(offline(parameters)),
        AUTO => Ok(match Providers::new(sources)?.auto(&parameters) {
            Auto::Model(served) => ModelChoice::Served(*served),
            Auto::FirstOf(provider) => ModelChoice::FirstOf { provider, parameters },
            Auto::Offline => offline(parameters),
        }),
        _ => Providers::new(sources)?.choose(id, parameters).map(ModelChoice::Served),
    }
}

/// An id with parameters as a file lists them, `[{"id": "effort", "value": "high"}]`; those that only the
/// documented program knows are left out.
pub fn with_parameters(id: &str, list: &Value) -> String {
    let known = |entry: &Value| {
        let (name, value) = (entry.get("id")?.as_str()?, entry.get("value")?);
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        PARAMETERS.contains(&name).then(|| format!("{name}={value}"))
    };
    let parameters: Vec<String> = list.as_array().into_iter().flatten().filter_map(known).collect();
    if parameters.is_empty() { id.to_owned() } else { format!("{id}[{}]", parameters.join(",")) }
}

/// Whether an id that stands in a file can be used here: the documented program writes ids of its own there.
pub fn is_usable(id: &str, sources: &Sources) -> bool {
    id == AUTO || choose(id, sources).is_ok_and(|choice| check_key(&choice, sources, "").is_ok())
}

/// Says what to do when a model's provider has no key.
pub fn check_key(choice: &ModelChoice, sources: &Sources, program: &str) -> Result<(), Failure> {
    let ModelChoice::Served(served) = choice else { return Ok(()) };
    Providers::new(sources)?.missing_key(served, program).map_or(Ok(()), Err)
}

/// Whether a model's key comes from the environment.
pub fn has_key_in_environment(choice: &ModelChoice, sources: &Sources) -> bool {
    let ModelChoice::Served(served) = choice else { return false };
    let Ok(providers) = Providers::new(sources) else { return false };
    let key = providers.get(&served.provider).and_then(|provider| providers.key(provider, Purpose::Run));
    key.is_some_and(|key| matches!(key.source, KeySource::Variable(_)))
}

fn split(text: &str) -> Option<(&str, Vec<(String, String)>)> {
    let Some((id, rest)) = text.split_once('[') else { return Some((text, Vec::new())) };
    let parameters = rest
        .strip_suffix(']')?
        .split(',')
        .filter(|part| !part.trim().is_empty())
        .map(|part| {
            part.split_once('=').map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
        })
        .collect::<Option<Vec<_>>>()?;
    Some((id, parameters))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(id: &str, parameters: &[(&str, &str)]) -> ModelChoice {
        let parameters = parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        ModelChoice::Listed { id: id.to_owned(), parameters: parameters.collect() }
    }

    #[test]
    fn ids_may_carry_parameters_and_scripts_name_a_file() {
        let check = |text| choose(text, &Sources::default());
        assert_eq!(check("offline"), Ok(listed("offline", &[])));
        assert_eq!(check("auto"), Ok(listed("offline", &[])));
        let parameters = listed("offline", &[("effort", "high"), ("fast", "false")]);
        assert_eq!(check("offline[effort=high, fast=false]"), Ok(parameters));
        assert_eq!(check("script:a b.toml"), Ok(ModelChoice::Script("a b.toml".to_owned())));
        for wrong in ["no-such", "offline[effort", "offline[effort]", "", "script:"] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn parameters_of_a_file_mean_the_same_as_brackets() {
        let list = serde_json::json!([{"id": "effort", "value": "high"}, {"id": "odd", "value": 1},
            {"id": "thinking", "value": true}]);
        assert_eq!(with_parameters("m", &list), "m[effort=high,thinking=true]");
        assert_eq!(with_parameters("m", &serde_json::json!([])), "m");
    }

    #[test]
    fn an_unknown_model_is_named_with_what_there_is() {
        let message = "Cannot use this model: oflin. Available models: offline\n(Did you mean offline?)";
        assert_eq!(choose("oflin", &Sources::default()), Err(Failure::exact(Exit::Usage, message)));
    }
}
