//! Finds where the hunks of a patch belong and applies them.
//!
//! The same three steps as for a replacement, on whole lines; a place must be unique or be told by a
//! header, a line number or the end of the file. Lines that stay keep all their bytes.

use super::endings::Ending;
use super::lines::{Indentation, Likeness, Line, find, lines};
use super::locate::nearest;
use super::patch::{Change, Hunk};

/// The file after all hunks, or what is wrong with them, for the model.
pub(crate) fn apply(all: &[u8], hunks: &[Hunk]) -> Result<Vec<u8>, String> {
    let file = lines(all);
    let mut made = Made { bytes: Vec::with_capacity(all.len()), ending: Ending::near(all, 0), open: false };
    let mut done = 0;
    let mut final_newline = all.is_empty() || all.ends_with(b"\n");
    for (number, hunk) in hunks.iter().enumerate() {
        let spot = place(all, &file, hunk, done).map_err(|why| format!("hunk {}: {why}", number + 1))?;
        for line in &file[done..spot.first] {
            made.push(line.text(all), line.ending(all));
        }
        done = write_hunk(all, &file, hunk, &spot, &mut made);
        final_newline = hunk.final_newline.unwrap_or(final_newline);
    }
    for line in &file[done..] {
        made.push(line.text(all), line.ending(all));
    }
    Ok(made.finish(final_newline))
}

/// Where a hunk goes.
struct Spot {
    first: usize,
    indentation: Option<Indentation>,
}

fn write_hunk(all: &[u8], file: &[Line], hunk: &Hunk, spot: &Spot, made: &mut Made) -> usize {
    let mut next = spot.first;
    made.ending = Ending::near(all, file.get(next).map_or(all.len(), |line| line.start));
    for change in &hunk.changes {
        match change {
            Change::Keep(_) => {
                made.push(file[next].text(all), file[next].ending(all));
                next += 1;
            }
            Change::Remove(_) => next += 1,
            Change::Add(text) => {
                let text = text.strip_suffix('\r').unwrap_or(text).as_bytes();
                let indented = spot.indentation.as_ref().and_then(|rule| rule.apply(text));
                made.push(indented.as_deref().unwrap_or(text), made.ending.bytes());
            }
        }
    }
    next
}

/// The new text as it grows.
struct Made {
    bytes: Vec<u8>,
    ending: Ending,
    /// The last line has no ending yet.
    open: bool,
}

impl Made {
    fn push(&mut self, text: &[u8], ending: &[u8]) {
        if self.open {
            self.bytes.extend_from_slice(self.ending.bytes());
        }
        self.bytes.extend_from_slice(text);
        self.bytes.extend_from_slice(ending);
        self.open = ending.is_empty();
    }

    fn finish(mut self, final_newline: bool) -> Vec<u8> {
        let ended = self.bytes.ends_with(b"\n");
        if final_newline && !ended && !self.bytes.is_empty() {
            self.bytes.extend_from_slice(self.ending.bytes());
        } else if !final_newline && ended {
            self.bytes.pop();
            if self.bytes.ends_with(b"\r") {
                self.bytes.pop();
            }
        }
        self.bytes
    }
}

fn place(all: &[u8], file: &[Line], hunk: &Hunk, done: usize) -> Result<Spot, String> {
    let mut from = done;
    for header in &hunk.below {
        from = header_line(all, file, header, from)?;
    }
    let wanted: Vec<&[u8]> = hunk
        .changes
        .iter()
        .filter_map(|change| match change {
            Change::Keep(text) | Change::Remove(text) => {
                Some(text.strip_suffix('\r').unwrap_or(text).as_bytes())
            }
            Change::Add(_) => None,
        })
        .collect();
    if wanted.is_empty() {
        let first = match (hunk.line, hunk.below.is_empty()) {
            (Some(line), _) => line,
            (None, false) => from + 1,
            (None, true) => file.len(),
        };
        return Ok(Spot { first: first.clamp(done, file.len().max(done)), indentation: None });
    }
    for likeness in [Likeness::Exact, Likeness::Trailing, Likeness::Indented] {
        let mut hits = find(all, file, &wanted, likeness);
        hits.retain(|hit| *hit >= from);
        if likeness == Likeness::Indented {
            hits.retain(|hit| can_indent(all, &file[*hit..*hit + wanted.len()], &wanted, hunk));
        }
        if let Some(first) = choose(&hits, hunk, file.len(), wanted.len())? {
            let here = &file[first..first + wanted.len()];
            let learned = || Indentation::learn(all, here, &wanted);
            let indentation = if likeness == Likeness::Indented { learned() } else { None };
            return Ok(Spot { first, indentation });
        }
    }
    Err(missing(all, file, &wanted, from))
}

fn can_indent(all: &[u8], here: &[Line], wanted: &[&[u8]], hunk: &Hunk) -> bool {
    let Some(rule) = Indentation::learn(all, here, wanted) else { return false };
    hunk.changes.iter().all(|change| match change {
        Change::Add(text) => rule.apply(text.as_bytes()).is_some(),
        _ => true,
    })
}

fn choose(hits: &[usize], hunk: &Hunk, file: usize, length: usize) -> Result<Option<usize>, String> {
    if hunk.at_end && hits.contains(&(file - length.min(file))) {
        return Ok(Some(file - length));
    }
    if let Some(hinted) = hunk.line.and_then(|line| hits.iter().find(|hit| **hit + 1 == line)) {
        return Ok(Some(*hinted));
    }
    match hits {
        [] => Ok(None),
        [one] => Ok(Some(*one)),
        [first, ..] if !hunk.below.is_empty() => Ok(Some(*first)),
        many => {
            let numbers: Vec<String> = many.iter().take(10).map(|hit| (hit + 1).to_string()).collect();
            Err(format!(
                "its lines are there {} times, at line {}; add lines around them, or an `@@` line from above",
                many.len(),
                numbers.join(", ")
            ))
        }
    }
}

/// The line that a header names: the whole line, or else a part of one.
fn header_line(all: &[u8], file: &[Line], header: &str, from: usize) -> Result<usize, String> {
    let wanted = header.as_bytes();
    let rest = || file.iter().enumerate().skip(from).map(|(index, line)| (index, line.text(all)));
    let whole = rest().find(|(_, text)| text.trim_ascii() == wanted);
    let part = || rest().find(|(_, text)| text.windows(wanted.len()).any(|window| window == wanted));
    let found = whole.or_else(part).map(|(index, _)| index);
    found.ok_or_else(|| format!("there is no line `{header}` after line {from}"))
}

fn missing(all: &[u8], file: &[Line], wanted: &[&[u8]], from: usize) -> String {
    let old: Vec<_> = wanted.iter().map(|line| String::from_utf8_lossy(line)).collect();
    let near = nearest(all, file, &old.join("\n"))
        .map_or_else(String::new, |near| format!(". The nearest lines are:\n{near}"));
    let place = if from > 0 { format!(" after line {from}") } else { String::new() };
    format!("its lines are not in the file{place}; they must be what the file holds{near}")
}
