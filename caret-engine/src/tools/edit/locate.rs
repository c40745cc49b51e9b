//! Finds the text that a model wants to replace, and replaces it.
//!
//! Text is looked for exactly; then as whole lines without blanks at their ends; then as whole lines with
//! another indentation. The last two must be unique. There is no fourth way: a near miss is an error that
//! shows the nearest lines, because a wrong edit costs more than a second try.

use super::endings::{Ending, keep_final_newline, plain, with_ending};
use super::lines::{Indentation, Likeness, Line, find, lines, span};
use std::collections::HashSet;
use std::ops::Range;

/// One replacement.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Edit {
    /// What is there.
    pub(crate) old: String,
    /// What is to be there.
    pub(crate) new: String,
    /// Wherever it is, and not only once.
    pub(crate) everywhere: bool,
}

/// A place and what is to be there.
type Change = (Range<usize>, Vec<u8>);

/// The file after the edit, or what is wrong with it, for the model.
pub(crate) fn replace(all: &[u8], edit: &Edit) -> Result<Vec<u8>, String> {
    if edit.old.is_empty() {
        return Err("`old_string` is empty; give the text to replace, or use Write for a whole file".into());
    }
    if edit.old == edit.new {
        return Err("`old_string` and `new_string` are the same; nothing would change".into());
    }
    let mut changes = exact(all, edit);
    if changes.is_empty() {
        changes = other_endings(all, edit);
    }
    let file = lines(all);
    if changes.is_empty() {
        for likeness in [Likeness::Trailing, Likeness::Indented] {
            changes = by_lines(all, &file, edit, likeness);
            if changes.len() > 1 {
                return Err(ambiguous(&file, &changes, "but for blanks, "));
            }
            if !changes.is_empty() {
                break;
            }
        }
    }
    match changes.len() {
        0 => Err(not_found(all, &file, &edit.old)),
        1 => Ok(keep_final_newline(all, changed(all, &changes))),
        _ if edit.everywhere => Ok(keep_final_newline(all, changed(all, &changes))),
        _ => Err(ambiguous(&file, &changes, "")),
    }
}

fn changed(all: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut made = Vec::with_capacity(all.len());
    let mut done = 0;
    for (place, text) in changes {
        made.extend_from_slice(&all[done..place.start]);
        made.extend_from_slice(text);
        done = place.end;
    }
    made.extend_from_slice(&all[done..]);
    made
}

fn exact(all: &[u8], edit: &Edit) -> Vec<Change> {
    let knows_endings = edit.old.contains("\r\n");
    let replacement = |start| {
        let ending = if knows_endings { Ending::Lf } else { Ending::near(all, start) };
        with_ending(edit.new.as_bytes(), ending).into_owned()
    };
    let starts = positions(all, edit.old.as_bytes());
    starts.into_iter().map(|start| (start..start + edit.old.len(), replacement(start))).collect()
}

/// The same text with other line endings.
fn other_endings(all: &[u8], edit: &Edit) -> Vec<Change> {
    if !edit.old.contains('\n') {
        return Vec::new();
    }
    let (text, left_out) = plain(all);
    let (old, _) = plain(edit.old.as_bytes());
    let (new, _) = plain(edit.new.as_bytes());
    let back = |position: usize| position + left_out.partition_point(|before| *before < position);
    positions(&text, &old)
        .into_iter()
        .map(|start| {
            let place = back(start)..back(start + old.len());
            let text = with_ending(&new, Ending::near(all, place.start)).into_owned();
            (place, text)
        })
        .collect()
}

