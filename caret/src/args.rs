//! What was typed: options exactly as given, and the command.
//!
//! The words of a prompt may stand anywhere between options, and only the first word can name a command. So the
//! words are looked through once to find the command, and then parsed with that command's arguments and the
//! common options together. Parsing only parses: meaning is worked out in `settings`.

pub mod commands;
mod errors;
mod help;
pub mod options;
pub mod values;
mod words;

use crate::exit::{Exit, Failure};
use clap::{ArgAction, Args, Command, FromArgMatches};
use commands::{Chosen, Row};
use options::Options;

/// What was typed.
#[derive(Clone, Debug)]
pub enum Parsed {
    /// A command, or a prompt, with its options.
    Run(Box<Options>, Chosen),
    /// A help text to be shown.
    Help(String),
}

/// Understands the arguments of a program that was called `name`.
pub fn parse(name: &'static str, arguments: &[String]) -> Result<Parsed, Failure> {
    let common = common_parser(name);
    let found = words::look_through(&common, arguments);
    let first = found.first_word.map(|at| (at, arguments[at].as_str()));
    if let Some((at, word)) = first
        && commands::is_later(word)
    {
        return match found.unknown.filter(|unknown| *unknown < at) {
            Some(unknown) => Err(errors::unknown_option(&common, &arguments[unknown])),
            None => Err(Failure::not_available(format!("the command '{word}'"))),
        };
    }
    if let Some((at, "help")) = first {
        return help::topic(name, &arguments[at + 1..]).map(Parsed::Help);
    }
    let row = first.and_then(|(at, word)| Some((at, commands::find(word)?)));
    match row {
        Some((at, row)) => {
            let mut rest = arguments.to_vec();
            rest.remove(at);
            parse_with(name, &rest, &row, Named::Yes)
        }
        None => {
            let row =
                commands::find("agent").ok_or_else(|| Failure::new(Exit::Fault, "no default command"))?;
            parse_with(name, arguments, &row, Named::No)
        }
    }
}

/// Whether the command was named, or is the default.
#[derive(Clone, Copy, PartialEq)]
enum Named {
    Yes,
    No,
}

fn parse_with(name: &'static str, arguments: &[String], row: &Row, named: Named) -> Result<Parsed, Failure> {
    let parser = (row.arguments)(common_parser(name));
    let found = words::look_through(&parser, arguments);
    if let Some(length) = found.help {
        return Ok(Parsed::Help(match named {
            Named::Yes => help::of_command(name, row, length),
            Named::No => help::of_program(name, length),
        }));
    }
    if let Some(unknown) = found.unknown {
        return Err(errors::unknown_option(&parser, &arguments[unknown]));
    }
    let command = (named == Named::Yes).then_some(row.name);
    let matches =
        tolerant(parser).try_get_matches_from(arguments).map_err(|error| errors::told(&error, command))?;
    let options = Options::from_arg_matches(&matches).map_err(|error| errors::told(&error, command))?;
    let chosen = (row.choose)(&matches).map_err(|error| errors::told(&error, command))?;
    Ok(Parsed::Run(Box::new(options), chosen))
}

fn common_parser(name: &'static str) -> Command {
    Options::augment_args(
        Command::new(name).no_binary_name(true).disable_help_flag(true).disable_version_flag(true),
    )
}

/// Saying the same flag twice changes nothing; giving two values to one option stays an error.
fn tolerant(parser: Command) -> Command {
    parser.mut_args(|argument| match argument.get_action() {
        ArgAction::SetTrue => {
            let id = argument.get_id().clone();
            argument.overrides_with(id)
        }
        _ => argument,
    })
}

/// The whole program as one tree, for completions and man pages.
pub fn whole(name: &'static str) -> Command {
    help::tree(name)
}

/// Whether detailed exit codes were asked for, told even when the rest cannot be understood.
pub fn wants_detailed_exit_codes(arguments: &[String]) -> bool {
    let mut before = "";
    for word in arguments.iter().take_while(|word| *word != "--") {
        if word == "--exit-codes=detailed" || (before == "--exit-codes" && word == "detailed") {
            return true;
        }
        before = word;
    }
    false
}

#[cfg(test)]
mod tests;
