//! What `$`, backticks and process substitutions begin.

use super::Reason;
use super::ast::{Command, Direction, List, Parameter, Part, Script, Span};
use super::cursor::{Parsed, Parser, Quoting};
use super::word::push_literal;

impl Parser<'_> {
    /// Parses what begins with the `$` at the position.
    pub(super) fn dollar(&mut self, quoting: Quoting, parts: &mut Vec<Part>) -> Parsed<()> {
        let part = match self.byte(1) {
            Some(b'(') if self.byte(2) == Some(b'(') => self.arithmetic_expansion()?,
            Some(b'(') => Part::Command(self.command_substitution()?),
            Some(b'[') => self.bracket_arithmetic()?,
            Some(b'{') => self.braced_parameter(quoting)?,
            Some(b'\'') if quoting == Quoting::None => self.ansi_c_quoted()?,
            Some(b'"') if quoting == Quoting::None => {
                self.position += 1;
                Part::Locale(self.double_quoted()?)
            }
            Some(b'\\') if self.byte(2) == Some(b'\n') => {
                return self.unsupported("line continuation after a dollar sign");
            }
            Some(byte) if is_special_parameter(byte) => self.plain_parameter(1)?,
            Some(byte) if byte.is_ascii_alphabetic() || byte == b'_' => {
                self.position += 1;
                let length = self.identifier_length();
                self.position -= 1;
                self.plain_parameter(length)?
            }
            _ => {
                self.position += 1;
                push_literal(parts, '$');
                return Ok(());
            }
        };
        parts.push(part);
        Ok(())
    }

    /// `$name` with a name of `length` bytes.
    fn plain_parameter(&mut self, length: usize) -> Parsed<Part> {
        let start = self.position + 1;
        self.position = start + length;
        self.reject_continuation()?;
        let name = self.slice(start, self.position);
        Ok(Part::Parameter(Parameter {
            name: name.to_owned(),
            raw: name.to_owned(),
            parts: Vec::new(),
            simple: true,
        }))
    }

    /// `$(…)`
    fn command_substitution(&mut self) -> Parsed<Script> {
        self.position += 1;
        self.parenthesized_script()
    }

    /// `<(…)` or `>(…)`
    pub(super) fn process_substitution(&mut self) -> Parsed<Part> {
        let direction = if self.at("<") { Direction::From } else { Direction::Into };
        self.position += 1;
        // Bash takes `<((` for the start of arithmetic in some places.
        if self.at("((") {
            return self.unsupported("doubled parenthesis in a process substitution");
        }
        let script = self.parenthesized_script()?;
        if script.list.items.is_empty() {
            return self.fail(Reason::Expected("a command in a process substitution"));
        }
        Ok(Part::Process(direction, script))
    }

    /// A whole script between the parenthesis at the position and its partner.
    ///
    /// It has its own here-documents: those of the line around it wait.
    fn parenthesized_script(&mut self) -> Parsed<Script> {
        let start = self.position;
        self.position += 1;
        self.reject_continuation()?;
        let waiting = std::mem::take(&mut self.pending);
        let announced = std::mem::take(&mut self.announced);
        let (list, _) = self.nested(Self::list)?;
        self.require_no_pending()?;
        // Bash 5.2 prints a substitution anew before it runs it, and drops a
        // semicolon that comes after a here-document.
        if self.announced && !is_one_plain_pipeline(&list) {
            return self.unsupported("here-document among other commands in a substitution");
        }
        self.announced = announced;
        if self.peek().is_none() {
            return Err(self.error_at(Reason::Unterminated("substitution"), start));
        }
        self.expect(")", "the end of the substitution")?;
        self.pending = waiting;
        Ok(Script { list })
    }

    /// `` `…` ``: the body is unescaped once and is then a text of its own.
    pub(super) fn backtick(&mut self, quoting: Quoting) -> Parsed<Part> {
        let start = self.position;
        self.position += 1;
        let mut body = String::new();
        loop {
            match self.bump() {
                None => return Err(self.error_at(Reason::Unterminated("backtick"), start)),
                Some('`') => break,
                Some('\\') => match self.bump() {
                    Some(character @ ('$' | '`' | '\\')) => body.push(character),
                    Some('"') if quoting != Quoting::None => {
                        return self.unsupported("escaped quote in quoted backticks");
                    }
                    Some(character) => {
                        body.push('\\');
                        body.push(character);
                    }
                    None => return Err(self.error_at(Reason::Unterminated("backtick"), start)),
                },
                Some(character) => body.push(character),
            }
        }
        let span = Span { start, end: self.position };
        let script = self.nested(|parser| parser.backtick_body(&body, span))?;
        Ok(Part::Backtick(script))
    }
}

fn is_one_plain_pipeline(list: &List) -> bool {
    list.items.len() == 1
        && list.items.iter().all(|item| {
            let mut stages = item.pipeline.stages.iter();
            stages.all(|stage| matches!(stage.command, Command::Simple(_)))
        })
}

/// Whether `$` and this byte are a parameter without a name.
pub(super) const fn is_special_parameter(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!')
}
