//! Redirections.

use super::Reason;
use super::ast::{Descriptor, Redirect, RedirectOp, Word};
use super::cursor::{Parsed, Parser};

/// The operators, longest first where one begins another.
const OPERATORS: [RedirectOp; 12] = [
    RedirectOp::AppendBoth,
    RedirectOp::WriteBoth,
    RedirectOp::HereString,
    RedirectOp::HeredocStripped,
    RedirectOp::Heredoc,
    RedirectOp::DuplicateRead,
    RedirectOp::ReadWrite,
    RedirectOp::Read,
    RedirectOp::Append,
    RedirectOp::DuplicateWrite,
    RedirectOp::Clobber,
    RedirectOp::Write,
];

impl Parser<'_> {
    /// Whether a redirection begins here.
    pub(super) fn at_redirect(&self) -> bool {
        match self.byte(0) {
            Some(b'<' | b'>') => self.byte(1) != Some(b'('),
            Some(b'&') => self.byte(1) == Some(b'>'),
            _ => self.descriptor_length() > 0,
        }
    }

    /// The length of a descriptor directly before an operator, else zero.
    fn descriptor_length(&self) -> usize {
        let bytes = self.rest().as_bytes();
        let length = if bytes.first() == Some(&b'{') {
            let name = bytes
                .iter()
                .skip(1)
                .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
                .count();
            if name == 0 || bytes.get(name + 1) != Some(&b'}') {
                return 0;
            }
            name + 2
        } else {
            bytes.iter().take_while(|byte| byte.is_ascii_digit()).count()
        };
        if matches!(bytes.get(length), Some(b'<' | b'>')) { length } else { 0 }
    }

    /// Parses the redirection at the position.
    pub(super) fn redirect(&mut self) -> Parsed<Redirect> {
        let start = self.position;
        let fd = self.descriptor()?;
        let Some(op) = OPERATORS.iter().find(|op| self.at(op.as_str())).copied() else {
            return self.fail(Reason::Expected("a redirection"));
        };
        if fd.is_some() && self.byte(1) == Some(b'(') {
            return self.unsupported("descriptor before a process substitution");
        }
        self.position += op.as_str().len();
        self.reject_continuation()?;
        self.skip_blanks()?;
        let target = self.redirect_target(op)?;
        let heredoc = match op {
            RedirectOp::Heredoc => Some(self.announce_heredoc(&target, false)?),
            RedirectOp::HeredocStripped => Some(self.announce_heredoc(&target, true)?),
            _ => None,
        };
        Ok(Redirect { fd, op, target, heredoc, span: self.span_from(start) })
    }

    fn descriptor(&mut self) -> Parsed<Option<Descriptor>> {
        let start = self.position;
        let length = self.descriptor_length();
        if length == 0 {
            return Ok(None);
        }
        self.position += length;
        let text = self.slice(start, self.position);
        if let Some(name) = text.strip_prefix('{') {
            let name = name.trim_end_matches('}');
            if name.starts_with(|first: char| first.is_ascii_digit()) {
                return self.unsupported("descriptor in braces");
            }
            return Ok(Some(Descriptor::Variable(name.to_owned())));
        }
        match text.parse::<u32>() {
            Ok(number) if i32::try_from(number).is_ok() => Ok(Some(Descriptor::Number(number))),
            _ => self.unsupported("descriptor number"),
        }
    }

    fn redirect_target(&mut self, op: RedirectOp) -> Parsed<Word> {
        let duplicates = matches!(op, RedirectOp::DuplicateRead | RedirectOp::DuplicateWrite);
        // After `>&` bash takes a lone minus as a token of its own, so that a
        // word may follow it without a blank.
        if duplicates && self.at("-") && !self.token_ends(1) {
            return self.unsupported("text after a closed descriptor");
        }
        let target = self.word()?;
        // Bash expands the target of `>&` and `<&` a second time, so quoted text
        // and the values of variables would run as code.
        if duplicates && target.literal().is_none_or(|text| text.contains(['$', '`'])) {
            return self.unsupported("expansion in a duplicated descriptor");
        }
        let number = target.text.bytes().all(|byte| byte.is_ascii_digit());
        if number && !duplicates && matches!(self.byte(0), Some(b'<' | b'>')) {
            return self.fail(Reason::Expected("a target before the next redirection"));
        }
        Ok(target)
    }
}
