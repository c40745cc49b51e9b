//! A store that breaks in the middle of a turn ends the turn, and what was shown stays true.

use crate::support::Setup;
use caret_engine::store::{Chat, ChatState, Hold, MemoryStore, Store, StoreError, Which};
use caret_protocol::agent::SessionSummary;
use caret_protocol::content::Stop;
use caret_protocol::event::{EndReason, FailureClass, Stamped};
use caret_protocol::ids::SessionId;
use caret_protocol::transcript::Message;
use caret_testkit::{check_history, check_turns};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A store whose appends with these numbers do not work.
struct Breaking {
    inner: MemoryStore,
    broken: Range<usize>,
    appends: Arc<AtomicUsize>,
}

impl Store for Breaking {
    fn open(&self, cwd: &Path, session: &SessionId) -> Result<Arc<dyn Chat>, StoreError> {
        let inner = self.inner.open(cwd, session)?;
        let appends = Arc::clone(&self.appends);
        Ok(Arc::new(BreakingChat { inner, broken: self.broken.clone(), appends }))
    }

    fn list(&self, which: Which<'_>, most: usize) -> Result<Vec<SessionSummary>, StoreError> {
        self.inner.list(which, most)
    }
}

struct BreakingChat {
    inner: Arc<dyn Chat>,
    broken: Range<usize>,
    appends: Arc<AtomicUsize>,
}

impl Chat for BreakingChat {
    fn hold(&self) -> Result<Option<Hold>, StoreError> {
        self.inner.hold()
    }

    fn state(&self) -> Result<ChatState, StoreError> {
        self.inner.state()
    }

    fn append(&self, events: &[Stamped]) -> Result<(), StoreError> {
        if self.broken.contains(&self.appends.fetch_add(1, Ordering::Relaxed)) {
            return Err(StoreError::Full { path: "events".into() });
        }
        self.inner.append(events)
    }

    fn events(&self, after: u64) -> Result<Vec<Stamped>, StoreError> {
        self.inner.events(after)
    }

    fn messages(&self, upto: u64) -> Result<Vec<Message>, StoreError> {
        self.inner.messages(upto)
    }

    fn end_turn(&self, state: &ChatState) -> Result<(), StoreError> {
        self.inner.end_turn(state)
    }

    fn folder(&self) -> Option<&Path> {
        None
    }
}

const TURNS: &str = r#"
    [[turn]]
    emit = [
      { text = "look" },
      { call = "Read", id = "a", input = { path = "a.txt" } },
      { call = "Read", id = "b", input = { path = "a.txt", offset = 1 } },
      { call = "Shell", id = "c", input = { command = "make" } },
      { call = "Write", id = "d", input = { path = "b.txt", contents = "b" } },
    ]
    [[turn]]
    emit = [{ text = "done" }]
    [[turn]]
    when = { user = "again" }
    emit = [{ text = "here" }]
"#;

/// What is appended in a turn of `TURNS`, from 0: the opening, the reply, two reads, the ask, its answer, the
/// shell's end, the write's beginning and end, the second reply, and the end of the turn.
const APPENDS: usize = 12;

fn setup(broken: Range<usize>) -> Setup {
    let mut setup = Setup::script(TURNS);
    setup.folder.put("a.txt", "one\n");
    setup.store = Arc::new(Breaking { inner: MemoryStore::new(), broken, appends: Arc::default() });
    setup
}

#[tokio::test]
async fn whichever_record_is_lost_the_turn_ends_once_and_nothing_unstored_was_shown_before() {
    for broken in 0..APPENDS {
        for until in [broken + 1, usize::MAX] {
            let setup = setup(broken..until);
            let mut talk = setup.open().await;
            let end = talk.say("go").await;
            let heard = talk.host.heard();
            let context = format!("append {broken} to {until} lost");
            check_turns(&heard);
            let last_reply_is_stored = broken == APPENDS - 1;
            match end.reason {
                EndReason::Failed { class: FailureClass::Store, .. } => {}
                EndReason::Stopped { stop: Stop::EndTurn } if last_reply_is_stored => {}
                other => panic!("{context}: {other:?}"),
            }
            let stored = setup.chat().events(0).unwrap();
            let durable = heard.iter().filter(|stamped| stamped.event.is_durable());
            let unstored: Vec<&Stamped> = durable.filter(|stamped| !stored.contains(stamped)).collect();
            let tail: Vec<&Stamped> = heard.iter().rev().take(unstored.len()).rev().collect();
            assert_eq!(unstored, tail, "{context}: shown and not stored before the end");
            assert!(heard.windows(2).all(|pair| pair[0].seq <= pair[1].seq), "{context}: numbers go back");
        }
    }
}

#[tokio::test]
async fn a_session_goes_on_when_its_store_works_again() {
    for broken in 0..APPENDS {
        let setup = setup(broken..broken + 1);
        let mut talk = setup.open().await;
        talk.say("go").await;
        let end = talk.say("again").await;
        assert_eq!(end.reason, EndReason::Stopped { stop: Stop::EndTurn }, "append {broken} lost");
        let stored = setup.chat().events(0).unwrap();
        check_turns(&stored);
        check_history(&setup.chat().messages(u64::MAX).unwrap());
        assert!(stored.iter().map(|stamped| stamped.seq).eq(1..=stored.len() as u64), "append {broken} lost");
    }
}

#[tokio::test]
async fn a_turn_appends_as_often_as_these_tests_think() {
    let appends = Arc::new(AtomicUsize::new(0));
    let mut setup = setup(0..0);
    let store = Breaking { inner: MemoryStore::new(), broken: 0..0, appends: Arc::clone(&appends) };
    setup.store = Arc::new(store);
    setup.open().await.say("go").await;
    assert_eq!(appends.load(Ordering::Relaxed), APPENDS);
}
