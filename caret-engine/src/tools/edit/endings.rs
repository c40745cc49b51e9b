//! Keeps line endings, byte order mark and final newline of a file when its text is replaced.
//!
//! Models write `\n` and no byte order mark; files have what they have.

use super::lines::{Line, lines};
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};
use std::borrow::Cow;
use std::time::{Duration, Instant};

const MARK: &[u8] = b"\xEF\xBB\xBF";

/// How a line ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Ending {
    /// `\n`
    Lf,
    /// `\r\n`
    CrLf,
}

impl Ending {
    /// As bytes.
    pub(crate) fn bytes(self) -> &'static [u8] {
        match self {
            Self::Lf => b"\n",
            Self::CrLf => b"\r\n",
        }
    }

    /// The ending of the line that holds a byte, or of the one before.
    pub(crate) fn near(all: &[u8], position: usize) -> Self {
        let is_newline = |byte: &u8| *byte == b'\n';
        let after = all[position..].iter().position(is_newline).map(|found| position + found);
        match after.or_else(|| all[..position].iter().rposition(is_newline)) {
            Some(newline) if newline > 0 && all[newline - 1] == b'\r' => Self::CrLf,
            _ => Self::Lf,
        }
    }
}

/// Turns bare `\n` into the given ending; `\r\n` stays.
pub(crate) fn with_ending(text: &[u8], ending: Ending) -> Cow<'_, [u8]> {
    if ending == Ending::Lf || !text.contains(&b'\n') {
        return Cow::Borrowed(text);
    }
    let mut made = Vec::with_capacity(text.len() + text.len() / 16);
    for (position, byte) in text.iter().enumerate() {
        if *byte == b'\n' && (position == 0 || text[position - 1] != b'\r') {
            made.push(b'\r');
        }
        made.push(*byte);
    }
    Cow::Owned(made)
}

/// Turns `\r\n` into `\n`, and says before which bytes of the result something was left out.
pub(crate) fn plain(text: &[u8]) -> (Vec<u8>, Vec<usize>) {
    let mut made = Vec::with_capacity(text.len());
    let mut left_out = Vec::new();
    for (position, byte) in text.iter().enumerate() {
        if *byte == b'\r' && text.get(position + 1) == Some(&b'\n') {
            left_out.push(made.len());
        } else {
            made.push(*byte);
        }
    }
    (made, left_out)
}

/// Gives a text that ends without a newline the one that the file had.
pub(crate) fn keep_final_newline(before: &[u8], mut after: Vec<u8>) -> Vec<u8> {
    if before.ends_with(b"\n") && !after.is_empty() && !after.ends_with(b"\n") {
        after.extend_from_slice(Ending::near(before, before.len() - 1).bytes());
    }
    after
}

/// What is written when a model gives the whole new text of a file.
pub(crate) fn rewritten(before: &[u8], contents: &str) -> Vec<u8> {
    let has_mark = before.starts_with(MARK);
    let old = if has_mark { &before[MARK.len()..] } else { before };
    let new = contents.as_bytes();
    let new = if has_mark { new.strip_prefix(MARK).unwrap_or(new) } else { new };
    let old_lines = lines(old);
    let crlf = old_lines.iter().filter(|line| line.ending(old) == b"\r\n").count();
    let lf = old_lines.iter().filter(|line| line.ending(old) == b"\n").count();
    let text = match (crlf, lf) {
        (0, _) => new.to_vec(),
        (_, 0) => with_ending(new, Ending::CrLf).into_owned(),
        _ => keep_mixed(old, &old_lines, new, if crlf > lf { Ending::CrLf } else { Ending::Lf }),
    };
    let text = keep_final_newline(old, text);
    if has_mark { [MARK, &text].concat() } else { text }
}

/// Lines that were there keep the ending they had; new ones get the usual one.
fn keep_mixed(old: &[u8], old_lines: &[Line], new: &[u8], usual: Ending) -> Vec<u8> {
    let new_lines = lines(new);
    let texts = |all, lines: &[Line]| lines.iter().map(|line| line.text(all)).collect::<Vec<&[u8]>>();
    let (was, is) = (texts(old, old_lines), texts(new, &new_lines));
    let deadline = Instant::now() + Duration::from_secs(1);
    let mut made = Vec::with_capacity(new.len());
    for part in capture_diff_slices_deadline(Algorithm::Myers, &was, &is, Some(deadline)) {
        let kept = matches!(part, DiffOp::Equal { .. });
        for (step, index) in part.new_range().enumerate() {
            let line = new_lines[index];
            made.extend_from_slice(line.text(new));
            if line.ending(new).is_empty() {
                continue;
            }
            let before = old_lines.get(part.old_range().start + step).filter(|_| kept);
            let ending = before.map(|line| line.ending(old)).filter(|ending| !ending.is_empty());
            made.extend_from_slice(ending.unwrap_or(usual.bytes()));
        }
    }
    made
}
