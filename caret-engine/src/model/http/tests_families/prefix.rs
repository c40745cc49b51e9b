//! A request begins with the bytes of the one before, and thoughts come back as they were sent.

use super::super::Target;
use super::super::messages::without_marks;
use super::{Talk, named, read, result, stream, target, user};
use caret_protocol::content::{Block, Content};
use caret_protocol::ids::TurnId;
use caret_protocol::transcript::Message;
use serde_json::Value;

/// Each family with a stream that has thoughts and calls.
const LOOPS: [(&str, &str); 6] = [
    ("chat", "two_calls"),
    ("chat", "reasoning_details"),
    ("chat-mistral", "two_calls"),
    ("responses", "two_calls"),
    ("messages", "two_calls"),
    ("gemini", "two_calls"),
];

/// The body's text up to where the conversation can grow.
fn open_end(body: &Value) -> String {
    let text = body.to_string();
    text.trim_end_matches([']', '}']).to_owned()
}

fn body(family: &str, talk: &Talk) -> Value {
    let body = named(family).body(&target(), &talk.request()).unwrap();
    if family == "messages" { without_marks(&body) } else { body }
}

fn answered(family: &str, talk: &mut Talk, name: &str) {
    let folder = family.split('-').next().unwrap();
    let reply = read(&*named(family), talk, &stream(folder, name)).unwrap();
    let ids: Vec<String> = reply.calls().map(|call| call.id.0.clone()).collect();
    talk.messages.push(Message::Assistant { reply });
    // The answers come in another order than the calls.
    talk.messages.extend(ids.iter().rev().map(|id| result(id, &format!("done at {}", talk.step))));
    talk.step += 1;
}

#[test]
fn every_request_of_thirty_steps_begins_with_the_one_before() {
    for (family, name) in LOOPS {
        let summary = Message::Summary { text: "Earlier: nothing.".into() };
        let mut talk = Talk::new(vec![summary], vec![user("go")]);
        let mut before = open_end(&body(family, &talk));
        for step in 0..30 {
            answered(family, &mut talk, name);
            if step % 7 == 3 {
                let image = Content::Image { mime: "image/png".into(), data: "iVBO".into() };
                let content = vec![Content::text("also this"), image];
                talk.messages.push(Message::User { content, turn: TurnId::new("t") });
            }
            let now = body(family, &talk).to_string();
            assert!(now.starts_with(&before), "{family} step {step}:\n{before}\n{now}");
            before = now.trim_end_matches([']', '}']).to_owned();
        }
    }
}

#[test]
fn the_conversation_is_the_last_member_of_every_body() {
    for (family, key) in
        [("chat", "messages"), ("responses", "input"), ("messages", "messages"), ("gemini", "contents")]
    {
        let mut target = target();
        target.extra_body.insert("top_p".into(), serde_json::json!(0.5));
        let body = named(family).body(&target, &Talk::new(Vec::new(), vec![user("go")]).request()).unwrap();
        assert_eq!(body.as_object().unwrap().keys().next_back().unwrap(), key);
        assert_eq!(body["top_p"], 0.5);
    }
}

#[test]
fn what_belongs_to_the_past_and_to_the_turn_is_one_conversation() {
    for (family, name) in LOOPS {
        let mut talk = Talk::new(Vec::new(), vec![user("go")]);
        answered(family, &mut talk, name);
        let whole = body(family, &talk);
        let later = talk.messages.split_off(2);
        let split = Talk::new(talk.messages, later);
        assert_eq!(whole, body(family, &split), "{family}");
    }
}

#[test]
fn thoughts_come_back_byte_for_byte_over_three_tool_turns() {
    for (family, name, thoughts) in [
        (
            "chat",
            "reasoning_details",
            vec![
                r#""reasoning_details":[{"type":"reasoning.text","text":"Let me.","format":"f","index":0,"signature":"c2lnbg=="},{"type":"reasoning.encrypted","data":"AbC/+=","id":"r1","index":1}]"#,
            ],
        ),
        (
            "responses",
            "two_calls",
            vec![
                r#"{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"**Plan**"},{"type":"summary_text","text":"Look."}],"content":null,"encrypted_content":"gAAAAAB/+=x","status":"completed"},{"type":"message","role":"assistant","phase":"commentary","content":[{"type":"output_text","text":"I look."}]},{"type":"function_call","#,
            ],
        ),
        (
            "messages",
            "two_calls",
            vec![
                r#"{"type":"thinking","thinking":"Two files.","signature":"EqQB/+abc=="},{"type":"redacted_thinking","data":"RwAA/+=="},{"type":"text","text":"I look."},{"type":"tool_use","#,
            ],
        ),
        (
            "gemini",
            "two_calls",
            vec![
                r#"{"functionCall":{"name":"Read","args":{"path":"größe.txt"}},"thoughtSignature":"EqQB/+abc=="},{"functionCall":{"id":"fc-7","name":"Shell","args":{"command":"echo \"hi\""}}}"#,
            ],
        ),
    ] {
        let mut talk = Talk::new(Vec::new(), vec![user("go")]);
        for turn in 1..=3 {
            answered(family, &mut talk, name);
            // As the store gives them back.
            let stored = serde_json::to_string(&talk.messages).unwrap();
            talk.messages = serde_json::from_str(&stored).unwrap();
            let text = body(family, &talk).to_string();
            for thought in &thoughts {
                // Gemini's own id is rewritten when the model uses it again.
                let expected = if family == "gemini" { 1 } else { turn };
                assert_eq!(text.matches(thought).count(), expected, "{family}\n{text}");
            }
            assert_eq!(text.matches("EqQB/+abc==").count() % turn, 0, "{family}");
        }
    }
}

#[test]
fn thoughts_go_to_nobody_but_the_model_that_had_them() {
    for (family, name) in [
        ("chat", "reasoning_details"),
        ("responses", "two_calls"),
        ("messages", "two_calls"),
        ("gemini", "two_calls"),
    ] {
        let mut talk = Talk::new(Vec::new(), vec![user("go")]);
        answered(family, &mut talk, name);
        let other = Target { model: "other".into(), ..target() };
        let secrets = [
            "c2lnbg==",
            "AbC/+=",
            "gAAAAAB",
            "EqQB/+abc==",
            "RwAA",
            "Two files.",
            "**Plan**",
            "caret_origin",
            "commentary",
        ];
        let to_other_model = named(family).body(&other, &talk.request()).unwrap().to_string();
        let to_other_families = super::NAMES.iter().filter(|other| **other != family);
        let bodies = to_other_families.map(|other| body(other, &talk).to_string()).chain([to_other_model]);
        for text in bodies {
            let found: Vec<_> = secrets.iter().filter(|secret| text.contains(**secret)).collect();
            assert!(found.is_empty(), "{family}: {found:?} in {text}");
        }
        // And a mark is never sent, not even to its maker.
        assert!(!body(family, &talk).to_string().contains("caret_origin"));
        let Message::Assistant { reply } = &talk.messages[1] else { panic!("a reply") };
        assert!(matches!(&reply.blocks[0], Block::Opaque { .. }));
    }
}
