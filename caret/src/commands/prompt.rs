//! The agent itself: from what was typed to a run that can start.

use super::Call;
use crate::args::options::Options;
use crate::exit::{Exit, Failure};
use crate::settings::{self, RunSettings, Settings};

/// Runs a prompt, or says why it cannot be run.
pub fn run(call: Call<'_>, words: &[String]) -> Result<Exit, Failure> {
    if !settings::is_print(call.options, call.environment) {
        return Err(no_screen(call));
    }
    let settings = RunSettings::find(call.invoked, call.options, words, call.environment, super::now_ms())?;
    for warning in &settings.common.config.warnings {
        call.output.warn(warning);
    }
    crate::agent::print(&settings, call.environment)
}

/// Goes on with the latest chat.
pub fn resume(call: Call<'_>, words: &[String]) -> Result<Exit, Failure> {
    let options = Options { continue_latest: true, ..call.options.clone() };
    settings::choose_session(&options)?;
    let settings = Settings::find(call.invoked, call.options, call.environment)?;
    let chat = super::sessions::latest(&settings, 1)?;
    if settings::is_print(call.options, call.environment) {
        return run(Call { options: &options, ..call }, words);
    }
    call.output.say(&super::sessions::how_to_resume(call.invoked.name(), &chat));
    Err(no_screen(call))
}

fn no_screen(call: Call<'_>) -> Failure {
    if let Err(failure) = settings::check_screen_options(call.options) {
        return failure;
    }
    let name = call.invoked.name();
    Failure::new(
        Exit::Unavailable,
        format!(
            "not available in this version: the interactive screen\n\
             Use print mode instead:  {name} -p \"list files\"\n\
             or pipe the prompt in:   echo \"list files\" | {name} -p\n\
             See {name} --help for more."
        ),
    )
}
