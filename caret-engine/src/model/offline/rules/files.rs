//! Steps about one file: reading, counting, creating, appending, replacing, deleting.

use super::seek::named;
use crate::model::offline::step::{Counted, Extent, Part, Step};
use crate::model::offline::words::{Line, clean, looks_like_path};

const READS: &[&str] = &[
    "tell me what is in",
    "tell me what's in",
    "show me what is in",
    "show me what's in",
    "what is written in",
    "what is in",
    "what's in",
    "what is inside",
    "what's inside",
    "what are the contents of",
    "let me see",
    "take a look at",
    "have a look at",
    "look at",
    "look into",
    "give me",
    "read",
    "show",
    "open",
    "print",
    "cat",
    "display",
    "view",
    "see",
    "output",
    "check",
    "get",
    "type",
    "what is",
    "what's",
    "head",
    "tail",
];

const AFTER_READ: &[&str] = &[
    "and show me the contents",
    "and tell me what it says",
    "and show me what it says",
    "to me",
    "in full",
    "and show me",
    "and print it",
    "and display it",
    "and tell me what's in it",
];

/// `read PATH`, with or without lines.
pub(in crate::model::offline) fn read(line: &mut Line<'_>) -> Option<Vec<Step>> {
    let says = line.phrase(&["what does"]);
    if !says && !line.phrase(READS) {
        return None;
    }
    line.skip(&["me", "out", "back", "through", "to"]);
    let mut part = part(line).unwrap_or(Part::Whole);
    line.phrase(&[
        "the contents of",
        "the content of",
        "contents of",
        "content of",
        "the text of",
        "the text in",
        "the whole",
        "all of",
        "what is in",
        "what's in",
    ]);
    let mut paths = line.files();
    if paths.is_empty() && line.left() == 1 && part == Part::Whole && !says {
        paths = one_word(line)?;
    }
    if says && !line.take(&["say", "contain", "hold", "have", "look"]) {
        return None;
    }
    line.skip(&["in", "it", "like", "contents", "content", "from"]);
    if part == Part::Whole {
        part = self::part(line).unwrap_or(Part::Whole);
    }
    line.phrase(AFTER_READ);
    if !line.is_done() || paths.is_empty() {
        return None;
    }
    Some(paths.into_iter().map(|path| Step::Read { path, part }).collect())
}

/// `read foo`: a lone word is a path only if it cannot be anything else.
fn one_word(line: &mut Line<'_>) -> Option<Vec<String>> {
    const NO_PATHS: &[&str] = &[
        "me",
        "everything",
        "all",
        "that",
        "this",
        "them",
        "something",
        "anything",
        "nothing",
        "up",
        "more",
        "files",
        "here",
        "there",
    ];
    let key = line.key();
    if key.is_empty() || NO_PATHS.contains(&key) || !line.raw_rest().contains(['_', '-']) {
        return None;
    }
    line.next().map(|token| vec![clean(&token.raw).to_owned()])
}

/// `lines 3 to 5 of`, `the first 10 lines of`, `line 7 of`, `from line 4`.
fn part(line: &mut Line<'_>) -> Option<Part> {
    let mut ahead = line.clone();
    ahead.skip(&["the", "from", "on", "only", "just"]);
    let part = if ahead.take(&["first", "top"]) {
        let last = number(&mut ahead).unwrap_or(1);
        ahead.take(&["lines", "line"]).then_some(Part::Lines { first: 1, last })
    } else if ahead.take(&["last", "bottom", "final"]) {
        let count = number(&mut ahead).unwrap_or(1);
        ahead.take(&["lines", "line"]).then_some(Part::Last { count })
    } else if ahead.take(&["lines", "line"]) {
        range(&mut ahead)
    } else {
        None
    }?;
    ahead.skip(&["of", "in", "from"]);
    *line = ahead;
    Some(part)
}

fn range(line: &mut Line<'_>) -> Option<Part> {
    let key = line.key().to_owned();
    for between in ["-", "–", ":", ".."] {
        if let Some((first, last)) = key.split_once(between) {
            line.next();
            return ordered(first.parse().ok()?, last.parse().ok()?);
        }
    }
    let first = number(line)?;
    if line.take(&["to", "-", "–", "until", "through", "and"]) {
        line.take(&["line"]);
        if line.phrase(&["the end", "end"]) {
            return Some(Part::From { first });
        }
        return ordered(first, number(line)?);
    }
    match line.phrase(&["onwards", "onward", "on", "and following"]) {
        true => Some(Part::From { first }),
        false => ordered(first, first),
    }
}

fn ordered(first: u64, last: u64) -> Option<Part> {
    (first >= 1 && last >= first).then_some(Part::Lines { first, last })
}

