//! What an edit leaves in a file, byte for byte.

use super::locate::{Edit, replace};
use super::{Action, apply, parse, rewritten, unified};
use expect_test::{Expect, expect};

fn edit(file: &str, old: &str, new: &str) -> Result<String, String> {
    let edit = Edit { old: old.into(), new: new.into(), everywhere: false };
    replace(file.as_bytes(), &edit).map(|bytes| String::from_utf8(bytes).unwrap())
}

#[test]
fn a_replacement_changes_nothing_else() {
    // file, old, new, after
    let table = [
        ("a\nb\nc\n", "b", "B", "a\nB\nc\n"),
        ("a\nb\nc", "c", "C", "a\nb\nC"),
        // The model writes LF, the file has CRLF.
        ("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", "x\r\ny\r\nz\r\nc\r\n"),
        ("a\r\nb\r\n", "b", "x\ny", "a\r\nx\r\ny\r\n"),
        // Mixed endings: only the matched region decides.
        ("a\r\nb\nc\r\nd\n", "b\nc", "x\ny", "a\r\nx\ny\r\nd\n"),
        ("a\nb\r\nc\r\nd\n", "b\nc\n", "x\ny\n", "a\nx\r\ny\r\nd\n"),
        // A model that writes CRLF knows what it does.
        ("a\r\nb\r\n", "a\r\nb", "a\nb", "a\nb\r\n"),
        // ... unless the file has none.
        ("a\nb\nc\n", "a\r\nb", "x\r\ny", "x\ny\nc\n"),
        // The byte order mark stays.
        ("\u{feff}a\nb\n", "a\nb", "x", "\u{feff}x\n"),
        // The final newline stays, and is not invented.
        ("a\nb\n", "b\n", "c", "a\nc\n"),
        ("a\r\nb\r\n", "b\n", "c", "a\r\nc\r\n"),
        ("a\nb", "a\nb", "c", "c"),
        ("a\nb\n", "a\nb\n", "", ""),
        // Blanks at line ends.
        ("a  \nb\t\nc\n", "a\nb\n", "x\ny\n", "x\ny\nc\n"),
        ("a\nb\n", "a \nb  ", "x", "x\n"),
        ("a\nb ", "a\nb\n", "x\ny\n", "x\ny"),
        // Another indentation.
        (
            "  if a {\n      b();\n  }\n",
            "if a {\n    b();\n}",
            "if c {\n    b();\n    d();\n}",
            "  if c {\n      b();\n      d();\n  }\n",
        ),
        (
            "if a {\n    b();\n}\n",
            "  if a {\n      b();\n  }",
            "  if c {\n      b();\n  }",
            "if c {\n    b();\n}\n",
        ),
        (
            "\tif a {\n\t\tb();\n\t}\n",
            "    if a {\n        b();\n    }",
            "    if a {\n        if c {\n            b();\n        }\n    }",
            "\tif a {\n\t\tif c {\n\t\t\tb();\n\t\t}\n\t}\n",
        ),
        ("\r\n  a\r\n  b\r\n", "a\nb", "c\n\nd", "\r\n  c\r\n\r\n  d\r\n"),
    ];
    for (file, old, new, after) in table {
        assert_eq!(edit(file, old, new), Ok(after.to_owned()), "{file:?}: {old:?} -> {new:?}");
    }
}

#[test]
fn bytes_that_are_no_text_survive_an_edit() {
    let edit = Edit { old: "b\nc".into(), new: "x\ny".into(), everywhere: false };
    assert_eq!(replace(b"\xe9\xff\r\nb\r\nc\r\n\xfc", &edit), Ok(b"\xe9\xff\r\nx\r\ny\r\n\xfc".to_vec()));
}

#[test]
fn every_place_is_replaced_when_asked() {
    let edit = Edit { old: "aa".into(), new: "a".into(), everywhere: true };
    assert_eq!(replace(b"aaa aa\r\naa", &edit), Ok(b"aa a\r\na".to_vec()));
}

