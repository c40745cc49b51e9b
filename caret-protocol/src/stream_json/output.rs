//! Folds events into the lines of `stream-json`, and into the one object of `json`.

use super::lines::{
    AskQuestionQuery, AskQuestionResponse, AskQuestionResult, AssistantLine, CallStep, Decision, Denial,
    Init, Line, NoticeLine, PermissionQuery, Query, QueryKind, QueryLine, QueryResponse, QueryStep,
    ResultLine, Spoken, SystemLine, ThinkingLine, ThinkingStep, TodosLine, ToolCallLine, ToolOutputLine,
    UsageLine, UserLine, Verdict,
};
use super::tool_calls::{AskArgs, ToolCallBody};
use super::{arguments, results};
use crate::ask::{Answer, Ask};
use crate::claim::Claim;
use crate::content::{Outcome, Reply, Stop, ToolCall, plain};
use crate::event::{CallUpdate, DeltaKind, EndReason, Event, Opened, Stamped, TurnEnd};
use crate::ids::{AskId, CallId};
use crate::projection::Projection;
use std::collections::HashMap;
use std::path::PathBuf;

/// The version of this protocol, told with `--events extended`.
const SCHEMA_VERSION: u32 = 1;

/// What a reader asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StreamJsonSettings {
    /// Text deltas (`--stream-partial-output`).
    pub partial: bool,
    /// Our own additions (`--events extended`).
    pub extended: bool,
    /// A driver answers questions (`--input-format stream-json`), so they are written.
    pub answered: bool,
}

/// Folds events into lines.
#[derive(Debug, Default)]
pub struct StreamJson {
    settings: StreamJsonSettings,
    session: String,
    request: String,
    cwd: PathBuf,
    thinking: bool,
    /// The model call that each open call belongs to.
    model_calls: HashMap<CallId, String>,
    asked: Vec<(AskId, QueryKind)>,
    /// Calls that ask the user: they are documented to start after the answer.
    held: Vec<(CallId, Line)>,
    summary: Summary,
}

impl StreamJson {
    /// A fold that writes what `settings` asks for.
    pub fn new(settings: StreamJsonSettings) -> Self {
        Self { settings, ..Self::default() }
    }

    fn system(&mut self, opened: &Opened) -> Line {
        self.cwd = PathBuf::from(&opened.cwd);
        Line::System(SystemLine {
            subtype: Init::Init,
            api_key_source: opened.key_source.clone(),
            cwd: opened.cwd.clone(),
            session_id: self.session.clone(),
            model: opened.model_name.clone(),
            permission_mode: if opened.force { "force" } else { "default" }.into(),
            schema_version: self.settings.extended.then_some(SCHEMA_VERSION),
        })
    }

    fn delta(&mut self, kind: DeltaKind, text: &str, at_ms: u64, out: &mut Vec<Line>) {
        match kind {
            DeltaKind::Thinking => {
                self.thinking = true;
                out.push(Line::Thinking(ThinkingLine {
                    subtype: ThinkingStep::Delta,
                    text: Some(text.into()),
                    session_id: self.session.clone(),
                    timestamp_ms: at_ms,
                }));
            }
            DeltaKind::Text => {
                self.end_thinking(at_ms, out);
                if self.settings.partial {
                    out.push(self.assistant(text.into(), None, Some(at_ms)));
                }
            }
        }
    }

    fn end_thinking(&mut self, at_ms: u64, out: &mut Vec<Line>) {
        if std::mem::take(&mut self.thinking) {
            out.push(Line::Thinking(ThinkingLine {
                subtype: ThinkingStep::Completed,
                text: None,
                session_id: self.session.clone(),
                timestamp_ms: at_ms,
            }));
        }
    }

    fn assistant(&self, text: String, model_call_id: Option<String>, timestamp_ms: Option<u64>) -> Line {
        Line::Assistant(AssistantLine {
            message: Spoken::text("assistant", text),
            session_id: self.session.clone(),
            model_call_id,
            timestamp_ms,
        })
    }

