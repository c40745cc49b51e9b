//! One call from the model's words to its end: prepared, judged, run, closed.

use crate::mutex::lock;
use crate::permission::{Facts, Grant, Verdict};
use crate::tools::{Memory, Place, Tool, ToolCx, ToolError, Toolbox};
use crate::turn::{Turn, TurnError};
use caret_protocol::ask::{Answer, Ask};
use caret_protocol::claim::Claim;
use caret_protocol::content::{Failure, Outcome, ToolCall, ToolOutput};
use caret_protocol::details::{Details, QuestionsAnswered};
use caret_protocol::event::{CallUpdate, Event};
use caret_protocol::ids::{AskId, CallId};
use futures_util::future::join;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;

/// More calls than this in one reply are not run.
const MOST_CALLS: usize = 128;
/// The same call this often in a row is told to the model; once more ends the turn.
const REPEATS: u32 = 3;

/// A call with all that can be known before it runs.
pub(crate) struct Prepared {
    pub(crate) call: ToolCall,
    /// The tool, or why it will not run.
    tool: Result<Arc<dyn Tool>, ToolError>,
    /// Added to what the model reads.
    warning: Option<String>,
}

impl Prepared {
    pub(crate) fn started(&self) -> Event {
        Event::ToolStarted { call: self.call.clone() }
    }

    /// Neighbouring calls that only read run together, any other call runs alone and in order.
    pub(crate) fn batches(calls: Vec<Self>) -> Vec<Vec<Self>> {
        let mut batches: Vec<Vec<Self>> = Vec::new();
        for call in calls {
            match batches.last_mut() {
                Some(batch) if call.only_reads() && batch.iter().all(Self::only_reads) => batch.push(call),
                _ => batches.push(vec![call]),
            }
        }
        batches
    }

    fn only_reads(&self) -> bool {
        self.call.claim.as_ref().is_some_and(Claim::only_reads)
    }
}

/// Sees to it that ids are unique and that a model that runs in circles is stopped.
#[derive(Debug, Default)]
pub(crate) struct LoopGuard {
    used: HashSet<CallId>,
    last: Option<(String, String, Option<String>)>,
    repeats: u32,
    gave_up: bool,
}

impl LoopGuard {
    /// For a new turn: ids of the turns before are taken.
    pub(crate) fn after(used: HashSet<CallId>) -> Self {
        Self { used, ..Self::default() }
    }

    /// The ids that are taken now.
    pub(crate) fn into_used(self) -> HashSet<CallId> {
        self.used
    }

    /// Whether the model was told and did not listen.
    pub(crate) fn gave_up(&self) -> bool {
        self.gave_up
    }

    pub(crate) fn prepare(&mut self, call: &ToolCall, tools: &Toolbox, place: &Place, at: usize) -> Prepared {
        let mut call = call.clone();
        self.make_unique(&mut call);
        let repeated = self.count(&call);
        let tool = if at >= MOST_CALLS {
            Err(ToolError::new(format!("more than {MOST_CALLS} calls in one reply; this one was not run")))
        } else if repeated > REPEATS {
            Err(ToolError::new("the same call again and again; it was not run and the turn ends here"))
        } else {
            find(&call, tools, place).map(|(tool, claim)| {
                call.claim = Some(claim);
                tool
            })
        };
        let warning = (repeated == REPEATS).then(|| {
            format!("(You have made this same call {REPEATS} times in a row. Do something else, or say what is missing.)")
        });
        Prepared { call, tool, warning }
    }

    /// Some models use an id twice; every id is one call here.
    fn make_unique(&mut self, call: &mut ToolCall) {
        let given = call.id.0.clone();
        let mut number = 1;
        while call.id.0.is_empty() || self.used.contains(&call.id) {
            number += 1;
            call.id = CallId::new(format!("{given}~{number}"));
        }
        self.used.insert(call.id.clone());
    }

    fn count(&mut self, call: &ToolCall) -> u32 {
        let this = (call.name.clone(), call.input.to_string(), call.malformed.clone());
        if self.last.as_ref() == Some(&this) {
            self.repeats += 1;
        } else {
            self.repeats = 1;
            self.last = Some(this);
        }
        self.gave_up |= self.repeats > REPEATS;
        self.repeats
    }
}

