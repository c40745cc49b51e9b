//! The script file: its shape in TOML and JSON, and everything that can be wrong with it.
//!
//! A script is checked whole when it is read, so that a run never stops at a typing mistake in its last turn.
//! Invariant: whatever parses can be played; every error names the file and, where known, the line.

use super::fill::Template;
use crate::model::price::Price;
use caret_protocol::content::{Stop, Usage};
use regex::Regex;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashSet;
use std::fmt;

/// Where a script's text came from: a file name, for messages and for telling TOML from JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceName(String);

impl SourceName {
    /// Wraps a file name or another name for the text.
    pub fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What is wrong with a script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ScriptError {
    /// The file.
    pub source_name: String,
    /// The line, from 1, if it is known.
    pub line: Option<usize>,
    /// What is wrong there and what to write instead.
    pub message: String,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(out, "{}:{line}: {}", self.source_name, self.message),
            None => write!(out, "{}: {}", self.source_name, self.message),
        }
    }
}

/// What a valid script holds, for people who check one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outline {
    /// The name it gives to its model.
    pub model: String,
    /// How many replies it has, repetitions counted.
    pub replies: u64,
    /// The tools it calls, in order of appearance and as they are written.
    pub tools: Vec<String>,
    /// One short line for each turn: when it is taken, what it consists of.
    pub turns: Vec<String>,
}

/// Checks a script without playing it.
pub fn check(text: &str, source: &SourceName) -> Result<Outline, ScriptError> {
    let script = Script::parse(text, source)?;
    let mut tools: Vec<String> = Vec::new();
    for emit in script.turns.iter().flat_map(|turn| &turn.emit) {
        if let Emit::Call(call) = emit
            && !tools.contains(&call.name)
        {
            tools.push(call.name.clone());
        }
    }
    let replies = script.turns.iter().map(|turn| u64::from(turn.repeat)).sum();
    let turns = script.turns.iter().map(Turn::outline).collect();
    Ok(Outline { model: script.model, replies, tools, turns })
}

/// A whole script.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Script {
    #[expect(dead_code, reason = "read to refuse versions that are not known")]
    version: Version,
    #[serde(default = "unnamed")]
    pub(super) model: String,
    #[serde(default, deserialize_with = "price")]
    pub(super) price: Option<Price>,
    #[serde(default)]
    pub(super) context_window: Option<u64>,
    #[serde(default)]
    pub(super) at_end: AtEnd,
    #[serde(rename = "turn", alias = "turns", default)]
    pub(super) turns: Vec<Turn>,
}

fn price<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Price>, D::Error> {
    let price = Price::deserialize(from)?;
    match price.is_sound() {
        true => Ok(Some(price)),
        false => Err(serde::de::Error::custom("a price is a number of US dollars from 0")),
    }
}

fn unnamed() -> String {
    "script".into()
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "u64")]
struct Version;

impl TryFrom<u64> for Version {
    type Error = String;

    fn try_from(version: u64) -> Result<Self, String> {
        match version {
            1 => Ok(Self),
            other => Err(format!("script version {other} is not known; write `version = 1`")),
        }
    }
}

/// What comes after the last turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum AtEnd {
    #[default]
    Error,
    Repeat,
    Offline,
}

/// One reply of the model.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Turn {
    #[serde(default)]
    pub(super) when: Option<When>,
    #[serde(default)]
    pub(super) expect: Expected,
    pub(super) emit: Vec<Emit>,
    #[serde(default, deserialize_with = "stop")]
    pub(super) stop: Option<Stop>,
    #[serde(default = "once", deserialize_with = "positive")]
    pub(super) repeat: u32,
}

impl Turn {
    fn outline(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        for emit in &self.emit {
            let part = emit.outline();
            if parts.last() != Some(&part) {
                parts.push(part);
            }
        }
        let mut line = match parts.is_empty() {
            true => "nothing".to_owned(),
            false => parts.join(", "),
        };
        if let Some(when) = &self.when {
            line = format!("when {}: {line}", when.user);
        }
        match self.repeat {
            1 => line,
            times => format!("{line} ({times} times)"),
        }
    }
}

fn once() -> u32 {
    1
}

fn positive<'de, D: serde::Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    match u32::deserialize(from)? {
        0 => Err(serde::de::Error::custom("0 times is never; write 1 or more, or leave it out")),
        times => Ok(times),
    }
}

fn stop<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Stop>, D::Error> {
    let name = String::deserialize(from)?;
    Ok(Some(match name.as_str() {
        "end_turn" | "stop" => Stop::EndTurn,
        "tool_calls" | "tool_use" => Stop::ToolCalls,
        "max_tokens" | "length" => Stop::MaxTokens,
        "refusal" => Stop::Refusal,
        other => {
            let known = "`end_turn`, `tool_calls`, `max_tokens` or `refusal`";
            return Err(serde::de::Error::custom(format!("stop `{other}` is not known; write {known}")));
        }
    }))
}

/// When a turn is taken out of order.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct When {
    pub(super) user: Pattern,
}

/// What must be true of a request.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Expected {
    pub(super) tools: Vec<String>,
    pub(super) last_result: Option<Pattern>,
    pub(super) user: Option<Pattern>,
}

