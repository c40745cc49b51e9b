//! A file as lines, without losing a byte of it, and the three ways in which lines may be the same.
//!
//! Invariant: the spans of all lines, with their endings, are the whole file.

use std::ops::Range;

/// One line of a file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Line {
    /// Its first byte.
    pub(crate) start: usize,
    /// After its last byte, without the ending.
    pub(crate) end: usize,
    /// After its ending.
    pub(crate) next: usize,
}

impl Line {
    /// Without the ending.
    pub(crate) fn text<'a>(&self, all: &'a [u8]) -> &'a [u8] {
        &all[self.start..self.end]
    }

    /// Only the ending; empty for a last line without one.
    pub(crate) fn ending<'a>(&self, all: &'a [u8]) -> &'a [u8] {
        &all[self.end..self.next]
    }
}

/// The lines of a file. A newline at the end starts no further line.
pub(crate) fn lines(all: &[u8]) -> Vec<Line> {
    let mut found = Vec::new();
    let mut start = 0;
    for piece in all.split_inclusive(|byte| *byte == b'\n') {
        let next = start + piece.len();
        let bare = piece.strip_suffix(b"\n").map(|bare| bare.strip_suffix(b"\r").unwrap_or(bare));
        found.push(Line { start, end: start + bare.unwrap_or(piece).len(), next });
        start = next;
    }
    found
}

/// How alike lines must be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Likeness {
    /// Byte for byte.
    Exact,
    /// But for blanks at their ends.
    Trailing,
    /// But for their indentation, which must differ in the same way everywhere.
    Indented,
}

/// Where the wanted lines stand one after the other.
pub(crate) fn find(all: &[u8], file: &[Line], wanted: &[&[u8]], likeness: Likeness) -> Vec<usize> {
    if wanted.is_empty() || wanted.len() > file.len() {
        return Vec::new();
    }
    let at = |first: &usize| {
        let here = &file[*first..*first + wanted.len()];
        let mut pairs = here.iter().map(|line| line.text(all)).zip(wanted.iter().copied());
        match likeness {
            Likeness::Exact => pairs.all(|(ours, theirs)| ours == theirs),
            Likeness::Trailing => {
                pairs.all(|(ours, theirs)| ours.trim_ascii_end() == theirs.trim_ascii_end())
            }
            Likeness::Indented => {
                pairs.all(|(ours, theirs)| ours.trim_ascii() == theirs.trim_ascii())
                    && Indentation::learn(all, here, wanted).is_some()
            }
        }
    };
    (0..=file.len() - wanted.len()).filter(at).collect()
}

/// How the model's indentation becomes the file's.
#[derive(Debug, PartialEq)]
pub(crate) struct Indentation {
    /// The model's and the file's, of every line that is not blank.
    pairs: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Indentation {
    /// Compares lines that are the same but for their indentation; nothing if there is no rule in it.
    pub(crate) fn learn(all: &[u8], here: &[Line], wanted: &[&[u8]]) -> Option<Self> {
        let mut pairs: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        for (line, theirs) in here.iter().zip(wanted) {
            let ours = line.text(all);
            if ours.trim_ascii().is_empty() {
                continue;
            }
            let pair = (indent(theirs).to_vec(), indent(ours).to_vec());
            match pairs.iter().find(|known| known.0 == pair.0) {
                Some(known) if known.1 != pair.1 => return None,
                Some(_) => {}
                None => pairs.push(pair),
            }
        }
        (!pairs.is_empty()).then_some(Self { pairs })
    }

    /// A line of the model as the file would have it; nothing if its indentation cannot be told.
    pub(crate) fn apply(&self, line: &[u8]) -> Option<Vec<u8>> {
        let theirs = indent(line);
        let rest = &line[theirs.len()..];
        if rest.trim_ascii().is_empty() {
            return Some(rest.to_vec());
        }
        let ours = self.known(theirs).or_else(|| self.shifted(theirs)).or_else(|| self.deeper(theirs))?;
        Some([ours.as_slice(), rest].concat())
    }

    fn known(&self, theirs: &[u8]) -> Option<Vec<u8>> {
        self.pairs.iter().find(|pair| pair.0 == theirs).map(|pair| pair.1.clone())
    }

    /// All lines stand deeper, or less deep, by the same blanks.
    fn shifted(&self, theirs: &[u8]) -> Option<Vec<u8>> {
        let (first_theirs, first_ours) = self.pairs.first()?;
        if let Some(added) = first_ours.strip_suffix(first_theirs.as_slice()) {
            let all = self.pairs.iter().all(|(theirs, ours)| *ours == [added, theirs].concat());
            return all.then(|| [added, theirs].concat());
        }
        let taken = first_theirs.strip_suffix(first_ours.as_slice())?;
        let all = self.pairs.iter().all(|(theirs, ours)| *theirs == [taken, ours].concat());
        theirs.strip_prefix(taken).filter(|_| all).map(<[u8]>::to_vec)
    }

    /// A line below a known one: the known indentation and what is added to it.
    fn deeper(&self, theirs: &[u8]) -> Option<Vec<u8>> {
        let above = self.pairs.iter().filter(|pair| theirs.starts_with(&pair.0));
        let (known, ours) = above.max_by_key(|pair| pair.0.len())?;
        let added = &theirs[known.len()..];
        let tabs = !ours.is_empty() && ours.iter().all(|byte| *byte == b'\t');
        let spaces = known.iter().chain(added).all(|byte| *byte == b' ');
        let added = match known.len() / ours.len().max(1) {
            width if tabs && spaces && width > 0 && added.len().is_multiple_of(width) => {
                vec![b'\t'; added.len() / width]
            }
            _ => added.to_vec(),
        };
        Some([ours.as_slice(), &added].concat())
    }
}

fn indent(line: &[u8]) -> &[u8] {
    let length = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    &line[..length]
}

/// The bytes that some lines take, with the ending of the last one or without it.
pub(crate) fn span(here: &[Line], with_ending: bool) -> Range<usize> {
    match (here.first(), here.last()) {
        (Some(first), Some(last)) => first.start..if with_ending { last.next } else { last.end },
        _ => 0..0,
    }
}
