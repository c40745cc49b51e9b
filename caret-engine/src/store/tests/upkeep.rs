//! Lists, finding, searching, copying and removing.

use super::*;
use crate::store::{FindError, Hit, Place, StoreError, Which};
use std::fs;
use std::time::{Duration, SystemTime};

const IDS: [&str; 3] = [
    "aaaa1111-0000-4000-8000-000000000001",
    "aaaa2222-0000-4000-8000-000000000002",
    "bbbb0000-0000-4000-8000-000000000003",
];

/// Three chats in two workspaces; the later in the list, the newer.
fn three() -> Fixture {
    let fixture = fixture();
    let chats = [("/ws/one", "fix the Parser"), ("/ws/one", "write docs"), ("/ws/two", "fix the tests")];
    for (index, (id, (cwd, prompt))) in IDS.iter().zip(chats).enumerate() {
        let chat = fixture.store.open(Path::new(cwd), &SessionId::new(*id)).unwrap();
        run(&*chat, turn("t1", prompt));
        let meta = fs::File::options().write(true).open(chat.folder().unwrap().join("meta.json")).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + index as u64);
        meta.set_modified(time).unwrap();
    }
    fixture
}

fn ids(list: &[caret_protocol::agent::SessionSummary]) -> Vec<&str> {
    list.iter().map(|chat| chat.session.as_str()).collect()
}

#[test]
fn lists_are_newest_first_and_of_one_workspace_or_all() {
    let fixture = three();
    let list = |which, most| fixture.store.list(which, most).unwrap();
    assert_eq!(ids(&list(Which::All, 9)), [IDS[2], IDS[1], IDS[0]]);
    assert_eq!(ids(&list(Which::All, 2)), [IDS[2], IDS[1]]);
    assert_eq!(ids(&list(Which::Of(Path::new("/ws/one")), 9)), [IDS[1], IDS[0]]);
    assert!(list(Which::Of(Path::new("/ws/three")), 9).is_empty());
    let newest = list(Which::All, 1).remove(0);
    assert_eq!((newest.title.as_str(), newest.cwd.as_path()), ("fix the tests", Path::new("/ws/two")));
}

#[test]
fn a_list_opens_no_database() {
    let fixture = three();
    for cwd in ["/ws/one", "/ws/two"] {
        for id in IDS {
            let folder =
                fixture.folder.path().join("config/chats").join(crate::store::project_id(Path::new(cwd)));
            for name in ["store.db", "caret.db"] {
                let path = folder.join(id).join(name);
                if path.exists() {
                    fs::write(path, "not a database").unwrap();
                }
            }
        }
    }
    assert_eq!(fixture.store.list(Which::All, 9).unwrap().len(), 3);
}

#[test]
fn a_chat_is_found_by_what_people_type() {
    let fixture = three();
    let find = |cwd: Option<&str>, wanted: &str| match fixture.store.find(cwd.map(Path::new), wanted) {
        Ok(chat) => chat.session.0,
        Err(FindError::None(_)) => "none".into(),
        Err(FindError::Ambiguous(list)) => format!("{} fit", list.len()),
        Err(error) => error.to_string(),
    };
    let table = [
        (None, IDS[0], IDS[0]),
        (None, "bbbb", IDS[2]),
        (None, "aaaa", "2 fit"),
        (None, "aaaa2", IDS[1]),
        (None, "DOCS", IDS[1]),
        (None, "fix the", "2 fit"),
        (Some("/ws/two"), "fix the", IDS[2]),
        (None, "fix the tests", IDS[2]),
        (Some("/ws/two"), IDS[0], "none"),
        (None, "", "none"),
        (None, "zzz", "none"),
    ];
    for (cwd, wanted, expected) in table {
        assert_eq!(find(cwd, wanted), expected, "{cwd:?} {wanted:?}");
    }
}

