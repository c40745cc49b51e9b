//! An engine in a temporary folder, and short ways to talk to it.

use async_trait::async_trait;
use caret_engine::clock::SystemClock;
use caret_engine::engine::{Engine, EngineSettings, Limits, ProfileChoice};
use caret_engine::model::scripted::{Scripted, SourceName};
use caret_engine::model::{Catalogue, Chunk, Model, ModelError, Request};
use caret_engine::permission::{Grant, Policy};
use caret_engine::process::Supervisor;
use caret_engine::store::{Chat, DiskStore, MemoryStore, Store, StoreSettings};
use caret_engine::tools::{self, Place, Tool, ToolCx, ToolError, ToolSpec, Toolbox};
use caret_engine::workspace::LocalWorkspace;
use caret_protocol::agent::{About, Agent as _, Open, Prompt, Session, TurnControl, TurnHandle, turn};
use caret_protocol::claim::Claim;
use caret_protocol::content::{Block, Content, Outcome, Reply, Stop, ToolCall, ToolOutput};
use caret_protocol::details::{Details, ShellDone};
use caret_protocol::event::{EndReason, Event, Mode, Stamped, TurnEnd};
use caret_protocol::ids::{SessionId, TurnId};
use caret_protocol::workspace::Workspace;
use caret_testkit::{Folder, Recorder};
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tokio::sync::Barrier;

pub const SESSION: &str = "6d2b5a0e-0000-4000-8000-000000000001";

/// Calls the shell with what the user says, again and again.
pub const SHELL: &str = r#"
    at_end = "repeat"
    [[turn]]
    emit = [{ call = "Shell", id = "c", input = { command = "{{user}}", timeout = 20000 } }]
    [[turn]]
    emit = [{ text = "done" }]
"#;

/// What an engine is made of.
pub struct Setup {
    pub folder: Folder,
    pub store: Arc<dyn Store>,
    pub models: Arc<dyn Catalogue>,
    pub mode: Mode,
    pub allow: Vec<&'static str>,
    pub deny: Vec<&'static str>,
    pub force: bool,
    pub limits: Limits,
    pub profile: ProfileChoice,
    pub tools: Vec<Arc<dyn Tool>>,
    pub environment: Vec<(&'static str, &'static str)>,
}

impl Setup {
    /// Plays a script; its `version` is added.
    pub fn script(text: &str) -> Self {
        Self::model(script(text))
    }

    pub fn model(model: impl Model + 'static) -> Self {
        Self {
            folder: Folder::new(),
            store: Arc::new(MemoryStore::new()),
            models: Arc::new(Only(Arc::new(model))),
            mode: Mode::Agent,
            allow: Vec::new(),
            deny: Vec::new(),
            force: false,
            limits: Limits::default(),
            profile: ProfileChoice::ByModel,
            tools: tools::all(),
            environment: vec![("PATH", "/usr/local/bin:/usr/bin:/bin"), ("TOLD", "yes")],
        }
    }

    /// Runs what the user says in the shell, without asking.
    pub fn shell() -> Self {
        let mut setup = Self::script(SHELL);
        setup.force = true;
        setup
    }

    /// Keeps chats on disk, beside the workspace.
    pub fn on_disk(mut self) -> Self {
        self.store = Arc::new(DiskStore::new(StoreSettings {
            config_root: self.folder.beside("config"),
            data_root: self.folder.beside("data"),
            client: "caret",
            time_zone: "UTC".into(),
            exact_root: false,
        }));
        self
    }

    pub fn outputs(&self) -> PathBuf {
        self.folder.beside("outputs")
    }

    pub fn engine(&self) -> Engine {
        let owned = |rules: &[&str]| rules.iter().map(|rule| (*rule).to_owned()).collect::<Vec<_>>();
        let (policy, warnings) = Policy::new(&owned(&self.allow), &owned(&self.deny), self.force);
        assert_eq!(warnings, Vec::<String>::new());
        Engine::new(EngineSettings {
            additional: Vec::new(),
            about: About { name: "caret".into(), version: "1".into() },
            store: Arc::clone(&self.store),
            models: Arc::clone(&self.models),
            model: "only".into(),
            key_source: "env".into(),
            mode: self.mode,
            policy,
            limits: self.limits,
            profile: self.profile,
            tools: Toolbox::new(self.tools.clone()),
            outputs: self.outputs(),
            home: None,
            invoked_as: "agent".into(),
            clock: Arc::new(SystemClock),
        })
    }

    pub fn workspace(&self) -> Arc<dyn Workspace> {
        let environment =
            self.environment.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let supervisor = Supervisor {
            program: env!("CARGO_BIN_EXE_caret-supervise").into(),
            args: Vec::new(),
            shell: "/bin/bash".into(),
            environment,
        };
        Arc::new(LocalWorkspace::new(self.folder.root().to_owned(), supervisor))
    }

    /// A new engine with an open session.
    pub async fn open(&self) -> Talk {
        self.open_in(self.workspace()).await
    }

    pub async fn open_in(&self, workspace: Arc<dyn Workspace>) -> Talk {
        let host = Arc::new(Recorder::new(workspace));
        let open = Open { cwd: self.folder.root().to_owned(), session: SessionId::new(SESSION), title: None };
        let session = self.engine().open(open, Arc::<Recorder>::clone(&host)).await.unwrap();
        Talk { session, host, turns: 0 }
    }

    /// The session's chat, opened anew.
    pub fn chat(&self) -> Arc<dyn Chat> {
        self.store.open(self.folder.root(), &SessionId::new(SESSION)).unwrap()
    }
}

