//! The values that options take, as types: what is not one of them never gets further than the parser.

use clap::ValueEnum;
use std::time::Duration;

/// How a run answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// The final words only.
    #[default]
    Text,
    /// One JSON object at the end.
    Json,
    /// JSON lines as things happen.
    StreamJson,
}

/// How a run is prompted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum InputFormat {
    /// Words.
    #[default]
    Text,
    /// JSON lines on stdin.
    StreamJson,
}

/// Which events `stream-json` carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum EventSet {
    /// Those that existing readers know.
    #[default]
    Standard,
    /// Those, and our own.
    Extended,
}

/// Which exit codes are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ExitCodes {
    /// 0, 1 and the signals.
    #[default]
    Plain,
    /// One for each kind of ending.
    Detailed,
}

/// When colours are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// When a person looks.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What the agent may do, when it is less than everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WorkMode {
    /// Reads, and writes a plan.
    Plan,
    /// Reads, and answers.
    Ask,
}

/// Whether commands run in the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Sandbox {
    /// They do.
    Enabled,
    /// They do not.
    Disabled,
}

/// How information commands answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

/// How a chat is written out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// One event on each line.
    #[default]
    Jsonl,
    /// To be read.
    Markdown,
}

/// How much a model is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PromptProfile {
    /// Little when its context is small.
    #[default]
    Auto,
    /// All tools and instructions.
    Full,
    /// Five tools in few words.
    Tiny,
}

/// The wire formats that a script can be served in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WireApi {
    /// OpenAI Chat Completions.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Anthropic Messages.
    Messages,
    /// Google Gemini.
    Gemini,
}

/// A TCP port.
pub fn port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| "It must be a port from 0 to 65535.".to_owned())
}

/// A whole number above zero.
pub fn count(text: &str) -> Result<u64, String> {
    text.parse()
        .ok()
        .filter(|count| *count > 0)
        .ok_or_else(|| "It must be a whole number above 0.".to_owned())
}

/// A time: seconds, or a number with `s`, `m` or `h`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.char_indices().last() {
        Some((at, 's')) => (&text[..at], 1.0),
        Some((at, 'm')) => (&text[..at], 60.0),
        Some((at, 'h')) => (&text[..at], 3600.0),
        _ => (text, 1.0),
    };
    let plain = !number.is_empty() && number.chars().all(|c| c.is_ascii_digit() || c == '.');
    let seconds = number.parse::<f64>().ok().filter(|_| plain).map(|number| number * unit);
    seconds
        .filter(|seconds| *seconds > 0.0)
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .ok_or_else(|| "It must be a time above 0, such as 90, 90s, 5m or 1h.".to_owned())
}

/// An amount of money above zero.
pub fn money(text: &str) -> Result<f64, String> {
    text.trim_start_matches('$')
        .parse::<f64>()
        .ok()
        .filter(|amount| amount.is_finite() && *amount > 0.0)
        .ok_or_else(|| "It must be an amount above 0, such as 0.50.".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds_unless_they_name_a_unit() {
        let seconds = |text| duration(text).map(|time| time.as_secs_f64()).ok();
        for (text, expected) in [
            ("90", Some(90.0)),
            ("90s", Some(90.0)),
            ("5m", Some(300.0)),
            ("1h", Some(3600.0)),
            ("0.5", Some(0.5)),
            ("0", None),
            ("-1", None),
            ("", None),
            ("s", None),
            ("inf", None),
            ("1e9", None),
            ("5 m", None),
            ("99999999999999999999999h", None),
        ] {
            assert_eq!(seconds(text), expected, "{text}");
        }
    }
}
