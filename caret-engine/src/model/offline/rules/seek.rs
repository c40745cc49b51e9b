//! Steps that look for something: text in files, files by name, the contents of a folder.

use crate::model::offline::step::{Shape, Step};
use crate::model::offline::words::{IT, Line, clean, looks_like_path};

const IN: &[&str] = &["in", "under", "inside", "within", "from"];

const WHICH_FILES: &[&str] =
    &["which files", "what files", "list files", "list all files", "list the files", "show files"];

const TEXT_NAMES: &[&str] = &[
    "occurrences of",
    "instances of",
    "usages of",
    "uses of",
    "references to",
    "lines",
    "text",
    "the text",
    "word",
    "string",
    "mentions of",
];

/// Text in files.
pub(in crate::model::offline) fn search(line: &mut Line<'_>) -> Option<Vec<Step>> {
    if line.phrase(WHICH_FILES) {
        line.skip(&["that", "which"]);
        return containing(line, Shape::Files).then(|| text_and_place(line, Shape::Files))?;
    }
    if line.phrase(&["where is", "where are", "where do we use", "where do i use"]) {
        let used = line.until(&["used", "defined", "mentioned", "called", "declared"])?;
        return line.is_done().then(|| vec![Step::Search { text: used, path: None, shape: Shape::Lines }]);
    }
    let finds = line.take(&["find", "locate"]);
    if !finds && !line.phrase(&["search", "grep", "look for", "look in", "rg", "do a search", "scan"]) {
        return None;
    }
    let mut place = None;
    if !finds && line.key() != "for" {
        place = place_before_for(line);
    }
    line.take(&["for"]);
    line.skip(&["all", "the", "any", "every"]);
    let mut shape = Shape::Lines;
    let mut sure = !finds;
    if line.take(&["files", "file"]) {
        line.skip(&["that", "which"]);
        shape = Shape::Files;
        if !containing(line, Shape::Files) {
            return None;
        }
        sure = true;
    } else if line.phrase(TEXT_NAMES) {
        line.skip(&["that", "which", "the", "word", "text", "string"]);
        containing(line, Shape::Lines);
        sure = true;
    }
    let token = line.token()?;
    let quoted = token.quote.is_some();
    // `find main.rs` looks for a file, `find 'main'` for text.
    if !sure && !quoted || quoted && finds && token.raw.contains('*') {
        return None;
    }
    let steps = text_and_place(line, shape)?;
    match (place, steps) {
        (Some(place), mut steps) => {
            if let Some(Step::Search { path, .. }) = steps.first_mut() {
                *path = place;
            }
            Some(steps)
        }
        (None, steps) => Some(steps),
    }
}

/// `search src for x`, `search in src for x`, `search the project for x`.
fn place_before_for(line: &mut Line<'_>) -> Option<Option<String>> {
    let mut ahead = line.clone();
    ahead.skip(&["in", "through", "inside", "all", "files"]);
    let place = ahead.folder()?;
    ahead.skip(&["folder", "files", "base"]);
    if ahead.key() != "for" {
        return None;
    }
    *line = ahead;
    Some(place)
}

fn containing(line: &mut Line<'_>, shape: Shape) -> bool {
    let found = line.phrase(&[
        "containing",
        "contain",
        "contains",
        "with",
        "matching",
        "mention",
        "mentioning",
        "including",
        "include",
        "having",
        "have",
        "use",
        "using",
    ]);
    if found || shape == Shape::Lines {
        line.skip(&["the", "text", "word", "string", "phrase"]);
    }
    found
}

fn text_and_place(line: &mut Line<'_>, shape: Shape) -> Option<Vec<Step>> {
    line.skip(&["text", "word", "string", "phrase"]);
    let mut ahead = line.clone();
    if let Some(text) = ahead.until_last(IN) {
        let quoted = line.token().is_some_and(|token| token.quote.is_some());
        if let Some(path) = place(&mut ahead)
            && ahead.is_done()
        {
            return Some(vec![Step::Search { text, path, shape }]);
        }
        if quoted {
            return None;
        }
    }
    if let Some(token) = line.token()
        && token.quote.is_some()
        && line.left() > 1
    {
        let text = token.raw.clone();
        line.next();
        line.phrase(&["everywhere", "anywhere"]);
        let path = line.file();
        return line.is_done().then(|| vec![Step::Search { text, path, shape }]);
    }
    let text = line.rest();
    // `grep foo src/` names the place last, as the program does.
    if let Some((front, last)) = text.rsplit_once(' ')
        && !front.contains(' ')
        && looks_like_path(last)
        && !line.ends_quoted()
    {
        let text = Line::new(front).rest();
        return Some(vec![Step::Search { text, path: Some(clean(last).to_owned()), shape }]);
    }
    (!text.is_empty()).then(|| vec![Step::Search { text, path: None, shape }])
}

fn place(line: &mut Line<'_>) -> Option<Option<String>> {
    if line.phrase(&["all files", "every file", "the files", "all the files", "files", "any file"]) {
        return Some(None);
    }
    if line.phrase(&["it", "that file", "this file"]) {
        return Some(Some(IT.into()));
    }
    line.folder()
}

/// Files by name.
pub(in crate::model::offline) fn find(line: &mut Line<'_>) -> Option<Vec<Step>> {
    let lists = line.phrase(&["list", "show me", "show"]);
    if !lists
        && !line.phrase(&[
            "find me",
            "find",
            "locate",
            "where is",
            "where's",
            "where are",
            "search for",
            "look for",
            "glob",
            "is there",
            "are there",
        ])
    {
        return None;
    }
    let glob = named(line)?;
    if lists && !glob.contains("*.") {
        return None;
    }
    let mut under = None;
    if line.take(IN) {
        under = line.folder()?;
    }
    line.is_done().then(|| vec![Step::Find { glob, under }])
}

