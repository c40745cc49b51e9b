//! Output kept in bounded memory: the beginning and the end of it, the whole in a file when it is long.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Of what is kept, a fifth is the beginning: the end of a command's output tells more.
const HEAD_PART: usize = 5;

/// The beginning and the end of a stream of bytes.
#[derive(Debug)]
pub(super) struct Ends {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    keep: usize,
    total: u64,
}

impl Ends {
    pub(super) fn new(keep: usize) -> Self {
        Self { head: Vec::new(), tail: VecDeque::new(), keep, total: 0 }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = (self.keep / HEAD_PART).saturating_sub(self.head.len());
        let (first, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(first);
        let tail_room = self.keep - self.keep / HEAD_PART;
        let rest = &rest[rest.len().saturating_sub(tail_room)..];
        let over = (self.tail.len() + rest.len()).saturating_sub(tail_room);
        self.tail.drain(..over);
        self.tail.extend(rest);
    }

    /// Whether something was left out.
    pub(super) fn is_cut(&self) -> bool {
        self.total > (self.head.len() + self.tail.len()) as u64
    }

    /// What is kept, with a line that says what is not.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.head.clone();
        if self.is_cut() {
            let left_out = self.total - (self.head.len() + self.tail.len()) as u64;
            bytes.extend_from_slice(format!("\n… {left_out} bytes left out …\n").as_bytes());
        }
        let (front, back) = self.tail.as_slices();
        bytes.extend_from_slice(front);
        bytes.extend_from_slice(back);
        bytes
    }
}

/// Which pipe bytes came from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pipe {
    Out,
    Err,
}

/// Both streams of a command, apart and in the order they came.
#[derive(Debug)]
pub(super) struct Capture {
    pub(super) out: Ends,
    pub(super) err: Ends,
    pub(super) both: Ends,
    keep: usize,
    file: PathBuf,
    open: Option<File>,
    /// Set when the file cannot be written: the ends are all there is.
    broken: bool,
}

impl Capture {
    pub(super) fn new(keep: usize, file: PathBuf) -> Self {
        let (out, err, both) = (Ends::new(keep), Ends::new(keep), Ends::new(keep));
        Self { out, err, both, keep, file, open: None, broken: false }
    }

    pub(super) fn push(&mut self, pipe: Pipe, bytes: &[u8]) {
        if self.both.total + bytes.len() as u64 > self.keep as u64 {
            self.spill();
        }
        match pipe {
            Pipe::Out => self.out.push(bytes),
            Pipe::Err => self.err.push(bytes),
        }
        self.both.push(bytes);
        if let Some(file) = &mut self.open
            && file.write_all(bytes).is_err()
        {
            self.open = None;
            self.broken = true;
        }
    }

    /// From now on everything goes to the file too, beginning with what there is.
    pub(super) fn spill(&mut self) {
        if self.open.is_some() || self.broken {
            return;
        }
        let opened = self.file.parent().map_or(Ok(()), private_folder).and_then(|()| {
            OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&self.file)
        });
        match opened.and_then(|mut file| file.write_all(&self.both.bytes()).map(|()| file)) {
            Ok(file) => self.open = Some(file),
            Err(_) => self.broken = true,
        }
    }

    /// Where the whole output is, if it is anywhere.
    pub(super) fn file(&self) -> Option<&Path> {
        (self.open.is_some() && !self.broken).then_some(self.file.as_path())
    }

    pub(super) fn total(&self) -> u64 {
        self.both.total
    }
}

/// Makes a folder that only its owner may look into, with those above it.
pub(super) fn private_folder(folder: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_and_the_end_are_kept_however_the_bytes_come() {
        let text: Vec<u8> = (0..1000_u32).flat_map(|n| format!("{n}\n").into_bytes()).collect();
        let mut whole = Ends::new(100);
        whole.push(&text);
        for size in [1, 7, 99, 100, 101, 1000] {
            let mut pieces = Ends::new(100);
            text.chunks(size).for_each(|chunk| pieces.push(chunk));
            assert_eq!(pieces.bytes(), whole.bytes(), "chunks of {size}");
        }
        let kept = String::from_utf8(whole.bytes()).unwrap();
        assert!(kept.starts_with("0\n1\n2\n") && kept.ends_with("998\n999\n"), "{kept}");
        assert!(kept.contains("bytes left out"), "{kept}");
    }

    #[test]
    fn the_whole_of_a_long_output_is_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut capture = Capture::new(50, folder.path().join("deep/er/out.txt"));
        for n in 0..100 {
            capture.push(if n % 2 == 0 { Pipe::Out } else { Pipe::Err }, format!("line {n}\n").as_bytes());
        }
        let file = capture.file().unwrap().to_owned();
        let whole: String = (0..100).map(|n| format!("line {n}\n")).collect();
        assert_eq!(std::fs::read_to_string(file).unwrap(), whole);
        assert_eq!(capture.total(), whole.len() as u64);
    }

    #[test]
    fn a_short_output_makes_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let mut capture = Capture::new(50, folder.path().join("out.txt"));
        capture.push(Pipe::Out, b"short\n");
        assert_eq!(capture.file(), None);
        assert!(!folder.path().join("out.txt").exists());
    }
}
