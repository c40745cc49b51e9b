//! Arithmetic, wherever it stands: `$((…))`, `$[…]`, `((…))`, subscripts and
//! substring offsets.
//!
//! Arithmetic is not evaluated here, only its expansions are found. Because
//! bash expands its text and then evaluates the result, which can expand
//! again, text that could hide an expansion from the first look is refused:
//! single quotes, backslashes and anything that is no arithmetic character.
//! The small alphabet also settles the question whether `((` opens arithmetic
//! or two subshells: a text that is both is refused.

use super::Reason;
use super::ast::{Arithmetic, Part};
use super::cursor::{MAX_NESTING, Parsed, Parser, Quoting};
use super::word::push_literal;

/// What ends an arithmetic expression.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Close {
    /// `))`
    Parentheses,
    /// `))` with the two semicolons of a loop before it.
    LoopHeader,
    /// `]`
    Bracket,
    /// `}`, which is left for the caller.
    Brace,
}

impl Parser<'_> {
    /// `$((…))`
    pub(super) fn arithmetic_expansion(&mut self) -> Parsed<Part> {
        self.position += 3;
        Ok(Part::Arithmetic(self.arithmetic(Close::Parentheses)?))
    }

    /// `$[…]`
    pub(super) fn bracket_arithmetic(&mut self) -> Parsed<Part> {
        self.position += 2;
        Ok(Part::Arithmetic(self.arithmetic(Close::Bracket)?))
    }

    /// Parses an expression up to and, except for a brace, including its end.
    pub(super) fn arithmetic(&mut self, close: Close) -> Parsed<Arithmetic> {
        self.nested(|parser| parser.arithmetic_body(close))
    }

    fn arithmetic_body(&mut self, close: Close) -> Parsed<Arithmetic> {
        let start = self.position;
        let mut parts = Vec::new();
        let mut open: Vec<char> = Vec::new();
        let mut semicolons = 0_usize;
        loop {
            let end = self.position;
            let Some(character) = self.peek() else {
                return Err(self.error_at(Reason::Unterminated("arithmetic"), start));
            };
            if open.is_empty() && self.eat_close(close) {
                if close == Close::LoopHeader && semicolons != 2 {
                    return self.fail(Reason::Expected("two semicolons"));
                }
                if hides_expansion(&parts) {
                    return self.unsupported("quoted expansion in arithmetic");
                }
                let raw = self.slice(start, end).to_owned();
                return Ok(Arithmetic { raw, parts });
            }
            match character {
                '$' | '`' | '"' => {
                    self.arithmetic_expanded(&mut parts)?;
                    continue;
                }
                '(' | '[' if open.len() < MAX_NESTING => open.push(character),
                '(' | '[' => return self.fail(Reason::TooDeep),
                ')' if open.pop() == Some('(') => {}
                ']' if open.pop() == Some('[') => {}
                ';' if close == Close::LoopHeader && open.is_empty() => semicolons += 1,
                '<' | '>' if self.byte(1) == Some(b'(') => {
                    return self.unsupported("possible process substitution in arithmetic");
                }
                _ if is_arithmetic(character) => {}
                _ => return self.unsupported("character in arithmetic"),
            }
            self.position += character.len_utf8();
            push_literal(&mut parts, character);
        }
    }

    fn eat_close(&mut self, close: Close) -> bool {
        match close {
            Close::Parentheses | Close::LoopHeader => self.eat("))"),
            Close::Bracket => self.eat("]"),
            Close::Brace => self.at("}"),
        }
    }

    fn arithmetic_expanded(&mut self, parts: &mut Vec<Part>) -> Parsed<()> {
        match self.byte(0) {
            Some(b'"') => {
                let inner = self.double_quoted()?;
                parts.push(Part::Double(inner));
            }
            Some(b'`') => parts.push(self.backtick(Quoting::Double)?),
            _ => {
                let count = parts.len();
                self.dollar(Quoting::Double, parts)?;
                if parts.len() == count || matches!(parts.last(), Some(Part::Literal(_))) {
                    return self.unsupported("dollar sign in arithmetic");
                }
            }
        }
        Ok(())
    }
}

fn is_arithmetic(character: char) -> bool {
    character.is_ascii_alphanumeric() || "_ \t\n+-*/%<>=!&|^~?:,#@.".contains(character)
}

/// Whether text that is quoted now could be expanded when arithmetic evaluates
/// it. Arithmetic inside was looked at when it was parsed.
pub(super) fn hides_expansion(parts: &[Part]) -> bool {
    parts.iter().any(|part| match part {
        Part::Literal(text) | Part::Single(text) | Part::AnsiC(text) => text.contains(['$', '`']),
        Part::Escaped(character) => matches!(character, '$' | '`' | '\\'),
        Part::Double(inner) | Part::Locale(inner) => hides_expansion(inner),
        Part::Parameter(parameter) => hides_expansion(&parameter.parts),
        _ => false,
    })
}
