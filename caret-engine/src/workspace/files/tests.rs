//! One file at a time: what is read, what is kept, what is refused.

use super::{LOADED_BYTES, load, read, remove, save, stamp};
use caret_protocol::workspace::{Excerpt, Lines};
use std::fs;
use std::io::{ErrorKind, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

struct Folder {
    _temporary: tempfile::TempDir,
    path: PathBuf,
}

fn folder() -> Folder {
    let temporary = tempfile::tempdir().unwrap();
    let path = fs::canonicalize(temporary.path()).unwrap();
    Folder { _temporary: temporary, path }
}

fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

const ALL: Lines = Lines { start: 1, count: u64::MAX, bytes: 1 << 20 };

/// Text, first line, last line, all lines, cut.
type Seen<T> = (T, u64, u64, u64, bool);

fn seen(found: &Excerpt) -> Seen<String> {
    let text = String::from_utf8_lossy(&found.bytes).into_owned();
    (text, found.start_line, found.end_line, found.total_lines, found.cut)
}

#[test]
fn ranges_are_what_was_asked_for() {
    let folder = folder();
    let path = folder.path.join("f");
    // contents, start, count, bytes, expected
    let table: [(&str, i64, u64, usize, Seen<&str>); 19] = [
        ("", 1, 9, 99, ("", 1, 1, 1, false)),
        ("a\nb\n", 1, 9, 99, ("a\nb\n", 1, 3, 3, false)),
        ("a\nb", 1, 9, 99, ("a\nb", 1, 2, 2, false)),
        ("a\nb", 0, 9, 99, ("a\nb", 1, 2, 2, false)),
        ("a\nb\nc\n", 2, 1, 99, ("b\n", 2, 2, 4, false)),
        ("a\nb\nc\n", 3, 1, 99, ("c\n", 3, 4, 4, false)),
        ("a\nb\nc", 3, 1, 99, ("c", 3, 3, 3, false)),
        ("a\nb\n", 3, 1, 99, ("", 3, 3, 3, false)),
        ("a\nb\n", 9, 1, 99, ("", 9, 8, 3, false)),
        ("a\nb\nc\n", -1, 9, 99, ("c\n", 3, 4, 4, false)),
        ("a\nb\nc", -1, 9, 99, ("c", 3, 3, 3, false)),
        ("a\nb\nc\n", -2, 1, 99, ("b\n", 2, 2, 4, false)),
        ("a\nb\nc\n", -99, 1, 99, ("a\n", 1, 1, 4, false)),
        ("", -1, 1, 99, ("", 1, 1, 1, false)),
        ("\n\n", -1, 1, 99, ("\n", 2, 3, 3, false)),
        ("aa\nbb\ncc\n", 1, 9, 7, ("aa\nbb\n", 1, 2, 4, true)),
        ("aaaaaa\nb\n", 1, 9, 4, ("aaaa", 1, 1, 3, true)),
        ("a\nbbbbbb\nc\n", 2, 1, 4, ("bbbb", 2, 2, 4, true)),
        ("aa\nbb\n", 1, 9, 6, ("aa\nbb\n", 1, 3, 3, false)),
    ];
    for (contents, start, count, bytes, (text, first, last, total, cut)) in table {
        fs::write(&path, contents).unwrap();
        let found = read(&path, Lines { start, count, bytes }).unwrap();
        let expected = (text.to_owned(), first, last, total, cut);
        assert_eq!(seen(&found), expected, "{contents:?} from {start}, {count} lines, {bytes} bytes");
    }
}

#[test]
fn lines_across_blocks_are_counted_once() {
    let folder = folder();
    let path = folder.path.join("f");
    let text: String = (1..=200_000).map(|number| format!("{number}\n")).collect();
    fs::write(&path, &text).unwrap();
    for (start, expected) in
        [(150_000, "150000\n"), (-50_001, "150000\n"), (200_000, "200000\n"), (-200_000, "1\n")]
    {
        let found = read(&path, Lines { start, count: 1, bytes: 99 }).unwrap();
        assert_eq!(
            (String::from_utf8(found.bytes).unwrap().as_str(), found.total_lines),
            (expected, 200_001)
        );
    }
}

fn resident_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|number| number.parse().ok()).unwrap_or(0)
}

#[test]
fn huge_files_take_little_memory() {
    let folder = folder();
    let sparse = folder.path.join("sparse");
    let mut file = fs::File::create(&sparse).unwrap();
    file.write_all(b"first\nsecond\n").unwrap();
    file.seek(SeekFrom::Start(5 << 30)).unwrap();
    file.write_all(b"\nlast\n").unwrap();
    let line = folder.path.join("line");
    let mut file = fs::File::create(&line).unwrap();
    for _ in 0..100 {
        file.write_all(&vec![b'x'; 1 << 20]).unwrap();
    }
    file.write_all(b"\nend\n").unwrap();
    let before = resident_kib();
    let found = read(&sparse, Lines { start: 1, count: 2, bytes: 1 << 20 }).unwrap();
    assert_eq!(seen(&found), ("first\nsecond\n".to_owned(), 1, 2, 3, false));
    assert_eq!(found.file_size, (5 << 30) + 6);
    let found = read(&line, ALL).unwrap();
    assert_eq!((found.bytes.len(), found.end_line, found.total_lines, found.cut), (1 << 20, 1, 3, true));
    let found = read(&line, Lines { start: -1, count: 9, bytes: 99 }).unwrap();
    assert_eq!(seen(&found), ("end\n".to_owned(), 2, 3, 3, false));
    assert!(resident_kib() - before < 64 << 10, "{before} KiB before, {} KiB after", resident_kib());
}

