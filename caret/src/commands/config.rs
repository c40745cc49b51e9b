//! `config`: effective values, where each comes from, and changes to the user's file.

use super::Call;
use crate::args::commands::{Config as Arguments, ConfigAction};
use crate::args::values::Format;
use crate::config::{Setting, file, value};
use crate::exit::{Exit, Failure};
use crate::near;
use crate::output::harmless;
use crate::settings::Settings;
use serde_json::{Map, Value, json};

/// Shows or changes settings.
pub fn run(call: Call<'_>, arguments: &Arguments) -> Result<Exit, Failure> {
    let settings = call.settings()?;
    match arguments.action {
        ConfigAction::List => {
            no_more(arguments.key.as_ref())?;
            list(call, &settings.config.effective(), arguments)?;
        }
        ConfigAction::Get => {
            no_more(arguments.value.as_ref())?;
            get(call, &settings, key(arguments)?, arguments)?;
        }
        ConfigAction::Set => set(call, &settings, key(arguments)?, arguments)?,
        ConfigAction::Unset => {
            no_more(arguments.value.as_ref())?;
            unset(&settings, key(arguments)?)?;
        }
        ConfigAction::Path => {
            no_more(arguments.key.as_ref())?;
            call.output.line(&settings.roots()?.config_file().to_string_lossy())?;
        }
    }
    Ok(Exit::Success)
}

fn key(arguments: &Arguments) -> Result<&str, Failure> {
    let key = arguments.key.as_deref().ok_or_else(|| usage("missing required argument 'key'"))?;
    match key.split('.').all(|part| !part.is_empty()) && !key.contains('/') {
        true => Ok(key),
        false => Err(usage(&format!("'{}' is not a name of a setting", harmless(key)))),
    }
}

fn no_more(argument: Option<&String>) -> Result<(), Failure> {
    match argument {
        Some(word) => Err(usage(&format!("too many arguments for 'config': '{}'", harmless(word)))),
        None => Ok(()),
    }
}

fn usage(message: &str) -> Failure {
    Failure::new(Exit::Usage, message)
}

fn list(call: Call<'_>, settings: &[Setting], arguments: &Arguments) -> Result<(), Failure> {
    match arguments.format {
        Format::Json => {
            let values: Map<String, Value> = settings
                .iter()
                .map(|setting| (setting.key.clone(), described(setting, arguments.origin)))
                .collect();
            call.output.json(&Value::Object(values))
        }
        Format::Text => {
            let text: String = settings.iter().map(|setting| row(setting, arguments.origin)).collect();
            call.output.write(&text)
        }
    }
}

fn row(setting: &Setting, with_origin: bool) -> String {
    let origin = if with_origin { format!("  ({})", origins(setting)) } else { String::new() };
    let value = harmless(&shown(setting).to_string());
    format!("{} = {value}{}\n", harmless(&setting.key), harmless(&origin))
}

fn described(setting: &Setting, with_origin: bool) -> Value {
    match with_origin {
        true => json!({ "value": shown(setting), "origin": origins(setting) }),
        false => shown(setting),
    }
}

fn origins(setting: &Setting) -> String {
    setting.origins.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// A value, unless its name says that it is a secret.
fn shown(setting: &Setting) -> Value {
    let key = setting.key.to_lowercase();
    let is_secret = ["key", "token", "secret", "passw", "credential", "authinfo", "headers"]
        .iter()
        .any(|word| key.contains(word));
    match (&setting.value, is_secret) {
        (Value::String(_), true) => json!("(hidden)"),
        (value, _) => value.clone(),
    }
}

fn get(call: Call<'_>, settings: &Settings, key: &str, arguments: &Arguments) -> Result<(), Failure> {
    let effective = settings.config.effective();
    let inner = format!("{key}.");
    let found: Vec<Setting> = effective
        .iter()
        .filter(|setting| setting.key == key || setting.key.starts_with(&inner))
        .cloned()
        .collect();
    match found.as_slice() {
        [] => {
            let hint = near::did_you_mean(key, effective.iter().map(|setting| setting.key.as_str()));
            Err(Failure::new(Exit::Failed, format!("no setting '{}' is set{hint}", harmless(key))))
        }
        [one] if one.key == key => match (arguments.format, shown(one)) {
            (Format::Text, Value::String(text)) if !arguments.origin => call.output.line(&harmless(&text)),
            (Format::Text, value) if !arguments.origin => call.output.json(&value),
            (Format::Text, _) => call.output.write(&row(one, true)),
            (Format::Json, _) => call.output.json(&described(one, arguments.origin)),
        },
        several => list(call, several, arguments),
    }
}

fn set(call: Call<'_>, settings: &Settings, key: &str, arguments: &Arguments) -> Result<(), Failure> {
    let text = arguments.value.as_deref().ok_or_else(|| usage("missing required argument 'value'"))?;
    let value = serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()));
    if !settings.config.effective().iter().any(|setting| setting.key == key || setting.key.starts_with(key)) {
        call.output.warn(&format!("'{}' is not a setting that this version knows", harmless(key)));
    }
    let path = settings.roots()?.config_file();
    file::change(&path, |values| value::set(values, key, value))
        .map_err(|why| Failure::new(Exit::Configuration, why))
}

fn unset(settings: &Settings, key: &str) -> Result<(), Failure> {
    let path = settings.roots()?.config_file();
    file::change(&path, |values| match value::unset(values, key) {
        true => Ok(()),
        false => Err(format!("'{}' is not set in {}", harmless(key), path.display())),
    })
    .map_err(|why| Failure::new(Exit::Configuration, why))
}
