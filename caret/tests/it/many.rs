//! Many processes at once: on one project, and on one chat.
//!
//! A small number by default; `CARET_MANY=full` runs 16 processes of 50 turns.

use crate::program::{Home, good};
use crate::running::{lines, user};
use serde_json::{Value, json};

/// Processes, and turns of each.
#[expect(clippy::disallowed_methods, reason = "a test is told how much to do by its caller")]
fn size() -> (usize, usize) {
    match std::env::var("CARET_MANY").as_deref() {
        Ok("full") => (16, 50),
        _ => (4, 10),
    }
}

/// A model that reads a file in every turn and says what the user said.
fn model(home: &Home) -> String {
    home.write("work/a.txt", "one\n");
    home.script_file(&json!({"version": 1, "at_end": "repeat", "turn": [
        {"emit": [{"text": "Reading."}, {"call": "Read", "id": "r", "input": {"path": "a.txt"}}]},
        {"emit": [{"text": "You said {{user}}."}]},
    ]}))
}

/// The prompts, the answers and the ends of turns that a chat holds, in order.
fn story(home: &Home, session: &str) -> Vec<String> {
    let mut story = Vec::new();
    for (expected, line) in (1..).zip(good(home.run(&["export", session])).lines()) {
        let event: Value = serde_json::from_str(line).unwrap();
        assert_eq!(event["seq"], json!(expected), "numbers follow each other");
        match event["event"]["type"].as_str().unwrap() {
            "prompted" => story.push(event["event"]["content"][0]["text"].as_str().unwrap().to_owned()),
            "replied" => {
                let block = &event["event"]["reply"]["blocks"][0];
                story.push(block["text"].as_str().unwrap_or_default().to_owned());
            }
            "turn_ended" => story.push(event["event"]["end"]["reason"]["type"].as_str().unwrap().to_owned()),
            _ => {}
        }
    }
    story
}

fn turn(prompt: &str) -> [String; 4] {
    [prompt.to_owned(), "Reading.".to_owned(), format!("You said {prompt}."), "stopped".to_owned()]
}

#[test]
fn processes_on_one_project_keep_their_own_chats() {
    let home = Home::new();
    let model = model(&home);
    good(home.run(&["trust", "add"]));
    let (processes, turns) = size();
    let chat = |number: usize| {
        let mut session = String::new();
        let mut expected = Vec::new();
        // Half of the turns in one process, half in processes of their own.
        let mut run = home.drive(&["--model", &model]);
        for at in 0..turns / 2 {
            let prompt = format!("prompt {at} of {number}");
            run.say(&user(&prompt));
            session = run.until("result/success")["session_id"].as_str().unwrap().to_owned();
            expected.extend(turn(&prompt));
        }
        run.hang_up();
        let ended = run.end();
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
        for at in turns / 2..turns {
            let prompt = format!("prompt {at} of {number}");
            let words =
                ["-p", "--output-format", "stream-json", "--resume", &session, "--model", &model, &prompt];
            let all = lines(&good(home.run(&words)));
            assert_eq!(all.last().unwrap()["subtype"], "success");
            expected.extend(turn(&prompt));
        }
        assert_eq!(story(&home, &session), expected);
    };
    std::thread::scope(|scope| {
        for number in 0..processes {
            scope.spawn(move || chat(number));
        }
    });
    let listed: Value = serde_json::from_str(&good(home.run(&["ls", "--format", "json"]))).unwrap();
    assert_eq!(listed["chats"].as_array().unwrap().len(), processes);
}

#[test]
fn processes_on_one_chat_take_turns() {
    let home = Home::new();
    let model = model(&home);
    good(home.run(&["trust", "add"]));
    let session = good(home.run(&["create-chat"])).trim_end().to_owned();
    let turns = size().1;
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (home, model, session) = (&home, &model, &session);
            scope.spawn(move || {
                let mut run = home.drive(&["--resume", session, "--model", model]);
                for at in 0..turns {
                    run.say(&user(&format!("{number}: {at}")));
                    assert_eq!(run.until("result/success")["session_id"], json!(session));
                }
                run.hang_up();
                let ended = run.end();
                assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
            });
        }
    });
    let story = story(&home, &session);
    assert_eq!(story.len(), 4 * turns * 4, "every turn is there: {story:#?}");
    let mut next = [0; 4];
    for told in story.chunks(4) {
        let (number, at) = told[0].split_once(": ").unwrap();
        assert_eq!(told, turn(&told[0]), "turns do not mix");
        let number: usize = number.parse().unwrap();
        assert_eq!(at, next[number].to_string(), "each process's turns are in order");
        next[number] += 1;
    }
    assert_eq!(next, [turns; 4]);
}
