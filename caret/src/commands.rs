//! What the program does for each command: one file per subject.
//!
//! A command gets what was typed and the machine as it is, writes through `output`, and says how the process
//! ends. None of them runs a turn itself.

mod about;
mod completions;
mod config;
mod doctor;
mod link;
mod login;
mod mock;
mod models;
mod prompt;
mod script;
pub mod sessions;
mod shell_integration;
mod trust;
mod update;

use crate::args::commands::Chosen;
use crate::args::options::Options;
use crate::environment::Environment;
use crate::exit::{Exit, Failure};
use crate::output::Output;
use crate::roots::Invoked;
use crate::settings::{self, Settings};

/// One call of the program.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The name that it was called by.
    pub invoked: Invoked,
    /// The options as typed.
    pub options: &'a Options,
    /// The machine.
    pub environment: &'a Environment,
    /// Where to write.
    pub output: Output,
}

impl Call<'_> {
    /// What arguments, environment and configuration mean together; warnings are told once.
    fn settings(&self) -> Result<Settings, Failure> {
        let settings = Settings::find(self.invoked, self.options, self.environment)?;
        for warning in &settings.config.warnings {
            self.output.warn(warning);
        }
        Ok(settings)
    }
}

/// Does what was asked.
pub fn run(call: Call<'_>, chosen: Chosen) -> Result<Exit, Failure> {
    if call.options.version {
        call.output.line(crate::version::DATE)?;
        return Ok(Exit::Success);
    }
    if call.options.list_models {
        return models::run(call, crate::args::values::Format::Text);
    }
    settings::check_options(call.options)?;
    for text in call.options.later.without_effect() {
        call.output.warn(text);
    }
    match chosen {
        Chosen::Prompt(words) => prompt::run(call, &words.prompt),
        Chosen::Resume(words) => prompt::resume(call, &words.prompt),
        Chosen::About(arguments) => about::run(call, arguments.format),
        Chosen::Status(arguments) => about::status(call, arguments.format),
        Chosen::Models(arguments) => models::run(call, arguments.format),
        Chosen::Login(arguments) => login::login(call, &arguments),
        Chosen::Logout(arguments) => login::logout(call, arguments.provider.as_deref()),
        Chosen::Doctor(arguments) => doctor::run(call, &arguments),
        Chosen::Config(arguments) => config::run(call, &arguments),
        Chosen::Trust(arguments) => trust::run(call, &arguments),
        Chosen::Completions(arguments) => completions::run(call, arguments.shell),
        Chosen::Man(arguments) => completions::man(call, arguments.out.as_deref()),
        Chosen::InstallShell(arguments) => shell_integration::install(call, arguments.shell),
        Chosen::UninstallShell(arguments) => shell_integration::uninstall(call, arguments.shell),
        Chosen::Update(_) => update::run(call),
        Chosen::Link(arguments) => link::run(call, arguments.dir.as_deref()),
        Chosen::CreateChat(_) => sessions::create(call),
        Chosen::List(arguments) => sessions::list(call, &arguments),
        Chosen::Export(arguments) => sessions::export(call, &arguments),
        Chosen::Remove(arguments) => sessions::remove(call, &arguments.ids),
        Chosen::Fork(arguments) => sessions::fork(call, &arguments.id),
        Chosen::Search(arguments) => sessions::search(call, &arguments),
        Chosen::Stats(arguments) => sessions::stats(call, &arguments),
        Chosen::Mock(arguments) => mock::run(call, &arguments),
        Chosen::Script(arguments) => script::run(call, &arguments),
    }
}

/// A runtime for a command that asks servers.
fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Fault, format!("the runtime cannot be started: {error}")))
}

/// Milliseconds since 1970.
pub fn now_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
