//! Chats that another program wrote, or went on with.

use super::*;
use crate::store::Which;
use caret_protocol::transcript::Message;
use rusqlite::Connection;
use sha2::{Digest as _, Sha256};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A store as another program writes it, by hand.
struct Foreign(Connection);

impl Foreign {
    fn make(folder: &Path) -> Self {
        std::fs::create_dir_all(folder).unwrap();
        let file = Connection::open(folder.join("store.db")).unwrap();
        let schema = "PRAGMA journal_mode=WAL; PRAGMA user_version=1;
            CREATE TABLE IF NOT EXISTS blobs (id TEXT PRIMARY KEY, data BLOB);
            CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT);";
        file.execute_batch(schema).unwrap();
        Self(file)
    }

    fn put(&self, data: &[u8]) -> Vec<u8> {
        let id = Sha256::digest(data).to_vec();
        self.0.execute("INSERT OR IGNORE INTO blobs VALUES (?1, ?2)", (hex(&id), data)).unwrap();
        id
    }

    fn latest(&self) -> Vec<u8> {
        let meta: String = self.0.query_row("SELECT value FROM meta", [], |row| row.get(0)).unwrap();
        let bytes = crate::store::nodes::unhex(&meta).unwrap();
        let about: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let id = about["latestRootBlobId"].as_str().unwrap().to_owned();
        self.0.query_row("SELECT data FROM blobs WHERE id = ?1", [id], |row| row.get(0)).unwrap()
    }

    fn about(&self) -> serde_json::Value {
        let meta: String = self.0.query_row("SELECT value FROM meta", [], |row| row.get(0)).unwrap();
        serde_json::from_slice(&crate::store::nodes::unhex(&meta).unwrap()).unwrap()
    }

    fn name(&self, root: &[u8]) {
        let id = hex(&self.put(root));
        let about = json!({
            "agentId": CHAT, "latestRootBlobId": id, "name": "theirs", "mode": "auto-run",
            "createdAt": 1_761_698_454_965u64, "blobEncryptionKey": "k",
        });
        let value = hex(about.to_string().as_bytes());
        self.0.execute("INSERT OR REPLACE INTO meta VALUES ('0', ?1)", [value]).unwrap();
    }

    /// Adds a question and an answer to a root.
    fn say(&self, root: &[u8], question: &str, answer: &str) -> Vec<u8> {
        let user = json!({"role": "user", "content": [{"type": "text", "text": format!("<user_query>\n{question}\n</user_query>")}]});
        let assistant =
            json!({"role": "assistant", "content": [{"type": "text", "text": answer}], "id": "1"});
        let list = [user, assistant].map(|message| self.put(message.to_string().as_bytes()));
        [&reference(1, &list[0]), &reference(1, &list[1]), root].concat()
    }
}

fn reference(field: u8, id: &[u8]) -> Vec<u8> {
    [&[field << 3 | 2, 32], id].concat()
}