fn check_refused(file: &str, old: &str, new: &str, expected: Expect) {
    expected.assert_eq(&edit(file, old, new).unwrap_err());
}

#[test]
fn a_refused_edit_says_why() {
    check_refused(
        "a\n",
        "",
        "b",
        expect!["`old_string` is empty; give the text to replace, or use Write for a whole file"],
    );
    check_refused(
        "a\n",
        "a",
        "a",
        expect!["`old_string` and `new_string` are the same; nothing would change"],
    );
    check_refused(
        "x a\nb\na a\n",
        "a",
        "c",
        expect![
            "`old_string` is there 3 times, at line 1, 3; add lines around it until it is unique, or set `replace_all`"
        ],
    );
    check_refused(
        "a \nb\na\t\nb\n",
        "a\nb\n",
        "c",
        expect![
            "`old_string` is but for blanks, there 2 times, at line 1, 3; add lines around it until it is unique, or set `replace_all`"
        ],
    );
    check_refused(
        "alpha\nbeta\n",
        "something else entirely",
        "c",
        expect!["`old_string` is not in the file; it must be what the file holds, without line numbers"],
    );
    check_refused(
        "fn one() {}\nfn two() {\n    let total = sum(&values);\n}\nfn three() {}\n",
        "    let total = sum(values);",
        "c",
        expect![[r#"
            `old_string` is not in the file; it must be what the file holds, without line numbers. The nearest lines are:
                 2|fn two() {
                 3|    let total = sum(&values);
                 4|}"#]],
    );
    // One level deeper here, two levels deeper there: no rule, no edit.
    check_refused(
        " a\n   b\n",
        "a\nb\n",
        "c\n",
        expect!["`old_string` is not in the file; it must be what the file holds, without line numbers"],
    );
}

#[test]
fn a_whole_new_text_keeps_what_the_file_had() {
    // before, contents, after
    let table: [(&[u8], &str, &[u8]); 9] = [
        (b"- milk\n- bread\n", "- milk\n- bread\n- tea", b"- milk\n- bread\n- tea\n"),
        (b"a\nb", "a\nc", b"a\nc"),
        (b"a\nb", "a\nc\n", b"a\nc\n"),
        (b"a\r\nb\r\n", "a\nc\n", b"a\r\nc\r\n"),
        (b"a\r\nb\r\n", "a\r\nc", b"a\r\nc\r\n"),
        (b"\xEF\xBB\xBFa\n", "b", b"\xEF\xBB\xBFb\n"),
        (b"\xEF\xBB\xBFa\n", "\u{feff}b\n", b"\xEF\xBB\xBFb\n"),
        (b"a\r\nb\nc\r\nd\r\n", "a\nb\nx\nd\n", b"a\r\nb\nx\r\nd\r\n"),
        (b"a\n", "", b""),
    ];
    for (before, contents, after) in table {
        assert_eq!(rewritten(before, contents), after, "{before:?} <- {contents:?}");
    }
}

fn check_diff(before: Option<&str>, after: Option<&str>, expected: Expect) {
    let counted = unified("/ws/f", before, after);
    expected.assert_eq(&format!("+{} -{}\n{}", counted.added, counted.removed, counted.diff));
}

#[test]
fn diffs_are_as_documented() {
    check_diff(
        Some("- milk\n- bread\n"),
        Some("- milk\n- bread\n- tea\n"),
        expect![[r#"
            +1 -0
            --- a//ws/f
            +++ b//ws/f
            @@ -1,2 +1,3 @@
             - milk
             - bread
            +- tea"#]],
    );
    check_diff(
        None,
        Some("a\nb"),
        expect![[r#"
            +2 -0
            --- /dev/null
            +++ b//ws/f
            @@ -0,0 +1,2 @@
            +a
            +b"#]],
    );
    check_diff(
        Some("a\nb"),
        Some("a\nb\n"),
        expect![[r#"
            +1 -1
            --- a//ws/f
            +++ b//ws/f
            @@ -1,2 +1,2 @@
             a
            -b
            +b"#]],
    );
    check_diff(
        Some("a\n"),
        None,
        expect![[r#"
            +0 -1
            --- a//ws/f
            +++ /dev/null
            @@ -1 +0,0 @@
            -a"#]],
    );
}

#[test]
fn distant_changes_are_hunks_of_their_own() {
    let lines = |changed: &str| {
        (1..30)
            .map(|n| if n == 5 || n == 25 { format!("{changed}\n") } else { format!("{n}\n") })
            .collect::<String>()
    };
    check_diff(
        Some(&lines("x")),
        Some(&lines("y")),
        expect![[r#"
            +2 -2
            --- a//ws/f
            +++ b//ws/f
            @@ -2,7 +2,7 @@
             2
             3
             4
            -x
            +y
             6
             7
             8
            @@ -22,7 +22,7 @@
             22
             23
             24
            -x
            +y
             26
             27
             28"#]],
    );
}

fn patched(file: &str, hunks: &str) -> Result<String, String> {
    let patch = format!("*** Begin Patch\n*** Update File: f\n{hunks}\n*** End Patch\n");
    let files = parse(&patch)?;
    let Action::Update { hunks, .. } = &files[0].action else { panic!("{files:?}") };
    apply(file.as_bytes(), hunks).map(|bytes| String::from_utf8(bytes).unwrap())
}

#[test]
fn hunks_change_nothing_else() {
    // file, hunks, after
    let table = [
        ("a\nb\nc\n", "@@\n a\n-b\n+B\n c", "a\nB\nc\n"),
        ("a\nb\nc\n", " a\n-b\n+B", "a\nB\nc\n"),
        ("a\r\nb\r\nc\r\n", "@@\n a\n-b\n+B\n+D", "a\r\nB\r\nD\r\nc\r\n"),
        // Lines that stay keep their blanks, also when the model did not see them.
        ("a  \nb\t\nc\n", "@@\n a\n-b\n+B\n c", "a  \nB\nc\n"),
        ("  a\n  b\n", "@@\n a\n-b\n+if B {\n+    C\n+}", "  a\n  if B {\n      C\n  }\n"),
        ("a\nb", "@@\n-b\n+c", "a\nc"),
        ("a\nb", "@@\n b\n+c", "a\nb\nc"),
        ("a\nb", "@@\n-b\n\\ No newline at end of file\n+b", "a\nb\n"),
        ("a\nb\n", "@@\n-b\n+b\n\\ No newline at end of file", "a\nb"),
        // A header tells which of several places is meant.
        ("f\nx\ng\nx\n", "@@ g\n-x\n+y", "f\nx\ng\ny\n"),
        (
            "class A\n def f\n  x\nclass B\n def f\n  x\n",
            "@@ class B\n@@ def f\n-  x\n+  y",
            "class A\n def f\n  x\nclass B\n def f\n  y\n",
        ),
        ("x\na\nx\n", "@@\n-x\n+y\n*** End of File", "x\na\ny\n"),
        ("x\na\nx\n", "@@ -3,1 +3,1 @@\n-x\n+y", "x\na\ny\n"),
        ("a\n\nb\n", "@@\n a\n\n-b\n+c", "a\n\nc\n"),
        ("a\nb\nc\nd\n", "@@\n-a\n+A\n@@\n-c\n+C", "A\nb\nC\nd\n"),
        ("a\n", "@@\n+z", "a\nz\n"),
        ("a\nb\n", "@@ a\n+z", "a\nz\nb\n"),
        ("a\nb\n", "@@ -1,0 +2 @@\n+z", "a\nz\nb\n"),
        ("", "@@\n+z", "z\n"),
    ];
    for (file, hunks, after) in table {
        assert_eq!(patched(file, hunks), Ok(after.to_owned()), "{file:?} with {hunks:?}");
    }
}

#[test]
fn hunks_that_do_not_fit_say_why() {
    let table = [
        (
            "x\na\nx\n",
            "@@\n-x\n+y",
            "hunk 1: its lines are there 2 times, at line 1, 3; add lines around them, or an `@@` line from above",
        ),
        ("a\n", "@@ nowhere\n-a\n+b", "hunk 1: there is no line `nowhere` after line 0"),
        (
            "a\nb\n",
            "@@\n-b\n+c\n@@\n-a\n+c",
            "hunk 2: its lines are not in the file after line 2; they must be what the file holds",
        ),
        (
            "a\n",
            "@@\n-a\nwhat",
            "line 5 of the patch cannot be understood: `what`; lines of a hunk start with ` `, `-` or `+`",
        ),
    ];
    for (file, hunks, message) in table {
        assert_eq!(patched(file, hunks), Err(message.to_owned()));
    }
}

#[test]
fn unified_diffs_are_understood() {
    let patch = "Some prose.\n```diff\ndiff --git a/x b/x\nindex 1..2 100644\n--- a/x\t2020\n+++ b/x\n@@ -1,2 +1,2 @@ fn f\n a\n-b\n+c\n\
                 --- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n+1\n+2\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n\
                 diff --git a/o b/n\nsimilarity index 100%\nrename from o\nrename to n\n```\n";
    expect![[r#"
        [
            (
                "x",
                "Update to None, 1 hunks",
            ),
            (
                "new",
                "Add \"1\\n2\\n\"",
            ),
            (
                "gone",
                "Delete",
            ),
            (
                "o",
                "Update to Some(\"n\"), 0 hunks",
            ),
        ]
    "#]]
    .assert_debug_eq(&outline(patch));
}

fn outline(patch: &str) -> Vec<(String, String)> {
    let action = |action: &Action| match action {
        Action::Add(contents) => format!("Add {contents:?}"),
        Action::Delete(_) => "Delete".to_owned(),
        Action::Update { to, hunks } => format!("Update to {to:?}, {} hunks", hunks.len()),
    };
    parse(patch).unwrap().iter().map(|file| (file.path.clone(), action(&file.action))).collect()
}

#[test]
fn patches_without_files_are_refused() {
    for patch in ["", "hello", "*** Begin Patch\n*** End Patch", "--- a\n+++ b\n"] {
        assert!(parse(patch).is_err(), "{patch:?}");
    }
}

proptest::proptest! {
    #[test]
    fn any_patch_and_any_file_give_an_answer(file in "[ab \\t\\r\\n]{0,40}", patch in "[-+@ ab\\n\\\\*]{0,60}") {
        if let Ok(files) = parse(&format!("*** Begin Patch\n*** Update File: f\n@@\n{patch}\n*** End Patch")) {
            for one in files {
                if let Action::Update { hunks, .. } = one.action {
                    apply(file.as_bytes(), &hunks).ok();
                }
            }
        }
        let edit = Edit { old: patch, new: file.clone(), everywhere: true };
        replace(file.as_bytes(), &edit).ok();
    }

    #[test]
    fn a_diff_of_ours_applied_to_the_old_file_gives_the_new_one(old in "([ab]{0,2}\\n){0,8}", new in "([ab]{0,2}\\n){0,8}") {
        let counted = unified("/f", Some(&old), Some(&new));
        if old != new && !old.is_empty() {
            let files = parse(&counted.diff).unwrap();
            match &files[0].action {
                Action::Update { hunks, .. } => {
                    proptest::prop_assert_eq!(apply(old.as_bytes(), hunks).unwrap(), new.as_bytes());
                }
                other => panic!("{other:?}"),
            }
        }
    }
}
