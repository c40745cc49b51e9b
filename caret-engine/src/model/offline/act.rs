//! From steps and results to the next reply.
//!
//! Nothing is kept between requests: the turn's messages are replayed each time, and since call ids are
//! made of their place in the turn, each result finds its step again. Every message of the user is a chain
//! of its own; what is said in the middle of a turn comes after what is under way.
//!
//! Invariant: the same request gives the same reply, and a reply asks for no call that was asked before.

use super::heard::Heard;
use super::perform::{self, Move, needs_a_file};
use super::recall;
use super::step::Step;
use super::understand::understand;
use crate::model::{ModelError, Request};
use crate::tools::ToolSpec;
use caret_protocol::content::{Content, ToolCall};
use caret_protocol::event::Mode;
use caret_protocol::transcript::Message;
use std::collections::{HashMap, HashSet};

const UNKNOWN: &str = include_str!("unknown.md");
/// How many reads go beside each other in one reply.
const BESIDE: usize = 8;

/// What the model says next.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answer {
    /// Words; the turn is over.
    Text(String),
    /// Calls, and the steps that they are for.
    Calls { thought: String, calls: Vec<ToolCall> },
}

/// One message of the user and whether it was answered to the end.
struct Chain {
    prompt: String,
    answered: bool,
}

/// What a request's messages say about the turn so far.
struct Turn<'a> {
    request: Request<'a>,
    results: HashMap<&'a str, Heard<'a>>,
    asked: HashSet<&'a str>,
    /// Counts the replies with calls of this turn, for the ids of these calls.
    reply: u32,
}

/// The next answer of a turn.
pub(super) fn answer(request: Request<'_>) -> Result<Answer, ModelError> {
    let mut turn = Turn { request, results: HashMap::new(), asked: HashSet::new(), reply: 0 };
    let chains = turn.look();
    let mut texts = Vec::new();
    for (at, chain) in chains.iter().enumerate() {
        let earlier: Vec<&str> = chains[..at].iter().map(|chain| chain.prompt.as_str()).collect();
        match turn.chain(&chain.prompt, &earlier)? {
            Answer::Calls { thought, calls } => return Ok(Answer::Calls { thought, calls }),
            Answer::Text(text) if !chain.answered => texts.push(text),
            Answer::Text(_) => {}
        }
    }
    if texts.is_empty() {
        texts.push(UNKNOWN.trim_end().to_owned());
    }
    Ok(Answer::Text(texts.join("\n\n")))
}

impl<'a> Turn<'a> {
    /// Sorts the messages into prompts, calls and results.
    fn look(&mut self) -> Vec<Chain> {
        let mut chains: Vec<Chain> = Vec::new();
        for message in self.request.messages {
            match message {
                Message::User { content, .. } => {
                    chains.push(Chain { prompt: words(content), answered: false })
                }
                Message::Assistant { reply } => {
                    let mut calls = reply.calls().peekable();
                    if calls.peek().is_none() {
                        chains.iter_mut().for_each(|chain| chain.answered = true);
                    }
                    self.asked.extend(calls.map(|call| call.id.as_str()));
                }
                Message::Tool { call, text, is_error, .. } => {
                    self.results.insert(call.as_str(), Heard { text, is_error: *is_error });
                }
                _ => {}
            }
        }
        chains
    }

    /// Goes through the steps of one prompt as far as the results reach.
    fn chain(&mut self, prompt: &str, earlier: &[&str]) -> Result<Answer, ModelError> {
        let steps = understand(prompt);
        if let [Step::Unknown { .. }, ..] = steps.as_slice() {
            return Ok(Answer::Text(UNKNOWN.trim_end().to_owned()));
        }
        if self.request.mode != Mode::Agent && steps.iter().any(|step| self.changes(step)) {
            return Ok(Answer::Text(plan(self.request.mode, &steps)));
        }
        let mut said = Vec::new();
        let mut at = 0;
        while at < steps.len() {
            let reads = steps[at..].iter().take(BESIDE).take_while(|step| step.is_one_read()).count();
            let group = &steps[at..at + reads.max(1)];
            let ends = match self.group(group, earlier)? {
                Ok(ends) => ends,
                Err(calls) => {
                    let thought = format!("Step {} of {}: {}.", at + 1, steps.len(), list(group));
                    return Ok(Answer::Calls { thought, calls });
                }
            };
            at += group.len();
            let failed = ends.iter().any(|end| matches!(end, Move::Failed(_)));
            said.extend(ends.into_iter().filter_map(|end| match end {
                Move::Done(text) | Move::Failed(text) => Some(text),
                Move::Call { .. } => None,
            }));
            if failed {
                said.extend(not_done(&steps[at..]));
                break;
            }
        }
        Ok(Answer::Text(said.join("\n\n")))
    }

