//! Searches files below a folder with several threads, the way ripgrep does.
//!
//! Invariants: the result does not depend on which thread was faster: it is the first files by path, and
//! the totals are of all files. Memory is bounded by what is shown and not by what matches; a file whose
//! single line does not fit is counted as not searched.

use super::ToolError;
use super::place::Area;
use super::text::cut_chars;
use super::walk::{self, below};
use crate::mutex::lock;
use caret_protocol::details::LineMatch;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkMatch};
use ignore::{DirEntry, WalkBuilder};
use rustix::fs::{Mode as FileMode, OFlags};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio_util::sync::CancellationToken;

/// A line is shown so far.
const MAX_LINE: usize = 500;
/// A line, or a whole file for a pattern over several lines, may take so much memory per thread.
const HEAP: usize = 32 << 20;

/// What is wanted of the files that match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Mode {
    /// Their names.
    Files,
    /// Their lines.
    Content,
    /// How many lines.
    Count,
}

/// A search, ready to run.
pub(crate) struct Query {
    /// The expression.
    pub(crate) matcher: RegexMatcher,
    /// What is wanted.
    pub(crate) mode: Mode,
    /// Lines shown before a match.
    pub(crate) before: usize,
    /// Lines shown after a match.
    pub(crate) after: usize,
    /// A match may go over several lines.
    pub(crate) multiline: bool,
    /// As many entries are kept, the first ones by path.
    pub(crate) keep: usize,
}

/// Understands a regular expression, or says what is wrong with it.
pub(crate) fn matcher(pattern: &str, any_case: bool, multiline: bool) -> Result<RegexMatcher, ToolError> {
    let mut builder = RegexMatcherBuilder::new();
    builder.multi_line(true).unicode(true).case_insensitive(any_case);
    if multiline {
        builder.dot_matches_new_line(true);
    } else {
        builder.line_terminator(Some(b'\n'));
    }
    builder.build(pattern).map_err(|error| {
        let hint = match error.kind() {
            grep_regex::ErrorKind::NotAllowed(_) => "set `multiline` to search over line ends",
            _ => "put a \\ before ( ) [ ] { } . * + ? | ^ $ to search for them as they are",
        };
        ToolError::new(format!("`pattern` is no valid regular expression: {error}; {hint}"))
    })
}

/// What was found in one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FileHits {
    /// Below the base of the search.
    pub(crate) name: Vec<u8>,
    /// With context; not more than are kept.
    pub(crate) lines: Vec<LineMatch>,
    /// Lines that matched.
    pub(crate) matched: u64,
}

/// What was found in all files.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Found {
    /// The first ones by path.
    pub(crate) files: Vec<FileHits>,
    /// How many there are in all.
    pub(crate) total_files: u64,
    /// How many lines matched in all.
    pub(crate) total_matched: u64,
    /// Files and folders that could not be searched.
    pub(crate) unreadable: u64,
}

