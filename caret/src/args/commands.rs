//! The commands and what each takes.
//!
//! The tables at the end are the only lists of command names: parsing, help, completions and man pages are all
//! made from them.

use super::values::{ExportFormat, Format, WireApi};
use clap::{ArgMatches, Args, Command, FromArgMatches};

/// A command with its arguments, as typed.
#[derive(Clone, Debug)]
pub enum Chosen {
    /// A prompt, or nothing at all: the agent itself.
    Prompt(Words),
    /// `resume`.
    Resume(Words),
    /// `about`.
    About(Formatted),
    /// `status`, `whoami`.
    Status(Formatted),
    /// `models`.
    Models(Formatted),
    /// `login`.
    Login(Login),
    /// `logout`.
    Logout(Logout),
    /// `doctor`.
    Doctor(Doctor),
    /// `config`.
    Config(Config),
    /// `trust`.
    Trust(Trust),
    /// `completions`.
    Completions(Completions),
    /// `man`.
    Man(Man),
    /// `install-shell-integration`.
    InstallShell(Shell),
    /// `uninstall-shell-integration`.
    UninstallShell(Shell),
    /// `update`, `upgrade`.
    Update(Nothing),
    /// `link`.
    Link(Link),
    /// `create-chat`.
    CreateChat(Nothing),
    /// `ls`.
    List(List),
    /// `export`.
    Export(Export),
    /// `rm`.
    Remove(Remove),
    /// `fork`.
    Fork(Fork),
    /// `search`.
    Search(Search),
    /// `stats`.
    Stats(Stats),
    /// `mock`.
    Mock(Mock),
    /// `script`.
    Script(Script),
}

/// No arguments.
#[derive(Args, Clone, Debug)]
pub struct Nothing {}

/// The words of a prompt.
#[derive(Args, Clone, Debug)]
pub struct Words {
    /// Initial prompt for the agent
    #[arg(value_name = "prompt")]
    pub prompt: Vec<String>,
}

/// A command that answers people or programs.
#[derive(Args, Clone, Debug)]
pub struct Formatted {
    /// Output format: text or json (default: text)
    #[arg(long, value_name = "format", default_value = "text", hide_default_value = true)]
    pub format: Format,
}

/// `login`.
#[derive(Args, Clone, Debug)]
pub struct Login {
    /// The provider that the key is for, such as openai or anthropic
    #[arg(value_name = "provider")]
    pub provider: Option<String>,
    /// Read the key from stdin (`-`) instead of asking for it
    #[arg(long, value_name = "-")]
    pub with_key: Option<String>,
    /// Keep the key without trying it
    #[arg(long)]
    pub no_check: bool,
}

/// `logout`.
#[derive(Args, Clone, Debug)]
pub struct Logout {
    /// The provider whose key is forgotten (default: all)
    #[arg(value_name = "provider")]
    pub provider: Option<String>,
}

/// `doctor`.
#[derive(Args, Clone, Debug)]
pub struct Doctor {
    /// Answer with one JSON object
    #[arg(long)]
    pub json: bool,
}

/// `config`.
#[derive(Args, Clone, Debug)]
pub struct Config {
    /// list, get, set, unset or path (default: list)
    #[arg(value_name = "action", default_value = "list", hide_default_value = true)]
    pub action: ConfigAction,
    /// A setting, such as permissions.allow
    #[arg(value_name = "key")]
    pub key: Option<String>,
    /// Its value, as JSON or as plain text
    #[arg(value_name = "value")]
    pub value: Option<String>,
    /// Say where each value comes from
    #[arg(long)]
    pub origin: bool,
    /// Output format: text or json (default: text)
    #[arg(long, value_name = "format", default_value = "text", hide_default_value = true)]
    pub format: Format,
}

/// What `config` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ConfigAction {
    /// Shows all effective values.
    List,
    /// Shows one.
    Get,
    /// Changes one in the user's file.
    Set,
    /// Takes one out of the user's file.
    Unset,
    /// Shows the files.
    Path,
}

/// `trust`.
#[derive(Args, Clone, Debug)]
pub struct Trust {
    /// list, add or remove (default: list)
    #[arg(value_name = "action", default_value = "list", hide_default_value = true)]
    pub action: TrustAction,
    /// A directory (default: the workspace)
    #[arg(value_name = "dir")]
    pub folder: Option<String>,
    /// Output format: text or json (default: text)
    #[arg(long, value_name = "format", default_value = "text", hide_default_value = true)]
    pub format: Format,
}

