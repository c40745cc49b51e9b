//! What is written can be read: by us after a restart or a crash, and by anybody who knows the documents.

use super::*;
use crate::store::blobs::Blobs;
use crate::store::messages::decode;
use crate::store::sqlite::Make;
use crate::store::transcripts::remember;
use crate::store::{MemoryStore, Which};
use caret_protocol::details::Todo;
use caret_protocol::event::Change;
use caret_protocol::transcript::Message;
use caret_protocol::workspace::{ShellState, Stamp};
use expect_test::expect;
use proptest::prelude::*;
use std::os::unix::fs::PermissionsExt as _;

#[test]
fn what_was_recorded_comes_back_after_a_restart() {
    let fixture = fixture();
    let events = [vec![opened()], turn("t1", "first"), turn("t2", "second")].concat();
    let kept = run(&*fixture.chat(), events.clone());
    let chat = fixture.chat();
    assert_eq!(chat.events(0).unwrap(), stamped(0, events.clone()));
    assert_eq!(chat.events(9).unwrap(), stamped(0, events)[9..]);
    assert_eq!(chat.messages(u64::MAX).unwrap().len(), 8);
    assert_eq!(chat.messages(8).unwrap().len(), 4);
    assert_eq!(chat.state().unwrap(), kept);
    assert_eq!(
        (kept.last_seq, kept.turns, kept.model.as_str(), kept.title.as_str()),
        (15, 2, "small", "first")
    );
}

#[test]
fn the_whole_state_comes_back() {
    let fixture = fixture();
    let chat = fixture.chat();
    let mut state = run(&*chat, turn("t1", "first"));
    state.todos = vec![Todo { id: "1".into(), content: "tea".into(), ..Todo::default() }];
    state.shell = Some(ShellState { cwd: "/x".into(), environment: Some(vec![("A".into(), "b".into())]) });
    let stamp = Stamp { size: 3, modified_ns: 1 << 70, inode: u64::MAX };
    state.seen = [("/a".into(), stamp), ("/b".into(), stamp)].into();
    chat.end_turn(&state).unwrap();
    assert_eq!(fixture.chat().state().unwrap(), state);
    state.seen.remove(Path::new("/a"));
    state.shell = None;
    chat.end_turn(&state).unwrap();
    assert_eq!(fixture.chat().state().unwrap(), state);
}

/// Reads a length-delimited or numeric field list, by hand.
fn by_hand(mut bytes: &[u8]) -> Vec<(u64, Vec<u8>)> {
    fn number(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let byte = bytes[0];
            *bytes = &bytes[1..];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        value
    }
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let key = number(&mut bytes);
        let value = number(&mut bytes);
        if key & 7 == 2 {
            let (inside, rest) = bytes.split_at(usize::try_from(value).unwrap());
            fields.push((key >> 3, inside.to_vec()));
            bytes = rest;
        } else {
            assert_eq!(key & 7, 0);
            fields.push((key >> 3, value.to_be_bytes().to_vec()));
        }
    }
    fields
}

/// Everything a chat's documented store says, read with nothing but SQL and the documents.
fn read_by_hand(folder: &Path) -> String {
    let file = rusqlite::Connection::open(folder.join("store.db")).unwrap();
    let version: i64 = file.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    let mode: String = file.query_row("PRAGMA journal_mode", [], |row| row.get(0)).unwrap();
    let meta: String = file.query_row("SELECT value FROM meta WHERE key='0'", [], |row| row.get(0)).unwrap();
    let blob = |id: &[u8]| -> Vec<u8> {
        let id: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
        file.query_row("SELECT data FROM blobs WHERE id = ?1", [id], |row| row.get(0)).unwrap()
    };
    let pairs = meta.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
    let meta: Vec<u8> = pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect();
    let about: serde_json::Value = serde_json::from_slice(&meta).unwrap();
    let root = about["latestRootBlobId"].as_str().unwrap().to_owned();
    let root: Vec<u8> =
        file.query_row("SELECT data FROM blobs WHERE id=?1", [root], |row| row.get(0)).unwrap();
    let mut out = format!("version {version} {mode}\n");
    out.push_str(
        &String::from_utf8(meta).unwrap().replace(about["latestRootBlobId"].as_str().unwrap(), "ROOT"),
    );
    for (field, value) in by_hand(&root) {
        match field {
            1 => out.push_str(&format!("\nmessage {}", String::from_utf8(blob(&value)).unwrap())),
            8 => {
                let turn = by_hand(&by_hand(&blob(&value))[0].1);
                for (field, value) in turn {
                    let shown = match field {
                        1 => shown(&by_hand(&blob(&value)), "user"),
                        2 => shown(&by_hand(&blob(&value)), ""),
                        _ => shown(&[(field, value)], "turn"),
                    };
                    out.push_str(&format!("\nturn {field}: {shown}"));
                }
            }
            26 => out.push_str(&format!("\n26: {}", u64::from_be_bytes(value.try_into().unwrap()))),
            _ => out.push_str(&format!("\n{field}: {}", String::from_utf8(value).unwrap())),
        }
    }
    out
}

