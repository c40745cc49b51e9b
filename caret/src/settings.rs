//! What arguments, environment and configuration mean together.
//!
//! This is the only place where they meet. What comes out has no "unset" that stands for a default and no path
//! that was not resolved; only it goes further down. The order of checks is promised to callers: options,
//! authentication, trust, output format and prompt, model.

mod checks;
mod session;
mod workspace;

use crate::args::options::Options;
use crate::args::values::{Color, EventSet, ExitCodes, InputFormat, OutputFormat, PromptProfile, WorkMode};
use crate::config::{Config, Origin, ProjectTrust, Rule, UserFile};
use crate::environment::{Environment, Stdin};
use crate::exit::{Exit, ExitStyle, Failure};
use crate::models::{self, ModelChoice};
use crate::providers::Sources;
use crate::roots::{Invoked, Roots};
use crate::{prompt, trust};
use caret_protocol::event::Mode;
pub use checks::{check_options, check_screen_options};
pub use session::{SessionChoice, choose as choose_session};
use std::path::{Path, PathBuf};
use std::time::Duration;
pub use workspace::real_folder;

/// What every command knows.
#[derive(Debug)]
pub struct Settings {
    /// The name that the program was called by.
    pub invoked: Invoked,
    /// Where the user's things are; absent only with `--no-save`.
    pub roots: Option<Roots>,
    /// The physical workspace path.
    pub workspace: PathBuf,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The name of the time zone.
    pub time_zone: String,
    /// What the files say.
    pub config: Config,
    /// What decides where models are reached.
    pub sources: Sources,
}

/// What a run of the agent knows.
#[derive(Debug)]
#[cfg_attr(not(test), expect(dead_code, reason = "the front end of print mode reads them"))]
pub struct RunSettings {
    /// What every command knows.
    pub common: Settings,
    /// What the user says; empty with `--input-format stream-json`.
    pub prompt: String,
    /// Further folders to work in.
    pub additional: Vec<PathBuf>,
    /// How the run answers.
    pub output: OutputSettings,
    /// How the run is prompted.
    pub input: InputFormat,
    /// Who answers.
    pub model: ModelChoice,
    /// What the agent may do.
    pub mode: Mode,
    /// Whether everything runs that is not denied.
    pub force: bool,
    /// What is allowed without asking.
    pub allow: Vec<Rule>,
    /// What is never allowed.
    pub deny: Vec<Rule>,
    /// What ends the run.
    pub limits: Limits,
    /// Which exit codes are used.
    pub exit_style: ExitStyle,
    /// Whether a denied tool makes the run a failure.
    pub fail_on_denied: bool,
    /// Which chat.
    pub session: SessionChoice,
    /// The title of a new chat.
    pub title: Option<String>,
    /// Whether the chat is kept on disk.
    pub saving: Saving,
    /// Where a credential came from.
    pub credential: Credential,
    /// How much the model is told.
    pub profile: PromptProfile,
    /// Whether model calls are recorded or replayed.
    pub tape: Tape,
}

/// Whether model calls are recorded or replayed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tape {
    /// Neither.
    Nothing,
    /// They are written to this file.
    Record(PathBuf),
    /// They are answered from this file.
    Replay(PathBuf),
}

/// How a run answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutputSettings {
    /// The form.
    pub format: OutputFormat,
    /// Whether text deltas are streamed.
    pub partial: bool,
    /// Which events are streamed.
    pub events: EventSet,
    /// Whether warnings are kept back.
    pub quiet: bool,
    /// Whether more is said on stderr.
    pub debug: bool,
    /// Whether stderr may be coloured.
    pub color: bool,
}

/// What ends a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Model calls.
    pub turns: Option<u64>,
    /// Wall time.
    pub time: Option<Duration>,
    /// Tokens.
    pub tokens: Option<u64>,
    /// US dollars.
    pub cost: Option<f64>,
}

/// Whether a chat is kept on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saving {
    /// It is.
    OnDisk,
    /// It is gone with the process.
    Nothing,
}

/// Where a credential came from. The credential itself is not kept here, so that it cannot be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential {
    /// From the command line.
    Flag,
    /// From the environment.
    Environment,
    /// There is none; the local models need none.
    Local,
}

impl Credential {
    /// The documented word for it.
    pub fn source(self) -> &'static str {
        match self {
            Self::Flag => "flag",
            Self::Environment => "env",
            Self::Local => "login",
        }
    }
}

impl Settings {
    /// Works out what every command needs, with the configuration as it counts here. Nothing is written.
    pub fn find(invoked: Invoked, options: &Options, environment: &Environment) -> Result<Self, Failure> {
        let mut settings = Self::without_config(invoked, options, environment)?;
        settings.config = Config::of_user(settings.roots.as_ref(), UserFile::Leave);
        let trust = match settings.standing() {
            trust::Standing::Trusted => ProjectTrust::Trusted,
            _ => ProjectTrust::Untrusted,
        };
        settings.config.add_project(&settings.workspace, trust);
        settings.overlay(options, environment);
        Ok(settings)
    }