fn by_lines(all: &[u8], file: &[Line], edit: &Edit, likeness: Likeness) -> Vec<Change> {
    let (old, _) = plain(edit.old.as_bytes());
    let (new, _) = plain(edit.new.as_bytes());
    let ends_line = old.ends_with(b"\n");
    let wanted: Vec<&[u8]> = old.strip_suffix(b"\n").unwrap_or(&old).split(|byte| *byte == b'\n').collect();
    if wanted.iter().all(|line| line.trim_ascii().is_empty()) {
        return Vec::new();
    }
    let change = |first: usize| {
        let here = &file[first..first + wanted.len()];
        let mut text = match likeness {
            Likeness::Indented => indented(&Indentation::learn(all, here, &wanted)?, &new)?,
            _ => new.clone(),
        };
        let place = span(here, ends_line);
        if ends_line && all[place.clone()].last() != Some(&b'\n') && text.ends_with(b"\n") {
            text.pop();
        }
        let ending = Ending::near(all, place.start);
        Some((place, with_ending(&text, ending).into_owned()))
    };
    find(all, file, &wanted, likeness).into_iter().filter_map(change).collect()
}

fn indented(indentation: &Indentation, text: &[u8]) -> Option<Vec<u8>> {
    let lines = text.split(|byte| *byte == b'\n').map(|line| indentation.apply(line));
    Some(lines.collect::<Option<Vec<_>>>()?.join(&b'\n'))
}

/// Where a text starts, without overlaps.
fn positions(all: &[u8], wanted: &[u8]) -> Vec<usize> {
    if let (Ok(all), Ok(wanted)) = (std::str::from_utf8(all), std::str::from_utf8(wanted)) {
        return all.match_indices(wanted).map(|(start, _)| start).collect();
    }
    let mut found = Vec::new();
    let mut start = 0;
    while let Some(step) = all[start..].windows(wanted.len()).position(|window| window == wanted) {
        found.push(start + step);
        start += step + wanted.len();
    }
    found
}

fn ambiguous(file: &[Line], changes: &[Change], how: &str) -> String {
    let number = |change: &Change| file.partition_point(|line| line.next <= change.0.start) + 1;
    let mut where_: Vec<String> = changes.iter().take(10).map(|change| number(change).to_string()).collect();
    where_.dedup();
    let more = if changes.len() > 10 { " and more" } else { "" };
    format!(
        "`old_string` is {how}there {} times, at line {}{more}; add lines around it until it is unique, \
         or set `replace_all`",
        changes.len(),
        where_.join(", ")
    )
}

fn not_found(all: &[u8], file: &[Line], old: &str) -> String {
    let advice = "`old_string` is not in the file; it must be what the file holds, without line numbers";
    match nearest(all, file, old) {
        Some(near) => format!("{advice}. The nearest lines are:\n{near}"),
        None => advice.to_owned(),
    }
}

/// The lines around the one that has most in common with the longest line that was looked for.
pub(crate) fn nearest(all: &[u8], file: &[Line], old: &str) -> Option<String> {
    let wanted: Vec<&[u8]> = old.lines().map(|line| line.as_bytes().trim_ascii()).collect();
    let (offset, key) = wanted.iter().enumerate().max_by_key(|(_, line)| line.len())?;
    let pairs: HashSet<&[u8]> = key.windows(2).collect();
    let likeness = |line: &Line| {
        let text = line.text(all).trim_ascii();
        // A line of quite another length cannot be meant, and may be very long.
        if text.len() < 2 || text.len() > key.len() * 3 + 16 {
            return 0;
        }
        let common = text.windows(2).filter(|pair| pairs.contains(pair)).count();
        common * 2_000 / (text.len() + key.len())
    };
    let (best, score) = file
        .iter()
        .map(likeness)
        .enumerate()
        .max_by_key(|(position, score)| (*score, std::cmp::Reverse(*position)))?;
    if score < 600 {
        return None;
    }
    let first = best.saturating_sub(offset.min(5) + 1);
    let last = (best + (wanted.len() - offset).min(6) + 1).min(file.len()).max(best + 1);
    let show = |(index, line): (usize, &Line)| {
        let text = String::from_utf8_lossy(line.text(all));
        format!("{:>6}|{}", first + index + 1, super::super::text::cut_chars(&text, 200).0)
    };
    let shown: Vec<String> = file[first..last].iter().take(14).enumerate().map(show).collect();
    Some(shown.join("\n"))
}