fn old_form(foreign: &Foreign) {
    let system = foreign.put(br#"{"role":"system","content":"be good"}"#);
    let user = foreign.put(b"\x0a\x04ping\x12\x01u");
    let step = foreign.put(b"\x0a\x06\x0a\x04pong");
    let turn = foreign.put(&[reference(1, &user), reference(2, &step)].concat());
    let rest = reference(2, &turn);
    let said = foreign.say(&rest, "ping", "pong");
    foreign.name(&[reference(1, &system), said].concat());
}

fn new_form(foreign: &Foreign) {
    let user = foreign.put(b"\x0a\x04ping");
    let step = foreign.put(b"\x0a\x06\x0a\x04pong");
    let inner = [reference(1, &user), reference(2, &step), b"\x1a\x02r1\x28\x01".to_vec()].concat();
    let turn = foreign.put(&[&[0x0a, u8::try_from(inner.len()).unwrap()], inner.as_slice()].concat());
    // 4: a message in flight; 18: a path read; 22: the client.
    let rest =
        [reference(8, &turn), b"\x4a\x0afile:///ws\x22\x02{}\x92\x01\x01p\xb2\x01\x03cli".to_vec()].concat();
    let said = foreign.say(&rest, "ping", "pong");
    foreign.name(&said);
}

fn words(messages: &[Message]) -> Vec<String> {
    messages.iter().map(caret_protocol::transcript::plain).collect()
}

#[test]
fn a_chat_of_either_form_is_read_and_continued() {
    for make in [old_form, new_form] {
        let fixture = fixture();
        let foreign = Foreign::make(&fixture.chat_folder());
        make(&foreign);
        let before: Vec<(String, Vec<u8>)> = rows(&foreign);
        let chat = fixture.chat();
        assert_eq!(words(&chat.messages(u64::MAX).unwrap()), ["ping", "pong"]);
        assert_eq!(chat.state().unwrap().bytes, 8);
        assert!(!fixture.chat_folder().join("caret.db").exists(), "reading leaves no trace");
        let state = run(&*chat, turn("t1", "more"));
        assert_eq!(
            state.bytes,
            chat.messages(u64::MAX).unwrap().iter().map(crate::store::message_bytes).sum::<u64>()
        );
        let all = ["ping", "pong", "more", "Looking.", "one\ntwo\n", "answer to more"];
        assert_eq!(words(&fixture.chat().messages(u64::MAX).unwrap()), all);
        assert_eq!(fixture.chat().state().unwrap(), state);
        assert!(before.iter().all(|row| rows(&foreign).contains(row)), "nothing of theirs was changed");
        let root = crate::store::nodes::Root::decode(&foreign.latest()).unwrap();
        assert_eq!((root.turns.len(), root.old_turns.len()), (2, 0), "both turns can be seen");
        let about = foreign.about();
        assert_eq!((&about["name"], &about["mode"]), (&json!("theirs"), &json!("auto-run")));
        assert_eq!(about["blobEncryptionKey"], "k");
    }
}

fn rows(foreign: &Foreign) -> Vec<(String, Vec<u8>)> {
    let mut statement = foreign.0.prepare("SELECT id, data FROM blobs ORDER BY id").unwrap();
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn what_another_program_added_after_us_is_the_new_beginning() {
    let fixture = fixture();
    run(&*fixture.chat(), turn("t1", "ours"));
    let foreign = Foreign::make(&fixture.chat_folder());
    let root = foreign.latest();
    // Messages stand first in a root; theirs go behind ours.
    let ours = 34 * 4;
    let theirs = foreign.say(&[], "theirs", "yes");
    foreign.name(&[&root[..ours], &theirs, &root[ours..]].concat());
    let expected = ["ours", "Looking.", "one\ntwo\n", "answer to ours", "theirs", "yes"];
    let chat = fixture.chat();
    let hold = chat.hold().unwrap();
    let state = chat.state().unwrap();
    assert_eq!(words(&chat.messages(u64::MAX).unwrap()), expected);
    assert_eq!(
        state.bytes,
        chat.messages(u64::MAX).unwrap().iter().map(crate::store::message_bytes).sum::<u64>()
    );
    drop(hold);
    run(&*chat, vec![started("t2"), prompted("again"), ended("t2")]);
    let all = [&expected[..], &["again"]].concat();
    assert_eq!(words(&fixture.chat().messages(u64::MAX).unwrap()), all);
    run(&*chat, vec![Event::Rewound { turns: 2 }]);
    assert_eq!(words(&fixture.chat().messages(u64::MAX).unwrap()), expected[..4]);
    let root = crate::store::nodes::Root::decode(&foreign.latest()).unwrap();
    assert_eq!(root.messages.len(), 4, "going back reaches into what they wrote");
}

#[test]
fn without_our_own_file_the_documented_one_is_enough() {
    let fixture = fixture();
    run(&*fixture.chat(), turn("t1", "hi"));
    let before = fixture.chat().messages(u64::MAX).unwrap();
    for name in ["caret.db", "caret.db-wal", "caret.db-shm"] {
        std::fs::remove_file(fixture.chat_folder().join(name)).unwrap();
    }
    let after = fixture.chat().messages(u64::MAX).unwrap();
    assert_eq!(after, before);
    run(&*fixture.chat(), turn("t2", "more"));
    assert_eq!(fixture.chat().messages(u64::MAX).unwrap().len(), 8);
}

#[test]
fn after_power_loss_an_older_root_of_ours_is_still_ours() {
    let fixture = fixture();
    run(&*fixture.chat(), turn("t1", "one"));
    let foreign = Foreign::make(&fixture.chat_folder());
    let older: String = foreign.0.query_row("SELECT value FROM meta", [], |row| row.get(0)).unwrap();
    run(&*fixture.chat(), turn("t2", "two"));
    run(&*fixture.chat(), turn("t3", "three"));
    let before = fixture.chat().messages(u64::MAX).unwrap();
    foreign.0.execute("UPDATE meta SET value = ?1", [older]).unwrap();
    assert_eq!(fixture.chat().messages(u64::MAX).unwrap(), before);
    run(&*fixture.chat(), turn("t4", "four"));
    assert_eq!(fixture.chat().messages(u64::MAX).unwrap().len(), 16);
    assert_eq!(crate::store::nodes::Root::decode(&foreign.latest()).unwrap().messages.len(), 16);
}

#[test]
fn sessions_that_an_editor_had_are_listed_and_opened() {
    let fixture = fixture();
    let folder = fixture.folder.path().join("config/acp-sessions").join(CHAT);
    new_form(&Foreign::make(&folder));
    std::fs::write(
        folder.join("meta.json"),
        json!({"schemaVersion": 1, "cwd": CWD, "title": "ed"}).to_string(),
    )
    .unwrap();
    let listed = fixture.store.list(Which::Of(Path::new(CWD)), 9).unwrap();
    assert_eq!((listed.len(), listed[0].title.as_str(), listed[0].has_conversation), (1, "ed", true));
    assert!(fixture.store.list(Which::Of(Path::new("/other")), 9).unwrap().is_empty());
    assert_eq!(words(&fixture.chat().messages(u64::MAX).unwrap()), ["ping", "pong"]);
}

#[test]
fn a_chat_without_a_file_for_lists_is_listed_from_its_store() {
    let fixture = fixture();
    new_form(&Foreign::make(&fixture.chat_folder()));
    let mut listed = fixture.store.list(Which::All, 9).unwrap();
    let chat = listed.remove(0);
    assert_eq!(
        (chat.title.as_str(), chat.created_ms, chat.has_conversation),
        ("theirs", 1_761_698_454_965, true)
    );
    assert_eq!(chat.cwd, Path::new("/ws"));
}

#[test]
fn a_fork_takes_along_what_another_program_wrote() {
    let fixture = fixture();
    old_form(&Foreign::make(&fixture.chat_folder()));
    std::fs::write(
        fixture.chat_folder().join("meta.json"),
        json!({"schemaVersion": 1, "cwd": CWD, "title": "x"}).to_string(),
    )
    .unwrap();
    let fork = |name: &str| {
        fixture.store.fork(&SessionId::new(CHAT), &SessionId::new(name)).unwrap();
        fixture.store.open(Path::new(CWD), &SessionId::new(name)).unwrap()
    };
    assert_eq!(words(&fork("one").messages(u64::MAX).unwrap()), ["ping", "pong"]);
    run(&*fixture.chat(), turn("t1", "more"));
    let two = fork("two");
    assert_eq!(two.messages(u64::MAX).unwrap(), fixture.chat().messages(u64::MAX).unwrap());
    assert_eq!(two.state().unwrap(), fixture.chat().state().unwrap());
    run(&*two, turn("t2", "again"));
    assert_eq!(fixture.store.search("ping", Which::All, 9).unwrap().len(), 3, "in all three chats");
    assert_eq!(two.messages(u64::MAX).unwrap().len(), 10);
}
