//! The tools that change files: what they write, what they refuse, what they report.

use super::super::test_support::Bench;
use expect_test::expect;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

fn replacing(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "old_string": old, "new_string": new})
}

#[tokio::test]
async fn an_edit_is_reported_as_documented() {
    let bench = Bench::new();
    bench.put("todo.md", "- milk\n- bread\n");
    let details =
        bench.details("Write", json!({"path": "todo.md", "contents": "- milk\n- bread\n- tea"})).await;
    let expected = json!({
        "tool": "edit", "path": "/ws/todo.md", "linesAdded": 1, "linesRemoved": 0,
        "diffString": "--- a//ws/todo.md\n+++ b//ws/todo.md\n@@ -1,2 +1,3 @@\n - milk\n - bread\n+- tea",
        "beforeFullFileContent": "- milk\n- bread\n", "afterFullFileContent": "- milk\n- bread\n- tea\n",
        "message": "The file /ws/todo.md has been updated.",
    });
    assert_eq!(details, expected);
    let details = bench.details("Write", json!({"path": "a/b.md", "contents": "x"})).await;
    let expected = json!({
        "tool": "edit", "path": "/ws/a/b.md", "linesAdded": 1, "linesRemoved": 0,
        "diffString": "--- /dev/null\n+++ b//ws/a/b.md\n@@ -0,0 +1 @@\n+x",
        "afterFullFileContent": "x", "message": "Wrote contents to /ws/a/b.md",
    });
    assert_eq!(details, expected);
}

#[tokio::test]
async fn a_file_that_changed_since_it_was_read_is_left_alone() {
    let bench = Bench::new();
    bench.put("f", "one\ntwo\n").put("g", "old\n");
    bench.call("Read", json!({"path": "f"})).await.unwrap();
    bench.put("f", "one\ntwo\nthree\n");
    for (tool, input) in [
        ("StrReplace", replacing("f", "one", "1")),
        ("MultiStrReplace", json!({"path": "f", "edits": [{"old_string": "one", "new_string": "1"}]})),
        ("Write", json!({"path": "f", "contents": "1"})),
        (
            "ApplyPatch",
            json!({"patch": "*** Begin Patch\n*** Update File: g\n@@\n-old\n+new\n*** Update File: f\n@@\n-one\n+1\n*** End Patch"}),
        ),
    ] {
        assert_eq!(
            bench.model(tool, input).await,
            "Error: `/ws/f` changed since it was last read (8 bytes then, 14 now), and nothing was written; read it again and repeat the edit on what it holds now",
            "{tool}"
        );
    }
    assert_eq!((bench.get("f"), bench.get("g")), (b"one\ntwo\nthree\n".to_vec(), b"old\n".to_vec()));
    bench.call("Read", json!({"path": "f"})).await.unwrap();
    bench.call("StrReplace", replacing("f", "one", "1")).await.unwrap();
    assert_eq!(bench.get("f"), b"1\ntwo\nthree\n");
}

#[tokio::test]
async fn a_touched_file_with_the_same_contents_is_unchanged() {
    let bench = Bench::new();
    bench.put("f", "one\n");
    bench.call("Read", json!({"path": "f"})).await.unwrap();
    fs::remove_file(bench.path("f")).unwrap();
    bench.put("f", "one\n");
    let file = fs::File::options().write(true).open(bench.path("f")).unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    bench.call("StrReplace", replacing("f", "one", "two")).await.unwrap();
    assert_eq!(bench.get("f"), b"two\n");
}

#[tokio::test]
async fn a_touched_file_of_which_only_a_part_was_read_counts_as_changed() {
    let bench = Bench::new();
    bench.put("f", "one\ntwo\n");
    bench.call("Read", json!({"path": "f", "limit": 1})).await.unwrap();
    let file = fs::File::options().write(true).open(bench.path("f")).unwrap();
    file.set_modified(std::time::UNIX_EPOCH).unwrap();
    bench.call("StrReplace", replacing("f", "one", "two")).await.unwrap_err();
}

#[tokio::test]
async fn edits_follow_one_another_without_reading_again() {
    let bench = Bench::new();
    bench.put("f", "a\nb\n");
    bench.call("Read", json!({"path": "f"})).await.unwrap();
    bench.call("StrReplace", replacing("f", "a", "b2")).await.unwrap();
    bench.call("StrReplace", replacing("f", "b2", "c")).await.unwrap();
    bench.call("Write", json!({"path": "f", "contents": "d"})).await.unwrap();
    assert_eq!(bench.get("f"), b"d\n");
}

