//! The options that every way of calling the program takes.
//!
//! A field's comment is its help text. What is typed is checked for its form only; what it means together
//! with everything else is worked out in `settings`.

use super::values::{
    self, Color, EventSet, ExitCodes, InputFormat, OutputFormat, PromptProfile, Sandbox, WorkMode,
};
use std::time::Duration;

const RUN: &str = "Output options (print mode only)";
const CHAT: &str = "Chat options";
const LIMIT: &str = "Limits";
const NETWORK: &str = "Model servers";
const TAPE: &str = "Recording";
const LATER: &str = "Options of later versions";

/// Everything that can be typed before, between and after the words of a prompt.
#[derive(clap::Args, Clone, Debug)]
pub struct Options {
    /// Output the version number
    #[arg(short = 'v', long)]
    pub version: bool,

    /// Print responses to the console, without the interactive screen
    ///
    /// This is also what happens when stdout is not a terminal or stdin is a pipe. Without words on the command
    /// line, the whole of stdin is the prompt.
    #[arg(short, long)]
    pub print: bool,

    /// API key for authentication (or use the CURSOR_API_KEY env var)
    #[arg(long, value_name = "key", hide_short_help = true)]
    pub api_key: Option<String>,

    /// Token for authentication (or use the CURSOR_AUTH_TOKEN env var)
    #[arg(long, value_name = "token", hide = true)]
    pub auth_token: Option<String>,

    /// Model to use, such as `auto`, `offline` or `openai/gpt-5`
    ///
    /// `models` lists what there is. Brackets hold parameters, as in `openai/gpt-5[effort=high]`. `auto` is the first provider with a key, then a configured local server, then
    /// the offline model. CARET_SCRIPT=FILE is the same as `--model script:FILE`.
    #[arg(long, value_name = "model")]
    pub model: Option<String>,

    /// List the models and exit
    #[arg(long)]
    pub list_models: bool,

    /// How much the model is told: auto, full or tiny (default: auto)
    ///
    /// tiny offers five tools in few words, about 600 tokens; auto takes it for models with at most 16k tokens
    /// of context.
    #[arg(long, value_name = "profile", hide_short_help = true)]
    pub profile: Option<PromptProfile>,

    /// What the agent may do: plan (reads and plans) or ask (reads and answers)
    #[arg(long, value_name = "mode")]
    pub mode: Option<WorkMode>,

    /// Short for `--mode plan`
    #[arg(long)]
    pub plan: bool,

    /// Run everything unless it is explicitly denied
    #[arg(short, long, visible_alias = "yolo")]
    pub force: bool,

    /// Trust this workspace without asking, and remember it
    #[arg(long)]
    pub trust: bool,

    /// Workspace directory (default: the current directory)
    #[arg(long, value_name = "path")]
    pub workspace: Option<String>,

    /// A further directory to work in; can be given several times
    #[arg(long, value_name = "path")]
    pub add_dir: Vec<String>,

    /// Approve all MCP servers
    #[arg(long, hide_short_help = true)]
    pub approve_mcps: bool,

    /// Use colours: auto, always or never
    #[arg(long, value_name = "when", hide_short_help = true)]
    pub color: Option<Color>,

    /// Keep warnings back
    #[arg(long, hide_short_help = true)]
    pub quiet: bool,

    /// Say more on stderr about what happens
    #[arg(long, hide_short_help = true)]
    pub debug: bool,

    /// Resume a chat session; =-N means the N-th most recent one
    #[arg(long, value_name = "chatId", num_args = 0..=1, default_missing_value = "", help_heading = CHAT)]
    pub resume: Option<String>,

    /// Resume the most recent chat session
    #[arg(long = "continue", help_heading = CHAT)]
    pub continue_latest: bool,

    /// Give the new chat this id, a UUIDv4
    #[arg(long, value_name = "uuid", hide_short_help = true, help_heading = CHAT)]
    pub new_session_id: Option<String>,

    /// Title of the new chat
    #[arg(short, long, value_name = "title", help_heading = CHAT)]
    pub name: Option<String>,

    /// Keep nothing of this chat on disk
    #[arg(long, help_heading = CHAT)]
    pub no_save: bool,

    /// Output format: text, json or stream-json (default: text)
    #[arg(long, value_name = "format", help_heading = RUN)]
    pub output_format: Option<OutputFormat>,

    /// Stream partial output as individual text deltas (requires --print and stream-json format)
    #[arg(long, help_heading = RUN)]
    pub stream_partial_output: bool,

    /// Input format: text or stream-json (default: text)
    ///
    /// With stream-json, prompts, approvals and answers come as JSON lines on stdin.
    #[arg(long, value_name = "format", help_heading = RUN)]
    pub input_format: Option<InputFormat>,

    /// Which events stream-json carries: standard or extended (default: standard)
    #[arg(long, value_name = "set", hide_short_help = true, help_heading = RUN)]
    pub events: Option<EventSet>,

    /// Exit codes: plain (0, 1) or detailed (default: plain; or use CARET_EXIT_CODES)
    #[arg(long, value_name = "style", hide_short_help = true, help_heading = RUN)]
    pub exit_codes: Option<ExitCodes>,

