//! Words: where they begin and end, and the quoting inside them.

use super::Reason;
use super::ast::{Part, Word};
use super::cursor::{Parsed, Parser, Quoting, is_metacharacter};

impl Parser<'_> {
    /// Whether a word begins here, a process substitution included.
    pub(super) fn at_word(&self) -> bool {
        match self.byte(0) {
            None => false,
            Some(b'<' | b'>') => self.byte(1) == Some(b'('),
            Some(byte) => !is_metacharacter(byte),
        }
    }

    /// Parses the word at the position.
    pub(super) fn word(&mut self) -> Parsed<Word> {
        if !self.at_word() {
            return self.fail(Reason::Expected("a word"));
        }
        let start = self.position;
        // Most words have one part; room for more would cost a hostile text of
        // tiny words tens of megabytes.
        let mut parts = Vec::with_capacity(1);
        while self.at_word() && self.word_part(&mut parts, start)? {}
        self.finish_word(parts, start)
    }

    /// Parses the right side of `=~`, in which parentheses and bars are text.
    pub(super) fn regex_word(&mut self) -> Parsed<Word> {
        let start = self.position;
        let mut parts = Vec::new();
        let mut open = 0_usize;
        loop {
            match self.byte(0) {
                None | Some(b' ' | b'\t' | b'\n') if open > 0 => {
                    return self.unsupported("blank in a group of a regular expression");
                }
                Some(b'(') => open += 1,
                Some(b')') if open == 0 => break,
                Some(b')') => open -= 1,
                Some(b'|') if open > 0 => {}
                None | Some(b' ' | b'\t' | b'\n') => break,
                Some(b'<' | b'>' | b'&' | b';' | b'|') => {
                    return self.unsupported("operator in a regular expression");
                }
                Some(_) => {
                    if !self.word_part(&mut parts, start)? {
                        break;
                    }
                    continue;
                }
            }
            if let Some(character) = self.bump() {
                push_literal(&mut parts, character);
            }
        }
        if self.position == start {
            return self.fail(Reason::Expected("a regular expression"));
        }
        self.finish_word(parts, start)
    }

    /// Builds a word from `parts` that began at `start` and end here.
    pub(super) fn finish_word(&mut self, parts: Vec<Part>, start: usize) -> Parsed<Word> {
        let text = self.slice(start, self.position);
        self.reject_newline_before_heredoc(start)?;
        if text.starts_with('{') && text.ends_with('}') && matches!(self.byte(0), Some(b'<' | b'>')) {
            return self.unsupported("braces directly before a redirection");
        }
        Ok(Word { parts: settle(parts), text: text.to_owned(), span: self.span_from(start) })
    }

    /// Parses one unquoted part; `false` means that the word ends here.
    fn word_part(&mut self, parts: &mut Vec<Part>, start: usize) -> Parsed<bool> {
        let Some(character) = self.peek() else {
            return Ok(false);
        };
        match character {
            '\\' => return self.backslash(parts, start),
            '\'' => parts.push(self.single_quoted()?),
            '"' => parts.push(Part::Double(self.double_quoted()?)),
            '$' => self.dollar(Quoting::None, parts)?,
            '`' => parts.push(self.backtick(Quoting::None)?),
            '<' | '>' => parts.push(self.process_substitution()?),
            '*' | '?' | '[' => {
                self.position += 1;
                if self.byte(0) == Some(b'(') {
                    return self.unsupported("extended glob");
                }
                parts.push(Part::Glob(character));
            }
            '{' => {
                self.position += 1;
                parts.push(Part::Brace);
            }
            '~' if tilde_expands(parts) => {
                self.position += 1;
                parts.push(Part::Tilde);
            }
            _ if character.is_control() || (!character.is_ascii() && character.is_whitespace()) => {
                return self.unsupported("unquoted control or space character");
            }
            _ => {
                self.position += character.len_utf8();
                push_literal(parts, character);
            }
        }
        Ok(true)
    }

    /// A backslash outside of quotes.
    fn backslash(&mut self, parts: &mut Vec<Part>, start: usize) -> Parsed<bool> {
        if self.at("\\\n") {
            // Bash removes the pair before it looks for words, so what follows
            // could complete a keyword, a name or an operator.
            if self.position > start && matches!(self.byte(2), Some(b' ' | b'\t')) {
                return Ok(false);
            }
            return self.unsupported("line continuation inside a word");
        }
        self.position += 1;
        match self.bump() {
            Some(character) => {
                parts.push(Part::Escaped(character));
                Ok(true)
            }
            None => self.fail(Reason::Unterminated("backslash")),
        }
    }

    /// `'…'`
    pub(super) fn single_quoted(&mut self) -> Parsed<Part> {
        let start = self.position + 1;
        let Some(length) = self.slice(start, self.limit).find('\'') else {
            return self.fail(Reason::Unterminated("single quote"));
        };
        self.position = start + length + 1;
        Ok(Part::Single(self.slice(start, start + length).to_owned()))
    }

    /// `"…"`
    pub(super) fn double_quoted(&mut self) -> Parsed<Vec<Part>> {
        let start = self.position;
        self.position += 1;
        let parts = self.nested(|parser| parser.quoted_parts(Quoting::Double))?;
        if !self.eat("\"") {
            return Err(self.error_at(Reason::Unterminated("double quote"), start));
        }
        Ok(parts)
    }

    /// What stands between double quotes or in a here-document.
    pub(super) fn quoted_parts(&mut self, quoting: Quoting) -> Parsed<Vec<Part>> {
        let mut parts = Vec::new();
        while let Some(character) = self.peek() {
            match character {
                '"' if quoting == Quoting::Double => break,
                '\\' => self.quoted_backslash(quoting, &mut parts),
                '$' => self.dollar(quoting, &mut parts)?,
                '`' => parts.push(self.backtick(quoting)?),
                _ => {
                    self.position += character.len_utf8();
                    push_literal(&mut parts, character);
                }
            }
        }
        Ok(parts)
    }

    fn quoted_backslash(&mut self, quoting: Quoting, parts: &mut Vec<Part>) {
        self.position += 1;
        match self.peek() {
            Some('\n') => self.position += 1,
            Some(character @ ('$' | '`' | '\\')) => {
                self.position += 1;
                parts.push(Part::Escaped(character));
            }
            Some('"') if quoting == Quoting::Double => {
                self.position += 1;
                parts.push(Part::Escaped('"'));
            }
            _ => push_literal(parts, '\\'),
        }
    }
}

