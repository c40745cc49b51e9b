//! Bodies for conversations that have everything in them.

use super::super::{Target, history, origin, said};
use super::{NAMES, Talk, assistant, named, read, result, stream, target, user};
use crate::model::http::call_ids::IdShape;
use caret_protocol::content::{Block, Content, ToolCall};
use caret_protocol::ids::{CallId, TurnId};
use caret_protocol::transcript::Message;
use expect_test::{expect, expect_file};
use serde_json::{Value, json};

fn call(id: &str, path: &str) -> Block {
    Block::Call { call: ToolCall::new(id, "Read", json!({"path": path})) }
}

fn text(text: &str) -> Block {
    Block::Text { text: text.into() }
}

/// A summary, a reply that another vendor's model made, our own two calls with thoughts, an image, a word in
/// between, and a call that nobody answered.
fn everything(family: &str) -> Talk {
    let foreign = vec![
        Block::Opaque { family: "other".into(), raw: json!({"type": "caret_origin", "model": "small"}) },
        Block::Thinking { text: "foreign thought".into(), signature: Some("foreign signature".into()) },
        Block::Opaque { family: "other".into(), raw: json!({"foreign": "block"}) },
        text("I read it."),
        call("functions.Read:0", "old.txt"),
    ];
    let before = vec![
        Message::Summary { text: "They spoke about files.".into() },
        user("read old.txt"),
        assistant(foreign),
        result("functions.Read:0", "old text"),
        assistant(vec![text("It is old.")]),
    ];
    let picture = Content::Image { mime: "image/png".into(), data: "iVBORw0KGgo=".into() };
    let file = Content::Resource { uri: "file:///a.md".into(), text: "# A".into() };
    let link = Content::Link { uri: "file:///b.md".into(), name: "b".into() };
    let content = vec![Content::text("and this?"), picture, file, link];
    let mut talk = Talk::new(before, vec![Message::User { content, turn: TurnId::new("t") }]);
    let reply = read(&*named(family), &talk, &stream(family, "two_calls")).unwrap();
    let ids: Vec<String> = reply.calls().map(|call| call.id.0.clone()).collect();
    talk.messages.push(Message::Assistant { reply });
    talk.messages.push(result(&ids[1], "hi\n"));
    talk.messages.push(Message::Tool {
        call: CallId::new(ids[0].clone()),
        name: "Read".into(),
        text: "Error: File not found".into(),
        is_error: true,
    });
    talk.messages.push(user("hurry up"));
    let malformed = ToolCall {
        malformed: Some("{\"path\": x}".into()),
        ..ToolCall::new("x~2", "no such tool", json!({}))
    };
    talk.messages.push(assistant(vec![call("again", "c.txt"), Block::Call { call: malformed }]));
    talk.messages.push(result("again", ""));
    talk.messages.push(user("go on"));
    talk
}

fn pretty(family: &str, target: &Target) -> String {
    let body = named(family).body(target, &everything(family).request()).unwrap();
    serde_json::to_string_pretty(&body).unwrap() + "\n"
}

#[test]
fn a_chat_request_looks_like_this() {
    expect_file!["requests/chat.json"].assert_eq(&pretty("chat", &target()));
}

#[test]
fn a_responses_request_looks_like_this() {
    expect_file!["requests/responses.json"].assert_eq(&pretty("responses", &target()));
}

#[test]
fn a_messages_request_looks_like_this() {
    expect_file!["requests/messages.json"].assert_eq(&pretty("messages", &target()));
}

#[test]
fn a_gemini_request_looks_like_this() {
    expect_file!["requests/gemini.json"].assert_eq(&pretty("gemini", &target()));
}

#[test]
fn a_model_without_eyes_gets_a_note() {
    let blind = Target { images: false, ..target() };
    for name in NAMES {
        let text = pretty(name, &blind);
        assert!(text.contains("[a picture (image/png) was here; this model takes no pictures]"), "{name}");
        assert!(!text.contains("iVBORw0KGgo"), "{name}");
        assert!(pretty(name, &target()).contains("iVBORw0KGgo"), "{name}");
    }
}

