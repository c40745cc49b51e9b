//! The chat commands over made-up chats.

use super::*;
use crate::output::Output;
use caret_protocol::content::Content;
use caret_protocol::ids::TurnId;
use std::cell::RefCell;

/// Chats that are only in memory.
struct Made(RefCell<Vec<SessionSummary>>);

fn made(chats: &[(&str, &str)]) -> Made {
    let chats = chats.iter().map(|(id, title)| SessionSummary {
        session: SessionId::new(*id),
        cwd: "/work".into(),
        title: (*title).to_owned(),
        created_ms: 0,
        updated_ms: 1_790_000_000_000,
        has_conversation: true,
    });
    Made(RefCell::new(chats.collect()))
}

impl Chats for Made {
    fn create(&self, _: &Path, _: &SessionId, _: Option<&str>) -> Result<(), StoreError> {
        Ok(())
    }
    fn list(&self, _: Which<'_>, most: usize) -> Result<Vec<SessionSummary>, StoreError> {
        Ok(self.0.borrow().iter().take(most).cloned().collect())
    }
    fn find(&self, which: Which<'_>, text: &str) -> Result<Vec<SessionSummary>, StoreError> {
        let is_it = |chat: &&SessionSummary| {
            (which == Which::All || which == Which::Of(&chat.cwd))
                && (chat.session.as_str().starts_with(text) || chat.title == text)
        };
        Ok(self.0.borrow().iter().filter(is_it).cloned().collect())
    }
    fn events(&self, _: &SessionSummary) -> Result<Vec<Stamped>, StoreError> {
        Ok(Vec::new())
    }
    fn messages(&self, _: &SessionSummary) -> Result<Vec<Message>, StoreError> {
        Ok(Vec::new())
    }
    fn remove(&self, chat: &SessionSummary) -> Result<(), StoreError> {
        self.0.borrow_mut().retain(|other| other.session != chat.session);
        Ok(())
    }
    fn fork(&self, _: &SessionSummary, _: &SessionId) -> Result<(), StoreError> {
        Ok(())
    }
    fn search(&self, _: &str, _: Which<'_>, _: usize) -> Result<Vec<(SessionSummary, String)>, StoreError> {
        Ok(Vec::new())
    }
}

fn message(failure: Failure) -> String {
    match failure {
        Failure::Told { message, .. } => message,
        Failure::NobodyReads => String::new(),
    }
}

#[test]
fn a_text_must_mean_exactly_one_chat() {
    let chats = made(&[("aa1", "fix tests"), ("aa2", "write docs"), ("bb", "fix tests")]);
    let find = |text| one(&chats, Path::new("/work"), text).map(|chat| chat.session.0).map_err(message);
    assert_eq!(find("aa1"), Ok("aa1".to_owned()));
    assert_eq!(find("write docs"), Ok("aa2".to_owned()));
    let elsewhere =
        one(&chats, Path::new("/other"), "write docs").map(|chat| chat.session.0).map_err(message);
    assert_eq!(elsewhere, Ok("aa2".to_owned()), "chats of other workspaces are found as well");
    assert_eq!(find("aa"), Err("error: 'aa' can mean several chats: aa1, aa2".to_owned()));
    assert_eq!(find("zz"), Err("error: there is no chat 'zz': `ls --all` lists all chats".to_owned()));
}

#[test]
fn nothing_is_removed_when_one_of_them_is_missing() {
    let chats = made(&[("aa", "one"), ("bb", "two")]);
    let remove = |ids: &[&str]| {
        let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
        remove_all(&chats, Path::new("/work"), &ids).map(|ids| ids.len()).map_err(message)
    };
    assert!(remove(&["aa", "zz"]).is_err());
    assert_eq!(chats.0.borrow().len(), 2);
    assert_eq!(remove(&["aa", "one"]), Ok(1));
    assert_eq!(chats.0.borrow().len(), 1);
}

#[test]
fn the_nth_latest_chat_is_counted_from_one() {
    let chats = made(&[("newest", ""), ("older", "")]);
    let nth = |number| nth(&chats, Path::new("/work"), number).map(|chat| chat.session.0).map_err(message);
    assert_eq!(nth(1), Ok("newest".to_owned()));
    assert_eq!(nth(2), Ok("older".to_owned()));
    let missing = "error: there are only 2 chats in this workspace, so there is no --resume=-3";
    assert_eq!(nth(3), Err(missing.to_owned()));
    let none = super::nth(&made(&[]), Path::new("/work"), 1);
    assert_eq!(none, Err(Failure::exact(Exit::NoSession, "No previous chats found.")));
}

#[test]
fn titles_cannot_reach_the_terminal_as_commands() {
    let chats = made(&[("aa", "evil\u{1b}[2J\ntitle")]);
    let chats = chats.0.borrow();
    assert_eq!(table(&chats, true), "aa  2026-09-21T14:13:20Z  /work  evil\\u{1b}[2J\\u{a}title\n");
    assert_eq!(table(&[], false), "No previous chats found.\n");
}

#[test]
fn picking_asks_again_until_there_is_a_good_number() {
    let chats = made(&[("aa", "one"), ("bb", "two")]);
    let chats = chats.0.borrow();
    let pick = |mut answers: &[u8]| {
        picker::pick(&chats, Output { quiet: true }, &mut answers).map(|chat| chat.session.0.clone())
    };
    assert_eq!(pick(b"0\n9\nx\n2\n"), Some("bb".to_owned()));
    assert_eq!(pick(b"\n"), None);
    assert_eq!(pick(b""), None);
}

#[test]
fn markdown_reads_like_the_conversation() {
    let chats = made(&[("aa", "say hi")]);
    let user = Message::User { content: vec![Content::text("hi\n")], turn: TurnId::new("t") };
    let tool = Message::Tool {
        call: caret_protocol::ids::CallId::new("c"),
        name: "Read".to_owned(),
        text: "line\n".to_owned(),
        is_error: false,
    };
    expect_test::expect![[r#"
        # say hi

        - chat: `aa`
        - workspace: `/work`
        - last change: 2026-09-21T14:13:20Z
        - cost: none

        ## User

        hi

        ### Result of Read

        ```
        line
        ```
    "#]]
    .assert_eq(&export::markdown(&chats.0.borrow()[0], &[user, tool], &sums::Sum::default()));
}