    fn replied(&mut self, reply: &Reply, at_ms: u64, out: &mut Vec<Line>) {
        self.end_thinking(at_ms, out);
        for call in reply.calls() {
            self.model_calls.insert(call.id.clone(), reply.id.clone());
        }
        let text = reply.text();
        if text.is_empty() {
            return;
        }
        let before_a_call = reply.calls().next().is_some();
        out.push(self.assistant(
            text,
            before_a_call.then(|| reply.id.clone()),
            before_a_call.then_some(at_ms),
        ));
    }

    fn started(&self, call: &ToolCall, at_ms: u64) -> Line {
        self.call_line(
            CallStep::Started,
            call,
            at_ms,
            ToolCallBody {
                tool: arguments::started(call, &self.session, &self.request),
                hook_additional_contexts: Vec::new(),
                tool_call_id: call.id.0.clone(),
                started_at_ms: at_ms.to_string(),
                completed_at_ms: None,
            },
        )
    }

    fn ended(&mut self, call: &ToolCall, outcome: &Outcome, started_ms: u64, at_ms: u64) -> Line {
        let mut tool = arguments::started(call, &self.session, &self.request);
        results::complete(&mut tool, call, outcome, &self.cwd);
        let line = self.call_line(
            CallStep::Completed,
            call,
            at_ms,
            ToolCallBody {
                tool,
                hook_additional_contexts: Vec::new(),
                tool_call_id: call.id.0.clone(),
                started_at_ms: started_ms.to_string(),
                completed_at_ms: Some(at_ms.to_string()),
            },
        );
        self.model_calls.remove(&call.id);
        line
    }

    fn release(&mut self, id: &CallId, out: &mut Vec<Line>) {
        if let Some(at) = self.held.iter().position(|(held, _)| held == id) {
            out.push(self.held.remove(at).1);
        }
    }

    fn call_line(&self, subtype: CallStep, call: &ToolCall, at_ms: u64, tool_call: ToolCallBody) -> Line {
        Line::ToolCall(Box::new(ToolCallLine {
            subtype,
            call_id: call.id.0.clone(),
            tool_call,
            model_call_id: self.model_calls.get(&call.id).cloned().unwrap_or_default(),
            session_id: self.session.clone(),
            timestamp_ms: at_ms,
        }))
    }

    fn asked(&mut self, id: &AskId, ask: &Ask, at_ms: u64, out: &mut Vec<Line>) {
        let number = self.asked.len() as u64;
        let mut query =
            Query { id: number, ask_question_interaction_query: None, permission_request_query: None };
        let kind = match ask {
            Ask::Question { call, title, questions } => {
                query.ask_question_interaction_query = Some(AskQuestionQuery {
                    args: AskArgs {
                        title: title.clone(),
                        questions: questions.clone(),
                        ..AskArgs::default()
                    },
                    tool_call_id: call.id.0.clone(),
                });
                QueryKind::AskQuestionInteractionQuery
            }
            Ask::Permission { call, reason, always } => {
                query.permission_request_query = Some(PermissionQuery {
                    tool_call_id: call.id.0.clone(),
                    tool_name: call.name.clone(),
                    input: call.input.clone(),
                    reason: reason.clone(),
                    always_rule: always.clone(),
                });
                QueryKind::PermissionRequestQuery
            }
        };
        // Only what is shown is counted, so that the numbers on the stream have no holes.
        if self.shows(kind) {
            self.asked.push((id.clone(), kind));
            out.push(self.query_line(QueryStep::Request, kind, Some(query), None, at_ms));
        }
    }

