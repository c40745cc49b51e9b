//! One script, four wires: what goes over HTTP and through our readers gives the events that the script gives
//! inside the process.

use crate::support::{Setup, script};
use caret_engine::model::Model;
use caret_engine::model::http::endpoint::{Api, Endpoint};
use caret_engine::model::http::mock::{Mock, MockSettings, serve};
use caret_engine::model::http::provider::HttpModel;
use caret_engine::model::http::transport::{Network, Transport};
use caret_engine::model::http::{Target, family};
use caret_protocol::content::Block;
use caret_protocol::event::Event;
use caret_testkit::check_turns;
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::num::NonZeroUsize;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

const SCRIPT: &str = r#"
model = "demo"

[[turn]]
emit = [
  { thinking = "Look first.", signature = "sig1" },
  { text = "Grüße: {{user}} — reading.", chunk = 4 },
  { call = "Read", id = "c1", input = { path = "a.txt" }, chunk = 3 },
  { call = "LS", id = "c2", input = { path = "." } },
  { usage = { input = 900, output = 30, cached = 800 } },
]

[[turn]]
expect = { tools = ["Read"], user = "schau" }
emit = [
  { call = "Write", id = "c3", input = { path = "ü/日本.txt", contents = "zeile „eins“\n\t\"zwei\" 🦀\n" }, chunk = 1 },
  { usage = { input = 120, output = 40 } },
]

[[turn]]
emit = [ { text = "Oops." }, { call = "Read", id = "c4", malformed = "{\"path\": \"a.t" }, { usage = { input = 1 } } ]

[[turn]]
emit = [
  { error = { status = 429, retry_after_ms = 20, message = "slow down" } },
  { text = "After " }, { text = "the wait: " },
  { call = "Read", id = "c5", input = { path = "missing.txt", offset = 1, limit = 2 } },
  { usage = { input = 300, output = 10, cached = 200 } },
]

[[turn]]
emit = [
  { text = "half a sen" }, { cut = true }, { text = "tence, then all of it: {{result.c1 | lines}}" },
  { usage = { input = 2000, output = 7, cached = 1500 } },
]
"#;

/// A model that gets the script over a wire; the tasks serve it.
async fn over(text: &str, api: Api, split: Option<NonZeroUsize>) -> (HttpModel, JoinSet<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let scripted = script(text);
    let (id, name) = (scripted.id().to_owned(), scripted.name().to_owned());
    let mock = Arc::new(Mock::new(scripted, MockSettings { split, ..MockSettings::new(api) }));
    let mut tasks = JoinSet::new();
    tasks.spawn(async move { drop(serve(listener, mock).await) });
    let target = Target { model: "demo".into(), max_output: 4096, thinking: true, ..Target::default() };
    let model = HttpModel {
        id,
        name,
        family: Arc::from(family(api.name()).unwrap()),
        endpoint: Endpoint::new(api, Some(&base)),
        target,
        transport: Arc::new(Transport::new(Network::default())),
    };
    (model, tasks)
}

/// The events of one whole turn, without what differs from run to run.
async fn events(mut setup: Setup) -> Vec<Value> {
    setup.force = true;
    setup.folder.put("a.txt", "one\ntwo\n");
    let mut talk = setup.open().await;
    talk.say("schau nach").await;
    check_turns(&talk.host.heard());
    let root = setup.folder.root().to_string_lossy().into_owned();
    let plain = |value: Value| {
        let text = value.to_string().replace(&root, "/ws");
        serde_json::from_str::<Value>(&text).unwrap()
    };
    let mut shown: Vec<Value> =
        talk.host.events().into_iter().map(neutral).map(|event| plain(json!(event))).collect();
    // Calls that run together end in any order.
    for run in shown.chunk_by_mut(|one, other| one["type"] == "tool_ended" && other["type"] == "tool_ended") {
        run.sort_by_key(|event| event["call"]["id"].to_string());
    }
    shown
}

/// An event without times, without what only one vendor understands, and without addresses in messages.
fn neutral(mut event: Event) -> Event {
    match &mut event {
        Event::Replied { reply } => {
            reply.blocks.retain(|block| !matches!(block, Block::Opaque { .. }));
            for block in &mut reply.blocks {
                if let Block::Thinking { signature, .. } = block {
                    *signature = None;
                }
            }
        }
        Event::ToolEnded { started_ms, .. } => *started_ms = 0,
        Event::TurnEnded { end, .. } => end.duration_ms = 0,
        Event::Noticed { notice } => {
            let at = notice.text.rfind("; trying again").unwrap();
            notice.text = notice.text.split_off(at);
        }
        _ => {}
    }
    event
}

#[tokio::test]
async fn a_script_gives_the_same_events_over_every_wire() {
    let inside = events(Setup::model(script(SCRIPT))).await;
    let kinds: Vec<&str> = inside.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == "noticed").count(), 2, "{inside:#?}");
    assert_eq!(kinds.iter().filter(|kind| **kind == "tool_ended").count(), 5, "{inside:#?}");
    assert_eq!(inside.last().unwrap()["end"]["reason"]["type"], "stopped", "{inside:#?}");
    let splits = [None, NonZeroUsize::new(7)];
    let ways = Api::ALL.into_iter().flat_map(|api| splits.map(|split| (api, split)));
    let runs = ways.map(|(api, split)| async move {
        let (model, _tasks) = over(SCRIPT, api, split).await;
        (format!("{}, split {split:?}", api.name()), events(Setup::model(model)).await)
    });
    for (way, outside) in join_all(runs).await {
        for (at, (outside, inside)) in outside.iter().zip(&inside).enumerate() {
            assert_eq!(outside, inside, "{way}: event {at}");
        }
        assert_eq!(outside.len(), inside.len(), "{way}");
    }
}

#[tokio::test]
async fn tokens_that_nobody_counted_are_guessed_and_marked() {
    for api in Api::ALL {
        let (model, _tasks) = over("[[turn]]\nemit = [{ text = \"four and more\" }]", api, None).await;
        let usage = Setup::model(model).open().await.say("hi").await.usage;
        assert_eq!((usage.estimated, usage.output), (true, 4), "{}: {usage:?}", api.name());
        assert!((1_000..3_000).contains(&usage.input), "{}: {usage:?}", api.name());
    }
}
