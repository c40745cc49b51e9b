//! Many at once, and some that die.

use super::*;
use crate::store::Which;
use crate::store::events::{Entry, Journal, Survives};
use crate::store::sqlite::Make;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::Barrier;

#[test]
fn many_start_on_nothing_and_take_turns_in_one_chat() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for worker in 0..8 {
            let path = folder.path();
            scope.spawn(move || {
                for number in 0..3 {
                    patient_turn(&store_at(path, true), &format!("{worker}-{number}"));
                }
            });
        }
    });
    check(folder.path(), 24);
}

#[test]
fn many_write_different_chats_without_meeting() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for worker in 0..8 {
            let path = folder.path();
            scope.spawn(move || {
                let session = SessionId::new(format!("chat-{worker}"));
                let chat = store_at(path, false).open(Path::new(CWD), &session).unwrap();
                (0..5).for_each(|number| drop(run(&*chat, turn(&format!("{number}"), "hi"))));
            });
        }
    });
    let store = store_at(folder.path(), false);
    assert_eq!(store.list(Which::Of(Path::new(CWD)), 99).unwrap().len(), 8);
    for worker in 0..8 {
        let chat = store.open(Path::new(CWD), &SessionId::new(format!("chat-{worker}"))).unwrap();
        assert_eq!(chat.events(0).unwrap().len(), 35);
    }
}

#[test]
fn a_file_that_many_make_at_once_is_made_once() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let start = Barrier::new(10);
        std::thread::scope(|scope| {
            for number in 1..=10 {
                let (path, start) = (folder.path(), &start);
                scope.spawn(move || {
                    start.wait();
                    let journal =
                        Journal::open(path, &SessionId::new(CHAT), Make::IfMissing).unwrap().unwrap();
                    let events = stamped(number, vec![opened()]);
                    journal
                        .write(&Entry { events: &events, ..Entry::default() }, Survives::PowerLoss)
                        .unwrap();
                });
            }
        });
        let journal = Journal::open(folder.path(), &SessionId::new(CHAT), Make::Never).unwrap().unwrap();
        let mut count = 0;
        let counted = journal.each(0, u64::MAX, |_| {
            count += 1;
            Ok(())
        });
        counted.unwrap();
        assert_eq!(count, 10);
    }
}

#[test]
fn bringing_the_documented_store_up_to_date_may_happen_at_any_time() {
    let folder = tempfile::tempdir().unwrap();
    patient_turn(&store_at(folder.path(), false), "first");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let path = folder.path();
            scope.spawn(move || {
                for _ in 0..20 {
                    store_at(path, false).fold(Path::new(CWD), &SessionId::new(CHAT)).unwrap();
                }
            });
        }
        (1..10).for_each(|number| patient_turn(&store_at(folder.path(), false), &number.to_string()));
    });
    check(folder.path(), 10);
}

/// A turn of the shared chat, as soon as nobody else is in one.
fn patient_turn(store: &DiskStore, name: &str) {
    let chat = store.open(Path::new(CWD), &SessionId::new(CHAT)).unwrap();
    let hold = loop {
        match chat.hold().unwrap() {
            Some(hold) => break hold,
            None => std::thread::yield_now(),
        }
    };
    let mut state = chat.state().unwrap();
    let events = stamped(state.last_seq, turn(name, name));
    for step in events.chunks(2) {
        chat.append(step).unwrap();
    }
    state.last_seq += events.len() as u64;
    chat.end_turn(&state).unwrap();
    drop(hold);
}

/// The turns stand one after the other, each whole, in our file and in the documented one.
fn check(folder: &Path, turns: usize) {
    let store = store_at(folder, true);
    let chat = store.open(Path::new(CWD), &SessionId::new(CHAT)).unwrap();
    let events = chat.events(0).unwrap();
    assert_eq!(events.len(), turns * 7);
    for (index, step) in events.chunks(7).enumerate() {
        let Event::TurnStarted { turn: name } = &step[0].event else { panic!("{step:?}") };
        assert_eq!(step, &stamped(index as u64 * 7, turn(name.as_str(), name.as_str()))[..]);
    }
    let before = chat.messages(u64::MAX).unwrap();
    for name in ["caret.db", "caret.db-wal", "caret.db-shm"] {
        std::fs::remove_file(chat.folder().unwrap().join(name)).unwrap();
    }
    let chat = store.open(Path::new(CWD), &SessionId::new(CHAT)).unwrap();
    assert_eq!(chat.messages(u64::MAX).unwrap().len(), before.len());
}

/// Starts this test program as a writer of the shared chat in `folder`.
fn writer(folder: &Path) -> Child {
    std::fs::write(folder.join("write-here"), "").unwrap();
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "store::tests::concurrency::a_process_writes_turns", "--nocapture"])
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// Is a writer when it is started by [`writer`]; says each number once it is recorded.
#[test]
fn a_process_writes_turns() {
    if !Path::new("write-here").exists() {
        return;
    }
    let store = store_at(Path::new("."), true);
    let chat = store.open(Path::new(CWD), &SessionId::new(CHAT)).unwrap();
    let hold = chat.hold().unwrap().expect("the one before is dead");
    for number in 0..200 {
        let mut state = chat.state().unwrap();
        for step in stamped(state.last_seq, turn(&number.to_string(), "hi")).chunks(2) {
            chat.append(step).unwrap();
            state.last_seq += step.len() as u64;
            writeln!(std::io::stdout(), "recorded {}", state.last_seq).unwrap();
        }
        chat.end_turn(&state).unwrap();
    }
    drop(hold);
}

#[test]
fn what_was_said_to_be_recorded_survives_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..12 {
        let mut child = writer(folder.path());
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let numbers =
            lines.map_while(Result::ok).filter_map(|line| line.split("recorded ").nth(1)?.parse().ok());
        let mut numbers = numbers.take(3 + round * 2);
        let told: u64 = numbers.by_ref().last().expect("the writer says what it recorded");
        child.kill().unwrap();
        child.wait().unwrap();
        let chat = store_at(folder.path(), true).open(Path::new(CWD), &SessionId::new(CHAT)).unwrap();
        let events = chat.events(0).unwrap();
        assert!(events.len() as u64 >= told, "round {round}: {} < {told}", events.len());
        assert!(events.iter().zip(1..).all(|(event, seq)| event.seq == seq));
        let hold = chat.hold().unwrap();
        let state = chat.state().unwrap();
        drop(hold);
        let closed = chat.events(0).unwrap();
        assert!(matches!(closed.last().unwrap().event, Event::TurnEnded { .. }));
        assert_eq!(state.last_seq, closed.len() as u64);
        for name in ["caret.db", "store.db"] {
            let file = rusqlite::Connection::open(chat.folder().unwrap().join(name)).unwrap();
            let sound: String = file.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
            assert_eq!(sound, "ok");
        }
    }
}

#[test]
fn ten_processes_start_on_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut children: Vec<Child> = (0..10).map(|_| writer(folder.path())).collect();
    // One of them has the chat; the others end at once because they do not wait.
    let first = children.iter_mut().map(|child| child.stdout.take().unwrap()).collect::<Vec<_>>();
    let recorded = first
        .into_iter()
        .any(|out| BufReader::new(out).lines().map_while(Result::ok).any(|line| line.contains("recorded 7")));
    for child in &mut children {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(recorded);
    let chat = store_at(folder.path(), true).open(Path::new(CWD), &SessionId::new(CHAT)).unwrap();
    assert!(chat.state().unwrap().last_seq >= 7);
}
