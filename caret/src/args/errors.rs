//! Turns what the parser objects to into the words that scripts of the documented surface look for.

use crate::exit::{Exit, Failure};
use crate::near;
use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::error::Error as _;

/// Nobody knows this option.
pub fn unknown_option(parser: &Command, word: &str) -> Failure {
    let names: Vec<String> = parser
        .get_arguments()
        .filter(|argument| !argument.is_hide_set())
        .flat_map(|argument| argument.get_long_and_visible_aliases().unwrap_or_default())
        .chain(["help"])
        .map(|name| format!("--{name}"))
        .collect();
    let typed = word.split('=').next().unwrap_or(word);
    let hint = match typed.strip_prefix("--") {
        Some(_) => near::did_you_mean(typed, names.iter().map(String::as_str)),
        None if word.contains(char::is_whitespace) => {
            "\n(Put -- before a prompt that starts with a dash.)".to_owned()
        }
        None => String::new(),
    };
    usage(format!("unknown option '{}'{hint}", crate::output::harmless(word)))
}

/// Nobody knows this command.
pub fn unknown_command(word: &str) -> Failure {
    let rows = super::commands::table();
    let names = rows.iter().flat_map(|row| [Some(row.name), row.alias]).flatten();
    let hint = match near::did_you_mean(word, names) {
        hint if hint.is_empty() => "\n(Put -- before a prompt that starts with a command's name.)".to_owned(),
        hint => hint,
    };
    usage(format!("unknown command '{}'{hint}", crate::output::harmless(word)))
}

/// Says what the parser objects to.
pub fn told(error: &clap::Error, command: Option<&str>) -> Failure {
    let argument = text(error, ContextKind::InvalidArg);
    let value = crate::output::harmless(&text(error, ContextKind::InvalidValue));
    usage(match error.kind() {
        ErrorKind::UnknownArgument if argument.starts_with('-') => format!("unknown option '{argument}'"),
        ErrorKind::UnknownArgument => {
            let of = command.map(|name| format!(" for '{name}'")).unwrap_or_default();
            format!("too many arguments{of}: '{}'", crate::output::harmless(&argument))
        }
        ErrorKind::InvalidValue if value.is_empty() => format!("{} argument missing", named(&argument)),
        ErrorKind::InvalidValue => {
            let choices = text(error, ContextKind::ValidValue);
            format!("{}. Allowed choices are {choices}.", invalid(&argument, &value))
        }
        ErrorKind::ValueValidation => {
            let reason = error.source().map(ToString::to_string).unwrap_or_default();
            format!("{}. {reason}", invalid(&argument, &value))
        }
        ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => {
            format!("{} argument missing", named(&argument))
        }
        ErrorKind::TooManyValues => format!("{} takes no argument '{value}'", named(&argument)),
        ErrorKind::ArgumentConflict => conflict(&argument, &text(error, ContextKind::PriorArg)),
        ErrorKind::MissingRequiredArgument => {
            format!("missing required argument '{}'", bare(&argument))
        }
        _ => first_line(error),
    })
}

/// Two options that cannot stand together.
pub fn conflict(one: &str, other: &str) -> String {
    if one == other || other.is_empty() {
        format!("{} was given more than once", named(one))
    } else {
        format!("{} cannot be used with {}", named(one), named(other))
    }
}

fn usage(message: String) -> Failure {
    Failure::new(Exit::Usage, message)
}

fn named(argument: &str) -> String {
    match argument.starts_with('-') {
        true => format!("option '{argument}'"),
        false => format!("argument '{}'", bare(argument)),
    }
}

fn invalid(argument: &str, value: &str) -> String {
    match argument.starts_with('-') {
        true => format!("option '{argument}' argument '{value}' is invalid"),
        false => format!("command-argument value '{value}' is invalid for argument '{}'", bare(argument)),
    }
}

/// An argument's name without the brackets that the parser draws round it.
fn bare(argument: &str) -> &str {
    let end = argument.find([',']).unwrap_or(argument.len());
    if argument.starts_with('-') {
        return &argument[..end];
    }
    argument[..end].trim_matches(['<', '>', '[', ']', '.'])
}

fn text(error: &clap::Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(", "),
        _ => String::new(),
    }
}

fn first_line(error: &clap::Error) -> String {
    let rendered = error.to_string();
    let line = rendered.lines().next().unwrap_or("the arguments cannot be understood");
    line.trim_start_matches("error: ").to_owned()
}
