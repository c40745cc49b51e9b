//! A step as words and quotes.
//!
//! What stands in quotes is taken literally everywhere, so finding quotes is done once and here.
//! Invariant: the time is linear in the text, whatever quotes it opens and never closes.

use std::ops::Range;

/// Text in quotes: where it is, and where its inside is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Quote {
    pub(super) outside: Range<usize>,
    pub(super) inside: Range<usize>,
    pub(super) kind: char,
}

/// All quotes of `text`, in order, none inside another.
pub(super) fn quotes(text: &str) -> Vec<Quote> {
    let mut found = Vec::new();
    let mut unclosed = String::new();
    let mut before = ' ';
    let mut skip_to = 0;
    for (at, char) in text.char_indices() {
        if at < skip_to {
            before = char;
            continue;
        }
        if "'\"“‘`".contains(char) && !before.is_alphanumeric() {
            let fence = text[at..].starts_with("```");
            let kind = if fence { '~' } else { char };
            if !unclosed.contains(kind) {
                match close(text, at, kind) {
                    Some(quote) => {
                        skip_to = quote.outside.end;
                        found.push(quote);
                    }
                    // What is not closed from here is not closed from further on either.
                    None => unclosed.push(kind),
                }
            }
        }
        before = char;
    }
    found
}

/// The quote that opens at `start`; `~` stands for a fence.
fn close(text: &str, start: usize, kind: char) -> Option<Quote> {
    if kind == '~' {
        let open = text[start..].len() - text[start..].trim_start_matches('`').len();
        let line = start + open + text[start + open..].find('\n')? + 1;
        let inside = match text[line..].starts_with("```") {
            true => line..line,
            false => line..line + text[line..].find("\n```")? + 1,
        };
        let ticks = text[inside.end..].len() - text[inside.end..].trim_start_matches('`').len();
        return Some(Quote { outside: start..inside.end + ticks, inside, kind });
    }
    let closer = match kind {
        '“' => '”',
        '‘' => '’',
        other => other,
    };
    let from = start + kind.len_utf8();
    let mut escaped = false;
    for (at, char) in text[from..].char_indices().map(|(at, char)| (from + at, char)) {
        let end = at + char.len_utf8();
        let wordy = || text[end..].chars().next().is_some_and(char::is_alphanumeric);
        // An apostrophe inside a word closes nothing.
        let apostrophe = matches!(kind, '\'' | '‘') && wordy();
        if char == closer && !escaped && !apostrophe {
            return Some(Quote { outside: start..end, inside: from..at, kind });
        }
        escaped = kind == '"' && char == '\\' && !escaped;
    }
    None
}

/// One word, or one quote.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    /// As it is written; without the quotes when quoted.
    pub(super) raw: String,
    /// In lower case and without punctuation at its end; empty when quoted.
    key: String,
    /// The quote's kind, if it is one.
    pub(super) quote: Option<char>,
    start: usize,
    end: usize,
}

/// A step that is being read word by word.
#[derive(Clone, Debug)]
pub(super) struct Line<'a> {
    source: &'a str,
    tokens: Vec<Token>,
    at: usize,
}

const LAST_WORDS: &[&str] = &["please", "pls", "now", "thanks", "again"];

impl<'a> Line<'a> {
    /// Cuts `source` into words and quotes; politeness at the end is left out.
    pub(super) fn new(source: &'a str) -> Self {
        let mut tokens = Vec::new();
        let mut from = 0;
        for quote in quotes(source) {
            words(source, from..quote.outside.start, &mut tokens);
            let inside = &source[quote.inside.clone()];
            let raw = if quote.kind == '"' { inside.replace("\\\"", "\"") } else { inside.to_owned() };
            let (start, end) = (quote.outside.start, quote.outside.end);
            tokens.push(Token { raw, key: String::new(), quote: Some(quote.kind), start, end });
            from = quote.outside.end;
        }
        words(source, from..source.len(), &mut tokens);
        let mut line = Self { source, tokens, at: 0 };
        line.trim_end();
        line
    }

