//! Print mode: one prompt, or a conversation with a driver on stdin; output as text, json or stream-json.
//!
//! Invariant: a stream that began with `system` ends every turn with exactly one `result`, also after a
//! signal, a limit or a failure; and nothing that the run started is left when `run` returns.

use super::driver::{Lines, Questions, lines};
use super::ending::{complaint, ending, judged, tell};
use super::printer::Printer;
use super::signals::Signals;
use super::stdout;
use crate::exit::Exit;
use caret_protocol::agent::{Agent, Host, Open, Prompt, Session, TurnHandle, turn};
use caret_protocol::content::Content;
use caret_protocol::event::TurnEnd;
use caret_protocol::ids::TurnId;
use caret_protocol::stream_json::input::InputLine;
use caret_protocol::workspace::Workspace;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

/// How a print run answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrintFormat {
    /// The final words.
    Text,
    /// One result object.
    Json,
    /// One object per event.
    StreamJson {
        /// Text deltas too.
        partial: bool,
    },
}

/// What a print run is told.
#[derive(Clone, Debug)]
pub(crate) struct PrintSettings {
    /// How it answers.
    pub(crate) format: PrintFormat,
    /// Our own additions to the stream.
    pub(crate) extended: bool,
    /// A driver speaks on stdin.
    pub(crate) driven: bool,
    /// What the user says; empty when only the driver speaks.
    pub(crate) prompt: String,
    /// No progress on stderr.
    pub(crate) quiet: bool,
    /// Whether stdout is a terminal.
    pub(crate) terminal: bool,
    /// Whether stderr may be coloured.
    pub(crate) color: bool,
    /// A denied tool makes the run a failure.
    pub(crate) fail_on_denied: bool,
}

/// Runs a print session to its end.
pub(crate) async fn run(
    agent: &dyn Agent,
    open: Open,
    workspace: Arc<dyn Workspace>,
    settings: &PrintSettings,
    keep_rule: Box<dyn Fn(&str) + Send + Sync>,
) -> Exit {
    let questions = settings.driven.then(Questions::default);
    let printer = Arc::new(Printer::new(settings, workspace, questions.clone(), keep_rule));
    let mut session = match agent.open(open, Arc::clone(&printer) as _).await {
        Ok(session) => session,
        Err(error) => {
            tell(&format!("error: {error}"));
            return Exit::Configuration;
        }
    };
    let signals = match Signals::listen() {
        Ok(signals) => signals,
        Err(error) => {
            tell(&format!("error: signals cannot be heard: {error}"));
            return Exit::Fault;
        }
    };
    let driver = questions.map(|questions| (lines(io::stdin()), questions));
    let mut run = Run {
        printer,
        signals,
        driver,
        prompts: VecDeque::new(),
        signalled: None,
        ended: false,
        streams: matches!(settings.format, PrintFormat::StreamJson { .. }),
    };
    if !settings.prompt.is_empty() {
        run.prompts.push_back(vec![Content::text(&settings.prompt)]);
    }
    let exit = run.converse(&mut *session).await;
    run.close(&mut *session).await;
    run.signalled.unwrap_or_else(|| judged(exit, &run.printer, settings))
}

/// One run of the program.
struct Run {
    printer: Arc<Printer>,
    signals: Signals,
    driver: Option<(Lines, Questions)>,
    prompts: VecDeque<Vec<Content>>,
    signalled: Option<Exit>,
    /// The driver has said everything.
    ended: bool,
    /// Lines are written all the time, so that a reader who leaves wants no more of it.
    streams: bool,
}

/// What happened while the front end waited.
enum Heard {
    Ended(TurnEnd),
    /// What ran in the background has ended.
    Swept,
    Signal(Exit),
    Line(Option<Result<InputLine, String>>),
    Unread,
}

impl Run {
    /// Turn after turn, until there is nothing more to say.
    async fn converse(&mut self, session: &mut dyn Session) -> Exit {
        let mut exit = Exit::Success;
        loop {
            if self.signalled.is_some() || self.printer.unread.is_cancelled() {
                return exit;
            }
            let Some(content) = self.prompts.pop_front() else {
                if self.driver.is_none() || self.ended {
                    return exit;
                }
                self.wait().await;
                continue;
            };
            let end = self.turn(session, content).await;
            exit = ending(&end);
            if let Some(message) = complaint(&end.reason) {
                tell(&message);
            }
        }
    }

