//! The host of a print run: events become output at once, asks are answered by rule or by the driver.

use super::driver::Questions;
use super::neutral::neutral;
use super::print::{PrintFormat, PrintSettings};
use super::progress::Progress;
use super::stdout;
use async_trait::async_trait;
use caret_protocol::agent::Host;
use caret_protocol::ask::{Answer, Ask};
use caret_protocol::event::{Event, Stamped};
use caret_protocol::plain_text::PlainText;
use caret_protocol::projection::Projection;
use caret_protocol::stream_json::{StreamJson, StreamJsonSettings, Summary};
use caret_protocol::workspace::Workspace;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;

/// What the model is told when nobody is there to answer its questions.
const SKIPPED: &str = "Questions skipped by the user, continue with the information you already have";

/// The host of a print run.
pub(super) struct Printer {
    state: Mutex<State>,
    questions: Option<Questions>,
    workspace: Arc<dyn Workspace>,
    keep_rule: Box<dyn Fn(&str) + Send + Sync>,
    /// Cancelled when nobody reads our output any more.
    pub(super) unread: CancellationToken,
    /// Cancelled when the run has to end: a reader that pauses is not waited for any more.
    pub(super) hurry: CancellationToken,
}

struct State {
    projected: Projected,
    progress: Option<Progress>,
    /// Text on a terminal is made harmless; in a pipe it stays as it is.
    terminal: bool,
    line: Vec<u8>,
    denied: u32,
    write_error: Option<io::Error>,
}

enum Projected {
    Text(PlainText),
    Json(Summary),
    Stream(Box<StreamJson>),
}

impl Printer {
    pub(super) fn new(
        settings: &PrintSettings,
        workspace: Arc<dyn Workspace>,
        questions: Option<Questions>,
        keep_rule: Box<dyn Fn(&str) + Send + Sync>,
    ) -> Self {
        let projected = match settings.format {
            PrintFormat::Text => Projected::Text(PlainText::default()),
            PrintFormat::Json => Projected::Json(Summary::default()),
            PrintFormat::StreamJson { partial } => {
                Projected::Stream(Box::new(StreamJson::new(StreamJsonSettings {
                    partial,
                    extended: settings.extended,
                    answered: questions.is_some(),
                })))
            }
        };
        let progress =
            (settings.format == PrintFormat::Text && !settings.quiet).then(|| Progress::new(settings.color));
        let state = State {
            projected,
            progress,
            terminal: settings.terminal,
            line: Vec::new(),
            denied: 0,
            write_error: None,
        };
        Self {
            state: Mutex::new(state),
            questions,
            workspace,
            keep_rule,
            unread: CancellationToken::new(),
            hurry: CancellationToken::new(),
        }
    }

    /// How many calls nobody allowed.
    pub(super) fn denied(&self) -> u32 {
        self.lock().denied
    }

    /// Why stdout could not be written, if so.
    pub(super) fn write_error(&self) -> Option<io::Error> {
        self.lock().write_error.take()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Makes `line` what the event means for the reader of stdout.
    fn apply(&mut self, event: &Stamped) -> io::Result<()> {
        if let Event::ToolEnded { call, outcome, .. } = &event.event {
            self.denied += u32::from(outcome.denial(call).is_some());
        }
        if let Some(progress) = &mut self.progress {
            let mut lines = Vec::new();
            progress.apply(event, &mut lines);
            for line in lines {
                // Progress is a courtesy: a closed stderr does not end a run.
                writeln!(io::stderr(), "{line}").ok();
            }
        }
        let line = &mut self.line;
        line.clear();
        match &mut self.projected {
            Projected::Text(text) => {
                let mut words = Vec::new();
                text.apply(event, &mut words);
                for words in words {
                    let words = if self.terminal { neutral(&words) } else { words.as_str().into() };
                    line.extend_from_slice(words.as_bytes());
                    line.push(b'\n');
                }
            }
            Projected::Json(summary) => {
                let mut results = Vec::new();
                summary.apply(event, &mut results);
                for result in results {
                    let result = caret_protocol::stream_json::lines::Line::Result(result);
                    serde_json::to_writer(&mut *line, &result)?;
                    line.push(b'\n');
                }
            }
            Projected::Stream(stream) => {
                let mut lines = Vec::new();
                stream.apply(event, &mut lines);
                for one in lines {
                    serde_json::to_writer(&mut *line, &one)?;
                    line.push(b'\n');
                }
            }
        }
        Ok(())
    }
}

#[async_trait]
impl Host for Printer {
    async fn event(&self, event: &Stamped) {
        if let (Some(questions), Event::Asked { ask, .. }) = (&self.questions, &event.event) {
            questions.announce(ask);
        }
        let line = {
            let mut state = self.lock();
            if state.write_error.is_some() {
                return;
            }
            state.apply(event).map(|()| std::mem::take(&mut state.line))
        };
        let written = match line {
            Ok(line) => stdout::write(&line, &self.hurry).await.map(|()| line),
            Err(error) => Err(error),
        };
        let mut state = self.lock();
        match written {
            // Its memory is used again.
            Ok(line) => state.line = line,
            Err(error) => {
                state.write_error = Some(error);
                self.unread.cancel();
            }
        }
    }

    async fn ask(&self, ask: &Ask) -> Answer {
        if let Some(questions) = &self.questions {
            let answer = questions.answer(ask).await;
            if let (Answer::AllowAlways, Ask::Permission { always: Some(rule), .. }) = (&answer, ask) {
                (self.keep_rule)(rule);
            }
            return answer;
        }
        match ask {
            Ask::Permission { reason, .. } => Answer::Reject { reason: reason.clone() },
            _ => Answer::Skipped { reason: SKIPPED.into() },
        }
    }

    fn workspace(&self) -> Arc<dyn Workspace> {
        Arc::clone(&self.workspace)
    }
}