fn find(call: &ToolCall, tools: &Toolbox, place: &Place) -> Result<(Arc<dyn Tool>, Claim), ToolError> {
    if let Some(raw) = &call.malformed {
        let shown: String = raw.chars().take(200).collect();
        return Err(ToolError::new(format!("the arguments are not valid JSON, nothing was run: {shown}")));
    }
    let tool = tools.find(&call.name).ok_or_else(|| {
        let names = tools.names().join(", ");
        ToolError::new(format!("there is no tool `{}`; the tools are {names}", call.name))
    })?;
    let claim = tool.claim(&call.input, place)?;
    Ok((tool, claim))
}

impl Turn<'_> {
    /// Runs one call that was announced. Whatever happens, it is closed by one `ToolEnded`.
    pub(crate) async fn finish(&self, prepared: Prepared, started_ms: u64) -> Result<(), TurnError> {
        let call = prepared.call;
        let outcome = match prepared.tool {
            Ok(tool) => self.outcome(&call, &*tool).await,
            Err(ToolError(failure)) => Ok(Outcome::Failed { failure }),
        };
        let mut outcome = match outcome {
            Err(TurnError::Cancelled) => Outcome::Cancelled,
            other => other?,
        };
        if let Some(warning) = prepared.warning {
            outcome = warned(outcome, &warning);
        }
        let mut planned = None;
        if let Outcome::Done { output } = &outcome
            && let Details::TodosUpdated(done) = &output.details
        {
            planned = Some(Event::Planned { steps: done.todos.clone() });
        }
        let ended = Event::ToolEnded { call, outcome, started_ms };
        self.log.emit_all(std::iter::once(ended).chain(planned).collect()).await?;
        Ok(())
    }

    async fn outcome(&self, call: &ToolCall, tool: &dyn Tool) -> Result<Outcome, TurnError> {
        let Some(claim) = &call.claim else { return Ok(Outcome::Cancelled) };
        if self.control.cancel.is_cancelled() {
            return Err(TurnError::Cancelled);
        }
        if let Claim::Ask { title, questions } = claim {
            let ask =
                Ask::Question { call: call.clone(), title: title.clone(), questions: questions.clone() };
            return Ok(answered(self.ask(call, ask).await?));
        }
        match self.admit(call, claim).await? {
            Ok(grant) => self.run_tool(call, tool, grant).await,
            Err(refusal) => Ok(refusal),
        }
    }

    /// A grant, or how the call ends without one.
    async fn admit(&self, call: &ToolCall, claim: &Claim) -> Result<Result<Grant, Outcome>, TurnError> {
        let facts = Facts {
            root: self.place.root.clone(),
            additional: self.place.additional.clone(),
            physical: paths(claim).iter().map(|path| physical(path)).collect(),
            home: self.place.home.clone(),
        };
        let verdict = lock(self.policy).judge(self.mode, claim, &facts);
        let (reason, always) = match verdict {
            Verdict::Allow(grant) => return Ok(Ok(grant)),
            Verdict::Deny { reason } => return Ok(Err(Outcome::Denied { reason })),
            Verdict::Ask { reason, always } => (reason, always),
        };
        let ask = Ask::Permission { call: call.clone(), reason, always: always.clone() };
        Ok(match self.ask(call, ask).await? {
            Answer::AllowOnce => Ok(Verdict::granted_by_host()),
            Answer::AllowAlways => {
                if let Some(rule) = always {
                    lock(self.policy).allow(&rule);
                }
                Ok(Verdict::granted_by_host())
            }
            Answer::Reject { reason } | Answer::Skipped { reason } => Err(Outcome::Rejected { reason }),
            Answer::Cancelled => return Err(TurnError::Cancelled),
            _ => Err(Outcome::Rejected { reason: "the answer does not fit the question".into() }),
        })
    }

    async fn ask(&self, call: &ToolCall, ask: Ask) -> Result<Answer, TurnError> {
        let id = AskId::new(format!("ask_{}", call.id));
        self.log.emit(Event::Asked { id: id.clone(), ask: ask.clone() }).await?;
        let answer = match self.or_cancelled(self.host.ask(&ask)).await {
            Err(TurnError::Cancelled) => Answer::Cancelled,
            other => other?,
        };
        self.log.emit(Event::Answered { id, answer: answer.clone() }).await?;
        Ok(answer)
    }

    async fn run_tool(&self, call: &ToolCall, tool: &dyn Tool, grant: Grant) -> Result<Outcome, TurnError> {
        let workspace = self.host.workspace();
        let live = Live::default();
        let output = |text: &str| live.push(text);
        let cx = ToolCx {
            call: &call.id,
            session: self.session,
            place: &self.place,
            workspace: &*workspace,
            memory: self.memory,
            environment: &self.environment,
            cancel: self.control.cancel.child_token(),
            output: &output,
            now_ms: self.log.now_ms(),
        };
        let run = async {
            let ran = self.in_grace(tool.run(call.input.clone(), grant, cx)).await;
            live.end();
            ran
        };
        let show = async {
            while let Some(text) = live.next().await {
                let update = CallUpdate::Output { text };
                self.log.emit(Event::ToolUpdated { id: call.id.clone(), update }).await?;
            }
            Ok::<_, TurnError>(())
        };
        let (ran, shown) = join(run, show).await;
        shown?;
        Ok(match ran? {
            Ok(output) => Outcome::Done { output },
            Err(_) if self.control.cancel.is_cancelled() => Outcome::Cancelled,
            Err(ToolError(failure)) => Outcome::Failed { failure },
        })
    }
}

