//! LS, Glob and Grep: what they find, in which order, and what they say about the rest.

use super::super::test_support::Bench;
use expect_test::expect;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, UNIX_EPOCH};

fn project() -> Bench {
    let bench = Bench::new();
    bench
        .put(".gitignore", "target/\n*.log\n")
        .put(".git/config", "needle\n")
        .put(".github/ci.yml", "needle\n")
        .put("a.txt", "first\nneedle one\nthird\nfourth\nfifth needle\n")
        .put("b.log", "needle\n")
        .put("src/lib.rs", "fn needle() {}\n")
        .put("src/deep/er/mod.rs", "nothing\n")
        .put("src/binary", b"needle\0needle\n")
        .put("target/out.rs", "needle\n")
        .put("crlf.txt", "needle\r\nNEEDLE\r\n");
    for (age, name) in
        ["src/lib.rs", "a.txt", "crlf.txt", "src/deep/er/mod.rs", ".github/ci.yml"].iter().enumerate()
    {
        let file = fs::File::options().write(true).open(bench.path(name)).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(1_000 - age as u64)).unwrap();
    }
    symlink("/", bench.path("root")).unwrap();
    symlink("..", bench.path("src/loop")).unwrap();
    bench
}

#[tokio::test]
async fn a_folder_is_shown_as_a_tree() {
    let bench = project();
    expect![[r#"
        /ws/
          .github/
            ci.yml
          src/
            deep/
              er/
                mod.rs
            binary
            lib.rs
            loop
          .gitignore
          root"#]]
    .assert_eq(&bench.model("LS", json!({"ignore": ["*.txt"]})).await);
    assert_eq!(
        bench.details("LS", json!({"path": "src/deep"})).await,
        json!({"tool": "ls", "directoryTreeRoot": {
            "absPath": "/ws/src/deep",
            "childrenDirs": [{
                "absPath": "/ws/src/deep/er", "childrenDirs": [], "childrenFiles": [{"name": "mod.rs"}],
                "childrenWereProcessed": true, "fullSubtreeExtensionCounts": {}, "numFiles": 0,
            }],
            "childrenFiles": [], "childrenWereProcessed": true, "fullSubtreeExtensionCounts": {}, "numFiles": 0,
        }})
    );
}

#[tokio::test]
async fn deep_folders_are_counted_when_there_is_too_much_to_show() {
    let bench = Bench::new();
    for folder in 0..40 {
        for file in 0..50 {
            bench.put(&format!("d{folder:02}/sub/f{file}.{}", if file < 20 { "rs" } else { "txt" }), "");
        }
    }
    let text = bench.model("LS", json!({})).await;
    let shown: Vec<&str> = text.lines().collect();
    assert!(shown.len() <= 1_003, "{}", shown.len());
    assert_eq!(&shown[..4], ["/ws/", "  d00/", "    sub/", "      f0.rs"]);
    assert!(shown.contains(&"    sub/ (50 files: 30 *.txt, 20 *.rs)"), "{text}");
    let details = bench.details("LS", json!({})).await;
    let last = &details["directoryTreeRoot"]["childrenDirs"][39]["childrenDirs"][0];
    assert_eq!(
        *last,
        json!({
            "absPath": "/ws/d39/sub", "childrenDirs": [], "childrenFiles": [], "childrenWereProcessed": false,
            "fullSubtreeExtensionCounts": {".rs": 20, ".txt": 30}, "numFiles": 50,
        })
    );
}

#[tokio::test]
async fn files_are_found_by_name_newest_first() {
    let bench = project();
    let table = [
        ("*.rs", "", "src/lib.rs\nsrc/deep/er/mod.rs"),
        ("**/*.{rs,txt}", "", "src/lib.rs\na.txt\ncrlf.txt\nsrc/deep/er/mod.rs"),
        ("er/*.rs", "", "src/deep/er/mod.rs"),
        ("deep/**", "src", "src/deep/er/mod.rs"),
        ("/ws/*.txt", "", "a.txt\ncrlf.txt"),
        ("ci.*", "", ".github/ci.yml"),
        ("*.log", "", "No file matches `**/*.log` (ignored files are not searched)."),
        ("config", "", "No file matches `**/config` (ignored files are not searched)."),
        (
            "{",
            "",
            "Error: `{` is no valid glob: error parsing glob '**/{': unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)",
        ),
    ];
    for (pattern, folder, expected) in table {
        let pattern = pattern.replace("/ws", bench.place.root.to_str().unwrap());
        let input = json!({"glob_pattern": pattern, "target_directory": folder});
        assert_eq!(bench.model("Glob", input).await, expected, "{pattern}");
    }
    assert_eq!(
        bench.details("Glob", json!({"glob_pattern": "*.rs", "target_directory": "src"})).await,
        json!({
            "tool": "glob", "pattern": "**/*.rs", "path": "/ws/src", "files": ["lib.rs", "deep/er/mod.rs"],
            "totalFiles": 2, "clientTruncated": false, "ripgrepTruncated": false,
        })
    );
}

#[tokio::test]
async fn matches_are_reported_as_documented() {
    let bench = project();
    let files = |names: &[&str]| {
        json!({"/ws": {"files": {
            "files": names, "totalFiles": names.len(), "clientTruncated": false, "ripgrepTruncated": false,
        }}})
    };
    assert_eq!(
        bench.details("Grep", json!({"pattern": "needle"})).await,
        json!({
            "tool": "grep", "pattern": "needle", "path": "", "outputMode": "files_with_matches",
            "workspaceResults": files(&["./.github/ci.yml", "./a.txt", "./crlf.txt", "./src/lib.rs"]),
        })
    );
    assert_eq!(
        bench.details("Grep", json!({"pattern": "needle", "path": "src"})).await["workspaceResults"],
        files(&["./src/lib.rs"])
    );
    let line = |number: u64, content: &str, context: bool| {
        json!({
            "lineNumber": number, "content": content, "contentTruncated": false, "isContextLine": context,
        })
    };
    assert_eq!(
        bench
            .details("Grep", json!({"pattern": "one", "path": "a.txt", "output_mode": "content", "-B": 1}))
            .await,
        json!({
            "tool": "grep", "pattern": "one", "path": "a.txt", "outputMode": "content",
            "workspaceResults": {"/ws": {"content": {
                "matches": [{"file": "./a.txt", "matches": [line(1, "first", true), line(2, "needle one", false)]}],
                "totalLines": 2, "totalMatchedLines": 1, "clientTruncated": false, "ripgrepTruncated": false,
            }}},
        })
    );
    assert_eq!(
        bench
            .details(
                "Grep",
                json!({"pattern": "NEEDLE", "-i": true, "glob": "*.txt", "output_mode": "count"})
            )
            .await["workspaceResults"],
        json!({"/ws": {"count": {
            "counts": [{"file": "./a.txt", "count": 2}, {"file": "./crlf.txt", "count": 2}],
            "totalFiles": 2, "totalMatches": 4, "clientTruncated": false, "ripgrepTruncated": false,
        }}})
    );
}

fn content(mut input: Value) -> Value {
    input["output_mode"] = json!("content");
    input
}

fn questions() -> Vec<Value> {
    vec![
        json!({"pattern": "needle", "type": "rust"}),
        content(json!({"pattern": "needle", "glob": "!long.txt"})),
        content(json!({"pattern": "needle", "path": "a.txt", "-A": 1})),
        content(json!({"pattern": "needle", "head_limit": 1, "offset": 2})),
        content(json!({"pattern": "one$.third", "multiline": true})),
        content(json!({"pattern": "needle", "path": "src/binary"})),
        json!({"pattern": "needle", "head_limit": 2, "offset": 1}),
        json!({"pattern": "needle", "offset": 50}),
        json!({"pattern": "absent"}),
        json!({"pattern": "fn needle("}),
        json!({"pattern": "a\\nb"}),
        json!({"pattern": "x", "type": "klingon"}),
        json!({"pattern": "x", "path": "none"}),
        json!({"pattern": "x", "path": "root/etc"}),
        json!({"pattern": "needle", "path": "src/loop/src", "output_mode": "count"}),
    ]
}

#[tokio::test]
async fn the_model_reads_matches_as_text() {
    let bench = project();
    bench.put("long.txt", format!("needle {}\n", "é".repeat(1_000)));
    let mut seen = String::new();
    for input in questions() {
        seen.push_str(&format!("> {input}\n{}\n", bench.model("Grep", input.clone()).await));
    }
    expect![[r#"
        > {"pattern":"needle","type":"rust"}
        src/lib.rs
        > {"pattern":"needle","glob":"!long.txt","output_mode":"content"}
        .github/ci.yml
        1:needle
        a.txt
        2:needle one
        5:fifth needle
        crlf.txt
        1:needle
        src/lib.rs
        1:fn needle() {}
        > {"pattern":"needle","path":"a.txt","-A":1,"output_mode":"content"}
        a.txt
        2:needle one
        3-third
        --
        5:fifth needle
        > {"pattern":"needle","head_limit":1,"offset":2,"output_mode":"content"}
        a.txt
        5:fifth needle
        [3-3 of at least 6 shown; continue with offset 3]
        > {"pattern":"one$.third","multiline":true,"output_mode":"content"}
        a.txt
        2:needle one
        3:third
        > {"pattern":"needle","path":"src/binary","output_mode":"content"}
        No matches (ignored and binary files are not searched).
        > {"pattern":"needle","head_limit":2,"offset":1}
        a.txt
        crlf.txt
        [2-3 of 5 shown; continue with offset 3]
        > {"pattern":"needle","offset":50}
        Nothing more to show: `offset` is past the end.
        > {"pattern":"absent"}
        No matches (ignored and binary files are not searched).
        > {"pattern":"fn needle("}
        Error: `pattern` is no valid regular expression: regex parse error:
            (?:fn needle()
            ^
        error: unclosed group; put a \ before ( ) [ ] { } . * + ? | ^ $ to search for them as they are
        > {"pattern":"a\\nb"}
        Error: `pattern` is no valid regular expression: the literal "\n" is not allowed in a regex; set `multiline` to search over line ends
        > {"pattern":"x","type":"klingon"}
        Error: there is no file type `klingon`; use one like rust, py, ts or js, or `glob`
        > {"pattern":"x","path":"none"}
        Error: there is no `/ws/none`
        > {"pattern":"x","path":"root/etc"}
        Error: `/ws/root/etc` leads out of the workspace to `/etc`; use that path itself
        > {"pattern":"needle","path":"src/loop/src","output_mode":"count"}
        src/lib.rs:1
    "#]].assert_eq(&seen);
}

#[tokio::test]
async fn long_lines_are_cut() {
    let bench = Bench::new();
    bench.put("long.txt", format!("needle {}\n", "é".repeat(1_000)));
    let text = bench.model("Grep", content(json!({"pattern": "needle", "path": "long.txt"}))).await;
    assert_eq!(text, format!("long.txt\n1:needle {}… [line cut]", "é".repeat(493)));
}

#[tokio::test]
async fn the_first_matches_by_path_are_shown_whatever_is_found_first() {
    let bench = Bench::new();
    for file in 0..3_000 {
        bench.put(&format!("d{}/f{file:04}.txt", file % 7), "x\ny needle\nz needle\n");
    }
    let first =
        bench.details("Grep", json!({"pattern": "needle", "output_mode": "content", "head_limit": 5})).await;
    for _ in 0..3 {
        let again = bench
            .details("Grep", json!({"pattern": "needle", "output_mode": "content", "head_limit": 5}))
            .await;
        assert_eq!(again, first);
    }
    let content = &first["workspaceResults"]["/ws"]["content"];
    let names: Vec<&str> =
        content["matches"].as_array().unwrap().iter().map(|file| file["file"].as_str().unwrap()).collect();
    assert_eq!(names, ["./d0/f0000.txt", "./d0/f0007.txt", "./d0/f0014.txt"]);
    assert_eq!((&content["totalMatchedLines"], &content["clientTruncated"]), (&json!(6_000), &json!(true)));
    let text = bench.model("Grep", json!({"pattern": "needle"})).await;
    assert!(text.ends_with("[1-500 of 3000 shown; continue with offset 500]"), "{text}");
    let text = bench.model("Glob", json!({"glob_pattern": "*.txt"})).await;
    assert!(text.ends_with("[the newest 100 of 3000 files; narrow the pattern]"), "{text}");
    assert_eq!(text.lines().count(), 101);
}

#[tokio::test]
async fn a_cancelled_search_ends() {
    let bench = project();
    bench.cancel.cancel();
    for (tool, input) in
        [("Grep", json!({"pattern": "x"})), ("Glob", json!({"glob_pattern": "*"})), ("LS", json!({}))]
    {
        assert_eq!(bench.model(tool, input).await, "Error: the search was cancelled", "{tool}");
    }
}

#[tokio::test]
async fn strange_names_are_escaped() {
    let bench = Bench::new();
    fs::write(bench.path("new\nline"), "needle\n").unwrap();
    fs::write(bench.place.root.join(OsStr::from_bytes(b"caf\xe9")), "needle\n").unwrap();
    for (tool, input) in
        [("Grep", json!({"pattern": "needle"})), ("Glob", json!({"glob_pattern": "*"})), ("LS", json!({}))]
    {
        let text = bench.model(tool, input).await;
        assert!(text.contains("caf\\xe9") && text.contains("new\\nline"), "{tool}: {text}");
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_counted() {
    let bench = Bench::new();
    bench.put("locked/f", "needle\n").put("f", "needle\n");
    fs::set_permissions(bench.path("locked"), fs::Permissions::from_mode(0o000)).unwrap();
    let can_read = fs::read_dir(bench.path("locked")).is_ok();
    for (tool, input) in
        [("Grep", json!({"pattern": "needle"})), ("Glob", json!({"glob_pattern": "*"})), ("LS", json!({}))]
    {
        let text = bench.model(tool, input).await;
        // The superuser can read everything.
        assert!(can_read || text.ends_with("[1 file(s) or folder(s) could not be read]"), "{tool}: {text}");
    }
    fs::set_permissions(bench.path("locked"), fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn a_line_that_is_too_long_is_no_reason_to_stop() {
    let bench = Bench::new();
    bench.put("a.txt", "x".repeat(70 << 20)).put("b.txt", "x needle\n");
    let text = bench.model("Grep", json!({"pattern": "needle"})).await;
    assert_eq!(text, "b.txt\n[1 file(s) or folder(s) could not be read]");
}