    fn trim_end(&mut self) {
        loop {
            let keys: Vec<&str> = self.tokens.iter().rev().take(2).map(|token| token.key.as_str()).collect();
            let lone = self.tokens.last().is_some_and(|token| token.quote.is_none());
            let cut = match keys.as_slice() {
                ["me", "for"] | ["you", "thank"] => 2,
                [last, _, ..] if LAST_WORDS.contains(last) => 1,
                // Punctuation that stands alone.
                ["", ..]
                    if lone && !self.tokens.last().is_some_and(|token| token.raw.contains(['*', '.'])) =>
                {
                    1
                }
                _ => return,
            };
            self.tokens.truncate(self.tokens.len() - cut);
        }
    }

    /// The word that comes next, in lower case; empty for a quote and at the end.
    pub(super) fn key(&self) -> &str {
        self.token().map_or("", |token| &token.key)
    }

    /// The word or quote that comes next.
    pub(super) fn token(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    /// Whether nothing is left.
    pub(super) fn is_done(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// How many words and quotes are left.
    pub(super) fn left(&self) -> usize {
        self.tokens.len().saturating_sub(self.at)
    }

    /// Goes on by one word or quote and gives it.
    pub(super) fn next(&mut self) -> Option<&Token> {
        self.at += 1;
        self.tokens.get(self.at - 1)
    }

    /// Goes over one of `words`, if it comes next.
    pub(super) fn take(&mut self, words: &[&str]) -> bool {
        let found = !self.key().is_empty() && words.contains(&self.key());
        if found {
            self.at += 1;
        }
        found
    }

    /// Goes over any number of `words`.
    pub(super) fn skip(&mut self, words: &[&str]) {
        while self.take(words) {}
    }

    /// Goes over the first of `phrases` that comes next word for word.
    pub(super) fn phrase(&mut self, phrases: &[&str]) -> bool {
        for phrase in phrases {
            let count = phrase.split(' ').count();
            let here = self.tokens.iter().skip(self.at).map(|token| token.key.as_str());
            if self.left() >= count && here.take(count).eq(phrase.split(' ')) {
                self.at += count;
                return true;
            }
        }
        false
    }

    /// All words that are left, as keys with single spaces.
    pub(super) fn keys(&self) -> String {
        let keys: Vec<&str> = self.tokens.iter().skip(self.at).map(|token| token.key.as_str()).collect();
        keys.join(" ")
    }

    /// The source from here to its very end, politeness included.
    pub(super) fn raw_rest(&self) -> &'a str {
        self.token().map_or("", |token| &self.source[token.start..]).trim()
    }

    /// The source from here to the last word that counts; a lone quote without its marks.
    pub(super) fn rest(&self) -> String {
        self.span(self.at, self.tokens.len())
    }

    /// The text up to the first of `words`, which is gone over; `None` when none of them comes.
    pub(super) fn until(&mut self, words: &[&str]) -> Option<String> {
        let end = (self.at..self.tokens.len()).find(|at| self.is_one(*at, words))?;
        self.up_to(end)
    }

    /// Like `until`, with the last of the words that come.
    pub(super) fn until_last(&mut self, words: &[&str]) -> Option<String> {
        let end = (self.at..self.tokens.len()).rfind(|at| self.is_one(*at, words))?;
        self.up_to(end)
    }

    fn is_one(&self, at: usize, words: &[&str]) -> bool {
        words.contains(&self.tokens[at].key.as_str())
    }

    fn up_to(&mut self, end: usize) -> Option<String> {
        let text = self.span(self.at, end);
        let any = end > self.at;
        self.at = end + 1;
        any.then_some(text)
    }

    /// Whether the last word of the line is a quote.
    pub(super) fn ends_quoted(&self) -> bool {
        self.tokens.last().is_some_and(|token| token.quote.is_some())
    }

    fn span(&self, from: usize, to: usize) -> String {
        match self.tokens.get(from..to) {
            None | Some([]) => String::new(),
            Some([only]) if only.quote.is_some() => only.raw.clone(),
            Some([first, .., last]) if last.quote.is_some() => self.source[first.start..last.end].to_owned(),
            Some(tokens) => {
                let (first, last) = (&tokens[0], &tokens[tokens.len() - 1]);
                self.source[first.start..last.start].to_owned() + without_full_stop(&last.raw)
            }
        }
    }
}

/// A word without the punctuation that ends a sentence.
fn without_full_stop(word: &str) -> &str {
    let bare = word.trim_end_matches(['.', ',', ';', ':', '!', '?']);
    if bare.ends_with(char::is_alphanumeric) { bare } else { word }
}

fn words(source: &str, range: Range<usize>, tokens: &mut Vec<Token>) {
    let offset = range.start;
    let text = &source[range];
    for word in text.split_whitespace() {
        let start = offset + (word.as_ptr() as usize - text.as_ptr() as usize);
        let key = word.to_lowercase().replace('’', "'");
        let key =
            key.trim_start_matches(['(', '[']).trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']']);
        tokens.push(Token {
            raw: word.to_owned(),
            key: key.to_owned(),
            quote: None,
            start,
            end: start + word.len(),
        });
    }
}

