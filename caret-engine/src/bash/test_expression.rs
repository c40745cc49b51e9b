//! `[[ … ]]`.
//!
//! Its grammar is checked so that nothing is accepted that bash would read
//! differently, but no tree is built: only the words matter later.

use super::Reason;
use super::arithmetic::hides_expansion;
use super::ast::{Part, Word};
use super::cursor::{Parsed, Parser};

/// Letters of the unary operators.
const UNARY: &str = "abcdefghknoprstuvwxzGLNORS";

/// Operators that evaluate both operands as arithmetic.
const ARITHMETIC: [&str; 6] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

/// The other binary operators that are words.
const BINARY: [&str; 7] = ["=", "==", "!=", "=~", "-nt", "-ot", "-ef"];

impl Parser<'_> {
    /// Parses the words after `[[` and the closing brackets.
    pub(super) fn test_expression(&mut self) -> Parsed<Vec<Word>> {
        let mut words = Vec::new();
        self.test_alternatives(&mut words)?;
        self.expect_keyword("]]")?;
        Ok(words)
    }

    fn test_alternatives(&mut self, words: &mut Vec<Word>) -> Parsed<()> {
        loop {
            self.test_term(words)?;
            self.skip_newlines()?;
            if !self.at("&&") && !self.at("||") {
                return Ok(());
            }
            words.push(self.operator(2));
        }
    }

    fn test_term(&mut self, words: &mut Vec<Word>) -> Parsed<()> {
        self.skip_newlines()?;
        while self.at("! ") || self.at("!\t") {
            words.push(self.operator(1));
            self.skip_newlines()?;
        }
        if self.at("(") {
            words.push(self.operator(1));
            self.nested(|parser| parser.test_alternatives(words))?;
            if !self.at(")") {
                return self.fail(Reason::Expected("the end of the group"));
            }
            words.push(self.operator(1));
            return Ok(());
        }
        let first = self.test_operand()?;
        if is_unary(&first.text) {
            let operand = self.test_operand()?;
            if first.text == "-v" || first.text == "-R" {
                self.reject_hidden_expansion(&operand)?;
            }
            words.extend([first, operand]);
            return Ok(());
        }
        self.skip_blanks()?;
        self.test_comparison(first, words)
    }

    /// The rest of a term that begins with a word that is no operator.
    fn test_comparison(&mut self, first: Word, words: &mut Vec<Word>) -> Parsed<()> {
        if (self.at("<") || self.at(">")) && self.byte(1) != Some(b'(') {
            let operator = self.operator(1);
            self.reject_continuation()?;
            words.extend([first, operator, self.test_operand()?]);
            return Ok(());
        }
        let operator = ARITHMETIC.iter().chain(&BINARY).find(|operator| self.at_keyword(operator));
        let Some(operator) = operator else {
            words.push(first);
            return Ok(());
        };
        let middle = self.operator(operator.len());
        let last = if *operator == "=~" { self.regex_operand()? } else { self.test_operand()? };
        if ARITHMETIC.contains(operator) {
            self.reject_hidden_expansion(&first)?;
            self.reject_hidden_expansion(&last)?;
        }
        words.extend([first, middle, last]);
        Ok(())
    }

    fn test_operand(&mut self) -> Parsed<Word> {
        self.skip_blanks()?;
        if self.at_keyword("]]") {
            return self.fail(Reason::Expected("an operand"));
        }
        let word = self.word()?;
        if self.at("(") {
            return self.unsupported("extended glob");
        }
        Ok(word)
    }

    fn regex_operand(&mut self) -> Parsed<Word> {
        self.skip_blanks()?;
        if self.at_keyword("]]") {
            return self.fail(Reason::Expected("a regular expression"));
        }
        self.regex_word()
    }

    /// Takes the next `length` bytes as a word of their own.
    fn operator(&mut self, length: usize) -> Word {
        let start = self.position;
        self.position += length;
        let text = self.slice(start, self.position).to_owned();
        Word { parts: vec![Part::Literal(text.clone())], text, span: self.span_from(start) }
    }

    /// Refuses quoted text that arithmetic evaluation would expand after all.
    fn reject_hidden_expansion(&self, word: &Word) -> Parsed<()> {
        if hides_expansion(&word.parts) {
            return self.unsupported("quoted expansion in arithmetic");
        }
        Ok(())
    }
}

fn is_unary(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next() == Some('-')
        && characters.next().is_some_and(|letter| UNARY.contains(letter))
        && characters.next().is_none()
}