#[test]
fn words_are_found_in_titles_and_conversations() {
    let fixture = three();
    let search = |words: &str, which, most| -> Vec<(String, Place, u64, String)> {
        let hits: Vec<Hit> = fixture.store.search(words, which, most).unwrap();
        hits.into_iter().map(|hit| (hit.summary.session.0, hit.place, hit.seq, hit.snippet)).collect()
    };
    let expected = [
        (IDS[0].into(), Place::Title, 0, "fix the Parser".into()),
        (IDS[0].into(), Place::User, 2, "fix the Parser".into()),
        (IDS[0].into(), Place::Assistant, 6, "answer to fix the Parser".into()),
    ];
    assert_eq!(search("parser FIX", Which::All, 9), expected);
    assert_eq!(search("parser FIX", Which::All, 2), expected[..2]);
    assert_eq!(search("fix", Which::All, 99).len(), 6);
    assert_eq!(search("fix", Which::Of(Path::new("/ws/two")), 99).len(), 3);
    assert!(search("two", Which::All, 99).is_empty(), "what tools gave back is not searched");
    assert!(search("  ", Which::All, 99).is_empty());
}

#[test]
fn removing_takes_the_chat_and_its_transcript_and_nothing_else() {
    let fixture = three();
    let session = SessionId::new(IDS[0]);
    let chat = fixture.store.open(Path::new("/ws/one"), &session).unwrap();
    let hold = chat.hold().unwrap();
    assert!(matches!(fixture.store.remove(&session), Err(StoreError::Busy(_))));
    drop(hold);
    let transcripts = fixture.folder.path().join("data/projects/ws-one/agent-transcripts");
    assert_eq!(fs::read_dir(&transcripts).unwrap().count(), 2);
    fixture.store.remove(&session).unwrap();
    assert_eq!(fs::read_dir(&transcripts).unwrap().count(), 1);
    assert_eq!(ids(&fixture.store.list(Which::All, 9).unwrap()), [IDS[2], IDS[1]]);
    assert!(matches!(fixture.store.remove(&session), Err(StoreError::Missing(_))));
}

#[test]
fn a_fork_has_the_history_and_a_life_of_its_own() {
    let fixture = fixture();
    let state = run(&*fixture.chat(), [turn("t1", "first"), turn("t2", "second")].concat());
    let chat = fixture.chat();
    chat.append(&stamped(14, vec![started("t3"), prompted("unfinished")])).unwrap();
    let new = SessionId::new("fork");
    fixture.store.fork(&SessionId::new(CHAT), &new).unwrap();
    let fork = fixture.store.open(Path::new(CWD), &new).unwrap();
    assert_eq!(fork.messages(u64::MAX).unwrap(), chat.messages(14).unwrap());
    assert_eq!(fork.state().unwrap(), state);
    assert!(fork.events(0).unwrap().iter().all(|event| event.session == new));
    assert!(fork.folder().unwrap().join("store.db").exists());
    run(&*fork, turn("t4", "other way"));
    assert_eq!(chat.messages(14).unwrap().len(), 8);
    assert_eq!(fork.messages(u64::MAX).unwrap().len(), 12);
    assert!(matches!(fixture.store.fork(&SessionId::new(CHAT), &new), Err(StoreError::Exists(_))));
    fs::remove_file(fork.folder().unwrap().join("caret.db")).unwrap();
    fs::remove_file(fork.folder().unwrap().join("caret.db-wal")).unwrap();
    let reread = fixture.store.open(Path::new(CWD), &new).unwrap();
    assert_eq!(reread.messages(u64::MAX).unwrap().len(), 12, "the documented store has it all");
}

#[test]
fn a_chat_in_which_nothing_was_said_can_be_forked_too() {
    let fixture = fixture();
    let (old, new) = (SessionId::new(IDS[0]), SessionId::new(IDS[1]));
    fixture.store.create(Path::new(CWD), &old, Some("plans")).unwrap();
    fixture.store.fork(&old, &new).unwrap();
    let listed = fixture.store.find(Some(Path::new(CWD)), IDS[1]).unwrap();
    assert_eq!((listed.title.as_str(), listed.has_conversation), ("plans", false));
}