/// What `trust` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum TrustAction {
    /// Shows what is trusted.
    List,
    /// Trusts a workspace as it is now.
    Add,
    /// Trusts it no more.
    Remove,
}

/// `completions`.
#[derive(Args, Clone, Debug)]
pub struct Completions {
    /// bash, zsh, fish, elvish or powershell
    #[arg(value_name = "shell")]
    pub shell: clap_complete::Shell,
}

/// `man`.
#[derive(Args, Clone, Debug)]
pub struct Man {
    /// Write one page for each command into this directory
    #[arg(long, value_name = "dir")]
    pub out: Option<String>,
}

/// `install-shell-integration` and its opposite.
#[derive(Args, Clone, Debug)]
pub struct Shell {
    /// zsh, bash or fish (default: the one in SHELL)
    #[arg(long, value_name = "shell")]
    pub shell: Option<KnownShell>,
}

/// The shells whose start-up files we know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum KnownShell {
    /// `~/.zshrc`
    Zsh,
    /// `~/.bashrc`
    Bash,
    /// `~/.config/fish/config.fish`
    Fish,
}

/// `link`.
#[derive(Args, Clone, Debug)]
pub struct Link {
    /// Where to make the links (default: ~/.local/bin)
    #[arg(long, value_name = "dir")]
    pub dir: Option<String>,
}

/// `ls`.
#[derive(Args, Clone, Debug)]
pub struct List {
    /// Output format: text or json (default: text)
    #[arg(long, value_name = "format")]
    pub format: Option<Format>,
    /// The chats of all workspaces
    #[arg(long)]
    pub all: bool,
    /// How many at the most
    #[arg(long, value_name = "n", value_parser = super::values::count, default_value = "100")]
    pub most: u64,
}

/// `export`.
#[derive(Args, Clone, Debug)]
pub struct Export {
    /// A chat: its id, the beginning of its id, or its title
    #[arg(value_name = "id")]
    pub id: String,
    /// jsonl or markdown (default: jsonl)
    #[arg(long, value_name = "format", default_value = "jsonl", hide_default_value = true)]
    pub format: ExportFormat,
    /// Write to this file instead of stdout
    #[arg(long, value_name = "file")]
    pub out: Option<String>,
}

/// `rm`.
#[derive(Args, Clone, Debug)]
pub struct Remove {
    /// Chats: their ids, the beginnings of their ids, or their titles
    #[arg(value_name = "id", required = true)]
    pub ids: Vec<String>,
}

/// `fork`.
#[derive(Args, Clone, Debug)]
pub struct Fork {
    /// A chat: its id, the beginning of its id, or its title
    #[arg(value_name = "id")]
    pub id: String,
}

/// `search`.
#[derive(Args, Clone, Debug)]
pub struct Search {
    /// What to look for in titles and messages
    #[arg(value_name = "words", required = true)]
    pub words: Vec<String>,
    /// Output format: text or json (default: text)
    #[arg(long, value_name = "format", default_value = "text", hide_default_value = true)]
    pub format: Format,
    /// In the chats of all workspaces
    #[arg(long)]
    pub all: bool,
}

/// `stats`.
#[derive(Args, Clone, Debug)]
pub struct Stats {
    /// A chat: its id, the beginning of its id, or its title (default: all of this workspace)
    #[arg(value_name = "id")]
    pub id: Option<String>,
    /// Output format: text or json (default: text)
    #[arg(long, value_name = "format", default_value = "text", hide_default_value = true)]
    pub format: Format,
    /// The chats of all workspaces
    #[arg(long)]
    pub all: bool,
}

/// `mock`.
#[derive(Args, Clone, Debug)]
pub struct Mock {
    /// serve
    #[arg(value_name = "action")]
    pub action: MockAction,
    /// The script file to serve
    #[arg(long, value_name = "file", required = true)]
    pub script: String,
    /// The wire format: chat, responses, messages or gemini
    #[arg(long, value_name = "format", required = true)]
    pub api: WireApi,
    /// The port on 127.0.0.1; 0 takes a free one (default: 0)
    #[arg(long, value_name = "n", default_value = "0", hide_default_value = true, value_parser = super::values::port)]
    pub port: u16,
}

/// What `mock` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum MockAction {
    /// Serves a script over HTTP.
    Serve,
}

/// `script`.
#[derive(Args, Clone, Debug)]
pub struct Script {
    /// check
    #[arg(value_name = "action")]
    pub action: ScriptAction,
    /// The script file
    #[arg(value_name = "file")]
    pub file: String,
    /// Output format: text or json (default: text)
    #[arg(long, value_name = "format", default_value = "text", hide_default_value = true)]
    pub format: Format,
}

