//! The program is killed at random moments: what it printed is in the store, and the chat goes on.
//!
//! 30 rounds by default, as many as `CARET_KILL_ROUNDS` says otherwise. The dice are the same every time;
//! where in its work the program is then killed depends on the machine, so a failure may not come again.

use crate::program::{Home, good};
use crate::running::{kind, processes, unique_word, within};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Steps of a turn; each prints five lines.
const STEPS: u64 = 4;
/// Bytes of every file that a turn writes.
const FILE: usize = 10_000;

#[expect(clippy::disallowed_methods, reason = "a test is told how much to do by its caller")]
fn rounds() -> u64 {
    std::env::var("CARET_KILL_ROUNDS").ok().map_or(30, |rounds| rounds.parse().unwrap())
}

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) % most
    }
}

/// A turn that writes, runs commands that leave something behind, and at last does not end.
fn model(home: &Home, word: &str) -> String {
    let mut replies: Vec<Value> = (0..STEPS)
        .map(|step| {
            let contents = format!("{{{{user}}}} {}", "x".repeat(FILE));
            json!([
                {"text": format!("Step {step}.")},
                {"call": "Write", "id": format!("w{step}"), "input": {"path": format!("{step}.txt"), "contents": contents}},
                {"call": "Shell", "id": format!("s{step}"), "input": {"command": format!("(sleep 600; : {word}) & echo {step}")}},
            ])
        })
        .collect();
    replies
        .push(json!([{"call": "Shell", "id": "last", "input": {"command": format!("sleep 600; : {word}")}}]));
    home.script(&Value::Array(replies))
}

/// Runs a turn until a random line and a random moment after it, then kills it; what it printed.
fn killed(home: &Home, words: &[&str], dice: &mut Dice) -> Vec<Value> {
    let mut run = home.start(words);
    for _ in 0..dice.below(3 + STEPS * 5) {
        if run.next_line().is_none() {
            panic!("the turn ended by itself: {:#?}", run.seen);
        }
    }
    let moment = Duration::from_micros(dice.below(12_000));
    let began = Instant::now();
    while began.elapsed() < moment {
        std::hint::spin_loop();
    }
    run.signal(Signal::KILL);
    let printed = run.end().stdout;
    // The last line may have been cut; then nobody was told anything by it.
    printed.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Everything that was printed is among the events of its turn.
fn check_kept(printed: &[Value], events: &[Value], prompt: &str) {
    let from = events.iter().rposition(|event| event["event"]["content"][0]["text"] == prompt);
    let turn = from.map(|from| &events[from..]).unwrap_or_default();
    let of = |name: &str| -> Vec<&Value> {
        turn.iter().map(|event| &event["event"]).filter(|event| event["type"] == name).collect()
    };
    for line in printed {
        let kept = match kind(line).as_str() {
            "system/init" => true,
            "user" => of("prompted").iter().any(|event| event["content"] == line["message"]["content"]),
            "assistant" => of("replied")
                .iter()
                .any(|event| event["reply"]["blocks"][0]["text"] == line["message"]["content"][0]["text"]),
            "tool_call/started" => {
                of("tool_started").iter().any(|event| event["call"]["id"] == line["call_id"])
            }
            "tool_call/completed" => of("tool_ended")
                .iter()
                .any(|event| event["call"]["id"] == line["call_id"] && event["outcome"]["type"] == "done"),
            other => panic!("{other} was not to be printed"),
        };
        assert!(kept, "printed and not kept in {prompt}: {line}");
    }
}

/// Every turn that was begun is ended once, and every call that was begun too.
fn check_closed(events: &[Value]) -> Vec<String> {
    let (mut calls, mut started): (HashSet<String>, HashSet<String>) = Default::default();
    let (mut open, mut ends) = (false, Vec::new());
    for event in events.iter().map(|event| &event["event"]) {
        let id = || event["call"]["id"].as_str().unwrap().to_owned();
        match event["type"].as_str().unwrap() {
            "turn_started" => {
                assert!(!open, "a turn begins inside another");
                open = true;
                started.clear();
            }
            "replied" => {
                let blocks = event["reply"]["blocks"].as_array().unwrap();
                calls.extend(
                    blocks.iter().filter_map(|block| block["call"]["id"].as_str().map(str::to_owned)),
                );
            }
            "tool_started" => assert!(calls.contains(&id()) && started.insert(id())),
            "tool_ended" => {
                assert!(calls.remove(&id()), "every call ends once");
                let outcome = event["outcome"]["type"].as_str().unwrap();
                let expected: &[&str] =
                    if started.contains(&id()) { &["done", "unknown", "cancelled"] } else { &[] };
                assert!(expected.contains(&outcome), "{outcome} is not one of {expected:?}");
            }
            "turn_ended" => {
                assert!(open && calls.is_empty(), "calls are open at the end of a turn: {calls:?}");
                open = false;
                ends.push(event["end"]["reason"]["type"].as_str().unwrap().to_owned());
            }
            _ => {}
        }
    }
    assert!(!open, "the last turn is open");
    ends
}

fn databases(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in folder.read_dir().into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(databases(&path)),
            path if path.extension().is_some_and(|ending| ending == "db") => found.push(path),
            _ => {}
        }
    }
    found
}

fn check_databases(home: &Home) {
    for path in databases(&home.path(".caret/chats")) {
        let database = rusqlite::Connection::open(&path).unwrap();
        let answer: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(answer, "ok", "{}", path.display());
    }
}

/// No file is half written.
fn check_files(home: &Home) {
    for step in 0..STEPS {
        if let Ok(text) = std::fs::read_to_string(home.path(&format!("work/{step}.txt"))) {
            assert!(text.starts_with("round ") && text.trim_end().len() > FILE, "{step}.txt is half written");
        }
    }
}

fn events(home: &Home, session: &str) -> Vec<Value> {
    let exported = good(home.run(&["export", session]));
    exported.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn what_was_printed_survives_a_kill_at_any_moment() {
    let home = Home::new();
    let word = unique_word();
    let model = model(&home, &word);
    good(home.run(&["trust", "add"]));
    let mut dice = Dice(20_261_116);
    let mut begun: HashMap<String, u64> = HashMap::new();
    let mut session = String::new();
    for round in 0..rounds() {
        // A new chat now and then: the first turn makes its files.
        if round % 6 == 0 {
            session = uuid::Uuid::new_v4().to_string();
        }
        let prompt = format!("round {round}");
        let words = [
            "-p",
            "--force",
            "--output-format",
            "stream-json",
            "--resume",
            &session,
            "--model",
            &model,
            &prompt,
        ];
        let printed = killed(&home, &words, &mut dice);
        assert!(within(Duration::from_secs(3), || processes(&word).is_empty()), "{:?}", processes(&word));
        check_databases(&home);
        check_files(&home);
        if !printed.is_empty() {
            check_kept(&printed, &events(&home, &session), &prompt);
            *begun.entry(session.clone()).or_default() += 1;
        }
    }
    for (session, begun) in begun {
        let words = ["-p", "--quiet", "--resume", &session, "what was my last question?"];
        let answer = good(home.run(&words));
        assert!(answer.contains("round "), "the chat goes on: {answer}");
        let mut ends = check_closed(&events(&home, &session));
        assert_eq!(ends.pop().as_deref(), Some("stopped"));
        assert!(ends.len() as u64 >= begun, "every turn that printed something is there: {ends:?}");
        assert!(ends.iter().all(|end| end == "interrupted"), "every killed turn is marked: {ends:?}");
    }
}
