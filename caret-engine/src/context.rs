//! What the model reads before the conversation.

use crate::tools::Profile;
use caret_protocol::event::Mode;

/// The instructions of a mode; the same bytes for every request of a session.
pub(crate) fn system(mode: Mode, profile: Profile) -> String {
    if profile == Profile::Tiny {
        let prose = match mode {
            Mode::Agent => "",
            Mode::Plan => include_str!("prompts/tiny_plan.md"),
            Mode::Ask => include_str!("prompts/tiny_ask.md"),
        };
        return format!("{}{prose}", include_str!("prompts/tiny.md"));
    }
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

    /// About 3,000 tokens, and about 600 for small models.
    const BUDGETS: [(Profile, usize); 2] = [(Profile::Full, 12_000), (Profile::Tiny, 2_400)];

    #[test]
    fn instructions_and_tools_keep_their_budget() {
        let tools = Toolbox::new(all());
        for (profile, budget) in BUDGETS {
            for mode in [Mode::Agent, Mode::Plan, Mode::Ask] {
                let tools: usize = tools
                    .specs(mode, profile)
                    .iter()
                    .map(|spec| spec.name.len() + spec.description.len() + spec.input.to_string().len())
                    .sum();
                let bytes = system(mode, profile).len() + tools;
                assert!(bytes <= budget, "{profile:?} {mode:?}: {bytes} bytes");
            }
        }
    }
}