/// Appends a character to the literal text at the end of `parts`.
pub(super) fn push_literal(parts: &mut Vec<Part>, character: char) {
    if let Some(Part::Literal(text)) = parts.last_mut() {
        text.push(character);
    } else {
        parts.push(Part::Literal(character.to_string()));
    }
}

/// Assignments expand a tilde after `=` and `:` as well; not every word is an
/// assignment, but taking it for an expansion is the careful side.
fn tilde_expands(parts: &[Part]) -> bool {
    match parts.last() {
        None => true,
        Some(Part::Literal(text)) => text.ends_with(['=', ':']),
        Some(_) => false,
    }
}

/// Turns the braces and brackets that can have no partner back into text.
///
/// Whatever might be an expansion stays one: a word wrongly called literal
/// would be judged by a text the command never receives.
fn settle(parts: Vec<Part>) -> Vec<Part> {
    let doubtful = |part: &Part| matches!(part, Part::Brace | Part::Glob('['));
    if !parts.iter().any(doubtful) {
        return parts;
    }
    let mut bracket_closes = false;
    let mut brace_closes = false;
    let mut brace_separates = false;
    let mut settled: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts.into_iter().rev() {
        let part = match part {
            Part::Glob('[') if !bracket_closes => Part::Literal("[".to_owned()),
            Part::Brace if !brace_separates => Part::Literal("{".to_owned()),
            Part::Literal(text) => {
                let mut following = '\0';
                for character in text.chars().rev() {
                    match character {
                        ']' => bracket_closes = true,
                        '}' => brace_closes = true,
                        ',' => brace_separates |= brace_closes,
                        '.' if following == '.' => brace_separates |= brace_closes,
                        _ => {}
                    }
                    following = character;
                }
                Part::Literal(text)
            }
            other => other,
        };
        settled.push(part);
    }
    settled.reverse();
    merge_literals(settled)
}

fn merge_literals(parts: Vec<Part>) -> Vec<Part> {
    let mut merged: Vec<Part> = Vec::with_capacity(parts.len());
    for part in parts {
        match (merged.last_mut(), part) {
            (Some(Part::Literal(text)), Part::Literal(more)) => text.push_str(&more),
            (_, part) => merged.push(part),
        }
    }
    merged
}