/// The paths of fields that are messages, in steps.
const INSIDE: [&str; 8] = [".1", ".2", ".3", ".2.8", ".2.8.1", ".2.8.2", ".2.8.2.1", ".2.8.2.1.8"];

fn shown(fields: &[(u64, Vec<u8>)], path: &str) -> String {
    let field = |(field, value): &(u64, Vec<u8>)| {
        let path = format!("{path}.{field}");
        match value.len() {
            _ if INSIDE.contains(&path.as_str()) => format!("{field}{{{}}}", shown(&by_hand(value), &path)),
            8 if value[0] == 0 => {
                format!("{field}={}", u64::from_be_bytes(value.as_slice().try_into().unwrap()))
            }
            _ => format!("{field}={:?}", String::from_utf8_lossy(value)),
        }
    };
    fields.iter().map(field).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_reader_who_knows_only_the_documents_sees_the_conversation() {
    let fixture = fixture();
    run(&*fixture.chat(), [vec![opened()], turn("22222222-2222-4222-8222-222222222222", "hi")].concat());
    expect![[r#"
        version 1 wal
        {"agentId":"11111111-1111-4111-8111-111111111111","latestRootBlobId":"ROOT","name":"hi","mode":"default","createdAt":1790000000001,"lastUsedModel":"small","isRunEverything":false}
        message {"role":"user","content":[{"type":"text","text":"<user_query>\nhi\n</user_query>"}],"providerOptions":{"cursor":{"requestId":"22222222-2222-4222-8222-222222222222"}}}
        message {"role":"assistant","content":[{"type":"reasoning","text":"hm","providerOptions":{"cursor":{"modelName":"small"}},"signature":"sig"},{"type":"text","text":"Looking."},{"type":"tool-call","toolCallId":"call-22222222-2222-4222-8222-222222222222","toolName":"Read","args":{"path":"/home/user/project/a.txt"}}],"id":"msg_1","providerOptions":{"cursor":{"modelProviderMessageId":"msg_1"}}}
        message {"role":"tool","content":[{"type":"tool-result","toolCallId":"call-22222222-2222-4222-8222-222222222222","toolName":"Read","result":"one\ntwo\n"}],"id":"call-22222222-2222-4222-8222-222222222222","providerOptions":{"cursor":{"highLevelToolCallResult":{"output":{"success":{"content":"one\ntwo\n","isEmpty":false,"exceededLimit":false,"totalLines":3,"fileSize":8,"path":"/home/user/project/a.txt","readRange":{"startLine":1,"endLine":3},"relatedCursorRulePaths":[],"relatedCursorRules":[]}},"isError":false}}}}
        message {"role":"assistant","content":[{"type":"text","text":"answer to hi"}],"id":"msg_2","providerOptions":{"cursor":{"modelProviderMessageId":"msg_2"}}}
        turn 1: 1="hi" 25=1790000000003 26=1790000000003
        turn 2: 3{1="hm" 2=1 3=1790000000003 4=1790000000004}
        turn 2: 1{1="Looking." 2=1790000000003 3=1790000000004}
        turn 2: 2{8{1{1="/home/user/project/a.txt"} 2{1{1="one\ntwo\n" 4=3 5=8 7="/home/user/project/a.txt" 8{1=1 2=3}}}} 57="call-22222222-2222-4222-8222-222222222222" 59=1790000000000 60=1790000000006}
        turn 2: 1{1="answer to hi" 2=1790000000006 3=1790000000007}
        turn 3: 3="22222222-2222-4222-8222-222222222222"
        turn 5: 5=1
        9: file:///home/user/project
        22: cli
        26: 1790000000001
        27: Europe/Paris"#]].assert_eq(&read_by_hand(&fixture.chat_folder()));
}

#[test]
fn the_files_for_lists_and_readers_are_as_documented_and_private() {
    let fixture = fixture();
    let chat = fixture.chat();
    run(&*chat, turn("t1", "run ls"));
    run(&*chat, turn("t2", "again \"please\""));
    let folder = fixture.chat_folder();
    let data = fixture.folder.path().join("data/projects/home-user-project/agent-transcripts").join(CHAT);
    let transcript = data.join(format!("{CHAT}.jsonl"));
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    expect![[r#"
        {"schemaVersion":1,"createdAtMs":1790000000002,"updatedAtMs":1790000000014,"hasConversation":true,"cwd":"/home/user/project","title":"run ls"}
        ["run ls","again \"please\""]
        {"role":"user","message":{"content":[{"type":"text","text":"<user_query>\nrun ls\n</user_query>"}]}}
        {"role":"assistant","message":{"content":[{"type":"text","text":"Looking."},{"type":"tool_use","name":"Read","input":{"path":"/home/user/project/a.txt"}}]}}
        {"role":"assistant","message":{"content":[{"type":"text","text":"answer to run ls"}]}}
        {"type":"turn_ended","status":"success"}
        {"role":"user","message":{"content":[{"type":"text","text":"<user_query>\nagain \"please\"\n</user_query>"}]}}
        {"role":"assistant","message":{"content":[{"type":"text","text":"Looking."},{"type":"tool_use","name":"Read","input":{"path":"/home/user/project/a.txt"}}]}}
        {"role":"assistant","message":{"content":[{"type":"text","text":"answer to again \"please\""}]}}
        {"type":"turn_ended","status":"success"}
    "#]].assert_eq(&format!(
        "{}\n{}\n{}",
        read(&folder.join("meta.json")),
        read(&folder.join("prompt_history.json")),
        read(&transcript),
    ));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{path:?}");
    }
    assert_eq!((mode(&transcript), mode(&data), mode(&folder)), (0o600, 0o700, 0o700));
}

#[test]
fn a_long_list_of_prompts_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    let mut known = 0;
    for number in 0..160 {
        known = remember(folder.path(), &[format!("p{number}")], known).unwrap();
    }
    let list = std::fs::read(folder.path().join("prompt_history.json")).unwrap();
    let list: Vec<String> = serde_json::from_slice(&list).unwrap();
    assert_eq!((known, list.len(), list.last().map(String::as_str)), (109, 109, Some("p159")));
}

#[test]
fn a_turn_whose_process_died_is_ended_as_interrupted() {
    let fixture = fixture();
    run(&*fixture.chat(), turn("t1", "first"));
    let died = vec![
        started("t2"),
        prompted("second"),
        replied("m", vec![call("a"), call("b"), call("c")]),
        Event::ToolStarted { call: read_call("a") },
        read_ended("a", "x"),
        Event::ToolStarted { call: read_call("b") },
    ];
    fixture.chat().append(&stamped(7, died)).unwrap();
    let chat = fixture.chat();
    assert_eq!(chat.state().unwrap().last_seq, 13, "somebody else may be in that turn");
    let hold = chat.hold().unwrap();
    let state = chat.state().unwrap();
    assert_eq!((state.last_seq, state.turns), (17, 2));
    let ended =
        |id: &str, outcome| Event::ToolEnded { call: read_call(id), outcome, started_ms: 1_790_000_000_013 };
    let end =
        TurnEnd { reason: EndReason::Interrupted, usage: Usage::default(), duration_ms: 0, cost_usd: None };
    let closing: Vec<Event> = chat.events(13).unwrap().into_iter().map(|event| event.event).collect();
    assert_eq!(
        closing,
        [
            ended("b", Outcome::Unknown),
            Event::ToolStarted { call: read_call("c") },
            ended("c", Outcome::Cancelled),
            Event::TurnEnded { turn: TurnId::new("t2"), end },
        ]
    );
    assert_eq!(chat.state().unwrap(), state, "the second time there is nothing to do");
    assert_eq!(fixture.chat().state().unwrap(), state);
    let transcript = fixture.folder.path().join("data/projects/home-user-project/agent-transcripts");
    let lines = std::fs::read_to_string(transcript.join(CHAT).join(format!("{CHAT}.jsonl"))).unwrap();
    assert!(lines.ends_with("{\"type\":\"turn_ended\",\"status\":\"aborted\"}\n"), "{lines}");
    drop(hold);
}

#[test]
fn only_one_has_the_chat_at_a_time() {
    let fixture = fixture();
    let (one, other) = (fixture.chat(), fixture.chat());
    let hold = one.hold().unwrap();
    assert!(hold.is_some());
    assert!(other.hold().unwrap().is_none());
    assert!(one.hold().unwrap().is_none());
    drop(hold);
    assert!(other.hold().unwrap().is_some());
}

#[test]
fn a_title_that_was_given_wins_and_is_listed_at_once() {
    let fixture = fixture();
    let chat = fixture.chat();
    let title = || fixture.store.list(Which::All, 9).unwrap()[0].title.clone();
    let long = format!("\n  {}\nsecond line", "ab ".repeat(40));
    run(&*chat, turn("t1", &long));
    assert_eq!(title(), "ab ".repeat(20).trim_end());
    let named = Event::Configured { change: Change::Title { title: "mine".into() } };
    chat.append(&stamped(7, vec![named])).unwrap();
    assert_eq!(title(), "mine");
    let state = run(&*chat, turn("t2", "more"));
    assert_eq!((title().as_str(), state.title.as_str()), ("mine", "mine"));
    let blobs = Blobs::open(&fixture.chat_folder(), Make::Never).unwrap().unwrap();
    assert_eq!(blobs.name().unwrap().as_deref(), Some("mine"));
}

#[test]
fn a_chat_that_was_only_created_is_listed_empty_and_can_be_resumed() {
    let fixture = fixture();
    fixture.store.create(Path::new(CWD), &SessionId::new(CHAT), Some("later")).unwrap();
    let names = std::fs::read_dir(fixture.chat_folder()).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.collect::<Vec<_>>(), ["meta.json"]);
    let listed = fixture.store.list(Which::Of(Path::new(CWD)), 9).unwrap();
    assert_eq!((listed.len(), listed[0].has_conversation, listed[0].title.as_str()), (1, false, "later"));
    let chat = fixture.chat();
    assert_eq!(chat.state().unwrap(), ChatState { title: "later".into(), ..ChatState::default() });
    assert_eq!((chat.events(0).unwrap(), chat.messages(u64::MAX).unwrap()), (vec![], vec![]));
    run(&*chat, turn("t1", "hi"));
    let listed = fixture.store.list(Which::All, 9).unwrap();
    assert_eq!((listed[0].has_conversation, listed[0].title.as_str()), (true, "later"));
}

