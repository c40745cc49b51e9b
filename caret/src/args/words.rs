//! Looks through the typed words once, before they are parsed: where is the first word that is no option, is
//! help wanted, and is there an option that nobody knows?
//!
//! The parser could answer the last question too, but it takes a prompt such as `- item one` for a bundle of
//! one-letter options; callers expect the whole word in the message.

use clap::{Arg, Command};

/// What was found; positions are indexes of the typed words.
#[derive(Debug, Default, PartialEq)]
pub struct Found {
    /// The first word that is no option and no option's value.
    pub first_word: Option<usize>,
    /// The first option that is not known.
    pub unknown: Option<usize>,
    /// Whether help is wanted, and how much.
    pub help: Option<Length>,
}

/// How much help is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// `-h`
    Short,
    /// `--help`
    Long,
}

/// Looks through the words, knowing the options of `parser`.
pub fn look_through(parser: &Command, words: &[String]) -> Found {
    let mut found = Found::default();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let next_is_value = words.get(at + 1).is_some_and(|next| !next.starts_with('-') || next == "-");
        let value = if word == "--" {
            // Everything after it is prompt, so no word there can be a command.
            break;
        } else if let Some(long) = word.strip_prefix("--") {
            look_at_long(parser, long, at, &mut found)
        } else if word.len() > 1 && word.starts_with('-') {
            look_at_short(parser, &word[1..], at, &mut found)
        } else {
            found.first_word.get_or_insert(at);
            Value::None
        };
        at += match value {
            Value::None => 1,
            Value::Follows if next_is_value => 2,
            Value::Follows => 1,
        };
    }
    found
}

/// Whether the next word belongs to an option.
enum Value {
    None,
    Follows,
}

fn look_at_long(parser: &Command, long: &str, at: usize, found: &mut Found) -> Value {
    let (name, has_value) = match long.split_once('=') {
        Some((name, _)) => (name, true),
        None => (long, false),
    };
    if name == "help" {
        found.help.get_or_insert(Length::Long);
        return Value::None;
    }
    match parser.get_arguments().find(|argument| is_called(argument, name)) {
        Some(argument) if argument.get_action().takes_values() && !has_value => Value::Follows,
        Some(_) => Value::None,
        None => {
            found.unknown.get_or_insert(at);
            Value::None
        }
    }
}

fn is_called(argument: &Arg, name: &str) -> bool {
    argument.get_long() == Some(name)
        || argument.get_all_aliases().is_some_and(|aliases| aliases.contains(&name))
}

fn look_at_short(parser: &Command, letters: &str, at: usize, found: &mut Found) -> Value {
    for (index, letter) in letters.char_indices() {
        if letter == 'h' {
            found.help.get_or_insert(Length::Short);
            continue;
        }
        match parser.get_arguments().find(|argument| argument.get_short() == Some(letter)) {
            Some(argument) if argument.get_action().takes_values() => {
                let is_last = index + letter.len_utf8() == letters.len();
                return if is_last { Value::Follows } else { Value::None };
            }
            Some(_) => {}
            None => {
                found.unknown.get_or_insert(at);
                return Value::None;
            }
        }
    }
    Value::None
}
