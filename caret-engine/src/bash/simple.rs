//! Simple commands and assignments.

use super::Reason;
use super::arithmetic::Close;
use super::ast::{Arithmetic, Assignment, Command, Element, Part, Redirect, Simple, Word};
use super::compound::is_reserved;
use super::cursor::{Parsed, Parser};

/// Builtins whose arguments may be array assignments.
const DECLARING: [&str; 5] = ["declare", "typeset", "local", "export", "readonly"];

/// The text of a command without its redirections, put together piece by piece.
#[derive(Default)]
struct Text {
    text: String,
    end: Option<usize>,
    cut: bool,
}

impl Text {
    fn add(&mut self, parser: &Parser<'_>, start: usize) {
        match self.end {
            Some(end) if !self.cut => self.text.push_str(parser.slice(end, start)),
            Some(_) => self.text.push(' '),
            None => {}
        }
        self.text.push_str(parser.slice(start, parser.position));
        self.end = Some(parser.position);
        self.cut = false;
    }
}

impl Parser<'_> {
    /// Parses a simple command, or a function if its first word begins one.
    pub(super) fn simple(&mut self, after_pipe: bool) -> Parsed<Command> {
        let start = self.position;
        let mut end = start;
        let mut text = Text::default();
        let mut assignments: Vec<Assignment> = Vec::new();
        let mut words: Vec<Word> = Vec::with_capacity(1);
        let mut redirects: Vec<Redirect> = Vec::new();
        let mut declares = false;
        loop {
            self.skip_blanks()?;
            let piece = self.position;
            if self.at_redirect() {
                redirects.push(self.redirect()?);
                text.cut = true;
                end = self.position;
                continue;
            }
            if !self.at_word() {
                break;
            }
            if words.is_empty() && self.at_assignment() {
                assignments.push(self.assignment()?);
            } else if declares && self.at_array_assignment() {
                words.push(self.array_argument()?);
            } else {
                let word = self.word()?;
                if words.is_empty() {
                    reject_reserved(self, &word, after_pipe)?;
                    declares = !word.was_quoted() && DECLARING.contains(&word.text.as_str());
                }
                words.push(word);
            }
            end = self.position;
            text.add(self, piece);
            if let Some(name) = self.function_name(&assignments, &words, &redirects)? {
                return self.function(name, start);
            }
        }
        if end == start {
            return self.fail(Reason::Expected("a command"));
        }
        Ok(Command::Simple(Simple {
            assignments,
            words,
            redirects,
            text: text.text,
            span: self.span_between(start, end),
        }))
    }

    /// The name of the function whose definition the only word so far begins.
    fn function_name(
        &mut self,
        assignments: &[Assignment],
        words: &[Word],
        redirects: &[Redirect],
    ) -> Parsed<Option<String>> {
        let ([], [word], []) = (assignments, words, redirects) else {
            return Ok(None);
        };
        self.skip_blanks()?;
        if !self.at("(") {
            return Ok(None);
        }
        match word.literal().filter(|_| !word.was_quoted()) {
            Some(name) => Ok(Some(name)),
            None => self.unsupported("name of a function"),
        }
    }

    /// The length of `name` if an assignment operator or a subscript follows.
    fn at_assignment(&self) -> bool {
        let length = self.identifier_length();
        length > 0
            && match self.byte(length) {
                Some(b'=' | b'[') => true,
                Some(b'+') => self.byte(length + 1) == Some(b'='),
                _ => false,
            }
    }

    fn at_array_assignment(&self) -> bool {
        let length = self.identifier_length();
        let rest = self.rest().get(length..).unwrap_or_default();
        length > 0 && (rest.starts_with("=(") || rest.starts_with("+=("))
    }

    fn assignment(&mut self) -> Parsed<Assignment> {
        let start = self.position;
        let name = self.identifier().to_owned();
        let subscript = self.subscript()?;
        let append = self.eat("+");
        self.expect("=", "an assignment")?;
        let value_start = self.position;
        let value = if self.at("(") {
            if subscript.is_some() {
                return self.fail(Reason::Expected("a single value"));
            }
            let array = self.array()?;
            self.array_word(vec![array], value_start)?
        } else {
            self.optional_word()?
        };
        self.reject_newline_before_heredoc(start)?;
        Ok(Assignment { name, subscript, append, value, span: self.span_from(start) })
    }

    /// A word that contains an array ends with its parenthesis.
    fn array_word(&mut self, parts: Vec<Part>, start: usize) -> Parsed<Word> {
        if !self.token_ends(0) || self.at("(") {
            return self.unsupported("text after an array");
        }
        self.finish_word(parts, start)
    }

    /// `name=(…)` as an argument of a builtin that declares.
    fn array_argument(&mut self) -> Parsed<Word> {
        let start = self.position;
        self.position += self.identifier_length();
        self.eat("+");
        self.eat("=");
        let prefix = Part::Literal(self.slice(start, self.position).to_owned());
        let array = self.array()?;
        self.array_word(vec![prefix, array], start)
    }

    fn subscript(&mut self) -> Parsed<Option<Arithmetic>> {
        if !self.eat("[") {
            return Ok(None);
        }
        let subscript = self.arithmetic(Close::Bracket)?;
        if subscript.raw.is_empty() {
            return self.unsupported("empty subscript");
        }
        Ok(Some(subscript))
    }

    /// The word directly at the position, empty if none begins here.
    fn optional_word(&mut self) -> Parsed<Word> {
        if self.at_word() {
            return self.word();
        }
        self.finish_word(Vec::new(), self.position)
    }

    fn array(&mut self) -> Parsed<Part> {
        self.position += 1;
        self.nested(|parser| {
            let mut elements: Vec<Element> = Vec::new();
            loop {
                parser.skip_blanks()?;
                if parser.eat("\n") {
                    continue;
                }
                if parser.eat(")") {
                    return Ok(Part::Array(elements));
                }
                let subscript = parser.subscript()?;
                let value = if subscript.is_some() {
                    parser.eat("+");
                    parser.expect("=", "an assignment")?;
                    parser.optional_word()?
                } else {
                    parser.word()?
                };
                // Bash 5.2 loses track of backslashes in an array inside of a
                // substitution and then reads other quotes than were written.
                if value.parts.iter().any(|part| matches!(part, Part::Escaped(_))) {
                    return parser.unsupported("backslash in an array");
                }
                elements.push(Element { subscript, value });
            }
        })
    }
}

/// Refuses a keyword that was not read as one: a line continuation after it
/// hides it from the look ahead, but not from bash.
fn reject_reserved(parser: &Parser<'_>, word: &Word, after_pipe: bool) -> Parsed<()> {
    let external_time = after_pipe && word.text == "time";
    if is_reserved(&word.text) && !external_time {
        return parser.fail(Reason::Expected("a command"));
    }
    Ok(())
}
