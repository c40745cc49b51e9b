//! What the readers make of each stream.

use super::{NAMES, Talk, events, named, play, read, stream, streams, target, user};
use crate::model::{Chunk, ModelError};
use caret_protocol::content::{Block, Reply};
use caret_protocol::event::DeltaKind;
use expect_test::expect_file;

fn told(family: &str) -> String {
    let talk = Talk::new(Vec::new(), vec![user("go")]);
    let mut out = String::new();
    for (name, text) in streams(family) {
        let (shown, reply) = play(named(family).reader(&target(), &talk.request()), &events(&text));
        out.push_str(&format!("== {name}\n{}{}\n", show(&shown), outcome(&reply)));
    }
    out
}

/// Neighbouring pieces of the same kind are separated by bars.
fn show(chunks: &[Chunk]) -> String {
    let mut lines = String::new();
    let mut last = None;
    for chunk in chunks {
        let Chunk::Delta(kind, text) = chunk else { panic!("readers give only deltas") };
        if last == Some(*kind) {
            lines.push('|');
        } else {
            let name = if *kind == DeltaKind::Text { "says" } else { "thinks" };
            lines.push_str(&format!("{}{name} ", if last.is_some() { "\n" } else { "" }));
        }
        lines.push_str(&text.escape_debug().to_string());
        last = Some(*kind);
    }
    if last.is_some() { lines + "\n" } else { lines }
}

fn outcome(reply: &Result<Reply, ModelError>) -> String {
    let reply = match reply {
        Ok(reply) => reply,
        Err(error) => return format!("{error:?}\n"),
    };
    let usage = reply.usage;
    let counts = [usage.input, usage.output, usage.cache_read, usage.cache_write];
    let mut lines = format!("{:?} {counts:?}\n", reply.stop);
    for block in &reply.blocks {
        lines.push_str(&format!("  {}\n", serde_json::to_string(block).unwrap()));
    }
    lines
}

#[test]
fn chat_streams_become_these_replies() {
    expect_file!["../streams/chat/replies.txt"].assert_eq(&told("chat"));
}

#[test]
fn responses_streams_become_these_replies() {
    expect_file!["../streams/responses/replies.txt"].assert_eq(&told("responses"));
}

#[test]
fn messages_streams_become_these_replies() {
    expect_file!["../streams/messages/replies.txt"].assert_eq(&told("messages"));
}

#[test]
fn gemini_streams_become_these_replies() {
    expect_file!["../streams/gemini/replies.txt"].assert_eq(&told("gemini"));
}

#[test]
fn what_was_shown_is_what_the_reply_says() {
    let talk = Talk::new(Vec::new(), vec![user("go")]);
    // A server that begins anew cannot take back what was shown; a printed call is no text any more.
    let others = ["started_anew", "printed_call"];
    for family in NAMES {
        for (name, text) in streams(family).into_iter().filter(|(name, _)| !others.contains(&name.as_str())) {
            let (shown, reply) = play(named(family).reader(&target(), &talk.request()), &events(&text));
            let Ok(reply) = reply else { continue };
            let said = shown.iter().filter_map(|chunk| match chunk {
                Chunk::Delta(DeltaKind::Text, text) => Some(text.as_str()),
                _ => None,
            });
            assert_eq!(said.collect::<String>(), reply.text(), "{family} {name}");
        }
    }
}

#[test]
fn an_answer_that_was_not_streamed_is_the_same_answer() {
    let talk = Talk::new(Vec::new(), vec![user("go")]);
    for name in NAMES {
        let streamed = read(&*named(name), &talk, &stream(name, "two_calls")).unwrap();
        let unstreamed = read(&*named(name), &talk, &stream(name, "two_calls_unstreamed")).unwrap();
        assert_eq!(streamed, unstreamed, "{name}");
        assert_eq!(streamed.calls().count(), 2, "{name}");
    }
}

#[test]
fn a_printed_call_stays_text_where_vendors_make_real_calls() {
    let talk = Talk::new(Vec::new(), vec![user("go")]);
    let calls =
        |name: &str| read(&*named(name), &talk, &stream("chat", "printed_call")).unwrap().calls().count();
    assert_eq!((calls("chat"), calls("chat-openai")), (1, 0));
    let mut toolless = Talk::new(Vec::new(), vec![user("go")]);
    toolless.tools.clear();
    let reply = read(&*named("chat"), &toolless, &stream("chat", "printed_call")).unwrap();
    assert_eq!(reply.calls().count(), 0);
}

#[test]
fn ids_that_we_make_up_differ_between_steps() {
    let mut talk = Talk::new(Vec::new(), vec![user("go")]);
    let ids = |talk: &Talk| -> Vec<String> {
        let reply = read(&*named("gemini"), talk, &stream("gemini", "max_tokens")).unwrap();
        reply.calls().map(|call| call.id.0.clone()).collect()
    };
    let first = ids(&talk);
    talk.step = 1;
    assert_eq!((first, ids(&talk)), (vec!["caret_turn-1_0_0".into()], vec!["caret_turn-1_1_0".into()]));
}

#[test]
fn reasoning_comes_back_only_where_the_vendor_asks_for_it() {
    let talk = Talk::new(Vec::new(), vec![user("go")]);
    let opaque = |name: &str| {
        let reply = read(&*named(name), &talk, &stream("chat", "reasoning_content")).unwrap();
        reply.blocks.iter().filter(|block| matches!(block, Block::Opaque { .. })).count()
    };
    // The mark and the text.
    assert_eq!((opaque("chat"), opaque("chat-deepseek")), (0, 2));
}
