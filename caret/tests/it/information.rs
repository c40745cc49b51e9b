//! The commands that only tell something.

use crate::program::{Home, bad, good};
use std::process::Stdio;

#[test]
fn the_version_is_one_line_however_it_is_asked_for() {
    let home = Home::new().without("HOME");
    let version = good(home.run(&["--version"]));
    assert_eq!(version.lines().count(), 1);
    let (day, hash) = version.trim_end().split_once('-').unwrap();
    assert!(day >= "2026.04.08" && day.len() == 10 && hash.len() == 7, "{version}");
    for words in [&["-v"][..], &["--version", "ls"], &["-p", "-v", "hi"]] {
        assert_eq!(good(home.run(words)), version);
    }
}

#[test]
fn about_has_the_keys_and_rows_that_other_programs_read() {
    let home = Home::new();
    let about: serde_json::Value =
        serde_json::from_str(&good(home.run(&["about", "--format", "json"]))).unwrap();
    assert_eq!(about["userEmail"], "ada@localhost");
    assert_eq!(about["model"], "Offline (built in)");
    assert_eq!(about["shell"], "zsh");
    assert_eq!(about["subscriptionTier"], serde_json::Value::Null);
    assert_eq!(about["cliVersion"].as_str().unwrap(), good(home.run(&["-v"])).trim_end());
    let text = good(home.run(&["about"]));
    let row = |label: &str| {
        let line = text.lines().find(|line| line.starts_with(label)).unwrap();
        line[20..].to_owned()
    };
    assert_eq!(row("User Email"), "ada@localhost");
    assert_eq!(row("CLI Version"), about["cliVersion"].as_str().unwrap());
}

#[test]
fn the_local_user_counts_as_signed_in() {
    let home = Home::new();
    assert_eq!(good(home.run(&["status"])), "✓ Logged in as ada@localhost\n");
    assert_eq!(good(home.run(&["whoami"])), "✓ Logged in as ada@localhost\n");
    let status: serde_json::Value =
        serde_json::from_str(&good(home.run(&["status", "--format", "json"]))).unwrap();
    assert_eq!((&status["status"], &status["isAuthenticated"]), (&"authenticated".into(), &true.into()));
}

#[test]
fn models_are_one_line_each() {
    let home = Home::new();
    let text = good(home.run(&["models"]));
    assert!(
        text.starts_with("Available models\n\noffline - Offline (built in)  (current, default)\n"),
        "{text}"
    );
    assert_eq!(good(home.run(&["--list-models"])), text);
    let json = good(home.run(&["models", "--format", "json", "--model", "script:x.toml"]));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let expected = serde_json::json!(
        {"id": "offline", "name": "Offline (built in)", "current": false, "default": true, "provider": "caret"}
    );
    assert_eq!((&json["models"][0], &json["current"]), (&expected, &"script:x.toml".into()));
    let message = "Cannot use this model: no-such-model. Available models: offline\n";
    assert_eq!(bad(home.run(&["-p", "-f", "--model", "no-such-model", "hi"])), message);
}

#[test]
fn looking_writes_nothing() {
    let home = Home::new();
    for words in [&["about"][..], &["status"], &["models"], &["doctor"], &["config"], &["trust"], &["update"]]
    {
        good(home.run(words));
    }
    assert!(!home.exists(".caret") && !home.exists(".cursor"));
}

#[test]
fn the_doctor_has_a_remedy_for_everything_that_is_not_well() {
    let home = Home::new();
    let report: serde_json::Value = serde_json::from_str(&good(home.run(&["doctor", "--json"]))).unwrap();
    for check in report["checks"].as_array().unwrap() {
        assert_eq!(check["status"] == "ok", check["remedy"].is_null(), "{check}");
    }
    let home = Home::new().with("PATH", "/nowhere");
    let ended = home.run(&["doctor"]);
    assert_eq!(ended.code, 1);
    assert!(ended.stdout.contains("✗ shell          neither bash nor sh is on PATH\n"), "{}", ended.stdout);
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = good(home.run(&["completions", shell]));
        assert!(script.contains("create-chat") && script.contains("output-format"), "{shell}");
    }
    assert!(bad(home.run(&["completions", "tcsh"])).contains("Allowed choices are bash"));
    assert!(good(home.run(&["man"])).contains(".TH caret 1"));
    good(home.run(&["man", "--out", "pages"]));
    assert!(home.exists("work/pages/caret.1") && home.exists("work/pages/caret-export.1"));
}

#[test]
fn links_are_made_once_and_nothing_else_is_replaced() {
    let home = Home::new();
    let ended = home.run(&["link", "--dir", "bin", "--quiet"]);
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    assert!(home.exists("work/bin/agent") && home.exists("work/bin/cursor-agent"));
    assert_eq!(home.run(&["link", "--dir", "bin"]).code, 0, "again is fine");
    home.write("work/other/cursor-agent", "somebody else's");
    let message = bad(home.run(&["link", "--dir", "other"]));
    assert!(
        message.contains("~/work/other/cursor-agent is there already and was not made by caret"),
        "{message}"
    );
    assert!(!home.exists("work/other/agent"), "both or none");
}

#[test]
fn a_reader_that_went_away_is_no_error() {
    let home = Home::new();
    for words in [&["--help"][..], &["completions", "bash"], &["config"], &["--version"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = home.command(words).stdout(Stdio::from(writer)).output().unwrap();
        assert_eq!(
            (output.status.code(), String::from_utf8(output.stderr).unwrap()),
            (Some(0), String::new())
        );
    }
}

#[test]
fn a_full_disk_behind_stdout_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let Ok(full) = full else { return };
    let output = Home::new().command(&["--help"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("error: stdout could not be written"));
}