#[test]
fn opening_a_chat_writes_nothing() {
    let fixture = fixture();
    let chat = fixture.chat();
    assert_eq!(chat.state().unwrap(), ChatState::default());
    assert!(chat.messages(u64::MAX).unwrap().is_empty());
    assert!(!fixture.folder.path().join("config").exists());
}

/// The messages of the newest root.
fn root_messages(folder: &Path) -> Vec<Message> {
    let blobs = Blobs::open(folder, Make::Never).unwrap().unwrap();
    let root = blobs.root(&blobs.latest().unwrap().unwrap()).unwrap();
    let message = |(place, id)| decode(&blobs.get(id).unwrap().unwrap(), place);
    root.messages.iter().enumerate().flat_map(message).collect()
}

#[test]
fn in_a_long_chat_the_documented_store_waits_and_can_be_brought_up_to_date() {
    let fixture = fixture();
    let store = store_at(fixture.folder.path(), false);
    let chat = store.open(Path::new(CWD), &SessionId::new(CHAT)).unwrap();
    run(&*chat, (0..80).flat_map(|number| turn(&format!("t{number}"), "much")).collect());
    run(&*chat, turn("last", "more"));
    assert_eq!(root_messages(&fixture.chat_folder()).len(), 320);
    assert_eq!(chat.messages(u64::MAX).unwrap().len(), 324);
    store.fold(Path::new(CWD), &SessionId::new(CHAT)).unwrap();
    assert_eq!(root_messages(&fixture.chat_folder()), chat.messages(u64::MAX).unwrap());
}

