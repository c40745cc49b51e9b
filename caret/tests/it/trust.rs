//! The gate before a workspace may steer the agent.

use crate::program::{Home, bad, good, mode};

#[test]
fn print_mode_needs_trust() {
    let home = Home::new();
    let message = bad(home.run(&["-p", "hi"]));
    assert!(message.starts_with("⚠ Workspace Trust Required\n"), "{message}");
    assert!(
        message.ends_with("  ~/work\n\nPass --trust, --yolo, or -f if you trust this directory\n"),
        "{message}"
    );
    assert_eq!(home.run(&["--exit-codes=detailed", "-p", "hi"]).code, 77);
    assert!(!home.exists(".caret"), "a run that may not start writes nothing");
}

#[test]
fn trust_can_be_listed_added_and_removed() {
    let home = Home::new();
    assert_eq!(good(home.run(&["trust"])), "No trusted workspaces.\n");
    assert_eq!(good(home.run(&["trust", "add"])), "✓ Trusted ~/work\n");
    assert_eq!(good(home.run(&["trust", "list"])), "trusted  ~/work\n");
    let mark = home.path(".caret/projects").read_dir().unwrap().next().unwrap().unwrap().path();
    assert_eq!(std::fs::read(mark.join(".workspace-trusted")).unwrap(), b"");
    assert_eq!(mode(&mark.join(".workspace-trusted")), 0o600);
    home.write("work/.cursor/hooks.json", "{}");
    assert_eq!(good(home.run(&["trust"])), "changed  ~/work\n");
    assert_eq!(good(home.run(&["trust", "remove", "."])), "✓ No longer trusted: ~/work\n");
    assert_eq!(bad(home.run(&["trust", "remove"])), "error: it was not trusted: ~/work\n");
    assert_eq!(
        bad(home.run(&["trust", "add", "nowhere"])),
        "error: the workspace does not exist: ~/work/nowhere\n"
    );
}