    /// Exit with a failure when a tool was denied
    #[arg(long, hide_short_help = true, help_heading = RUN)]
    pub fail_on_denied: bool,

    /// End after N model calls
    #[arg(long, value_name = "n", value_parser = values::count, help_heading = LIMIT)]
    pub max_turns: Option<u64>,

    /// End after this time: 90, 90s, 5m or 1h
    #[arg(long, value_name = "secs", value_parser = values::duration, help_heading = LIMIT)]
    pub timeout: Option<Duration>,

    /// End after N tokens
    #[arg(long, value_name = "n", value_parser = values::count, help_heading = LIMIT)]
    pub max_tokens: Option<u64>,

    /// End after this much money, in US dollars
    ///
    /// It is checked before each model call, for all turns of the run together. A model whose price is not
    /// known is refused.
    #[arg(long, value_name = "usd", value_parser = values::money, help_heading = LIMIT)]
    pub max_cost: Option<f64>,

    /// Base address of a model server (or use the CURSOR_API_ENDPOINT env var)
    ///
    /// Every model id then is one of that server; without --model it is the first that the server lists.
    #[arg(short, long, value_name = "url", hide_short_help = true, help_heading = NETWORK)]
    pub endpoint: Option<String>,

    /// What the server of --endpoint speaks: chat, responses, messages or gemini
    #[arg(long, value_name = "format", hide_short_help = true, help_heading = NETWORK)]
    pub endpoint_api: Option<String>,

    /// Do not verify TLS certificates
    #[arg(short = 'k', long, hide_short_help = true, help_heading = NETWORK)]
    pub insecure: bool,

    /// Extra request header; can be given several times
    #[arg(short = 'H', long, value_name = "Name: Value", hide_short_help = true, help_heading = NETWORK)]
    pub header: Vec<String>,

    /// Write all model calls of this run to a new file, to be replayed later
    #[arg(long, value_name = "file", hide_short_help = true, help_heading = TAPE)]
    pub record: Option<String>,

    /// Take the model's replies from a recorded file; a request that is not in it fails
    #[arg(long, value_name = "file", hide_short_help = true, help_heading = TAPE)]
    pub replay: Option<String>,

    #[command(flatten)]
    pub later: LaterOptions,
}

/// Options of the documented surface whose features are not here yet. They are parsed so that a caller
/// is told the truth instead of being misunderstood.
#[derive(clap::Args, Clone, Debug)]
pub struct LaterOptions {
    /// Let a classifier decide what is not allow-listed
    #[arg(long, hide_short_help = true, help_heading = LATER)]
    pub auto_review: bool,
    /// Override the sandbox setting for this run: enabled or disabled
    #[arg(long, value_name = "mode", hide_short_help = true, help_heading = LATER)]
    pub sandbox: Option<Sandbox>,
    /// Load a local plugin; can be given several times
    #[arg(long, value_name = "path", hide_short_help = true, help_heading = LATER)]
    pub plugin_dir: Vec<String>,
    /// Run in a git worktree
    #[arg(short = 'w', long, value_name = "name", num_args = 0..=1, default_missing_value = "", hide_short_help = true, help_heading = LATER)]
    pub worktree: Option<String>,
    /// Base of that worktree
    #[arg(long, value_name = "ref", hide_short_help = true, help_heading = LATER)]
    pub worktree_base: Option<String>,
    /// Do not run the setup script of that worktree
    #[arg(long, hide_short_help = true, help_heading = LATER)]
    pub skip_worktree_setup: bool,
    /// Start in background mode
    #[arg(short, long, hide_short_help = true, help_heading = LATER)]
    pub background: bool,
    /// Start in cloud mode
    #[arg(short, long, hide_short_help = true, help_heading = LATER)]
    pub cloud: bool,
    /// Enable browser automation
    #[arg(long, hide_short_help = true, help_heading = LATER)]
    pub browser: bool,
    /// Replace the system prompt
    #[arg(long, value_name = "text", hide = true, help_heading = LATER)]
    pub system_prompt: Option<String>,
}

impl LaterOptions {
    /// The first option whose feature the run would need and does not have.
    pub fn missing(&self) -> Option<&'static str> {
        let used = [
            (self.auto_review, "--auto-review"),
            (!self.plugin_dir.is_empty(), "--plugin-dir"),
            (self.worktree.is_some(), "--worktree"),
            (self.worktree_base.is_some(), "--worktree-base"),
            (self.skip_worktree_setup, "--skip-worktree-setup"),
            (self.background, "--background"),
            (self.cloud, "--cloud"),
            (self.system_prompt.is_some(), "--system-prompt"),
        ];
        used.into_iter().find_map(|(given, name)| given.then_some(name))
    }

    /// Options that change nothing yet, each with what the user should know.
    pub fn without_effect(&self) -> Vec<&'static str> {
        let used = [
            (self.browser, "--browser: browser automation is not available in this version"),
            (self.sandbox.is_some(), "--sandbox: the sandbox is not available in this version"),
        ];
        used.into_iter().filter_map(|(given, text)| given.then_some(text)).collect()
    }
}
