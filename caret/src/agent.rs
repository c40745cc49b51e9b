//! From settings to an agent that runs: the only place where the program puts the engine together.

use crate::catalogue::Models;
use crate::environment::{self, Environment};
use crate::exit::{Exit, Failure};
use crate::front::print::{self, PrintFormat, PrintSettings};
use crate::models::ModelChoice;
use crate::output::Output;
use crate::providers::listing;
use crate::settings::{RunSettings, Saving, SessionChoice, Tape};
use crate::{args::values, chats, commands, config, version};
use caret_engine::clock::SystemClock;
use caret_engine::engine::{Engine, EngineSettings, Limits, ProfileChoice};
use caret_engine::model::Catalogue;
use caret_engine::model::record::{Player, Recorder};
use caret_engine::permission::Policy;
use caret_engine::process::Supervisor;
use caret_engine::store::MemoryStore;
use caret_engine::store::Store;
use caret_engine::tools::{self, Profile, Toolbox};
use caret_engine::workspace::LocalWorkspace;
use caret_protocol::agent::{About, Open};
use caret_protocol::ids::SessionId;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::runtime::Runtime;

/// The hidden command that a supervisor is started with.
pub const SUPERVISE: &str = "__supervise";

/// Said when nobody chose a model.
const OFFLINE_NOTICE: &str =
    "Using the built-in offline model; it needs no account and understands plain requests.";

/// What commands may see of the user's environment, besides `LC_*` and what the user lists.
const PASSED_ON: [&str; 9] = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "TZ", "TMPDIR"];

/// Runs a prompt, or a driver's conversation, in print mode.
pub fn print(settings: &RunSettings, environment: &Environment) -> Result<Exit, Failure> {
    environment::keep_to_itself();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Fault, format!("the runtime cannot be started: {error}")))?;
    let session = session(settings)?;
    let workspace = settings.common.workspace.clone();
    let outputs = Outputs::new(settings, environment);
    let models = Models::new(environment.folder().to_owned(), settings.common.sources.clone());
    let choice = match &settings.tape {
        // What was recorded needs no server.
        Tape::Replay(_) => settings.model.clone(),
        _ => named(&runtime, &models, &settings.model)?,
    };
    let engine = engine(settings, models, &choice, &outputs)?;
    let open = Open { cwd: workspace.clone(), session, title: settings.title.clone() };
    let local = Arc::new(LocalWorkspace::new(workspace, supervisor(settings, environment)));
    let print_settings = print_settings(settings, environment);
    let is_watched = environment.stderr_is_terminal && !settings.output.quiet;
    let is_chosen = settings.common.is_model_chosen() || matches!(settings.tape, Tape::Replay(_));
    if is_watched && print_settings.format == PrintFormat::Text && !is_chosen {
        output(settings).say(OFFLINE_NOTICE);
    }
    let exit = runtime.block_on(print::run(&engine, open, local, &print_settings, keep_rule(settings)));
    // A blocked read of a slow disk must not hold up the end of the process.
    runtime.shutdown_background();
    Ok(exit)
}

fn output(settings: &RunSettings) -> Output {
    Output { quiet: settings.output.quiet }
}

fn session(settings: &RunSettings) -> Result<SessionId, Failure> {
    match &settings.session {
        SessionChoice::New(id)
            if settings.saving == Saving::OnDisk && commands::sessions::is_there(&settings.common, id)? =>
        {
            let message = format!("chat {id} is there already; go on with it by --resume {id}");
            Err(Failure::new(Exit::Usage, message))
        }
        SessionChoice::New(id) => Ok(id.clone()),
        SessionChoice::Resume(id) => {
            commands::sessions::warn_of_elsewhere(&settings.common, id, settings.output.quiet)?;
            Ok(id.clone())
        }
        SessionChoice::Latest(number) => {
            commands::sessions::latest(&settings.common, *number).map(|chat| chat.session)
        }
    }
}

/// The model by name: a provider whose models nobody has named is asked for them now.
fn named(runtime: &Runtime, models: &Models, choice: &ModelChoice) -> Result<ModelChoice, Failure> {
    let ModelChoice::FirstOf { provider, parameters } = choice else { return Ok(choice.clone()) };
    let reach = models.reach()?;
    let first = listing::first(&reach.providers, &reach.transport, provider, parameters.clone());
    runtime.block_on(first).map(ModelChoice::Served)
}

fn engine(
    settings: &RunSettings,
    models: Models,
    choice: &ModelChoice,
    outputs: &Outputs,
) -> Result<Engine, Failure> {
    let common = &settings.common;
    let store: Arc<dyn Store> = match settings.saving {
        Saving::OnDisk => Arc::new(chats::store(common)?),
        Saving::Nothing => Arc::new(MemoryStore::new()),
    };
    let tokens = |rules: &[config::Rule]| rules.iter().map(|rule| rule.token.clone()).collect::<Vec<_>>();
    let (policy, warnings) = Policy::new(&tokens(&settings.allow), &tokens(&settings.deny), settings.force);
    for warning in warnings {
        output(settings).warn(&warning);
    }
    let model = choice.id();
    let models = catalogue(settings, models, choice)?;
    Ok(Engine::new(EngineSettings {
        about: About { name: "caret".into(), version: version::DATE.into() },
        store,
        models,
        model,
        key_source: settings.credential.source().into(),
        mode: settings.mode,
        policy,
        limits: limits(settings),
        tools: Toolbox::new(tools::all()),
        profile: match settings.profile {
            values::PromptProfile::Auto => ProfileChoice::ByModel,
            values::PromptProfile::Full => ProfileChoice::Always(Profile::Full),
            values::PromptProfile::Tiny => ProfileChoice::Always(Profile::Tiny),
        },
        outputs: outputs.folder.clone(),
        additional: settings.additional.clone(),
        home: common.home.clone(),
        invoked_as: common.invoked.name().into(),
        clock: Arc::new(SystemClock),
    }))
}

