//! `${…}`.
//!
//! Inside double quotes bash reads single quotes differently depending on the
//! operator, and inside here-documents double quotes as well; those mixtures
//! are refused.

use super::Reason;
use super::arithmetic::Close;
use super::ast::{Parameter, Part};
use super::cursor::{Parsed, Parser, Quoting};
use super::expansion::is_special_parameter;
use super::word::push_literal;

/// Operators whose right side is a word, longest first.
const WORD_OPERATORS: [&str; 20] = [
    ":-", ":=", ":?", ":+", "##", "%%", "//", "/#", "/%", "^^", ",,", "-", "=", "?", "+", "#", "%", "/", "^",
    ",",
];

impl Parser<'_> {
    /// Parses `${…}` at the position.
    pub(super) fn braced_parameter(&mut self, quoting: Quoting) -> Parsed<Part> {
        let start = self.position;
        self.position += 2;
        let parameter = self.nested(|parser| parser.parameter_body(quoting))?;
        if self.peek().is_none() {
            return Err(self.error_at(Reason::Unterminated("parameter expansion"), start));
        }
        self.expect("}", "the end of the parameter expansion")?;
        Ok(Part::Parameter(parameter))
    }

    fn parameter_body(&mut self, quoting: Quoting) -> Parsed<Parameter> {
        let start = self.position;
        let prefix = self.parameter_prefix();
        let name = self.parameter_name()?;
        let name_end = self.position;
        let mut parts = Vec::new();
        if self.eat("[") {
            parts.extend(self.arithmetic(Close::Bracket)?.parts);
        }
        if !self.at("}") {
            match prefix {
                Some(b'#') => return self.unsupported("operator after a length"),
                Some(_) if self.at("@}") || self.at("*}") => self.position += 1,
                _ => self.parameter_operator(quoting, &mut parts)?,
            }
        }
        Ok(Parameter {
            name,
            raw: self.slice(start, self.position).to_owned(),
            parts,
            simple: prefix.is_none() && name_end == self.position,
        })
    }

    /// Consumes the `#` or `!` that stands before a name and is none itself.
    fn parameter_prefix(&mut self) -> Option<u8> {
        let prefix = self
            .byte(0)
            .filter(|byte| matches!(byte, b'#' | b'!'))
            .filter(|_| self.byte(1).is_some_and(|byte| is_name_byte(byte) || matches!(byte, b'@' | b'*')))?;
        self.position += 1;
        Some(prefix)
    }

    fn parameter_name(&mut self) -> Parsed<String> {
        let start = self.position;
        match self.byte(0) {
            Some(byte) if byte.is_ascii_digit() => {
                while self.byte(0).is_some_and(|next| next.is_ascii_digit()) {
                    self.position += 1;
                }
            }
            Some(byte) if is_special_parameter(byte) => self.position += 1,
            _ => self.position += self.identifier_length(),
        }
        if self.position == start {
            return self.unsupported("parameter expansion without a name");
        }
        Ok(self.slice(start, self.position).to_owned())
    }

    fn parameter_operator(&mut self, quoting: Quoting, parts: &mut Vec<Part>) -> Parsed<()> {
        if let Some(operator) = WORD_OPERATORS.iter().find(|operator| self.at(operator)) {
            self.position += operator.len();
            return self.operator_word(quoting, parts);
        }
        if self.eat(":") {
            parts.extend(self.arithmetic(Close::Brace)?.parts);
            return Ok(());
        }
        if self.eat("@") {
            // `@P` runs the command substitutions in the value.
            let known = self.byte(0).is_some_and(|byte| b"QEUuLAaKk".contains(&byte));
            if known && self.byte(1) == Some(b'}') {
                self.position += 1;
                return Ok(());
            }
        }
        self.unsupported("parameter operator")
    }

    /// The word after an operator, up to the closing brace.
    fn operator_word(&mut self, quoting: Quoting, parts: &mut Vec<Part>) -> Parsed<()> {
        while let Some(character) = self.peek() {
            match character {
                '}' => break,
                '\\' => {
                    self.position += 1;
                    self.reject_newline()?;
                    match self.bump() {
                        Some('"' | '\'') if quoting == Quoting::Heredoc => {
                            return self.unsupported("quote in a quoted parameter expansion");
                        }
                        Some(escaped) => parts.push(Part::Escaped(escaped)),
                        None => return self.fail(Reason::Unterminated("backslash")),
                    }
                }
                '\'' if quoting == Quoting::None => parts.push(self.single_quoted()?),
                '"' if quoting != Quoting::Heredoc => {
                    parts.push(Part::Double(self.double_quoted()?));
                }
                '\'' | '"' => return self.unsupported("quote in a quoted parameter expansion"),
                '$' => self.dollar(quoting, parts)?,
                '`' => parts.push(self.backtick(quoting)?),
                '{' => return self.unsupported("brace in a parameter expansion"),
                '<' | '>' if self.byte(1) == Some(b'(') => {
                    return self.unsupported("process substitution in a parameter expansion");
                }
                _ => {
                    self.position += character.len_utf8();
                    push_literal(parts, character);
                }
            }
        }
        Ok(())
    }

    fn reject_newline(&self) -> Parsed<()> {
        if self.at("\n") {
            return self.unsupported("line continuation in a parameter expansion");
        }
        Ok(())
    }
}

const fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}
