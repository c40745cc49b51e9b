//! What the model reads before the conversation.

use caret_protocol::event::Mode;

/// The instructions of a mode; the same bytes for every request of a session.
pub(crate) fn system(mode: Mode) -> String {
    let prose = match mode {
        Mode::Agent => "",
        Mode::Plan => include_str!("prompts/plan.md"),
        Mode::Ask => include_str!("prompts/ask.md"),
    };
    format!("{}{prose}", include_str!("prompts/system.md"))
}