    fn answered(&mut self, id: &AskId, answer: &Answer, at_ms: u64, out: &mut Vec<Line>) {
        // The newest: a model may use the same ids again in its next turn.
        let Some(number) = self.asked.iter().rposition(|(asked, _)| asked == id) else { return };
        let kind = self.asked[number].1;
        let mut response = QueryResponse {
            id: number as u64,
            ask_question_interaction_response: None,
            permission_request_response: None,
        };
        match kind {
            QueryKind::AskQuestionInteractionQuery => {
                response.ask_question_interaction_response =
                    Some(AskQuestionResponse { result: question_result(answer) });
            }
            QueryKind::PermissionRequestQuery => {
                response.permission_request_response = Some(decision(answer));
            }
        }
        out.push(self.query_line(QueryStep::Response, kind, None, Some(response), at_ms));
    }

    /// A shell command that nobody may answer for is only a `rejected` result, as documented.
    fn shows(&self, kind: QueryKind) -> bool {
        self.settings.answered || kind == QueryKind::AskQuestionInteractionQuery
    }

    fn query_line(
        &self,
        subtype: QueryStep,
        query_type: QueryKind,
        query: Option<Query>,
        response: Option<QueryResponse>,
        at_ms: u64,
    ) -> Line {
        Line::InteractionQuery(Box::new(QueryLine {
            subtype,
            query_type,
            query,
            response,
            session_id: self.session.clone(),
            timestamp_ms: at_ms,
        }))
    }

    fn extended(&self, event: &Event, timestamp_ms: u64, out: &mut Vec<Line>) {
        let session_id = self.session.clone();
        match event {
            Event::Measured { usage } => {
                out.push(Line::Usage(UsageLine { usage: (*usage).into(), session_id, timestamp_ms }));
            }
            Event::Planned { steps } => {
                out.push(Line::Todos(TodosLine { todos: steps.clone(), session_id, timestamp_ms }));
            }
            Event::Noticed { notice } => out.push(Line::Notice(NoticeLine {
                subtype: notice.source.clone(),
                text: notice.text.clone(),
                session_id,
                timestamp_ms,
            })),
            Event::ToolUpdated { id, update: CallUpdate::Output { text } } => {
                out.push(Line::ToolOutput(ToolOutputLine {
                    call_id: id.0.clone(),
                    text: text.clone(),
                    session_id,
                    timestamp_ms,
                }));
            }
            _ => {}
        }
    }
}

impl Projection for StreamJson {
    type Out = Line;

    fn apply(&mut self, event: &Stamped, out: &mut Vec<Line>) {
        if event.under.is_some() {
            return;
        }
        if self.session.is_empty() {
            self.session = event.session.0.clone();
        }
        let at_ms = event.at_ms;
        match &event.event {
            Event::Opened { opened } => out.push(self.system(opened)),
            Event::TurnStarted { turn } => self.request = turn.0.clone(),
            Event::Prompted { content } => out.push(Line::User(UserLine {
                message: Spoken::text("user", plain(content)),
                session_id: self.session.clone(),
            })),
            Event::Delta { kind, text } => self.delta(*kind, text, at_ms, out),
            Event::Replied { reply } => self.replied(reply, at_ms, out),
            Event::ToolStarted { call } => {
                let line = self.started(call, at_ms);
                match &call.claim {
                    Some(Claim::Ask { .. }) => self.held.push((call.id.clone(), line)),
                    _ => out.push(line),
                }
            }
            Event::ToolEnded { call, outcome, started_ms } => {
                self.release(&call.id, out);
                out.push(self.ended(call, outcome, *started_ms, at_ms));
            }
            Event::Asked { id, ask } => self.asked(id, ask, at_ms, out),
            Event::Answered { id, answer } => self.answered(id, answer, at_ms, out),
            Event::TurnEnded { .. } => self.end_thinking(at_ms, out),
            other if self.settings.extended => self.extended(other, at_ms, out),
            _ => {}
        }
        let mut result = Vec::new();
        self.summary.apply(event, &mut result);
        if !self.settings.extended {
            result
                .iter_mut()
                .filter_map(|line| line.usage.as_mut())
                .for_each(|usage| usage.estimated = false);
        }
        out.extend(result.into_iter().map(Line::Result));
    }
}