/// What `it` stands for until the path that was named before is known.
pub(super) const IT: &str = "\u{0}it";

impl Line<'_> {
    /// A file: a quote, a word that looks like a path, or any word after `file`, `called` or `named`.
    pub(super) fn file(&mut self) -> Option<String> {
        let back = self.at;
        if self.phrase(&["that file", "this file", "the same file"]) || self.take(&["it"]) {
            return Some(IT.into());
        }
        self.skip(&["the", "a", "an", "my", "our", "this", "these"]);
        let hinted = self.take(&["file", "files", "document", "called", "named"]);
        if hinted && self.is_done() {
            return Some(IT.into());
        }
        self.skip(&["called", "named", "at", "path"]);
        let Some(token) = self.token() else {
            self.at = back;
            return None;
        };
        let path = if token.quote.is_some() { token.raw.clone() } else { clean(&token.raw).to_owned() };
        let word = token.quote.is_none() && hinted && !STOPPERS.contains(&token.key.as_str());
        if path.is_empty() || !(token.quote.is_some() || word || looks_like_path(&path)) {
            self.at = back;
            return None;
        }
        self.at += 1;
        self.take(&["file"]);
        Some(path)
    }

    /// One or more files, with commas or `and` between them.
    pub(super) fn files(&mut self) -> Vec<String> {
        let mut found = Vec::new();
        while let Some(path) = self.file() {
            found.push(path);
            let back = self.at;
            self.skip(&["and", "&", "plus"]);
            let here = self.at;
            if self.file().is_none() {
                self.at = back;
                break;
            }
            self.at = here;
        }
        found
    }

    /// A folder: like a file, and any single word; `here` and the like are the workspace itself.
    pub(super) fn folder(&mut self) -> Option<Option<String>> {
        self.skip(&["the", "my", "our", "this", "current", "working", "whole", "entire"]);
        if self.is_done()
            || self.take(&[
                "here",
                "directory",
                "folder",
                "dir",
                "project",
                "repo",
                "repository",
                "workspace",
                "codebase",
                "code",
            ])
            || self.take(&["."])
        {
            return Some(None);
        }
        self.skip(&["file", "files", "directory", "folder", "dir", "called", "named"]);
        let token = self.next()?;
        let path = if token.quote.is_some() { token.raw.clone() } else { clean(&token.raw).to_owned() };
        self.skip(&["file", "directory", "folder", "dir"]);
        Some((!path.is_empty() && path != ".").then_some(path))
    }
}

const STOPPERS: &[&str] =
    &["with", "containing", "in", "to", "and", "that", "from", "for", "which", "of", "is", "are"];

/// A word as a path: without the marks that belong to the sentence.
pub(super) fn clean(word: &str) -> &str {
    let word = word
        .trim_start_matches(['@', '(', '[', '<'])
        .trim_end_matches([',', ';', ':', '!', '?', ')', ']', '>']);
    if word.ends_with("..") || word == "." || word.ends_with("/.") {
        return word;
    }
    word.strip_suffix('.').unwrap_or(word)
}

/// Whether a word can only be meant as a path.
pub(super) fn looks_like_path(word: &str) -> bool {
    const NAMES: &[&str] =
        &["makefile", "dockerfile", "license", "readme", "justfile", "changelog", "contributing"];
    if word.contains("://") || word.parse::<f64>().is_ok() {
        return false;
    }
    let slash = word.contains('/') && word.chars().any(char::is_alphanumeric);
    let ending = word.rsplit_once('.').is_some_and(|(_, ending)| {
        (1..=12).contains(&ending.len())
            && ending.chars().all(|char| char.is_ascii_alphanumeric() || char == '_')
    });
    slash || ending || matches!(word, "." | "..") || NAMES.contains(&word.to_lowercase().as_str())
}