/// The models of the run, recorded or replayed if that was asked for.
fn catalogue(
    settings: &RunSettings,
    models: Models,
    choice: &ModelChoice,
) -> Result<Arc<dyn Catalogue>, Failure> {
    let unusable = |error| Failure::new(Exit::Usage, error);
    let models: Arc<dyn Catalogue> = match &settings.tape {
        Tape::Replay(path) => Arc::new(Player::new(path).map_err(unusable)?),
        tape => {
            let models = models.with(choice);
            models.check(choice)?;
            match tape {
                Tape::Record(path) => Arc::new(Recorder::new(Arc::new(models), path).map_err(unusable)?),
                _ => Arc::new(models),
            }
        }
    };
    if settings.limits.cost.is_some() {
        let model = models.find(&choice.id()).map_err(|error| Failure::new(Exit::Usage, error))?;
        if model.price().is_none() {
            let remedy = "choose a model with a known price, or use --max-tokens";
            let message =
                format!("--max-cost cannot be kept: the price of `{}` is not known; {remedy}", model.id());
            return Err(Failure::new(Exit::Usage, message));
        }
    }
    Ok(models)
}

fn limits(settings: &RunSettings) -> Limits {
    Limits {
        steps: settings.limits.turns.map(|turns| u32::try_from(turns).unwrap_or(u32::MAX)),
        tokens: settings.limits.tokens,
        time: settings.limits.time,
        cost: settings.limits.cost,
    }
}

/// Where long outputs are kept: beside the project's other things, or in a private folder that goes with
/// the run.
struct Outputs {
    folder: PathBuf,
    saving: Saving,
}

impl Outputs {
    fn new(settings: &RunSettings, environment: &Environment) -> Self {
        let saving = settings.saving;
        let folder = match (&settings.common.roots, saving) {
            (Some(roots), Saving::OnDisk) => {
                roots.project(&settings.common.workspace.to_string_lossy()).join("terminals")
            }
            _ => environment.temporary().join(format!("caret-{}", uuid::Uuid::new_v4())),
        };
        if saving == Saving::Nothing {
            // Others may share the folder of temporary files. Where it cannot be written, a command says so.
            std::fs::DirBuilder::new().mode(0o700).create(&folder).ok();
        }
        Self { folder, saving }
    }
}

impl Drop for Outputs {
    fn drop(&mut self) {
        if self.saving == Saving::Nothing {
            // Not there when it could not be made.
            std::fs::remove_dir_all(&self.folder).ok();
        }
    }
}

fn supervisor(settings: &RunSettings, environment: &Environment) -> Supervisor {
    let wanted = settings.common.config.texts("environment");
    let passes = |name: &str| {
        PASSED_ON.contains(&name) || name.starts_with("LC_") || wanted.iter().any(|wanted| wanted == name)
    };
    let shells = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"].map(PathBuf::from);
    let bash = shells.into_iter().find(|shell| shell.exists()).or_else(|| environment.find_program("bash"));
    Supervisor {
        program: environment.own_program(),
        args: vec![SUPERVISE.into()],
        shell: bash.unwrap_or_else(|| Path::new("/bin/sh").to_owned()),
        environment: environment.texts().into_iter().filter(|(name, _)| passes(name)).collect(),
    }
}

fn print_settings(settings: &RunSettings, environment: &Environment) -> PrintSettings {
    let output = settings.output;
    PrintSettings {
        format: match output.format {
            values::OutputFormat::Text => PrintFormat::Text,
            values::OutputFormat::Json => PrintFormat::Json,
            values::OutputFormat::StreamJson => PrintFormat::StreamJson { partial: output.partial },
        },
        extended: output.events == values::EventSet::Extended,
        driven: settings.input == values::InputFormat::StreamJson,
        prompt: settings.prompt.clone(),
        quiet: output.quiet,
        terminal: environment.stdout_is_terminal,
        color: output.color,
        fail_on_denied: settings.fail_on_denied,
    }
}

/// Adds a rule that the user chose to keep to the user's file.
fn keep_rule(settings: &RunSettings) -> Box<dyn Fn(&str) + Send + Sync> {
    let file = settings.common.roots.as_ref().map(crate::roots::Roots::config_file);
    let output = output(settings);
    Box::new(move |rule| {
        let Some(file) = &file else { return };
        if let Err(problem) = config::file::allow(file, rule) {
            output.warn(&format!("the rule {rule} holds for this run only: {problem}"));
        }
    })
}
