//! One conversation with our own agent.
//!
//! A turn is taken under the chat's hold, so that processes that share a chat take turns. What other
//! programs read is written before the end of the turn is shown.

use crate::calls::{LoopGuard, recall};
use crate::context;
use crate::engine::EngineSettings;
use crate::log::Log;
use crate::model::Model;
use crate::mutex::lock;
use crate::past::ChatPast;
use crate::permission::Policy;
use crate::store::{Chat, ChatState, Hold, StoreError};
use crate::tools::{Memory, Place};
use crate::turn::{Turn, TurnError};
use async_trait::async_trait;
use caret_protocol::agent::{AgentError, Host, Open, Prompt, Session, TurnControl};
use caret_protocol::content::Usage;
use caret_protocol::event::{Change, EndReason, Event, FailureClass, Limit, Mode, Notice, Opened, TurnEnd};
use caret_protocol::ids::{CallId, SessionId, TurnId};
use caret_protocol::workspace::ShellState;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How often a chat that another process holds is tried again.
const HOLD_AGAIN: Duration = Duration::from_millis(15);
/// After this the user is told what we wait for.
const HOLD_QUIET: Duration = Duration::from_secs(1);

/// One conversation with our own agent.
pub(crate) struct EngineSession {
    settings: Arc<EngineSettings>,
    open: Open,
    chat: Arc<dyn Chat>,
    host: Arc<dyn Host>,
    model: Arc<dyn Model>,
    mode: Mode,
    policy: Mutex<Policy>,
    memory: Memory,
    system: String,
    state: ChatState,
    /// What the turns of this process cost, in US dollars.
    spent: f64,
    past: Option<ChatPast>,
    /// The ids of all calls of this session, as far as they were made in this process.
    used: HashSet<CallId>,
    shown_opened: bool,
}

impl EngineSession {
    pub(crate) fn new(
        settings: Arc<EngineSettings>,
        open: Open,
        chat: Arc<dyn Chat>,
        host: Arc<dyn Host>,
        model: Arc<dyn Model>,
        memory: Memory,
    ) -> Self {
        Self {
            mode: settings.mode,
            policy: Mutex::new(settings.policy.clone()),
            system: context::system(settings.mode, settings.profile.of(&*model)),
            settings,
            open,
            chat,
            host,
            model,
            memory,
            state: ChatState::default(),
            spent: 0.0,
            past: None,
            used: HashSet::new(),
            shown_opened: false,
        }
    }

    /// A log that goes on after the event with this number.
    fn log(&self, last_seq: u64) -> Log {
        let (chat, host) = (Arc::clone(&self.chat), Arc::clone(&self.host));
        Log::new(self.open.session.clone(), chat, host, Arc::clone(&self.settings.clock), last_seq)
    }

    /// Waits until no other process is inside a turn of this chat.
    async fn hold(&self, log: &Log, cancel: &CancellationToken) -> Result<Hold, TurnError> {
        let began = Instant::now();
        let mut told = false;
        loop {
            if let Some(hold) = self.chat.hold()? {
                return Ok(hold);
            }
            if !told && began.elapsed() > HOLD_QUIET {
                told = true;
                let text = "another process is in this chat; waiting for its turn to end".into();
                log.show(vec![Event::Noticed { notice: Notice { source: "wait".into(), text } }]).await;
            }
            if cancel.run_until_cancelled(tokio::time::sleep(HOLD_AGAIN)).await.is_none() {
                return Err(TurnError::Cancelled);
            }
        }
    }

    /// Brings what we know of the chat up to date; another process may have gone on with it.
    fn refresh(&mut self) -> Result<(), StoreError> {
        let state = self.chat.state()?;
        let current = self.past.as_ref().is_some_and(|past| past.upto() == state.last_seq);
        if !current {
            recall(&self.memory, &state);
            self.past = Some(ChatPast::new(Arc::clone(&self.chat), state.last_seq, state.bytes));
        }
        self.state = state;
        Ok(())
    }

    fn opened(&self) -> Opened {
        Opened {
            cwd: self.open.cwd.to_string_lossy().into_owned(),
            model: self.model.id().into(),
            model_name: self.model.name().into(),
            mode: self.mode,
            force: lock(&self.policy).force,
            key_source: self.settings.key_source.clone(),
            resumed: self.state.turns > 0,
        }
    }

