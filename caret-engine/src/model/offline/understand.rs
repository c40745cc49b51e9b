//! From a prompt to steps.
//!
//! A prompt is cut at `then`, `;`, new lines and list numbers, never inside quotes; then at `and`, commas
//! and full stops, but only where both sides are steps by themselves. Each piece goes through the rules.
//!
//! Invariant: pure and bounded. The same prompt gives the same steps, whatever the prompt is.

use super::rules;
use super::step::Step;
use super::words::{IT, Line, Quote, quotes};
use std::collections::HashMap;

/// More steps than this are not taken from one prompt.
const STEPS: usize = 40;
/// A longer piece is not cut at `and`, commas and full stops.
const SOFT: usize = 4096;

/// The steps that `prompt` asks for, in order; never none.
pub(super) fn understand(prompt: &str) -> Vec<Step> {
    let prompt = prompt.trim();
    if let Some(command) = prompt.strip_prefix('!').map(str::trim).filter(|command| !command.is_empty()) {
        return vec![Step::Run { command: command.to_owned() }];
    }
    if let Some(todo) = rules::todo(prompt) {
        return vec![todo];
    }
    let mut steps: Vec<Step> = Vec::new();
    for piece in pieces(prompt) {
        let found = soft(piece.text);
        // `run a; b` is one command when `b` is no step.
        if let ([Step::Unknown { .. }], Some(Step::Run { command }), Cut::Semicolon) =
            (found.as_slice(), steps.last_mut(), piece.cut)
        {
            command.push_str("; ");
            command.push_str(piece.text);
            continue;
        }
        let heading = piece.text.ends_with(':') && matches!(found.as_slice(), [Step::Unknown { .. }]);
        if !heading {
            steps.extend(found);
        }
        if steps.len() > STEPS {
            steps.truncate(STEPS);
            steps.push(Step::Unknown { text: piece.text.to_owned() });
            break;
        }
    }
    if steps.is_empty() {
        steps.push(Step::Unknown { text: prompt.to_owned() });
    }
    resolve_it(&mut steps);
    steps
}

/// `it` is the file that was named last.
fn resolve_it(steps: &mut [Step]) {
    let mut last: Option<String> = None;
    for step in steps {
        let Some(path) = step.path_mut() else { continue };
        if path != IT {
            last = Some(path.clone());
        } else if let Some(last) = &last {
            path.clone_from(last);
        } else {
            *step = Step::Unknown { text: "it".into() };
        }
    }
}

/// What a piece was cut off by.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cut {
    Start,
    Word,
    Semicolon,
    Newline,
}

struct Piece<'a> {
    text: &'a str,
    cut: Cut,
}

/// Cuts at what always separates steps.
fn pieces(prompt: &str) -> Vec<Piece<'_>> {
    let quotes = quotes(prompt);
    let mut found = Vec::new();
    let (mut from, mut cut) = (0, Cut::Start);
    let mut number = 2;
    let numbered = prompt.starts_with("1.") || prompt.starts_with("1)");
    let mut inside = quotes.iter().peekable();
    let mut at = 0;
    while at < prompt.len() {
        if let Some(quote) = skip(&mut inside, at) {
            at = quote;
            continue;
        }
        let rest = &prompt[at..];
        let first = rest.chars().next().unwrap_or(' ');
        let marker =
            || numbered && [".", ")"].iter().any(|end| rest[1..].starts_with(&format!("{number}{end} ")));
        let (next, length) = match first {
            ';' => (Cut::Semicolon, 1),
            '\n' if takes_the_rest(&prompt[from..at]) => break,
            '\n' => (Cut::Newline, 1),
            ' ' if marker() => {
                number += 1;
                (Cut::Newline, 1)
            }
            _ => match joint(prompt, at) {
                Some(length) => (Cut::Word, length),
                None => {
                    at += first.len_utf8();
                    continue;
                }
            },
        };
        push(&mut found, &prompt[from..at], cut);
        at += length;
        (from, cut) = (at, next);
    }
    push(&mut found, &prompt[from..], cut);
    found
}

/// The end of the quote that `at` is in, if any.
fn skip<'q>(inside: &mut std::iter::Peekable<impl Iterator<Item = &'q Quote>>, at: usize) -> Option<usize> {
    while let Some(quote) = inside.peek() {
        if at < quote.outside.start {
            return None;
        }
        if at < quote.outside.end {
            return Some(quote.outside.end);
        }
        inside.next();
    }
    None
}

/// How long the joining words at `at` are: `then`, `and then`, `after that`.
fn joint(text: &str, at: usize) -> Option<usize> {
    const JOINTS: &[&str] = &["and after that", "after that", "and then", "then", "afterwards"];
    if text[..at].ends_with(|before: char| before.is_alphanumeric() || "'-_/.".contains(before)) {
        return None;
    }
    JOINTS.iter().map(|joint| joint.len()).zip(JOINTS).find_map(|(length, joint)| {
        let here = text.get(at..at + length)?;
        let after = text[at + length..].chars().next();
        let ends = after.is_none_or(|after| after.is_whitespace() || after == ',' || after == ':');
        (ends && here.eq_ignore_ascii_case(joint)).then_some(length)
    })
}

