//! The engine as its hosts see it: whole turns over scripts, with real files and real processes.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(unreachable_pub, reason = "nothing is outside of a program")]

mod calls;
mod cancelling;
mod limits;
mod parallel;
mod permission;
mod processes;
mod recording;
mod retries;
mod sharing;
mod shell_ends;
mod shell_output;
mod shell_state;
mod steering;
mod store_failure;
mod support;
mod tiny;
mod wires;
mod workspace_gone;

#[test]
fn every_file_of_this_folder_is_a_module() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    let declared: Vec<String> = include_str!("main.rs")
        .lines()
        .filter_map(|line| Some(format!("{}.rs", line.strip_prefix("mod ")?.strip_suffix(';')?)))
        .collect();
    let mut there: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "main.rs")
        .collect();
    there.sort();
    assert_eq!(there, declared);
}
