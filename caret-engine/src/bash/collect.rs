//! Finds the simple commands of a tree, wherever they stand.

use super::ast::{Arithmetic, Command, Compound, Element, List, Part, Redirect, Script, Simple, Word};

/// A simple command and where it was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found<'a> {
    /// The command.
    pub command: &'a Simple,
    /// Whether it stands in a command or process substitution or in backticks.
    pub in_substitution: bool,
    /// Whether it stands in the body of a function.
    pub in_function: bool,
}

/// Every simple command of the script in source order: those in lists, compound
/// commands, functions, substitutions, here-documents, parameter expansions,
/// arithmetic, arrays, redirections and tests.
#[must_use]
pub fn simple_commands(script: &Script) -> Vec<Found<'_>> {
    Walk::over(script).found
}

/// A walk over a tree and what it met.
#[derive(Default)]
pub(super) struct Walk<'a> {
    pub(super) found: Vec<Found<'a>>,
    pub(super) redirects: Vec<&'a Redirect>,
    pub(super) substitutes: bool,
    in_substitution: bool,
    in_function: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn over(script: &'a Script) -> Self {
        let mut walk = Self::default();
        walk.list(&script.list);
        // Words and redirections are stored apart and the bodies of
        // here-documents stand behind their line; the offsets restore the order.
        walk.found.sort_by_key(|found| found.command.span.start);
        walk.redirects.sort_by_key(|redirect| redirect.span.start);
        walk
    }

    fn list(&mut self, list: &'a List) {
        for item in &list.items {
            for stage in &item.pipeline.stages {
                self.command(&stage.command);
            }
        }
    }

    fn command(&mut self, command: &'a Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound { body, redirects, .. } => {
                self.compound(body);
                self.redirects(redirects);
            }
            Command::Function { body, .. } => {
                let outer = std::mem::replace(&mut self.in_function, true);
                self.command(body);
                self.in_function = outer;
            }
        }
    }

    fn simple(&mut self, simple: &'a Simple) {
        self.found.push(Found {
            command: simple,
            in_substitution: self.in_substitution,
            in_function: self.in_function,
        });
        for assignment in &simple.assignments {
            self.subscript(assignment.subscript.as_ref());
            self.word(&assignment.value);
        }
        self.words(&simple.words);
        self.redirects(&simple.redirects);
    }

    fn compound(&mut self, compound: &'a Compound) {
        match compound {
            Compound::Group(list) | Compound::Subshell(list) => self.list(list),
            Compound::If { branches, otherwise } => {
                for branch in branches {
                    self.list(&branch.condition);
                    self.list(&branch.body);
                }
                otherwise.iter().for_each(|list| self.list(list));
            }
            Compound::For { words, body, .. } => {
                words.iter().for_each(|words| self.words(words));
                self.list(body);
            }
            Compound::ForArithmetic { header, body } => {
                self.parts(&header.parts);
                self.list(body);
            }
            Compound::While { condition, body, .. } => {
                self.list(condition);
                self.list(body);
            }
            Compound::Case { subject, clauses } => {
                self.word(subject);
                for clause in clauses {
                    self.words(&clause.patterns);
                    self.list(&clause.body);
                }
            }
            Compound::Test(words) => self.words(words),
            Compound::Arithmetic(arithmetic) => self.parts(&arithmetic.parts),
        }
    }

    fn redirects(&mut self, redirects: &'a [Redirect]) {
        for redirect in redirects {
            self.redirects.push(redirect);
            self.word(&redirect.target);
            let body = redirect.heredoc.as_ref().and_then(|heredoc| heredoc.body());
            body.into_iter().for_each(|word| self.word(word));
        }
    }

    fn words(&mut self, words: &'a [Word]) {
        words.iter().for_each(|word| self.word(word));
    }

    fn word(&mut self, word: &'a Word) {
        self.parts(&word.parts);
    }

    fn subscript(&mut self, subscript: Option<&'a Arithmetic>) {
        if let Some(arithmetic) = subscript {
            self.parts(&arithmetic.parts);
        }
    }

    fn parts(&mut self, parts: &'a [Part]) {
        for part in parts {
            match part {
                Part::Double(inner) | Part::Locale(inner) => self.parts(inner),
                Part::Parameter(parameter) => self.parts(&parameter.parts),
                Part::Arithmetic(arithmetic) => self.parts(&arithmetic.parts),
                Part::Command(script) | Part::Backtick(script) | Part::Process(_, script) => {
                    self.substitution(script);
                }
                Part::Array(elements) => elements.iter().for_each(|element| self.element(element)),
                Part::Literal(_)
                | Part::Escaped(_)
                | Part::Single(_)
                | Part::AnsiC(_)
                | Part::Brace
                | Part::Glob(_)
                | Part::Tilde => {}
            }
        }
    }

    fn element(&mut self, element: &'a Element) {
        self.subscript(element.subscript.as_ref());
        self.word(&element.value);
    }

    fn substitution(&mut self, script: &'a Script) {
        self.substitutes = true;
        let outer = std::mem::replace(&mut self.in_substitution, true);
        self.list(&script.list);
        self.in_substitution = outer;
    }
}