    /// The first events of a turn.
    fn opening(&mut self, prompt: &Prompt) -> Vec<Event> {
        let mut events = Vec::new();
        if !std::mem::replace(&mut self.shown_opened, true) {
            events.push(Event::Opened { opened: self.opened() });
            if let Some(title) = self.open.title.clone().filter(|_| self.state.turns == 0) {
                events.push(Event::Configured { change: Change::Title { title } });
            }
        }
        events.push(Event::TurnStarted { turn: prompt.turn.clone() });
        events.push(Event::Prompted { content: prompt.content.clone() });
        events
    }

    /// What commands are told about the turn they run in.
    fn environment(&self, turn: &TurnId) -> Vec<(String, String)> {
        [
            ("CURSOR_AGENT", "1"),
            ("CURSOR_CONVERSATION_ID", self.open.session.as_str()),
            ("CURSOR_AGENT_CHAT_ID", self.open.session.as_str()),
            ("CURSOR_REQUEST_ID", turn.as_str()),
            ("CURSOR_INVOKED_AS", self.settings.invoked_as.as_str()),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
    }

    async fn run(&mut self, prompt: Prompt, control: TurnControl, log: &Log) -> (EndReason, Spent) {
        let Some(past) = self.past.take() else {
            let message = "the chat was not read".into();
            return (EndReason::Failed { class: FailureClass::Internal, message }, Spent::default());
        };
        let shell = lock(&self.memory.shell).cwd.clone();
        let root = self.open.cwd.clone();
        let cwd = if shell.as_os_str().is_empty() { root.clone() } else { shell };
        let hidden = lock(&self.policy).hidden(&self.open.cwd, self.settings.home.as_deref());
        let mut turn = Turn {
            session: &self.open.session,
            id: &prompt.turn,
            number: self.state.turns,
            mode: self.mode,
            model: &*self.model,
            system: &self.system,
            tools: &self.settings.tools,
            profile: self.settings.profile.of(&*self.model),
            place: Place {
                root,
                additional: self.settings.additional.clone(),
                cwd,
                home: self.settings.home.clone(),
                hidden,
            },
            memory: &self.memory,
            policy: &self.policy,
            past: &past,
            limits: self.settings.limits,
            environment: self.environment(&prompt.turn),
            log,
            host: &*self.host,
            control,
            usage: Usage::default(),
            spent: self.spent,
            step: 0,
            guard: LoopGuard::after(std::mem::take(&mut self.used)),
        };
        let end = turn.run().await.unwrap_or_else(EndReason::from);
        let spent = Spent { usage: turn.usage, cost: turn.cost() };
        self.used = turn.guard.into_used();
        self.past = Some(past);
        self.spent += spent.cost.unwrap_or_default();
        (end, spent)
    }

    /// Records the end of a turn, writes what other programs read, and only then shows it.
    async fn end(&mut self, log: &Log, turn: TurnId, end: &TurnEnd) {
        let mut ended = log.closing();
        ended.push(Event::TurnEnded { turn, end: end.clone() });
        let stamped = match log.record(ended.clone()) {
            Ok(stamped) => stamped,
            Err(error) => {
                self.past = None;
                ended.insert(0, store_notice(&error));
                return log.show(ended).await;
            }
        };
        self.state.last_seq = log.last_seq();
        self.state.turns += 1;
        self.state.spend(end.cost_usd);
        self.state.bytes += log.bytes();
        self.state.todos = lock(&self.memory.todos).clone();
        self.state.seen = lock(&self.memory.seen).clone();
        let shell = lock(&self.memory.shell).clone();
        self.state.shell = (shell != ShellState::default()).then_some(shell);
        self.state.model = self.model.id().into();
        if let Err(error) = self.chat.end_turn(&self.state) {
            log.show(vec![store_notice(&error)]).await;
        }
        let past = self.past.take();
        self.past = past.map(|past| past.after(log.messages(), self.state.last_seq, self.state.bytes));
        log.show_stamped(&stamped).await;
    }

    /// Everything up to the turn's own work, under the chat's hold.
    async fn begin(
        &mut self,
        prompt: &Prompt,
        cancel: &CancellationToken,
    ) -> Result<(Log, Hold), (Log, TurnError)> {
        let unheld = self.log(0);
        let hold = match self.hold(&unheld, cancel).await {
            Ok(hold) => hold,
            Err(error) => return Err((unheld, error)),
        };
        if let Err(error) = self.refresh() {
            return Err((unheld, error.into()));
        }
        let log = self.log(self.state.last_seq);
        let opening = self.opening(prompt);
        match log.emit_all(opening).await {
            Ok(_) => Ok((log, hold)),
            Err(error) => {
                self.shown_opened = false;
                Err((log, error.into()))
            }
        }
    }
}

#[async_trait]
impl Session for EngineSession {
    fn id(&self) -> &SessionId {
        &self.open.session
    }