fn number(line: &mut Line<'_>) -> Option<u64> {
    const WORDS: &[&str] = &["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let key = line.key();
    let spelled = WORDS.iter().position(|word| *word == key).and_then(|at| u64::try_from(at + 1).ok());
    let value = key.parse().ok().or(spelled).filter(|value| (1..1_000_000_000).contains(value))?;
    line.next();
    Some(value)
}

/// `how many lines are in PATH`, `how many files are there`.
pub(in crate::model::offline) fn count(line: &mut Line<'_>) -> Option<Vec<Step>> {
    line.phrase(&["tell me"]);
    if !line.phrase(&[
        "how many",
        "count all the",
        "count all",
        "count the",
        "count",
        "what is the number of",
        "the number of",
        "number of",
    ]) {
        return None;
    }
    line.skip(&["number", "of", "the"]);
    let what = match line.key() {
        "lines" | "line" => Counted::Lines,
        "words" | "word" => Counted::Words,
        _ => return count_files(line),
    };
    line.next();
    line.skip(&["are", "there", "in", "of", "does", "do", "has", "is", "inside"]);
    let path = line.file()?;
    line.skip(&["have", "has", "contain", "there", "file"]);
    line.is_done().then(|| vec![Step::Count { what, path }])
}

fn count_files(line: &mut Line<'_>) -> Option<Vec<Step>> {
    let mut ahead = line.clone();
    let plain = ahead.take(&["files", "file"]);
    let glob = match plain {
        true => {
            *line = ahead;
            "**/*".to_owned()
        }
        false => named(line).filter(|glob| glob.contains('*'))?,
    };
    line.skip(&["are", "there", "do", "we", "i", "you", "have", "exist", "does"]);
    let mut under = None;
    if line.take(&["in", "under", "inside", "within", "of"]) {
        under = line.folder()?;
    }
    line.skip(&["have", "contain", "folder", "directory", "here"]);
    line.is_done().then(|| vec![Step::CountFiles { glob, under }])
}

/// `create a file called PATH with text TEXT`, `write TEXT to PATH`.
pub(in crate::model::offline) fn create(line: &mut Line<'_>) -> Option<Vec<Step>> {
    // `add 'x' to y.txt` keeps what is there.
    let adds = line.key() == "add";
    if !line.take(&["create", "write", "make", "add", "generate", "save", "put", "store", "new"]) {
        return None;
    }
    if !adds && let Some(steps) = text_into_file(&mut line.clone()) {
        return Some(steps);
    }
    line.skip(&["to", "me", "a", "an", "the", "new", "empty", "blank", "simple", "text"]);
    // `create a file with text 'x' called y.txt`: the text may come first.
    let mut ahead = line.clone();
    if ahead.take(&["file"])
        && introduces_text(&mut ahead)
        && let Some(text) = ahead.next().filter(|token| token.quote.is_some()).map(|token| token.raw.clone())
        && ahead.take(&["called", "named", "at", "in", "as"])
        && let Some(path) = ahead.file()
        && ahead.is_done()
    {
        return Some(vec![Step::Create { path, text }]);
    }
    // `add the text "abc"` names no file.
    let text_only = line.token().is_some_and(|token| token.quote.is_some() && !looks_like_path(&token.raw));
    if text_only {
        return None;
    }
    let path = line.file()?;
    line.phrase(&[
        "in this folder",
        "in this directory",
        "in the current directory",
        "in the current folder",
        "here",
    ]);
    let text = if line.is_done() {
        String::new()
    } else if introduces_text(line) && !line.is_done() {
        literal(line)?
    } else if line.left() == 1 && line.token().is_some_and(|token| token.quote.is_some()) {
        line.rest()
    } else {
        return None;
    };
    Some(vec![Step::Create { path, text }])
}

/// `with the text`, `containing`, `that says` and so on.
fn introduces_text(line: &mut Line<'_>) -> bool {
    let said = line.phrase(&[
        "with",
        "containing",
        "contains",
        "that contains",
        "which contains",
        "that says",
        "which says",
        "saying",
        "that reads",
        "and write",
        "and put",
        "and add",
    ]);
    line.skip(&[
        "the",
        "following",
        "this",
        "text",
        "content",
        "contents",
        "line",
        "lines",
        "word",
        "words",
        "phrase",
        "string",
        "of",
        "in",
        "it",
        "as",
        "its",
        "inside",
        "being",
        "data",
        "message",
    ]);
    said
}

/// Text for a file: a quote, or all that is left.
fn literal(line: &mut Line<'_>) -> Option<String> {
    let quoted = line.token().is_some_and(|token| token.quote.is_some());
    if quoted && line.left() > 1 {
        let text = line.next()?.raw.clone();
        line.phrase(&[
            "in it",
            "inside",
            "inside it",
            "as content",
            "as its content",
            "as the content",
            "in the file",
            "as text",
            "inside the file",
        ]);
        return line.is_done().then_some(text);
    }
    let text = if quoted { line.rest() } else { line.raw_rest().to_owned() };
    // `with a function that adds numbers` is a wish and no text.
    let wish = !quoted
        && ["a", "an", "some", "my", "your", "code", "random", "all", "information"].contains(&line.key());
    (!wish).then_some(text)
}

/// `write 'x' to y.txt`: only quoted text is meant literally here.
fn text_into_file(line: &mut Line<'_>) -> Option<Vec<Step>> {
    line.skip(&["the", "text", "word", "words", "line", "string"]);
    let text = line.next().filter(|token| token.quote.is_some())?.raw.clone();
    if !line.phrase(&["to a new", "into a new", "in a new", "to", "into", "in", "as", "inside"]) {
        return None;
    }
    if line.phrase(&["the end of", "end of"]) {
        return None;
    }
    let path = line.file()?;
    line.is_done().then(|| vec![Step::Create { path, text }])
}

/// `append TEXT to PATH`.
pub(in crate::model::offline) fn append(line: &mut Line<'_>) -> Option<Vec<Step>> {
    let verb = line.key().to_owned();
    if !line.take(&["append", "add", "insert"]) {
        return None;
    }
    let mut ahead = line.clone();
    if ahead.take(&["to"])
        && let Some(path) = ahead.file()
    {
        ahead.skip(&["the", "text", "line", "following"]);
        let text = ahead.rest();
        let quoted = ahead.token().is_some_and(|token| token.quote.is_some()) && ahead.left() == 1;
        return (quoted && !text.is_empty()).then(|| vec![Step::Append { path, text }]);
    }
    line.skip(&["a", "the", "new"]);
    let named = line.phrase(&["text", "line", "lines", "word", "words", "string", "sentence"]);
    line.skip(&["saying", "with", "containing", "that", "says"]);
    let quoted = line.token().is_some_and(|token| token.quote.is_some());
    // `add error handling to main.rs` is a wish and no text.
    if !quoted && !named && verb != "append" {
        return None;
    }
    let text = line.until_last(&["to", "into"])?;
    line.phrase(&["the end of", "the bottom of", "end of"]);
    let path = line.file()?;
    line.phrase(&["as a new line", "on a new line", "at the end"]);
    line.is_done().then(|| vec![Step::Append { path, text }])
}

/// `replace TEXT with TEXT in PATH`, `in PATH, replace TEXT with TEXT`, `remove 'TEXT' from PATH`.
pub(in crate::model::offline) fn replace(line: &mut Line<'_>) -> Option<Vec<Step>> {
    let mut place = None;
    if line.take(&["in"]) {
        place = Some(line.file()?);
    }
    if line.take(&["remove", "delete"]) {
        let old = line.next().filter(|token| token.quote.is_some())?.raw.clone();
        let path = line.take(&["from", "in"]).then(|| line.file())??;
        let step = Step::Replace { path, old, new: String::new(), extent: Extent::Unsaid };
        return line.is_done().then(|| vec![step]);
    }
    if !line.take(&["replace", "change", "rename", "swap", "substitute"]) {
        return None;
    }
    let mut extent = Extent::Unsaid;
    if line.take(&["all", "every", "each"]) {
        extent = Extent::Everywhere;
    }
    line.skip(&[
        "the",
        "occurrences",
        "occurrence",
        "instances",
        "instance",
        "of",
        "word",
        "words",
        "text",
        "string",
    ]);
    let old = line.until(&["with", "to", "by", "for", "into"])?;
    let mut ahead = line.clone();
    let new = match ahead.until_last(&["in"]) {
        Some(new) if place.is_none() => {
            *line = ahead;
            line.phrase(&["all of", "the whole"]);
            place = Some(line.file()?);
            let said = line.take(EVERYWHERE);
            extent = if said { Extent::Everywhere } else { extent };
            if !line.is_done() {
                return None;
            }
            new
        }
        _ => line.rest(),
    };
    let (new, said) = without_everywhere(new);
    if said {
        extent = Extent::Everywhere;
    }
    if old.is_empty() || line.is_done() && place.is_none() {
        return None;
    }
    // `rename a.txt to b.txt` moves a file.
    let is_file = looks_like_path;
    Some(vec![match place {
        Some(path) => Step::Replace { path, old, new, extent },
        None if is_file(&old) && is_file(&new) => return None,
        None => Step::ReplaceSomewhere { old, new, extent },
    }])
}

const EVERYWHERE: &[&str] = &["everywhere", "throughout", "globally"];

/// `'b' everywhere` as the new text is `b`, everywhere.
fn without_everywhere(text: String) -> (String, bool) {
    for tail in EVERYWHERE {
        if let Some(front) = text.strip_suffix(tail).filter(|front| front.ends_with(' ')) {
            return (Line::new(front).rest(), true);
        }
    }
    (text, false)
}

/// `delete PATH`.
pub(in crate::model::offline) fn delete(line: &mut Line<'_>) -> Option<Vec<Step>> {
    if !line.phrase(&["delete", "remove", "erase", "get rid of", "rm"]) {
        return None;
    }
    let paths = line.files();
    if paths.is_empty()
        || !line.is_done()
        || paths.iter().any(|path| path.ends_with('/') || path.contains('*') || path == "." || path == "..")
    {
        return None;
    }
    Some(paths.into_iter().map(|path| Step::Delete { path }).collect())
}
