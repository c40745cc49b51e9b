//! The only way out: everything that commands write to stdout and stderr goes through here.
//!
//! A reader that went away is no error of ours: the command ends quietly. Words that came from files or
//! chats are made harmless before a terminal sees them.

use crate::exit::{Exit, Failure};
use std::io::{self, Write as _};

/// Writes results, warnings and errors.
#[derive(Clone, Copy, Debug, Default)]
pub struct Output {
    /// Keeps warnings back.
    pub quiet: bool,
}

impl Output {
    /// Writes a result to stdout, as it is.
    pub fn write(self, text: &str) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(|error| lost(&error))
    }

    /// Writes a result to stdout with a line end.
    pub fn line(self, text: &str) -> Result<(), Failure> {
        self.write(&format!("{text}\n"))
    }

    /// Writes one JSON value as one line.
    pub fn json(self, value: &serde_json::Value) -> Result<(), Failure> {
        self.line(&value.to_string())
    }

    /// Warns on stderr, unless told to be quiet.
    pub fn warn(self, text: &str) {
        if !self.quiet {
            self.say(&format!("⚠ {text}"));
        }
    }

    /// Tells the person something on stderr that is no result.
    pub fn say(self, text: &str) {
        self.ask(&format!("{text}\n"));
    }

    /// Writes to stderr without a line end.
    pub fn ask(self, text: &str) {
        // When stderr is gone too, there is nobody left to tell.
        drop(io::stderr().lock().write_all(text.as_bytes()));
    }

    /// Says why a command stopped.
    pub fn failure(self, failure: &Failure) {
        match failure {
            Failure::Told { message, .. } => self.say(message),
            Failure::NobodyReads => {}
        }
    }
}

fn lost(error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::NobodyReads,
        _ => Failure::new(Exit::Failed, format!("stdout could not be written: {error}")),
    }
}

/// Text from elsewhere, on one line and harmless for a terminal: control characters and characters that
/// change the direction of text become visible escapes.
pub fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) {
            shown.push_str(&format!("\\u{{{:x}}}", u32::from(character)));
        } else {
            shown.push(character);
        }
    }
    shown
}

fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}'
            | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_and_direction_marks_are_shown_not_obeyed() {
        assert_eq!(harmless("a\u{1b}[31mred\n\u{202e}x"), "a\\u{1b}[31mred\\u{a}\\u{202e}x");
        assert_eq!(harmless("plain ⬢ ünï"), "plain ⬢ ünï");
    }

    #[test]
    fn a_reader_that_went_away_is_quiet_and_a_full_disk_is_not() {
        assert_eq!(lost(&io::ErrorKind::BrokenPipe.into()), Failure::NobodyReads);
        assert!(matches!(lost(&io::ErrorKind::StorageFull.into()), Failure::Told { exit: Exit::Failed, .. }));
    }
}