/// `find TODO in src`: one word that can be no file.
pub(in crate::model::offline) fn find_word(line: &mut Line<'_>) -> Option<Vec<Step>> {
    if !line.take(&["find", "locate"]) {
        return None;
    }
    line.skip(&["all", "the", "every"]);
    let mut ahead = line.clone();
    ahead.next();
    let one = ahead.is_done() || IN.contains(&ahead.key());
    let vague = ["me", "it", "out", "file", "files", "something"].contains(&line.key());
    (one && !vague).then(|| text_and_place(line, Shape::Lines))?
}

/// A file pattern in words: `*.rs`, `.rs files`, `rust files`, `the file called x`, `files ending in .md`.
pub(super) fn named(line: &mut Line<'_>) -> Option<String> {
    line.skip(&["all", "the", "any", "every", "a", "of", "my", "me"]);
    let kind = line.key().to_owned();
    if let Some(ending) = ending_of(&kind)
        && line.clone().phrase(&[&format!("{kind} files"), &format!("{kind} file")])
    {
        line.next();
        line.next();
        return Some(format!("**/*.{ending}"));
    }
    let files = line.take(&["file", "files"]);
    let hinted = line.phrase(&[
        "named",
        "called",
        "with the name",
        "with name",
        "matching",
        "like",
        "ending in",
        "ending with",
        "with extension",
        "with the extension",
        "that end in",
        "that end with",
    ]);
    let token = line.token()?;
    let quoted = token.quote.is_some();
    let word = if quoted { token.raw.clone() } else { clean(&token.raw).to_owned() };
    let wild = word.contains('*');
    if word.is_empty()
        || IN.contains(&word.as_str())
        || !(quoted || wild || hinted || looks_like_path(&word) || files && line.left() == 1)
    {
        return None;
    }
    line.next();
    let more = line.take(&["files", "file"]);
    let bare_ending = word.starts_with('.') && word.chars().skip(1).all(char::is_alphanumeric);
    Some(if bare_ending && (more || hinted) {
        format!("**/*{word}")
    } else if word.contains('/') || word.starts_with("**") {
        word
    } else if wild || word.contains('.') {
        format!("**/{word}")
    } else {
        format!("**/*{word}*")
    })
}

fn ending_of(kind: &str) -> Option<&'static str> {
    const KINDS: &[(&str, &str)] = &[
        ("rust", "rs"),
        ("python", "py"),
        ("javascript", "js"),
        ("typescript", "ts"),
        ("markdown", "md"),
        ("json", "json"),
        ("toml", "toml"),
        ("yaml", "yaml"),
        ("text", "txt"),
        ("html", "html"),
        ("css", "css"),
        ("go", "go"),
        ("java", "java"),
        ("ruby", "rb"),
        ("shell", "sh"),
        ("c", "c"),
        ("csv", "csv"),
        ("log", "log"),
    ];
    KINDS.iter().find(|(name, _)| *name == kind).map(|(_, ending)| *ending)
}

const WHAT_IS_HERE: &[&str] = &[
    "what files are there",
    "which files are there",
    "what files are",
    "which files are",
    "what files do we have",
    "what files do i have",
    "what is in this",
    "what's in this",
    "what is in the current",
    "what's in the current",
    "what is here",
    "what's here",
    "what do we have",
    "what are the files",
    "what files exist",
];

const LISTED: &[&str] = &[
    "files and folders",
    "files and directories",
    "directory contents",
    "folder contents",
    "contents",
    "content",
    "files",
    "directory listing",
    "directory",
    "directories",
    "folders",
    "folder",
    "dir",
    "everything",
    "listing",
    "file list",
];

/// What is in a folder.
pub(in crate::model::offline) fn list(line: &mut Line<'_>) -> Option<Vec<Step>> {
    let asked = line.phrase(WHAT_IS_HERE);
    if asked {
        line.skip(&["in", "here", "under", "inside"]);
        let path = line.folder()?;
        line.skip(&["folder", "directory", "dir", "here"]);
        return line.is_done().then(|| vec![Step::List { path }]);
    }
    let inside = line.phrase(&["what is in", "what's in", "what is inside", "what's inside"]);
    let lists = !inside && line.take(&["list", "ls", "dir"]);
    if !inside && !lists && !line.take(&["show", "display", "print", "view", "see", "give", "get"]) {
        return None;
    }
    line.skip(&["me", "all", "the", "my", "our", "every", "of", "out", "a", "full"]);
    let named = line.phrase(LISTED);
    line.skip(&["in", "of", "under", "inside", "within", "from", "at", "there", "are"]);
    let token = line.token().map(|token| token.raw.clone()).unwrap_or_default();
    let name = clean(&token);
    let last = name.rsplit('/').next().unwrap_or_default();
    // A name with an ending is a file, and reading is another rule.
    let is_file = looks_like_path(name) && last.trim_start_matches('.').contains('.');
    let keys = line.keys();
    let folder = name.ends_with('/') || keys.contains("folder") || keys.contains("director");
    let one_word = line.left() == 1 && keys != "it" && !looks_like_path(name);
    if is_file || !(lists || named || inside && (folder || one_word)) {
        return None;
    }
    let path = line.folder()?;
    line.skip(&["folder", "directory", "dir", "here"]);
    line.is_done().then(|| vec![Step::List { path }])
}
