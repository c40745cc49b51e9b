//! Lists and pipelines: what stands between commands.

use super::Reason;
use super::ast::{Item, Link, List, Pipeline, Stage};
use super::cursor::{Parsed, Parser};

/// Keywords that end a list.
const ENDING_KEYWORDS: [&str; 8] = ["then", "else", "elif", "fi", "do", "done", "esac", "}"];

impl Parser<'_> {
    /// Parses a list up to whatever cannot belong to it. The flag says whether
    /// the last command was terminated, so that a keyword may follow.
    pub(super) fn list(&mut self) -> Parsed<(List, bool)> {
        let mut items: Vec<Item> = Vec::new();
        let mut terminated = true;
        while terminated {
            self.skip_newlines()?;
            if self.at_list_end() {
                break;
            }
            let pipeline = self.pipeline()?;
            self.skip_blanks()?;
            let link = self.link()?;
            terminated = link.is_some();
            let link = link.unwrap_or(Link::Sequence);
            items.push(Item { pipeline, link });
        }
        if matches!(items.last(), Some(item) if matches!(item.link, Link::And | Link::Or)) {
            return self.fail(Reason::Expected("a command after the operator"));
        }
        Ok((List { items }, terminated))
    }

    /// Parses a list that must not be empty and must be followed by a keyword.
    pub(super) fn section(&mut self) -> Parsed<List> {
        let (list, terminated) = self.list()?;
        if list.items.is_empty() {
            return self.fail(Reason::Expected("a command"));
        }
        if !terminated {
            return self.fail(Reason::Expected("the end of the command"));
        }
        Ok(list)
    }

    fn at_list_end(&self) -> bool {
        self.peek().is_none()
            || self.at(")")
            || self.at(";;")
            || self.at(";&")
            || ENDING_KEYWORDS.iter().any(|word| self.at_keyword(word))
    }

    /// Consumes what joins the pipeline before it to the next one.
    fn link(&mut self) -> Parsed<Option<Link>> {
        if self.eat("&&") {
            return Ok(Some(Link::And));
        }
        if self.eat("||") {
            return Ok(Some(Link::Or));
        }
        if self.eat("&") {
            self.reject_continuation()?;
            return Ok(Some(Link::Background));
        }
        if self.at(";;") || self.at(";&") {
            return Ok(None);
        }
        if self.eat(";") {
            self.reject_continuation()?;
            return Ok(Some(Link::Sequence));
        }
        Ok(self.at("\n").then_some(Link::Sequence))
    }

    fn pipeline(&mut self) -> Parsed<Pipeline> {
        let mut negated = false;
        let mut timed = false;
        loop {
            if self.at("! ") || self.at("!\t") {
                self.position += 1;
                negated = !negated;
            } else if self.keyword("time") {
                timed = true;
                self.time_options()?;
            } else {
                break;
            }
            self.skip_blanks()?;
        }
        let mut stages: Vec<Stage> = Vec::with_capacity(1);
        loop {
            let command = self.command(!stages.is_empty())?;
            self.skip_blanks()?;
            let with_stderr = self.at("|&");
            let piped = with_stderr || (self.at("|") && !self.at("||"));
            stages.push(Stage { command, with_stderr });
            if !piped {
                break;
            }
            self.position += if with_stderr { 2 } else { 1 };
            self.skip_newlines()?;
        }
        Ok(Pipeline { negated, timed, stages })
    }

    fn time_options(&mut self) -> Parsed<()> {
        self.skip_blanks()?;
        if self.keyword("-p") {
            self.skip_blanks()?;
        }
        if self.at_keyword("--") {
            return self.unsupported("end of options after time");
        }
        Ok(())
    }

    /// Whether the unquoted word at the position is exactly `word`.
    pub(super) fn at_keyword(&self, word: &str) -> bool {
        self.at(word) && self.token_ends(word.len())
    }

    /// Consumes the keyword if it stands here.
    pub(super) fn keyword(&mut self, word: &str) -> bool {
        let found = self.at_keyword(word);
        if found {
            self.position += word.len();
        }
        found
    }

    pub(super) fn expect_keyword(&mut self, word: &'static str) -> Parsed<()> {
        if self.keyword(word) { Ok(()) } else { self.fail(Reason::Expected(word)) }
    }
}