/// Whether a line announces text, so that all lines after it are that text.
fn takes_the_rest(line: &str) -> bool {
    let line = line.trim_end();
    let first = Line::new(&line[..line.find(' ').unwrap_or(0)]).key().to_owned();
    line.ends_with(':')
        && ["create", "write", "make", "save", "append", "add", "run", "execute"].contains(&first.as_str())
}

fn push<'a>(found: &mut Vec<Piece<'a>>, text: &'a str, cut: Cut) {
    let mut text = without_marker(text).trim_start_matches([',', ':', ' ']).trim();
    loop {
        let shorter = text.trim_end_matches([',', ' ']);
        let shorter = shorter.strip_suffix(" and").unwrap_or(shorter);
        if shorter.len() == text.len() {
            break;
        }
        text = shorter;
    }
    if text.chars().any(|char| !char.is_whitespace() && !".,!&".contains(char)) {
        found.push(Piece { text, cut });
    }
}

/// A line without the number or the dash of a list.
pub(super) fn without_marker(line: &str) -> &str {
    let line = line.trim();
    let digits = line.len() - line.trim_start_matches(|char: char| char.is_ascii_digit()).len();
    let after = &line[digits..];
    let rest = match digits {
        0 => line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).or_else(|| line.strip_prefix("• ")),
        1..=3 => after.strip_prefix(". ").or_else(|| after.strip_prefix(") ")),
        _ => None,
    };
    let rest = rest.unwrap_or(line).trim_start();
    rest.strip_prefix("[ ] ").unwrap_or(rest)
}

/// Cuts a piece at `and`, commas and full stops where both sides are steps.
fn soft(piece: &str) -> Vec<Step> {
    let mut cuts = if piece.len() <= SOFT { soft_cuts(piece) } else { Vec::new() };
    cuts.truncate(24);
    let mut known = HashMap::new();
    suffix(piece, 0, &cuts, &mut known).unwrap_or_else(|| vec![Step::Unknown { text: piece.to_owned() }])
}

/// The steps of `piece` from byte `from`, each suffix worked out once.
fn suffix(
    piece: &str,
    from: usize,
    cuts: &[(usize, usize)],
    known: &mut HashMap<usize, Option<Vec<Step>>>,
) -> Option<Vec<Step>> {
    if let Some(steps) = known.get(&from) {
        return steps.clone();
    }
    let whole = rules::parse(&piece[from..]);
    let mut best = None;
    for (at, length) in cuts.iter().filter(|(at, _)| *at > from) {
        let left = &piece[from..*at];
        let Some(first) = rules::parse(left).filter(|steps| closed(steps, left, whole.is_some())) else {
            continue;
        };
        if let Some(rest) = suffix(piece, at + length, cuts, known) {
            best = Some([first, rest].concat());
            break;
        }
    }
    let steps = best.or(whole);
    known.insert(from, steps.clone());
    steps
}

/// Whether a step ends where it was cut, rather than running on.
fn closed(steps: &[Step], text: &str, has_whole: bool) -> bool {
    steps.iter().all(|step| match step {
        Step::Say(_) => !has_whole,
        // `create a.txt and write 'x' in it` is one wish.
        Step::Create { text, .. } if text.is_empty() && has_whole => false,
        Step::Search { .. }
        | Step::Create { .. }
        | Step::Append { .. }
        | Step::Replace { .. }
        | Step::ReplaceSomewhere { .. } => Line::new(text).ends_quoted() || ends_in_path(text),
        Step::Subagent { .. } | Step::Todo { .. } => false,
        _ => true,
    })
}

fn ends_in_path(text: &str) -> bool {
    text.split_whitespace()
        .last()
        .is_some_and(|word| super::words::looks_like_path(super::words::clean(word)))
}

/// Where a piece may be cut, outside quotes: byte and length of each separator.
fn soft_cuts(piece: &str) -> Vec<(usize, usize)> {
    const SEPARATORS: &[&str] = &[", and ", " and ", ", ", ". ", "? ", "! "];
    let quotes = quotes(piece);
    let mut inside = quotes.iter().peekable();
    let mut cuts = Vec::new();
    let mut at = 0;
    while at < piece.len() {
        if let Some(end) = skip(&mut inside, at) {
            at = end;
            continue;
        }
        match SEPARATORS.iter().find(|separator| piece[at..].starts_with(**separator)) {
            Some(separator) => {
                // The space at the end may open a quote's word, so the scan goes on right behind it.
                cuts.push((at, separator.len()));
                at += separator.len();
            }
            None => at += piece[at..].chars().next().map_or(1, char::len_utf8),
        }
    }
    cuts
}