#[tokio::test]
async fn several_edits_are_all_made_or_none() {
    let bench = Bench::new();
    bench.put("f", "a\nb\nc\n");
    let edits = |last: &str| json!({"path": "f", "edits": [{"old_string": "a", "new_string": "x"}, {"old_string": last, "new_string": "y"}]});
    assert_eq!(
        bench.model("MultiStrReplace", edits("nothing")).await,
        "Error: edit 2 of 2, and none was made: `old_string` is not in the file; it must be what the file holds, without line numbers"
    );
    assert_eq!(bench.get("f"), b"a\nb\nc\n");
    bench.call("MultiStrReplace", edits("b")).await.unwrap();
    assert_eq!(bench.get("f"), b"x\ny\nc\n");
}

#[tokio::test]
async fn a_link_is_followed_inside_the_workspace_only() {
    let bench = Bench::new();
    bench.put("real/f", "a\n").put("../outside/f", "a\n");
    symlink("real/f", bench.path("link")).unwrap();
    symlink("real", bench.path("folder")).unwrap();
    symlink("../outside/f", bench.path("out")).unwrap();
    symlink("../outside", bench.path("out_folder")).unwrap();
    symlink("nowhere", bench.path("dangling")).unwrap();
    bench.call("StrReplace", replacing("link", "a", "b")).await.unwrap();
    bench.call("StrReplace", replacing("folder/f", "b", "c")).await.unwrap();
    assert!(fs::symlink_metadata(bench.path("link")).unwrap().is_symlink());
    assert_eq!(bench.get("real/f"), b"c\n");
    for name in ["out", "out_folder/f", "out_folder/new", "dangling"] {
        for (tool, input) in [
            ("Write", json!({"path": name, "contents": "b"})),
            ("StrReplace", replacing(name, "a", "b")),
            (
                "ApplyPatch",
                json!({"patch": format!("*** Begin Patch\n*** Add File: {name}\n+b\n*** End Patch")}),
            ),
        ] {
            let text = bench.model(tool, input).await;
            assert!(text.contains("leads"), "{tool} {name}: {text}");
        }
    }
    assert!(bench.model("Delete", json!({"path": "out_folder/f"})).await.contains("leads out"));
    assert_eq!(bench.get("../outside/f"), b"a\n");
    // A link itself can be deleted; what it leads to stays.
    bench.call("Delete", json!({"path": "out"})).await.unwrap();
    bench.call("Delete", json!({"path": "link"})).await.unwrap();
    assert_eq!((bench.get("../outside/f"), bench.get("real/f")), (b"a\n".to_vec(), b"c\n".to_vec()));
}