    async fn prompt(&mut self, prompt: Prompt, control: TurnControl) -> TurnEnd {
        let began = Instant::now();
        let turn = prompt.turn.clone();
        let mut alarm = Alarm::set(self.settings.limits.time, &control.cancel);
        let control = TurnControl { cancel: alarm.cancel.clone(), ..control };
        match self.begin(&prompt, &alarm.cancel).await {
            Ok((log, _hold)) => {
                let (reason, Spent { usage, cost }) = self.run(prompt, control, &log).await;
                let reason = alarm.judge(reason);
                let end = TurnEnd { reason, usage, duration_ms: elapsed(began), cost_usd: cost };
                self.end(&log, turn, &end).await;
                end
            }
            Err((log, error)) => {
                // Nothing could be recorded; what is shown is a turn all the same.
                let reason = alarm.judge(error.into());
                let (usage, duration_ms) = (Usage::default(), elapsed(began));
                let end = TurnEnd { reason, usage, duration_ms, cost_usd: None };
                let mut events = self.opening(&prompt);
                events.push(Event::TurnEnded { turn, end: end.clone() });
                log.show(events).await;
                end
            }
        }
    }

    async fn configure(&mut self, change: Change) -> Result<(), AgentError> {
        match &change {
            Change::Mode { mode } => {
                self.mode = *mode;
            }
            Change::Model { id, .. } => {
                let found = self.settings.models.find(id);
                self.model = found.map_err(|error| AgentError::Other(error.to_string()))?;
            }
            Change::Title { title } => self.open.title = Some(title.clone()),
            _ => return Err(AgentError::Unsupported("this change")),
        }
        self.system = context::system(self.mode, self.settings.profile.of(&*self.model));
        Ok(())
    }

    async fn close(&mut self) {
        self.host.workspace().close().await;
    }
}

/// What a turn used, and what that cost if it is known.
#[derive(Default)]
struct Spent {
    usage: Usage,
    cost: Option<f64>,
}

fn store_notice(error: &StoreError) -> Event {
    Event::Noticed { notice: Notice { source: "store".into(), text: error.to_string() } }
}

fn elapsed(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Ends a turn that takes too long, and knows that it did.
struct Alarm {
    cancel: CancellationToken,
    rang: Arc<AtomicBool>,
    limit: Option<Duration>,
    /// Owns the timer; dropping it stops it.
    _timer: JoinSet<()>,
}

impl Alarm {
    fn set(limit: Option<Duration>, cancel: &CancellationToken) -> Self {
        let cancel = cancel.child_token();
        let rang = Arc::new(AtomicBool::new(false));
        let mut timer = JoinSet::new();
        if let Some(limit) = limit {
            let (cancel, rang) = (cancel.clone(), Arc::clone(&rang));
            timer.spawn(async move {
                tokio::time::sleep(limit).await;
                rang.store(true, Ordering::Relaxed);
                cancel.cancel();
            });
        }
        Self { cancel, rang, limit, _timer: timer }
    }

    /// A turn that was cancelled by the alarm reached a limit.
    fn judge(&mut self, reason: EndReason) -> EndReason {
        match (reason, self.limit) {
            (EndReason::Cancelled, Some(limit)) if self.rang.load(Ordering::Relaxed) => {
                let message = format!("timed out after {} s (--timeout)", limit.as_secs_f32());
                EndReason::Limit { limit: Limit::Time, message }
            }
            (reason, _) => reason,
        }
    }
}