/// Everything of a body but the conversation and the tools.
fn head(family: &str, target: &Target) -> String {
    let mut talk = Talk::new(Vec::new(), vec![user("go")]);
    talk.tools.truncate(1);
    let mut body = named(family).body(target, &talk.request()).unwrap();
    let object = body.as_object_mut().unwrap();
    for key in ["messages", "input", "contents", "tools", "system", "systemInstruction", "instructions"] {
        object.shift_remove(key);
    }
    format!("{family} {} {body}", named(family).path(target))
}

#[test]
fn dialects_and_effort_change_only_the_head() {
    let bare = Target { effort: None, thinking: false, max_output: 0, ..target() };
    let second = Target { model: "models/gemini-2.5-flash".into(), effort: Some("high".into()), ..target() };
    let tuned = Target {
        extra_body: json!({"generationConfig": {"temperature": 0}, "tool_choice": null})
            .as_object()
            .cloned()
            .unwrap(),
        ..target()
    };
    let mut lines: Vec<String> = super::super::FAMILIES.iter().map(|name| head(name, &target())).collect();
    lines.extend(NAMES.iter().map(|name| head(name, &bare)));
    lines.push(head("gemini", &second));
    lines.push(head("gemini", &tuned));
    lines.push(head("chat", &tuned));
    expect![[r#"
        chat /chat/completions {"model":"small","stream":true,"stream_options":{"include_usage":true},"max_tokens":8000,"reasoning_effort":"medium","tool_choice":"auto"}
        chat-openai /chat/completions {"model":"small","stream":true,"stream_options":{"include_usage":true},"max_completion_tokens":8000,"reasoning_effort":"medium","prompt_cache_key":"session-1","parallel_tool_calls":true,"tool_choice":"auto"}
        chat-mistral /chat/completions {"model":"small","stream":true,"max_tokens":8000,"reasoning_effort":"medium","tool_choice":"auto"}
        chat-deepseek /chat/completions {"model":"small","stream":true,"stream_options":{"include_usage":true},"max_tokens":8000,"reasoning_effort":"medium","tool_choice":"auto"}
        responses /responses {"model":"small","stream":true,"store":false,"include":["reasoning.encrypted_content"],"reasoning":{"effort":"medium","summary":"auto"},"max_output_tokens":8000,"prompt_cache_key":"session-1","tool_choice":"auto","parallel_tool_calls":true}
        responses-local /responses {"model":"small","stream":true,"store":false,"include":["reasoning.encrypted_content"],"reasoning":{"effort":"medium","summary":"auto"},"max_output_tokens":8000,"prompt_cache_key":"session-1","tool_choice":"auto","parallel_tool_calls":true}
        messages /v1/messages {"model":"small","max_tokens":8000,"stream":true,"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"medium"},"tool_choice":{"type":"auto"}}
        messages-local /v1/messages {"model":"small","max_tokens":8000,"stream":true,"thinking":{"type":"adaptive","display":"summarized"},"output_config":{"effort":"medium"},"tool_choice":{"type":"auto"}}
        gemini /models/small:streamGenerateContent?alt=sse {"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}},"generationConfig":{"maxOutputTokens":8000,"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"MEDIUM"}}}
        chat /chat/completions {"model":"small","stream":true,"stream_options":{"include_usage":true},"tool_choice":"auto"}
        responses /responses {"model":"small","stream":true,"store":false,"prompt_cache_key":"session-1","tool_choice":"auto","parallel_tool_calls":true}
        messages /v1/messages {"model":"small","max_tokens":4096,"stream":true,"tool_choice":{"type":"auto"}}
        gemini /models/small:streamGenerateContent?alt=sse {"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}}}
        gemini /models/gemini-2.5-flash:streamGenerateContent?alt=sse {"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}},"generationConfig":{"maxOutputTokens":8000,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":24576}}}
        gemini /models/small:streamGenerateContent?alt=sse {"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}},"generationConfig":{"maxOutputTokens":8000,"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"MEDIUM"},"temperature":0}}
        chat /chat/completions {"model":"small","stream":true,"stream_options":{"include_usage":true},"max_tokens":8000,"reasoning_effort":"medium","generationConfig":{"temperature":0}}"#]].assert_eq(&lines.join("\n"));
}

