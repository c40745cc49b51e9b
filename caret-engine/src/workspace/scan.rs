//! Finds lines in files of any length without holding more than a block of them.
//!
//! It is apart from `files` because it only counts: it is given an open file and never opens one.
//!
//! Invariant: memory is one block and the bytes that were asked for.

use caret_protocol::workspace::{Excerpt, Lines, Stamp};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Lines are counted in so much of a file; the total of a longer file is the least it can be.
pub const COUNTED_BYTES: u64 = 256 << 20;
/// A line that starts later than this is not looked for.
const SEARCHED_BYTES: u64 = 16 << 30;
/// A NUL in so much of the beginning makes a file binary.
const HEAD_BYTES: usize = 8 << 10;
const BLOCK: usize = 256 << 10;

/// The asked lines of an open file.
pub(super) fn excerpt(file: &File, stamp: Stamp, lines: Lines) -> io::Result<Excerpt> {
    let mut head = vec![0; HEAD_BYTES];
    let length = fill(file, &mut head, 0)?;
    let mut found =
        Excerpt { file_size: stamp.size, binary: head[..length].contains(&0), stamp, ..Excerpt::default() };
    let (start_line, offset) = match lines.start {
        ..0 => from_end(file, stamp.size, lines.start.unsigned_abs())?,
        start => {
            let wanted = u64::try_from(start).unwrap_or(1).max(1);
            match skip(file, stamp.size, wanted - 1)? {
                Skipped::Found(offset) => (wanted, offset),
                Skipped::Ended(newlines) => {
                    let end_line = wanted - 1;
                    return Ok(Excerpt { start_line: wanted, end_line, total_lines: newlines + 1, ..found });
                }
            }
        }
    };
    found.start_line = start_line;
    take(file, offset, lines, &mut found)?;
    let inside = count(&found.bytes);
    let end = offset + found.bytes.len() as u64;
    let at_end = end >= stamp.size;
    let after_newline = found.bytes.last() == Some(&b'\n');
    let newlines = start_line - 1 + inside;
    found.end_line = if after_newline && !at_end { newlines } else { newlines + 1 };
    let rest = newlines_between(file, end, stamp.size.min(COUNTED_BYTES))?;
    found.total_lines = newlines + rest + 1;
    Ok(found)
}

/// Where a count of lines led.
enum Skipped {
    /// To this byte.
    Found(u64),
    /// To the end, after so many newlines.
    Ended(u64),
}

/// The byte after so many newlines.
fn skip(file: &File, size: u64, newlines: u64) -> io::Result<Skipped> {
    if newlines == 0 {
        return Ok(Skipped::Found(0));
    }
    let mut block = vec![0; BLOCK];
    let (mut offset, mut passed) = (0, 0);
    while offset < size {
        within_reach(offset)?;
        let length = fill(file, &mut block, offset)?;
        if length == 0 {
            break;
        }
        let here = count(&block[..length]);
        if passed + here >= newlines {
            let position = nth_newline(&block[..length], newlines - passed);
            return Ok(Skipped::Found(offset + position as u64 + 1));
        }
        passed += here;
        offset += length as u64;
    }
    Ok(Skipped::Ended(passed))
}

/// The number and the first byte of the line that many lines before the end.
fn from_end(file: &File, size: u64, lines: u64) -> io::Result<(u64, u64)> {
    within_reach(size)?;
    let newlines = newlines_between(file, 0, size)?;
    let mut last = [0];
    let terminated = size > 0 && fill(file, &mut last, size - 1)? == 1 && last[0] == b'\n';
    let count_of_lines = if terminated { newlines } else { newlines + 1 };
    if lines >= count_of_lines {
        return Ok((1, 0));
    }
    // The wanted line starts after this newline, counted from the beginning.
    let before = count_of_lines - lines;
    let mut left = newlines - before;
    let mut block = vec![0; BLOCK];
    let mut end = size;
    while end > 0 {
        let start = end.saturating_sub(BLOCK as u64);
        let wanted = usize::try_from(end - start).unwrap_or(BLOCK);
        let length = fill(file, &mut block[..wanted], start)?;
        let here = count(&block[..length]);
        if left < here {
            let position = nth_newline(&block[..length], here - left);
            return Ok((before + 1, start + position as u64 + 1));
        }
        left -= here;
        end = start;
    }
    // The file became shorter while it was read.
    Ok((1, 0))
}

/// Reads whole lines from `offset` on, as many as fit.
fn take(file: &File, offset: u64, lines: Lines, found: &mut Excerpt) -> io::Result<()> {
    let rest = usize::try_from(found.file_size.saturating_sub(offset)).unwrap_or(usize::MAX);
    found.bytes = vec![0; rest.min(lines.bytes)];
    let length = fill(file, &mut found.bytes, offset)?;
    found.bytes.truncate(length);
    if count(&found.bytes) >= lines.count {
        let length = match lines.count {
            0 => 0,
            wanted => nth_newline(&found.bytes, wanted) + 1,
        };
        found.bytes.truncate(length);
    } else if length < rest {
        found.cut = true;
        if let Some(newline) = found.bytes.iter().rposition(|byte| *byte == b'\n') {
            found.bytes.truncate(newline + 1);
        }
    }
    Ok(())
}

fn within_reach(offset: u64) -> io::Result<()> {
    if offset > SEARCHED_BYTES {
        let message = "the line is more than 16 GiB into the file; cut the file with a command";
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(())
}

fn newlines_between(file: &File, start: u64, end: u64) -> io::Result<u64> {
    let mut block = vec![0; BLOCK];
    let (mut offset, mut newlines) = (start, 0);
    while offset < end {
        let wanted = usize::try_from(end - offset).unwrap_or(BLOCK).min(BLOCK);
        let length = fill(file, &mut block[..wanted], offset)?;
        if length == 0 {
            break;
        }
        newlines += count(&block[..length]);
        offset += length as u64;
    }
    Ok(newlines)
}

/// Reads until the buffer is full or the file ends.
fn fill(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match file.read_at(&mut buffer[length..], offset + length as u64) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

/// How many newlines there are. Sums of single bytes are what compilers turn into vector code.
fn count(bytes: &[u8]) -> u64 {
    let sum = |part: &[u8]| part.iter().fold(0_u8, |sum, byte| sum.wrapping_add(u8::from(*byte == b'\n')));
    bytes.chunks(255).map(|part| u64::from(sum(part))).sum()
}

/// The position of the `wanted`th newline, from 1; the last byte if there are fewer.
fn nth_newline(bytes: &[u8], wanted: u64) -> usize {
    let index = usize::try_from(wanted).unwrap_or(usize::MAX).saturating_sub(1);
    let mut newlines = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    newlines.nth(index).map_or(bytes.len().saturating_sub(1), |(position, _)| position)
}
