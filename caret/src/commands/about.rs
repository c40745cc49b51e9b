//! `about` and `status`: what this is, where it runs, and who is signed in.
//!
//! Other programs decide by these answers whether they work with us, so labels and keys are the documented ones.
//! The local models need no account; so that callers do not ask for one, the local user counts as signed in.

use super::Call;
use crate::args::values::Format;
use crate::config::Config;
use crate::environment::Environment;
use crate::exit::{Exit, Failure};
use crate::models::{self, ModelChoice};
use crate::providers::{Providers, Sources};
use crate::settings::Settings;
use crate::version;
use serde_json::json;

/// Shows version and environment.
pub fn run(call: Call<'_>, format: Format) -> Result<Exit, Failure> {
    let settings = call.settings()?;
    let model = &model_name(&settings);
    let email = email(call.environment);
    let shell = shell(call.environment);
    let terminal = call.environment.text("TERM_PROGRAM").or_else(|| call.environment.text("TERM"));
    let terminal = terminal.unwrap_or("unknown");
    match format {
        Format::Json => call.output.json(&json!({
            "cliVersion": version::DATE,
            "model": model,
            "subscriptionTier": null,
            "osPlatform": platform(),
            "osArch": architecture(),
            "userEmail": email,
            "terminalProgram": terminal,
            "shell": shell,
            "lastRequestId": null,
            "version": version::SEMANTIC,
            "invokedAs": call.invoked.name(),
        }))?,
        Format::Text => {
            let system = format!("{} ({})", platform(), architecture());
            let rows = [
                ("CLI Version", version::DATE),
                ("Version", version::SEMANTIC),
                ("Model", model.as_str()),
                ("OS", system.as_str()),
                ("Terminal", terminal),
                ("Shell", shell),
                ("User Email", email.as_str()),
            ];
            let rows: String = rows.iter().map(|(label, value)| format!("{label:<20}{value}\n")).collect();
            call.output.write(&format!("About Caret CLI\n\n{rows}"))?;
        }
    }
    Ok(Exit::Success)
}

/// The name of the model that a run would use.
fn model_name(settings: &Settings) -> String {
    let chosen = settings.chosen_model();
    match models::choose(chosen, &settings.sources) {
        Ok(ModelChoice::Listed { id, .. }) => {
            models::list().into_iter().find(|model| model.id == id).map_or(id, |model| model.name)
        }
        Ok(choice @ ModelChoice::Served(_)) => choice.id(),
        _ => chosen.to_owned(),
    }
}

/// Shows who is signed in, and which providers have a key from where.
pub fn status(call: Call<'_>, format: Format) -> Result<Exit, Failure> {
    // Also a machine without a home has an answer: then only the environment holds keys.
    let sources = match call.settings() {
        Ok(settings) => settings.sources,
        Err(_) => Sources::new(&Config::default(), None, call.options, call.environment),
    };
    let providers = Providers::new(&sources)?;
    let keys: Vec<(&str, String)> = providers
        .all()
        .iter()
        .filter_map(|provider| Some((provider.name.as_str(), provider.key.as_ref()?.source.to_string())))
        .collect();
    let email = email(call.environment);
    match format {
        Format::Text => {
            let rows: String =
                keys.iter().map(|(name, source)| format!("{name}: key from {source}\n")).collect();
            call.output.write(&format!("✓ Logged in as {email}\n{rows}"))?;
        }
        Format::Json => call.output.json(&json!({
            "status": "authenticated",
            "isAuthenticated": true,
            "hasAccessToken": false,
            "hasRefreshToken": false,
            "userInfo": { "email": email, "userId": rustix::process::getuid().as_raw() },
            "providers": keys.iter().map(|(name, source)| json!({ "provider": name, "keySource": source }))
                .collect::<Vec<_>>(),
        }))?,
    }
    Ok(Exit::Success)
}

fn email(environment: &Environment) -> String {
    format!("{}@localhost", crate::output::harmless(environment.user()))
}

fn shell(environment: &Environment) -> &str {
    let path = environment.text("SHELL").unwrap_or("sh");
    path.rsplit('/').next().unwrap_or(path)
}

/// The system's name, as the documented program writes it.
fn platform() -> &'static str {
    match std::env::consts::OS {
        "macos" => "darwin",
        other => other,
    }
}

/// The processor's name, as the documented program writes it.
fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    }
}