#[test]
fn an_unknown_family_is_nobody() {
    assert!(super::super::family("smoke").is_none());
}

#[test]
fn mistral_gets_ids_of_nine_characters() {
    let body = named("chat-mistral").body(&target(), &everything("chat").request()).unwrap();
    let messages = body["messages"].as_array().unwrap();
    let made = messages.iter().flat_map(|message| message["tool_calls"].as_array().into_iter().flatten());
    let made: Vec<&str> = made.map(|call| call["id"].as_str().unwrap()).collect();
    let answered: Vec<&str> =
        messages.iter().filter_map(|message| message["tool_call_id"].as_str()).collect();
    assert_eq!(made, answered);
    assert!(
        made.iter().all(|id| id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())),
        "{made:?}"
    );
}

/// The conversation as entries, one line each.
fn entries(messages: Vec<Message>) -> String {
    let rules = history::Rules {
        origin: origin::Origin { family: "messages", model: "small".into() },
        shape: IdShape::Word,
        sight: said::Sight::Seeing,
    };
    let talk = Talk::new(Vec::new(), messages);
    let lines: Vec<String> = history::entries(&rules, &talk.request()).unwrap().iter().map(line).collect();
    lines.join("\n")
}

fn line(entry: &history::Entry<'_>) -> String {
    match entry {
        history::Entry::User(pieces) => format!("user {}", pieces.len()),
        history::Entry::Model(parts) => format!("model {}", parts.len()),
        history::Entry::Results(answers) => {
            let answers: Vec<String> =
                answers.iter().map(|one| format!("{}={:?}", one.id, one.text)).collect();
            format!("results {}", answers.join(" "))
        }
    }
}

#[test]
fn every_call_has_one_result_right_behind_it_whatever_the_store_says() {
    let talk = vec![
        user("go"),
        result("nobody", "a result without a call"),
        assistant(vec![call("a", "1"), call("b", "2")]),
        user("said while they ran"),
        result("b", "two"),
        result("a", "one"),
        result("a", "one again"),
        assistant(vec![call("a", "3"), call("a", "4")]),
        result("a", "three"),
        assistant(vec![]),
        assistant(vec![text(" ")]),
        user(" "),
        user("after"),
        assistant(vec![call("c", "5")]),
    ];
    expect![[r#"
        user 1
        model 2
        results a="one" b="two"
        user 1
        model 2
        results call_zspqc11hheuiomr5qvyq="three" call_ww0gavqrtfbvi2gnovk0="This call was interrupted and has no result. Check before you repeat it."
        user 1
        model 1
        results c="This call was interrupted and has no result. Check before you repeat it.""#]].assert_eq(&entries(talk));
}

#[test]
fn reasoning_that_led_to_nothing_is_not_sent_again() {
    for (family, stream_name) in
        [("responses", "reasoning_cut_by_the_cap"), ("messages", "unsigned_thinking")]
    {
        let mut talk = Talk::new(Vec::new(), vec![user("go")]);
        let reply = read(&*named(family), &talk, &stream(family, stream_name)).unwrap();
        talk.messages.extend([Message::Assistant { reply }, user("go on")]);
        let body: Value = named(family).body(&target(), &talk.request()).unwrap();
        let text = body.to_string();
        assert!(!text.contains("\"type\":\"reasoning\"") && !text.contains("Hm."), "{text}");
    }
}

#[test]
fn at_most_four_marks_are_made_and_the_older_one_stays_where_it_was() {
    let marks = |body: &Value| body.to_string().matches("cache_control").count();
    let mut talk = Talk::new(Vec::new(), vec![user("go")]);
    let first = named("messages").body(&target(), &talk.request()).unwrap();
    talk.messages.extend([assistant(vec![call("a", "1")]), result("a", "one")]);
    let second = named("messages").body(&target(), &talk.request()).unwrap();
    talk.messages.extend([assistant(vec![call("b", "1")]), result("b", "two")]);
    let third = named("messages").body(&target(), &talk.request()).unwrap();
    assert_eq!([marks(&first), marks(&second), marks(&third)], [3, 4, 4]);
    assert_eq!(first["messages"][0], second["messages"][0]);
    assert_eq!(second["messages"][2], third["messages"][2]);
}