#[test]
fn a_turn_that_goes_on_is_not_in_the_documented_store() {
    let fixture = fixture();
    let chat = fixture.chat();
    run(&*chat, turn("t1", "first"));
    chat.append(&stamped(7, vec![started("t2"), prompted("second")])).unwrap();
    fixture.store.fold(Path::new(CWD), &SessionId::new(CHAT)).unwrap();
    assert_eq!(root_messages(&fixture.chat_folder()).len(), 4);
}

/// Something a session does.
fn deed() -> impl Strategy<Value = Vec<Event>> {
    prop_oneof![
        4 => "[a-z]{1,3}".prop_map(|name| turn(&name, &name)),
        1 => (1usize..4).prop_map(|turns| vec![Event::Rewound { turns }]),
        1 => Just(vec![Event::Compacted { summary: "so far".into() }]),
        1 => "[a-z]{1,3}".prop_map(|name| vec![started(&name), prompted("a"), prompted("b"), ended(&name)]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn the_documented_store_and_memory_hold_the_same_messages(deeds in prop::collection::vec(deed(), 1..8)) {
        let fixture = fixture();
        let memory = MemoryStore::new();
        let in_memory = memory.open(Path::new(CWD), &SessionId::new(CHAT)).unwrap();
        for deed in deeds {
            let on_disk = run(&*fixture.chat(), deed.clone());
            prop_assert_eq!(run(&*in_memory, deed), on_disk);
        }
        let expected = in_memory.messages(u64::MAX).unwrap();
        prop_assert_eq!(&root_messages(&fixture.chat_folder()), &expected);
        prop_assert_eq!(fixture.chat().messages(u64::MAX).unwrap(), expected);
        prop_assert_eq!(fixture.chat().events(0).unwrap(), in_memory.events(0).unwrap());
    }
}