fn question_result(answer: &Answer) -> AskQuestionResult {
    match answer {
        Answer::Chosen { answers } => AskQuestionResult::Success { answers: answers.clone() },
        Answer::Skipped { reason } | Answer::Reject { reason } => {
            AskQuestionResult::Rejected { reason: reason.clone() }
        }
        _ => AskQuestionResult::Rejected { reason: "cancelled".into() },
    }
}

fn decision(answer: &Answer) -> Decision {
    match answer {
        Answer::AllowOnce => Decision::Approved {},
        Answer::AllowAlways => Decision::ApprovedAlways {},
        Answer::Reject { reason } | Answer::Skipped { reason } => {
            Decision::Rejected { reason: reason.clone() }
        }
        _ => Decision::Rejected { reason: "cancelled".into() },
    }
}

/// Folds a turn into its result, which is the whole of `--output-format json`.
#[derive(Debug, Default)]
pub struct Summary {
    text: String,
    denials: Vec<Denial>,
}

impl Projection for Summary {
    type Out = ResultLine;

    fn apply(&mut self, event: &Stamped, out: &mut Vec<ResultLine>) {
        match &event.event {
            Event::TurnStarted { .. } => *self = Self::default(),
            Event::Replied { reply } if event.under.is_none() => self.text.push_str(&reply.text()),
            Event::ToolEnded { call, outcome, .. } => {
                self.denials.extend(outcome.denial(call).map(|reason| Denial {
                    tool_call_id: call.id.0.clone(),
                    tool_name: call.name.clone(),
                    input: call.input.clone(),
                    reason: reason.to_owned(),
                }));
            }
            Event::TurnEnded { turn, end } if event.under.is_none() => {
                let error = error_text(end);
                out.push(ResultLine {
                    subtype: if error.is_some() { Verdict::Error } else { Verdict::Success },
                    duration_ms: end.duration_ms,
                    duration_api_ms: end.duration_ms,
                    is_error: error.is_some(),
                    result: error.unwrap_or_else(|| std::mem::take(&mut self.text)),
                    session_id: event.session.0.clone(),
                    request_id: turn.0.clone(),
                    usage: Some(end.usage.into()),
                    cost_usd: end.cost_usd,
                    permission_denials: std::mem::take(&mut self.denials),
                });
            }
            _ => {}
        }
    }
}

/// What a turn that did not end well says of itself.
fn error_text(end: &TurnEnd) -> Option<String> {
    Some(match &end.reason {
        EndReason::Stopped { stop: Stop::Refusal } => "Error: the model refused to answer".into(),
        EndReason::Stopped { .. } => return None,
        EndReason::Cancelled => "Error: Aborted".into(),
        EndReason::Interrupted => "Error: the program ended in the middle of the turn".into(),
        EndReason::Limit { message, .. } | EndReason::Failed { message, .. } => format!("Error: {message}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::Usage;
    use crate::ids::{SessionId, TurnId};

    fn ended(extended: bool) -> Vec<Line> {
        let usage = Usage { input: 9, estimated: true, ..Usage::default() };
        let reason = EndReason::Stopped { stop: Stop::EndTurn };
        let end = TurnEnd { reason, usage, duration_ms: 1, cost_usd: Some(0.25) };
        let event = Event::TurnEnded { turn: TurnId::new("t"), end };
        let stamped =
            Stamped { seq: 1, at_ms: 1, session: SessionId::new("s"), under: None, event, raw: None };
        let mut lines = Vec::new();
        let settings = StreamJsonSettings { extended, ..StreamJsonSettings::default() };
        StreamJson::new(settings).apply(&stamped, &mut lines);
        lines
    }

    #[test]
    fn guessed_tokens_are_marked_only_for_readers_who_asked_for_more() {
        let usage = |extended| match ended(extended).as_slice() {
            [Line::Result(result)] => (result.usage.map(|usage| usage.estimated), result.cost_usd),
            other => panic!("{other:?}"),
        };
        assert_eq!(usage(true), (Some(true), Some(0.25)));
        assert_eq!(usage(false), (Some(false), Some(0.25)));
    }
}
