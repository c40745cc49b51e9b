//! What each kind of step looks like, as rules that are tried in order.
//!
//! A rule that would change something matches only when every word of the step is accounted for: a
//! half-understood wish is answered with words, never with an edit.

mod files;
mod seek;
mod talk;
mod work;

use super::step::Step;
use super::words::Line;

pub(super) use work::todo;

type Rule = fn(&mut Line<'_>) -> Option<Vec<Step>>;

const RULES: &[Rule] = &[
    talk::recall,
    talk::about,
    talk::sum,
    talk::canned,
    work::fetch,
    work::subagent,
    files::count,
    files::create,
    files::append,
    files::replace,
    files::delete,
    work::shell_words,
    seek::search,
    seek::find,
    seek::find_word,
    seek::list,
    files::read,
    work::run,
];

/// What stands before a wish and says nothing.
const OPENERS: &[&str] = &[
    "can you please",
    "could you please",
    "can you",
    "could you",
    "would you",
    "will you",
    "please",
    "pls",
    "i want you to",
    "i would like you to",
    "i'd like you to",
    "i want to",
    "i would like to",
    "i'd like to",
    "i need you to",
    "i need to",
    "go ahead and",
    "let's",
    "let us",
    "just",
    "first",
    "firstly",
    "second",
    "next",
    "finally",
    "lastly",
    "also",
    "now",
    "and",
    "so",
    "ok",
    "okay",
    "hey",
    "hi",
    "hello",
    "caret",
    "help me",
    "try to",
    "you should",
    "afterwards",
    "kindly",
    "quickly",
    "then",
];

/// The steps that `piece` asks for; `None` when no rule knows it.
pub(super) fn parse(piece: &str) -> Option<Vec<Step>> {
    let mut line = Line::new(piece);
    loop {
        // The whole step comes first: `hello` alone is a greeting, `hello, run ls` is a command.
        if let Some(steps) = RULES.iter().find_map(|rule| rule(&mut line.clone())) {
            return Some(steps);
        }
        if !line.phrase(OPENERS) {
            return None;
        }
    }
}
