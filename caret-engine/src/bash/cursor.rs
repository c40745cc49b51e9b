//! The position in the text, the limits, and the small steps everything else
//! is made of.
//!
//! There is no backtracking anywhere: an error ends the parse. That is what
//! keeps the time linear.

use super::ast::{Script, Span};
use super::heredoc::Pending;
use super::{Reason, Unparsed};

/// The longest text that is looked at.
pub const MAX_SOURCE_BYTES: usize = 64 * 1024;

/// The deepest nesting of quotes, substitutions and compound commands together.
pub const MAX_NESTING: usize = 64;

pub(super) type Parsed<T> = Result<T, Unparsed>;

/// Which quotes surround an expansion.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Quoting {
    None,
    Double,
    Heredoc,
}

pub(super) struct Parser<'s> {
    source: &'s str,
    pub(super) position: usize,
    /// The end of what may be read: the end of a here-document body while that
    /// is parsed, otherwise the end of the source.
    pub(super) limit: usize,
    pub(super) depth: usize,
    pub(super) pending: Vec<Pending>,
    /// Whether the innermost substitution announced a here-document.
    pub(super) announced: bool,
    /// The span of everything in a text that is no slice of the source.
    borrowed_span: Option<Span>,
    /// Inside backticks and here-document bodies, where bash versions disagree
    /// about comments and further here-documents.
    pub(super) restricted: bool,
}

impl<'s> Parser<'s> {
    pub(super) fn new(source: &'s str) -> Parsed<Self> {
        if source.len() > MAX_SOURCE_BYTES {
            return Err(Unparsed { reason: Reason::TooLong, at: MAX_SOURCE_BYTES });
        }
        // Bash drops NUL and uses the other two as markers inside words, so
        // the text it runs may differ from the text it was given.
        if let Some(at) = source.find(['\0', '\u{1}', '\u{7f}']) {
            return Err(Unparsed { reason: Reason::Unsupported("control character"), at });
        }
        Ok(Self {
            source,
            position: 0,
            limit: source.len(),
            depth: 0,
            pending: Vec::new(),
            announced: false,
            borrowed_span: None,
            restricted: false,
        })
    }

    /// Parses `text`, the unescaped body of backticks that span `span`.
    pub(super) fn backtick_body(&self, text: &str, span: Span) -> Parsed<Script> {
        let parser = Parser {
            source: text,
            position: 0,
            limit: text.len(),
            depth: self.depth,
            pending: Vec::new(),
            announced: false,
            borrowed_span: Some(self.borrowed_span.unwrap_or(span)),
            restricted: true,
        };
        parser.script()
    }

    pub(super) fn script(mut self) -> Parsed<Script> {
        let (list, _) = self.list()?;
        if self.peek().is_some() {
            return self.fail(Reason::Expected("a command"));
        }
        self.require_no_pending()?;
        Ok(Script { list })
    }

    pub(super) fn error_at(&self, reason: Reason, at: usize) -> Unparsed {
        Unparsed { reason, at: self.borrowed_span.map_or(at, |span| span.start) }
    }

    pub(super) fn fail<T>(&self, reason: Reason) -> Parsed<T> {
        Err(self.error_at(reason, self.position))
    }

    pub(super) fn unsupported<T>(&self, what: &'static str) -> Parsed<T> {
        self.fail(Reason::Unsupported(what))
    }

    /// Runs `parse` one level deeper.
    pub(super) fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_NESTING {
            return self.fail(Reason::TooDeep);
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    pub(super) fn slice(&self, start: usize, end: usize) -> &'s str {
        self.source.get(start..end).unwrap_or_default()
    }

    pub(super) fn rest(&self) -> &'s str {
        self.slice(self.position, self.limit)
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The byte `ahead` of the position; only meaningful for ASCII.
    pub(super) fn byte(&self, ahead: usize) -> Option<u8> {
        self.rest().as_bytes().get(ahead).copied()
    }

    pub(super) fn at(&self, text: &str) -> bool {
        self.rest().starts_with(text)
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let character = self.peek()?;
        self.position += character.len_utf8();
        Some(character)
    }

    pub(super) fn eat(&mut self, text: &str) -> bool {
        let found = self.at(text);
        if found {
            self.position += text.len();
        }
        found
    }

    pub(super) fn expect(&mut self, text: &str, what: &'static str) -> Parsed<()> {
        if self.eat(text) { Ok(()) } else { self.fail(Reason::Expected(what)) }
    }

    pub(super) fn span_from(&self, start: usize) -> Span {
        self.span_between(start, self.position)
    }

    pub(super) fn span_between(&self, start: usize, end: usize) -> Span {
        self.borrowed_span.unwrap_or(Span { start, end })
    }

    /// The length of the identifier at the position, zero if there is none.
    pub(super) fn identifier_length(&self) -> usize {
        let bytes = self.rest().as_bytes();
        if bytes.first().is_some_and(u8::is_ascii_digit) {
            return 0;
        }
        bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
    }

    /// Consumes the identifier at the position; empty if there is none.
    pub(super) fn identifier(&mut self) -> &'s str {
        let start = self.position;
        self.position += self.identifier_length();
        self.slice(start, self.position)
    }

    /// Skips blanks, line continuations between words, and a comment.
    pub(super) fn skip_blanks(&mut self) -> Parsed<()> {
        loop {
            match self.byte(0) {
                Some(b' ' | b'\t') => self.position += 1,
                Some(b'\\') if self.byte(1) == Some(b'\n') => self.position += 2,
                Some(b'#') => return self.skip_comment(),
                _ => return Ok(()),
            }
        }
    }

    fn skip_comment(&mut self) -> Parsed<()> {
        if self.restricted {
            return self.unsupported("comment in backticks or in a here-document");
        }
        let rest = self.rest();
        self.position += rest.find('\n').unwrap_or(rest.len());
        Ok(())
    }

    /// Skips blanks and the ends of lines, reading the here-documents that
    /// follow them.
    pub(super) fn skip_newlines(&mut self) -> Parsed<()> {
        loop {
            self.skip_blanks()?;
            if !self.eat("\n") {
                return Ok(());
            }
            self.read_heredocs()?;
        }
    }

    /// Whether a word could end at `ahead` bytes from the position.
    pub(super) fn token_ends(&self, ahead: usize) -> bool {
        self.byte(ahead).is_none_or(is_metacharacter)
    }

    /// Refuses a join of operators across a line continuation, which bash
    /// performs before it reads tokens.
    pub(super) fn reject_continuation(&self) -> Parsed<()> {
        if self.at("\\\n") {
            return self.unsupported("line continuation inside a token");
        }
        Ok(())
    }
}

/// Whether the byte separates words when unquoted.
pub(super) const fn is_metacharacter(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'|' | b'&' | b';' | b'(' | b')' | b'<' | b'>')
}