    /// Plays a group of steps against the results; gives their ends, or the calls that are missing.
    fn group(
        &mut self,
        group: &[Step],
        earlier: &[&str],
    ) -> Result<Result<Vec<Move>, Vec<ToolCall>>, ModelError> {
        let mut heard: Vec<Vec<Heard<'a>>> = vec![Vec::new(); group.len()];
        loop {
            let mut moves = Vec::new();
            let mut calls: Vec<(usize, ToolCall)> = Vec::new();
            for (index, step) in group.iter().enumerate() {
                let next = match step {
                    Step::Recall(what) => Move::Done(recall::answer(*what, earlier, self.request.past)?),
                    step => self.offered(step, perform::next(step, &heard[index])),
                };
                if let Move::Call { tool, input } = &next {
                    calls.push((index, ToolCall::new(self.id(calls.len()), *tool, input.clone())));
                }
                moves.push(next);
            }
            if calls.is_empty() {
                return Ok(Ok(moves));
            }
            if !calls.iter().any(|(_, call)| self.asked.contains(call.id.as_str())) {
                let named = calls.into_iter().map(|(_, call)| self.named(call)).collect();
                return Ok(Err(named));
            }
            for (index, call) in calls {
                let lost = Heard { text: "no result came back", is_error: true };
                heard[index].push(self.results.get(call.id.as_str()).copied().unwrap_or(lost));
            }
            self.reply += 1;
        }
    }

    /// A call becomes a failure when its tool is not there.
    fn offered(&self, step: &Step, next: Move) -> Move {
        match (&next, step) {
            (Move::Call { tool, .. }, _) if self.tool(tool).is_some() => match step {
                // Without anybody to ask there is no use in searching.
                Step::ReplaceSomewhere { old, new, .. } if self.tool("AskQuestion").is_none() => {
                    Move::Failed(needs_a_file(old, new))
                }
                _ => next,
            },
            (Move::Call { .. }, Step::ReplaceSomewhere { old, new, .. }) => {
                Move::Failed(needs_a_file(old, new))
            }
            (Move::Call { tool, .. }, _) => {
                Move::Failed(format!("I could not {step}: the tool `{tool}` is not offered here."))
            }
            _ => next,
        }
    }

    fn tool(&self, name: &str) -> Option<&'a ToolSpec> {
        self.request.tools.iter().find(|tool| tool.name.eq_ignore_ascii_case(name))
    }

    fn named(&self, mut call: ToolCall) -> ToolCall {
        if let Some(tool) = self.tool(&call.name) {
            call.name = tool.name.to_owned();
        }
        call
    }

    /// Whether a step would need a tool that changes things.
    fn changes(&self, step: &Step) -> bool {
        match perform::next(step, &[]) {
            _ if !step.only_reads() => true,
            Move::Call { tool, .. } => self.tool(tool).is_some_and(|tool| !tool.read_only),
            _ => false,
        }
    }

    fn id(&self, beside: usize) -> String {
        let (session, turn, reply) =
            (self.request.session.as_str(), self.request.turn_number.to_string(), self.reply.to_string());
        let hash = super::hash(&[session, &turn, &reply]);
        match beside {
            0 => format!("call_{reply}_{hash:08x}"),
            more => format!("call_{reply}_{hash:08x}_{}", more + 1),
        }
    }
}

/// What the user typed; attached files are no instructions.
fn words(content: &[Content]) -> String {
    let texts: Vec<&str> = content
        .iter()
        .filter_map(|content| match content {
            Content::Text { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    texts.join("\n")
}

fn list(steps: &[Step]) -> String {
    let shown: Vec<String> = steps.iter().map(Step::to_string).collect();
    shown.join("; ")
}

fn plan(mode: Mode, steps: &[Step]) -> String {
    let mode = match mode {
        Mode::Plan => "plan",
        Mode::Ask => "ask",
        Mode::Agent => "agent",
    };
    let lines: Vec<String> =
        steps.iter().enumerate().map(|(at, step)| format!("{}. {step}", at + 1)).collect();
    format!(
        "This is what I would do; in {mode} mode I change nothing.\n\n{}\n\nSwitch to agent mode to have it done.",
        lines.join("\n")
    )
}

fn not_done(left: &[Step]) -> Option<String> {
    (!left.is_empty()).then(|| format!("Not done because of that: {}.", list(left)))
}