/// Runs a search to its end, or until it is cancelled.
pub(crate) fn run(
    query: &Query,
    area: &Area,
    builder: &mut WalkBuilder,
    cancel: &CancellationToken,
) -> Result<Found, ToolError> {
    let kept = Mutex::new(Kept { keep: query.keep, ..Kept::default() });
    let unsearched = AtomicU64::new(0);
    let unreadable = walk::visit(builder, cancel, || {
        let mut searcher = searcher(query);
        let matcher = query.matcher.clone();
        let (kept, unsearched) = (&kept, &unsearched);
        move |entry: &DirEntry| {
            if !entry.file_type().is_some_and(|kind| kind.is_file()) {
                return;
            }
            match search(&mut searcher, &matcher, query, entry.path(), cancel) {
                Ok(hits) if hits.matched > 0 => {
                    let name = below(entry.path(), &area.base).to_vec();
                    lock(kept).add(FileHits { name, ..hits }, query.mode);
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(_) => {
                    unsearched.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    });
    walk::unless_cancelled(cancel)?;
    let kept = kept.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(Found {
        files: kept.files.into_iter().map(|(name, hits)| FileHits { name, ..hits }).collect(),
        total_files: kept.total_files,
        total_matched: kept.total_matched,
        unreadable: unreadable + unsearched.into_inner(),
    })
}

fn searcher(query: &Query) -> Searcher {
    SearcherBuilder::new()
        .binary_detection(BinaryDetection::quit(0))
        .line_number(query.mode == Mode::Content)
        .before_context(query.before)
        .after_context(query.after)
        .multi_line(query.multiline)
        .heap_limit(Some(HEAP))
        .build()
}

/// The first files by path, as many as are shown.
#[derive(Default)]
struct Kept {
    keep: usize,
    files: BTreeMap<Vec<u8>, FileHits>,
    weight: usize,
    total_files: u64,
    total_matched: u64,
}

impl Kept {
    fn add(&mut self, mut hits: FileHits, mode: Mode) {
        self.total_files += 1;
        self.total_matched += hits.matched;
        let weigh = |hits: &FileHits| if mode == Mode::Content { hits.lines.len() } else { 1 };
        self.weight += weigh(&hits);
        self.files.insert(std::mem::take(&mut hits.name), hits);
        while let Some(last) = self.files.last_entry() {
            let weight = weigh(last.get());
            if self.weight - weight < self.keep {
                break;
            }
            self.weight -= weight;
            last.remove();
        }
    }
}

fn search(
    searcher: &mut Searcher,
    matcher: &RegexMatcher,
    query: &Query,
    path: &Path,
    cancel: &CancellationToken,
) -> io::Result<FileHits> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::open(path, flags, FileMode::empty())?);
    let mut collector = Collector { query, hits: FileHits::default(), binary: false };
    searcher.search_reader(matcher, Cancellable { file, cancel }, &mut collector)?;
    Ok(if collector.binary { FileHits::default() } else { collector.hits })
}

/// A file that ends early when the search is cancelled.
struct Cancellable<'a> {
    file: File,
    cancel: &'a CancellationToken,
}

impl Read for Cancellable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        self.file.read(buffer)
    }
}

/// Takes what the searcher finds in one file.
struct Collector<'a> {
    query: &'a Query,
    hits: FileHits,
    binary: bool,
}

impl Collector<'_> {
    fn push(&mut self, bytes: &[u8], line_number: u64, is_context_line: bool) {
        if self.hits.lines.len() >= self.query.keep {
            return;
        }
        let bare = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bare = bare.strip_suffix(b"\r").unwrap_or(bare);
        // As many bytes hold the shown characters, whatever they are; the rest need not be looked at.
        let near = &bare[..bare.len().min(MAX_LINE * 4 + 4)];
        let text = String::from_utf8_lossy(near);
        let (shown, cut) = cut_chars(&text, MAX_LINE);
        let content_truncated = cut || near.len() < bare.len();
        let content = shown.to_owned();
        self.hits.lines.push(LineMatch { line_number, content, content_truncated, is_context_line });
    }
}

impl Sink for Collector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        match self.query.mode {
            Mode::Files => {
                self.hits.matched = 1;
                return Ok(false);
            }
            Mode::Count => self.hits.matched += found.lines().count() as u64,
            Mode::Content => {
                for (number, line) in (found.line_number().unwrap_or(1)..).zip(found.lines()) {
                    self.hits.matched += 1;
                    self.push(line, number, false);
                }
            }
        }
        Ok(true)
    }

    fn context(&mut self, _searcher: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        if self.query.mode == Mode::Content {
            self.push(context.bytes(), context.line_number().unwrap_or(1), true);
        }
        Ok(true)
    }

    fn binary_data(&mut self, _searcher: &Searcher, _offset: u64) -> io::Result<bool> {
        self.binary = true;
        Ok(false)
    }
}
