//! Compound commands and functions.

use super::Reason;
use super::arithmetic::Close;
use super::ast::{Branch, CaseEnd, Clause, Command, Compound, List, Redirect};
use super::cursor::{Parsed, Parser};

/// Words that mean something else than their name where a command begins.
const RESERVED: [&str; 22] = [
    "if", "then", "elif", "else", "fi", "for", "while", "until", "do", "done", "case", "esac", "in",
    "select", "function", "coproc", "time", "{", "}", "!", "[[", "]]",
];

/// Whether the word is reserved.
pub(super) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

impl Parser<'_> {
    /// Parses one command of a pipeline.
    pub(super) fn command(&mut self, after_pipe: bool) -> Parsed<Command> {
        if self.at_keyword("select") || self.at_keyword("coproc") {
            return self.unsupported("select or coproc");
        }
        let start = self.position;
        if self.keyword("function") {
            self.skip_blanks()?;
            return self.function_keyword(start);
        }
        match self.compound_command()? {
            Some(command) => Ok(command),
            None => self.simple(after_pipe),
        }
    }

    /// A compound command with its redirections, if one begins here.
    fn compound_command(&mut self) -> Parsed<Option<Command>> {
        let start = self.position;
        let Some(body) = self.nested(Self::compound)? else {
            return Ok(None);
        };
        let mut end = self.position;
        let mut redirects: Vec<Redirect> = Vec::new();
        self.skip_blanks()?;
        while self.at_redirect() {
            redirects.push(self.redirect()?);
            end = self.position;
            self.skip_blanks()?;
        }
        Ok(Some(Command::Compound { body, redirects, span: self.span_between(start, end) }))
    }

    fn compound(&mut self) -> Parsed<Option<Compound>> {
        let start = self.position;
        let compound = if self.eat("((") {
            let arithmetic = self.arithmetic(Close::Parentheses)?;
            self.reject_newline_before_heredoc(start)?;
            Compound::Arithmetic(arithmetic)
        } else if self.at("(") {
            Compound::Subshell(self.subshell()?)
        } else if self.at_spaced("{") {
            self.position += 1;
            let list = self.section()?;
            self.expect_keyword("}")?;
            Compound::Group(list)
        } else if self.at_spaced("[[") {
            self.position += 2;
            Compound::Test(self.test_expression()?)
        } else if self.keyword("if") {
            self.conditional()?
        } else if self.keyword("for") {
            self.for_loop()?
        } else if self.keyword("while") {
            self.while_loop(false)?
        } else if self.keyword("until") {
            self.while_loop(true)?
        } else if self.keyword("case") {
            self.case()?
        } else {
            return Ok(None);
        };
        Ok(Some(compound))
    }

    /// Whether the word stands here with a blank or a newline after it.
    fn at_spaced(&self, word: &str) -> bool {
        self.at(word) && matches!(self.byte(word.len()), Some(b' ' | b'\t' | b'\n'))
    }

    fn subshell(&mut self) -> Parsed<List> {
        self.position += 1;
        self.reject_continuation()?;
        let (list, _) = self.list()?;
        if list.items.is_empty() {
            return self.fail(Reason::Expected("a command"));
        }
        self.expect(")", "the end of the subshell")?;
        Ok(list)
    }

    fn conditional(&mut self) -> Parsed<Compound> {
        let mut branches: Vec<Branch> = Vec::new();
        loop {
            let condition = self.section()?;
            self.expect_keyword("then")?;
            let body = self.section()?;
            branches.push(Branch { condition, body });
            if !self.keyword("elif") {
                break;
            }
        }
        let otherwise = if self.keyword("else") { Some(self.section()?) } else { None };
        self.expect_keyword("fi")?;
        Ok(Compound::If { branches, otherwise })
    }

    fn while_loop(&mut self, until: bool) -> Parsed<Compound> {
        let condition = self.section()?;
        let body = self.do_group()?;
        Ok(Compound::While { until, condition, body })
    }

    fn do_group(&mut self) -> Parsed<List> {
        self.expect_keyword("do")?;
        let body = self.section()?;
        self.expect_keyword("done")?;
        Ok(body)
    }

    fn for_loop(&mut self) -> Parsed<Compound> {
        self.skip_blanks()?;
        let start = self.position;
        if self.eat("((") {
            let header = self.arithmetic(Close::LoopHeader)?;
            self.reject_newline_before_heredoc(start)?;
            self.skip_blanks()?;
            self.eat(";");
            self.skip_newlines()?;
            let body = self.do_group()?;
            return Ok(Compound::ForArithmetic { header, body });
        }
        let variable = self.identifier().to_owned();
        if variable.is_empty() || !self.token_ends(0) {
            return self.fail(Reason::Expected("a variable name"));
        }
        let words = self.for_words()?;
        self.skip_newlines()?;
        let body = self.do_group()?;
        Ok(Compound::For { variable, words, body })
    }

    /// The words of a loop up to and including their end.
    fn for_words(&mut self) -> Parsed<Option<Vec<super::ast::Word>>> {
        self.skip_blanks()?;
        if self.eat(";") {
            return Ok(None);
        }
        self.skip_newlines()?;
        if !self.keyword("in") {
            return Ok(None);
        }
        let mut words = Vec::new();
        loop {
            self.skip_blanks()?;
            if !self.at_word() {
                break;
            }
            words.push(self.word()?);
        }
        if !self.at("\n") {
            self.expect(";", "the end of the words")?;
        }
        Ok(Some(words))
    }

    fn case(&mut self) -> Parsed<Compound> {
        self.skip_blanks()?;
        let subject = self.word()?;
        self.skip_newlines()?;
        self.expect_keyword("in")?;
        let mut clauses: Vec<Clause> = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.keyword("esac") {
                return Ok(Compound::Case { subject, clauses });
            }
            clauses.push(self.clause()?);
        }
    }

    fn clause(&mut self) -> Parsed<Clause> {
        self.eat("(");
        let mut patterns = Vec::new();
        loop {
            self.skip_blanks()?;
            let pattern = self.word()?;
            if pattern.text == "esac" {
                return self.unsupported("esac as a pattern");
            }
            patterns.push(pattern);
            self.skip_blanks()?;
            if !self.eat("|") {
                break;
            }
        }
        self.expect(")", "the end of the patterns")?;
        let (body, terminated) = self.list()?;
        let end = if self.eat(";;&") {
            CaseEnd::Continue
        } else if self.eat(";;") {
            CaseEnd::Break
        } else if self.eat(";&") {
            CaseEnd::FallThrough
        } else if terminated && self.at_keyword("esac") {
            CaseEnd::Break
        } else {
            return self.fail(Reason::Expected("the end of the clause"));
        };
        self.reject_continuation()?;
        Ok(Clause { patterns, body, end })
    }

    /// The rest of a definition that began with `function`.
    fn function_keyword(&mut self, start: usize) -> Parsed<Command> {
        let word = self.word()?;
        let Some(name) = word.literal().filter(|_| !word.was_quoted()) else {
            return self.unsupported("name of a function");
        };
        self.skip_blanks()?;
        if self.at("(") {
            return self.function(name, start);
        }
        self.function_body(name, start)
    }

    /// The rest of a definition from the parentheses on.
    pub(super) fn function(&mut self, name: String, start: usize) -> Parsed<Command> {
        self.position += 1;
        self.skip_blanks()?;
        self.expect(")", "the parentheses of a function")?;
        self.function_body(name, start)
    }

    fn function_body(&mut self, name: String, start: usize) -> Parsed<Command> {
        let known = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && name.chars().all(|next| next.is_ascii_alphanumeric() || "_-:.".contains(next));
        if !known || is_reserved(&name) {
            return self.unsupported("name of a function");
        }
        self.skip_newlines()?;
        match self.compound_command()? {
            Some(body) => Ok(Command::Function { name, body: Box::new(body), span: self.span_from(start) }),
            None => self.fail(Reason::Expected("the body of a function")),
        }
    }
}