/// A piece of text, or a regular expression between slashes.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) enum Pattern {
    Text(String),
    Regex(Regex),
}

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')) {
            Some(pattern) if !pattern.is_empty() => Regex::new(pattern).map(Self::Regex).map_err(|error| {
                let all = error.to_string();
                let last = all.lines().last().unwrap_or_default().trim_start_matches("error: ");
                format!("`{text}` is no regular expression: {last}")
            }),
            _ => Ok(Self::Text(text)),
        }
    }
}

impl Pattern {
    pub(super) fn matches(&self, text: &str) -> bool {
        match self {
            Self::Text(part) => text.contains(part.as_str()),
            Self::Regex(regex) => regex.is_match(text),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(out, "`{text}`"),
            Self::Regex(regex) => write!(out, "/{regex}/"),
        }
    }
}

/// One thing that a reply consists of.
#[derive(Clone, Debug)]
pub(super) enum Emit {
    Thinking {
        text: Template,
        signature: Option<String>,
    },
    Text {
        deltas: Vec<Template>,
        chunk: Option<usize>,
    },
    TextRepeat {
        text: Template,
        times: u32,
    },
    Call(Call),
    Delay {
        milliseconds: u64,
    },
    Usage(Usage),
    Fault {
        fault: Fault,
        times: u32,
    },
    /// Bytes for a wire; there is none inside the process.
    Raw(String),
}

/// A tool call.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) name: String,
    pub(super) id: Option<String>,
    pub(super) input: Value,
    pub(super) malformed: Option<String>,
    /// In how large parts the arguments go over a wire.
    pub(super) chunk: Option<usize>,
}

/// A way for a reply to go wrong.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Fault {
    /// The server answers with an error.
    Status { status: u16, retry_after_ms: Option<u64>, message: String },
    /// The connection dies.
    Cut,
    /// Something comes that is no JSON.
    Garbage(String),
}

impl Script {
    /// Reads TOML or JSON, by the name's ending or else by the first character.
    pub(super) fn parse(text: &str, source: &SourceName) -> Result<Self, ScriptError> {
        let error = |line: Option<usize>, message: String| ScriptError {
            source_name: source.0.clone(),
            line,
            message,
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let name = source.0.to_lowercase();
        let is_json =
            name.ends_with(".json") || !name.ends_with(".toml") && text.trim_start().starts_with('{');
        let script: Self = if is_json {
            serde_json::from_str(text).map_err(|wrong| {
                let message = wrong.to_string();
                let bare = message.split(" at line ").next().unwrap_or(&message);
                error(Some(wrong.line()).filter(|line| *line > 0), bare.to_owned())
            })?
        } else {
            toml::from_str(text).map_err(|wrong: toml::de::Error| {
                let line = wrong.span().map(|span| line_of(text, span.start));
                error(line, wrong.message().trim().replace('\n', ": "))
            })?
        };
        if script.turns.is_empty() {
            return Err(error(None, "there are no turns; write at least one `[[turn]]`".into()));
        }
        script.check_results(text).map_err(|(line, message)| error(line, message))?;
        Ok(script)
    }

    /// Every `{{result.ID}}` must name a call of an earlier entry.
    fn check_results(&self, text: &str) -> Result<(), (Option<usize>, String)> {
        let mut ids: HashSet<&str> = HashSet::new();
        let all: HashSet<&str> = self.calls().filter_map(|call| call.id.as_deref()).collect();
        for turn in &self.turns {
            for template in turn.emit.iter().flat_map(Emit::templates) {
                for id in template.results() {
                    if ids.contains(id) || self.at_end == AtEnd::Repeat && all.contains(id) {
                        continue;
                    }
                    let line = text.find(&format!("result.{id}")).map(|at| line_of(text, at));
                    let message = match all.contains(id) {
                        true => format!("`{{{{result.{id}}}}}` comes before the call `{id}`"),
                        false => format!("no call has the id `{id}` that `{{{{result.{id}}}}}` names"),
                    };
                    return Err((line, message));
                }
            }
            ids.extend(turn.emit.iter().filter_map(|emit| match emit {
                Emit::Call(call) => call.id.as_deref(),
                _ => None,
            }));
        }
        Ok(())
    }

    fn calls(&self) -> impl Iterator<Item = &Call> {
        self.turns.iter().flat_map(|turn| &turn.emit).filter_map(|emit| match emit {
            Emit::Call(call) => Some(call),
            _ => None,
        })
    }
}

impl Emit {
    /// What it is, in a word or two.
    fn outline(&self) -> String {
        match self {
            Self::Thinking { .. } => "thinking".into(),
            Self::Text { .. } | Self::TextRepeat { .. } => "text".into(),
            Self::Call(call) => format!("call {}", call.name),
            Self::Delay { milliseconds } => format!("wait {milliseconds} ms"),
            Self::Usage(_) => "usage".into(),
            Self::Fault { fault: Fault::Status { status, .. }, .. } => format!("error {status}"),
            Self::Fault { fault: Fault::Cut, .. } => "cut".into(),
            Self::Fault { fault: Fault::Garbage(_), .. } => "malformed".into(),
            Self::Raw(_) => "raw".into(),
        }
    }

    fn templates(&self) -> Vec<&Template> {
        match self {
            Self::Thinking { text, .. } | Self::TextRepeat { text, .. } => vec![text],
            Self::Text { deltas, .. } => deltas.iter().collect(),
            _ => Vec::new(),
        }
    }
}

fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes().iter().take(at).filter(|byte| **byte == b'\n').count() + 1
}
