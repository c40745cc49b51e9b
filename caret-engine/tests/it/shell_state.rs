//! The shell of a chat: what one command leaves is there for the next, and nothing else is.

use crate::support::{SESSION, Setup, Talk};
use std::collections::BTreeMap;

#[tokio::test]
async fn the_directory_stays_between_commands() {
    let setup = Setup::shell();
    setup.folder.put("sub/deep/a.txt", "");
    let mut talk = setup.open().await;
    talk.ran("cd sub && cd deep").await;
    assert_eq!(talk.ran("ls; cd ..").await.stdout, "a.txt\n");
    let expected = format!("{}\n", setup.folder.path("sub").display());
    assert_eq!(talk.ran("pwd").await.stdout, expected);
    assert_eq!(talk.ran("(cd /; true); pwd").await.stdout, expected);
}

const ODD: [(&str, &str); 9] = [
    ("A_SPACE", " two  words "),
    ("A_LINE", "first\nsecond\n"),
    ("A_QUOTE", "it's \"quoted\" \\ and `ticked`"),
    ("A_DOLLAR", "$HOME $(echo no) !history"),
    ("A_CONTROL", "\u{1}\u{7}\u{1b}[0m\t\r"),
    ("A_WIDE", "größer 日本 🦀"),
    ("A_NOTHING", ""),
    ("A_STAR", "* ? [a] {b,c} ~ # ;"),
    ("A_DECLARE", "\"\ndeclare -x EVIL=\"1"),
];

/// The environment as a command sees it.
async fn environment(talk: &mut Talk) -> BTreeMap<String, String> {
    let printed = talk.ran("env -0 | base64 -w0").await.stdout;
    let decoded = talk.ran(&format!("printf %s {printed} | base64 -d | tr '\\0' '\\a'")).await.stdout;
    // A bell stands between entries; the value that holds one is looked at by itself.
    decoded
        .split('\u{7}')
        .filter_map(|entry| entry.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[tokio::test]
async fn exported_variables_stay_whatever_is_in_them_also_in_a_new_engine() {
    let setup = Setup::shell().on_disk();
    let mut talk = setup.open().await;
    for (name, value) in ODD {
        talk.ran(&format!("export {name}={}", quoted(value))).await;
    }
    drop(talk);
    let mut talk = setup.open().await;
    for (name, value) in ODD {
        let is = talk.ran(&format!("[ \"${name}\" = {} ]", quoted(value))).await;
        assert_eq!(is.exit_code, 0, "{name} is not {value:?}");
    }
    assert_eq!(talk.ran("env | grep -c ^EVIL").await.stdout, "0\n");
}

#[tokio::test]
async fn what_is_not_exported_and_what_is_unset_is_gone() {
    let setup = Setup::shell();
    let mut talk = setup.open().await;
    talk.ran("export KEPT=1 LOST=1; plain=1").await;
    talk.ran("unset LOST TOLD").await;
    assert_eq!(talk.ran("echo \"$KEPT-$LOST-$plain-$TOLD\"").await.stdout, "1---\n");
}

#[tokio::test]
async fn an_exported_array_does_not_lose_the_rest() {
    let setup = Setup::shell();
    let mut talk = setup.open().await;
    talk.ran("export B=1; LIST=(a 'b )' \"c\\\"\" $'d\\n'); declare -A MAP=([k]='v)'); export LIST MAP NONE; export Z=2; cd /")
        .await;
    assert_eq!(talk.ran("echo \"$B$Z\"; pwd").await.stdout, "12\n/\n");
}

#[tokio::test]
async fn state_stays_after_exit_and_after_a_failure_and_not_after_a_kill() {
    let setup = Setup::shell();
    let mut talk = setup.open().await;
    assert_eq!(talk.ran("export A=1; cd /; exit 3").await.exit_code, 3);
    assert_eq!(talk.ran("set -eu; export B=2; false; export B=3").await.exit_code, 1);
    assert_eq!(talk.ran("export C=3; kill -KILL $$").await.signal, "SIGKILL");
    assert_eq!(talk.ran("export D=4; if").await.exit_code, 2);
    assert_eq!(talk.ran("echo \"$A-$B-${C-none}\"; pwd").await.stdout, "1-2-none\n/\n");
}

#[tokio::test]
async fn commands_see_what_was_told_and_nothing_else() {
    let setup = Setup::shell();
    let mut talk = setup.open().await;
    talk.ran("true").await;
    let seen = environment(&mut talk).await;
    let root = setup.folder.root().to_string_lossy().into_owned();
    let turn = seen.get("CURSOR_REQUEST_ID").cloned().unwrap_or_default();
    assert_eq!(turn, "turn-2");
    let expected = [
        ("CURSOR_AGENT", "1"),
        ("CURSOR_AGENT_CHAT_ID", SESSION),
        ("CURSOR_CONVERSATION_ID", SESSION),
        ("CURSOR_INVOKED_AS", "agent"),
        ("CURSOR_REQUEST_ID", "turn-2"),
        ("PATH", "/usr/local/bin:/usr/bin:/bin"),
        ("PWD", &root),
        ("SHLVL", "0"),
        ("TOLD", "yes"),
        ("_", "/usr/bin/env"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let mut seen = seen;
    // Bash counts itself in its own way.
    seen.insert("SHLVL".into(), "0".into());
    assert_eq!(seen, BTreeMap::from(expected));
}

#[tokio::test]
async fn no_file_of_ours_is_left_behind() {
    let setup = Setup::shell();
    let mut talk = setup.open().await;
    talk.ran("export A=1; echo hello").await;
    talk.session.close().await;
    let left: Vec<_> = std::fs::read_dir(setup.outputs()).into_iter().flatten().flatten().collect();
    assert_eq!(left.len(), 0, "{left:?}");
}
