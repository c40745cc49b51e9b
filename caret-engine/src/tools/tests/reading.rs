//! Read: what the model sees of a file, and what it is told about the rest.

use super::super::test_support::Bench;
use caret_protocol::content::Failure;
use caret_protocol::details::Details;
use expect_test::expect;
use serde_json::json;

#[tokio::test]
async fn a_whole_file_is_reported_as_documented() {
    let bench = Bench::new();
    bench.put("a.txt", "one\ntwo\n");
    let details = bench.details("Read", json!({"path": "a.txt"})).await;
    let expected = json!({
        "tool": "read", "content": "one\ntwo\n", "isEmpty": false, "exceededLimit": false, "totalLines": 3,
        "fileSize": 8, "path": "/ws/a.txt", "readRange": {"startLine": 1, "endLine": 3},
        "relatedCursorRulePaths": [], "relatedCursorRules": [],
    });
    assert_eq!(details, expected);
}

fn strange_files() -> Bench {
    let bench = Bench::new();
    bench.put("crlf", "a\r\nb\r\n").put("mark", "\u{feff}a\n").put("latin", b"caf\xe9\n").put("empty", "");
    bench.put("wide", [0xFF, 0xFE, b'h', 0, 0xE9, 0, b'\n', 0, 0x0A, 0x01, b'\n', 0]);
    bench.put("wide_be", [0xFE, 0xFF, 0, b'h', 0, b'\n', 0, b'i']);
    bench.put("binary", b"\x7fELF\0\0");
    bench
}

#[tokio::test]
async fn the_model_sees_numbers_and_is_told_what_it_cannot_see() {
    let bench = strange_files();
    let mut seen = String::new();
    for (name, offset, limit) in [
        ("crlf", 1, 9),
        ("mark", 1, 9),
        ("latin", 1, 9),
        ("empty", 1, 9),
        ("wide", 2, 1),
        ("wide_be", -1, 9),
        ("binary", 1, 9),
        ("crlf", -1, 1),
        ("crlf", 9, 1),
        ("none", 1, 1),
        (".", 1, 1),
        ("/dev/null", 1, 1),
    ] {
        let text = bench.model("Read", json!({"path": name, "offset": offset, "limit": limit})).await;
        seen.push_str(&format!("{name} {offset} {limit}\n{text}\n"));
    }
    expect![[r#"
        crlf 1 9
             1|a
             2|b
        [lines end with CRLF, which edits keep]
        mark 1 9
             1|a
        [the file starts with a byte order mark, which is kept]
        latin 1 9
             1|caf�
        [not valid UTF-8: bytes that are no text are shown as �]
        empty 1 9
        [the file is empty]
        wide 2 1
             2|Ċ
        [decoded from UTF-16; the edit tools cannot change this file]
        wide_be -1 9
             2|i
        [decoded from UTF-16; the edit tools cannot change this file]
        binary 1 9
        Error: `/ws/binary` is a binary file and cannot be shown as text (6 bytes)
        crlf -1 1
             2|b
        [lines end with CRLF, which edits keep]
        crlf 9 1
        Error: `offset` 9 is past the end: the file has 3 lines
        none 1 1
        Error: File not found
        . 1 1
        Error: `/ws` is a folder, not a file
        /dev/null 1 1
        Error: `/dev/null` is a device; only regular files can be used
    "#]]
    .assert_eq(&seen);
}

#[tokio::test]
async fn long_lines_are_cut() {
    let bench = Bench::new();
    bench.put("long", "x".repeat(5_000) + "\nshort\n");
    let text = bench.model("Read", json!({"path": "long"})).await;
    assert_eq!(
        text,
        format!(
            "     1|{}… [line cut]\n     2|short\n[1 line(s) cut at 2000 characters; search them with Grep or cut them with a command]",
            "x".repeat(2_000)
        )
    );
}

#[tokio::test]
async fn long_files_are_cut_and_can_be_continued() {
    let bench = Bench::new();
    let lines: String = (1..=5_000).map(|number| format!("line {number}\n")).collect();
    bench.put("lines", &lines).put("bytes", ("y".repeat(1_000) + "\n").repeat(200));
    let mut collected = String::new();
    let mut offset = 1;
    while offset <= 5_000 {
        let output = bench.call("Read", json!({"path": "lines", "offset": offset})).await.unwrap();
        let Details::Read(done) = output.details else { panic!() };
        collected.push_str(&done.content);
        assert_eq!(done.exceeded_limit, done.read_range.end_line < 5_001);
        offset = done.read_range.end_line + 1;
    }
    assert_eq!(collected, lines);
    let output = bench.call("Read", json!({"path": "bytes"})).await.unwrap();
    assert!(output.for_model.len() < 51_000, "{}", output.for_model.len());
    assert!(
        output.for_model.ends_with("[lines 1-49 of 201 shown; continue with offset 50]"),
        "{}",
        &output.for_model[49_000..]
    );
}

#[tokio::test]
async fn huge_files_give_their_first_lines() {
    let bench = Bench::new();
    bench.put("sparse", "first\n".repeat(3_000));
    let file = std::fs::File::options().write(true).open(bench.path("sparse")).unwrap();
    file.set_len(5 << 30).unwrap();
    let text = bench.model("Read", json!({"path": "sparse", "limit": 1})).await;
    assert_eq!(text, "     1|first\n[lines 1-1 of at least 3001 shown; continue with offset 2]");
}

#[tokio::test]
async fn a_missing_file_has_the_documented_message() {
    let bench = Bench::new();
    let error = bench.call("Read", json!({"path": "none"})).await.unwrap_err();
    assert_eq!(error.to_string(), "File not found");
    assert!(matches!(error.0, Failure::FileNotFound { .. }));
}

#[tokio::test]
async fn what_was_read_is_remembered() {
    let bench = Bench::new();
    bench.put("f", "x\n");
    bench.call("Read", json!({"path": "f"})).await.unwrap();
    let path = bench.path("f");
    assert_eq!(bench.memory.seen(&path), Some(crate::workspace::files::stamp(&path).unwrap()));
}