pub fn script(text: &str) -> Scripted {
    Scripted::from_text(&format!("version = 1\n{text}"), SourceName::new("test.toml")).unwrap()
}

/// An open session and the host that hears it.
pub struct Talk {
    pub session: Box<dyn Session>,
    pub host: Arc<Recorder>,
    turns: u32,
}

impl Talk {
    /// One turn.
    pub async fn say(&mut self, text: &str) -> TurnEnd {
        let (_handle, control) = turn();
        self.say_under(text, control).await
    }

    /// One turn that somebody else can cancel.
    pub async fn say_under(&mut self, text: &str, control: TurnControl) -> TurnEnd {
        self.turns += 1;
        let prompt =
            Prompt { turn: TurnId::new(format!("turn-{}", self.turns)), content: vec![Content::text(text)] };
        self.session.prompt(prompt, control).await
    }

    /// One turn that does `act` at the first event that it accepts.
    pub async fn say_and(
        &mut self,
        text: &str,
        at: impl Fn(&Event) -> bool + Send + Sync + 'static,
        act: impl Fn(&TurnHandle) + Send + Sync + 'static,
    ) -> TurnEnd {
        let (handle, control) = turn();
        let done = std::sync::atomic::AtomicBool::new(false);
        self.host.watch(move |stamped| {
            if at(&stamped.event) && !done.swap(true, std::sync::atomic::Ordering::Relaxed) {
                act(&handle);
            }
        });
        let end = self.say_under(text, control).await;
        self.host.watch(|_| {});
        end
    }

    /// The outcomes of all calls that were heard of, with their ids.
    pub fn outcomes(&self) -> Vec<(String, Outcome)> {
        let ended = |stamped: Stamped| match stamped.event {
            Event::ToolEnded { call, outcome, .. } => Some((call.id.0, outcome)),
            _ => None,
        };
        self.host.heard().into_iter().filter_map(ended).collect()
    }

    /// What the model read of each call, with the call's id.
    pub fn results(&self) -> Vec<(String, String)> {
        self.outcomes().into_iter().map(|(id, outcome)| (id, outcome.for_model())).collect()
    }

    /// Runs one command and says how it ended.
    pub async fn run(&mut self, command: &str) -> Outcome {
        let end = self.say(command).await;
        assert_eq!(end.reason, EndReason::Stopped { stop: Stop::EndTurn });
        self.outcomes().pop().unwrap().1
    }

    /// Runs one command to its end.
    pub async fn ran(&mut self, command: &str) -> ShellDone {
        match self.run(command).await {
            Outcome::Done { output: ToolOutput { details: Details::Shell(done), .. } } => done,
            other => panic!("{command}: {other:?}"),
        }
    }
}

/// A catalogue of one model.
struct Only(Arc<dyn Model>);

impl Catalogue for Only {
    fn find(&self, _id: &str) -> Result<Arc<dyn Model>, ModelError> {
        Ok(Arc::clone(&self.0))
    }
}

/// A model that gives these replies, for what no script can say.
pub struct Replies(Mutex<VecDeque<Reply>>);

impl Replies {
    pub fn new(replies: Vec<Vec<ToolCall>>) -> Self {
        let reply = |calls: Vec<ToolCall>| Reply {
            stop: if calls.is_empty() { Stop::EndTurn } else { Stop::ToolCalls },
            blocks: calls.into_iter().map(|call| Block::Call { call }).collect(),
            ..Reply::default()
        };
        Self(Mutex::new(replies.into_iter().map(reply).collect()))
    }
}

impl Model for Replies {
    fn id(&self) -> &str {
        "replies"
    }

    fn name(&self) -> &str {
        "Replies"
    }

    fn stream<'a>(&'a self, _request: Request<'a>) -> BoxStream<'a, Result<Chunk, ModelError>> {
        let reply = self.0.lock().unwrap().pop_front().unwrap_or_default();
        stream::iter([Ok(Chunk::Done(reply))]).boxed()
    }
}

/// A tool that notes when it runs. With `"meet"` it waits until two calls are inside; with `"hang"` until it
/// is cancelled.
pub struct Probe {
    spec: ToolSpec,
    pub notes: Mutex<Vec<String>>,
    meeting: Barrier,
}

impl Probe {
    pub fn new() -> Arc<Self> {
        let spec = ToolSpec { name: "Probe", description: "notes", input: json!({}), read_only: true };
        Arc::new(Self { spec, notes: Mutex::default(), meeting: Barrier::new(2) })
    }

    fn note(&self, text: String) {
        self.notes.lock().unwrap().push(text);
    }
}

#[async_trait]
impl Tool for Probe {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn claim(&self, input: &Value, place: &Place) -> Result<Claim, ToolError> {
        let writes = input["writes"].as_bool().unwrap_or_default();
        Ok(if writes { Claim::Write { paths: vec![place.root.join("x")] } } else { Claim::Nothing })
    }

    async fn run(&self, input: Value, _grant: Grant, cx: ToolCx<'_>) -> Result<ToolOutput, ToolError> {
        self.note(format!("{} begins", cx.call));
        match input["does"].as_str() {
            Some("meet") => {
                self.meeting.wait().await;
            }
            Some("hang") => cx.cancel.cancelled().await,
            _ => tokio::task::yield_now().await,
        }
        self.note(format!("{} ends", cx.call));
        Ok(ToolOutput {
            for_model: format!("{} was here", cx.call),
            details: Details::Other { value: input },
        })
    }
}
