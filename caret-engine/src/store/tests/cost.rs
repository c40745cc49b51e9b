//! What a turn costs must not depend on how long the chat is.

use super::*;
use crate::store::DiskStore;

/// Nanoseconds on a processor and bytes written by this thread.
#[derive(Clone, Copy, Debug)]
struct Spent {
    processor_ns: u64,
    written_bytes: u64,
}

fn spent() -> Spent {
    let schedule = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    let io = std::fs::read_to_string("/proc/thread-self/io").unwrap();
    let written = io.lines().find_map(|line| line.strip_prefix("write_bytes: ")).unwrap();
    Spent {
        processor_ns: schedule.split(' ').next().unwrap().parse().unwrap(),
        written_bytes: written.parse().unwrap(),
    }
}

/// One turn as a process of its own would have it: everything is opened anew, and each step is recorded.
fn one_turn(store: &DiskStore, number: usize) {
    let chat = store.open(Path::new(CWD), &SessionId::new(CHAT)).unwrap();
    let hold = chat.hold().unwrap().unwrap();
    let mut state = chat.state().unwrap();
    let events = stamped(state.last_seq, turn(&format!("t{number}"), &format!("question {number}")));
    for event in events.chunks(2) {
        chat.append(event).unwrap();
    }
    state.last_seq += events.len() as u64;
    state.turns += 1;
    chat.end_turn(&state).unwrap();
    drop(hold);
}

fn average(store: &DiskStore, turns: std::ops::Range<usize>) -> Spent {
    let count = turns.len() as u64;
    let before = spent();
    turns.for_each(|number| one_turn(store, number));
    let after = spent();
    Spent {
        processor_ns: (after.processor_ns - before.processor_ns) / count,
        written_bytes: (after.written_bytes - before.written_bytes) / count,
    }
}

#[test]
fn fifty_steps_write_little() {
    let folder = tempfile::tempdir().unwrap();
    let before = spent();
    let chat = store_at(folder.path(), false).open(Path::new(CWD), &SessionId::new(CHAT)).unwrap();
    let hold = chat.hold().unwrap().unwrap();
    let mut state = chat.state().unwrap();
    let mut record = |events| {
        let events = stamped(state.last_seq, events);
        state.last_seq += events.len() as u64;
        chat.append(&events).unwrap();
    };
    record(vec![opened(), started("t"), prompted("go")]);
    for number in 0..50 {
        let id = format!("call-{number}");
        record(vec![replied("msg", vec![call(&id)]), Event::ToolStarted { call: read_call(&id) }]);
        record(vec![read_ended(&id, &"some line of a file\n".repeat(20))]);
    }
    record(vec![replied("msg", vec![text("done")]), ended("t")]);
    chat.end_turn(&state).unwrap();
    drop((hold, chat));
    let after = spent();
    let written = after.written_bytes - before.written_bytes;
    println!("50 steps: {written} bytes, {} ns", after.processor_ns - before.processor_ns);
    assert!(written <= 1_500_000, "{written}");
}

#[test]
fn a_turn_in_a_long_chat_costs_what_one_in_a_short_chat_costs() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_at(folder.path(), false);
    (0..5).for_each(|number| one_turn(&store, number));
    let short = average(&store, 5..37);
    // Up to 2,000 messages in larger steps, so that the test is quick.
    let chat = store.open(Path::new(CWD), &SessionId::new(CHAT)).unwrap();
    for part in 0..10 {
        let events = (0..46).flat_map(|number| turn(&format!("l{part}-{number}"), "question")).collect();
        run(&*chat, events);
    }
    drop(chat);
    assert!(
        store.open(Path::new(CWD), &SessionId::new(CHAT)).unwrap().messages(u64::MAX).unwrap().len() >= 1_980
    );
    let long = average(&store, 1_000..1_064);
    println!("short {short:?}\nlong {long:?}");
    // Measured 0.8 to 1.1; the machine may be busy.
    assert!(long.processor_ns * 10 <= short.processor_ns * 18, "{short:?} {long:?}");
    // Measured 1.1 to 1.3 with the roots that fall into these turns, 0.6 without.
    assert!(long.written_bytes * 10 <= short.written_bytes * 15, "{short:?} {long:?}");
}