/// What `script` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ScriptAction {
    /// Checks a script without playing it.
    Check,
}

/// One row of the table of commands.
pub struct Row {
    /// What it is called.
    pub name: &'static str,
    /// What it is also called.
    pub alias: Option<&'static str>,
    /// One line of help.
    pub about: &'static str,
    /// Adds its arguments to a parser.
    pub arguments: fn(Command) -> Command,
    /// Takes its arguments out of what was parsed.
    pub choose: fn(&ArgMatches) -> Result<Chosen, clap::Error>,
    /// Whether help shows it.
    pub shown: Shown,
}

/// Whether help shows a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// It does.
    Yes,
    /// It works, but only packagers need it.
    Hidden,
}

macro_rules! row {
    ($name:literal $(| $alias:literal)?, $about:literal, $variant:ident($arguments:ident), $shown:ident) => {{
        #[allow(unused_mut, unused_assignments, clippy::allow_attributes, reason = "not every row has an alias")]
        let mut alias = None;
        $(alias = Some($alias);)?
        Row {
            name: $name,
            alias,
            about: $about,
            arguments: $arguments::augment_args,
            choose: |matches| $arguments::from_arg_matches(matches).map(Chosen::$variant),
            shown: Shown::$shown,
        }
    }};
}

/// All commands, in the order that help shows them.
pub fn table() -> Vec<Row> {
    let mut rows = agent_rows();
    rows.extend(machine_rows());
    rows
}

fn agent_rows() -> Vec<Row> {
    vec![
        row!("agent", "Start the agent (default command)", Prompt(Words), Yes),
        row!("resume", "Resume the latest chat session", Resume(Words), Yes),
        row!("ls", "List chat sessions", List(List), Yes),
        row!("create-chat", "Create a new empty chat and return its ID", CreateChat(Nothing), Yes),
        row!("export", "Write a chat session out as JSON lines or markdown", Export(Export), Yes),
        row!("fork", "Copy a chat session and return the copy's ID", Fork(Fork), Yes),
        row!("rm", "Remove chat sessions", Remove(Remove), Yes),
        row!("search", "Search titles and messages of chat sessions", Search(Search), Yes),
        row!("stats", "Sum up turns, tokens and cost of chat sessions", Stats(Stats), Yes),
        row!("models", "List the models", Models(Formatted), Yes),
        row!("login", "Keep the key of a model provider", Login(Login), Yes),
        row!("logout", "Forget kept keys", Logout(Logout), Yes),
        row!("status" | "whoami", "View authentication status", Status(Formatted), Yes),
        row!("about", "Show version and environment", About(Formatted), Yes),
    ]
}

fn machine_rows() -> Vec<Row> {
    vec![
        row!("config", "Show and change settings, with where they come from", Config(Config), Yes),
        row!("trust", "List, add or remove trusted workspaces", Trust(Trust), Yes),
        row!("doctor", "Check what works here, with a remedy for what does not", Doctor(Doctor), Yes),
        row!("script", "Check a script file and list its turns", Script(Script), Yes),
        row!("mock", "Serve a script file as a model API over loopback HTTP", Mock(Mock), Yes),
        row!("completions", "Print a completion script for a shell", Completions(Completions), Yes),
        row!("man", "Print the manual page, or write all pages", Man(Man), Hidden),
        row!(
            "install-shell-integration",
            "Install shell integration to the shell's start-up file",
            InstallShell(Shell),
            Yes
        ),
        row!(
            "uninstall-shell-integration",
            "Remove shell integration from the shell's start-up file",
            UninstallShell(Shell),
            Yes
        ),
        row!("link", "Make the names `agent` and `cursor-agent` start this program", Link(Link), Yes),
        row!("update" | "upgrade", "Tell how to update this installation", Update(Nothing), Yes),
    ]
}

/// Commands of the documented surface that later versions bring.
const LATER: [&str; 10] = [
    "mcp",
    "acp",
    "sandbox",
    "generate-rule",
    "rule",
    "worker",
    "plugin",
    "bedrock",
    "persist",
    "set-channel",
];

/// Whether a word is the name of a command that a later version brings.
pub fn is_later(name: &str) -> bool {
    LATER.contains(&name)
}

/// Finds a command by name or alias.
pub fn find(name: &str) -> Option<Row> {
    table().into_iter().find(|row| row.name == name || row.alias == Some(name))
}
