//! `script`: says whether a script file can be played, and what is in it.

use super::Call;
use crate::args::commands::{Script, ScriptAction};
use crate::args::values::Format;
use crate::catalogue::Models;
use crate::exit::{Exit, Failure};
use crate::output::harmless;
use crate::providers::sources::Sources;
use caret_engine::model::scripted::{Outline, SourceName, check};
use serde_json::json;

/// Checks a script and lists its turns.
pub fn run(call: Call<'_>, arguments: &Script) -> Result<Exit, Failure> {
    let ScriptAction::Check = arguments.action;
    let wrong = |message: String| Failure::new(Exit::Usage, message);
    let models = Models::new(call.environment.folder().to_owned(), Sources::default());
    let text = models.script_text(&arguments.file).map_err(wrong)?;
    let outline =
        check(&text, &SourceName::new(&arguments.file)).map_err(|error| wrong(error.to_string()))?;
    match arguments.format {
        Format::Text => call.output.write(&shown(&outline))?,
        Format::Json => call.output.json(&json!({
            "model": outline.model,
            "replies": outline.replies,
            "tools": outline.tools,
            "turns": outline.turns,
        }))?,
    }
    Ok(Exit::Success)
}

fn shown(outline: &Outline) -> String {
    let mut text = format!("✓ {}: {} replies\n", harmless(&outline.model), outline.replies);
    for (number, turn) in outline.turns.iter().enumerate() {
        text.push_str(&format!("{:>4}  {}\n", number + 1, harmless(turn)));
    }
    text
}