#[tokio::test]
async fn what_cannot_be_edited_says_why() {
    let bench = Bench::new();
    bench.put("binary", b"a\0b").put("wide", [0xFF, 0xFE, b'a', 0]).put("locked", "a\n");
    fs::set_permissions(bench.path("locked"), fs::Permissions::from_mode(0o444)).unwrap();
    let mut seen = String::new();
    for name in ["binary", "wide", "locked", "none", ".", "/dev/null"] {
        seen.push_str(&format!("{name}: {}\n", bench.model("StrReplace", replacing(name, "a", "b")).await));
    }
    fs::remove_dir_all(&bench.place.root).unwrap();
    seen.push_str(&bench.model("Write", json!({"path": "new", "contents": ""})).await);
    expect![[r#"
        binary: Error: `/ws/binary` is a binary file, which the edit tools cannot change; use a command
        wide: Error: `/ws/wide` is in UTF-16, which the edit tools cannot change; use a command
        locked: Error: `/ws/locked` is read-only; change its mode first
        none: Error: File not found
        .: Error: `/ws` is a folder, not a file
        /dev/null: Error: `/dev/null` is a device; only regular files can be used
        Error: the workspace folder `/ws` is gone"#]]
    .assert_eq(&seen);
    assert!(!bench.place.root.exists());
}

const PATCH: &str = "*** Begin Patch
*** Add File: new/n.txt
+hello
*** Update File: a.txt
@@
 one
-two
+TWO
*** Update File: b.txt
*** Move to: c.txt
@@
-x
+y
*** Delete File: d.txt
*** End Patch
";

#[tokio::test]
async fn a_patch_changes_several_files() {
    let bench = Bench::new();
    bench.put("a.txt", "one\ntwo\n").put("b.txt", "x\n").put("d.txt", "gone\n");
    let output = bench.details("ApplyPatch", json!({"patch": PATCH})).await;
    assert_eq!(
        (bench.get("new/n.txt"), bench.get("a.txt"), bench.get("c.txt")),
        (b"hello\n".to_vec(), b"one\nTWO\n".to_vec(), b"y\n".to_vec())
    );
    assert!(!bench.path("b.txt").exists() && !bench.path("d.txt").exists());
    expect![[r#"
        {
          "tool": "edit",
          "path": "/ws/new/n.txt",
          "linesAdded": 3,
          "linesRemoved": 3,
          "diffString": "--- /dev/null\n+++ b//ws/new/n.txt\n@@ -0,0 +1 @@\n+hello\n--- a//ws/a.txt\n+++ b//ws/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+TWO\n--- /dev/null\n+++ b//ws/c.txt\n@@ -0,0 +1 @@\n+y\n--- a//ws/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n--- a//ws/d.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone",
          "afterFullFileContent": "hello\n",
          "message": "Wrote contents to /ws/new/n.txt\nThe file /ws/a.txt has been updated.\nWrote contents to /ws/c.txt\nDeleted /ws/b.txt.\nDeleted /ws/d.txt."
        }"#]].assert_eq(&serde_json::to_string_pretty(&output).unwrap());
}

#[tokio::test]
async fn a_patch_that_does_not_fit_everywhere_changes_nothing() {
    let table = [
        // b.txt is another
        (("a.txt", "one\ntwo\n"), ("b.txt", "z\n"), ("d.txt", "gone\n")),
        // a.txt is another
        (("a.txt", "one\n"), ("b.txt", "x\n"), ("d.txt", "gone\n")),
        // c.txt is there already
        (("a.txt", "one\ntwo\n"), ("b.txt", "x\n"), ("c.txt", "here\n")),
    ];
    for (first, second, third) in table {
        let bench = Bench::new();
        bench.put(first.0, first.1).put(second.0, second.1).put(third.0, third.1);
        bench.call("ApplyPatch", json!({"patch": PATCH})).await.unwrap_err();
        for (name, contents) in [first, second, third] {
            assert_eq!(bench.get(name), contents.as_bytes());
        }
        assert!(!bench.path("new").exists());
    }
}

#[tokio::test]
async fn a_patch_whose_writing_breaks_is_undone() {
    let bench = Bench::new();
    bench.put("a.txt", "one\ntwo\n").put("b.txt", "x\n").put("d.txt", "gone\n");
    // A read-only file is found out only when it is written.
    let patch = "*** Begin Patch\n*** Add File: n\n+1\n*** Delete File: d.txt\n*** Update File: a.txt\n@@\n-two\n+2\n*** Update File: b.txt\n@@\n-x\n+y\n*** End Patch";
    fs::set_permissions(bench.path("b.txt"), fs::Permissions::from_mode(0o444)).unwrap();
    assert_eq!(
        bench.model("ApplyPatch", json!({"patch": patch})).await,
        "Error: `/ws/b.txt` is read-only; change its mode first; nothing of the patch was kept"
    );
    assert_eq!((bench.get("a.txt"), bench.get("d.txt")), (b"one\ntwo\n".to_vec(), b"gone\n".to_vec()));
    assert!(!bench.path("n").exists());
    // What was put back counts as seen.
    bench.call("StrReplace", replacing("a.txt", "two", "2")).await.unwrap();
}

#[tokio::test]
async fn a_file_that_is_twice_in_a_patch_is_refused() {
    let bench = Bench::new();
    bench.put("a", "1\n2\n");
    let patch =
        "*** Begin Patch\n*** Update File: a\n@@\n-1\n+x\n*** Update File: ./a\n@@\n-2\n+y\n*** End Patch";
    assert_eq!(
        bench.model("ApplyPatch", json!({"patch": patch})).await,
        "Error: `./a` is in the patch twice; put its hunks under one header"
    );
    assert_eq!(bench.get("a"), b"1\n2\n");
}

#[tokio::test]
async fn deleting_is_reported_as_documented() {
    let bench = Bench::new();
    bench.put("f", "abc");
    let details = bench.details("Delete", json!({"path": "f"})).await;
    assert_eq!(details, json!({"tool": "delete", "path": "/ws/f", "fileSize": 3}));
    assert!(!bench.path("f").exists());
    assert_eq!(bench.model("Delete", json!({"path": "f"})).await, "Error: File not found");
    assert_eq!(bench.model("Delete", json!({"path": "."})).await, "Error: `/ws` is a folder, not a file");
}
