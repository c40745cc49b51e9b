//! Here-documents: their bodies follow the line on which they were announced.

use std::sync::{Arc, OnceLock};

use super::Reason;
use super::ast::{Heredoc, Part, Word};
use super::cursor::{Parsed, Parser, Quoting};

/// A here-document whose body has not been reached.
pub(super) struct Pending {
    heredoc: Heredoc,
    at: usize,
}

impl Parser<'_> {
    /// Registers a here-document announced by the delimiter `word`.
    pub(super) fn announce_heredoc(&mut self, word: &Word, strip_tabs: bool) -> Parsed<Heredoc> {
        if self.restricted {
            return self.unsupported("here-document in backticks or in a here-document");
        }
        let plain = word.parts.iter().all(|part| !matches!(part, Part::AnsiC(_) | Part::Locale(_)));
        let delimiter = word.literal().filter(|text| plain && !text.is_empty() && !text.contains('\n'));
        let Some(delimiter) = delimiter else {
            return self.unsupported("delimiter of a here-document");
        };
        let heredoc =
            Heredoc { delimiter, quoted: word.was_quoted(), strip_tabs, body: Arc::new(OnceLock::new()) };
        self.announced = true;
        self.pending.push(Pending { heredoc: heredoc.clone(), at: self.position });
        Ok(heredoc)
    }

    /// Fails if a here-document was announced whose body never came.
    pub(super) fn require_no_pending(&self) -> Parsed<()> {
        match self.pending.first() {
            Some(pending) => Err(self.error_at(Reason::Unterminated("here-document"), pending.at)),
            None => Ok(()),
        }
    }

    /// Refuses a newline inside the text since `start` while a body is due:
    /// versions of bash disagree whether the body begins there.
    pub(super) fn reject_newline_before_heredoc(&self, start: usize) -> Parsed<()> {
        if !self.pending.is_empty() && self.slice(start, self.position).contains('\n') {
            return self.unsupported("newline inside a word before a here-document");
        }
        Ok(())
    }

    /// Reads the bodies that are due, the position being at the start of a line.
    pub(super) fn read_heredocs(&mut self) -> Parsed<()> {
        for pending in std::mem::take(&mut self.pending) {
            self.read_heredoc(&pending)?;
        }
        Ok(())
    }

    fn read_heredoc(&mut self, pending: &Pending) -> Parsed<()> {
        let start = self.position;
        let end = self.find_delimiter(pending)?;
        let after = self.position;
        let parts = if pending.heredoc.quoted {
            vec![Part::Literal(self.slice(start, end).to_owned())]
        } else {
            self.heredoc_parts(start, end)?
        };
        self.position = end;
        let body = Word { parts, text: self.slice(start, end).to_owned(), span: self.span_from(start) };
        self.position = after;
        // A second fill is impossible: each announcement is taken once.
        pending.heredoc.body.set(body).ok();
        Ok(())
    }

    fn heredoc_parts(&mut self, start: usize, end: usize) -> Parsed<Vec<Part>> {
        let limit = std::mem::replace(&mut self.limit, end);
        self.position = start;
        self.restricted = true;
        let parts = self.nested(|parser| parser.quoted_parts(Quoting::Heredoc))?;
        self.restricted = false;
        self.limit = limit;
        Ok(parts)
    }

    /// Moves behind the delimiter's line and returns where that line begins.
    fn find_delimiter(&mut self, pending: &Pending) -> Parsed<usize> {
        let heredoc = &pending.heredoc;
        let mut continued = false;
        while self.position < self.limit {
            let start = self.position;
            let rest = self.rest();
            let length = rest.find('\n').unwrap_or(rest.len());
            let line = self.slice(start, start + length);
            let line = if heredoc.strip_tabs { line.trim_start_matches('\t') } else { line };
            let continues = !heredoc.quoted && ends_in_open_backslash(line);
            if !continued {
                if line == heredoc.delimiter {
                    self.position = start + length;
                    self.eat("\n");
                    return Ok(start);
                }
                self.reject_doubtful_end(line, &heredoc.delimiter, continues)?;
            }
            continued = continues;
            self.position = (start + length + 1).min(self.limit);
        }
        Err(self.error_at(Reason::Unterminated("here-document"), pending.at))
    }

    /// Refuses lines that some versions of bash take for the delimiter.
    fn reject_doubtful_end(&self, line: &str, delimiter: &str, continues: bool) -> Parsed<()> {
        if line.starts_with(delimiter) && line.contains(')') {
            return self.unsupported("here-document delimiter with text after it");
        }
        let text = line.strip_suffix('\\').unwrap_or(line);
        if continues && delimiter.starts_with(text) {
            return self.unsupported("here-document delimiter over several lines");
        }
        Ok(())
    }
}

fn ends_in_open_backslash(line: &str) -> bool {
    let backslashes = line.bytes().rev().take_while(|byte| *byte == b'\\').count();
    backslashes % 2 == 1
}