    fn without_config(
        invoked: Invoked,
        options: &Options,
        environment: &Environment,
    ) -> Result<Self, Failure> {
        let roots = match (Roots::find(invoked, environment), options.no_save) {
            (Ok(roots), _) => Some(roots),
            (Err(_), true) => None,
            (Err(failure), false) => return Err(failure),
        };
        let workspace = workspace::find(options.workspace.as_deref(), environment)?;
        Ok(Self {
            invoked,
            roots,
            workspace,
            home: environment.home(),
            time_zone: environment.time_zone(),
            config: Config::default(),
            sources: Sources::default(),
        })
    }

    /// Puts what environment and command line say on top of the configuration.
    fn overlay(&mut self, options: &Options, environment: &Environment) {
        let config = &mut self.config;
        if let Some(script) = environment.text("CARET_SCRIPT") {
            let origin = Origin::Environment("CARET_SCRIPT");
            config.add_value(origin, "selectedModel.modelId", &format!("script:{script}"));
        }
        if let Some(model) = &options.model {
            config.add_value(Origin::Flag("--model"), "selectedModel.modelId", model);
        }
        if options.force {
            config.add_value(Origin::Flag("--force"), "approvalMode", "unrestricted");
        }
        self.sources = Sources::new(config, self.roots.as_ref(), options, environment);
    }

    /// The folders of the user, which only a run that keeps nothing can do without.
    pub fn roots(&self) -> Result<&Roots, Failure> {
        self.roots.as_ref().ok_or_else(|| {
            Failure::new(Exit::Configuration, "there is no home directory: set HOME or CARET_HOME")
        })
    }

    /// Whether the workspace is trusted; when that cannot be found out, it is not.
    pub fn standing(&self) -> trust::Standing {
        let standing = self.roots.as_ref().map(|roots| trust::standing(roots, &self.workspace));
        standing.and_then(Result::ok).unwrap_or(trust::Standing::Unknown)
    }

    /// The model that a run would use, as it was chosen.
    pub fn chosen_model(&self) -> &str {
        self.configured_model().unwrap_or(models::AUTO)
    }

    /// The same, with the parameters that stand beside it in the same file.
    fn model_with_parameters(&self) -> String {
        let chosen = self.chosen_model();
        let named = self.config.text("selectedModel.modelId");
        let listed = self.config.get("selectedModel.parameters");
        match (named, listed) {
            (Some((id, from)), Some((list, beside)))
                if id == chosen && from == beside && !id.contains('[') =>
            {
                models::with_parameters(id, list)
            }
            _ => chosen.to_owned(),
        }
    }

    /// Whether somebody chose a model at all.
    pub fn is_model_chosen(&self) -> bool {
        self.configured_model().is_some()
    }

    fn configured_model(&self) -> Option<&str> {
        let configured =
            self.config.text("selectedModel.modelId").or_else(|| self.config.text("model.modelId"));
        let (id, origin) = configured.filter(|(_, origin)| **origin != Origin::Default)?;
        // A model that the documented program wrote into the shared file is not a choice for this one.
        let is_typed = matches!(origin, Origin::Environment(_) | Origin::Flag(_));
        (is_typed || models::is_usable(id, &self.sources)).then_some(id)
    }
}

impl RunSettings {
    /// Works out what a run needs, in the promised order of checks.
    pub fn find(
        invoked: Invoked,
        options: &Options,
        words: &[String],
        environment: &Environment,
        now_ms: u64,
    ) -> Result<Self, Failure> {
        let session = session::choose(options)?;
        check_options(options)?;
        let mut common = Settings::without_config(invoked, options, environment)?;
        let additional = workspace::find_additional(&options.add_dir, environment)?;
        pass_trust_gate(&common, options, now_ms)?;
        let file = if options.no_save { UserFile::Leave } else { UserFile::Make };
        common.config = Config::of_user(common.roots.as_ref(), file);
        common.config.add_project(&common.workspace, ProjectTrust::Trusted);
        common.overlay(options, environment);
        let input = options.input_format.unwrap_or_default();
        let prompt = make_prompt(input, words, environment)?;
        let model = models::choose(&common.model_with_parameters(), &common.sources)?;
        models::check_key(&model, &common.sources, invoked.name())?;
        Ok(Self {
            prompt,
            additional,
            output: output_settings(options, environment),
            input,
            mode: mode(options),
            force: may_force(&mut common.config),
            allow: common.config.rules("allow"),
            deny: common.config.rules("deny"),
            limits: limits(options),
            exit_style: exit_style(options, environment),
            fail_on_denied: options.fail_on_denied,
            session,
            title: options.name.clone(),
            saving: if options.no_save { Saving::Nothing } else { Saving::OnDisk },
            credential: credential(options, environment, &model, &common.sources),
            profile: options.profile.unwrap_or_default(),
            tape: tape(options, environment),
            model,
            common,
        })
    }
}