fn answered(answer: Answer) -> Outcome {
    match answer {
        Answer::Chosen { answers } => {
            let lines: Vec<String> = answers
                .iter()
                .map(|answer| format!("{}: {}", answer.question_id, answer.selected_option_ids.join(", ")))
                .collect();
            let details = Details::Answered(QuestionsAnswered { answers });
            Outcome::Done { output: ToolOutput { for_model: lines.join("\n"), details } }
        }
        Answer::Skipped { reason } | Answer::Reject { reason } => Outcome::Rejected { reason },
        Answer::Cancelled => Outcome::Cancelled,
        _ => Outcome::Failed {
            failure: Failure::Error { message: "the answer does not fit the question".into() },
        },
    }
}

/// Adds a warning to what the model reads of a call.
fn warned(outcome: Outcome, warning: &str) -> Outcome {
    let with = |text: &str| if text.is_empty() { warning.into() } else { format!("{text}\n\n{warning}") };
    match outcome {
        Outcome::Done { output } => {
            let for_model = with(&output.for_model);
            Outcome::Done { output: ToolOutput { for_model, ..output } }
        }
        Outcome::Failed { failure } => {
            Outcome::Failed { failure: Failure::Error { message: with(&failure.message()) } }
        }
        Outcome::Rejected { reason } => Outcome::Rejected { reason: with(&reason) },
        Outcome::Denied { reason } => Outcome::Denied { reason: with(&reason) },
        other => other,
    }
}

fn paths(claim: &Claim) -> &[PathBuf] {
    match claim {
        Claim::Read { path } => std::slice::from_ref(path),
        Claim::Write { paths } => paths,
        _ => &[],
    }
}

/// Where a path really leads: links are followed as far as there is anything.
pub(crate) fn physical(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let Ok(found) = ancestor.canonicalize() {
            return match path.strip_prefix(ancestor) {
                Ok(rest) if !rest.as_os_str().is_empty() => found.join(rest),
                _ => found,
            };
        }
    }
    path.to_owned()
}

/// Output of a running call on its way to the host: what came since the last look.
#[derive(Default)]
struct Live {
    text: Mutex<(String, bool)>,
    more: Notify,
}

impl Live {
    fn push(&self, text: &str) {
        lock(&self.text).0.push_str(text);
        self.more.notify_one();
    }

    fn end(&self) {
        lock(&self.text).1 = true;
        self.more.notify_one();
    }

    async fn next(&self) -> Option<String> {
        loop {
            let (text, ended) = {
                let mut text = lock(&self.text);
                (std::mem::take(&mut text.0), text.1)
            };
            if !text.is_empty() {
                return Some(text);
            }
            if ended {
                return None;
            }
            self.more.notified().await;
        }
    }
}

/// What tools remember of a session that was opened again.
pub(crate) fn recall(memory: &Memory, state: &crate::store::ChatState) {
    *lock(&memory.todos) = state.todos.clone();
    *lock(&memory.seen) = state.seen.clone();
    if let Some(shell) = &state.shell {
        *lock(&memory.shell) = shell.clone();
    }
}
