//! What one shell command leaves for the next: read from bash's own `declare -px`, as data.
//!
//! The text is never run again, so a command cannot plant code in it for the next one.

use caret_protocol::workspace::ShellState;
use std::path::PathBuf;

/// Names that belong to one run of one command.
const OF_ONE_COMMAND: [&str; 3] = ["SHLVL", "_", "OLDPWD"];

/// Reads the output of `declare -px`; nothing when it is not whole.
pub(super) fn read(text: &str) -> Option<ShellState> {
    let mut environment = Vec::new();
    let mut rest = text;
    while !rest.trim_start().is_empty() {
        let (entry, after) = declaration(rest.trim_start())?;
        rest = after;
        environment.extend(entry);
    }
    let cwd = environment.iter().find(|(name, _)| name == "PWD").map(|(_, value)| PathBuf::from(value))?;
    environment.retain(|(name, _)| !OF_ONE_COMMAND.contains(&name.as_str()));
    Some(ShellState { cwd, environment: Some(environment) })
}

/// One exported name with its value, if it has one.
type Entry = Option<(String, String)>;

/// Takes one declaration off the front.
fn declaration(text: &str) -> Option<(Entry, &str)> {
    let text = text.strip_prefix("declare -")?;
    let (flags, text) = text.split_once(' ')?;
    if !flags.contains('x') || !flags.chars().all(char::is_alphabetic) {
        return None;
    }
    let end = text.find(['=', '\n'])?;
    let (name, text) = text.split_at(end);
    let Some(text) = text.strip_prefix('=') else {
        return Some((None, text));
    };
    if text.starts_with('(') {
        return Some((None, array(text)?));
    }
    let (value, text) = if let Some(text) = text.strip_prefix("$'") { ansi(text)? } else { double(text)? };
    Some((Some((name.to_owned(), value)), text))
}

/// Steps over an array: commands get only plain values.
fn array(text: &str) -> Option<&str> {
    let mut rest = text.strip_prefix('(')?;
    loop {
        let mut chars = rest.chars();
        rest = match chars.next()? {
            ')' => return Some(chars.as_str()),
            '"' => double(rest)?.1,
            '$' if chars.as_str().starts_with('\'') => ansi(rest.strip_prefix("$'")?)?.1,
            _ => chars.as_str(),
        };
    }
}

/// A value in double quotes, with `\` before what would be special.
fn double(text: &str) -> Option<(String, &str)> {
    let mut chars = text.strip_prefix('"')?.char_indices();
    let mut value = String::new();
    while let Some((at, letter)) = chars.next() {
        match letter {
            '"' => return Some((value, text.get(at + 2..)?)),
            '\\' => value.push(chars.next()?.1),
            other => value.push(other),
        }
    }
    None
}

/// A value in `$'…'`, with bash's escapes; what stands behind `$'` is given.
fn ansi(text: &str) -> Option<(String, &str)> {
    let mut value: Vec<u8> = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, letter)) = chars.next() {
        match letter {
            '\'' => return Some((String::from_utf8_lossy(&value).into_owned(), text.get(at + 1..)?)),
            '\\' => {
                let (_, escape) = chars.next()?;
                let byte = match escape {
                    'n' => b'\n',
                    't' => b'\t',
                    'r' => b'\r',
                    'a' => 7,
                    'b' => 8,
                    'E' | 'e' => 27,
                    'f' => 12,
                    'v' => 11,
                    '\\' | '\'' | '"' | '?' => u8::try_from(escape).ok()?,
                    '0'..='7' => {
                        let mut number = escape.to_digit(8)?;
                        for _ in 0..2 {
                            let Some((_, digit)) = chars.next_if(|(_, next)| next.is_digit(8)) else { break };
                            number = number * 8 + digit.to_digit(8)?;
                        }
                        u8::try_from(number & 0xff).ok()?
                    }
                    _ => return None,
                };
                value.push(byte);
            }
            other => value.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn what_bash_writes_is_read_back_as_it_was() {
        let values = [
            "plain",
            "",
            "two words",
            "a\nb",
            "q\"uo'te",
            "do$llar `tick` \\ back",
            "tab\there",
            "ünï",
            "\u{1b}[0m",
        ];
        let mut bash = Command::new("bash");
        bash.args(["--noprofile", "--norc", "-c", "export NONE; cd /; declare -px"]).env_clear();
        for (at, value) in values.iter().enumerate() {
            bash.env(format!("V{at}"), value);
        }
        let written = String::from_utf8(bash.output().unwrap().stdout).unwrap();
        let state = read(&written).unwrap_or_else(|| panic!("{written}"));
        let mut read_back: Vec<_> = state.environment.unwrap();
        read_back.retain(|(name, _)| name.starts_with('V'));
        read_back.sort();
        let expected: Vec<_> =
            values.iter().enumerate().map(|(at, value)| (format!("V{at}"), (*value).to_owned())).collect();
        assert_eq!(read_back, expected);
        assert_eq!(state.cwd, PathBuf::from("/"));
    }

    #[test]
    fn text_that_is_cut_or_strange_is_not_believed() {
        for text in
            ["", "declare -x A=\"1", "echo hello", "declare -x PWD=\"/\"\ngarbage", "declare -x A=$'\\q'\n"]
        {
            assert_eq!(read(text), None, "{text:?}");
        }
    }
}
