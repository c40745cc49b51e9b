//! `config`, and the files it shows and changes.

use crate::program::{Home, good, mode};

#[test]
fn values_are_shown_with_where_they_come_from() {
    let home = Home::new();
    home.write(".cursor/cli-config.json", r#"{"hints":false,"apiKey":"sk-123"}"#);
    home.write("work/.cursor/cli.json", r#"{"permissions":{"allow":["Shell(x)"],"deny":["Shell(rm)"]}}"#);
    let listed = good(home.run(&["config", "list", "--origin"]));
    assert!(listed.contains("hints = false  (user: ~/.cursor/cli-config.json)\n"), "{listed}");
    assert!(
        listed.contains("permissions.deny = [\"Shell(rm)\"]  (project: ~/work/.cursor/cli.json)\n"),
        "{listed}"
    );
    assert!(
        listed.contains("permissions.allow = []  (default)\n"),
        "an untrusted project allows nothing: {listed}"
    );
    assert!(listed.contains("apiKey = \"(hidden)\""), "{listed}");
    let forced = good(home.run(&["config", "get", "approvalMode", "--force", "--origin"]));
    assert_eq!(forced, "approvalMode = \"unrestricted\"  (flag: --force)\n");
}

#[test]
fn setting_and_unsetting_change_the_users_file_only() {
    let home = Home::new();
    home.write(".cursor/cli-config.json", "{}");
    good(home.run(&["config", "set", "editor.vimMode", "true"]));
    good(home.run(&["config", "set", "permissions.deny", r#"["Shell(rm)"]"#]));
    assert_eq!(good(home.run(&["config", "get", "editor.vimMode"])), "true\n");
    assert_eq!(good(home.run(&["config", "get", "permissions.deny"])), "[\"Shell(rm)\"]\n");
    good(home.run(&["config", "unset", "permissions.deny"]));
    assert_eq!(good(home.run(&["config", "get", "permissions.deny"])), "[]\n");
    assert_eq!(home.read(".cursor/cli-config.json"), "{}");
    assert_eq!((mode(&home.path(".caret/cli-config.json")), mode(&home.path(".caret"))), (0o600, 0o700));
    assert_eq!(good(home.run(&["config", "path"])), "~/.caret/cli-config.json\n");
}

#[test]
fn wrong_changes_are_refused_and_change_nothing() {
    let home = Home::new();
    home.write(".caret/cli-config.json", r#"{"x":1}"#);
    for (words, message) in [
        (
            &["config", "set", "approvalMode", "yes"][..],
            "must be one of allowlist, auto-review, unrestricted",
        ),
        (&["config", "set", "permissions.allow", "Shell(ls)"], "must be a list of texts"),
        (&["config", "set", "x.y", "1"], "'x' is a value and has no 'y' in it"),
        (&["config", "set", "a..b", "1"], "is not a name of a setting"),
        (&["config", "set"], "missing required argument 'key'"),
        (&["config", "set", "x"], "missing required argument 'value'"),
        (&["config", "unset", "nothing"], "is not set in"),
        (&["config", "get", "hintz"], "no setting 'hintz' is set\n(Did you mean hints?)"),
        (&["config", "list", "more"], "too many arguments"),
    ] {
        let told = home.run(words);
        assert!(told.code == 1 && told.stderr.contains(message), "{words:?}: {}", told.stderr);
    }
    assert_eq!(home.read(".caret/cli-config.json"), r#"{"x":1}"#);
}

#[test]
fn the_drop_in_names_use_the_documented_folder() {
    let home = Home::new().called("cursor-agent");
    good(home.run(&["config", "set", "hints", "false"]));
    assert!(home.exists(".cursor/cli-config.json") && !home.exists(".caret"));
}

#[test]
fn a_broken_file_is_one_warning() {
    let home = Home::new();
    home.write(".caret/cli-config.json", "{ broken");
    let ended = home.run(&["about"]);
    assert_eq!(ended.code, 0);
    assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
    assert!(ended.stderr.starts_with("⚠ ~/.caret/cli-config.json is broken"), "{}", ended.stderr);
    assert_eq!(home.read(".caret/cli-config.json"), "{ broken", "looking moves nothing");
    assert_eq!(home.run(&["config", "set", "hints", "true"]).code, 1);
    assert_eq!(home.read(".caret/cli-config.json"), "{ broken");
}