#[test]
fn nul_bytes_near_the_beginning_make_a_file_binary() {
    let folder = folder();
    let path = folder.path.join("f");
    for (contents, binary) in [(b"a\0b".to_vec(), true), (b"ab".to_vec(), false), (vec![b'a'; 9_000], false)]
    {
        fs::write(&path, contents).unwrap();
        assert_eq!(read(&path, ALL).unwrap().binary, binary);
    }
}

#[test]
fn only_regular_files_are_used() {
    let folder = folder();
    let pipe = folder.path.join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    let socket = folder.path.join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let table = [
        (pipe, ErrorKind::InvalidInput),
        (socket, ErrorKind::InvalidInput),
        (PathBuf::from("/dev/null"), ErrorKind::InvalidInput),
        (folder.path.clone(), ErrorKind::IsADirectory),
        (folder.path.join("none"), ErrorKind::NotFound),
    ];
    for (path, kind) in table {
        assert_eq!(read(&path, ALL).unwrap_err().kind(), kind, "{path:?}");
        assert_eq!(load(&path).unwrap_err().kind(), kind, "{path:?}");
        assert_eq!(stamp(&path).unwrap_err().kind(), kind, "{path:?}");
        assert_eq!(remove(&path).unwrap_err().kind(), kind, "{path:?}");
        if kind != ErrorKind::NotFound {
            assert_eq!(save(&path, b"x", None).unwrap_err().kind(), kind, "{path:?}");
        }
    }
}

#[test]
fn too_long_a_file_is_not_loaded() {
    let folder = folder();
    let path = folder.path.join("f");
    fs::File::create(&path).unwrap().set_len(LOADED_BYTES + 1).unwrap();
    assert_eq!(load(&path).unwrap_err().kind(), ErrorKind::FileTooLarge);
}

#[test]
fn a_replaced_file_keeps_its_mode_and_leaves_nothing_behind() {
    let folder = folder();
    let path = folder.path.join("f");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
    let loaded = load(&path).unwrap();
    let saved = save(&path, b"new!", Some(loaded.stamp)).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new!");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o751);
    assert_eq!(stamp(&path).unwrap(), saved);
    assert_eq!(names(&folder.path), ["f"]);
}

#[test]
fn folders_are_made_for_a_new_file() {
    let folder = folder();
    let path = folder.path.join("a/b/c");
    let saved = save(&path, b"x", None).unwrap();
    assert_eq!(load(&path).unwrap().stamp, saved);
    assert_eq!(remove(&path).unwrap(), 1);
    assert_eq!(names(&folder.path.join("a/b")), [""; 0]);
}

#[test]
fn a_file_that_changed_is_not_replaced() {
    let folder = folder();
    let path = folder.path.join("f");
    fs::write(&path, "old").unwrap();
    let loaded = load(&path).unwrap();
    fs::write(&path, "older").unwrap();
    save(&path, b"new", Some(loaded.stamp)).unwrap_err();
    assert_eq!(fs::read(&path).unwrap(), b"older");
    fs::remove_file(&path).unwrap();
    save(&path, b"new", Some(loaded.stamp)).unwrap_err();
    assert_eq!(names(&folder.path), [""; 0]);
}

#[test]
fn a_read_only_file_is_not_replaced() {
    let folder = folder();
    let path = folder.path.join("f");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    assert_eq!(save(&path, b"new", None).unwrap_err().kind(), ErrorKind::PermissionDenied);
    assert_eq!(fs::read(&path).unwrap(), b"old");
}

#[test]
fn links_are_not_written_through() {
    let folder = folder();
    fs::create_dir(folder.path.join("real")).unwrap();
    fs::write(folder.path.join("real/f"), "old").unwrap();
    symlink("real/f", folder.path.join("link")).unwrap();
    symlink("real", folder.path.join("folder")).unwrap();
    for name in ["link", "folder/f", "folder/new"] {
        save(&folder.path.join(name), b"new", None).unwrap_err();
        load(&folder.path.join(name)).unwrap_err();
    }
    assert_eq!(fs::read(folder.path.join("real/f")).unwrap(), b"old");
    assert_eq!(names(&folder.path.join("real")), ["f"]);
    // Reading follows a link; deleting one leaves what it leads to.
    assert_eq!(read(&folder.path.join("link"), ALL).unwrap().bytes, b"old");
    assert_eq!(remove(&folder.path.join("link")).unwrap(), 6);
    assert_eq!(names(&folder.path), ["folder", "real"]);
}

#[test]
fn links_that_come_and_go_lead_nobody_astray() {
    let folder = folder();
    fs::create_dir_all(folder.path.join("outside")).unwrap();
    fs::write(folder.path.join("outside/f"), "secret").unwrap();
    fs::create_dir_all(folder.path.join("inside/d")).unwrap();
    let path = folder.path.join("inside/d/f");
    fs::write(&path, "mine").unwrap();
    let (parked, place) = (folder.path.join("inside/parked"), folder.path.join("inside/d"));
    let outside = folder.path.join("outside");
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                fs::rename(&place, &parked).unwrap();
                symlink(&outside, &place).unwrap();
                fs::remove_file(&place).unwrap();
                fs::rename(&parked, &place).unwrap();
            }
        });
        let mut astray = false;
        for _ in 0..300 {
            if let Ok(loaded) = load(&path) {
                astray |= loaded.bytes == b"secret";
                // Whether it works depends on the moment; where it is written does not.
                save(&path, b"mine too", Some(loaded.stamp)).ok();
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(!astray);
    });
    assert_eq!(fs::read(folder.path.join("outside/f")).unwrap(), b"secret");
    assert_eq!(names(&folder.path.join("outside")), ["f"]);
}
