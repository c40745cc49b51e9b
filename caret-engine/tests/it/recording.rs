//! What a host hears is already in the store, in the order of its numbers.

use crate::support::Setup;
use caret_protocol::event::{Event, Stamped};
use std::sync::{Arc, Mutex};

const TURNS: &str = r#"
    [[turn]]
    emit = [
      { text = "look" },
      { call = "Read", id = "a", input = { path = "a.txt" } },
      { call = "Read", id = "b", input = { path = "nothing.txt" } },
      { call = "Ls", id = "c", input = { path = "." } },
      { call = "Shell", id = "d", input = { command = "echo hello" } },
      { call = "TodoWrite", id = "e", input = { todos = [{ id = "1", content = "go on", status = "pending" }] } },
    ]
    [[turn]]
    emit = [{ text = "done" }]
    [[turn]]
    emit = [{ text = "again" }]
"#;

fn setup() -> Setup {
    let mut setup = Setup::script(TURNS).on_disk();
    setup.force = true;
    setup.folder.put("a.txt", "one\n");
    setup
}

#[tokio::test]
async fn a_durable_event_is_in_the_store_when_the_host_sees_it() {
    let setup = setup();
    let mut talk = setup.open().await;
    let chat = setup.chat();
    let missing: Arc<Mutex<Vec<Stamped>>> = Arc::default();
    let found = Arc::clone(&missing);
    talk.host.watch(move |stamped| {
        let stored = chat.events(stamped.seq.saturating_sub(1)).unwrap();
        if stamped.event.is_durable() && stored.first() != Some(stamped) {
            found.lock().unwrap().push(stamped.clone());
        }
    });
    talk.say("go").await;
    talk.say("again").await;
    assert_eq!(*missing.lock().unwrap(), Vec::new());
    assert!(talk.host.heard().len() > 25);
}

#[tokio::test]
async fn numbers_are_dense_and_the_host_hears_them_in_order() {
    let setup = setup();
    let mut talk = setup.open().await;
    talk.say("go").await;
    talk.say("again").await;
    let heard = talk.host.heard();
    let mut last = 0;
    for stamped in &heard {
        last += u64::from(stamped.event.is_durable());
        assert_eq!(stamped.seq, last, "{stamped:?}");
    }
    let durable: Vec<Stamped> = heard.into_iter().filter(|stamped| stamped.event.is_durable()).collect();
    assert_eq!(setup.chat().events(0).unwrap(), durable);
}

#[tokio::test]
async fn a_resumed_session_goes_on_counting() {
    let setup = setup();
    let mut first = setup.open().await;
    first.say("go").await;
    let last = first.host.heard().last().unwrap().seq;
    drop(first);
    let mut second = setup.open().await;
    second.say("again").await;
    let heard = second.host.heard();
    assert_eq!(heard[0].seq, last + 1);
    assert!(matches!(&heard[0].event, Event::Opened { opened } if opened.resumed), "{:?}", heard[0]);
}

#[tokio::test]
async fn the_end_of_a_turn_is_shown_when_others_can_read_it() {
    let setup = setup();
    let mut talk = setup.open().await;
    let (store, root) = (Arc::clone(&setup.store), setup.folder.root().to_owned());
    let listed = Arc::new(Mutex::new(None));
    let seen = Arc::clone(&listed);
    talk.host.watch(move |stamped| {
        if matches!(stamped.event, Event::TurnEnded { .. }) {
            let list = store.list(caret_engine::store::Which::Of(&root), 10).unwrap();
            *seen.lock().unwrap() = list.first().map(|chat| (chat.title.clone(), chat.has_conversation));
        }
    });
    talk.say("go").await;
    assert_eq!(*listed.lock().unwrap(), Some(("go".to_owned(), true)));
}
