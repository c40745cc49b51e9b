//! Two engines in one chat take turns, and each hears what the other said.

use crate::support::Setup;
use caret_engine::model::{Chunk, Model, ModelError, Request};
use caret_protocol::agent::turn;
use caret_protocol::content::{Block, Reply};
use caret_protocol::event::{EndReason, Event};
use caret_protocol::transcript::{Message, plain};
use caret_testkit::{check_history, check_turns};
use futures_util::future::join;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt as _, StreamExt as _};

/// A model that takes its time and says how many prompts it knows, and the newest.
struct Counts;

impl Model for Counts {
    fn id(&self) -> &str {
        "counts"
    }

    fn name(&self) -> &str {
        "Counts"
    }

    fn stream<'a>(&'a self, request: Request<'a>) -> BoxStream<'a, Result<Chunk, ModelError>> {
        let answer = async move {
            tokio::task::yield_now().await;
            let past = request.past.messages()?.iter().chain(request.messages);
            let prompts: Vec<String> =
                past.filter(|message| matches!(message, Message::User { .. })).map(plain).collect();
            let text = prompts.join(" ");
            Ok(Chunk::Done(Reply { blocks: vec![Block::Text { text }], ..Reply::default() }))
        };
        stream::once(answer.boxed()).boxed()
    }
}

#[tokio::test]
async fn turns_of_two_engines_do_not_mix() {
    let setup = Setup::model(Counts).on_disk();
    let (mut one, mut other) = (setup.open().await, setup.open().await);
    for _ in 0..5 {
        join(one.say("one"), other.say("other")).await;
    }
    for talk in [&one, &other] {
        check_turns(&talk.host.heard());
        assert!(talk.host.heard().windows(2).all(|pair| pair[0].seq <= pair[1].seq));
    }
    let stored = setup.chat().events(0).unwrap();
    check_turns(&stored);
    assert!(stored.iter().map(|stamped| stamped.seq).eq(1..=stored.len() as u64));
    let messages = setup.chat().messages(u64::MAX).unwrap();
    check_history(&messages);
    assert_eq!(messages.len(), 20);
}

#[tokio::test]
async fn each_hears_what_the_other_said() {
    let setup = Setup::model(Counts).on_disk();
    let (mut one, mut other) = (setup.open().await, setup.open().await);
    one.say("1").await;
    other.say("2").await;
    one.say("3").await;
    one.say("4").await;
    other.say("5").await;
    let messages = setup.chat().messages(u64::MAX).unwrap();
    let last = plain(messages.last().unwrap());
    assert_eq!(last, "1 2 3 4 5");
}

#[tokio::test(start_paused = true)]
async fn whoever_waits_is_told_and_can_give_up() {
    let setup = Setup::model(Counts).on_disk();
    let mut talk = setup.open().await;
    let hold = setup.chat().hold().unwrap().unwrap();
    let end = talk
        .say_and("go", |event| matches!(event, Event::Noticed { .. }), |handle| handle.cancel.cancel())
        .await;
    assert_eq!(end.reason, EndReason::Cancelled);
    assert_eq!(setup.chat().events(0).unwrap(), Vec::new());
    drop(hold);
    let (_handle, control) = turn();
    let end = talk.say_under("go", control).await;
    assert!(matches!(end.reason, EndReason::Stopped { .. }), "{:?}", end.reason);
    check_turns(&setup.chat().events(0).unwrap());
}
