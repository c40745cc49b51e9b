//! Which options cannot stand together, or not without each other.

use crate::args::options::Options;
use crate::args::values::{EventSet, InputFormat, OutputFormat, WorkMode};
use crate::exit::{Exit, Failure};

/// Options that cannot stand together, or not without each other.
pub fn check_options(options: &Options) -> Result<(), Failure> {
    if let Some(name) = options.later.missing() {
        return Err(Failure::not_available(format!("the option '{name}'")));
    }
    if options.plan && options.mode == Some(WorkMode::Ask) {
        return Err(conflict("--plan", "--mode ask"));
    }
    if options.record.is_some() && options.replay.is_some() {
        return Err(conflict("--record", "--replay"));
    }
    let streams = options.output_format == Some(OutputFormat::StreamJson);
    if options.stream_partial_output && !streams {
        return Err(needs("--stream-partial-output", "--print and --output-format stream-json"));
    }
    if options.input_format == Some(InputFormat::StreamJson) && !streams {
        return Err(needs("--input-format stream-json", "--print and --output-format stream-json"));
    }
    if options.events == Some(EventSet::Extended)
        && options.output_format.unwrap_or_default() == OutputFormat::Text
    {
        return Err(needs("--events extended", "--output-format json or stream-json"));
    }
    Ok(())
}

/// Options that only print mode has; the first that was given, with what it needs.
pub fn check_screen_options(options: &Options) -> Result<(), Failure> {
    let given = [
        (options.stream_partial_output, "--stream-partial-output"),
        (options.output_format.is_some(), "--output-format"),
        (options.input_format.is_some(), "--input-format"),
    ];
    match given.into_iter().find(|(given, _)| *given) {
        Some((_, name)) => Err(needs(name, "--print")),
        None => Ok(()),
    }
}

fn needs(option: &str, other: &str) -> Failure {
    Failure::new(Exit::Usage, format!("option '{option}' can only be used with {other}"))
}

/// Two options that cannot stand together.
pub fn conflict(one: &str, other: &str) -> Failure {
    Failure::new(Exit::Usage, format!("option '{one}' cannot be used with option '{other}'"))
}
