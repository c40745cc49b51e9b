//! What no lint can hold: headers, sizes, who may use whom, and that nothing was forgotten.

use std::fs;
use std::path::{Path, PathBuf};

/// Lines that a file may have; tests may be longer.
const LONGEST_FILE: usize = 600;
/// The files of the ten-minute tour, and the lines they may have together.
const TOUR: (&[&str], usize) = (
    &[
        "caret-protocol/src/event.rs",
        "caret-protocol/src/agent.rs",
        "caret-engine/src/turn.rs",
        "caret-engine/src/tools/read.rs",
        "caret/src/front/print.rs",
    ],
    1000,
);

/// Which modules of the engine a module may use; ARCHITECTURE.md has the same table.
const ARROWS: &[(&str, &[&str])] = &[
    ("bash", &[]),
    ("clock", &[]),
    ("context", &["tools"]),
    ("model", &["tools", "mutex"]),
    ("mutex", &[]),
    ("permission", &[]),
    ("process", &["mutex"]),
    ("store", &["mutex"]),
    ("tools", &["bash", "mutex", "permission", "workspace"]),
    ("workspace", &["process"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Every file of the repository with this ending, as its path and text.
fn files(ending: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = entry.path();
            if path.is_dir() && name != "target" && name != ".git" && name != "node_modules" {
                folders.push(path);
            } else if name.ends_with(ending) && path.is_file() {
                let shown = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
                // Snapshots may hold anything; sources are text.
                found.push((shown, fs::read_to_string(&path).unwrap_or_default()));
            }
        }
    }
    found.sort();
    assert!(!found.is_empty());
    found
}

fn is_test(path: &str) -> bool {
    path.contains("/tests/") || path.contains("/tests_") || path.ends_with("/tests.rs")
}

#[test]
fn every_file_says_in_its_first_line_what_it_is_for() {
    let without: Vec<_> = files(".rs")
        .into_iter()
        .filter(|(_, text)| !text.starts_with("//! "))
        .map(|(path, _)| path)
        .collect();
    assert_eq!(without, Vec::<String>::new());
}

#[test]
fn no_file_is_too_long_to_read() {
    let long: Vec<_> = files(".rs")
        .into_iter()
        .filter(|(path, text)| !is_test(path) && text.lines().count() > LONGEST_FILE)
        .map(|(path, _)| path)
        .collect();
    assert_eq!(long, Vec::<String>::new());
}

#[test]
fn the_tour_takes_ten_minutes() {
    let (tour, most) = TOUR;
    let lines: usize =
        tour.iter().map(|path| fs::read_to_string(root().join(path)).unwrap().lines().count()).sum();
    assert!(lines <= most, "the files of the tour have {lines} lines");
    let architecture = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for path in tour {
        assert!(architecture.contains(path), "ARCHITECTURE.md does not name {path}");
    }
}

#[test]
fn modules_of_the_engine_use_only_what_the_table_allows() {
    let mut wrong = Vec::new();
    for (path, text) in files(".rs") {
        let Some(inside) = path.strip_prefix("caret-engine/src/") else { continue };
        let module = inside.split(['/', '.']).next().unwrap();
        let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == module) else { continue };
        for used in text.split("crate::").skip(1) {
            let used: String =
                used.chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
            if used != module && !allowed.contains(&used.as_str()) && !is_test(&path) {
                wrong.push(format!("{path} uses {used}"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_table_of_modules_is_the_one_in_the_document() {
    let architecture = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for (module, allowed) in ARROWS {
        let names: Vec<String> = allowed.iter().map(|name| format!("`{name}`")).collect();
        let names = if names.is_empty() { "nothing of the engine".to_owned() } else { names.join(", ") };
        let row = format!("| `{module}` | {names} |");
        assert!(architecture.contains(&row), "ARCHITECTURE.md has no row {row}");
    }
}

#[test]
fn front_ends_do_not_reach_into_the_engine() {
    for (path, text) in files(".rs") {
        if path.starts_with("caret/src/front/") {
            assert!(!text.contains("caret_engine"), "{path} uses the engine");
        }
    }
}

#[test]
fn wire_formats_and_databases_stay_in_one_place() {
    let places =
        [("rusqlite::", "caret-engine/src/store/"), ("std::process::Command", "caret-engine/src/process/")];
    for (path, text) in files(".rs") {
        for (word, place) in places {
            let is_engine = path.starts_with("caret-engine/src/") && !is_test(&path);
            let is_used = text.split("#[cfg(test)]").next().is_some_and(|code| code.contains(word));
            assert!(!is_engine || !is_used || path.starts_with(place), "{path} uses {word}");
        }
    }
}

#[test]
fn what_a_model_reads_of_a_tool_is_prose_in_a_file() {
    for (path, text) in files(".rs") {
        if path.starts_with("caret-engine/src/tools/") && text.contains("ToolSpec {") && !is_test(&path) {
            let is_definition = path.ends_with("tools/mod.rs");
            assert!(is_definition || text.contains("include_str!"), "{path} describes a tool in code");
        }
    }
}

#[test]
fn no_test_file_is_forgotten() {
    for (path, text) in files("main.rs").into_iter().filter(|(path, _)| path.ends_with("tests/it/main.rs")) {
        let folder = root().join(&path);
        for entry in fs::read_dir(folder.parent().unwrap()).unwrap().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if let Some(module) = name.strip_suffix(".rs").filter(|module| *module != "main") {
                assert!(text.contains(&format!("mod {module};")), "{path} does not have {name}");
            }
        }
    }
}

#[test]
fn no_path_of_one_machine_is_in_the_repository() {
    let words = [["/wo", "rk/"].concat(), ["/ro", "ot/"].concat()];
    for ending in [".rs", ".md", ".toml", ".json", ".txt"] {
        for (path, text) in files(ending) {
            for word in &words {
                let found = text.match_indices(word.as_str()).any(|(at, _)| {
                    !text[..at].ends_with(|before: char| before.is_alphanumeric() || "._-~".contains(before))
                });
                assert!(!found, "{path} names {word}");
            }
        }
    }
}