/// Whether this run is for a program or a script, so that no screen is needed.
pub fn is_print(options: &Options, environment: &Environment) -> bool {
    options.print || !environment.stdout_is_terminal || environment.stdin != Stdin::Terminal
}

/// Which exit codes are used.
pub fn exit_style(options: &Options, environment: &Environment) -> ExitStyle {
    match (options.exit_codes, environment.text("CARET_EXIT_CODES")) {
        (Some(ExitCodes::Detailed), _) | (None, Some("detailed")) => ExitStyle::Detailed,
        _ => ExitStyle::Plain,
    }
}

fn pass_trust_gate(settings: &Settings, options: &Options, now_ms: u64) -> Result<(), Failure> {
    if options.trust {
        return match (&settings.roots, options.no_save) {
            (Some(roots), false) => trust::add(roots, &settings.workspace, now_ms).map_err(|error| {
                let remedy =
                    "use --force to trust it for this run only, or --no-save to keep nothing on disk";
                Failure::new(Exit::Configuration, format!("trust cannot be recorded: {error}; {remedy}"))
            }),
            _ => Ok(()),
        };
    }
    match settings.standing() {
        trust::Standing::Trusted => Ok(()),
        _ if options.force => Ok(()),
        standing => Err(trust_required(settings, standing)),
    }
}

fn trust_required(settings: &Settings, standing: trust::Standing) -> Failure {
    let path = crate::output::harmless(&settings.workspace.to_string_lossy());
    let why = match standing {
        trust::Standing::Changed => "Files that can steer the agent have changed since you trusted it.\n",
        _ => "",
    };
    let message = format!(
        "⚠ Workspace Trust Required\n\nThe agent can read, change and run files in this directory, and files in it \
         can steer the agent.\n{why}\n  {path}\n\nPass --trust, --yolo, or -f if you trust this directory"
    );
    Failure::exact(Exit::NotPermitted, message)
}

fn make_prompt(input: InputFormat, words: &[String], environment: &Environment) -> Result<String, Failure> {
    match input {
        InputFormat::Text => prompt::make(words, environment.stdin, std::io::stdin().lock()),
        InputFormat::StreamJson if words.is_empty() => Ok(String::new()),
        InputFormat::StreamJson => prompt::make(words, Stdin::Nothing, std::io::empty()),
    }
}

fn output_settings(options: &Options, environment: &Environment) -> OutputSettings {
    OutputSettings {
        format: options.output_format.unwrap_or_default(),
        partial: options.stream_partial_output,
        events: options.events.unwrap_or_default(),
        quiet: options.quiet,
        debug: options.debug,
        color: color(options.color.unwrap_or_default(), environment),
    }
}

fn color(wanted: Color, environment: &Environment) -> bool {
    let is_set = |name| environment.text(name).is_some_and(|value| value != "0");
    match wanted {
        Color::Always => true,
        Color::Never => false,
        Color::Auto if environment.text("NO_COLOR").is_some() => false,
        Color::Auto if is_set("FORCE_COLOR") || is_set("CLICOLOR_FORCE") => true,
        Color::Auto => {
            let plain = environment.text("TERM") == Some("dumb") || environment.text("CLICOLOR") == Some("0");
            environment.stderr_is_terminal && !plain
        }
    }
}

/// Whether everything runs that is not denied: not while it is unknown what is denied.
fn may_force(config: &mut Config) -> bool {
    let wanted = config.text("approvalMode").is_some_and(|(mode, _)| mode == "unrestricted");
    if wanted && config.unsure {
        config
            .warnings
            .push("--force has no effect in this run, since it is not known what is denied".to_owned());
    }
    wanted && !config.unsure
}

fn mode(options: &Options) -> Mode {
    match options.mode {
        Some(WorkMode::Ask) => Mode::Ask,
        Some(WorkMode::Plan) => Mode::Plan,
        None if options.plan => Mode::Plan,
        None => Mode::Agent,
    }
}

fn limits(options: &Options) -> Limits {
    Limits {
        turns: options.max_turns,
        time: options.timeout,
        tokens: options.max_tokens,
        cost: options.max_cost,
    }
}

fn tape(options: &Options, environment: &Environment) -> Tape {
    let path = |file: &String| environment.absolute(Path::new(file));
    match (&options.record, &options.replay) {
        (_, Some(file)) => Tape::Replay(path(file)),
        (Some(file), None) => Tape::Record(path(file)),
        (None, None) => Tape::Nothing,
    }
}

fn credential(
    options: &Options,
    environment: &Environment,
    model: &ModelChoice,
    sources: &Sources,
) -> Credential {
    let from_flags = options.api_key.is_some() || options.auth_token.is_some();
    let from_environment =
        ["CURSOR_API_KEY", "CURSOR_AUTH_TOKEN"].iter().any(|name| environment.text(name).is_some());
    let from_environment = from_environment || models::has_key_in_environment(model, sources);
    match (from_flags, from_environment) {
        (true, _) => Credential::Flag,
        (false, true) => Credential::Environment,
        (false, false) => Credential::Local,
    }
}

#[cfg(test)]
mod tests;
