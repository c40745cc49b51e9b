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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::{Toolbox, all};

    /// About 3,000 tokens.
    const BUDGET_BYTES: usize = 12_000;

    #[test]
    fn instructions_and_tools_keep_their_budget() {
        let tools = Toolbox::new(all());
        for mode in [Mode::Agent, Mode::Plan, Mode::Ask] {
            let tools: usize = tools
                .specs(mode)
                .iter()
                .map(|spec| spec.name.len() + spec.description.len() + spec.input.to_string().len())
                .sum();
            let bytes = system(mode).len() + tools;
            assert!(bytes <= BUDGET_BYTES, "{mode:?}: {bytes} bytes");
        }
    }
}