    /// Waits for a driver that has not said anything to do yet.
    async fn wait(&mut self) {
        let heard = tokio::select! {
            biased;
            signal = self.signals.next() => Heard::Signal(signal),
            line = next_line(&mut self.driver) => Heard::Line(line),
        };
        self.hear(heard, None);
    }

    async fn turn(&mut self, session: &mut dyn Session, content: Vec<Content>) -> TurnEnd {
        let (handle, control) = turn();
        let id = TurnId::new(uuid::Uuid::new_v4().to_string());
        let prompted = session.prompt(Prompt { turn: id, content }, control);
        tokio::pin!(prompted);
        let unread = self.printer.unread.clone();
        let left = stdout::gone();
        tokio::pin!(left);
        let workspace = self.printer.workspace();
        let swept = workspace.close();
        tokio::pin!(swept);
        let (mut ended, mut is_swept) = (None, false);
        loop {
            // After a signal, commands in the background get their time to end together with those in front.
            let sweeps = self.signalled.is_some() && !is_swept;
            if !sweeps && let Some(end) = ended.take() {
                return end;
            }
            let heard = tokio::select! {
                biased;
                signal = self.signals.next() => Heard::Signal(signal),
                end = &mut prompted, if ended.is_none() => Heard::Ended(end),
                () = &mut swept, if sweeps => Heard::Swept,
                line = next_line(&mut self.driver), if !self.ended => Heard::Line(line),
                () = unread.cancelled(), if !handle.cancel.is_cancelled() => Heard::Unread,
                () = &mut left, if self.streams && !handle.cancel.is_cancelled() => Heard::Unread,
            };
            match heard {
                Heard::Ended(end) => ended = Some(end),
                Heard::Swept => is_swept = true,
                other => self.hear(other, Some(&handle)),
            }
        }
    }

    /// Ends what the session left running. That may take a while, and a signal is heard all the same.
    async fn close(&mut self, session: &mut dyn Session) {
        let closed = session.close();
        tokio::pin!(closed);
        loop {
            let signal = tokio::select! {
                biased;
                signal = self.signals.next() => signal,
                () = &mut closed => return,
            };
            self.hear(Heard::Signal(signal), None);
        }
    }

    fn hear(&mut self, heard: Heard, running: Option<&TurnHandle>) {
        match heard {
            Heard::Ended(_) | Heard::Swept => {}
            Heard::Unread => {
                if let Some(handle) = running {
                    handle.cancel.cancel();
                }
            }
            Heard::Signal(exit) => {
                if self.signalled.replace(exit).is_some() {
                    // The second time is meant: supervisors end what still runs.
                    std::process::exit(i32::from(exit.code(crate::exit::ExitStyle::Plain)));
                }
                self.printer.hurry.cancel();
                if exit == Exit::Interrupted {
                    tell("Aborting operation...");
                }
                if let Some(handle) = running {
                    handle.cancel.cancel();
                }
            }
            Heard::Line(None) => {
                self.ended = true;
                if let Some((_, questions)) = &self.driver {
                    questions.close();
                }
            }
            Heard::Line(Some(Err(problem))) => tell(&format!("⚠ a line on stdin was ignored: {problem}")),
            Heard::Line(Some(Ok(line))) => self.hear_line(line, running),
        }
    }

    fn hear_line(&mut self, line: InputLine, running: Option<&TurnHandle>) {
        match line {
            InputLine::User(user) => {
                let content = user.into_content();
                if content.iter().all(|piece| piece.plain().trim().is_empty()) {
                    return tell("⚠ a line on stdin was ignored: its prompt is empty");
                }
                match running {
                    // A turn that is already ending does not hear any more: then it is the next prompt.
                    Some(handle) => {
                        if let Err(unheard) = handle.say.send(content) {
                            self.prompts.push_back(unheard.0);
                        }
                    }
                    None => self.prompts.push_back(content),
                }
            }
            InputLine::InteractionQuery(answer) => {
                if let Some((_, questions)) = &self.driver
                    && let Err(problem) = questions.resolve(answer.response)
                {
                    tell(&format!("⚠ a line on stdin was ignored: {problem}"));
                }
            }
            InputLine::Interrupt {} => {
                if let Some(handle) = running {
                    handle.cancel.cancel();
                }
            }
        }
    }
}

/// The driver's next line; a run without a driver never gets one.
async fn next_line(driver: &mut Option<(Lines, Questions)>) -> Option<Result<InputLine, String>> {
    match driver {
        Some((lines, _)) => lines.recv().await,
        None => std::future::pending().await,
    }
}
