//! Which models there are, by the ids that `--model` takes.

use crate::exit::{Exit, Failure};
use crate::near;

/// One model of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// What `--model` takes.
    pub id: String,
    /// What people read.
    pub name: String,
}

/// What a user chose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelChoice {
    /// A model of the list.
    Listed {
        /// Its id.
        id: String,
        /// What stood in brackets, such as `effort` and `high`.
        parameters: Vec<(String, String)>,
    },
    /// Replies from a script file.
    Script(String),
}

/// The model that is used when nobody says otherwise.
pub const DEFAULT: &str = "offline";

/// All models that can be used here.
pub fn list() -> Vec<Listed> {
    vec![Listed { id: DEFAULT.to_owned(), name: "Offline (built in)".to_owned() }]
}

/// Understands an id, with or without parameters in brackets: `id[effort=high,fast=false]`.
pub fn choose(text: &str, models: &[Listed]) -> Result<ModelChoice, Failure> {
    if let Some(file) = text.strip_prefix("script:") {
        return match file.is_empty() {
            true => Err(Failure::new(Exit::Usage, "'script:' needs a file, as in script:replies.toml")),
            false => Ok(ModelChoice::Script(file.to_owned())),
        };
    }
    let (id, parameters) = split(text).ok_or_else(|| cannot_use(text, models))?;
    let id = if id == "auto" { DEFAULT } else { id };
    match models.iter().find(|model| model.id == id) {
        Some(model) => Ok(ModelChoice::Listed { id: model.id.clone(), parameters }),
        None => Err(cannot_use(text, models)),
    }
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

fn cannot_use(text: &str, models: &[Listed]) -> Failure {
    let ids: Vec<&str> = models.iter().map(|model| model.id.as_str()).collect();
    let id = text.split('[').next().unwrap_or(text);
    let hint = near::did_you_mean(id, ids.iter().copied());
    let shown = crate::output::harmless(text);
    let message = format!("Cannot use this model: {shown}. Available models: {}{hint}", ids.join(", "));
    Failure::exact(Exit::Usage, message)
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
        let check = |text| choose(text, &list());
        assert_eq!(check("offline"), Ok(listed("offline", &[])));
        assert_eq!(check("auto"), Ok(listed("offline", &[])));
        let parameters = listed("offline", &[("effort", "high"), ("fast", "false")]);
        assert_eq!(check("offline[effort=high, fast=false]"), Ok(parameters));
        assert_eq!(check("script:a b.toml"), Ok(ModelChoice::Script("a b.toml".to_owned())));
        for wrong in ["gpt-5", "offline[effort", "offline[effort]", "", "script:"] {
            assert!(check(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_unknown_model_is_named_with_what_there_is() {
        let message = "Cannot use this model: oflin. Available models: offline\n(Did you mean offline?)";
        assert_eq!(choose("oflin", &list()), Err(Failure::exact(Exit::Usage, message)));
    }
}
