//! `login` and `logout`: keeps and forgets the keys of providers.
//!
//! Invariants: a key is never echoed and never on the command line; it is kept only after its provider took
//! it, unless told otherwise.

use super::Call;
use crate::args::commands::Login;
use crate::catalogue::Reach;
use crate::environment::Stdin;
use crate::exit::{Exit, Failure};
use crate::providers::keys::{Key, KeyFile, KeySource};
use crate::providers::{Provider, Sources, listing, unknown_provider};
use crate::settings::Settings;
use caret_engine::model::ModelError;
use caret_engine::model::http::secret::Secret;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use std::io::{self, BufRead, Read};

/// No key is longer than this.
const LONGEST_KEY: u64 = 16 << 10;

/// Takes a key and keeps it.
pub fn login(call: Call<'_>, arguments: &Login) -> Result<Exit, Failure> {
    let settings = call.settings()?;
    // What was given for a run is not the key that is checked here.
    let sources = Sources { flag: None, endpoint: None, ..settings.sources.clone() };
    let reach = Reach::new(&sources)?;
    let Some(name) = arguments.provider.as_deref() else { return Err(no_provider(call, &reach)) };
    let provider = reach.providers.get(name).ok_or_else(|| unknown_provider(name))?;
    let key = read_key(call, arguments, provider)?;
    if key.reveal().is_empty() {
        return Err(Failure::new(Exit::Usage, "the key is empty; nothing was kept"));
    }
    if !arguments.no_check {
        check(&sources, provider, &key)?;
    }
    let mut file = key_file(&settings)?;
    file.set(name, &key)?;
    call.output.line(&format!("✓ The key for {} is kept", provider.title))?;
    if let Some(Key { source: KeySource::Variable(variable), .. }) = &provider.key {
        call.output.warn(&format!("{variable} is set and is used before the kept key"));
    }
    Ok(Exit::Success)
}

fn no_provider(call: Call<'_>, reach: &Reach) -> Failure {
    let names: Vec<&str> = reach.providers.all().iter().map(|provider| provider.name.as_str()).collect();
    let program = call.invoked.name();
    Failure::new(
        Exit::Usage,
        format!(
            "name a provider, as in `{program} login openai`; there are {}\n\
             (signing in with a browser is not available in this version; keys are kept in a file, not in a keyring)",
            names.join(", ")
        ),
    )
}

/// Forgets one key or all of them.
pub fn logout(call: Call<'_>, provider: Option<&str>) -> Result<Exit, Failure> {
    let settings = call.settings()?;
    let mut file = key_file(&settings)?;
    let names = match provider {
        Some(name) => vec![name.to_owned()],
        None => file.providers(),
    };
    let mut forgotten = 0;
    for name in &names {
        if file.remove(name)? {
            forgotten += 1;
            call.output.line(&format!("✓ The key for {} is forgotten", crate::output::harmless(name)))?;
        }
    }
    if forgotten == 0 {
        call.output.line("No key was kept")?;
    }
    let reach = Reach::new(&settings.sources)?;
    for known in reach.providers.all().iter().filter(|known| provider.is_none_or(|name| name == known.name)) {
        if let Some(Key { source: KeySource::Variable(variable), .. }) = &known.key {
            call.output.warn(&format!("{variable} is still set and is used for {}", known.name));
        }
    }
    Ok(Exit::Success)
}

fn key_file(settings: &Settings) -> Result<KeyFile, Failure> {
    KeyFile::read(&settings.roots()?.config.join("auth.json"))
}

fn read_key(call: Call<'_>, arguments: &Login, provider: &Provider) -> Result<Secret, Failure> {
    let lost = |error: io::Error| Failure::new(Exit::Failed, format!("the key cannot be read: {error}"));
    match arguments.with_key.as_deref() {
        Some("-") => {
            let mut key = String::new();
            io::stdin().lock().take(LONGEST_KEY).read_to_string(&mut key).map_err(lost)?;
            Ok(Secret::new(key))
        }
        Some(_) => Err(Failure::new(
            Exit::Usage,
            "option '--with-key' takes only '-': keys on the command line can be seen by others; pipe it in",
        )),
        None if call.environment.stdin == Stdin::Terminal => {
            call.output.ask(&format!("Key for {} (not shown): ", provider.title));
            let hidden = Hidden::begin();
            let mut key = String::new();
            let read = io::stdin().lock().take(LONGEST_KEY).read_line(&mut key);
            drop(hidden);
            call.output.say("");
            read.map_err(lost)?;
            Ok(Secret::new(key))
        }
        None => {
            let message = format!(
                "stdin is no terminal: pipe the key in, as in `login {} --with-key -`",
                provider.name
            );
            Err(Failure::new(Exit::Usage, message))
        }
    }
}

fn check(sources: &Sources, provider: &Provider, key: &Secret) -> Result<(), Failure> {
    let sources = Sources { flag: Some((key.clone(), "stdin")), ..sources.clone() };
    let reach = Reach::new(&sources)?;
    let runtime = super::runtime()?;
    let checked = runtime.block_on(listing::check(&reach.providers, &reach.transport, provider));
    runtime.shutdown_background();
    match checked {
        Ok(()) => Ok(()),
        Err(ModelError::Unauthorized(why)) => Err(Failure::exact(
            Exit::NotPermitted,
            format!("⚠ Warning: The provided API key is invalid.\n{why}; nothing was kept"),
        )),
        Err(other) => {
            let message =
                format!("the key cannot be checked: {other}; nothing was kept (--no-check keeps it untried)");
            Err(Failure::new(Exit::Unavailable, message))
        }
    }
}

/// A terminal that does not show what is typed, until this goes.
struct Hidden {
    before: Option<Termios>,
}

impl Hidden {
    fn begin() -> Self {
        let before = tcgetattr(io::stdin()).ok();
        if let Some(before) = &before {
            let mut silent = before.clone();
            silent.local_modes.remove(LocalModes::ECHO);
            // A terminal that cannot be told so shows the key to the person who types it, and to nobody else.
            tcsetattr(io::stdin(), OptionalActions::Flush, &silent).ok();
        }
        Self { before }
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            tcsetattr(io::stdin(), OptionalActions::Now, before).ok();
        }
    }
}
